package harness_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
)

// person answers what it is asked.
type person struct {
	answer func(policy.Request) (policy.Answer, error)

	mu    sync.Mutex
	asked []policy.Request
}

func (p *person) Ask(_ context.Context, r policy.Request) (policy.Answer, error) {
	p.mu.Lock()
	p.asked = append(p.asked, r)
	p.mu.Unlock()
	return p.answer(r)
}

func yes(r policy.Request) (policy.Answer, error) {
	return policy.Answer{RequestID: r.ID, Approved: true}, nil
}

func TestApproval(t *testing.T) {
	var earlier policy.Request
	for _, x := range []struct {
		name   string
		answer func(policy.Request) (policy.Answer, error)
		ran    int
	}{
		{"approved", yes, 1},
		{"refused", func(r policy.Request) (policy.Answer, error) { return policy.Answer{RequestID: r.ID, Text: "no"}, nil }, 0},
		{"an error", func(policy.Request) (policy.Answer, error) { return policy.Answer{Approved: true}, errors.New("lost") }, 0},
		{"an answer to nothing", func(policy.Request) (policy.Answer, error) { return policy.Answer{Approved: true}, nil }, 0},
		{"an answer to another request", func(policy.Request) (policy.Answer, error) {
			return policy.Answer{RequestID: "call_9_1-0123456789ab", Approved: true}, nil
		}, 0},
		{"a panic", func(policy.Request) (policy.Answer, error) { panic("no") }, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			rob := newRobot()
			r := newRig(t, ends(goKitchen, finish("there")), rob.tools()...)
			r.cfg.Policy = policy.Policy{} // the default: skills ask
			p := &person{answer: x.answer}
			r.cfg.Approver = p
			res := r.run()
			if rob.navigate.count() != x.ran {
				t.Fatalf("%d executions, want %d", rob.navigate.count(), x.ran)
			}
			if x.ran == 0 {
				wantStep(t, res, 0, tool.PermissionDenied)
			} else {
				want(t, res, harness.ReasonAccepted)
			}
			q := p.asked[0]
			if q.Tool != "navigate_to" || string(q.Arguments) != `{"place":"kitchen"}` || q.CallID != "call_1_1" || q.Session != "s1" ||
				q.Digest != policy.Digest("s1", "call_1_1", "navigate_to", []byte(`{"place":"kitchen"}`)) || !strings.HasPrefix(q.ID, "call_1_1-") {
				t.Fatalf("asked %+v", q)
			}
			if earlier.ID == "" {
				earlier = q
			}
			asked := false
			for _, n := range r.news {
				asked = asked || n.State == harness.StateAwaitingUser
			}
			if !asked {
				t.Error("the state was never awaiting_user")
			}
		})
	}
}

// One approval covers one call: not its sibling in the same answer, and not the same arguments later.
func TestApprovalCoversOneCall(t *testing.T) {
	rob := newRobot()
	same := call("navigate_to", `{"place":"kitchen"}`)
	r := newRig(t, ends(calls(same, same), calls(same), finish("there")), rob.tools()...)
	r.cfg.Policy = policy.Policy{}
	ids := map[string]bool{}
	p := &person{}
	p.answer = func(q policy.Request) (policy.Answer, error) {
		if ids[q.ID] {
			t.Errorf("the id %s came twice", q.ID)
		}
		ids[q.ID] = true
		return yes(q)
	}
	r.cfg.Approver = p
	want(t, r.run(), harness.ReasonAccepted)
	if len(p.asked) != 3 || rob.navigate.count() != 3 {
		t.Fatalf("asked %d times for %d executions", len(p.asked), rob.navigate.count())
	}
}

// Silence is a denial, and the approver that hangs is left behind.
func TestSilenceIsADenial(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rob := newRobot()
			release := make(chan struct{})
			r := newRig(t, ends(goKitchen, finish("there")), rob.tools()...)
			r.cfg.Policy = policy.Policy{Timeout: 30 * time.Second}
			r.cfg.Approver = approverFunc(func(ctx context.Context, q policy.Request) (policy.Answer, error) {
				if deaf {
					<-release
				} else {
					<-ctx.Done()
				}
				return yes(q) // too late
			})
			start := time.Now()
			res := r.run()
			wantStep(t, res, 0, tool.PermissionDenied)
			want(t, res, harness.ReasonPermissionDenied)
			if d := time.Since(start); rob.navigate.count() != 0 || d < 30*time.Second || d > 33*time.Second {
				t.Fatalf("%d executions after %v", rob.navigate.count(), d)
			}
			close(release)
			synctest.Wait()
		})
	}
}

type approverFunc func(context.Context, policy.Request) (policy.Answer, error)

func (f approverFunc) Ask(ctx context.Context, r policy.Request) (policy.Answer, error) {
	return f(ctx, r)
}

// A motion's own time begins when it begins: waiting for a person uses none of it.
func TestWaitingForAPersonIsNotMotion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rob := newRobot()
		r := newRig(t, ends(goKitchen, finish("there")), rob.tools()...)
		r.cfg.Policy = policy.Policy{}
		r.cfg.Approver = approverFunc(func(_ context.Context, q policy.Request) (policy.Answer, error) {
			time.Sleep(50 * time.Second)
			return yes(q)
		})
		res := r.run()
		want(t, res, harness.ReasonAccepted)
		if s := res.Steps[0]; s.End.Sub(s.Start) > time.Second {
			t.Fatalf("the step took %v", s.End.Sub(s.Start))
		}
	})
}

