package planner

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agent_node/pkg/harness/model"
)

//go:embed testdata/driving.jsonl
var driving []byte

// driver is the tool table of a robot that only drives.
func driver() []model.Tool {
	tools := []model.Tool{{Name: "navigate_to", Parameters: json.RawMessage(`{"properties":{"place":{"enum":["kitchen","office","dock","table"]},"x":{},"y":{},"yaw":{}}}`)}}
	for _, n := range []string{"drive", "turn", "wait", "get_battery", "get_pose", "list_places", "get_clearance", "at_place", "battery_above"} {
		tools = append(tools, model.Tool{Name: n})
	}
	return tools
}

// TestDrivingTasks: each wording of testdata becomes exactly its program, or is refused.
func TestDrivingTasks(t *testing.T) {
	n := 0
	for sc := bufio.NewScanner(bytes.NewReader(driving)); sc.Scan(); n++ {
		var c struct {
			Task, Program string
			Refuse        bool
		}
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		p, err := parse(c.Task, know(driver()))
		switch {
		case c.Refuse && err == nil:
			t.Errorf("%q is not refused: %s", c.Task, p)
		case !c.Refuse && err != nil:
			t.Errorf("%q is refused: %v", c.Task, err)
		case !c.Refuse && p.String() != c.Program:
			t.Errorf("%q is %s, want %s", c.Task, p, c.Program)
		}
	}
	if n < 100 {
		t.Errorf("%d wordings, wanted 100 or more", n)
	}
}

// ask plays the planner against results of calls until it ends.
func ask(t *testing.T, task string, results func(n int, c model.Call) (bool, string)) (calls []model.Call, last model.Response) {
	t.Helper()
	return askWith(t, driver(), task, results)
}

func askWith(t *testing.T, tools []model.Tool, task string, results func(n int, c model.Call) (bool, string)) (calls []model.Call, last model.Response) {
	t.Helper()
	messages := []model.Message{{Role: model.RoleSystem, Content: "…"}, {Role: model.RoleUser, Content: task}}
	for n := range 100 {
		r, err := New().Sample(t.Context(), model.Request{Messages: messages, Tools: tools})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Calls) == 0 {
			return calls, r
		}
		calls = append(calls, r.Calls...)
		ok, content := results(n, r.Calls[0])
		if r.Calls[0].Tool == "finish" && ok {
			return calls, r
		}
		messages = append(messages, model.Message{Role: model.RoleAssistant, Calls: r.Calls},
			model.Message{Role: model.RoleTool, CallID: r.Calls[0].ID, Tool: r.Calls[0].Tool, OK: ok, Content: content})
	}
	t.Fatal("the planner does not end")
	return nil, model.Response{}
}

func TestEachActionIsPickedFromTheLastObservation(t *testing.T) {
	calls, _ := ask(t, "if the battery is below 20 percent go to the dock, otherwise go to the office", func(_ int, c model.Call) (bool, string) {
		if c.Tool == "get_battery" {
			return true, `{"percent":12.5}`
		}
		return true, "{}"
	})
	if len(calls) != 3 || calls[1].Arguments != `{"place":"dock"}` {
		t.Errorf("calls %+v", calls)
	}
}

// The way back leads to the pose that was noted before anything moved; where that cannot be told, nothing moves.
func TestTheWayBackLeadsToWhereItBegan(t *testing.T) {
	for content, moves := range map[string]bool{`{"x":1.5,"y":-2,"yaw":0.25}`: true, `{"x":"NaN","y":-2,"yaw":0.25}`: false, `none`: false} {
		calls, last := ask(t, "go to the kitchen and come back", func(_ int, c model.Call) (bool, string) {
			if c.Tool == "get_pose" {
				return true, content
			}
			return true, "{}"
		})
		if moves != (len(calls) == 4 && calls[1].Arguments == `{"place":"kitchen"}` && calls[2].Arguments == `{"x":1.5,"y":-2,"yaw":0.25}`) ||
			!moves && (len(calls) != 1 || last.Finish != model.FinishInfeasible) {
			t.Errorf("%s: %+v, %s %q", content, calls, last.Finish, last.Text)
		}
	}
}

