package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

const (
	decompose = "agent_msgs/action/Decompose"
	execute   = "agent_msgs/action/ExecuteTask"
	service   = "agent_msgs/srv/DecomposeTask"
)

// feasibility of a plan's steps, in one line.
func feasibility(plan *ros.Message) string {
	var out []string
	for _, s := range plan.Msgs("steps") {
		out = append(out, s.Str("id")+" "+s.Str("tool")+" "+[]string{"unknown", "ok", "refused"}[s.Int("feasibility")])
	}
	return strings.Join(out, ", ")
}

func task(text string) func(*ros.Message) {
	return func(m *ros.Message) { m.With("task", text) }
}

// scripted is a model that gives these answers, one after the other.
func scripted(t *testing.T, answers ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(answers, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"model.kind:=scripted", "model.script:=" + file}
}

func proposing(plan string) string {
	return `{"calls":[{"tool":"propose_plan","arguments":` + plan + `}]}`
}

func TestAPlanIsMadeLookedAtAndExecuted(t *testing.T) {
	h := newHouse(t)
	before := h.bot.Truth()
	const text = "drive 0.4 metres forward, then turn left by 90 degrees"
	answer := h.call("decompose_task", service, task(text))
	if !answer.Bool("success") || answer.Str("reason_code") != "accepted" {
		t.Fatalf("%s: %s", answer.Str("reason_code"), answer.Str("message"))
	}
	plan := answer.Msg("plan")
	if got := feasibility(plan); got != "s1 drive ok, s2 turn ok" || plan.Str("task") != text {
		t.Errorf("%s (%s)", got, plan.Str("task"))
	}
	if now := h.bot.Truth(); now.Pose.X != before.Pose.X || now.Pose.Y != before.Pose.Y || now.Pose.Yaw != before.Pose.Yaw {
		t.Error("the robot moved while the task was broken down")
	}
	if answer.Msg("usage").Int("steps") != 1 || answer.Msg("usage").Int("input_tokens") == 0 {
		t.Errorf("usage %v", answer.Msg("usage"))
	}
	out := h.run(h.client("execute_task", execute), func(m *ros.Message) { m.With("plan", plan) })
	if r := out.Result; r.Int("outcome") != 1 || len(r.Msgs("completed_steps")) != 2 || out.Status != action.StatusSucceeded {
		t.Fatalf("%s: %s", r.Str("reason_code"), r.Str("answer"))
	}
	if now := h.bot.Truth(); math.Abs(now.Pose.X-before.Pose.X-0.4) > 0.05 || math.Abs(now.Pose.Yaw-before.Pose.Yaw-math.Pi/2) > 0.1 {
		t.Errorf("the robot is at %+v, began at %+v", now, before)
	}
}

func TestAStepThatCannotBeIsRefused(t *testing.T) {
	h := newHouse(t)
	c := h.client("decompose", decompose)
	out := h.run(c, task("drive 0.4 metres forward, then drive 20 metres forward, then drive 0.1 metres back"))
	plan := out.Result.Msg("plan")
	if got := feasibility(plan); out.Status != action.StatusSucceeded || got != "s1 drive ok, s2 drive refused, s3 drive unknown" {
		t.Fatalf("%s: %s: %s", out.Status, got, out.Result.Str("message"))
	}
	f := plan.Msgs("steps")[1].Msgs("findings")
	if len(f) == 0 || f[0].Str("rule") == "" || f[0].Str("message") == "" {
		t.Errorf("findings %v", f)
	}
	out = h.run(c, task("fly to the moon"))
	if out.Status != action.StatusAborted || out.Result.Str("reason_code") != "infeasible" || out.Result.Bool("success") {
		t.Errorf("%s: %s: %s", out.Status, out.Result.Str("reason_code"), out.Result.Str("message"))
	}
}

func TestABadModelsPlansAreRefused(t *testing.T) {
	step := func(id, tool, arguments, on string) string {
		return fmt.Sprintf(`{"id":%q,"tool":%q,"arguments":%s,"depends_on":[%s]}`, id, tool, arguments, on)
	}
	many := strings.TrimSuffix(strings.Repeat(step("w", "wait", `{"seconds":0}`, "")+",", 1000), ",")
	for name, c := range map[string]struct{ plan, want string }{
		"cycle":        {step("a", "wait", `{"seconds":0}`, `"b"`) + "," + step("b", "wait", `{"seconds":0}`, `"a"`), "cycle"},
		"unknown tool": {step("a", "fly", `{}`, ""), "unknown_tool"},
		"arguments":    {step("a", "drive", `{"distance":1}`, ""), "invalid_arguments"},
		"thousand":     {many, "1000 steps"},
		"empty":        {"", "no steps"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, scripted(t, strings.TrimSuffix(proposing(`{"steps":[`+c.plan+`]}`), "}")+`,"repeat":true}`)...)
			r := h.call("decompose_task", service, task("do it"))
			if r.Bool("success") || r.Str("reason_code") != "infeasible" || !strings.Contains(r.Str("message"), c.want) {
				t.Errorf("%s: %.300s", r.Str("reason_code"), r.Str("message"))
			}
			if len(r.Msgs("plan.steps")) != 0 {
				t.Error("a plan is returned")
			}
		})
	}
}