// Validated afresh: a skill that was approved when too little time is left does not begin.
func TestApprovalThatComesTooLateForTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rob := newRobot()
		r := newRig(t, ends(goKitchen), rob.tools()...)
		r.cfg.Policy = policy.Policy{}
		r.goal.Budget.WallTime = 30 * time.Second
		r.cfg.Approver = approverFunc(func(_ context.Context, q policy.Request) (policy.Answer, error) {
			time.Sleep(25 * time.Second)
			return yes(q)
		})
		res := r.run()
		want(t, res, harness.ReasonBudgetWallTime)
		if rob.navigate.count() != 0 {
			t.Fatal("it began")
		}
	})
}

// dryRobot's navigation can be checked without moving.
type checked struct {
	*fake
	verdict tool.Result
	dry     int
}

func (c *checked) DryRun(context.Context, tool.Call) tool.Result { c.dry++; return c.verdict }

func TestNobodyIsAskedForWhatGeometryRefuses(t *testing.T) {
	rob := newRobot()
	nav := &checked{fake: rob.navigate, verdict: tool.Result{ErrorKind: tool.GeometryRefused, Content: "100 m, limit 5 m"}}
	r := newRig(t, ends(goKitchen, finish("there")), nav, rob.atPlace)
	r.cfg.Policy = policy.Policy{}
	p := &person{answer: yes}
	r.cfg.Approver = p
	res := r.run()
	wantStep(t, res, 0, tool.GeometryRefused)
	if len(p.asked) != 0 || rob.navigate.count() != 0 {
		t.Fatalf("asked %d times, %d executions", len(p.asked), rob.navigate.count())
	}
}

func TestDryRunMovesNothing(t *testing.T) {
	rob := newRobot()
	nav := &checked{fake: rob.navigate, verdict: tool.Result{OK: true, Content: "the path is free", Postconditions: []string{"at_place(kitchen)"}}}
	r := newRig(t, ends(goKitchen, calls(call("wait", `{"seconds":1}`)), finish("would be there")), nav, rob.wait, rob.atPlace)
	r.cfg.Policy = policy.Policy{}
	p := &person{answer: yes}
	r.cfg.Approver = p
	stops := 0
	r.cfg.Stop = func(context.Context, string) error { stops++; return nil }
	r.goal.DryRun = true
	res := r.run()
	want(t, res, harness.ReasonDryRun)
	if nav.dry != 1 || rob.navigate.count() != 0 || rob.wait.count() != 0 || len(p.asked) != 0 || stops != 0 || rob.isAt() != "dock" {
		t.Fatalf("%d checks, %d and %d executions, asked %d times, %d stops", nav.dry, rob.navigate.count(), rob.wait.count(), len(p.asked), stops)
	}
}

func TestAskPerson(t *testing.T) {
	ask := calls(callID("q", "ask_person", `{"question":"Which kitchen?"}`))
	rob := newRobot()
	r := newRig(t, ends(ask, finish("They said: the second one, number 2.", "q")), rob.tools()...)
	p := &person{answer: func(q policy.Request) (policy.Answer, error) {
		return policy.Answer{RequestID: q.ID, Text: "number 2"}, nil
	}}
	r.cfg.Approver = p
	res := r.run()
	want(t, res, harness.ReasonAccepted)
	if res.Steps[0].Content != "number 2" || p.asked[0].Question != "Which kitchen?" || p.asked[0].Tool != "" {
		t.Fatalf("step %+v, asked %+v", res.Steps[0], p.asked[0])
	}

	r = newRig(t, ends(ask, says("nobody there")), rob.tools()...)
	wantStep(t, r.run(), 0, tool.ServerUnavailable)
}

func TestPolicyByNameAndClass(t *testing.T) {
	rob := newRobot()
	m := ends(calls(call("get_battery", `{}`)), calls(call("get_place", `{}`)), calls(call("at_place", `{"place":"dock"}`)), finish("ok"))
	r := newRig(t, m, rob.tools()...)
	r.cfg.Policy = policy.Policy{
		Classes: map[tool.Class]policy.Permission{tool.Query: policy.Deny, tool.Verify: policy.Ask},
		Tools:   map[string]policy.Permission{"get_place": policy.Allow},
	}
	res := r.run()
	wantStep(t, res, 0, tool.PermissionDenied)
	wantStep(t, res, 1, "")
	wantStep(t, res, 2, tool.PermissionDenied) // nobody can be asked
}

// Arguments in which the model approves itself are arguments that the schema does not know.
func TestSelfApprovalIsAnInvalidArgument(t *testing.T) {
	rob := newRobot()
	p := &person{answer: yes}
	r := newRig(t, ends(calls(call("navigate_to", `{"place":"kitchen","approved":true}`)), says("done")), rob.tools()...)
	r.cfg.Policy = policy.Policy{}
	r.cfg.Approver = p
	res := r.run()
	wantStep(t, res, 0, tool.InvalidArguments)
	if len(p.asked) != 0 {
		t.Fatal("a person was asked")
	}
}

var _ model.Model = (*answers)(nil)