func TestAFailedSkillIsAskedForAgainWhereThatHelps(t *testing.T) {
	calls, _ := ask(t, "go to the kitchen", func(n int, _ model.Call) (bool, string) {
		if n == 0 {
			return false, "server_failed: the server aborted the goal"
		}
		return true, "{}"
	})
	if len(calls) != 3 || calls[0].Tool != "navigate_to" || calls[1].Tool != "navigate_to" || calls[2].Tool != "finish" {
		t.Errorf("calls %+v", calls)
	}
}

func TestWhatCannotHelpIsGivenUpWithItsReason(t *testing.T) {
	for _, c := range []struct {
		task, kind string
		calls      int
	}{
		{"drive 1 m", "geometry_refused", 1},
		{"drive 1 m", "permission_denied", 1},
		{"drive 1 m", "invalid_arguments", 1},
		{"drive 1 m", "guard_refused", 1},
		{"drive 1 m", "server_rejected", 3},
		{"go to the kitchen", "timeout", 3},
		{"go to the kitchen", "server_failed", 3},
		{"go to the kitchen", "geometry_refused", 1},
		// It may have come some way: another metre would be too far.
		{"drive 1 m", "server_failed", 1},
		{"drive 1 m", "timeout", 1},
		{"turn left by 90 degrees", "server_failed", 1},
		{"turn left by 90 degrees", "tool_error", 1},
	} {
		calls, last := ask(t, c.task, func(int, model.Call) (bool, string) { return false, c.kind + ": because of the test" })
		if len(calls) != c.calls || last.Finish != model.FinishInfeasible || !strings.Contains(last.Text, "because of the test") {
			t.Errorf("%s, %s: %d calls, %s %q", c.task, c.kind, len(calls), last.Finish, last.Text)
		}
	}
}

// A session that goes on shows a call that was cut off: what ends in the same place is begun again, half a metre is not.
func TestWhatWasCutOffIsBegunAgainWhereThatIsHarmless(t *testing.T) {
	for task, again := range map[string]bool{
		"go to the kitchen": true, "wait 3 seconds": true, "how much battery is left?": true, "drive 1 m": false, "turn left by 90 degrees": false,
	} {
		calls, last := ask(t, task, func(n int, _ model.Call) (bool, string) {
			if n == 0 {
				return false, "canceled: interrupted: the process ended while this call was under way"
			}
			return true, `{"percent":79.9}`
		})
		begun := 0
		for _, c := range calls {
			if c.Tool == calls[0].Tool {
				begun++
			}
		}
		if begun == 2 != again || (last.Finish == model.FinishInfeasible) == again {
			t.Errorf("%s: %d calls of %s, then %s %q", task, begun, calls[0].Tool, last.Finish, last.Text)
		}
	}
}

func TestAnAnswerCitesItsEvidence(t *testing.T) {
	calls, _ := ask(t, "how much battery is left?", func(_ int, c model.Call) (bool, string) {
		if c.Tool == "get_battery" {
			return true, `{"percent":79.9,"voltage_v":24.3}`
		}
		return true, "accepted"
	})
	if len(calls) != 2 || calls[1].Arguments != `{"answer":"The battery is at 79.9 percent.","evidence":["`+calls[0].ID+`"]}` {
		t.Errorf("calls %+v", calls)
	}
}

// An arm on a stand: no places, no objects, and yet it moves and grips.
func TestAnArmAloneUnderstandsItsOwnTasks(t *testing.T) {
	tools := []model.Tool{{Name: "move_arm", Parameters: json.RawMessage(`{"properties":{"named":{"enum":["home","ready"]}}}`)}, {Name: "gripper"}, {Name: "wait"}}
	for task, want := range map[string]string{
		"open the gripper":     `gripper{"open":true}`,
		"close your hand":      `gripper{"open":false}`,
		"move the arm to home": `move_arm{"named":"home"}`,
		"open the gripper, then wait 2 seconds, then move the arm to ready": `gripper{"open":true}; wait{"seconds":2}; move_arm{"named":"ready"}`,
	} {
		if p, err := parse(task, know(tools)); err != nil || p.String() != want {
			t.Errorf("%q: %v %v, want %s", task, p, err, want)
		}
	}
	for _, task := range []string{"drive 1 m forward", "go to the kitchen", "pick up the red cube", "open the door"} {
		if p, err := parse(task, know(tools)); err == nil {
			t.Errorf("%q became %s", task, p)
		}
	}
}

