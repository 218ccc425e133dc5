package shell

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"agent_node/config"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/node"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros/mem"
)

// loadProfile reads a profile file, or the built-in robot's where file is empty.
func loadProfile(file string) (*robottools.Profile, error) {
	if file == "" {
		return robottools.Load("sim_robot.yaml (built in)", config.SimRobot)
	}
	return robottools.LoadFile(file)
}

// bindOffline binds a profile with the embedded interface definitions: enough to list and to check, no robot needed.
func bindOffline(file string) (p *robottools.Profile, table *tool.Table, err error) {
	if p, err = loadProfile(file); err != nil {
		return nil, nil, err
	}
	bus := mem.NewBus()
	defer bus.Close()
	n, err := bus.NewNode("check", mem.Options{Logger: slog.New(slog.DiscardHandler)})
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

// Tools lists a profile's tools.
func Tools(file string, asJSON bool, out io.Writer) error {
	_, table, err := bindOffline(file)
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

// CheckProfile reads and binds a profile; its faults are errors with file and line.
func CheckProfile(file string, out io.Writer) error {
	p, table, err := bindOffline(file)
	if err != nil {
		return err
	}
	permissions, err := node.ProfilePolicy(p)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if _, err := policy.NewJudge(permissions, table); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	fmt.Fprintf(out, "%s: profile %s is sound: %d actuators, %d tools\n", file, p.Name, len(p.Actuators), len(table.Specs()))
	return nil
}
