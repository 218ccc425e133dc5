//go:build !race

package manipulate

import (
	"strings"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/test/house"
)

// talk is one thing that is asked of the robot, in a row of several.
type talk struct {
	set  map[string]any // what changes before
	task string
	ends string   // reason code; "" is accepted
	says []string // words of the answer
	not  string   // words that are not in it
}

// TestQuestionsBeforeAndAfter: the answers follow the world, and say what they are known by.
func TestQuestionsBeforeAndAfter(t *testing.T) {
	for name, talks := range map[string][]talk{
		"where an object is": {
			{task: "where is the red cube?", says: []string{"I have not seen the red cube; by my record it is at the table."}},
			{task: "is the red cube on the table?", says: []string{"I have not seen the red cube; by my record it is at the table."}},
			{task: "go to the table"},
			{task: "is the red cube on the table?", says: []string{"Yes. The red cube is at the table."}},
			{task: errand, says: []string{"brought the red cube to the kitchen"}},
			{task: "where is the red cube?", says: []string{"The red cube is at the kitchen."}},
			{task: "is the red cube on the table?", says: []string{"No. The red cube is at the kitchen."}},
			{task: "what is on the table?", says: []string{"blue cube"}, not: "red cube"},
			{set: map[string]any{"sim.object.red_cube": []float64{-3.5, 1.6}}, task: "go to the dock"},
			{task: "is the red cube in the kitchen?", says: []string{"was at the kitchen when I saw it last"}},
			{task: "go to the office"},
			{task: "is the red cube in the kitchen?", says: []string{"No. The red cube is at the office."}},
		},
		"what is in the hand": {
			{task: "what do you have in your hand?", says: []string{"I hold nothing."}},
			{task: "pick up the green ball", says: []string{"picked up the green ball"}},
			{task: "what do you have in your hand?", says: []string{"green ball"}},
			{task: "are you holding the red cube?", says: []string{"No, I do not hold it."}},
			{task: "put the green ball down at the table", says: []string{"green ball"}},
			{task: "what do you have in your hand?", says: []string{"I hold nothing."}},
			{task: "what is on the table?", says: []string{"blue cube", "green ball", "red cube"}},
		},
		"how much charge there is": {
			{task: "is the battery above 50 percent?", says: []string{"Yes"}},
			{set: map[string]any{"sim.charge": 12.0}, task: "is the battery above 50 percent?", says: []string{"No"}},
			{task: "how much battery is left?", says: []string{"1"}},
		},
		"which way it faces": {
			{task: "what is your heading in degrees?", says: []string{"degrees"}},
			{task: "turn left by 90 degrees", says: []string{"turned left by 90 degrees"}},
			{task: "are you at the dock?", says: []string{"Yes"}},
			{task: "are you in the kitchen?", says: []string{"No"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, house.Options{Seed: 3}, func(t *testing.T, h *house.House) {
				for _, c := range talks {
					for name, v := range c.set {
						h.Set(name, v)
						time.Sleep(6 * time.Second) // the battery is told once in a while
					}
					r := h.Run(c.task)
					answer := r.Str("answer")
					t.Logf("%s: %s", c.task, answer)
					if want := c.ends; want == "" && r.Str("reason_code") != "accepted" || want != "" && r.Str("reason_code") != want {
						t.Errorf("%s ends as %s: %s", c.task, r.Str("reason_code"), answer)
					}
					for _, words := range c.says {
						if !strings.Contains(answer, words) {
							t.Errorf("%s: %q, wanted %q", c.task, answer, words)
						}
					}
					if c.not != "" && strings.Contains(answer, c.not) {
						t.Errorf("%s: %q, not wanted %q", c.task, answer, c.not)
					}
				}
			})
		})
	}
}

