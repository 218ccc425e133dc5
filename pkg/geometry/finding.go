package geometry

import "fmt"

// Finding is one rule that a command breaks (agent_msgs/msg/Finding).
type Finding struct {
	Rule    string  `json:"rule"`    // such as "finite", "linear velocity", "keep-out zone"
	Subject string  `json:"subject"` // what: a field path, joint, zone or frame
	Index   int     `json:"index"`   // waypoint or element, -1 where none applies
	Value   float64 `json:"-"`       // measured; JSON as the contract says for non-finite numbers
	Limit   float64 `json:"-"`
	Unit    string  `json:"unit"`
	Message string  `json:"message"`
}

// String is the finding in one line.
func (f Finding) String() string {
	if f.Message != "" {
		return f.Message
	}
	return fmt.Sprintf("%s: %s is %g %s, limit %g %s", f.Rule, f.Subject, f.Value, f.Unit, f.Limit, f.Unit)
}
