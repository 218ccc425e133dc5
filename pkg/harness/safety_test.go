package harness_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
)

// cancelAfter ends a rig's context with a cause after some time.
func cancelAfter(r *rig, d time.Duration, reason harness.Reason) {
	ctx, cancel := context.WithCancelCause(r.ctx)
	r.ctx = ctx
	time.AfterFunc(d, func() { cancel(harness.Interrupt{Reason: reason}) })
}

// The result of a canceled goal comes after measured rest, and its calls have their observations.
func TestCancelWaitsForRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rob := newRobot()
		rob.navigate.do = func(ctx context.Context, _ tool.Call) tool.Result {
			<-ctx.Done()
			time.Sleep(time.Second)
			return tool.Result{ErrorKind: tool.Canceled, Content: "canceled on the way"}
		}
		r := newRig(t, ends(calls(call("navigate_to", `{"place":"kitchen"}`), call("get_battery", `{}`))), rob.tools()...)
		var stopCtx error
		r.cfg.Stop = func(ctx context.Context, reason string) error {
			stopCtx = ctx.Err()
			if reason != "canceled" {
				t.Errorf("stopped because of %q", reason)
			}
			time.Sleep(time.Second)
			return nil
		}
		r.cfg.Settle = func(ctx context.Context) (time.Time, error) {
			time.Sleep(500 * time.Millisecond)
			return time.Now(), ctx.Err()
		}
		cancelAfter(r, 2*time.Second, harness.ReasonCanceled)
		start := time.Now()
		res := r.run()
		want(t, res, harness.ReasonCanceled)
		wantStep(t, res, 0, tool.Canceled)
		wantStep(t, res, 1, tool.Canceled)
		if stopCtx != nil {
			t.Errorf("the stop was given a context that had ended: %v", stopCtx)
		}
		if d := time.Since(start); d != 4500*time.Millisecond || !res.RestMeasured || rob.battery.count() != 0 {
			t.Errorf("took %v, %d queries behind the cancel", d, rob.battery.count())
		}
	})
}

// A stop or a settling that hangs is left behind in time, and the result says that rest was not measured.
func TestHangingStopIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rob := newRobot()
		release := make(chan struct{})
		r := newRig(t, ends(goKitchen), rob.tools()...)
		rob.navigate.do = func(ctx context.Context, _ tool.Call) tool.Result {
			<-ctx.Done()
			return tool.Result{ErrorKind: tool.Canceled}
		}
		r.cfg.Stop = func(context.Context, string) error { <-release; return nil }
		r.cfg.Settle = func(context.Context) (time.Time, error) { <-release; return time.Now(), nil }
		cancelAfter(r, time.Second, harness.ReasonShutdown)
		start := time.Now()
		res := r.run()
		want(t, res, harness.ReasonActuatorFault)
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("took %v", d)
		}
		close(release)
		synctest.Wait()
	})
}

// A gap in the measurements is waited for; a loss of them is a fault, once for all, within the stop reserve.
func TestRestIsWaitedFor(t *testing.T) {
	for _, x := range []struct {
		gap    time.Duration
		reason harness.Reason
		took   time.Duration
	}{{0, harness.ReasonAccepted, 0}, {3 * time.Second, harness.ReasonAccepted, 3 * time.Second}, {time.Hour, harness.ReasonActuatorFault, 7 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, ends(finish("there")), newRobot().tools()...)
			r.goal.Criteria = []string{"at_place(dock)"}
			start := time.Now()
			r.cfg.Settle = func(context.Context) (time.Time, error) {
				if time.Since(start) < x.gap {
					return time.Time{}, errors.New("base is unknown")
				}
				return time.Now(), nil
			}
			res := r.run()
			want(t, res, x.reason)
			if d := time.Since(start); d < x.took || d > x.took+time.Second {
				t.Errorf("a gap of %v took %v", x.gap, d)
			}
		})
	}
}

// A skill out of control is stopped at once, not at the end of the session.
func TestSkillThatPanicsOrHangsIsStoppedAtOnce(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rob := newRobot()
			release := make(chan struct{})
			rob.navigate.do = func(context.Context, tool.Call) tool.Result {
				if hangs {
					<-release
					return tool.Result{OK: true, Content: "much later"}
				}
				panic("nil map")
			}
			var order []string
			r := newRig(t, ends(goKitchen, calls(call("get_battery", `{}`)), says("done")), rob.tools()...)
			rob.battery.do = func(context.Context, tool.Call) tool.Result {
				order = append(order, "query")
				return tool.Result{OK: true, Content: "{}"}
			}
			r.cfg.Stop = func(context.Context, string) error { order = append(order, "stop"); return nil }
			r.goal.Budget.WallTime = time.Minute
			res := r.run()
			wantStep(t, res, 0, map[bool]tool.ErrorKind{true: tool.Canceled, false: tool.Failed}[hangs])
			if len(order) == 0 || order[0] != "stop" {
				t.Errorf("order %q", order)
			}
			close(release)
			synctest.Wait()
		})
	}
}

