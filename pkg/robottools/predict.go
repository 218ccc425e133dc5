package robottools

import (
	"context"
	"fmt"
	"math"

	"agent_node/pkg/harness/tool"
)

// Predict implements tool.Predictor: every part in its turn, from the state that the ones before it would leave behind. Checks
// are judged by what would be known then.
func (t *sequenceTool) Predict(ctx context.Context, call tool.Call, state any) tool.Prediction {
	at, ok := t.robot.start(state)
	if !ok {
		return unknownState()
	}
	v := view{t.robot, at}
	s, bad := t.prepareIn(call, v)
	if bad != nil {
		return refusedBy(bad, nil)
	}
	begin := t.beginning(s, v)
	for i, part := range t.steps {
		sub, skip, bad := t.subCall(call, part, i, begin, v)
		if bad != nil {
			return t.partRefused(part, i, refusedBy(bad, nil))
		}
		if skip {
			continue
		}
		p := t.robot.predict(ctx, part.tool, sub, v)
		switch {
		case p.Refused:
			return t.partRefused(part, i, p)
		case p.Unknown:
			return p
		}
		if next, ok := p.State.(*predicted); ok && next != nil {
			v.at = next
		}
	}
	return tool.Prediction{State: v.at}
}

// partRefused names the part in what is found.
func (t *sequenceTool) partRefused(part sequencePart, i int, p tool.Prediction) tool.Prediction {
	for n := range p.Findings {
		f := &p.Findings[n]
		f.Message = fmt.Sprintf("part %d of %d, %s: %s", i+1, len(t.steps), part.tool, f.Message)
	}
	return p
}

// predict one part: a check that would not pass refuses.
func (r *Robot) predict(ctx context.Context, name string, call tool.Call, v view) tool.Prediction {
	impl := r.byName(name)
	if check, ok := impl.(*readTool); ok && r.classOf(name) == tool.Verify {
		passed, seen, err := check.foresee(call, v)
		switch {
		case err != nil:
			return tool.Prediction{Unknown: true, Findings: []tool.Finding{{Rule: "prediction", Subject: name, Index: -1, Message: err.Error()}}}
		case !passed:
			return tool.Prediction{Refused: true, Findings: []tool.Finding{{
				Rule: string(tool.PreconditionFailed), Subject: name, Index: -1, Message: fmt.Sprintf("%s would not hold: %s", call.Arguments, seen),
			}}}
		}
		return tool.Prediction{}
	}
	if p, ok := impl.(tool.Predictor); ok {
		return p.Predict(ctx, call, v.at)
	}
	return tool.Prediction{Unknown: true}
}

// foresee is a check's verdict in a predicted state. What it reads from a message is not foreseen, except for the base's pose.
func (t *readTool) foresee(call tool.Call, v view) (passed bool, seen string, err error) {
	s, err := t.scopeIn(call, v)
	if err != nil {
		return false, "", err
	}
	f := t.robot.profile.Frames
	if b := t.def.Binding.Transform; b != nil && b.Target == f.Map && b.Source == f.Base {
		if p, ok := v.pose(); ok {
			s["msg"] = map[string]any{"x": p.X, "y": p.Y, "z": 0.0, "yaw": p.Yaw}
		}
	}
	if err := t.evalWhere(s); err != nil {
		return false, "", err
	}
	if passed, err = t.pass.bool(s); err != nil || passed {
		return passed, "", err
	}
	if t.result != nil {
		if what, err := t.result.eval(s); err == nil {
			if data, err := marshalValue(what); err == nil {
				seen = string(data)
			}
		}
	}
	return false, seen, nil
}

// predictGrip is what opening or closing the gripper would come to: it lets go of what it holds, or takes what is between its fingers.
func (t *actionSkill) predictGrip(call tool.Call, v view) tool.Prediction {
	s, bad := t.prepareIn(call, v)
	if bad != nil {
		return refusedBy(bad, nil)
	}
	goal, bad := t.message(s)
	if bad != nil {
		return refusedBy(bad, nil)
	}
	r, width := t.robot.checkGripper(t.grip, t.def.Binding.Action.Type, goal)
	if !r.Valid() {
		return refusedBy(t.refuse(call, r), findingsOf(r))
	}
	tip, ok := t.robot.tipIn(v)
	if !ok {
		return tool.Prediction{Unknown: true}
	}
	next := v.at.moved(v.at.base)
	next.grips = true
	objects := map[string]any{}
	v.amendObjects(objects)
	held, size, holds := t.robot.heldIn(v)
	switch {
	case holds && width <= size+gripSlip: // it stays where it is
		next.held, width = held, size
	case holds:
		next.held = ""
		next.objects[held] = t.robot.fallen(tip.Translation.X, tip.Translation.Y, tip.Translation.Z, size)
	default:
		next.held = t.robot.between(objects, tip.Translation.X, tip.Translation.Y, tip.Translation.Z)
		if next.held != "" {
			width = math.Max(width, predictedSize)
			delete(next.objects, next.held)
		}
	}
	next.joints[t.grip.name] = []float64{width}
	return tool.Prediction{State: next}
}

// fallen is where an object that is let go at x, y, z comes to lie: on the place's surface, if there is one below.
func (r *Robot) fallen(x, y, z, size float64) spot {
	name := r.profile.placeBelow(x, y, z, math.Inf(1))
	if name != "" {
		z = r.profile.Places[name].Surface.Z + size/2
	}
	return spot{x: x, y: y, z: z, place: name}
}

// between is the object nearest to a point of the map, within the fingers' reach; "" for none.
func (r *Robot) between(objects map[string]any, x, y, z float64) string {
	best, distance := "", gripReach
	for name, o := range objects {
		m, _ := o.(map[string]any)
		ox, okX := m["x"].(float64)
		oy, okY := m["y"].(float64)
		oz, okZ := m["z"].(float64)
		if d := math.Hypot(math.Hypot(ox-x, oy-y), oz-z); okX && okY && okZ && d < distance {
			best, distance = name, d
		}
	}
	return best
}
