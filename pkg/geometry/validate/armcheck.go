package validate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/trajectory"
)

// joints judges a trajectory from the measured state to its end: its form, its limits at the points and between them, and everything that the arm and what it
// holds could touch on the way.
func (w *World) joints(c JointTrajectory) Report {
	if w == nil {
		w = &World{}
	}
	r := w.jointFindings(c)
	if len(r.Findings) > 0 {
		r.Nearest = w.slower(c, r)
	}
	return r.Report
}

// jointReport has what the proposal is made of.
type jointReport struct {
	Report
	excess trajectory.Excess
}

func (w *World) jointFindings(c JointTrajectory) (r jointReport) {
	a := w.Arm
	if err := a.Check(); err != nil {
		r.Findings = append(r.Findings, geometry.New(geometry.RuleLimits, "arm", -1, 0, 0, "", "no motion can be judged: "+err.Error()))
		return r
	}
	late, f := w.lateness(c.Stamp, nil)
	f = c.CheckForm(a.Joints, "trajectory", f)
	f = a.tolerances(c.PathTolerance, "path_tolerance", f)
	f = a.tolerances(c.GoalTolerance, "goal_tolerance", f)
	if r.Findings = f; len(f) > 0 {
		return r
	}
	start, f := w.jointStart(f)
	if r.Findings = f; len(f) > 0 {
		return r
	}
	t := a.inOrder(c.Trajectory)
	for i, j := range a.Joints {
		// A joint that turns for ever goes to its first point by the shorter way.
		start.Positions[i] = j.Near(start.Positions[i], t.Points[0].Positions[i])
	}
	curve, motions, f := a.curve(start, t, late, f)
	if curve == nil {
		r.Findings = f
		return r
	}
	f, r.excess = curve.CheckLimits(a.Joints, a.stepLag(), f)
	f, r.excess.Tip = a.tipFindings(curve, f)
	if !slices.ContainsFunc(f, func(f geometry.Finding) bool { return f.Rule == geometry.RulePositionLimit }) {
		f = a.contacts(motions, curve, f)
	}
	r.Findings = f
	return r
}

// lateness is by how much a stamped trajectory has begun already: the rest of it would be caught up with at once.
func (w *World) lateness(s Stamp, into []geometry.Finding) (time.Duration, []geometry.Finding) {
	const subject = "trajectory.header.stamp"
	n := len(into)
	if into = w.stamp(s, subject, into); len(into) > n || s.IsZero() {
		return 0, into
	}
	age, limit := time.Duration(w.Now-s.Ns()), w.Arm.startLate()
	if age > limit {
		into = append(into, geometry.New(geometry.RuleStamp, subject, -1, age.Seconds(), limit.Seconds(), "s",
			fmt.Sprintf("has begun %.3f s ago, limit %.3f s: what should have been done since would be done at once", age.Seconds(), limit.Seconds())))
	}
	return max(age, 0), into
}

func (a *Arm) tolerances(list []Tolerance, subject string, into []geometry.Finding) []geometry.Finding {
	for i, t := range list {
		if !slices.ContainsFunc(a.Joints, func(j limits.Joint) bool { return j.Name == t.Joint }) {
			into = append(into, geometry.New(geometry.RuleTolerance, subject, i, 0, 0, "", fmt.Sprintf("is for %q, which is no joint of the arm", t.Joint)))
		} else if slices.ContainsFunc(list[:i], func(o Tolerance) bool { return o.Joint == t.Joint }) {
			into = append(into, geometry.New(geometry.RuleTolerance, subject, i, 0, 0, "", fmt.Sprintf("names %q twice", t.Joint)))
		}
		for _, f := range [...]struct {
			name  string
			value float64
		}{{"position", t.Position}, {"velocity", t.Velocity}, {"acceleration", t.Acceleration}} {
			if !spatial.Finite(f.value) {
				into = append(into, geometry.NotFinite(subject+"."+f.name, i, f.value, ""))
			}
		}
	}
	return into
}

