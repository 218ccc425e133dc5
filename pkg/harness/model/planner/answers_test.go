package planner

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"agent_node/pkg/harness/model"
)

// calls of a program, with those of its branches.
func callsOf(p program) []call {
	var out []call
	for _, i := range p {
		switch x := i.(type) {
		case call:
			out = append(out, x)
		case branch:
			out = append(out, callsOf(x.then)...)
			out = append(out, callsOf(x.els)...)
		}
	}
	return out
}

// A stage that an agent gets is told its calls in words: read again, they are the same calls.
func TestASentenceMeansItsCall(t *testing.T) {
	w, seen, tools := know(armed()), map[string]bool{}, map[string]int{}
	for _, wordings := range [][]byte{driving, errandWordings} {
		for sc := bufio.NewScanner(bytes.NewReader(wordings)); sc.Scan(); {
			var c struct{ Task string }
			if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			p, err := parse(c.Task, w)
			if err != nil {
				continue
			}
			for _, x := range callsOf(p) {
				text := sentence(x)
				if seen[text] {
					continue
				}
				seen[text] = true
				tools[x.tool]++
				if again, err := parse(text, w); err != nil || again.String() != (program{x}).String() {
					t.Errorf("%s is %q, which is %s, %v", program{x}, text, again, err)
				}
			}
		}
	}
	for _, name := range []string{"navigate_to", "drive", "turn", "wait", "gripper", "move_arm"} {
		if tools[name] == 0 {
			t.Errorf("no call of %s", name)
		}
	}
}

// A question is answered with what was observed, and an observation of another form is shown as it is.
func TestAnswersSayWhatWasObserved(t *testing.T) {
	const objects = `{"red cube":{"place":"table","seen":true,"in_view":true},"blue cube":{"place":"","held":true,"seen":true},"green ball":{"place":"office"}}`
	for _, x := range []struct{ task, observed, says string }{
		{"how far is the nearest obstacle?", `{"nearest_m":0.4,"ahead_m":2.5}`, "The nearest obstacle is 0.4 m away; straight ahead there are 2.5 m."},
		{"how far is the nearest obstacle?", `{"nearest_m":"none"}`, "The clearance reads {"},
		{"which places do you know?", `{"kitchen":{},"dock":{}}`, "The places that I know: dock"},
		{"which places do you know?", `[]`, "The places read []."},
		{"what objects do you know?", objects, "The objects that I know: blue cube, green ball (office) and red cube (table)."},
		{"what objects do you know?", `{}`, "I know no objects."},
		{"what objects do you know?", `none`, "The objects read none."},
		{"what is on the table?", objects, "At the table: red cube."},
		{"what is in the kitchen?", objects, "Nothing that I know of is at the kitchen."},
		{"what are you holding?", objects, "I hold the blue cube."},
		{"what are you holding?", `{"red cube":{"place":"table"}}`, "I hold nothing."},
		{"where is the green ball?", objects, "I have not seen the green ball; by my record it is at the office."},
		{"where is the red cube?", objects, "The red cube is at the table."},
		{"where is the red cube?", `{}`, "I do not know where the red cube is."},
		{"where is the red cube?", `?`, "The objects read ?."},
		{"is the red cube on the table?", objects, "Yes. The red cube is at the table."},
		{"is the red cube in the kitchen?", objects, "No. The red cube is at the table."},
		{"do you hold the red cube?", objects, "No, I do not hold it. The red cube is at the table."},
		{"do you hold the blue cube?", objects, "Yes, I hold the blue cube."},
		{"are you in the kitchen?", `{"passed":true}`, "Yes, I am at the kitchen."},
		{"are you in the kitchen?", `false`, "No, I am not at the kitchen."},
		{"are you in the kitchen?", `perhaps`, "Whether I am at the kitchen cannot be told."},
		{"where is the kitchen?", `{"kitchen":{"x":1.4,"y":1.5,"yaw":1.5708}}`, "The kitchen is at x 1.4 m, y 1.5 m, yaw 1.5708 rad in the map."},
		{"where is the kitchen?", `{}`, "Where the kitchen is cannot be told."},
		{"how far is the kitchen?", `{"passed":false,"evidence":{"distance_m":4.243}}`, "The kitchen is 4.243 m away, in a straight line."},
		{"how far is the kitchen?", `{"passed":false}`, "How far the kitchen is cannot be told."},
		{"is the gripper open?", `{"passed":true}`, "Yes, the gripper is open."},
		{"is the gripper closed?", `{"passed":false}`, "No, the gripper is not closed."},
		{"is the gripper closed?", `perhaps`, "Whether the gripper is closed cannot be told."},
		{"what are the joint angles?", `{"arm":[0,-1.85],"pose":"carry","gripper_m":0.08}`, "The arm's joints are at 0 and -1.85 rad (its pose carry), and the gripper is open by 0.08 m."},
		{"what are the joint angles?", `none`, "The joints read none."},
		{"do you see the red cube?", objects, "Yes, I see it. The red cube is at the table."},
		{"do you see the green ball?", objects, "I do not see it now."},
		{"stay where you are", `{"x":1.25,"y":-2,"yaw":0.5}`, "I stay where I am. I am at x 1.25 m, y -2 m, yaw 0.5 rad in the map."},
		{"where are you?", `{"x":1.25,"y":-2,"yaw":0.5}`, "I am at x 1.25 m, y -2 m, yaw 0.5 rad in the map."},
	} {
		calls, _ := askWith(t, armed(), x.task, func(_ int, c model.Call) (bool, string) {
			if c.Tool == "finish" {
				return true, "accepted"
			}
			return true, x.observed
		})
		if len(calls) == 0 {
			t.Errorf("%q is not understood", x.task)
			continue
		}
		var said struct{ Answer string }
		if err := json.Unmarshal([]byte(calls[len(calls)-1].Arguments), &said); err != nil || !strings.Contains(said.Answer, x.says) {
			t.Errorf("%q with %s: %q, want %q", x.task, x.observed, said.Answer, x.says)
		}
	}
}
