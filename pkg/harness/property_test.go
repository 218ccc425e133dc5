package harness_test

import (
	"context"
	"errors"
	"fmt"
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

// wildCall is any call a model might make, sound or not.
func wildCall() *rapid.Generator[model.Call] {
	return rapid.Custom(func(t *rapid.T) model.Call {
		return model.Call{
			ID: rapid.SampledFrom([]string{"", "", "", "a", "b", "c", "call_1_1", "call_2_1", "\x00", "x y"}).Draw(t, "id"),
			Tool: rapid.SampledFrom([]string{
				"navigate_to", "navigate_to", "wait", "gripper", "at_place", "get_battery", "get_place", "finish", "ask_person",
				"declare_criteria", "Navigate_to", "", "fly",
			}).Draw(t, "tool"),
			Arguments: rapid.SampledFrom([]string{
				`{"place":"kitchen"}`, `{"place":"office"}`, `{"place":"dock"}`, `{"place":"moon"}`, `{"seconds":1}`, `{"open":true}`, `{}`, ``, `{`,
				`{"answer":"done"}`, `{"answer":"87 %","evidence":["a"]}`, `{"question":"Which?"}`, `{"criteria":["at_place(kitchen)"]}`,
				`{"criteria":["cel: get_battery().percent > 10.0"]}`, `{"criteria":["person: ok?"]}`, `{"place":"kitchen","place":"office"}`, `NaN`,
			}).Draw(t, "arguments"),
		}
	})
}

func wildResponse() *rapid.Generator[model.Response] {
	return rapid.Custom(func(t *rapid.T) model.Response {
		r := model.Response{
			Text: rapid.SampledFrom([]string{"", "", "done", "87 %", "\xff"}).Draw(t, "text"),
			Finish: rapid.SampledFrom([]model.FinishReason{
				model.FinishToolCalls, model.FinishToolCalls, model.FinishToolCalls, model.FinishToolCalls, model.FinishStop, model.FinishStop,
				model.FinishLength, "", model.FinishRefusal, model.FinishInfeasible,
			}).Draw(t, "finish"),
		}
		if r.Finish == model.FinishToolCalls || rapid.Bool().Draw(t, "calls at all") {
			r.Calls = rapid.SliceOfN(wildCall(), 0, 4).Draw(t, "calls")
		}
		if rapid.Bool().Draw(t, "usage known") {
			r.Usage = model.Usage{
				InputTokens: rapid.Uint64Range(0, 3000).Draw(t, "in"), OutputTokens: rapid.Uint64Range(0, 300).Draw(t, "out"), Known: true,
			}
		}
		return r
	})
}

// wildResult is any result a tool might have, contradictory ones included.
func wildResult() *rapid.Generator[tool.Result] {
	return rapid.Custom(func(t *rapid.T) tool.Result {
		return tool.Result{
			OK: rapid.SampledFrom([]bool{true, true, true, false}).Draw(t, "ok"),
			ErrorKind: rapid.SampledFrom([]tool.ErrorKind{
				"", "", "", tool.ServerFailed, tool.GeometryRefused, tool.Timeout, tool.Canceled, "nonsense",
			}).Draw(t, "kind"),
			Content: rapid.SampledFrom([]string{"", `{"percent":87}`, "87.4", "\xff\xfe"}).Draw(t, "content"),
			Passed:  rapid.Bool().Draw(t, "passed"),
			Postconditions: rapid.SampledFrom([][]string{
				nil, {"at_place(kitchen)"}, {"at_place(moon)"}, {"cel: get_battery().percent > 10.0", "at_place(office)"}, {"nonsense"},
			}).Draw(t, "postconditions"),
			Interrupt:      rapid.SampledFrom([]string{"", "", "", "", "", "", "actuator_fault", "emergency_stop", "accepted", "nonsense"}).Draw(t, "interrupt"),
			DependencyLost: rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "lost"),
		}
	})
}

// Whatever model, tools and outside do: the session ends, each counted call has exactly one observation, no budget is
// exceeded by what the harness controls, the record is sound and its steps are the result's, and "done" needs rest and
// passed checks.
func TestLawsOfTheLoop(t *testing.T) { synctest.Test(t, testLawsOfTheLoop) }

// bubble is a test inside a synctest bubble, where Deadline may not be asked for.
type bubble struct{ *testing.T }

func (bubble) Deadline() (time.Time, bool) { return time.Time{}, false }

