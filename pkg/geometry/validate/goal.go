package validate

import (
	"fmt"
	"math"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
)

// posture judges a pose by itself and puts it into the fixed frame. Findings name its fields under subject.
func (w *World) posture(p spatial.Pose, t spatial.Transform, subject string, index int, anyHeading bool, r *Report) (spatial.Pose, bool) {
	n := len(r.Findings)
	if anyHeading {
		p.Orientation = spatial.FromYaw(0)
	}
	r.Findings = finitePose(p, subject, index, r.Findings)
	if len(r.Findings) > n {
		return p, false
	}
	for _, c := range [...]struct {
		name  string
		value float64
	}{{"x", p.Position.X}, {"y", p.Position.Y}, {"z", p.Position.Z}} {
		if !(math.Abs(c.value) <= spatial.MaxExtent) {
			r.Findings = append(r.Findings, geometry.Over(geometry.RuleRange, subject+".position."+c.name, index, c.value, math.Copysign(spatial.MaxExtent, c.value), "m"))
		}
	}
	q, changed, err := spatial.CheckQuaternion(p.Orientation)
	if err != nil {
		r.Findings = append(r.Findings, quaternionFinding(err, subject+".orientation", index))
	}
	if len(r.Findings) > n {
		return p, false
	}
	if changed {
		r.Notes = append(r.Notes, Note{
			Subject: subject + ".orientation",
			Message: fmt.Sprintf("norm %s, read as the unit quaternion (x %.9g, y %.9g, z %.9g, w %.9g)",
				geometry.Digits(spatial.Norm(p.Orientation), 1), q.Imag, q.Jmag, q.Kmag, q.Real),
		})
	}
	p = t.ApplyPose(spatial.Pose{Position: p.Position, Orientation: q})
	if tilt := spatial.Tilt(p.Orientation); !(tilt <= w.maxTilt()) {
		r.Findings = append(r.Findings, geometry.Over(geometry.RuleRollPitch, subject+".orientation", index, tilt, w.maxTilt(), "rad"))
	}
	if z := p.Position.Z; !(math.Abs(z) <= w.maxHeight()) {
		r.Findings = append(r.Findings, geometry.Over(geometry.RulePositionZ, subject+".position.z", index, z, math.Copysign(w.maxHeight(), z), "m"))
	}
	return p, len(r.Findings) == n
}

// goal judges where the robot shall stand, and that it may begin to move at all. The way there is somebody else's plan, judged as a Path.
func (w *World) goal(g PoseGoal) Report {
	r := Report{Findings: w.motionNeeds(nil)}
	if len(r.Findings) > 0 {
		return r
	}
	r.Findings = w.stamp(g.Stamp, "pose.header.stamp", r.Findings)
	t := spatial.Identity()
	if len(r.Findings) == 0 {
		t, r.Findings = w.toFixed(g.Frame, g.Stamp.Ns(), "pose.header.frame_id", r.Findings)
	}
	if len(r.Findings) > 0 {
		// Where the pose is cannot be said; what is wrong with it by itself can.
		w.posture(g.Pose, spatial.Identity(), "pose.pose", -1, false, &r)
		return r
	}
	p, ok := w.posture(g.Pose, t, "pose.pose", -1, false, &r)
	if ok {
		r.Findings = w.standing(p.Planar(), p.Position.Z, -1, "the goal", r.Findings)
	}
	n := len(r.Findings)
	r.Findings = w.mayLeave(r.Findings)
	if len(r.Findings) == n && n > 0 {
		r.Nearest = w.nearestGoal(g, t)
	}
	return r
}

// mayLeave judges the start state alone.
func (w *World) mayLeave(into []geometry.Finding) []geometry.Finding {
	n := len(into)
	st, into := w.locate(&w.State, into)
	if len(into) > n {
		return into
	}
	into, _ = w.judge(st, &course{}, into)
	return into
}

// nearestGoal offers a pose near the goal where the footprint is free: the orientation made upright and unit, the position by
// widening rings. t maps the goal's frame to the fixed one.
func (w *World) nearestGoal(g PoseGoal, t spatial.Transform) Command {
	q := g.Pose.Orientation
	if n := spatial.Norm(q); spatial.Finite(n) && n > 0.1 {
		q.Real, q.Imag, q.Jmag, q.Kmag = q.Real/n, q.Imag/n, q.Jmag/n, q.Kmag/n
	} else {
		return nil // no direction in it
	}
	p := t.ApplyPose(spatial.Pose{Position: g.Pose.Position, Orientation: q})
	if !p.Finite() || !(math.Abs(p.Position.X) <= spatial.MaxExtent && math.Abs(p.Position.Y) <= spatial.MaxExtent) {
		return nil
	}
	centre := p.Planar()
	const ring = 0.05 // m
	for i := 0; ; i++ {
		radius := float64(i) * ring
		if radius > w.nearestRadius() {
			return nil
		}
		around := max(1, int(math.Ceil(2*math.Pi*float64(i))))
		for k := range around {
			s, c := math.Sincos(2 * math.Pi * float64(k) / float64(around))
			at := spatial.Pose2{X: centre.X + radius*c, Y: centre.Y + radius*s, Yaw: centre.Yaw}
			if w.allowed(at) {
				offer := t.Inverse().ApplyPose(at.Pose())
				return PoseGoal{Frame: g.Frame, Stamp: g.Stamp, Pose: offer}
			}
		}
	}
}

// allowed is standing without the words.
func (w *World) allowed(p spatial.Pose2) bool {
	if w.Map != nil {
		rel, f := w.mapFrame(nil)
		// A hair more than asked, so that the offer survives its own rounding.
		if len(f) > 0 || !w.Map.Free(w.Footprint, rel.Compose(p), w.MapMargin+sweepSlack) {
			return false
		}
	}
	return len(w.standing(p, 0, -1, "", nil)) == 0
}
