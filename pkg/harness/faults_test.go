package harness_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
)

var update = flag.Bool("update", false, "write docs/faults.md anew")

// faultsDoc is made of the table below.
const faultsDoc = "../../docs/faults.md"

// fault is one thing that goes wrong, and what must come of it. The table is what the test carries out, and what the document is made of.
type fault struct {
	name  string
	model model.Model
	set   func(*rig, *robot) // what is otherwise than usual
	kinds string             // error kinds of the steps, in order; "ok" where it succeeded
	moved string             // skills that were begun, counted at the robot
	end   harness.Reason
	told  string // part of what the model is told, or where it is not asked again, of the result's answer
	what  func(*testing.T, *scene)
}

// scene is a fault after it happened.
type scene struct {
	*rig
	rob   *robot
	res   harness.Result
	moved string
	kinds string
	told  string
	stops int
	count string // what else was counted
}

// group of faults, a section of the document.
type group struct {
	title, intro string
	faults       []fault
}

// happen lets a fault happen.
func (f fault) happen(t *testing.T) *scene {
	s := &scene{rob: newRobot()}
	m := &listening{Model: f.model}
	s.rig = newRig(t, m, s.rob.tools()...)
	s.cfg.Stop = func(ctx context.Context, _ string) error { s.stops++; return ctx.Err() }
	s.cfg.Settle = func(ctx context.Context) (time.Time, error) { return time.Now(), ctx.Err() }
	if f.set != nil {
		f.set(s.rig, s.rob)
	}
	s.res = s.run()
	var moved, kinds []string
	for _, skill := range []*fake{s.rob.navigate, s.rob.gripper, s.rob.wait} {
		if n := skill.count(); n > 0 {
			moved = append(moved, fmt.Sprintf("%s %d", skill.spec.Name, n))
		}
	}
	for _, step := range s.res.Steps {
		if step.OK {
			kinds = append(kinds, "ok")
		} else {
			kinds = append(kinds, string(step.ErrorKind))
		}
	}
	s.moved, s.kinds = strings.Join(moved, ", "), strings.Join(shortened(kinds), " ")
	s.told = s.res.Answer
	if m.told != "" {
		s.told = m.told
	}
	return s
}

// shortened writes what repeats once.
func shortened(list []string) []string {
	var out []string
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i] {
			n++
		}
		if n > 3 {
			out = append(out, fmt.Sprintf("%s×%d", list[i], n))
		} else {
			out = append(out, list[i:i+n]...)
		}
		i += n
	}
	return out
}

// listening notes what a model is told right behind its first answer.
type listening struct {
	model.Model
	asked int
	told  string
}

func (m *listening) Sample(ctx context.Context, r model.Request) (model.Response, error) {
	if m.asked++; m.asked == 2 {
		var parts []string
		for _, x := range slices.Backward(r.Messages) {
			if x.Role == model.RoleAssistant || x.Role == model.RoleSystem {
				break
			}
			parts = append(parts, x.Content)
		}
		slices.Reverse(parts)
		m.told = strings.Join(parts, " | ")
	}
	return m.Model.Sample(ctx, r)
}

