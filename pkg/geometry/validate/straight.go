package validate

import (
	"math"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
)

// scalar judges one number of a command against a limit of its size; limit 0 means the range of coordinates.
func scalar(subject string, v, limit float64, unit string, into []geometry.Finding) []geometry.Finding {
	if !spatial.Finite(v) {
		return append(into, geometry.NotFinite(subject, -1, v, unit))
	}
	if limit == 0 {
		limit = spatial.MaxExtent
	}
	if !(math.Abs(v) <= limit) {
		return append(into, geometry.Over(geometry.RuleRange, subject, -1, v, math.Copysign(limit, v), unit))
	}
	return into
}

func rate(rule string, v, limit float64, unit string, into []geometry.Finding) []geometry.Finding {
	switch {
	case !spatial.Finite(v):
		return append(into, geometry.NotFinite("speed", -1, v, unit))
	case v < 0:
		return append(into, geometry.New(geometry.RuleRange, "speed", -1, v, 0, unit, "is negative: the sign belongs to the distance or angle"))
	case !(v <= limit):
		return append(into, geometry.Over(rule, "speed", -1, v, limit, unit))
	}
	return into
}

// drive judges a straight drive from the measured pose.
func (w *World) drive(d Drive) Report {
	r := Report{Findings: w.motionNeeds(nil)}
	if len(r.Findings) > 0 {
		return r
	}
	limit := w.Limits.Forward
	if d.Distance < 0 {
		limit = w.Limits.Backward
	}
	r.Findings = scalar("distance", d.Distance, w.Limits.MaxDistance, "m", r.Findings)
	r.Findings = rate(geometry.RuleLinearVelocity, d.Speed, limit, "m/s", r.Findings)
	switch {
	case len(r.Findings) == 0 && d.Distance < 0 && limit == 0:
		r.Findings = append(r.Findings, geometry.New(geometry.RuleLinearVelocity, "distance", -1, d.Distance, 0, "m", "is negative: the base does not drive backwards"))
		return r
	case tooFast(r.Findings):
		r.Nearest = valid(w, Drive{Distance: d.Distance, Speed: limit})
		return r
	case len(r.Findings) > 0:
		return r // nobody knows what was meant by a distance like that
	case d.Distance == 0:
		return r
	}
	var reach float64
	r.Findings, reach = w.straight("m", math.Abs(d.Distance), func(from spatial.Pose2) spatial.Motion {
		s, c := math.Sincos(from.Yaw)
		return spatial.Motion{From: from, Shift: r2.Vec{X: d.Distance * c, Y: d.Distance * s}}
	})
	if near := shortened(d.Distance, reach); len(r.Findings) > 0 && near != 0 {
		r.Nearest = valid(w, Drive{Distance: near, Speed: d.Speed})
	}
	return r
}

// turn judges a turn in place at the measured pose.
func (w *World) turn(t Turn) Report {
	r := Report{Findings: w.motionNeeds(nil)}
	if len(r.Findings) > 0 {
		return r
	}
	r.Findings = scalar("angle", t.Angle, w.Limits.MaxAngle, "rad", r.Findings)
	r.Findings = rate(geometry.RuleAngularVelocity, t.Speed, w.Limits.Angular, "rad/s", r.Findings)
	switch {
	case tooFast(r.Findings):
		r.Nearest = valid(w, Turn{Angle: t.Angle, Speed: w.Limits.Angular})
		return r
	case len(r.Findings) > 0:
		return r
	case t.Angle == 0:
		return r
	}
	var reach float64
	r.Findings, reach = w.straight("rad", math.Abs(t.Angle), func(from spatial.Pose2) spatial.Motion { return spatial.Rotation(from, t.Angle) })
	if near := shortened(t.Angle, reach); len(r.Findings) > 0 && near != 0 {
		r.Nearest = valid(w, Turn{Angle: near, Speed: t.Speed})
	}
	return r
}

// tooFast: the speed is over a limit that is not 0, and nothing else is wrong.
func tooFast(f []geometry.Finding) bool {
	return len(f) == 1 && (f[0].Rule == geometry.RuleLinearVelocity || f[0].Rule == geometry.RuleAngularVelocity) && f[0].Limit != 0
}

// valid is the command if it is one, or what is offered in its place.
func valid(w *World, c Command) Command {
	if r := Validate(c, w); !r.Valid() {
		return r.Nearest
	}
	return c
}

// straight judges one motion from the measured pose; reach is the share of it that is free.
func (w *World) straight(unit string, total float64, motion func(from spatial.Pose2) spatial.Motion) (f []geometry.Finding, reach float64) {
	st, f := w.locate(&w.State, nil)
	if len(f) > 0 {
		return f, 0
	}
	c := course{legs: []leg{{motion(st.pose), -1}}, grace: math.Inf(1), asked: unit, total: total}
	return w.judge(st, &c, f)
}

// reserve is kept, in metres or radians, when less is proposed than was asked: a base overshoots a little.
const reserve = 0.05

// shortened is the part of v that is free, less the reserve, in whole hundredths; 0 when nothing worth proposing is left.
func shortened(v, reach float64) float64 {
	// A sweep stops up to a millimetre early.
	free := math.Floor((math.Abs(v)*reach-reserve+1e-3)*100) / 100
	if !(free >= 0.02) {
		return 0
	}
	return math.Copysign(free, v)
}
