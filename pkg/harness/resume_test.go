package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// stateless gives its answers by what the history holds, as a model does that knows nothing but the request.
type stateless []model.Response

func (stateless) Name() string { return "stateless" }

func (m stateless) Sample(_ context.Context, r model.Request) (model.Response, error) {
	n := 0
	for _, x := range r.Messages {
		if x.Role == model.RoleAssistant {
			n++
		}
	}
	return m[min(n, len(m)-1)], nil
}

// begunIn are the ids of the calls that a record begins.
func begunIn(events []trace.Event) map[string]bool {
	begun := map[string]bool{}
	for _, e := range events {
		if harness.Kind(e.Kind) == harness.KindCall {
			begun[e.CallID] = true
		}
	}
	return begun
}

// stepsIn is how many observations a record has.
func stepsIn(events []trace.Event) int {
	n := 0
	for _, e := range events {
		if harness.Kind(e.Kind) == harness.KindObservation && e.Phase != "stop" {
			n++
		}
	}
	return n
}

// resumed runs a goal to its end, forgets all events behind the first cut of them, and lets another process go on from there, with a robot
// that is where it then was.
func resumed(t testing.TB, whole []trace.Event, cut int, set func(*rig, *robot)) (harness.Result, *rig, *robot) {
	t.Helper()
	rec, err := harness.ReadRecord(whole[:cut])
	if err != nil {
		t.Fatal(err)
	}
	rob := newRobot()
	r := &rig{}
	set(r, rob) // what is set of the robot counts for its tools
	for _, e := range whole[:cut] {
		var d struct {
			Tool    string
			OK      bool
			Content string
		}
		if harness.Kind(e.Kind) == harness.KindObservation && json.Unmarshal(e.Data, &d) == nil && d.Tool == "navigate_to" && d.OK {
			rob.at = strings.Split(d.Content, `"`)[3]
		}
	}
	r = newRig(t, stateless{says("unset")}, rob.tools()...)
	set(r, rob)
	r.goal = harness.Goal{Session: "s2", Resume: rec}
	return r.run(), r, rob
}

func ids(f ...*fake) []string {
	var out []string
	for _, x := range f {
		for _, c := range x.calls {
			if !strings.HasPrefix(c.ID, "verify:") {
				out = append(out, c.ID)
			}
		}
	}
	return out
}

// Wherever a process is killed: another one goes on, no call that had begun is carried out again, what was used stays used, and the task is
// done in the end.
func TestASessionGoesOnFromWhereverItWasKilled(t *testing.T) {
	list := stateless{
		calls(call("get_battery", `{}`), call("get_place", `{}`)),
		calls(callID("k", "navigate_to", `{"place":"kitchen"}`), call("wait", `{"seconds":1}`)),
		calls(call("ask_person", `{"question":"Where to?"}`)),
		calls(callID("o", "navigate_to", `{"place":"office"}`)),
		calls(call("navigate_to", `{"place":"office"}`)),
		finish("there"),
	}
	set := func(r *rig, _ *robot) {
		r.cfg.Model = list
		r.goal.Criteria = []string{"at_place(office)", "person: Is all well?"}
		r.cfg.Policy.Tools = map[string]policy.Permission{"wait": policy.Ask}
		r.cfg.Approver = approverFunc(func(_ context.Context, q policy.Request) (policy.Answer, error) {
			return policy.Answer{RequestID: q.ID, Approved: true, Text: "the office"}, nil
		})
		r.cfg.Settle = func(context.Context) (time.Time, error) { return time.Now(), nil }
	}
	synctest.Test(t, func(t *testing.T) {
		rob := newRobot()
		r := newRig(t, list, rob.tools()...)
		set(r, rob)
		want(t, r.run(), harness.ReasonAccepted)
		events := r.events()
		for cut := 1; cut < len(events); cut++ {
			if harness.Kind(events[cut-1].Kind) == harness.KindStopping {
				break
			}
			before := begunIn(events[:cut])
			time.Sleep(time.Hour)
			res, r2, rob2 := resumed(t, events, cut, set)
			if t.Failed() {
				t.Fatalf("cut behind event %d (%s)", cut, events[cut-1].Kind)
			}
			if res.Reason != harness.ReasonAccepted {
				t.Fatalf("cut behind event %d (%s): %s: %s", cut, events[cut-1].Kind, res.Reason, res.Answer)
			}
			for _, id := range ids(rob2.navigate, rob2.wait, rob2.battery, rob2.where) {
				if before[id] {
					t.Fatalf("cut behind event %d (%s): call %s was carried out again", cut, events[cut-1].Kind, id)
				}
			}
			if res.Usage.WallTime > time.Minute {
				t.Fatalf("the time between the processes counts: %v", res.Usage.WallTime)
			}
			// What goes on can be interrupted and go on once more.
			again := r2.events()
			rec, err := harness.ReadRecord(again[:len(again)*2/3])
			if err != nil || rec.Session != "s2" {
				t.Fatal(err)
			}
		}
	})
}