// jointStart is the measured state in the arm's order, if it can be reasoned from.
func (w *World) jointStart(into []geometry.Finding) (trajectory.Start, []geometry.Finding) {
	a, s := w.Arm, &w.Arm.State
	const subject = "joint state"
	n := len(into)
	if into = w.age(s.Stamp, subject, into); len(into) > n {
		return trajectory.Start{}, into
	}
	if len(s.Positions) != len(s.Names) || len(s.Velocities) != 0 && len(s.Velocities) != len(s.Names) {
		return trajectory.Start{}, append(into, geometry.New(geometry.RuleLength, subject, -1, float64(len(s.Positions)), float64(len(s.Names)), "",
			fmt.Sprintf("has %d positions and %d velocities for %d names", len(s.Positions), len(s.Velocities), len(s.Names))))
	}
	start := trajectory.Start{Positions: make([]float64, len(a.Joints)), Velocities: make([]float64, len(a.Joints))}
	for i, j := range a.Joints {
		k := slices.Index(s.Names, j.Name)
		if k < 0 {
			into = append(into, geometry.New(geometry.RuleStateAge, subject, -1, math.Inf(1), w.maxAge().Seconds(), "s", fmt.Sprintf("lacks %q", j.Name)))
			continue
		}
		start.Positions[i] = s.Positions[k]
		if len(s.Velocities) > 0 {
			start.Velocities[i] = s.Velocities[k]
		}
		switch {
		case !spatial.Finite(start.Positions[i]):
			into = append(into, geometry.NotFinite(subject+".position."+j.Name, -1, start.Positions[i], j.Unit()))
		case !spatial.Finite(start.Velocities[i]):
			into = append(into, geometry.NotFinite(subject+".velocity."+j.Name, -1, start.Velocities[i], j.Unit()+"/s"))
		case !j.Contains(start.Positions[i], a.limitTolerance()):
			q := start.Positions[i]
			limit := j.Upper
			if q < j.Lower {
				limit = j.Lower
			}
			into = append(into, geometry.New(geometry.RuleStartState, j.Name, -1, q, limit, j.Unit(),
				fmt.Sprintf("is measured at %s %s, farther beyond its limit %s %s than the tolerance %g %s",
					geometry.Digits(q, limit), j.Unit(), geometry.Digits(limit, q), j.Unit(), a.limitTolerance(), j.Unit())))
		}
	}
	return start, into
}

// inOrder is the trajectory with the joints in the arm's order.
func (a *Arm) inOrder(t trajectory.Trajectory) trajectory.Trajectory {
	out := trajectory.Trajectory{Joints: make([]string, len(a.Joints)), Points: make([]trajectory.Point, len(t.Points))}
	from := make([]int, len(a.Joints))
	for i, j := range a.Joints {
		out.Joints[i], from[i] = j.Name, slices.Index(t.Joints, j.Name)
	}
	sorted := func(list []float64) []float64 {
		if len(list) == 0 {
			return nil
		}
		s := make([]float64, len(from))
		for i, k := range from {
			s[i] = list[k]
		}
		return s
	}
	for i, p := range t.Points {
		out.Points[i] = trajectory.Point{
			Positions: sorted(p.Positions), Velocities: sorted(p.Velocities), Accelerations: sorted(p.Accelerations), Time: p.Time,
		}
	}
	return out
}

// curve is what the controller makes of it, and the motions that the arm goes through: first from where it is to where the curve begins, when these are not the same.
func (a *Arm) curve(start trajectory.Start, t trajectory.Trajectory, late time.Duration, into []geometry.Finding) (*trajectory.Curve, []collision.Motion, []geometry.Finding) {
	first := t.Points[0]
	if first.Time > late {
		start.Time = late
	}
	curve, err := trajectory.NewCurve(start, t)
	if err != nil { // the form has been judged: this is not to happen, and must not pass if it does
		return nil, nil, append(into, geometry.New(geometry.RuleLength, "trajectory", -1, 0, 0, "", err.Error()))
	}
	var motions []collision.Motion
	if first.Time <= late {
		begin := make([]float64, len(a.Joints))
		curve.At(late, begin, nil, nil)
		n := len(into)
		if into = a.startsThere(start.Positions, begin, first, into); len(into) > n {
			return nil, nil, into
		}
		motions = append(motions, collision.Line(start.Positions, begin))
	}
	for i := range curve.Segments() {
		motions = append(motions, curve.Segment(i))
	}
	return curve, motions, into
}

