package shell

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/ros"
)

// PlanTask is what plan asks for.
type PlanTask struct {
	Action     string // such as /agent_node/decompose
	Task       string
	Context    string
	MaxSteps   uint32
	JSON       bool // print the result as JSON and nothing else
	WaitServer time.Duration
}

// Plan asks for a plan, prints it as a tree and returns the exit code. Nothing moves. The end of ctx cancels the planning.
func Plan(ctx context.Context, node ros.Node, t PlanTask, out io.Writer) (int, error) {
	result, err := pursue(ctx, node, goal{
		action: t.Action, typ: "agent_msgs/action/Decompose", waitServer: t.WaitServer, progress: &progress{out: out, quiet: true},
		fill: func(of *ros.Type) *ros.Message {
			return ros.New(of).With("task", t.Task).With("context", t.Context).With("max_steps", t.MaxSteps)
		},
	})
	if err != nil {
		return ExitFailed, err
	}
	if err := printAs(t.JSON, out, result.Result, PrintPlan); err != nil {
		return ExitFailed, err
	}
	return planExit(result.Result), nil
}

// planExit is the exit code of a decomposition: run's, by the outcome that its reason belongs to.
func planExit(r *ros.Message) int {
	if r.Bool("success") {
		return ExitDone
	}
	if code, ok := exitCode(int64(harness.Reason(r.Str("reason_code")).Outcome())); ok && code != ExitDone {
		return code
	}
	return ExitFailed
}

var feasibilityNames = map[int64]string{0: "unknown", 1: "ok", 2: "refused"}

// PrintPlan shows a result of decompose to a person: the plan as a tree, its steps in the order of execution as given.
func PrintPlan(out io.Writer, r *ros.Message) {
	if !r.Bool("success") {
		fmt.Fprintf(out, "no plan (%s): %s\n", r.Str("reason_code"), r.Str("message"))
		return
	}
	p := r.Msg("plan")
	fmt.Fprintln(out, p.Str("task"))
	steps, criteria := p.Msgs("steps"), textsOf(p, "success_criteria")
	for i, s := range steps {
		head, indent := "├─ ", "│  "
		if i == len(steps)-1 && len(criteria) == 0 {
			head, indent = "└─ ", "   "
		}
		fmt.Fprintf(out, "%s%s\n", head, planLine(s))
		var leaves []string
		if d := s.Str("description"); d != "" {
			leaves = append(leaves, d)
		}
		if after := textsOf(s, "depends_on"); len(after) > 0 {
			leaves = append(leaves, "after "+strings.Join(after, ", "))
		}
		for _, c := range textsOf(s, "acceptance") {
			leaves = append(leaves, "must hold: "+c)
		}
		for _, f := range s.Msgs("findings") {
			leaves = append(leaves, fmt.Sprintf("refused by rule %s: %s", f.Str("rule"), f.Str("message")))
		}
		branches(out, indent, leaves)
	}
	if len(criteria) > 0 {
		fmt.Fprintln(out, "└─ done when")
		branches(out, "   ", criteria)
	}
	counts := map[string]int{}
	for _, s := range steps {
		counts[feasibilityNames[s.Int("feasibility")]]++
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%d %s", counts[name], name))
	}
	fmt.Fprintf(out, "%d steps: %s. %s\n", len(steps), strings.Join(words, ", "), r.Str("message"))
}

func branches(out io.Writer, indent string, leaves []string) {
	for i, l := range leaves {
		head := "├─ "
		if i == len(leaves)-1 {
			head = "└─ "
		}
		fmt.Fprintf(out, "%s%s%s\n", indent, head, shorten(l, 200))
	}
}

// planLine is one step in one line.
func planLine(s *ros.Message) string {
	what := "agent"
	if name := s.Str("tool"); name != "" {
		what = fmt.Sprintf("%s(%s)", name, strings.Trim(s.Str("arguments_json"), "{}"))
	}
	return fmt.Sprintf("%s  %s  [%s]", s.Str("id"), what, feasibilityNames[s.Int("feasibility")])
}

func textsOf(m *ros.Message, path string) []string {
	v, _ := m.Get(path)
	s, _ := v.([]string)
	return s
}
