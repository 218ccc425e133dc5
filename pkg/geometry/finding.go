package geometry

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Finding is one rule that a command breaks (agent_msgs/msg/Finding).
type Finding struct {
	Rule    string  `json:"rule"`    // such as "finite", "linear velocity", "keep-out"
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

// Refusal is the error form of findings.
type Refusal struct {
	Findings []Finding
}

// Error lists every finding's line.
func (r *Refusal) Error() string {
	lines := make([]string, len(r.Findings))
	for i, f := range r.Findings {
		lines[i] = f.String()
	}
	return "geometry: refused: " + strings.Join(lines, "; ")
}

// Number is a float64 whose JSON form of non-finite values is "NaN", "Infinity" or "-Infinity".
type Number float64

// MarshalJSON writes a number, or a string for what JSON numbers lack.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Infinity"`), nil
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads what MarshalJSON writes, and nothing else.
func (n *Number) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `"NaN"`:
		*n = Number(math.NaN())
		return nil
	case `"Infinity"`:
		*n = Number(math.Inf(1))
		return nil
	case `"-Infinity"`:
		*n = Number(math.Inf(-1))
		return nil
	case "null":
		return fmt.Errorf("geometry: null is not a number")
	}
	var v float64
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf("geometry: number: %w", err)
	}
	*n = Number(v)
	return nil
}

// findingJSON fixes the order of the fields to that of the message.
type findingJSON struct {
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
	Index   int    `json:"index"`
	Value   Number `json:"value"`
	Limit   Number `json:"limit"`
	Unit    string `json:"unit"`
	Message string `json:"message"`
}

// MarshalJSON writes every field; non-finite numbers are strings.
func (f Finding) MarshalJSON() ([]byte, error) {
	return json.Marshal(findingJSON{f.Rule, f.Subject, f.Index, Number(f.Value), Number(f.Limit), f.Unit, f.Message})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Finding) UnmarshalJSON(data []byte) error {
	j := findingJSON{Index: -1}
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("geometry: finding: %w", err)
	}
	*f = Finding{j.Rule, j.Subject, j.Index, float64(j.Value), float64(j.Limit), j.Unit, j.Message}
	return nil
}
