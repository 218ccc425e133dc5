package arm

import (
	"fmt"
	"math"

	"agent_node/sim/world"
)

// Tolerance is how far one joint may be off; 0 is no limit.
type Tolerance struct{ Position, Velocity float64 } // rad, rad/s

// Tolerances of a trajectory.
type Tolerances struct {
	Path, Goal [world.Joints]Tolerance
	// GoalTime is how much later than the last point the goal's tolerance may be reached, s; negative: any time.
	GoalTime float64
}

// Figures of the controller where a goal does not say otherwise.
const (
	pathTolerance = 0.20 // rad
	goalTolerance = 0.02 // rad
	goalVelocity  = 0.01 // rad/s
	goalTime      = 1.0  // s
)

// DefaultTolerances are those of a goal that names none.
func DefaultTolerances() Tolerances {
	t := Tolerances{GoalTime: goalTime}
	for j := range world.Joints {
		t.Path[j] = Tolerance{Position: pathTolerance}
		t.Goal[j] = Tolerance{Position: goalTolerance, Velocity: goalVelocity}
	}
	return t
}

// Set takes over what a goal says of a joint: each number is a limit where it is positive, the default where it is
// 0, no limit where it is negative.
func (t *Tolerance) Set(position, velocity float64) {
	for _, part := range []struct {
		to  *float64
		say float64
	}{{&t.Position, position}, {&t.Velocity, velocity}} {
		switch {
		case part.say > 0:
			*part.to = part.say
		case part.say < 0:
			*part.to = 0
		}
	}
}

// broken reports whether an error is beyond the tolerance; one that is no number is.
func (t Tolerance) broken(position, velocity float64) bool {
	far := t.Position > 0 && !(math.Abs(position) <= t.Position)
	fast := t.Velocity > 0 && !(math.Abs(velocity) <= t.Velocity)
	return far || fast
}

// String says what is allowed.
func (t Tolerance) String() string {
	say := func(v float64, unit string) string {
		if v == 0 {
			return "any " + unit
		}
		return fmt.Sprintf("%.3f %s", v, unit)
	}
	return "allowed are " + say(t.Position, "rad") + " and " + say(t.Velocity, "rad/s")
}