func TestSkillThatCannotBeStoppedIsAFault(t *testing.T) {
	rob := newRobot()
	rob.navigate.do = func(context.Context, tool.Call) tool.Result { panic("nil map") }
	r := newRig(t, ends(goKitchen), rob.tools()...)
	r.cfg.Stop = func(context.Context, string) error { return errTest }
	want(t, r.run(), harness.ReasonActuatorFault)
}

// A model that ignores its context is left behind.
func TestHangingModelIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := modelFunc(func(context.Context, model.Request) (model.Response, error) {
			<-release
			return says("done"), nil
		})
		r := newRig(t, m, newRobot().tools()...)
		cancelAfter(r, time.Second, harness.ReasonPreempted)
		start := time.Now()
		want(t, r.run(), harness.ReasonPreempted)
		if d := time.Since(start); d > 4*time.Second {
			t.Errorf("took %v", d)
		}
		close(release)
		synctest.Wait()
	})
}

// An interrupt while acceptance runs ends as the interrupt.
func TestInterruptDuringAcceptance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rob := newRobot()
		rob.atPlace.do = func(ctx context.Context, _ tool.Call) tool.Result {
			<-ctx.Done()
			return tool.Result{OK: true, Passed: true}
		}
		r := newRig(t, ends(finish("there")), rob.tools()...)
		r.goal.Criteria = []string{"at_place(dock)"}
		cancelAfter(r, time.Second, harness.ReasonEmergencyStop)
		want(t, r.run(), harness.ReasonEmergencyStop)
	})
}

// A record that cannot be written ends the session, whenever that begins, and the robot is stopped.
func TestBrokenRecordFailsSafe(t *testing.T) {
	for after := range 16 {
		for _, flush := range []bool{false, true} {
			rob := newRobot()
			r := newRig(t, ends(calls(call("get_battery", `{}`)), goKitchen, finish("there")), rob.tools()...)
			sink := r.sink
			r.cfg.Trace, r.sink = failingSink{sink, after, flush}, nil
			stops := 0
			r.cfg.Stop = func(context.Context, string) error { stops++; return nil }
			res := r.run()
			if res.Outcome == harness.Done {
				if !flush || after < 16 {
					t.Errorf("after %d events: done without a record", after)
				}
				continue
			}
			want(t, res, harness.ReasonDependencyLost)
			if !strings.Contains(res.Answer, "no space left") {
				t.Errorf("the answer does not say why: %s", res.Answer)
			}
			if ran := rob.navigate.count(); ran > 0 && stops == 0 && !strings.Contains(res.Answer, "nothing is claimed") {
				t.Errorf("after %d events: %d motions, %d stops", after, ran, stops)
			}
		}
	}
}

// What moves is in the record, flushed, before it moves.
func TestCallIsFlushedBeforeASkillBegins(t *testing.T) {
	rob := newRobot()
	r := newRig(t, ends(goKitchen, finish("there")), rob.tools()...)
	r.cfg.Trace, r.sink = failingSink{r.sink, 4, true}, nil // the call is the fourth event; its flush fails
	want(t, r.run(), harness.ReasonDependencyLost)
	if rob.navigate.count() != 0 {
		t.Fatal("the skill began without a record of its call")
	}
}

// Secrets reach neither record, result, news nor model.
func TestSecretsAreNowhere(t *testing.T) {
	const secret = `sk-"planted"\key-zqxw`
	rob := newRobot()
	rob.battery.do = fixed(tool.Result{OK: true, Content: "key " + secret})
	rob.where.do = fixed(tool.Result{ErrorKind: tool.Failed, Content: secret})
	m := ends(
		calls(call("get_battery", `{}`), call("get_place", `{}`)),
		calls(call("navigate_to", `{"place":"sk-\"planted\"\\key-zqxw"}`), call(secret, secret)),
		model.Response{Text: "I know " + secret, Finish: model.FinishStop},
	)
	r := newRig(t, m, rob.tools()...)
	r.cfg.Secrets = []string{secret}
	r.goal.Task = "print " + secret
	r.goal.Criteria = []string{"at_place(kitchen)"}
	res := r.run()
	var all strings.Builder
	all.Write(r.sink.Bytes("s1"))
	for _, s := range res.Steps {
		all.WriteString(s.Arguments + s.Content)
	}
	all.WriteString(res.Answer + strings.Join(res.UnmetGoals, ""))
	for _, n := range r.news {
		if n.LastStep != nil {
			all.WriteString(n.LastStep.Content + n.LastStep.Arguments)
		}
	}
	for _, part := range []string{"planted", "zqxw"} {
		if at := strings.Index(all.String(), part); at >= 0 {
			t.Errorf("%q is in …%s…", part, all.String()[max(0, at-80):min(all.Len(), at+80)])
		}
	}

	// The error of an endpoint that echoes the key.
	em := &answers{list: []model.Response{{}}, errs: map[int]error{0: errors.New("401: bad key " + secret)}}
	r = newRig(t, em, rob.tools()...)
	r.cfg.Secrets = []string{secret}
	res = r.run()
	want(t, res, harness.ReasonModelError)
	if strings.Contains(res.Answer+string(r.sink.Bytes("s1")), "planted") {
		t.Errorf("the key is in %s", res.Answer)
	}
}