func TestADecompositionIsCanceledAndBounded(t *testing.T) {
	h := newHouse(t, scripted(t, `{"text":"late","delay":3600}`)...)
	c := h.client("decompose", decompose)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g := must(c.Send(ctx, ros.New(c.Type().Goal).With("task", "go to the kitchen"), action.GoalOptions{}))(t)
	if _, err := g.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
	out := must(g.Result(ctx))(t)
	if out.Status != action.StatusCanceled || out.Result.Str("reason_code") != "canceled" {
		t.Errorf("%s: %s: %s", out.Status, out.Result.Str("reason_code"), out.Result.Str("message"))
	}
	out = h.run(c, func(m *ros.Message) {
		m.With("task", "go to the kitchen")
		m.SetDuration("budget.max_wall_time", 1e9)
	})
	if out.Status != action.StatusAborted || out.Result.Str("reason_code") != "budget_wall_time" {
		t.Errorf("%s: %s: %s", out.Status, out.Result.Str("reason_code"), out.Result.Str("message"))
	}
}

// Several at once, beside a goal that moves.
func TestDecompositionsRunBesideAGoal(t *testing.T) {
	h := newHouse(t)
	goals := h.client("execute_task", execute)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	goal := must(goals.Send(ctx, ros.New(goals.Type().Goal).With("task", "drive half a metre forward"), action.GoalOptions{}))(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r := h.call("decompose_task", service, task("wait 1 second, then wait 2 seconds"))
			if got := feasibility(r.Msg("plan")); got != "s1 wait ok, s2 wait ok" {
				t.Errorf("%s: %s: %s", r.Str("reason_code"), r.Str("message"), got)
			}
		})
	}
	all.Wait()
	if out := must(goal.Result(ctx))(t); out.Status != action.StatusSucceeded {
		t.Errorf("%s: %s", out.Result.Str("reason_code"), out.Result.Str("answer"))
	}
}

// planCase is a line of testdata/plans.jsonl.
type planCase struct {
	ID      string
	Payload struct{ Plan json.RawMessage }
	Unsafe  bool
	Why     string
	Expect  struct {
		Rule         string
		ErrorKind    string   `json:"error_kind"`
		ReasonCodeIn []string `json:"reason_code_in"`
	}
}

// Plans that must not move anything do not, and say why; plans that may run are done.
func TestPlansAsTheyComeFromElsewhere(t *testing.T) {
	data, err := os.ReadFile("testdata/plans.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t)
	c := h.client("execute_task", execute)
	for line := range strings.Lines(string(data)) {
		var x planCase
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		t.Run(x.ID, func(t *testing.T) {
			before := h.bot.Truth()
			goal := must(ros.DecodeJSON(c.Type().Goal, fmt.Appendf(nil, `{"plan":%s}`, x.Payload.Plan)))(t)
			out := h.run(c, func(m *ros.Message) { m.With("plan", goal.Msg("plan")) })
			r := out.Result
			said := r.Str("reason_code") + ": " + r.Str("answer")
			if !x.Unsafe {
				if out.Status != action.StatusSucceeded {
					t.Errorf("%s is not done: %s", x.Why, said)
				}
				return
			}
			if now := h.bot.Truth(); now.Pose.X != before.Pose.X || now.Pose.Y != before.Pose.Y || now.Pose.Yaw != before.Pose.Yaw {
				t.Errorf("%s: the robot moved", x.Why)
			}
			if out.Status != action.StatusAborted || r.Int("outcome") != 3 {
				t.Errorf("%s: %s: %s", x.Why, out.Status, said)
			}
			if !x.says(r) {
				t.Errorf("%s: wanted %+v: %s", x.Why, x.Expect, said)
			}
		})
	}
}

// says whether a result refuses as the case expects.
func (x planCase) says(r *ros.Message) bool {
	for _, code := range x.Expect.ReasonCodeIn {
		if r.Str("reason_code") == code {
			return true
		}
	}
	return x.Expect.ErrorKind != "" && strings.Contains(r.Str("answer"), x.Expect.ErrorKind) ||
		x.Expect.Rule != "" && strings.Contains(r.Str("answer"), x.Expect.Rule)
}
