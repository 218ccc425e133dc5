package harness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
)

// timeline notes which calls run at the same time.
type timeline struct {
	mu     sync.Mutex
	now    []string
	most   int
	beside map[string]bool // "a b": they ran at the same time
}

func (l *timeline) enter(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.now {
		l.beside[min(name, other)+" "+max(name, other)] = true
	}
	l.now = append(l.now, name)
	l.most = max(l.most, len(l.now))
}

func (l *timeline) leave(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.now, name)
	l.now = slices.Delete(l.now, i, i+1)
}

// slow is a tool that takes its time.
func (l *timeline) slow(spec tool.Spec, takes time.Duration, r tool.Result) *fake {
	return &fake{spec: spec, do: func(ctx context.Context, _ tool.Call) tool.Result {
		l.enter(spec.Name)
		defer l.leave(spec.Name)
		select {
		case <-time.After(takes):
			return r
		case <-ctx.Done():
			return tool.Result{ErrorKind: tool.Canceled, Content: "stopped"}
		}
	}}
}

func skillOf(name string, alongside []string, actuators ...string) tool.Spec {
	return tool.Spec{Name: name, Class: tool.Skill, Validated: true, Actuators: actuators, Alongside: alongside}
}

// crew is a robot whose base and gripper may move at once; the arm moves alone.
func crew(l *timeline) []*fake {
	return []*fake{
		l.slow(tool.Spec{Name: "look", Class: tool.Query}, 5*time.Second, tool.Result{OK: true, Content: "seen"}),
		l.slow(tool.Spec{Name: "listen", Class: tool.Query}, time.Second, tool.Result{OK: true, Content: "heard"}),
		l.slow(tool.Spec{Name: "check", Class: tool.Verify}, 3*time.Second, tool.Result{OK: true, Passed: true, Content: "fine"}),
		l.slow(skillOf("drive", []string{"gripper"}, "base"), 6*time.Second, tool.Result{OK: true, Content: "drove"}),
		l.slow(skillOf("turn", []string{"gripper"}, "base"), 2*time.Second, tool.Result{OK: true, Content: "turned"}),
		l.slow(skillOf("grip", []string{"base"}, "gripper"), 4*time.Second, tool.Result{OK: true, Content: "gripped"}),
		l.slow(skillOf("reach", nil, "arm"), 2*time.Second, tool.Result{OK: true, Content: "reached"}),
		l.slow(skillOf("beep", nil), time.Second, tool.Result{OK: true, Content: "beeped"}),
	}
}

func toolsOf(list []*fake) []tool.Tool {
	var out []tool.Tool
	for _, f := range list {
		out = append(out, f)
	}
	return out
}

func TestCallsThatRunTogether(t *testing.T) {
	for _, x := range []struct {
		name   string
		calls  []string
		took   time.Duration
		beside []string
	}{
		{"what reads runs at once", []string{"look", "listen", "check"}, 5 * time.Second, []string{"listen look", "check look", "check listen"}},
		{"two actuators of which the profile says so", []string{"drive", "grip"}, 6 * time.Second, []string{"drive grip"}},
		{"in the other order", []string{"grip", "drive"}, 6 * time.Second, []string{"drive grip"}},
		{"the same actuator", []string{"drive", "turn"}, 8 * time.Second, nil},
		{"two actuators of which it does not", []string{"drive", "reach"}, 8 * time.Second, nil},
		{"a third that fits one of two", []string{"drive", "grip", "turn"}, 8 * time.Second, []string{"drive grip"}},
		{"a skill without an actuator", []string{"drive", "beep"}, 7 * time.Second, nil},
		{"what reads waits for what moves", []string{"drive", "look"}, 11 * time.Second, nil},
		{"what moves waits for what reads", []string{"look", "drive"}, 11 * time.Second, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &timeline{beside: map[string]bool{}}
				var list []model.Call
				for _, c := range x.calls {
					list = append(list, call(c, `{}`))
				}
				r := newRig(t, ends(calls(list...), says("done")), toolsOf(crew(l))...)
				r.cfg.AcceptanceRounds = -1
				begun := time.Now()
				res := r.run()
				want(t, res, harness.ReasonUnverified)
				var order []string
				for _, s := range res.Steps {
					order = append(order, s.Tool)
					if !s.OK {
						t.Errorf("%s: %s: %s", s.Tool, s.ErrorKind, s.Content)
					}
				}
				if !slices.Equal(order, x.calls) {
					t.Errorf("observed in the order %q", order)
				}
				if took := time.Since(begun); took != x.took {
					t.Errorf("it took %v, want %v", took, x.took)
				}
				for _, pair := range x.beside {
					if !l.beside[pair] {
						t.Errorf("%s did not run at once", pair)
					}
				}
				if len(l.beside) != len(x.beside) {
					t.Errorf("at once: %v", l.beside)
				}
			})
		})
	}
}

