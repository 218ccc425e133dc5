package arm

import (
	"fmt"
	"math"

	"agent_node/sim/world"
)

// Figures of the gripper's controller.
const (
	gripTolerance = 0.001 // m off the goal that is as good as there
	gripStill     = 0.001 // m/s, no motion
	gripPatience  = 0.3   // s without motion after which it has stalled
)

// Grip leads the gripper to one opening. It is not safe for concurrent use.
type Grip struct {
	position, effort float64
	still            float64 // s without motion
}

// GripState is how far it has come.
type GripState struct{ Reached, Stalled bool }

// Over reports whether there is nothing left to wait for.
func (s GripState) Over() bool { return s.Reached || s.Stalled }

// NewGrip makes one for a goal: an opening in m, which the fingers' stops limit, and the effort in N to press with; 0, or more
// than the gripper has, is all that it has. Numbers that are not finite, and a negative effort, are an [Error].
func NewGrip(g world.Gripper, position, effort float64) (*Grip, error) {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	if !finite(position) || !finite(effort) || effort < 0 {
		return nil, failure(InvalidGoal, "no gripper opens %v m with %v N", position, effort)
	}
	if effort == 0 {
		effort = g.Effort
	}
	return &Grip{position: position, effort: min(effort, g.Effort)}, nil
}

// Target is the opening asked for, m.
func (g *Grip) Target() float64 { return g.position }

// Effort is what it presses with, N.
func (g *Grip) Effort() float64 { return g.effort }

// Step judges, after dt seconds, by what was measured; time in which the gripper was not allowed to move does not count.
func (g *Grip) Step(width, velocity, scaling, dt float64) GripState {
	if math.Abs(velocity) > gripStill || scaling == 0 {
		g.still = 0
		return GripState{}
	}
	g.still += dt
	reached := math.Abs(g.position-width) <= gripTolerance
	return GripState{Reached: reached, Stalled: !reached && g.still >= gripPatience}
}

// String says what was asked for.
func (g *Grip) String() string { return fmt.Sprintf("%.3f m with %.0f N", g.position, g.effort) }