// What the model sees of a call that was under way, and what is not begun.
func TestCallsInFlightAreAnsweredAsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := stateless{calls(callID("k", "navigate_to", `{"place":"kitchen"}`), callID("o", "navigate_to", `{"place":"office"}`)), finish("there")}
		set := func(r *rig, _ *robot) { r.cfg.Model = list }
		rob := newRobot()
		r := newRig(t, list, rob.tools()...)
		set(r, rob)
		r.run()
		events := r.events()
		cut := slices.IndexFunc(events, func(e trace.Event) bool { return harness.Kind(e.Kind) == harness.KindCall }) + 1
		var seen []model.Request
		res, r2, rob2 := resumed(t, events, cut, func(r *rig, _ *robot) {
			r.cfg.Model = modelFunc(func(_ context.Context, q model.Request) (model.Response, error) {
				seen = append(seen, q)
				return says("I do not know"), nil
			})
		})
		want(t, res, harness.ReasonUnverified)
		wantStep(t, res, 0, tool.Canceled)
		wantStep(t, res, 1, tool.Canceled)
		if len(rob2.navigate.calls) != 0 {
			t.Errorf("carried out: %v", ids(rob2.navigate))
		}
		if !strings.Contains(res.Steps[0].Content, "interrupted") || !strings.Contains(res.Steps[1].Content, "not begun") {
			t.Errorf("the model reads %q and %q", res.Steps[0].Content, res.Steps[1].Content)
		}
		last := seen[0].Messages
		if note := last[len(last)-1].Content; !strings.Contains(note, "goes on now") {
			t.Errorf("the model is told %q", note)
		}
		if int(res.Usage.Steps) != 1+len(seen) || res.Usage.ToolCalls != 2 {
			t.Errorf("usage %+v", res.Usage)
		}
		kinds := ""
		for _, e := range r2.events() {
			kinds += e.Kind + " "
		}
		if strings.Count(kinds, "resumed ") != 1 {
			t.Errorf("the record is %s", kinds)
		}
	})
}

// A plan goes on with its next stage; a stage that was under way is carried out again only where that leads to the same.
func TestAPlanGoesOn(t *testing.T) {
	for _, repeatable := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			plan := stepsOf(stage("a", "navigate_to", `{ "place": "kitchen" }`), stage("b", "wait", "{\n\"seconds\" : 1}", "a"), stage("c", "navigate_to", `{"place":"office"}`, "b"))
			plan.SuccessCriteria = []string{"at_place(office)"}
			set := func(r *rig, rob *robot) {
				rob.navigate.spec.Repeatable = repeatable
				r.goal.Plan = plan
			}
			run := func() []trace.Event {
				rob := newRobot()
				set(&rig{}, rob)
				r := newRig(t, stateless{says("unused")}, rob.tools()...)
				set(r, rob)
				want(t, r.run(), harness.ReasonAccepted)
				return r.events()
			}
			events := run()
			for cut := 1; cut < len(events); cut++ {
				if harness.Kind(events[cut-1].Kind) == harness.KindStopping {
					break
				}
				begun := begunIn(events[:cut])
				inFlight := harness.Kind(events[cut-1].Kind) == harness.KindCall || cut > 1 && len(begun) > stepsIn(events[:cut])
				res, _, rob := resumed(t, events, cut, set)
				done := res.Reason == harness.ReasonAccepted
				waiting := inFlight && strings.Contains(fmt.Sprint(res.Steps[stepsIn(events[:cut])].Tool), "wait")
				switch {
				case !inFlight && !done, inFlight && !waiting && done != repeatable, waiting && done:
					t.Fatalf("cut behind event %d (%s), in flight %t, repeatable %t: %s: %s", cut, events[cut-1].Kind, inFlight, repeatable, res.Reason, res.Answer)
				}
				for _, id := range ids(rob.navigate, rob.wait) {
					if begun[id] {
						t.Fatalf("cut behind event %d: %s was carried out again", cut, id)
					}
				}
			}
		})
	}
}