// Caps hold for the whole answer before its first call begins.
func TestCapsHoldForTheWholeAnswer(t *testing.T) {
	l := &timeline{beside: map[string]bool{}}
	list := crew(l)
	eight := make([]model.Call, 8)
	for i := range eight {
		eight[i] = call("look", `{}`)
	}
	r := newRig(t, ends(calls(eight...)), toolsOf(list)...)
	r.goal.Budget.ToolCalls = 6
	res := r.run()
	want(t, res, harness.ReasonBudgetToolCalls)
	if list[0].count() != 0 || len(res.Steps) != 0 {
		t.Errorf("%d calls were made, %d observed", list[0].count(), len(res.Steps))
	}
}

// A skill that gets out of control stops what runs beside it at once, and both have their observation.
func TestAPanicStopsWhatRunsBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &timeline{beside: map[string]bool{}}
		list := crew(l)
		list[5].do = func(context.Context, tool.Call) tool.Result { time.Sleep(time.Second); panic("grip") }
		stop := make(chan struct{})
		list[3].do = func(context.Context, tool.Call) tool.Result {
			select {
			case <-stop:
				return tool.Result{ErrorKind: tool.Canceled, Content: "stopped"}
			case <-time.After(time.Minute):
				return tool.Result{OK: true}
			}
		}
		r := newRig(t, ends(calls(call("drive", `{}`), call("grip", `{}`)), says("done")), toolsOf(list)...)
		r.cfg.AcceptanceRounds = -1
		var stops []time.Duration
		begun := time.Now()
		r.cfg.Stop = func(context.Context, string) error {
			stops = append(stops, time.Since(begun))
			if len(stops) == 1 {
				close(stop)
			}
			return nil
		}
		res := r.run()
		want(t, res, harness.ReasonUnverified)
		wantStep(t, res, 0, tool.Canceled)
		wantStep(t, res, 1, tool.Failed)
		if len(stops) != 1 || stops[0] != time.Second {
			t.Errorf("stopped at %v", stops)
		}
	})
}

// An interrupt ends everything that runs together, and each call has one observation.
func TestInterruptEndsAllThatRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &timeline{beside: map[string]bool{}}
		r := newRig(t, ends(calls(call("look", `{}`), call("listen", `{}`), call("check", `{}`), call("drive", `{}`))), toolsOf(crew(l))...)
		ctx, cancel := context.WithCancelCause(r.ctx)
		r.ctx = ctx
		time.AfterFunc(2*time.Second, func() { cancel(harness.Interrupt{Reason: harness.ReasonOperatorStop}) })
		res := r.run()
		want(t, res, harness.ReasonOperatorStop)
		wantStep(t, res, 0, tool.Canceled)
		wantStep(t, res, 1, "")
		wantStep(t, res, 2, tool.Canceled)
		wantStep(t, res, 3, tool.Canceled)
		if d := res.Steps[1].End.Sub(res.Steps[1].Start); d != time.Second {
			t.Errorf("listening took %v", d)
		}
	})
}

