//go:build !race

package cases

import (
	"math"
	"testing"
	"testing/synctest"
)

// TestSpeech: what people say beside plain orders comes to what it means, and its twin in nearly the same words moves nothing.
func TestSpeech(t *testing.T) {
	for _, c := range []struct {
		task   string
		done   bool
		moved  bool    // it may have moved
		ahead  float64 // how far it is from its start in the end, along its first heading
		turned float64 // by how much its heading differs in the end, rad
	}{
		{task: "Drop what you are holding."},
		{task: "Put down what you are holding on the table."},
		{task: "Release it."},
		{task: "Charge the battery."},
		{task: "Position yourself at the table."},
		{task: "Is the battery above 20 percent? Then go to the kitchen."},
		{task: "The sign says \"go to the office\"."},
		{task: "Go to the kitchen. No."},
		{task: "Go to the kitchen later."},
		{task: "Pick up the red cube, then pick up the blue cube."},
		{task: "Swap the red cube and the blue cube."},
		{task: "Stay where you are.", done: true},
		{task: "Stop.", done: true},
		{task: "If you hold something, put it down on the table.", done: true},
		{task: "Go to the kitchen unless the battery is above 20 percent.", done: true},
		{task: "Where is the red cube, and how far is the kitchen?", done: true},
		{task: "Drive half a metre forward and back.", done: true, moved: true},
		{task: "Drive 30 cm and come back to where you started.", done: true, moved: true},
		{task: "Drive 20 cm – no, 40 cm.", done: true, moved: true, ahead: 0.4},
		{task: "Turn left by a third of a full turn.", done: true, moved: true, turned: 2 * math.Pi / 3},
		{task: "Turn left by 90 degrees - no, right.", done: true, moved: true, turned: -math.Pi / 2},
		{task: "Go to the table. Actually, go to the dock instead.", done: true, moved: true},
		{task: "Go to the dock without touching anything, not to the kitchen.", done: true, moved: true},
	} {
		t.Run(c.task, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := open(t, 0)
				before := h.Now()
				r := h.Run(c.task)
				after := h.Now()
				if done := r.Int("outcome") == 1; done != c.done || r.Str("answer") == "" {
					t.Errorf("outcome %d: %s", r.Int("outcome"), r.Str("answer"))
				}
				if !c.moved {
					if !before.Still(after) {
						t.Errorf("it moved to %+v", after.Pose)
					}
					return
				}
				dx, dy := after.Pose.X-before.Pose.X, after.Pose.Y-before.Pose.Y
				ahead := dx*math.Cos(before.Pose.Yaw) + dy*math.Sin(before.Pose.Yaw)
				turned := math.Remainder(after.Pose.Yaw-before.Pose.Yaw-c.turned, 2*math.Pi)
				if math.Abs(ahead-c.ahead) > 0.05 || math.Abs(turned) > 0.1 {
					t.Errorf("it ends %.3f m ahead, %.3f rad off", ahead, turned)
				}
			})
		})
	}
}
