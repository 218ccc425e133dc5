package node_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agent_node/config"
	"agent_node/pkg/harness"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/mem"
)

// codeCase is a goal that ends with a reason code, over the action, with the built-in robot.
type codeCase struct {
	reason string
	kind   string // of a step's error that must be among them; "": none is looked for
	// answers of a scripted model, a line of JSON each, the last for ever; none: the planner.
	answers []string
	params  []string
	profile [][2]string // texts of the profile that are replaced
	robot   map[string]any
	goal    func(*ros.Message)
	during  func(*codeRig) // once the goal was sent
}

// codeRig is what a case may use.
type codeRig struct {
	t   *testing.T
	bus *mem.Bus
	h   *house
	g   *action.Goal
	c   caller
}

// moving waits until the robot moves.
func (r *codeRig) moving() {
	for end := time.Now().Add(patience); r.h.bot.Truth().Twist.Linear < 0.1; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatal("the robot does not move")
		}
	}
}

// say publishes a message once.
func (r *codeRig) say(topic, typeName string, fill func(*ros.Message)) {
	p := must(r.h.peer.CreatePublisher(topic, typeName, ros.DefaultQoS()))(r.t)
	m := ros.New(p.Type())
	fill(m)
	check(r.t, p.Publish(m))
}

func (r *codeRig) trigger(name string) { r.h.call(name, "std_srvs/srv/Trigger", func(*ros.Message) {}) }

func toDo(text string) func(*ros.Message) { return func(m *ros.Message) { m.With("task", text) } }

// budgeted is a task with a limit of its own.
func budgeted(text, field string, value any) func(*ros.Message) {
	return func(m *ros.Message) { m.With("task", text).With("budget."+field, value) }
}

func callOf(tool, arguments string) string {
	return `{"calls":[{"tool":"` + tool + `","arguments":` + arguments + `}]}`
}

