package limits

import (
	"fmt"
	"math"

	"agent_node/pkg/geometry/spatial"
)

// Joint is what one joint may do. Positions are in rad, of a prismatic joint in m.
type Joint struct {
	Name string
	// Lower and Upper bound the position. A continuous joint has neither: they are -Inf and +Inf.
	Lower, Upper float64
	Velocity     float64 // rad/s or m/s either way; 0: not known
	Acceleration float64 // rad/s^2 or m/s^2 either way; 0: not known (URDF has no place for it)
	Jerk         float64 // rad/s^3 or m/s^3 either way; 0: not limited
	Effort       float64 // Nm or N; 0: not known
	Continuous   bool    // turns for ever; q and q + 2 pi are the same place
	Prismatic    bool
}

// Check reports the first number that makes no sense.
func (j Joint) Check() error {
	if j.Name == "" {
		return fmt.Errorf("%w: a joint without a name", ErrConfig)
	}
	switch {
	case j.Continuous:
		if !math.IsInf(j.Lower, -1) || !math.IsInf(j.Upper, 1) {
			return fmt.Errorf("%w: continuous joint %q has bounds %g and %g, must have none (-Inf, +Inf)", ErrConfig, j.Name, j.Lower, j.Upper)
		}
	case !(spatial.Finite(j.Lower) && spatial.Finite(j.Upper) && j.Lower <= j.Upper):
		return fmt.Errorf("%w: joint %q: bounds %g and %g, must be finite and in order", ErrConfig, j.Name, j.Lower, j.Upper)
	}
	for _, f := range [...]struct {
		name  string
		value float64
	}{{"velocity", j.Velocity}, {"acceleration", j.Acceleration}, {"jerk", j.Jerk}, {"effort", j.Effort}} {
		if !(f.value >= 0 && spatial.Finite(f.value)) {
			return fmt.Errorf("%w: joint %q: %s is %g, must be finite and not negative", ErrConfig, j.Name, f.name, f.value)
		}
	}
	return nil
}

// Unit of the joint's position.
func (j Joint) Unit() string {
	if j.Prismatic {
		return "m"
	}
	return "rad"
}

// Contains reports whether q is a place the joint may be at, with a tolerance at either end; never for NaN.
func (j Joint) Contains(q, tolerance float64) bool {
	return q >= j.Lower-tolerance && q <= j.Upper+tolerance
}

// Near is q, of a continuous joint moved by whole turns to within half a turn of ref.
func (j Joint) Near(q, ref float64) float64 {
	if !j.Continuous {
		return q
	}
	return ref + math.Remainder(q-ref, 2*math.Pi)
}
