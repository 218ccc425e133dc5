package limits

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
)

// Tip is what the tip of an arm may do; 0: that one is not limited.
type Tip struct {
	Linear  float64 // m/s
	Angular float64 // rad/s
}

// Check reports the first number that makes no sense.
func (t Tip) Check() error {
	return notNegative("tip", named{"linear", t.Linear}, named{"angular", t.Angular})
}

// Wrench is the most that may be asked for at the tip of an arm; 0: that one is not known, and nothing may be asked for.
type Wrench struct {
	Force  float64 // N
	Torque float64 // Nm
}

// Check reports the first number that makes no sense.
func (w Wrench) Check() error {
	return notNegative("wrench", named{"force", w.Force}, named{"torque", w.Torque})
}

type named struct {
	name  string
	value float64
}

func notNegative(of string, list ...named) error {
	for _, f := range list {
		if !(f.value >= 0 && spatial.Finite(f.value)) {
			return fmt.Errorf("%w: %s: %s is %g, must be finite and not negative", ErrConfig, of, f.name, f.value)
		}
	}
	return nil
}

// CheckWrench appends a finding for every component that is not finite, else for a force or a torque over its limit.
func (w Wrench) CheckWrench(x spatial.Wrench, subject string, into []geometry.Finding) []geometry.Finding {
	n := len(into)
	for _, c := range [...]struct {
		name  string
		value float64
		unit  string
	}{
		{".force.x", x.Force.X, "N"},
		{".force.y", x.Force.Y, "N"},
		{".force.z", x.Force.Z, "N"},
		{".torque.x", x.Torque.X, "Nm"},
		{".torque.y", x.Torque.Y, "Nm"},
		{".torque.z", x.Torque.Z, "Nm"},
	} {
		if !spatial.Finite(c.value) {
			into = append(into, geometry.NotFinite(subject+c.name, -1, c.value, c.unit))
		}
	}
	if len(into) > n {
		return into
	}
	if f := r3.Norm(x.Force); !(f <= w.Force) {
		into = append(into, geometry.Over(geometry.RuleForce, subject+".force", -1, f, w.Force, "N"))
	}
	if t := r3.Norm(x.Torque); !(t <= w.Torque) {
		into = append(into, geometry.Over(geometry.RuleTorque, subject+".torque", -1, t, w.Torque, "Nm"))
	}
	return into
}

// Clamp gives the wrench in the same directions within the limits; ok is false when a component is not finite.
func (w Wrench) Clamp(x spatial.Wrench) (clamped spatial.Wrench, ok bool) {
	if !x.Finite() {
		return spatial.Wrench{}, false
	}
	return spatial.Wrench{Force: shortened(x.Force, w.Force), Torque: shortened(x.Torque, w.Torque)}, true
}

func shortened(v r3.Vec, limit float64) r3.Vec {
	n := r3.Norm(v)
	if n <= limit {
		return v
	}
	for f := limit / n; ; f = math.Nextafter(f, 0) { // rounding may leave it a hair too long
		if s := r3.Scale(f, v); r3.Norm(s) <= limit {
			return s
		}
	}
}
