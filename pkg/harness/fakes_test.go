package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answers is a model that gives its answers one after the other, and the last for ever.
type answers struct {
	list []model.Response
	errs map[int]error

	mu   sync.Mutex
	n    int
	seen []model.Request
}

func (m *answers) Name() string { return "answers" }

func (m *answers) Sample(_ context.Context, r model.Request) (model.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := min(m.n, len(m.list)-1)
	m.n++
	m.seen = append(m.seen, r)
	if err := m.errs[i]; err != nil {
		return model.Response{}, err
	}
	return m.list[i], nil
}

func (m *answers) samples() int { m.mu.Lock(); defer m.mu.Unlock(); return m.n }

// modelFunc is a model made of a function.
type modelFunc func(ctx context.Context, r model.Request) (model.Response, error)

func (modelFunc) Name() string { return "func" }
func (f modelFunc) Sample(ctx context.Context, r model.Request) (model.Response, error) {
	return f(ctx, r)
}

func calls(c ...model.Call) model.Response {
	return model.Response{Calls: c, Finish: model.FinishToolCalls}
}

func call(name, arguments string) model.Call { return model.Call{Tool: name, Arguments: arguments} }

func callID(id, name, arguments string) model.Call {
	return model.Call{ID: id, Tool: name, Arguments: arguments}
}

func says(text string) model.Response { return model.Response{Text: text, Finish: model.FinishStop} }

func finish(answer string, evidence ...string) model.Response {
	b, err := json.Marshal(map[string]any{"answer": answer, "evidence": append([]string{}, evidence...)})
	if err != nil {
		panic(err)
	}
	return calls(call("finish", string(b)))
}

// fake is a tool made of a function. It counts its calls.
type fake struct {
	spec tool.Spec
	do   func(ctx context.Context, c tool.Call) tool.Result

	mu    sync.Mutex
	calls []tool.Call
}

func (f *fake) Spec() tool.Spec { return f.spec }

func (f *fake) Call(ctx context.Context, c tool.Call) tool.Result {
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	return f.do(ctx, c)
}

func (f *fake) count() int { f.mu.Lock(); defer f.mu.Unlock(); return len(f.calls) }

