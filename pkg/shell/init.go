package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"agent_node/pkg/node/survey"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/shell/draft"
)

// Init says how a profile is drafted.
type Init struct {
	// Output is the file to write; empty: the profile is printed. A file that is there is kept unless Force.
	Output   string
	Force    bool
	Name     string // of the robot; empty: the description's
	Patience time.Duration
	JSON     bool
}

// drafted is what --json prints.
type drafted struct {
	Name    string         `json:"name"`
	File    string         `json:"file,omitempty"`
	Profile string         `json:"profile"`
	Notes   []string       `json:"notes"`
	OK      bool           `json:"ok"`
	Graph   *survey.Report `json:"graph"`
}

// InitProfile drafts a profile for the robot that host sees, writes it, and holds it against the graph. What is said beside the
// profile goes to say.
func InitProfile(ctx context.Context, host ros.Node, i Init, out, say io.Writer) error {
	if i.Output != "" && !i.Force {
		if _, err := os.Stat(i.Output); err == nil {
			return fmt.Errorf("%s is there already: --force replaces it", i.Output)
		}
	}
	if i.Patience <= 0 {
		i.Patience = 5 * time.Second
	}
	seen, err := draft.Gather(ctx, host, i.Patience)
	if err != nil {
		return err
	}
	if len(seen.Nodes) == 0 {
		return errors.New("no other ROS node is in sight: is the robot on, in this ROS_DOMAIN_ID, and does ROS_AUTOMATIC_DISCOVERY_RANGE reach it?")
	}
	d := seen.Decide(i.Name)
	if d.Empty() {
		return fmt.Errorf("none of the %d nodes in sight offers anything that a tool could be made of (no odometry, no velocity topic, no trajectory controller, no sensor)", len(seen.Nodes))
	}
	text := d.YAML()
	name := i.Output
	if name == "" {
		name = "the draft"
	}
	p, err := robottools.Load(name, []byte(text))
	if err != nil {
		return errors.Join(fmt.Errorf("the draft is not sound, which is a fault of this program; it was:\n%s", text), err)
	}
	if i.Output != "" {
		if err := os.WriteFile(i.Output, []byte(text), 0o644); err != nil {
			return err
		}
	}
	report, err := survey.Look(ctx, host, survey.Needs(p), survey.Options{Patience: i.Patience})
	if err != nil {
		return err
	}
	if i.JSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(drafted{Name: d.Name, File: i.Output, Profile: text, Notes: d.Notes, OK: report.Level() != survey.Error, Graph: &report})
	}
	if i.Output == "" {
		fmt.Fprint(out, text)
	}
	found, all := report.Found()
	fmt.Fprintf(say, "%s: %d actuators, %d tools, %d of %d bindings present; %d remarks at its end\n", d.Name, len(p.Actuators), len(p.Tools), found, all, len(d.Notes))
	printProblems(say, &report)
	return nil
}
