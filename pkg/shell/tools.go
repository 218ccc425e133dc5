package shell

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
)

// bindOffline binds a profile with no robot: enough to list and to check. types are the interface definitions; nil: the embedded ones.
func bindOffline(file string, types ros.TypeSource) (p *robottools.Profile, table *tool.Table, err error) {
	if p, err = robottools.Open(file); err != nil {
		return nil, nil, err
	}
	bus := mem.NewBus()
	defer bus.Close()
	n, err := bus.NewNode("check", mem.Options{Logger: slog.New(slog.DiscardHandler), Types: types})
	if err != nil {
		return nil, nil, err
	}
	r, err := robottools.New(robottools.Config{Node: n, Profile: p})
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	table, err = tool.NewTable(r.Tools()...)
	return p, table, err
}

// Tools lists a profile's tools. types are the interface definitions; nil: the embedded ones.
func Tools(file string, types ros.TypeSource, asJSON bool, out io.Writer) error {
	_, table, err := bindOffline(file, types)
	if err != nil {
		return err
	}
	if asJSON {
		type row struct {
			Name        string          `json:"name"`
			Class       string          `json:"class"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			Binding     string          `json:"binding"`
		}
		rows := []row{}
		for _, s := range table.Specs() {
			rows = append(rows, row{s.Name, s.Class.String(), s.Description, s.Parameters, s.Binding})
		}
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "TOOL\tCLASS\tBINDING\tDESCRIPTION")
	for _, s := range table.Specs() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, s.Class, s.Binding, shorten(s.Description, 80))
	}
	return w.Flush()
}