func testLawsOfTheLoop(t *testing.T) {
	n := 0
	rapid.Check(bubble{t}, func(rt *rapid.T) {
		n++
		rob := newRobot()
		panics := rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1}).Draw(rt, "panics")
		for _, f := range []*fake{rob.navigate, rob.wait, rob.gripper, rob.atPlace, rob.battery, rob.where} {
			if rapid.Bool().Draw(rt, "wild "+f.spec.Name) {
				r := wildResult().Draw(rt, f.spec.Name)
				f.do = func(context.Context, tool.Call) tool.Result {
					if panics == 1 {
						panic("wild")
					}
					return r
				}
			}
		}
		answersList := rapid.SliceOfN(wildResponse(), 1, 12).Draw(rt, "answers")
		m := &answers{list: answersList, errs: map[int]error{}}
		if at := rapid.IntRange(0, 30).Draw(rt, "error at"); at < len(answersList) {
			m.errs[at] = errors.New("wild")
		}
		r := newRig(t, m, rob.tools()...)
		r.goal.Session = fmt.Sprintf("s%d", n)
		r.goal.Budget = budget.Limits{
			Steps: rapid.Uint32Range(0, 9).Draw(rt, "steps"), ToolCalls: rapid.Uint32Range(0, 9).Draw(rt, "calls"),
			InputTokens: rapid.SampledFrom([]uint64{0, 0, 5000, 20000}).Draw(rt, "input"), OutputTokens: rapid.SampledFrom([]uint64{0, 0, 50, 500}).Draw(rt, "output"),
		}
		r.goal.Criteria = rapid.SampledFrom([][]string{nil, nil, {"at_place(kitchen)"}, {"at_place(dock)", "person: ok?"}}).Draw(rt, "criteria")
		r.goal.DryRun = rapid.SampledFrom([]bool{false, false, false, true}).Draw(rt, "dry run")
		if rapid.Bool().Draw(rt, "asks") {
			r.cfg.Policy = policy.Policy{}
		}
		approves := rapid.Bool().Draw(rt, "approves")
		r.cfg.Approver = approverFunc(func(_ context.Context, q policy.Request) (policy.Answer, error) {
			return policy.Answer{RequestID: q.ID, Approved: approves}, nil
		})
		atRest := rapid.SampledFrom([]bool{true, true, true, false}).Draw(rt, "at rest")
		rests, stops := 0, 0
		r.cfg.Settle = func(context.Context) (time.Time, error) {
			rests++
			if !atRest {
				return time.Time{}, errors.New("still moving")
			}
			return time.Now(), nil
		}
		r.cfg.Stop = func(context.Context, string) error { stops++; return nil }
		if rapid.SampledFrom([]bool{false, false, false, true}).Draw(rt, "interrupted") {
			ctx, cancel := context.WithCancelCause(r.ctx)
			r.ctx = ctx
			after := rapid.IntRange(0, 4).Draw(rt, "interrupted after")
			do := rob.battery.do
			rob.battery.do = func(c context.Context, k tool.Call) tool.Result {
				if after--; after < 0 {
					cancel(harness.Interrupt{Reason: harness.ReasonOperatorStop})
				}
				return do(c, k)
			}
		}

		res := r.run()
		if t.Failed() {
			rt.FailNow()
		}
		l, u := r.goal.Budget, res.Usage
		if l.Steps > 0 && u.Steps > l.Steps || l.ToolCalls > 0 && u.ToolCalls > l.ToolCalls {
			rt.Fatalf("usage %+v exceeds %+v", u, l)
		}
		if m.samples() != int(u.Steps) {
			rt.Fatalf("%d samples, %d steps counted", m.samples(), u.Steps)
		}
		if l.ToolCalls > 0 {
			// Skills are called by the model alone; the harness itself only reads.
			if n := rob.navigate.count() + rob.wait.count() + rob.gripper.count(); n > int(l.ToolCalls) {
				rt.Fatalf("%d motions under a limit of %d calls", n, l.ToolCalls)
			}
		}
		if r.goal.DryRun && rob.navigate.count()+rob.wait.count()+rob.gripper.count()+stops > 0 {
			rt.Fatal("something moved in a dry run")
		}
		if res.Outcome == harness.Done {
			if !atRest || r.goal.DryRun || len(res.Verifications) == 0 {
				rt.Fatalf("done: at rest %t, dry run %t, verifications %+v", atRest, r.goal.DryRun, res.Verifications)
			}
			for _, v := range res.Verifications {
				if !v.Passed {
					rt.Fatalf("done with %+v", v)
				}
			}
		}
		if rests == 0 {
			rt.Fatal("rest was never measured")
		}
		moved := rob.navigate.count()+rob.wait.count()+rob.gripper.count() > 0
		switch res.Outcome {
		case harness.BudgetExhausted, harness.Interrupted:
			if moved && stops == 0 {
				rt.Fatalf("%s after motion without a stop", res.Reason)
			}
		default:
		}
		r.sink.Forget(r.goal.Session)
	})
}
