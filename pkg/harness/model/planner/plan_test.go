package planner

import (
	"encoding/json"
	"strings"
	"testing"

	"agent_node/pkg/harness/model"
)

// armed is the tool table of a robot with an arm.
func armed() []model.Tool {
	tools := append(driver(), model.Tool{Name: "pick", Parameters: json.RawMessage(`{"properties":{"object":{"enum":["red cube","blue cube","green ball"]}}}`)})
	for _, n := range []string{"place", "gripper", "list_objects", "holding", "object_at", "gripper_empty", "gripper_is", "get_joints"} {
		tools = append(tools, model.Tool{Name: n})
	}
	return append(tools, model.Tool{Name: "move_arm", Parameters: json.RawMessage(`{"properties":{"named":{"enum":["carry"]},"joints":{"type":"array","minItems":6,"maxItems":6}}}`)})
}

// handler is that, and propose_plan.
func handler() []model.Tool {
	return append(armed(), model.Tool{Name: model.ProposePlan, Class: "control"})
}

const objects = `{"list_objects":{"red cube":{"place":"office","seen":true},"blue cube":{"place":"kitchen","seen":false},"green ball":{"place":"","held":false}}}`

func proposalFor(t *testing.T, task string, more ...model.Message) model.Response {
	t.Helper()
	messages := append([]model.Message{
		{Role: model.RoleSystem, Content: "…"},
		{Role: model.RoleUser, Content: task},
		{Role: model.RoleUser, Content: model.HarnessPrefix + model.ReadingsPrefix + objects},
	}, more...)
	r, err := New().Sample(t.Context(), model.Request{Messages: messages, Tools: handler()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shown is a proposal in one line.
func shown(p proposal) string {
	var parts []string
	for _, s := range p.Steps {
		text := s.Tool + arguments(s.Arguments)
		if s.Tool == "" {
			text = "agent[" + s.Description + "]"
		}
		if len(s.Acceptance) > 0 {
			text += " -> " + strings.Join(s.Acceptance, ", ")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ") + " => " + strings.Join(p.Criteria, ", ")
}

func TestTasksBecomePlans(t *testing.T) {
	for task, want := range map[string]string{
		"go to the kitchen": `navigate_to{"place":"kitchen"} -> at_place(kitchen) => at_place(kitchen)`,
		"go to the kitchen, then drive half a metre back": `navigate_to{"place":"kitchen"} -> at_place(kitchen); drive{"distance_m":-0.5} => `,
		"take the red cube to the kitchen": `navigate_to{"place":"office"} -> at_place(office); pick{"object":"red cube"} -> holding(red cube); ` +
			`navigate_to{"place":"kitchen"} -> at_place(kitchen); place{"place":"kitchen"} -> object_at(red cube, kitchen) => object_at(red cube, kitchen), at_place(kitchen)`,
		"take the red cube to the kitchen and then take the red cube to the table": `navigate_to{"place":"office"} -> at_place(office); pick{"object":"red cube"} -> holding(red cube); ` +
			`navigate_to{"place":"kitchen"} -> at_place(kitchen); place{"place":"kitchen"} -> object_at(red cube, kitchen); ` +
			`navigate_to{"place":"kitchen"} -> at_place(kitchen); pick{"object":"red cube"} -> holding(red cube); ` +
			`navigate_to{"place":"table"} -> at_place(table); place{"place":"table"} -> object_at(red cube, table) => object_at(red cube, table), at_place(table)`,
		"pick up the blue cube": `navigate_to{"place":"kitchen"} -> at_place(kitchen); pick{"object":"blue cube"} -> holding(blue cube) => holding(blue cube), at_place(kitchen)`,
		"take the blue cube to the kitchen unless it is already there": `object_at{"object":"blue cube","place":"kitchen"} => object_at(blue cube, kitchen)`,
		"take the red cube from the office to the kitchen": `navigate_to{"place":"office"} -> at_place(office); pick{"object":"red cube"} -> holding(red cube); ` +
			`navigate_to{"place":"kitchen"} -> at_place(kitchen); place{"place":"kitchen"} -> object_at(red cube, kitchen) => object_at(red cube, kitchen), at_place(kitchen)`,
		"pick up the red cube, go to the kitchen, put it down there": `navigate_to{"place":"office"} -> at_place(office); pick{"object":"red cube"} -> holding(red cube); ` +
			`navigate_to{"place":"kitchen"} -> at_place(kitchen); navigate_to{"place":"kitchen"} -> at_place(kitchen); place{"place":"kitchen"} -> object_at(red cube, kitchen) => object_at(red cube, kitchen), at_place(kitchen)`,
		"if the red cube is in the office, go to the dock": `agent[If the red cube is at the office, go to the dock.] => `,
		"how full is the battery?":                         `get_battery{} => cel: size(get_battery()) > 0`,
		"are you at the kitchen?":                          `agent[Are you at the kitchen?] => `,
		"if the battery is below 20 percent go to the dock, otherwise turn left by 90 degrees": `agent[If the battery is below 20 percent, go to the dock; otherwise turn left by 1.570796327 rad.] => `,
		"go to the office and if the battery is above 50 percent go to the kitchen":            `navigate_to{"place":"office"} -> at_place(office); agent[If the battery is above 50 percent, go to the kitchen.] => `,
		"go to the kitchen and come back":                                                      `agent[go to the kitchen and come back] => `,
		"if your hand is empty, go to the dock":                                                `agent[If you hold nothing, go to the dock.] => `,
		"if you do not hold the ball, go to the dock":                                          `agent[If you do not hold the green ball, go to the dock.] => `,
		"if the gripper is not open, go to the dock":                                           `agent[If the gripper is not open, go to the dock.] => `,
		"take everything on the table to the kitchen":                                          `agent[take everything on the table to the kitchen] => `,
		"go to the office, then put down what you hold on the table":                           `agent[go to the office, then put down what you hold on the table] => `,
		"go to where the red cube is":                                                          `agent[go to where the red cube is] => `,
		"go to the dock if the battery is below 20 percent":                                    `agent[If the battery is below 20 percent, go to the dock.] => `,
		"if the battery is above 50 percent take the red cube to the kitchen":                  `agent[if the battery is above 50 percent take the red cube to the kitchen] => `,
	} {
		r := proposalFor(t, task)
		if len(r.Calls) != 1 || r.Calls[0].Tool != model.ProposePlan {
			t.Errorf("%q: %s %s", task, r.Finish, r.Text)
			continue
		}
		var p proposal
		if err := json.Unmarshal([]byte(r.Calls[0].Arguments), &p); err != nil {
			t.Fatal(err)
		}
		if got := shown(p); got != want {
			t.Errorf("%q is\n%s, want\n%s", task, got, want)
		}
		for i, s := range p.Steps {
			if i > 0 && (len(s.DependsOn) != 1 || s.DependsOn[0] != p.Steps[i-1].ID) {
				t.Errorf("%q: step %s depends on %v", task, s.ID, s.DependsOn)
			}
		}
	}
}

func TestWhatCannotBePlannedIsRefusedInWords(t *testing.T) {
	for task, want := range map[string]string{
		"take the green ball to the kitchen":              "do not know where the green ball is",
		"take the red cube from the table to the kitchen": "The red cube is not at the table, it is at the office",
		"sing a song":                  "",
		"take the cube to the kitchen": "Which cube",
	} {
		r := proposalFor(t, task)
		if r.Finish != model.FinishInfeasible || !strings.Contains(r.Text, want) {
			t.Errorf("%q: %s %q %v", task, r.Finish, r.Text, r.Calls)
		}
	}
}

func TestAPlanThatWasSentBackIsNotProposedAgain(t *testing.T) {
	first := proposalFor(t, "go to the kitchen")
	r := proposalFor(t, "go to the kitchen", model.Message{Role: model.RoleAssistant, Calls: first.Calls},
		model.Message{Role: model.RoleTool, CallID: first.Calls[0].ID, Tool: model.ProposePlan, Content: "invalid_arguments: it has too many steps"})
	if r.Finish != model.FinishInfeasible || !strings.Contains(r.Text, "too many steps") {
		t.Errorf("%s %q %v", r.Finish, r.Text, r.Calls)
	}
}