// An interrupted session goes on, one that ended does not, and neither does one whose tools have changed.
func TestWhatCanGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct {
			reason harness.Reason
			goesOn bool
		}{
			{harness.ReasonCanceled, true},
			{harness.ReasonShutdown, true},
			{harness.ReasonOperatorStop, true},
			{harness.ReasonAccepted, false},
			{harness.ReasonBudgetSteps, false},
			{harness.ReasonUnverified, false},
		} {
			rob := newRobot()
			r := newRig(t, stateless{askBattery, goKitchen, finish("there")}, rob.tools()...)
			switch x.reason {
			case harness.ReasonAccepted:
			case harness.ReasonBudgetSteps:
				r.goal.Budget.Steps = 1
			case harness.ReasonUnverified:
				r.goal.Criteria, r.cfg.AcceptanceRounds = []string{"at_place(office)"}, -1
			default:
				ctx, cancel := context.WithCancelCause(r.ctx)
				r.ctx = ctx
				rob.navigate.do = func(ctx context.Context, _ tool.Call) tool.Result {
					cancel(harness.Interrupt{Reason: x.reason})
					<-ctx.Done()
					return tool.Result{ErrorKind: tool.Canceled, Content: "stopped on the way"}
				}
			}
			want(t, r.run(), x.reason)
			rec, err := harness.ReadRecord(r.events())
			if err != nil {
				t.Fatal(err)
			}
			if err := rec.Resumable(); (err == nil) != x.goesOn || err != nil && !errors.Is(err, harness.ErrNotResumable) {
				t.Errorf("%s: %v", x.reason, err)
			}
			events := r.events()
			res, _, rob2 := resumed(t, events, len(events), func(r *rig, _ *robot) { r.cfg.Model = stateless{askBattery, goKitchen, goKitchen, finish("there")} })
			if !x.goesOn {
				want(t, res, harness.ReasonBadRequest)
				continue
			}
			want(t, res, harness.ReasonAccepted)
			if len(rob2.battery.calls) != 0 || len(rob2.navigate.calls) != 1 {
				t.Errorf("%s: carried out %v", x.reason, ids(rob2.battery, rob2.navigate))
			}
		}
		// other tools
		rob := newRobot()
		r := newRig(t, stateless{askBattery, goKitchen, finish("there")}, rob.tools()...)
		r.run()
		events := r.events()
		for name, change := range map[string]func(*robot) []tool.Tool{
			"gone":    func(rob *robot) []tool.Tool { return []tool.Tool{rob.navigate, rob.atPlace} },
			"changed": func(rob *robot) []tool.Tool { rob.battery.spec.Description = "another"; return rob.tools() },
		} {
			rec, err := harness.ReadRecord(events[:9])
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, stateless{says("unset")}, change(newRobot())...)
			r.goal = harness.Goal{Session: "s2", Resume: rec}
			res := r.run()
			want(t, res, harness.ReasonBadRequest)
			if !strings.Contains(res.Answer, name) {
				t.Errorf("%s: %s", name, res.Answer)
			}
		}
	})
}

// Without measured rest nothing goes on.
func TestNothingGoesOnWithoutRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, stateless{goKitchen, finish("there")}, newRobot().tools()...)
		r.cfg.Settle = func(context.Context) (time.Time, error) { return time.Now(), nil }
		r.run()
		events := r.events()
		res, _, rob := resumed(t, events, 8, func(r *rig, _ *robot) {
			r.cfg.Settle = func(context.Context) (time.Time, error) { return time.Time{}, errors.New("base: moving") }
		})
		want(t, res, harness.ReasonActuatorFault)
		if len(rob.navigate.calls) != 0 {
			t.Error("it went on")
		}
	})
}

