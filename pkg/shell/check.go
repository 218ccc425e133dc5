package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"agent_node/pkg/harness/policy"
	"agent_node/pkg/node"
	"agent_node/pkg/node/survey"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
)

// Check says how a profile is checked.
type Check struct {
	File string
	// Look for the robot: when the profile's names are in the graph, they are judged. Demand judges them even when none is.
	Look, Demand bool
	Patience     time.Duration
	JSON         bool
	// Namespace and FramePrefix of the robot, one of several, as the node's parameters robot_namespace and frame_prefix.
	Namespace, FramePrefix string
	// Types are the interface definitions for a file that is checked alone; nil: the embedded ones.
	Types ros.TypeSource
}

// ErrNotInOrder says that what was looked at is not in order; what is wrong has been printed.
var ErrNotInOrder = errors.New("not in order")

// checked is what a check has found, as --json prints it.
type checked struct {
	File      string  `json:"file"`
	Profile   string  `json:"profile,omitempty"`
	OK        bool    `json:"ok"`
	Sound     bool    `json:"sound"`
	Actuators int     `json:"actuators"`
	Tools     int     `json:"tools"`
	Faults    []fault `json:"faults,omitempty"`
	// Looked says whether the graph was judged; Why says why not.
	Looked bool           `json:"looked"`
	Why    string         `json:"why,omitempty"`
	Graph  *survey.Report `json:"graph,omitempty"`
}

// fault of a profile's file.
type fault struct {
	Line    int    `json:"line,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	text    string
}

// CheckProfile reads and binds a profile; with a node, also holds it against the graph. host may be nil: the file alone is
// checked, with the embedded interface definitions. What is wrong is printed, and the error is then ErrNotInOrder.
func CheckProfile(ctx context.Context, host ros.Node, c Check, out io.Writer) error {
	r := checked{File: c.File}
	p, err := r.readFile(host, c.Types)
	switch {
	case err != nil:
		r.Why = "the file is not sound"
	case host == nil:
		r.Why = "no ROS: the file alone was checked"
	case !c.Look && !c.Demand:
		r.Why = "not asked for: the file alone was checked"
	default:
		if err := r.look(ctx, host, p, c); err != nil {
			return err
		}
	}
	r.OK = r.Sound && (!r.Looked || r.Graph.Level() != survey.Error)
	if c.JSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(r); err != nil {
			return err
		}
	} else {
		r.print(out)
	}
	if !r.OK {
		return ErrNotInOrder
	}
	return nil
}

// readFile reads and binds the file; its faults are noted.
func (r *checked) readFile(host ros.Node, types ros.TypeSource) (*robottools.Profile, error) {
	if host != nil {
		types = host.Types()
	}
	p, table, err := bindOffline(r.File, types)
	if err == nil {
		var permissions policy.Policy
		if permissions, err = node.ProfilePolicy(p); err == nil {
			_, err = policy.NewJudge(permissions, table)
		}
	}
	if err != nil {
		r.Faults = faultsOf(err)
		return nil, err
	}
	r.Profile, r.Sound, r.Actuators, r.Tools = p.Name, true, len(p.Actuators), len(table.Specs())
	return p, nil
}

// faultsOf takes joined errors apart.
func faultsOf(err error) []fault {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []fault
		for _, e := range joined.Unwrap() {
			all = append(all, faultsOf(e)...)
		}
		return all
	}
	f := fault{Message: err.Error(), text: err.Error()}
	var at *robottools.ProfileError
	if errors.As(err, &at) {
		f.Line, f.Path, f.Message = at.Line, at.Path, at.Message
	}
	return []fault{f}
}

// look at the graph.
func (r *checked) look(ctx context.Context, host ros.Node, p *robottools.Profile, c Check) error {
	report, err := survey.Look(ctx, host, survey.Needs(p.Placed(c.Namespace, c.FramePrefix)), survey.Options{Patience: c.Patience})
	if err != nil {
		return err
	}
	found, all := report.Found()
	r.Graph = &report
	switch {
	case found > 0 || c.Demand || all == 0:
		r.Looked = true
	case len(report.Nodes) == 0:
		r.Why = "no other ROS node is in sight: the file alone was checked (ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE)"
	default:
		r.Why = fmt.Sprintf("of the %d names that the profile uses none is among the %d nodes in sight: the file alone was checked", all, len(report.Nodes))
	}
	return nil
}

func (r *checked) print(out io.Writer) {
	for _, f := range r.Faults {
		fmt.Fprintln(out, f.text)
	}
	if r.Sound {
		fmt.Fprintf(out, "%s: profile %s is sound: %d actuators, %d tools\n", r.File, r.Profile, r.Actuators, r.Tools)
	}
	if r.Why != "" && r.Sound {
		fmt.Fprintln(out, r.Why)
	}
	if r.Looked {
		printGraph(out, r.Graph)
	}
}

// printGraph is the table of a graph's report, and below it what is wrong.
func printGraph(out io.Writer, g *survey.Report) {
	found, all := g.Found()
	fmt.Fprintf(out, "\nthe graph: %d of %d bindings present, %d nodes in sight", found, all, len(g.Nodes))
	if g.Simulated {
		fmt.Fprint(out, ", time from /clock (start the node with -p use_sim_time:=true)")
	}
	fmt.Fprint(out, "\n\n")
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\tBINDING\tKIND\tNAME\tTYPE\tPRESENT\tQOS\tMEASURED\tVALIDATORS")
	for i := range g.Rows {
		row := &g.Rows[i]
		present := "yes"
		if !row.Present {
			present = "NO"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", mark(row.Level), row.For, row.Kind, shorten(row.Name, 60), orDash(row.Type),
			present, orDash(row.QoS), orDash(shorten(row.Measured, 60)), validators(row))
	}
	w.Flush()
	printProblems(out, g)
}

func validators(r *survey.Row) string {
	switch {
	case len(r.Validators) > 0:
		return strings.Join(r.Validators, ", ")
	case r.Skill:
		return "none"
	}
	return "-"
}

func mark(l survey.Level) string {
	switch l {
	case survey.Error:
		return "ERROR"
	case survey.Stale:
		return "STALE"
	case survey.Warn:
		return "WARN"
	case survey.OK:
	}
	return "ok"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// printProblems says each problem once, the errors first, with the parts that have it.
func printProblems(out io.Writer, g *survey.Report) {
	type said struct {
		survey.Problem
		parts []string
	}
	var list []*said
	note := func(part string, p survey.Problem) {
		for _, s := range list {
			if s.Problem == p {
				s.parts = append(s.parts, part)
				return
			}
		}
		list = append(list, &said{p, []string{part}})
	}
	for _, p := range g.Clock {
		note("time", p)
	}
	for i := range g.Rows {
		for _, p := range g.Rows[i].Problems {
			note(g.Rows[i].For, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *said) int {
		if a.Level == b.Level {
			return 0
		}
		if a.Level == survey.Error {
			return -1
		}
		return 1
	})
	if len(list) > 0 {
		fmt.Fprintln(out)
	}
	for _, s := range list {
		fmt.Fprintf(out, "%-5s %s: %s\n", mark(s.Level), strings.Join(s.parts, "; "), s.Message)
		if s.Advice != "" {
			fmt.Fprintf(out, "      -> %s\n", s.Advice)
		}
	}
}