// TestFaults lets each fault of docs/faults.md happen and compares what came of it, counted where skills begin, with the table; and the table
// with the document.
func TestFaults(t *testing.T) {
	var doc bytes.Buffer
	doc.WriteString(faultsHead)
	for _, g := range append(faults(), endpointFaults()) {
		fmt.Fprintf(&doc, "\n## %s\n\n%s\n\n| fault | skills begun | steps | the model, or where it is not asked again the result, is told | ends as |\n|---|---|---|---|---|\n", g.title, g.intro)
		for _, f := range g.faults {
			t.Run(strings.ReplaceAll(f.name, " ", "_"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := f.happen(t)
					time.Sleep(2 * time.Hour) // what hangs comes back when nobody waits for it any more
					if s.moved != f.moved || s.kinds != f.kinds || s.res.Reason != f.end || !strings.Contains(s.told, f.told) {
						t.Errorf("moved %q, want %q\nsteps %q, want %q\nends as %s, want %s (%s)\ntold %q, want %q", s.moved, f.moved, s.kinds, f.kinds, s.res.Reason, f.end, s.res.Answer, s.told, f.told)
					}
					if s.res.Outcome == harness.Interrupted && s.stops == 0 && f.moved != "" {
						t.Error("nothing was stopped")
					}
					if f.what != nil {
						f.what(t, s)
					}
					fmt.Fprintf(&doc, "| %s | %s | %s | %s | %s `%s` |\n", f.name, orNone(s.moved), code(s.kinds)+s.count, cell(s.told), s.res.Outcome, s.res.Reason)
				})
			})
		}
	}
	if t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(faultsDoc, doc.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(faultsDoc)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(was, doc.Bytes()) {
		t.Errorf("docs/faults.md is not what happens today; go test ./pkg/harness -run TestFaults -update writes it")
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func code(s string) string {
	if s == "" {
		return "none"
	}
	return "`" + s + "`"
}

// cell of a table in Markdown: one line, not too long, nothing that is markup.
func cell(s string) string {
	s = strings.NewReplacer("|", "/", "\n", " ", "<", "‹", ">", "›", "*", "∗", "[harness] ", "").Replace(s)
	if short, cut := tool.Cut(s, 260, ""); cut {
		s, _, _ = strings.Cut(short, " [")
	}
	return s
}

const faultsHead = `# Faults

What the harness makes of faults of models, endpoints, people, tools and disks. Each row is carried out by TestFaults (pkg/harness) with a robot that counts what begins; this
page is what came of it, written by the same test (` + "`go test ./pkg/harness -run TestFaults -update`" + `). Every row's record is also verified and replayed, and every result checked: done only
with all criteria met, one observation for each call, rest measured.

A step is a call's one observation: ` + "`ok`" + ` or its error kind. Where a fault needs more than one answer of the model, what is told is what follows the first.
More faults of endpoints are in pkg/harness/model/openai and test/e2e/test_model_faults.py, those of disks in pkg/harness/trace, of robots and processes in test/e2e.
`

var errDisk = errors.New("no space left on device")

// once approves the first question only.
func once() func(policy.Request) (policy.Answer, error) {
	n := 0
	return func(q policy.Request) (policy.Answer, error) {
		n++
		return policy.Answer{RequestID: q.ID, Approved: n == 1}, nil
	}
}

// goexit ends the goroutine that it is called in.
func goexit() tool.Result {
	runtime.Goexit()
	return tool.Result{OK: true}
}

func slicesOf(n int, c model.Call) []model.Call { return slices.Repeat([]model.Call{c}, n) }

// cutShort lets an interrupt come in a motion, which then ends with a result.
func cutShort(with tool.Result, reason harness.Reason) func(*rig, *robot) {
	return func(r *rig, rob *robot) {
		ctx, cancel := context.WithCancelCause(r.ctx)
		r.ctx = ctx
		rob.navigate.do = func(ctx context.Context, _ tool.Call) tool.Result {
			cancel(harness.Interrupt{Reason: reason, Message: "from outside"})
			<-ctx.Done()
			return with
		}
	}
}

// longWinded is a model whose every answer is long, so that what is kept of a history is too long already.
func longWinded() model.Model {
	return modelFunc(func(_ context.Context, r model.Request) (model.Response, error) {
		out := calls(call("wait", fmt.Sprintf(`{"seconds":%d}`, len(r.Messages))))
		out.Text = strings.Repeat("word ", 600)
		return out, nil
	})
}

// retable takes the robot's tools anew, after their definitions were changed.
func (r *rig) retable(rob *robot) {
	table, err := tool.NewTable(rob.tools()...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.cfg.Tools = table
}
