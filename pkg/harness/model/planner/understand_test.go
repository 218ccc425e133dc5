package planner

import (
	"encoding/json"
	"slices"
	"testing"

	"agent_node/pkg/harness/model"
)

func TestWhatATaskLeavesBehind(t *testing.T) {
	tools := driver()
	tools = append(tools,
		model.Tool{Name: "pick", Parameters: json.RawMessage(`{"properties":{"object":{"enum":["red cube","blue cube","green ball"]}}}`)},
		model.Tool{Name: "move_arm", Parameters: json.RawMessage(`{"properties":{"named":{"enum":["folded","home"]}}}`)},
		model.Tool{Name: "place"}, model.Tool{Name: "gripper"}, model.Tool{Name: "list_objects"}, model.Tool{Name: "holding"}, model.Tool{Name: "object_at"},
	)
	for _, c := range []struct {
		task            string
		criteria, moves []string
	}{
		{"go to the kitchen", []string{"at_place(kitchen)"}, nil},
		{"go to the kitchen, then go to the office", []string{"at_place(office)"}, nil},
		{"go to the kitchen, then wait 2 seconds", []string{"at_place(kitchen)"}, nil},
		{"go to the kitchen, then drive 1 m backward", nil, []string{"drive"}},
		{"drive 1 m, then go to the dock", []string{"at_place(dock)"}, []string{"drive"}},
		{"turn left by 90 degrees", nil, []string{"turn"}},
		{"wait 3 seconds", nil, nil},
		{"open the gripper", nil, []string{"gripper"}},
		{"pick up the red cube", []string{"holding(red cube)"}, nil},
		{"take the red cube to the kitchen", []string{"at_place(kitchen)", "object_at(red cube, kitchen)"}, nil},
		{"take the red cube to the kitchen, then go to the dock", []string{"at_place(dock)"}, nil},
		{"how much battery is left?", nil, nil},
		{"If the battery is above 20 percent, go to the kitchen.", nil, nil},
		{"please knit a jumper", nil, nil},
		{"", nil, nil},
	} {
		criteria, moves := Understand(c.task, tools)
		if !slices.Equal(criteria, c.criteria) || !slices.Equal(moves, c.moves) {
			t.Errorf("%q leaves %q, moves %q; want %q, %q", c.task, criteria, moves, c.criteria, c.moves)
		}
	}
	if criteria, _ := Understand("go to the kitchen", []model.Tool{tools[0]}); criteria != nil {
		t.Errorf("criteria without their verify tool: %q", criteria)
	}
}