// startsThere compares where the curve begins with where the arm is.
func (a *Arm) startsThere(measured, begin []float64, first trajectory.Point, into []geometry.Finding) []geometry.Finding {
	worst, at := 0.0, -1
	for i := range begin {
		if d := math.Abs(begin[i] - measured[i]); !(d <= max(worst, a.startTolerance())) {
			worst, at = d, i
		}
	}
	if at >= 0 {
		j := a.Joints[at]
		return append(into, geometry.New(geometry.RuleStartState, j.Name, 0, worst, a.startTolerance(), j.Unit(),
			fmt.Sprintf("is to be at %s %s at once and is measured at %s %s: %s %s off, limit %g %s", geometry.Digits(begin[at], measured[at]), j.Unit(),
				geometry.Digits(measured[at], begin[at]), j.Unit(), geometry.Digits(worst, a.startTolerance()), j.Unit(), a.startTolerance(), j.Unit())))
	}
	for i, j := range a.Joints {
		// Where it is has a tolerance; so has a first point that repeats it.
		if q := first.Positions[i]; !j.Contains(q, a.limitTolerance()) {
			limit := j.Upper
			if q < j.Lower {
				limit = j.Lower
			}
			into = append(into, geometry.Over(geometry.RulePositionLimit, j.Name, 0, q, limit, j.Unit()))
		}
	}
	return into
}

// contacts is the first one on the way.
func (a *Arm) contacts(motions []collision.Motion, curve *trajectory.Curve, into []geometry.Finding) []geometry.Finding {
	hit, err := a.Scene.CheckMotion(motions...)
	if err != nil {
		return append(into, geometry.New(geometry.RuleRange, "trajectory", -1, 0, 0, "", "cannot be followed: "+err.Error()))
	}
	if hit == nil {
		return into
	}
	index, where := 0, ", at the start"
	if i := hit.Segment - (len(motions) - curve.Segments()); i >= 0 {
		s := curve.Segment(i)
		from, to := s.Times()
		index, where = s.Point(), fmt.Sprintf(", at %.3f s, before point %d", (from+time.Duration(hit.At*float64(to-from))).Seconds(), s.Point())
	}
	return append(into, contactFinding(hit.Contact, index, where))
}

func contactFinding(c collision.Contact, index int, where string) geometry.Finding {
	rule := geometry.RuleCollision
	switch {
	case c.Self:
		rule = geometry.RuleSelfCollision
	case strings.HasPrefix(c.B, keepOutPrefix):
		rule = geometry.RuleKeepOut
	case strings.HasPrefix(c.B, workspacePrefix):
		rule = geometry.RuleWorkspace
	}
	what := fmt.Sprintf("would be %.4f m apart, limit %.4f m", c.Distance, c.Margin)
	if c.Distance <= 0 {
		what = fmt.Sprintf("would touch, %.4f m deep", -c.Distance)
	}
	return geometry.New(rule, c.A+", "+c.B, index, c.Distance, c.Margin, "m", what+where)
}

// spare is kept by a proposal, relative: the measured state that it begins from has noise, and will be another one when it comes back.
const spare = 1.03

// slower offers the same motion at a lower speed where it is only too fast.
func (w *World) slower(c JointTrajectory, r jointReport) Command {
	for _, f := range r.Findings {
		switch f.Rule {
		case geometry.RuleVelocity, geometry.RuleAcceleration, geometry.RuleJerk, geometry.RuleTipSpeed:
		default:
			return nil
		}
	}
	factor := r.excess.Slowing() * spare
	for range 8 {
		near := c
		near.Trajectory = c.Slowed(factor)
		if near.Duration() > c.Duration() && len(w.jointFindings(near).Findings) == 0 {
			return near
		}
		factor *= 1.05 // rounded times, or a start that is in motion
	}
	return nil
}