// Of two approvals of one answer that run together both are asked for before either begins.
func TestApprovalsComeBeforeWhatRunsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &timeline{beside: map[string]bool{}}
		list := crew(l)
		r := newRig(t, ends(calls(call("drive", `{}`), call("grip", `{}`)), says("done")), toolsOf(list)...)
		r.cfg.AcceptanceRounds = -1
		r.cfg.Policy.Classes = nil
		r.cfg.Policy.Simulation = false
		r.cfg.Approver = approverFunc(func(_ context.Context, q policy.Request) (policy.Answer, error) {
			if n := list[3].count() + list[5].count(); n > 0 {
				t.Errorf("%d skills began before %s was approved", n, q.Tool)
			}
			return policy.Answer{RequestID: q.ID, Approved: q.Tool == "drive"}, nil
		})
		res := r.run()
		want(t, res, harness.ReasonUnverified)
		wantStep(t, res, 0, "")
		wantStep(t, res, 1, tool.PermissionDenied)
	})
}

// Whatever runs together: one observation a call, in the calls' order; no two skills at once unless the profile says so, and nothing
// that reads beside what moves.
func TestLawsOfRunningTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		rapid.Check(bubble{t}, func(rt *rapid.T) {
			n++
			l := &timeline{beside: map[string]bool{}}
			list := crew(l)
			for _, f := range list {
				switch rapid.SampledFrom([]string{"fine", "fine", "fails", "panics", "hangs"}).Draw(rt, f.spec.Name) {
				case "fails":
					f.do = l.slow(f.spec, time.Second, tool.Result{ErrorKind: tool.ServerFailed, Content: "no"}).do
				case "panics":
					f.do = func(context.Context, tool.Call) tool.Result {
						l.enter(f.spec.Name)
						defer l.leave(f.spec.Name)
						panic("no")
					}
				case "hangs":
					f.do = func(ctx context.Context, _ tool.Call) tool.Result {
						l.enter(f.spec.Name)
						defer l.leave(f.spec.Name)
						<-ctx.Done()
						return tool.Result{ErrorKind: tool.Canceled}
					}
				}
			}
			answer := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) model.Call {
				return model.Call{
					ID:        rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "id"),
					Tool:      rapid.SampledFrom([]string{"look", "listen", "check", "drive", "turn", "grip", "reach", "beep", "fly"}).Draw(t, "tool"),
					Arguments: rapid.SampledFrom([]string{"{}", "{}", "{}", "{}", `{"x":1}`}).Draw(t, "arguments"),
				}
			}), 1, 9).Draw(rt, "answer")
			r := newRig(t, ends(calls(answer...), says("done")), toolsOf(list)...)
			r.goal.Session = fmt.Sprintf("s%d", n)
			r.goal.Budget = budget.Limits{WallTime: time.Duration(rapid.IntRange(10, 60).Draw(rt, "wall")) * time.Second}
			if rapid.Bool().Draw(rt, "stop fails") {
				r.cfg.Stop = func(context.Context, string) error { return errors.New("no") }
			}
			r.cfg.AcceptanceRounds = -1
			res := r.run()
			if t.Failed() {
				rt.FailNow()
			}
			if len(res.Steps) != len(answer) {
				rt.Fatalf("%d calls, %d observations", len(answer), len(res.Steps))
			}
			for i, s := range res.Steps {
				if s.Tool != answer[i].Tool || s.End.Before(s.Start) {
					rt.Fatalf("observation %d is of %s", i+1, s.Tool)
				}
			}
			for pair := range l.beside {
				a, b, _ := strings.Cut(pair, " ")
				reading := map[string]bool{"look": true, "listen": true, "check": true}
				if reading[a] != reading[b] || !reading[a] && !(a == "drive" && b == "grip" || a == "grip" && b == "turn") {
					rt.Fatalf("%s ran at the same time", pair)
				}
			}
			r.sink.Forget(r.goal.Session)
		})
	})
}
