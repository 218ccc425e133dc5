//go:build !race

package manipulate

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/test/house"
)

// enumerable tasks: each becomes a plan. The ones in front are run always, the others for the proof.
var enumerable = []string{
	errand,
	"take the red cube to the kitchen and the green ball to the table",
	"if the battery is above 20 percent, take the red cube to the kitchen; otherwise go to the dock",
	"drive a square with sides of 0.3 m, turning left at the corners",
	"what objects do you know?",
	"close the gripper, then go to the kitchen, then open the gripper",

	"go to the kitchen",
	"drive half a metre forward",
	"turn left by 90 degrees",
	"wait 3 seconds",
	"close the gripper",
	"fold the arm",
	"move the arm to carry and drive 0.2 metres forward",
	"go to the office, then to the table",
	"drive 0.4 metres forward, then turn right by 45 degrees, then drive 0.2 m back",
	"go to the kitchen, wait two seconds, go to the dock",
	"take the blue cube to the office",
	"take the green ball to the dock",
	"pick up the red cube",
	"pick up the green ball and put it down at the table",
	"take the red cube and the blue cube to the kitchen",
	"take the red cube to the office, then go to the dock",
	"go to the table and open the gripper",
	"how much battery is left?",
	"where are you?",
	"if the battery is below 20 percent go to the dock, otherwise go to the office",
	"patrol: kitchen, office, dock",
	"take the green ball to the office unless it is already there",
	"turn around, then drive 0.3 m backward",
	"go to x 1 y -1 yaw 0",
	"take the red cube to the kitchen, then take it to the table",
	"go to the dock, then pick up the red cube and bring it to the office",
}

// TestAPlanComesToTheSame: what a plan of a task comes to is what the agent comes to, by the truth, and every step that is a call was
// foreseen to be accepted.
func TestAPlanComesToTheSame(t *testing.T) {
	tasks := enumerable[:6]
	if proof() {
		tasks = enumerable
	}
	for _, task := range tasks {
		t.Run(task, func(t *testing.T) {
			var byPlan, byAgent house.Situation
			t.Run("plan", func(t *testing.T) {
				in(t, house.Options{Seed: 3}, func(t *testing.T, h *house.House) {
					counters, before := h.Bot.Counters(), h.Now()
					answer := h.Ask(task)
					if !answer.Bool("success") {
						t.Fatalf("no plan: %s %s", answer.Str("reason_code"), answer.Str("message"))
					}
					if !maps.Equal(counters, h.Bot.Counters()) || !before.Still(h.Now()) {
						t.Error("something was sent, or moved, while the task was broken down")
					}
					plan := answer.Msg("plan")
					known := true
					for _, s := range plan.Msgs("steps") {
						known = known && s.Str("tool") != ""
						if known && s.Int("feasibility") != 1 {
							t.Errorf("step %s %s is %d: %v", s.Str("id"), s.Str("tool"), s.Int("feasibility"), s.Msgs("findings"))
						}
					}
					out, _ := h.Send(ros.New(h.Execute.Type().Goal).With("plan", plan), nil)
					if r := out.Result; r.Int("outcome") != 1 {
						t.Errorf("the plan ends as %s: %s", r.Str("reason_code"), r.Str("answer"))
					}
					bumped(t, h)
					byPlan = h.Now()
				})
			})
			t.Run("agent", func(t *testing.T) {
				in(t, house.Options{Seed: 3}, func(t *testing.T, h *house.House) {
					if r := h.Run(task); r.Int("outcome") != 1 {
						t.Errorf("the agent ends as %s: %s", r.Str("reason_code"), r.Str("answer"))
					}
					bumped(t, h)
					byAgent = h.Now()
				})
			})
			t.Cleanup(func() { same(t, byPlan, byAgent) })
		})
	}
}

// same: the same truth, but for the noise.
func same(t *testing.T, a, b house.Situation) {
	t.Helper()
	if math.Hypot(a.Pose.X-b.Pose.X, a.Pose.Y-b.Pose.Y) > 0.1 || math.Abs(house.Wrap(a.Pose.Yaw-b.Pose.Yaw)) > 0.1 {
		t.Errorf("by plan it stands at %+v, by agent at %+v", a.Pose, b.Pose)
	}
	if a.Held != b.Held || math.Abs(a.Width-b.Width) > 0.005 {
		t.Errorf("by plan it holds %q, %.3f m open, by agent %q, %.3f m", a.Held, a.Width, b.Held, b.Width)
	}
	for i := range a.Arm {
		if math.Abs(a.Arm[i]-b.Arm[i]) > 0.05 {
			t.Errorf("joint %d is at %.3f rad by plan, %.3f rad by agent", i+1, a.Arm[i], b.Arm[i])
		}
	}
	for name := range a.Objects {
		if a.PlaceOf(name) != b.PlaceOf(name) {
			t.Errorf("the %s is at %q by plan, at %q by agent", name, a.PlaceOf(name), b.PlaceOf(name))
		}
	}
}