// codeCases reach each code that docs/node.md names.
var codeCases = []codeCase{
	{reason: "accepted", goal: toDo("drive 0.2 m forward")},
	{reason: "unverified", kind: "postcondition_failed", answers: []string{callOf("finish", `{"answer":"The battery has 3 percent.","evidence":[]}`)}, goal: toDo("how full is the battery?")},
	{reason: "dry_run", goal: func(m *ros.Message) { m.With("task", "go to the kitchen").With("dry_run", true) }},
	{reason: "tool_missing", kind: "unknown_tool", answers: []string{callOf("fly", `{}`)}, goal: toDo("fly")},
	{reason: "validation_repeated", kind: "invalid_arguments", answers: []string{callOf("drive", `{}`)}, goal: toDo("drive")},
	{reason: "permission_denied", kind: "permission_denied", params: []string{"policy.skill:=deny"}, goal: toDo("drive 0.2 m forward")},
	{reason: "stuck", answers: []string{callOf("list_places", `{}`)}, goal: toDo("where can you go?")},
	{reason: "model_error", answers: []string{`{"error":"no such model"}`}, goal: toDo("drive 0.2 m forward")},
	{
		reason: "dependency_lost", kind: "server_unavailable", params: []string{"wait_for_bindings:=1.0"}, robot: map[string]any{"fault.action_server_down": true},
		answers: []string{callOf("navigate_to", `{"place":"kitchen"}`), callOf("navigate_to", `{"place":"office"}`), callOf("navigate_to", `{"place":"table"}`)}, goal: toDo("go"),
	},
	{reason: "actuator_fault", kind: "guard_refused", robot: map[string]any{"fault.drift": 0.2}, goal: toDo("drive 0.3 m forward")},
	{reason: "actuator_fault", kind: "not_at_rest", goal: toDo("drive 0.5 m forward"), during: func(r *codeRig) { r.moving(); check(r.t, r.h.bot.SetParameter("fault.drift", 0.2)) }},
	{reason: "infeasible", kind: "geometry_refused", goal: toDo("drive 60 m forward")},
	{reason: "bad_request", goal: toDo(" ")},
	{reason: "budget_steps", goal: budgeted("drive 0.2 m forward, then drive 0.2 m back", "max_steps", uint32(1))},
	{reason: "budget_tool_calls", goal: budgeted("drive 0.2 m forward, then drive 0.2 m back", "max_tool_calls", uint32(1))},
	{reason: "budget_input_tokens", goal: budgeted("drive 0.2 m forward", "max_input_tokens", uint64(10))},
	{reason: "budget_output_tokens", goal: budgeted("drive 0.2 m forward", "max_output_tokens", uint64(1))},
	{reason: "budget_wall_time", kind: "timeout", goal: func(m *ros.Message) {
		m.With("task", "go to the kitchen").SetDuration("budget.max_wall_time", 10*time.Second)
	}},
	{reason: "budget_cost", params: []string{"model.price.input:=1000.0", "model.price.output:=1000.0"}, goal: budgeted("drive 0.2 m forward", "max_cost", 0.001)},
	{reason: "canceled", kind: "canceled", goal: toDo("go to the kitchen"), during: func(r *codeRig) { r.moving(); must(r.g.Cancel(r.t.Context()))(r.t) }},
	{reason: "operator_stop", kind: "canceled", goal: toDo("go to the kitchen"), during: func(r *codeRig) { r.moving(); r.trigger("stop") }},
	{reason: "emergency_stop", kind: "canceled", goal: toDo("go to the kitchen"), during: func(r *codeRig) {
		r.moving()
		r.say("/emergency_stop", "std_msgs/msg/Bool", func(m *ros.Message) { m.With("data", true) })
	}},
	{reason: "preempted", kind: "canceled", params: []string{"queue_policy:=preempt"}, goal: toDo("go to the kitchen"), during: func(r *codeRig) {
		r.moving()
		m := ros.New(r.c.client.Type().Goal).With("task", "where are you?")
		must(r.c.client.Send(r.t.Context(), m, action.GoalOptions{}))(r.t)
	}},
	{reason: "client_lost", kind: "canceled", goal: func(m *ros.Message) { m.With("task", "go to the kitchen").SetDuration("client_timeout", time.Second) }, during: func(r *codeRig) {
		r.moving()
		r.c.vanish(r.t)
	}},
	{reason: "upstream_timeout", kind: "timeout", goal: func(m *ros.Message) {
		m.With("task", "go to the kitchen").SetStamp("deadline", ros.TimeFrom(time.Now().Add(10*time.Second)))
	}},
	{reason: "watchdog", params: []string{"watchdog.required:=true"}, goal: toDo("go to the kitchen")},
	{reason: "shutdown", kind: "canceled", goal: toDo("go to the kitchen"), during: func(r *codeRig) {
		r.moving()
		r.h.call("change_state", "lifecycle_msgs/srv/ChangeState", func(m *ros.Message) { m.With("transition.label", "deactivate") })
	}},
	// Error kinds that no reason code above comes with.
	{reason: "unverified", kind: "duplicate_call", answers: []string{`{"calls":[{"id":"x","tool":"list_places"},{"id":"x","tool":"get_battery"}]}`, `{"text":"done"}`}, goal: toDo("look")},
	{reason: "unverified", kind: "precondition_failed", answers: []string{`{"calls":[{"tool":"drive","arguments":{"distance_m":0.2}},{"tool":"drive","arguments":{}}]}`, `{"text":"done"}`}, goal: toDo("drive")},
	{reason: "actuator_fault", kind: "stale_state", robot: map[string]any{"fault.stop_odom": true}, answers: []string{callOf("get_pose", `{}`), `{"text":"done"}`}, goal: toDo("look")},
	{reason: "unverified", kind: "server_failed", answers: []string{callOf("navigate_to", `{"place":"kitchen"}`), `{"text":"done"}`}, goal: toDo("go"), during: func(r *codeRig) {
		r.moving()
		r.say("/cmd_vel", "geometry_msgs/msg/Twist", func(*ros.Message) {}) // takes the base over
	}},
	{
		reason: "unverified", kind: "server_rejected", profile: [][2]string{{"name: /navigate_to_pose", "name: /refuse_to_navigate"}},
		answers: []string{callOf("navigate_to", `{"place":"kitchen"}`), `{"text":"done"}`}, goal: toDo("go"),
	},
	{
		reason: "unverified", kind: "tool_error", profile: [][2]string{{"'voltage_v': math.round(msg.voltage * 100.0) / 100.0", "'voltage_v': [1][int(msg.voltage)]"}},
		answers: []string{callOf("get_battery", `{}`), `{"text":"done"}`}, goal: toDo("look"),
	},
}

// TestEveryCodeIsReached by a goal over the action: each reason code and each error kind that docs/node.md names, and no other.
func TestEveryCodeIsReached(t *testing.T) {
	reasons, kinds := documentedCodes(t)
	var mu sync.Mutex
	reached := map[string]bool{}
	t.Run("cases", func(t *testing.T) {
		for _, x := range codeCases {
			t.Run(strings.TrimSuffix(x.reason+" "+x.kind, " "), func(t *testing.T) {
				watched(t, func(t *testing.T, bus *mem.Bus, h *house, e *ends) {
					reason, found := x.happen(t, bus, h, e)
					mu.Lock()
					defer mu.Unlock()
					reached[reason] = true
					for _, k := range found {
						reached[k] = true
					}
					if reason != x.reason || x.kind != "" && !slices.Contains(found, x.kind) {
						t.Errorf("ended as %s with %q, want %s and %s", reason, found, x.reason, x.kind)
					}
				}, x.given(t)...)
			})
		}
	})
	for _, code := range append(slices.Clone(reasons), kinds...) {
		if !reached[code] {
			t.Errorf("nothing reaches %s", code)
		}
	}
	for code := range reached {
		if code != "" && !slices.Contains(reasons, code) && !slices.Contains(kinds, code) {
			t.Errorf("docs/node.md does not name %s", code)
		}
	}
}

