package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// Exit codes of run.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitUnverified  = 3
	ExitBudget      = 4
	ExitInterrupted = 5
)

// exitCode of agent_msgs/action/ExecuteTask's outcome.
func exitCode(outcome int64) (int, bool) {
	code, ok := map[int64]int{1: ExitDone, 2: ExitUnverified, 3: ExitFailed, 4: ExitBudget, 5: ExitInterrupted}[outcome]
	return code, ok
}

var outcomeNames = map[int64]string{1: "DONE", 2: "UNVERIFIED", 3: "FAILED", 4: "BUDGET_EXHAUSTED", 5: "INTERRUPTED"}

var stateNames = map[int64]string{1: "idle", 2: "sampling", 3: "awaiting_tool", 4: "awaiting_user", 5: "unverified", 6: "done", 7: "failed"}

var actuatorNames = map[int64]string{
	0: "unknown", 1: "holding", 2: "sent", 3: "in_flight", 4: "paused", 5: "canceling", 6: "stopping", 7: "settling", 8: "fault", 9: "estop",
}

// Task is what run sends.
type Task struct {
	Action   string // such as /agent_node/execute_task, or /agent_node/resume_task
	Task     string
	Criteria []string
	Resume   string // an earlier session that goes on; then there is no task
	DryRun   bool
	JSON     bool // print the result as JSON and nothing else
	// Answers is where a person types answers to what the session asks; nil: they are told how else to answer.
	Answers io.Reader
	// WaitServer bounds the wait for the action server.
	WaitServer time.Duration
}

func (t Task) actionType() string {
	if t.Resume != "" {
		return "agent_msgs/action/ResumeTask"
	}
	return "agent_msgs/action/ExecuteTask"
}

func (t Task) goal(of *ros.Type) *ros.Message {
	if t.Resume != "" {
		return ros.New(of).With("session", t.Resume)
	}
	return ros.New(of).With("task", t.Task).With("success_criteria", append([]string{}, t.Criteria...)).With("dry_run", t.DryRun)
}

// Run sends a task, shows its progress on out and returns the exit code. When ctx ends the goal is
// canceled, and its result awaited.
func Run(ctx context.Context, node ros.Node, t Task, out io.Writer) (code int, err error) {
	p := &progress{out: out, quiet: t.JSON}
	asked, err := listen(node, t, p)
	if err != nil {
		return ExitFailed, err
	}
	defer func() { err = errors.Join(err, asked.close()) }()
	result, err := pursue(ctx, node, goal{
		action: t.Action, typ: t.actionType(), fill: t.goal, waitServer: t.WaitServer, progress: p, accepted: asked.serve,
	})
	if err != nil {
		return ExitFailed, err
	}
	if err := printAs(t.JSON, out, result.Result, PrintResult); err != nil {
		return ExitFailed, err
	}
	code, ok := exitCode(result.Result.Int("outcome"))
	if !ok {
		return ExitFailed, fmt.Errorf("the result has no outcome (status %d)", result.Status)
	}
	return code, nil
}

// progress prints feedback, a line for each change.
type progress struct {
	out   io.Writer
	quiet bool

	mu    sync.Mutex
	over  bool // feedback that comes late is not printed behind the result
	last  string
	begun int64 // the newest call that was shown as under way
	seen  int64 // the newest call that was shown with its result
}

// end lets no more feedback be printed.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// say prints a line between those of feedback.
func (p *progress) say(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(s)
}

func (p *progress) line(s string) {
	if !p.quiet && !p.over {
		fmt.Fprintln(p.out, s)
	}
}

func (p *progress) feedback(m *ros.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	step := m.Msg("last_step")
	switch i := step.Int("index"); {
	case underWay(step) && i > max(p.begun, p.seen):
		p.begun = i
		p.line("  " + stepLine(step))
	case !underWay(step) && i > p.seen:
		p.seen = i
		p.line("  " + stepLine(step))
	}
	var moving []string
	for _, a := range m.Msgs("actuators") {
		moving = append(moving, a.Str("name")+" "+actuatorNames[a.Int("state")])
	}
	now := fmt.Sprintf("step %d  %s/%s  [%s]", m.Int("step"), stateNames[m.Int("state")], m.Str("phase"), strings.Join(moving, ", "))
	if now != p.last {
		p.last = now
		p.line(now)
	}
}

// underWay tells a call that runs from one that has its result: a failure always has a kind.
func underWay(s *ros.Message) bool { return !s.Bool("ok") && s.Str("error_kind") == "" }

// stepLine is one call in one line.
func stepLine(s *ros.Message) string {
	call := fmt.Sprintf("%s(%s)", s.Str("tool"), inside(s.Str("arguments_json")))
	switch {
	case underWay(s):
		return call + " ..."
	case s.Bool("ok"):
		return call + " -> ok: " + shorten(s.Str("content"), 200)
	}
	return call + " -> " + s.Str("error_kind") + ": " + shorten(s.Str("content"), 200)
}

// inside an object's braces; arguments that are none stand as they are.
func inside(arguments string) string {
	t := strings.TrimSpace(arguments)
	if strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}") {
		return strings.TrimSpace(t[1 : len(t)-1])
	}
	return shorten(t, 200)
}

func shorten(s string, most int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) <= most {
		return string(r)
	}
	return string(r[:most]) + " …"
}

// PrintResult shows a result of execute_task to a person.
func PrintResult(out io.Writer, m *ros.Message) {
	fmt.Fprintf(out, "\n%s (%s)\n", outcomeNames[m.Int("outcome")], m.Str("reason_code"))
	if a := m.Str("answer"); a != "" {
		fmt.Fprintf(out, "answer: %s\n", a)
	}
	for _, s := range m.Msgs("completed_steps") {
		fmt.Fprintf(out, "  step %d  %s\n", s.Int("index"), stepLine(s))
	}
	for _, v := range m.Msgs("verifications") {
		verdict := "passed"
		if !v.Bool("passed") {
			verdict = "FAILED"
		}
		fmt.Fprintf(out, "  check  %s %s: %s\n", v.Str("criterion"), verdict, shorten(v.Str("evidence"), 160))
	}
	if unmet, _ := m.Get("unmet_goals"); unmet != nil {
		for _, u := range unmet.([]string) {
			fmt.Fprintf(out, "  unmet  %s\n", u)
		}
	}
	u := m.Msg("usage")
	fmt.Fprintf(out, "usage: %d steps, %d tool calls, %d tokens in, %d out, %.1f s\n", u.Int("steps"), u.Int("tool_calls"),
		u.Int("input_tokens"), u.Int("output_tokens"), u.Duration("wall_time").Seconds())
	if t := m.Str("trace"); t != "" {
		fmt.Fprintf(out, "trace: %s\n", t)
	}
}