// badPlan is a proposal of a model that means ill or knows no better.
type badPlan struct {
	steps, criteria string
	says            []string // of the answer, or of the finding
	feasible        bool     // the plan is sound, and what is wrong is a step's finding
}

// TestABadModelsPlansAreRefused, each with its reason, by decompose and, where somebody sends it all the same, as a goal; and nothing moves.
func TestABadModelsPlansAreRefused(t *testing.T) {
	step := func(id, tool, args, after string) string {
		return fmt.Sprintf(`{"id":%q,"description":"x","tool":%q,"arguments":%s,"depends_on":[%s]}`, id, tool, args, after)
	}
	thousand := make([]string, 1000)
	for i := range thousand {
		thousand[i] = step(fmt.Sprintf("s%d", i), "get_pose", "{}", "")
	}
	kitchen := `{"place":"kitchen"}`
	for name, c := range map[string]badPlan{
		"a cycle": {
			steps: step("a", "navigate_to", kitchen, `"b"`) + "," + step("b", "navigate_to", kitchen, `"a"`), criteria: `"at_place(kitchen)"`, says: []string{"cycle"},
		},
		"on itself":               {steps: step("a", "navigate_to", kitchen, `"a"`), criteria: `"at_place(kitchen)"`, says: []string{"itself"}},
		"on nobody":               {steps: step("a", "navigate_to", kitchen, `"z"`), criteria: `"at_place(kitchen)"`, says: []string{`"z"`}},
		"an unknown tool":         {steps: step("a", "fly_to", kitchen, ""), criteria: `"at_place(kitchen)"`, says: []string{"fly_to"}},
		"a tool with a blank":     {steps: step("a", "navigate_to ", kitchen, ""), criteria: `"at_place(kitchen)"`, says: []string{"navigate_to "}},
		"the harness's own tool":  {steps: step("a", "finish", `{"answer":"done"}`, ""), criteria: `"at_place(kitchen)"`, says: []string{"finish"}},
		"wrong arguments":         {steps: step("a", "navigate_to", `{"place":"bathroom","speed":9}`, ""), criteria: `"at_place(kitchen)"`, says: []string{"/place", "'kitchen'", "speed"}},
		"missing arguments":       {steps: step("a", "drive", `{}`, ""), criteria: `"at_place(kitchen)"`, says: []string{"distance_m"}},
		"wrong criteria":          {steps: step("a", "navigate_to", kitchen, ""), criteria: `"at_place(moon)"`, says: []string{"moon"}},
		"no criteria":             {steps: step("a", "get_pose", "{}", ""), criteria: ``, says: []string{"criteria"}},
		"a thousand steps":        {steps: strings.Join(thousand, ","), criteria: `"at_place(dock)"`, says: []string{"1000", "100"}},
		"no steps":                {steps: "", criteria: `"at_place(dock)"`, says: []string{"steps"}},
		"twice the same":          {steps: step("a", "get_pose", "{}", "") + "," + step("a", "get_pose", "{}", ""), criteria: `"at_place(dock)"`, says: []string{`"a"`}},
		"into the keep-out zone":  {steps: step("a", "navigate_to", `{"x":0,"y":0,"yaw":0}`, ""), criteria: `"at_place(dock)"`, says: []string{"keep-out"}, feasible: true},
		"through the wall":        {steps: step("a", "drive", `{"distance_m":-4}`, ""), criteria: `"at_place(dock)"`, says: []string{"swept path"}, feasible: true},
		"out of the arm's reach":  {steps: step("a", "move_arm", `{"pose":{"x":2,"y":0,"z":0.5}}`, ""), criteria: `"at_place(dock)"`, says: []string{"reachability", "m are missing"}, feasible: true},
		"what is not there":       {steps: step("a", "pick", `{"object":"red cube"}`, ""), criteria: `"holding(red cube)"`, says: []string{"object_seen"}, feasible: true},
		"what is out of its hand": {steps: step("a", "place", kitchen, ""), criteria: `"at_place(kitchen)"`, says: []string{"nothing is held"}, feasible: true},
	} {
		t.Run(name, func(t *testing.T) {
			script := filepath.Join(t.TempDir(), "script.jsonl")
			line := fmt.Sprintf(`{"calls":[{"tool":"propose_plan","arguments":{"steps":[%s],"success_criteria":[%s]}}],"repeat":true}`+"\n", c.steps, c.criteria)
			if err := os.WriteFile(script, []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
			in(t, house.Options{Seed: 3, Node: []string{"-p", "model.kind:=scripted", "-p", "model.script:=" + script}}, func(t *testing.T, h *house.House) {
				before := h.Now()
				answer := h.Ask("do something")
				said := answer.Str("message")
				if c.feasible {
					plan := answer.Msg("plan")
					if !answer.Bool("success") || plan.Msgs("steps")[0].Int("feasibility") != 2 {
						t.Fatalf("not refused as a step: %s %s, %v", answer.Str("reason_code"), said, plan)
					}
					for _, f := range plan.Msgs("steps")[0].Msgs("findings") {
						said += " " + f.Str("rule") + ": " + f.Str("message")
					}
					out, _ := h.Send(ros.New(h.Execute.Type().Goal).With("plan", plan), nil)
					if r := out.Result; r.Int("outcome") == 1 || r.Int("outcome") == 2 {
						t.Errorf("carried out: %s %s", r.Str("reason_code"), r.Str("answer"))
					}
				} else if answer.Bool("success") || answer.Str("reason_code") != "infeasible" {
					t.Errorf("accepted as %s", answer.Str("reason_code"))
				}
				for _, words := range c.says {
					if !strings.Contains(said, words) {
						t.Errorf("it says %q, nothing of %q", said, words)
					}
				}
				nothingSent(t, h, nil, before, h.Now())
			})
		})
	}
}

// TestArmCommandsThatCannotBeReachNothing: each is refused by its rule, as a goal, and no controller hears of it.
func TestArmCommandsThatCannotBeReachNothing(t *testing.T) {
	in(t, house.Options{Seed: 3}, func(t *testing.T, h *house.House) {
		before := h.Now()
		for name, c := range map[string]struct{ tool, args, says string }{
			"beyond a joint's limit":     {"move_arm", `{"joints":[7,-1.85,2.7,-2.42,-1.57,0]}`, "rule position limit"},
			"absurd":                     {"move_arm", `{"joints":[1e308,-1.85,2.7,-2.42,-1.57,0]}`, "rule "},
			"a joint too few":            {"move_arm", `{"joints":[0,-1.85,2.7,-2.42,-1.57]}`, "bad_request"},
			"a joint too many":           {"move_arm", `{"joints":[0,-1.85,2.7,-2.42,-1.57,0,0]}`, "bad_request"},
			"no joints":                  {"move_arm", `{"joints":[]}`, "bad_request"},
			"text for a joint":           {"move_arm", `{"joints":["NaN",-1.85,2.7,-2.42,-1.57,0]}`, "bad_request"},
			"two targets":                {"move_arm", `{"joints":[0,-1.85,2.7,-2.42,-1.57,0],"named":"carry"}`, "bad_request"},
			"an unknown name":            {"move_arm", `{"named":"splits"}`, "bad_request"},
			"into itself":                {"move_arm", `{"joints":[0,0.4,2.7,-2.42,-1.57,0]}`, "rule self-collision"},
			"into the shelf":             {"move_arm", `{"pose":{"frame":"map","x":-1.15,"y":-1.9,"z":0.25}}`, "rule collision"},
			"into the floor":             {"move_arm", `{"pose":{"x":0.45,"y":0.2,"z":0.0}}`, "rule collision"},
			"out of reach":               {"move_arm", `{"pose":{"x":1.5,"y":0,"z":0.5}}`, "rule reachability"},
			"in a frame that nobody has": {"move_arm", `{"pose":{"frame":"attic","x":0.4,"y":0,"z":0.5}}`, "attic"},
			"half an orientation":        {"move_arm", `{"pose":{"x":0.4,"y":0,"z":0.5,"roll":1}}`, "neither roll nor pitch"},
			"absurdly far":               {"move_arm", `{"pose":{"x":1e308,"y":0,"z":0.5}}`, "rule "},
		} {
			step := ros.New(h.Execute.Type().Goal.Fields[h.Execute.Type().Goal.FieldIndex("plan")].Type.Fields[1].Type).
				With("id", "s1").With("tool", c.tool).With("arguments_json", c.args)
			goal := ros.New(h.Execute.Type().Goal)
			goal.Msg("plan").With("steps", []*ros.Message{step})
			out, _ := h.Send(goal, nil)
			r := out.Result
			if said := r.Str("reason_code") + " " + r.Str("answer"); r.Int("outcome") != 3 || !strings.Contains(said, c.says) {
				t.Errorf("%s: outcome %d, %s; wanted %q", name, r.Int("outcome"), said, c.says)
			}
		}
		nothingSent(t, h, nil, before, h.Now())
		if !stands(before, h.Now()) {
			t.Error("the arm moved")
		}
	})
}