// TestConditionsAndNegations decide by the world as it is, and what is forbidden does not happen.
func TestConditionsAndNegations(t *testing.T) {
	charge := func(percent float64) map[string]any {
		// away from the dock, so that going there can be seen
		return map[string]any{"sim.charge": percent, "sim.teleport": []float64{2.25, -1.6, 0}}
	}
	const first = "if the battery is below 20 percent go to the dock first, then take the red cube to the kitchen"
	for name, c := range map[string]struct {
		start map[string]any
		task  string
		ends  string // "" is accepted
		says  string
		truth func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation)
	}{
		"low: to the dock first": {start: charge(12), task: first, truth: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
			done(t, h, r, before)
			if !visited(h, "dock") {
				t.Error("it was never at the dock")
			}
		}},
		"full: at once": {start: charge(80), task: first, truth: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
			done(t, h, r, before)
			if visited(h, "dock") {
				t.Error("it was at the dock")
			}
		}},
		"low: only to the dock": {start: charge(12), task: "if the battery is below 20 percent go to the dock; otherwise take the red cube to the kitchen", truth: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
			untouched(t, before, after, "red cube", "blue cube", "green ball")
			if !house.At(after.Pose, "dock", 0.25) {
				t.Errorf("it is at %+v", after.Pose)
			}
		}},
		"unless: not": {start: charge(12), task: "unless the battery is below 20 percent, take the red cube to the kitchen", truth: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
			nothingSent(t, h, r, before, after)
		}},
		"by where an object is": {task: "if the green ball is in the office, take it to the dock, otherwise go to the kitchen", truth: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
			if at := after.PlaceOf("green ball"); at != "dock" {
				t.Errorf("the ball is at %q", at)
			}
		}},
		"not to touch": {task: "take the green ball to the kitchen, but do not touch the red cube", truth: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
			untouched(t, before, after, "red cube", "blue cube")
			if at := after.PlaceOf("green ball"); at != "kitchen" {
				t.Errorf("the ball is at %q", at)
			}
		}},
		"not to go there, where the object is": {
			start: map[string]any{"sim.object.red_cube": []float64{-3.5, 1.4}}, task: errand + ", but do not go to the office",
			ends: "infeasible", says: "dock, kitchen and table",
			truth: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
				untouched(t, before, after, "red cube", "blue cube", "green ball")
				if visited(h, "office") {
					t.Error("it was in the office")
				}
			},
		},
		"not through a room":      {task: "take the red cube to the kitchen, but do not go through the office", ends: "infeasible", says: "the navigator plans it", truth: nothingSent},
		"asked for and forbidden": {task: "take the red cube to the kitchen, but do not go to the kitchen", ends: "infeasible", says: "asks for the kitchen and forbids it", truth: nothingSent},
		"nothing to do":           {task: "do not take the red cube to the kitchen", ends: "infeasible", says: "nothing to do", truth: nothingSent},
		"slowly":                  {task: "take the red cube slowly to the kitchen", ends: "infeasible", says: "How fast or how hard I move", truth: nothingSent},
		"at a speed":              {task: "go to the kitchen at 0.2 m/s", ends: "infeasible", says: "How fast or how hard I move", truth: nothingSent},
		"a number out of bounds":  {task: "drive 1e308 m", ends: "infeasible", says: "rule range", truth: nothingSent},
		"no number":               {task: "drive NaN metres", ends: "infeasible", says: `"nan" is no number`, truth: nothingSent},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, house.Options{Seed: 3, Robot: c.start}, func(t *testing.T, h *house.House) {
				before := h.Now()
				r := h.Run(c.task)
				after := h.Now()
				t.Logf("%s: %s", r.Str("reason_code"), r.Str("answer"))
				want := c.ends
				if want == "" {
					want = "accepted"
				}
				if r.Str("reason_code") != want || !strings.Contains(r.Str("answer"), c.says) {
					t.Errorf("it ends as %s: %q; wanted %s with %q", r.Str("reason_code"), r.Str("answer"), want, c.says)
				}
				c.truth(t, h, r, before, after)
				bumped(t, h)
			})
		})
	}
}
