package validate

import (
	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/tf"
)

// WrenchCommand is a force and a torque that an arm shall press with at its tip (geometry_msgs/Wrench and WrenchStamped).
type WrenchCommand struct {
	Wrench spatial.Wrench
	Stamp  Stamp
	// Frame that the wrench is given in; only its name is judged, for limits are lengths of vectors. Empty: the tip's.
	Frame string
}

func (WrenchCommand) command() {}

// wrench judges a force and a torque against what may be asked for at the arm's tip. Nothing at all passes in every world, as it is how pressing ends.
func (w *World) wrench(c WrenchCommand) Report {
	if c.Wrench == (spatial.Wrench{}) {
		return Report{}
	}
	if w == nil {
		w = &World{}
	}
	var r Report
	if err := w.Arm.Check(); err != nil {
		r.Findings = append(r.Findings, geometry.New(geometry.RuleLimits, "arm", -1, 0, 0, "", "no force can be judged: "+err.Error()))
		return r
	}
	r.Findings = w.stamp(c.Stamp, "header.stamp", r.Findings)
	if c.Frame != "" {
		if err := tf.CheckFrameName(c.Frame); err != nil {
			r.Findings = append(r.Findings, w.frameFinding(err, "header.frame_id"))
		}
	}
	others := len(r.Findings)
	r.Findings = w.Arm.Wrench.CheckWrench(c.Wrench, "wrench", r.Findings)
	if len(r.Findings) > others && others == 0 {
		if near, ok := w.Arm.Wrench.Clamp(c.Wrench); ok && near != (spatial.Wrench{}) {
			r.Nearest = WrenchCommand{Wrench: near, Frame: c.Frame, Stamp: c.Stamp}
		}
	}
	return r
}
