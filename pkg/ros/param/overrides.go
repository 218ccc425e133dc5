package param

import (
	"errors"

	"agent_node/pkg/ros/args"
)

// Overrides picks the first values that a command line and its parameter files give the
// node of that fully qualified name; of several for one parameter the last one wins.
func Overrides(params []args.Param, node string) (map[string]Value, error) {
	out := make(map[string]Value)
	var errs []error
	for _, p := range params {
		if !p.Matches(node) {
			continue
		}
		v, err := ValueOf(p.Value)
		if err != nil {
			errs = append(errs, failure(p.Name, ErrWrongType, "%v", err))
			continue
		}
		out[p.Name] = v
	}
	return out, errors.Join(errs...)
}
