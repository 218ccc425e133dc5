package validate

import (
	"fmt"
	"math"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
)

// graceDistance is the way from the start, in metres, on which a slight breach at the start is borne with.
const graceDistance = 0.5

// path judges a planned path: each pose, the whole way between them from the measured pose on, its schedule where it has one.
func (w *World) path(p Path) Report {
	var r Report
	r.Findings = w.stamp(p.Stamp, "path.header.stamp", w.motionNeeds(nil))
	if len(p.Poses) == 0 {
		r.Findings = append(r.Findings, geometry.New(geometry.RuleEmpty, "path.poses", -1, 0, 1, "", "is empty: there is no path"))
	}
	if p.Times != nil && len(p.Times) != len(p.Poses) {
		r.Findings = append(r.Findings, geometry.New(geometry.RuleLength, "path.times", -1, float64(len(p.Times)), float64(len(p.Poses)), "",
			fmt.Sprintf("has %d entries for %d poses", len(p.Times), len(p.Poses))))
	}
	if len(r.Findings) > 0 {
		return r
	}
	t, into := w.toFixed(p.Frame, p.Stamp.Ns(), "path.header.frame_id", r.Findings)
	if r.Findings = into; len(into) > 0 {
		return r
	}
	poses := make([]spatial.Pose2, len(p.Poses))
	height := 0.0
	for i, pose := range p.Poses {
		anyHeading := p.AlongPath && i < len(p.Poses)-1
		fixed, ok := w.posture(pose, t, "path.poses", i, anyHeading, &r)
		if ok {
			poses[i], height = fixed.Planar(), fixed.Position.Z
		}
	}
	if p.Goal != nil {
		if goal, ok := w.posture(*p.Goal, t, "path.goal", -1, false, &r); ok && len(r.Findings) == 0 {
			end := poses[len(poses)-1]
			if d := math.Hypot(goal.Position.X-end.X, goal.Position.Y-end.Y); !(d <= w.pathGoal()) {
				r.Findings = append(r.Findings, geometry.New(geometry.RuleGoal, "path.poses", len(poses)-1, d, w.pathGoal(), "m",
					fmt.Sprintf("ends %.3f m from its goal, limit %.3f m", d, w.pathGoal())))
			}
		}
	}
	if len(r.Findings) > 0 {
		return r
	}
	r.Findings = w.schedule(p, poses, r.Findings)
	st, into := w.locate(&w.State, r.Findings)
	if len(into) > len(r.Findings) {
		r.Findings = into
		return r
	}
	if d := math.Hypot(st.pose.X-poses[0].X, st.pose.Y-poses[0].Y); !(d <= w.pathStart()) {
		r.Findings = append(r.Findings, geometry.New(geometry.RuleStartState, "path.poses", 0, d, w.pathStart(), "m",
			fmt.Sprintf("begins %.3f m from the measured pose %s, limit %.3f m", d, text(st.pose), w.pathStart())))
		return r
	}
	c := course{legs: pathLegs(st.pose, poses, p.AlongPath), grace: graceDistance}
	n := len(r.Findings)
	if r.Findings, _ = w.judge(st, &c, r.Findings); len(r.Findings) == n {
		// On a short path the start's tolerance may reach to the end, and must not.
		r.Findings = w.standing(poses[len(poses)-1], height, len(poses)-1, "the path's end", r.Findings)
	}
	return r
}

// pathLegs joins the poses. With headings along the path, the base turns in place at each corner and at the end.
func pathLegs(from spatial.Pose2, poses []spatial.Pose2, along bool) []leg {
	legs := make([]leg, 0, 2*len(poses)+1)
	for i, to := range poses {
		if along {
			// The base merges with the path: it need not turn towards its first pose, which is at its feet.
			if d := math.Hypot(to.X-from.X, to.Y-from.Y); i > 0 && d > 1e-6 {
				heading := math.Atan2(to.Y-from.Y, to.X-from.X)
				legs = append(legs, leg{spatial.Rotation(from, spatial.WrapAngle(heading-from.Yaw)), i})
				from.Yaw = heading
			}
			last := i == len(poses)-1
			yaw := to.Yaw
			to.Yaw = from.Yaw
			legs = append(legs, leg{spatial.Line(from, to), i})
			if last {
				legs = append(legs, leg{spatial.Rotation(to, spatial.WrapAngle(yaw-to.Yaw)), i})
			}
			from = to
			continue
		}
		legs = append(legs, leg{spatial.Line(from, to), i})
		from = to
	}
	return legs
}

// schedule judges times and the speeds that they ask for.
func (w *World) schedule(p Path, poses []spatial.Pose2, into []geometry.Finding) []geometry.Finding {
	for i := range p.Times {
		if i == 0 {
			if p.Times[0] < 0 {
				into = append(into, geometry.Over(geometry.RuleTimeOrder, "path.times", 0, p.Times[0].Seconds(), 0, "s"))
			}
			continue
		}
		dt := (p.Times[i] - p.Times[i-1]).Seconds()
		if !(dt > 0) {
			into = append(into, geometry.New(geometry.RuleTimeOrder, "path.times", i, dt, 0, "s", fmt.Sprintf("is %g s after the one before, must be over 0", dt)))
			continue
		}
		m := spatial.Line(poses[i-1], poses[i])
		if v, limit := length(m)/dt, max(w.Limits.Forward, w.Limits.Backward, w.Limits.Lateral); !(v <= limit) {
			into = append(into, geometry.Over(geometry.RuleLinearVelocity, "path.times", i, v, limit, "m/s"))
		}
		if v := math.Abs(m.Turn) / dt; !p.AlongPath && !(v <= w.Limits.Angular) {
			into = append(into, geometry.Over(geometry.RuleAngularVelocity, "path.times", i, v, w.Limits.Angular, "rad/s"))
		}
	}
	return into
}
