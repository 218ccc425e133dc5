package robottools

import (
	"maps"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/harness/tool"
)

// predicted is the robot as it would be after calls that are not made.
type predicted struct {
	base    Place
	joints  map[string][]float64 // by actuator, where a prediction changed them
	grips   bool                 // a prediction changed what is held
	held    string               // the object in the gripper then, "" for none
	objects map[string]spot      // where predictions put objects
}

// spot is where an object lies, m in the map frame.
type spot struct {
	x, y, z float64
	place   string // whose surface it is on, "" for none
}

// view is the world with the robot as it is measured, or as it is predicted.
type view struct {
	r  *Robot
	at *predicted // nil: as measured
}

// live is the robot as it is measured.
func (r *Robot) live() view { return view{r: r} }

// pose of the base in the map frame.
func (v view) pose() (Place, bool) {
	if v.at != nil {
		return v.at.base, true
	}
	return v.r.world.pose()
}

// snapshot is the world for one base.
func (v view) snapshot(a *baseActuator) *validate.World {
	world := v.r.world.snapshot(a)
	if v.at != nil {
		world.State = validate.State{Pose: planarPose(v.at.base), Frame: v.r.world.profile.Frames.Map, Stamp: world.Now}
	}
	return world
}

// toBase is the transform from a frame to the base. Frames of the world are seen from where the base would be.
func (v view) toBase(frame string) (spatial.Transform, error) {
	f, now := v.r.profile.Frames, v.r.node.Clock().Now()
	if v.at == nil || frame != f.Map && frame != f.Odom {
		return v.r.world.at(f.Base, frame, now)
	}
	toMap := spatial.Identity()
	if frame != f.Map {
		var err error
		if toMap, err = v.r.world.at(f.Map, frame, now); err != nil {
			return spatial.Transform{}, err
		}
	}
	return planarPose(v.at.base).Transform().Inverse().Compose(toMap), nil
}

func (v view) checkPose(a *baseActuator, p Place) validate.Report {
	return validate.Validate(validate.PoseGoal{Frame: v.r.world.profile.Frames.Map, Pose: planarPose(p)}, v.snapshot(a))
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
	out.joints, out.objects = map[string][]float64{}, map[string]spot{}
	maps.Copy(out.joints, p.joints)
	maps.Copy(out.objects, p.objects)
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
		v.amendObjects(known)
	}
	if known, ok := s["joints"].(map[string]any); ok {
		for name, q := range v.at.joints {
			known[name] = numbersOf(q)
		}
	}
}

// amendObjects says of each object where it would be known to be. One that is only on record is taken to lie on its place's surface; what lies where the robot would look is taken to be seen.
func (v view) amendObjects(known map[string]any) {
	if len(known) == 0 {
		for name, o := range v.r.objects.scope(v.r.node.Clock().Now()) {
			known[name] = o
		}
	}
	held, _, holds := v.r.heldIn(v)
	for name, o := range known {
		e, ok := o.(map[string]any)
		if !ok {
			continue
		}
		e["held"] = holds && name == held
		if e["held"] == true {
			e["place"], e["seen"], e["in_view"], e["age_s"] = "", true, true, 0.0
			if tip, ok := v.r.tipIn(v); ok {
				e["x"], e["y"], e["z"] = round(tip.Translation.X, 4), round(tip.Translation.Y, 4), round(tip.Translation.Z, 4)
			}
			continue
		}
		if at, ok := v.whereabouts(name, e); ok {
			_, put := v.at.objects[name]
			v.look(e, at, put)
		}
	}
}

// whereabouts of an object: where a prediction put it, where it was seen, or where its record lets it lie.
func (v view) whereabouts(name string, e map[string]any) (spot, bool) {
	if at, ok := v.at.objects[name]; ok {
		return at, true
	}
	x, okX := e["x"].(float64)
	y, okY := e["y"].(float64)
	z, okZ := e["z"].(float64)
	place, _ := e["place"].(string)
	if okX && okY && okZ {
		return spot{x, y, z, place}, true
	}
	return v.r.profile.recorded(name)
}

// outOfSight is the age of what is not seen from where the robot would be, s.
const outOfSight = 3600.0

// look puts a known spot into an object's entry: in sight, or not. Where the robot put it itself, it knows without seeing.
func (v view) look(e map[string]any, at spot, put bool) {
	if put {
		e["seen"] = true
	}
	e["x"], e["y"], e["z"], e["place"] = round(at.x, 4), round(at.y, 4), round(at.z, 4), at.place
	e["in_view"], e["age_s"] = false, outOfSight
	if v.sees(at.x, at.y) {
		e["seen"], e["in_view"], e["age_s"] = true, true, 0.0
	}
}

// sees reports whether a point of the map would be in the camera's view; what stands in between is not looked at. A profile that
// does not say how far it sees is taken to see everything.
func (v view) sees(x, y float64) bool {
	d := v.r.profile.World.Detections
	if d.Range == 0 {
		return true
	}
	eye := planarPose(v.at.base).Transform()
	if d.Frame != "" {
		mount, err := v.r.world.at(v.r.profile.Frames.Base, d.Frame, v.r.node.Clock().Now())
		if err != nil {
			return false
		}
		eye = eye.Compose(mount)
	}
	at := eye.Inverse().Apply(r3.Vec{X: x, Y: y, Z: eye.Translation.Z})
	return math.Hypot(at.X, at.Y) <= d.Range && math.Abs(math.Atan2(at.Y, at.X)) <= d.Angle/2
}

// tipIn is where the arm's tip would be, in the map frame.
func (r *Robot) tipIn(v view) (spatial.Transform, bool) {
	base, ok := v.pose()
	if !ok {
		return spatial.Transform{}, false
	}
	for _, a := range r.joints {
		if a.def.Kind != "arm" {
			continue
		}
		r.description.mu.Lock()
		m := r.description.models[a.name]
		r.description.mu.Unlock()
		state := a.jointState(v, 0)
		if m == nil || len(state.Positions) == 0 {
			return spatial.Transform{}, false
		}
		tip, err := m.chain.FK(state.Positions)
		if err != nil {
			return spatial.Transform{}, false
		}
		return planarPose(base).Transform().Compose(tip), true
	}
	return spatial.Transform{}, false
}
