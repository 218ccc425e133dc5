package robottools

import (
	"fmt"
	"strings"

	"agent_node/pkg/ros"
)

// Definition is an interface type as a definition file would have it, nested types indented below their fields. It has no
// comments: types are known by what is installed, not by their sources. An unknown type is an error that wraps ros.ErrUnknownType.
func Definition(types ros.TypeSource, name string) (string, error) {
	var b strings.Builder
	parts := strings.Split(name, "/")
	kind := "msg"
	if len(parts) == 3 {
		kind = parts[1]
	}
	switch kind {
	case "srv":
		t, err := types.Service(name)
		if err != nil {
			return "", err
		}
		define(&b, t.Request, 0)
		b.WriteString("---\n")
		define(&b, t.Response, 0)
	case "action":
		t, err := types.Action(name)
		if err != nil {
			return "", err
		}
		define(&b, t.Goal, 0)
		b.WriteString("---\n")
		define(&b, t.Result, 0)
		b.WriteString("---\n")
		define(&b, t.Feedback, 0)
	default:
		t, err := types.Message(name)
		if err != nil {
			return "", err
		}
		define(&b, t, 0)
	}
	return b.String(), nil
}

// shownNesting is how deep nested types are shown.
const shownNesting = 4

func define(b *strings.Builder, t *ros.Type, depth int) {
	indent := strings.Repeat("\t", depth)
	for _, c := range t.Constants {
		fmt.Fprintf(b, "%s%s=%v\n", indent, c.Name, c.Value)
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Name == "structure_needs_at_least_one_member" { // what rosidl puts into an empty message
			continue
		}
		fmt.Fprintf(b, "%s%s %s", indent, f.TypeString(), f.Name)
		if f.Default != nil {
			fmt.Fprintf(b, " %v", f.Default)
		}
		b.WriteByte('\n')
		if f.Type != nil && depth < shownNesting {
			define(b, f.Type, depth+1)
		}
	}
}
