package validate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
)

// start is the measured state in the fixed frame.
type start struct {
	pose   spatial.Pose2
	height float64
	age    time.Duration
}

// locate judges whether a state can be reasoned from, and puts it into the fixed frame.
func (w *World) locate(s *State, into []geometry.Finding) (start, []geometry.Finding) {
	const subject = "state"
	n := len(into)
	if into = w.age(s.Stamp, subject, into); len(into) > n {
		return start{}, into
	}
	age := time.Duration(w.Now - s.Stamp)
	into = finitePose(s.Pose, "state.pose", -1, into)
	if !s.Twist.Finite() {
		into = append(into, geometry.New(geometry.RuleFinite, "state.twist", -1, math.NaN(), math.MaxFloat64, "m/s", "holds a number that is not finite"))
	}
	if len(into) > n {
		return start{}, into
	}
	q, _, err := spatial.CheckQuaternion(s.Pose.Orientation)
	if err != nil {
		return start{}, append(into, quaternionFinding(err, "state.pose.orientation", -1))
	}
	t, into := w.toFixed(s.Frame, s.Stamp, subject, into)
	if len(into) > n {
		return start{}, into
	}
	p := t.ApplyPose(spatial.Pose{Position: s.Pose.Position, Orientation: q})
	return start{pose: p.Planar(), height: p.Position.Z, age: max(age, 0)}, into
}

// age judges how old a measurement is.
func (w *World) age(stamp int64, subject string, into []geometry.Finding) []geometry.Finding {
	limit := w.maxAge()
	if stamp == 0 {
		return append(into, geometry.New(geometry.RuleStateAge, subject, -1, math.Inf(1), limit.Seconds(), "s", "was never measured"))
	}
	if age := time.Duration(w.Now - stamp); !(age <= limit && age >= -limit) {
		return append(into, geometry.New(geometry.RuleStateAge, subject, -1, age.Seconds(), limit.Seconds(), "s",
			fmt.Sprintf("is %.3f s old, limit %.3f s", age.Seconds(), limit.Seconds())))
	}
	return into
}

// finitePose appends a finding for each component of a pose that is not finite.
func finitePose(p spatial.Pose, subject string, index int, into []geometry.Finding) []geometry.Finding {
	if p.Finite() {
		return into
	}
	for _, c := range [...]struct {
		name  string
		value float64
		unit  string
	}{
		{"position.x", p.Position.X, "m"},
		{"position.y", p.Position.Y, "m"},
		{"position.z", p.Position.Z, "m"},
		{"orientation.x", p.Orientation.Imag, ""},
		{"orientation.y", p.Orientation.Jmag, ""},
		{"orientation.z", p.Orientation.Kmag, ""},
		{"orientation.w", p.Orientation.Real, ""},
	} {
		if !spatial.Finite(c.value) {
			into = append(into, geometry.NotFinite(subject+"."+c.name, index, c.value, c.unit))
		}
	}
	return into
}

func quaternionFinding(err error, subject string, index int) geometry.Finding {
	norm := math.NaN()
	var e *spatial.QuaternionError
	if errors.As(err, &e) {
		norm = e.Norm
	}
	return geometry.New(geometry.RuleQuaternion, subject, index, norm, spatial.NormTolerance, "",
		fmt.Sprintf("has norm %s, must be within %g of 1", geometry.Digits(norm, 1), spatial.NormTolerance))
}

// motionNeeds appends what is missing before any motion can be judged.
func (w *World) motionNeeds(into []geometry.Finding) []geometry.Finding {
	if rule, err := w.check(); err != nil {
		return append(into, geometry.New(rule, "world", -1, 0, 0, "", "no motion can be judged: "+err.Error()))
	}
	if w.NeedMap && w.Map == nil {
		into = append(into, geometry.New(geometry.RuleMap, "map", -1, 0, 0, "", "has not arrived: no motion can be judged"))
	}
	return into
}