// A session that goes on and fails at once gives the record back: nothing was carried out and nothing used. One that carried something
// out, was interrupted or was refused does not, since its own record is what goes on, or another's.
func TestARecordIsGivenBackByWhatFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := newRig(t, stateless{askBattery, goKitchen, finish("there")}, newRobot().tools()...)
		whole.run()
		events := whole.events()
		last := slices.IndexFunc(events, func(e trace.Event) bool { return harness.Kind(e.Kind) == harness.KindDecision }) + 1
		record, err := harness.ReadRecord(events[:last])
		if err != nil {
			t.Fatal(err)
		}
		for name, sink := range map[string]func() trace.Sink{
			"memory": func() trace.Sink { return &trace.Memory{} },
			"files": func() trace.Sink {
				s, err := trace.NewFiles(trace.FileOptions{Dir: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				return trace.Tee(s, func(trace.Event) {})
			},
		} {
			sink := sink()
			n := 0
			goOn := func(m model.Model, set func(*rig)) harness.Result {
				n++
				r := newRig(t, m, newRobot().tools()...)
				r.sink, r.cfg.Trace = nil, sink
				r.goal = harness.Goal{Session: fmt.Sprintf("s%d", n+1), Resume: record}
				if set != nil {
					set(r)
				}
				return r.run()
			}
			down := modelFunc(func(context.Context, model.Request) (model.Response, error) { return model.Response{}, errTest })
			for range 2 {
				want(t, goOn(down, nil), harness.ReasonModelError)
			}
			costly := modelFunc(func(context.Context, model.Request) (model.Response, error) {
				return model.Response{Usage: model.Usage{InputTokens: 100, Known: true}}, errTest
			})
			for _, m := range []struct {
				name string
				m    model.Model
				set  func(*rig)
				as   harness.Reason
			}{
				{"that used something", costly, nil, harness.ReasonModelError},
				{"that was interrupted", stateless{askBattery, goKitchen, finish("there")}, func(r *rig) {
					ctx, cancel := context.WithCancelCause(r.ctx)
					r.ctx = ctx
					r.cfg.Model = modelFunc(func(ctx context.Context, _ model.Request) (model.Response, error) {
						cancel(harness.Interrupt{Reason: harness.ReasonCanceled})
						return model.Response{}, context.Cause(ctx)
					})
				}, harness.ReasonCanceled},
				{"that carried a call out", modelFunc(func(_ context.Context, r model.Request) (model.Response, error) {
					if n := len(r.Messages); r.Messages[n-1].Role == model.RoleTool {
						return model.Response{}, errTest
					}
					return calls(call("get_place", "{}")), nil
				}), nil, harness.ReasonModelError},
			} {
				want(t, goOn(m.m, m.set), m.as)
				holder := fmt.Sprintf("s%d", n+1)
				res := goOn(stateless{askBattery, goKitchen, finish("there")}, nil)
				want(t, res, harness.ReasonBadRequest)
				if !strings.Contains(res.Answer, holder+" goes on with s1") {
					t.Errorf("%s, %s: %s", name, m.name, res.Answer)
				}
				if err := sink.(trace.Claimer).Release("s1", "another"); !errors.Is(err, trace.ErrClaimed) {
					t.Errorf("%s: another releases it: %v", name, err)
				}
				if err := sink.(trace.Claimer).Release("s1", holder); err != nil {
					t.Errorf("%s, %s: %v", name, m.name, err)
				}
			}
			want(t, goOn(stateless{askBattery, goKitchen, finish("there")}, nil), harness.ReasonAccepted)
			if err := sink.(trace.Claimer).Release("nobody's", "s2"); err == nil && name == "files" {
				t.Errorf("%s: a name that is none is released", name)
			}
			if err := sink.(trace.Claimer).Release("nobody", "s2"); err != nil {
				t.Errorf("%s: what is not claimed: %v", name, err)
			}
		}
	})
}

// A loop that would not have come to the record's events does not go on with it.
func TestAnotherLoopDoesNotGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, stateless{goKitchen, finish("there")}, newRobot().tools()...)
		r.run()
		events := r.events()
		last := slices.IndexFunc(events, func(e trace.Event) bool { return harness.Kind(e.Kind) == harness.KindDecision }) + 1
		res, _, rob := resumed(t, events, last, func(r *rig, _ *robot) {
			r.cfg.Policy.Tools, r.unique = map[string]policy.Permission{"navigate_to": policy.Deny}, true
		})
		want(t, res, harness.ReasonBadRequest)
		if !strings.Contains(res.Answer, "today's loop") || len(rob.navigate.calls) != 0 {
			t.Errorf("%s", res.Answer)
		}
	})
}