func TestAnEmptyTaskIsRefused(t *testing.T) {
	for _, task := range []string{"", "   ", "\n\t", "?!.,", "please"} {
		if p, err := parse(task, know(driver())); err == nil {
			t.Errorf("%q became %s", task, p)
		}
	}
}

// FuzzParse: whatever is typed, the planner neither panics nor names a place that is not known.
func FuzzParse(f *testing.F) {
	for sc := bufio.NewScanner(bytes.NewReader(driving)); sc.Scan(); {
		var c struct{ Task string }
		if json.Unmarshal(sc.Bytes(), &c) == nil {
			f.Add(c.Task)
		}
	}
	for sc := bufio.NewScanner(bytes.NewReader(errandWordings)); sc.Scan(); {
		var c struct{ Task string }
		if json.Unmarshal(sc.Bytes(), &c) == nil {
			f.Add(c.Task)
		}
	}
	f.Fuzz(func(t *testing.T, task string) {
		for _, tools := range [][]model.Tool{driver(), handler()} {
			p, err := parse(task, know(tools))
			if err != nil {
				continue
			}
			for _, tool := range p.tools() {
				if !know(tools).tools[tool] {
					t.Errorf("%q calls %s", task, tool)
				}
			}
		}
	})
}

// TestWhatIsNotAcceptedIsNotCalledImpossible: the planner answers again, and the harness says what the answer is worth. Words that
// are meant for a model stay out of what a person reads.
func TestWhatIsNotAcceptedIsNotCalledImpossible(t *testing.T) {
	for _, task := range []string{"go to the kitchen", "drive 1 m", "take the red cube to the kitchen", "how much battery is left?"} {
		f := &flat{at: map[string]string{"red cube": "table", "blue cube": "table", "green ball": "office"}}
		refusals, answers := 0, map[string]bool{}
		calls, last := askWith(t, armed(), task, func(n int, c model.Call) (bool, string) {
			if c.Tool != "finish" {
				return f.call(n, c)
			}
			answers[c.Arguments] = true
			refusals++
			return refusals > 3, "postcondition_failed: Not accepted: x. Go on with the task, or end with what can be shown to be true."
		})
		if last.Finish == model.FinishInfeasible || refusals != 4 || len(answers) != 1 {
			t.Errorf("%s: %d answers, %d different, last %s %q", task, refusals, len(answers), last.Finish, last.Text)
		}
		if moved := slices.ContainsFunc(calls[1:], func(c model.Call) bool { return c.Tool == "drive" }); moved {
			t.Errorf("%s: a relative motion is repeated", task)
		}
	}
}

func TestATurnIsToldAsItWasAskedFor(t *testing.T) {
	for task, want := range map[string]string{
		"turn left by 90 degrees": "Done: turned left by 90 degrees.", "turn right 45°": "Done: turned right by 45 degrees.",
		"turn around": "Done: turned left by 180 degrees.", "turn 1.5 rad": "Done: turned 1.5 rad.",
	} {
		calls, _ := ask(t, task, func(int, model.Call) (bool, string) { return true, "{}" })
		if last := calls[len(calls)-1]; !strings.Contains(last.Arguments, want) {
			t.Errorf("%s: %s", task, last.Arguments)
		}
	}
	calls, _ := ask(t, "what is your heading in degrees?", func(int, model.Call) (bool, string) {
		return true, `{"x":1,"y":2,"yaw":1.571,"yaw_deg":90.0}`
	})
	if last := calls[len(calls)-1]; !strings.Contains(last.Arguments, "yaw 90 degrees") {
		t.Errorf("%s", last.Arguments)
	}
}