// documentedCodes are those that docs/node.md names, which must be those that the harness knows.
func documentedCodes(t *testing.T) (reasons, kinds []string) {
	t.Helper()
	doc := string(must(os.ReadFile("../../docs/node.md"))(t))
	codes := regexp.MustCompile("`([a-z_]+)`")
	_, ends, _ := strings.Cut(doc, "\n## How a goal ends\n")
	ends, _, _ = strings.Cut(ends, "\n## ")
	table, failures, _ := strings.Cut(ends, "\n### Why a step failed\n")
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 5 {
			continue
		}
		for _, m := range codes.FindAllStringSubmatch(cells[3], -1) {
			reasons = append(reasons, m[1])
			if harness.Reason(m[1]).Outcome().String() != strings.TrimSpace(cells[1]) {
				t.Errorf("docs/node.md: %s belongs to %s", m[1], harness.Reason(m[1]).Outcome())
			}
		}
	}
	for _, row := range strings.Split(failures, "\n") {
		if cells := strings.Split(row, "|"); len(cells) >= 4 {
			for _, m := range codes.FindAllStringSubmatch(cells[1], -1) {
				kinds = append(kinds, m[1])
				if !tool.ErrorKind(m[1]).Known() {
					t.Errorf("docs/node.md: %s is no error kind", m[1])
				}
			}
		}
	}
	if len(reasons) != 26 || len(kinds) != 16 {
		t.Fatalf("docs/node.md names %d reason codes and %d error kinds: %q %q", len(reasons), len(kinds), reasons, kinds)
	}
	return reasons, kinds
}

// given are the parameters of the case's node.
func (x *codeCase) given(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	out := slices.Clone(x.params)
	if len(x.answers) > 0 {
		script := filepath.Join(dir, "script.jsonl")
		check(t, os.WriteFile(script, []byte(strings.Join(append(slices.Clone(x.answers), `{"repeat":true}`), "\n")), 0o600))
		out = append(out, "model.kind:=scripted", "model.script:="+script)
	}
	if len(x.profile) > 0 {
		text := string(config.SimRobot)
		for _, r := range x.profile {
			if !strings.Contains(text, r[0]) {
				t.Fatalf("the profile does not hold %q", r[0])
			}
			text = strings.Replace(text, r[0], r[1], 1)
		}
		profile := filepath.Join(dir, "profile.yaml")
		check(t, os.WriteFile(profile, []byte(text), 0o600))
		out = append(out, "profile:="+profile)
	}
	return out
}

// happen sends the goal and returns how it ended, by its record, and the error kinds of its steps.
func (x *codeCase) happen(t *testing.T, bus *mem.Bus, h *house, e *ends) (reason string, kinds []string) {
	t.Helper()
	var mu sync.Mutex
	must(h.peer.CreateSubscription("/agent_node/trace", "agent_msgs/msg/TraceEvent", ros.QoS{Depth: 1000}, func(r ros.Received) {
		var d struct {
			Kind string `json:"error_kind"`
		}
		if r.Message.Str("kind") == "observation" && json.Unmarshal([]byte(r.Message.Str("data_json")), &d) == nil {
			mu.Lock()
			defer mu.Unlock()
			kinds = append(kinds, d.Kind)
		}
	}))(t)
	refuses := must(action.NewServer(h.peer, action.ServerConfig{
		Name: "/refuse_to_navigate", Type: "nav2_msgs/action/NavigateToPose", Goal: func(action.GoalID, *ros.Message) bool { return false }, Accepted: func(*action.Handle) {},
	}))(t)
	defer func() { check(t, refuses.Close(context.Background())) }()
	for name, v := range x.robot {
		check(t, h.bot.SetParameter(name, v))
	}
	if len(x.robot) > 0 {
		time.Sleep(2 * time.Second) // until the node has noticed
	}
	r := &codeRig{t: t, bus: bus, h: h, c: newCaller(t, bus, "caller")}
	m := ros.New(r.c.client.Type().Goal)
	x.goal(m)
	r.g = must(r.c.client.Send(t.Context(), m, action.GoalOptions{}))(t)
	if x.during != nil {
		x.during(r)
	}
	for end := time.Now().Add(3 * time.Minute); reason == "" && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		reason, _ = e.of(r.g.ID())
	}
	if reason == "" { // what never became a session has no record
		if out, err := r.g.Result(t.Context()); err == nil {
			reason = out.Result.Str("reason_code")
		}
	}
	for name, v := range x.robot { // so that the node sees the robot at rest as it ends
		switch v.(type) {
		case bool:
			check(t, h.bot.SetParameter(name, false))
		case float64:
			check(t, h.bot.SetParameter(name, 0.0))
		}
	}
	check(t, h.bot.SetParameter("fault.drift", 0.0))
	time.Sleep(2 * time.Second)
	mu.Lock()
	defer mu.Unlock()
	return reason, slices.Clone(kinds)
}