// An observer that panics is not heard again, and the session goes on.
func TestObserverThatPanics(t *testing.T) {
	rob := newRobot()
	r := newRig(t, ends(goKitchen, finish("there")), rob.tools()...)
	h, err := harness.New(r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	res := h.Run(t.Context(), r.goal, observerFunc(func(harness.Progress) { n++; panic("no") }))
	want(t, res, harness.ReasonAccepted)
	if n != 1 {
		t.Errorf("told %d times", n)
	}
}

type observerFunc func(harness.Progress)

func (f observerFunc) Progress(p harness.Progress) { f(p) }

// An evaluator that panics is an error inside the harness: the session ends, the robot is stopped, calls have their results.
func TestInternalErrorEndsSafely(t *testing.T) {
	rob := newRobot()
	r := newRig(t, ends(calls(callID("g", "gripper", `{"open":true}`), callID("h", "get_battery", `{}`))), rob.tools()...)
	r.cfg.Criteria, r.unique = panickingEvaluator{}, true
	stops := 0
	r.cfg.Stop = func(context.Context, string) error { stops++; return nil }
	res := r.run()
	want(t, res, harness.ReasonDependencyLost)
	if len(res.Steps) != 2 || stops != 1 || !strings.Contains(res.Answer, "internal error") {
		t.Fatalf("%d steps, %d stops: %s", len(res.Steps), stops, res.Answer)
	}
}

// Where time stands, rest cannot be measured: an interrupted session ends within the stop reserve, the time that its motion took to end included.
// Where it does not stand, or goes on again, rest is given its whole time.
func TestAnInterruptWaitsForNoClockThatStands(t *testing.T) {
	for name, c := range map[string]struct {
		motion      time.Duration // until the skill ends
		stands      bool
		least, most time.Duration
		rested      time.Duration // rest is measured from then on, after the interrupt; 0: never
		reason      harness.Reason
	}{
		"it stands":                              {4 * time.Second, true, 7 * time.Second, 7500 * time.Millisecond, 0, harness.ReasonActuatorFault},
		"it stands, and the motion ends late":    {8 * time.Second, true, 8 * time.Second, 9500 * time.Millisecond, 0, harness.ReasonActuatorFault},
		"it stands, and the motion ends at once": {0, true, 7 * time.Second, 7500 * time.Millisecond, 0, harness.ReasonActuatorFault},
		"it goes on":                             {time.Second, true, 5 * time.Second, 6 * time.Second, 5 * time.Second, harness.ReasonCanceled},
		"it does not stand":                      {4 * time.Second, false, 11 * time.Second, 12 * time.Second, 0, harness.ReasonActuatorFault},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rob := newRobot()
				rob.navigate.do = func(ctx context.Context, _ tool.Call) tool.Result {
					<-ctx.Done()
					time.Sleep(c.motion)
					return tool.Result{ErrorKind: tool.NotAtRest, Content: "not measured at rest"}
				}
				r := newRig(t, ends(goKitchen), rob.tools()...)
				interrupted := time.Now().Add(2 * time.Second)
				measure := func() error {
					if c.rested > 0 && time.Since(interrupted) >= c.rested {
						return nil
					}
					return errTest
				}
				r.cfg.Standstill = func() bool { return c.stands }
				r.cfg.Stop = func(context.Context, string) error { return measure() }
				r.cfg.Settle = func(context.Context) (time.Time, error) { return time.Now(), measure() }
				cancelAfter(r, 2*time.Second, harness.ReasonCanceled)
				res := r.run()
				want(t, res, c.reason)
				if took := time.Since(interrupted); took < c.least || took > c.most {
					t.Errorf("took %v, want %v to %v", took, c.least, c.most)
				}
			})
		})
	}
}