func object(properties string, required ...string) json.RawMessage {
	r, err := json.Marshal(append([]string{}, required...))
	if err != nil {
		panic(err)
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s},"required":%s,"additionalProperties":false}`, properties, r))
}

func fixed(r tool.Result) func(context.Context, tool.Call) tool.Result {
	return func(context.Context, tool.Call) tool.Result { return r }
}

func query(name, content string) *fake {
	return &fake{spec: tool.Spec{Name: name, Class: tool.Query, Source: "/" + name}, do: fixed(tool.Result{OK: true, Content: content})}
}

// robot is a world of places with a base that drives between them, and a battery.
type robot struct {
	mu    sync.Mutex
	at    string
	fails map[string]tool.ErrorKind // navigate_to there fails so

	navigate, wait, atPlace, battery, where, gripper *fake
}

func newRobot() *robot {
	r := &robot{at: "dock", fails: map[string]tool.ErrorKind{}}
	place := object(`"place":{"type":"string","enum":["kitchen","office","dock"]}`, "place")
	arg := func(c tool.Call) string {
		var a struct{ Place string }
		if err := json.Unmarshal(c.Arguments, &a); err != nil {
			panic(err)
		}
		return a.Place
	}
	r.navigate = &fake{
		spec: tool.Spec{Name: "navigate_to", Class: tool.Skill, Parameters: place, Actuators: []string{"base"}, Validated: true, Source: "/navigate_to_pose"},
		do: func(_ context.Context, c tool.Call) tool.Result {
			r.mu.Lock()
			defer r.mu.Unlock()
			to := arg(c)
			post := []string{"at_place(" + to + ")"}
			if kind := r.fails[to]; kind != "" {
				return tool.Result{ErrorKind: kind, Content: "no way to " + to, Postconditions: post}
			}
			r.at = to
			return tool.Result{OK: true, Content: `{"arrived":"` + to + `"}`, Postconditions: post}
		},
	}
	r.wait = &fake{
		spec: tool.Spec{Name: "wait", Class: tool.Skill, Parameters: object(`"seconds":{"type":"number","minimum":0}`, "seconds"), Validated: true},
		do:   fixed(tool.Result{OK: true, Content: "waited"}),
	}
	r.gripper = &fake{
		spec: tool.Spec{Name: "gripper", Class: tool.Skill, Parameters: object(`"open":{"type":"boolean"}`, "open"), Actuators: []string{"gripper"}, Validated: true},
		do:   fixed(tool.Result{OK: true, Content: "moved", Postconditions: []string{"cel: get_battery().percent > 1.0"}}),
	}
	r.atPlace = &fake{
		spec: tool.Spec{Name: "at_place", Class: tool.Verify, Parameters: place},
		do: func(_ context.Context, c tool.Call) tool.Result {
			r.mu.Lock()
			defer r.mu.Unlock()
			return tool.Result{OK: true, Passed: r.at == arg(c), Content: "the robot is at " + r.at}
		},
	}
	r.battery = query("get_battery", `{"percent":87.4,"voltage":24.1}`)
	r.where = &fake{spec: tool.Spec{Name: "get_place", Class: tool.Query}, do: func(context.Context, tool.Call) tool.Result {
		r.mu.Lock()
		defer r.mu.Unlock()
		return tool.Result{OK: true, Content: `{"place":"` + r.at + `"}`}
	}}
	return r
}

func (r *robot) tools() []tool.Tool {
	return []tool.Tool{r.navigate, r.wait, r.gripper, r.atPlace, r.battery, r.where}
}

func (r *robot) isAt() string { r.mu.Lock(); defer r.mu.Unlock(); return r.at }

var allowAll = policy.Policy{Simulation: true, Classes: map[tool.Class]policy.Permission{tool.Skill: policy.Allow}}

// rig is a harness and everything around it.
type rig struct {
	t    testing.TB
	cfg  harness.Config
	goal harness.Goal
	ctx  context.Context
	sink *trace.Memory
	news []harness.Progress
	// unique: what happened cannot be replayed (an error inside the harness).
	unique bool
}

func newRig(t testing.TB, m model.Model, tools ...tool.Tool) *rig {
	t.Helper()
	table, err := tool.NewTable(tools...)
	if err != nil {
		t.Fatal(err)
	}
	sink := &trace.Memory{}
	return &rig{
		t: t, ctx: t.Context(), sink: sink,
		cfg:  harness.Config{Model: m, Tools: table, Policy: allowAll, Trace: sink},
		goal: harness.Goal{Session: "s1", Task: "do it"},
	}
}

func (r *rig) Progress(p harness.Progress) { r.news = append(r.news, p) }

// run the goal, and check what holds for every result and every record.
func (r *rig) run() harness.Result {
	r.t.Helper()
	h, err := harness.New(r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	res := h.Run(r.ctx, r.goal, r)
	checkResult(r.t, r.cfg, res)
	r.checkRecord(res)
	return res
}

func checkResult(t testing.TB, cfg harness.Config, res harness.Result) {
	t.Helper()
	if res.Outcome != res.Reason.Outcome() || res.Outcome == 0 {
		t.Errorf("outcome %s with reason %s", res.Outcome, res.Reason)
	}
	if (res.Outcome == harness.Done) != (len(res.UnmetGoals) == 0) {
		t.Errorf("outcome %s with unmet goals %q", res.Outcome, res.UnmetGoals)
	}
	if !res.RestMeasured && res.Reason != harness.ReasonActuatorFault {
		t.Errorf("rest was not measured, and the reason is %s", res.Reason)
	}
	if int(res.Usage.ToolCalls) != len(res.Steps) {
		t.Errorf("%d tool calls counted, %d steps", res.Usage.ToolCalls, len(res.Steps))
	}
	ids := map[string]bool{}
	for i, s := range res.Steps {
		if s.CallID == "" || ids[s.CallID] || int(s.Index) != i+1 {
			t.Errorf("step %d has index %d and the id %q", i+1, s.Index, s.CallID)
		}
		ids[s.CallID] = true
		if s.OK == (s.ErrorKind != "") || s.ErrorKind != "" && !s.ErrorKind.Known() {
			t.Errorf("step %d: ok %t, kind %q", i+1, s.OK, s.ErrorKind)
		}
	}
}

func (r *rig) events() []trace.Event {
	r.t.Helper()
	ev, rep, err := trace.Events(bytes.NewReader(r.sink.Bytes(r.goal.Session)))
	if err != nil || !rep.OK() || rep.Torn != nil {
		r.t.Fatalf("record: %v %+v", err, rep)
	}
	return ev
}

// checkRecord: the record is sound and complete, its transitions are legal, its steps are the result's, and every
// request of the model can be rebuilt from it.
func (r *rig) checkRecord(res harness.Result) {
	r.t.Helper()
	if r.sink == nil || r.sink.Bytes(r.goal.Session) == nil {
		return
	}
	events := r.events()
	phase := harness.PhaseIdle
	var steps []string
	for _, e := range events {
		if e.Phase == "" {
			continue // from another goroutine: not the loop's
		}
		to := harness.Phase(e.Phase)
		if err := harness.CheckTransition(phase, harness.Kind(e.Kind), to); err != nil && to != phase {
			r.t.Errorf("event %d: %v", e.Seq, err)
		}
		phase = to
		if harness.Kind(e.Kind) == harness.KindObservation {
			steps = append(steps, e.CallID)
		}
	}
	if phase != harness.PhaseEnd {
		r.t.Errorf("the record ends in phase %s", phase)
	}
	var want []string
	for _, s := range res.Steps {
		want = append(want, s.CallID)
	}
	if !slices.Equal(steps, want) {
		r.t.Errorf("steps of the record %q, of the result %q", steps, want)
	}
	if !r.unique {
		r.checkReplay(events)
	}
	m, ok := r.cfg.Model.(*answers)
	if !ok || len(r.cfg.Secrets) > 0 {
		return
	}
	rebuilt, err := harness.Requests(events)
	if err != nil {
		r.t.Errorf("rebuilding the requests: %v", err)
		return
	}
	if len(rebuilt) != len(m.seen) {
		r.t.Errorf("%d requests rebuilt, %d were sent", len(rebuilt), len(m.seen))
		return
	}
	for i := range rebuilt {
		a, b := requestBytes(r.t, rebuilt[i]), requestBytes(r.t, m.seen[i])
		if !bytes.Equal(a, b) {
			r.t.Errorf("request %d rebuilt:\n%s\nsent:\n%s", i+1, a, b)
		}
	}
}

// checkReplay: today's loop on what was recorded comes to the same events.
func (r *rig) checkReplay(events []trace.Event) {
	r.t.Helper()
	report, err := harness.Replay(events)
	if err != nil {
		r.t.Errorf("replay: %v", err)
		return
	}
	if d := report.Difference; d != nil || !report.Complete || len(report.Notes) > 0 {
		r.t.Errorf("replayed %d of %d events, complete %t, notes %v: %v", report.Same, report.Events, report.Complete, report.Notes, d)
		for _, e := range events[:min(len(events), 200)] {
			if d != nil && e.Seq+4 > d.Seq && e.Seq < d.Seq+4 {
				r.t.Logf("%d %s %s %s/%s %s", e.Seq, e.Kind, e.CallID, e.Phase, e.State, e.Data)
			}
		}
	}
}

func requestBytes(t testing.TB, r model.Request) []byte {
	t.Helper()
	b, err := json.Marshal(struct {
		Messages []model.Message
		Tools    []model.Tool
		Max      uint64
	}{r.Messages, r.Tools, r.MaxOutputTokens})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func want(t testing.TB, res harness.Result, reason harness.Reason) {
	t.Helper()
	if res.Reason != reason {
		var steps []string
		for i, s := range res.Steps[:min(len(res.Steps), 12)] {
			steps = append(steps, fmt.Sprintf("%d %s(%s) %s %.200s", i+1, s.Tool, s.Arguments, s.ErrorKind, s.Content))
		}
		t.Fatalf("ended as %s (%.300s), want %s; steps:\n%s", res.Reason, res.Answer, reason, strings.Join(steps, "\n"))
	}
}

func wantStep(t testing.TB, res harness.Result, i int, kind tool.ErrorKind) {
	t.Helper()
	if i >= len(res.Steps) {
		t.Fatalf("%d steps, want more than %d", len(res.Steps), i)
	}
	if s := res.Steps[i]; s.ErrorKind != kind {
		t.Fatalf("step %d: kind %q (%s), want %q", i+1, s.ErrorKind, s.Content, kind)
	}
}

var errTest = errors.New("test")