// Whatever a model did and wherever its process died: going on carries no call out twice, and its record replays.
func TestLawsOfGoingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		rapid.Check(bubble{t}, func(rt *rapid.T) {
			n++
			list := stateless(rapid.SliceOfN(wildResponse(), 1, 8).Draw(rt, "answers"))
			for i := range list { // "stateless" sees texts of one kind
				list[i].Usage = model.Usage{}
			}
			limits := budget.Limits{Steps: rapid.Uint32Range(2, 9).Draw(rt, "steps")}
			asks := rapid.Bool().Draw(rt, "asks")
			set := func(r *rig, _ *robot) {
				r.cfg.Model = list
				r.goal.Budget = limits
				if asks {
					r.cfg.Policy = policy.Policy{}
				}
				r.cfg.Approver = approverFunc(func(_ context.Context, q policy.Request) (policy.Answer, error) {
					return policy.Answer{RequestID: q.ID, Approved: true}, nil
				})
				r.cfg.Settle = func(context.Context) (time.Time, error) { return time.Now(), nil }
			}
			rob := newRobot()
			r := newRig(t, list, rob.tools()...)
			set(r, rob)
			r.run()
			events := r.events()
			stopping := slices.IndexFunc(events, func(e trace.Event) bool { return harness.Kind(e.Kind) == harness.KindStopping })
			if stopping < 2 {
				return
			}
			cut := rapid.IntRange(1, stopping).Draw(rt, "cut")
			res, _, rob2 := resumed(t, events, cut, set)
			if t.Failed() {
				rt.FailNow()
			}
			before := begunIn(events[:cut])
			seen := map[string]bool{}
			for _, id := range ids(rob2.navigate, rob2.wait, rob2.gripper, rob2.battery, rob2.where, rob2.atPlace) {
				if before[id] || seen[id] {
					rt.Fatalf("call %s was carried out again", id)
				}
				seen[id] = true
			}
			if len(res.Steps) < stepsIn(events[:cut]) && res.Reason != harness.ReasonBadRequest {
				rt.Fatalf("%d steps, %d were recorded", len(res.Steps), stepsIn(events[:cut]))
			}
			if res.Reason == harness.ReasonBadRequest {
				rt.Fatalf("it did not go on: %s", res.Answer)
			}
		})
	})
}

func TestRecordsThatCannotBeRead(t *testing.T) {
	r := newRig(t, ends(goKitchen, finish("there")), newRobot().tools()...)
	r.run()
	events := r.events()
	change := func(i int, from, to string) []trace.Event {
		out := slices.Clone(events)
		out[i].Data = bytes.Replace(out[i].Data, []byte(from), []byte(to), 1)
		return out
	}
	for name, x := range map[string][]trace.Event{
		"nothing": nil, "no session": events[1:], "another version": change(0, `"version":2`, `"version":1`), "a decomposition": change(0, `"dry_run":`, `"decompose":true,"dry_run":`),
		"no data": change(0, `{`, `[`), "a broken end": change(len(events)-1, `"reason":"`, `"reason":["`),
	} {
		if _, err := harness.ReadRecord(x); err == nil {
			t.Errorf("%s is read", name)
		}
		if _, err := harness.Replay(x); err == nil {
			t.Errorf("%s is replayed", name)
		}
	}
	// Each change of what was decided is the first difference; of what came from outside, it leads to one.
	for name, x := range map[string]struct {
		events []trace.Event
		at     string
	}{
		"a decision":        {change(3, `"check":"ok"`, `"check":"invalid_arguments"`), "data.calls[0].check"},
		"an answer":         {change(2, `kitchen`, `office`), "data.arguments.place"},
		"a reservation":     {change(1, `"step":1`, `"step":2`), "data.step"},
		"a field more":      {change(1, `{`, `{"x":1,`), "data.x"},
		"a field less":      {change(3, `"use":"calls",`, ``), "data.use"},
		"an event left out": {slices.Concat(events[:3], events[4:]), "kind"},
		"an event more":     {append(slices.Clone(events), events[len(events)-1]), "kind"},
		"a call id":         {func() []trace.Event { x := slices.Clone(events); x[4].CallID = "other"; return x }(), "call_id"},
		"a state":           {func() []trace.Event { x := slices.Clone(events); x[4].State = "done"; return x }(), "state"},
	} {
		report, err := harness.Replay(x.events)
		if err != nil || report.Difference == nil || report.Difference.At != x.at || report.Complete || report.Difference.Error() == "" {
			t.Errorf("%s: %v %+v %v", name, err, report, report.Difference)
		}
	}
	// A record that was cut off is replayed as far as it goes.
	for cut := 1; cut < len(events); cut++ {
		report, err := harness.Replay(events[:cut])
		if err != nil || report.Difference != nil || report.Complete || report.Same > report.Events {
			t.Errorf("cut behind %d: %v %+v", cut, err, report)
		}
	}
	// Another prompt decides nothing.
	report, err := harness.Replay(change(0, `You direct a robot`, `You direct a large robot`))
	if err != nil || report.Difference == nil || len(report.Notes) != 1 {
		t.Logf("%v %+v", err, report) // its size is another one, which the first request says
	}
}
