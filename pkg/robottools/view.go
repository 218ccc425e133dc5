package robottools

import (
	"maps"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/harness/tool"
)

// predicted is the robot as it would be after calls that are not made.
type predicted struct {
	base    Place
	joints  map[string][]float64      // by actuator, where a prediction changed them
	grips   bool                      // a prediction changed what is held
	held    string                    // the object in the gripper then, "" for none
	objects map[string]map[string]any // where predictions put objects, as the scope has them
}

// view is the world with the robot as it is measured, or as it is predicted.
type view struct {
	w  *worldView
	at *predicted // nil: as measured
}

// live is the robot as it is measured.
func (r *Robot) live() view { return view{w: r.world} }

// pose of the base in the map frame.
func (v view) pose() (Place, bool) {
	if v.at != nil {
		return v.at.base, true
	}
	return v.w.pose()
}

// snapshot is the world for one base.
func (v view) snapshot(a *baseActuator) *validate.World {
	world := v.w.snapshot(a)
	if v.at != nil {
		world.State = validate.State{Pose: planarPose(v.at.base), Frame: v.w.profile.Frames.Map, Stamp: world.Now}
	}
	return world
}

func (v view) checkPose(a *baseActuator, p Place) validate.Report {
	return validate.Validate(validate.PoseGoal{Frame: v.w.profile.Frames.Map, Pose: planarPose(p)}, v.snapshot(a))
}

func (v view) checkPath(a *baseActuator, path validate.Path) validate.Report {
	return validate.Validate(path, v.snapshot(a))
}

// checkMotion judges a straight drive or a turn in place.
func (v view) checkMotion(a *baseActuator, distance, angle float64) validate.Report {
	if distance == 0 && angle != 0 {
		return validate.Validate(validate.Turn{Angle: angle}, v.snapshot(a))
	}
	return validate.Validate(validate.Drive{Distance: distance}, v.snapshot(a))
}

// poseMap is a place for expressions, rounded to a tenth of a millimetre.
func poseMap(p Place) map[string]any {
	return map[string]any{"x": round(p.X, 4), "y": round(p.Y, 4), "yaw": round(p.Yaw, 4)}
}

// start is the state from which a row of predictions begins: the robot as it is measured.
func (r *Robot) start(state any) (*predicted, bool) {
	if p, ok := state.(*predicted); ok && p != nil {
		return p, true
	}
	base, ok := r.world.pose()
	return &predicted{base: base}, ok
}

// moved is a copy of the state with the base elsewhere.
func (p *predicted) moved(to Place) *predicted {
	out := *p
	out.base = to
	out.joints, out.objects = maps.Clone(p.joints), maps.Clone(p.objects)
	return &out
}

// drive is where a straight motion and then a turn lead.
func (p Place) drive(distance, angle float64) Place {
	q := spatial.Pose2{X: p.X, Y: p.Y, Yaw: p.Yaw}.Compose(spatial.Pose2{X: distance})
	return Place{X: q.X, Y: q.Y, Yaw: AngleDiff(p.Yaw+angle, 0)}
}

// refusedBy turns a failure observation into a prediction.
func refusedBy(bad *tool.Result, findings []tool.Finding) tool.Prediction {
	if len(findings) == 0 {
		findings = []tool.Finding{{Rule: string(bad.ErrorKind), Index: -1, Message: bad.Content}}
	}
	return tool.Prediction{Refused: true, Findings: findings}
}

// findingsOf a report, as the harness knows them.
func findingsOf(r validate.Report) []tool.Finding {
	out := make([]tool.Finding, len(r.Findings))
	for i, f := range r.Findings {
		out[i] = tool.Finding{Rule: f.Rule, Subject: f.Subject, Index: f.Index, Value: f.Value, Limit: f.Limit, Unit: f.Unit, Message: f.String()}
	}
	return out
}

// unknownState: nothing can be predicted while the robot's own pose is not known.
func unknownState() tool.Prediction {
	return tool.Prediction{Unknown: true, Findings: []tool.Finding{{Rule: "state age", Subject: "pose", Index: -1, Message: "the robot's pose is not measured now"}}}
}

// amend puts what is predicted into a scope.
func (v view) amend(s scope) {
	if v.at == nil {
		return
	}
	s["from"] = poseMap(v.at.base)
	if known, ok := s["objects"].(map[string]any); ok {
		for name, o := range v.at.objects {
			known[name] = o
		}
	}
}
