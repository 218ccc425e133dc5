package robottools

import (
	"errors"
	"fmt"
	"math"

	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
)

// relative is the straight drive or the turn that an action's goal asks for from where the robot stands, as Nav2's DriveOnHeading,
// BackUp and Spin do: what the geometry layer checks beforehand, and what is left of it after a pause.
type relative struct {
	distance, angle *expression // m, rad; nil: none
	act             *baseActuator
}

func newRelative(c *compiler, def *ActionBinding, act *baseActuator) *relative {
	r := &relative{distance: c.one("binding/action/distance", def.Distance), angle: c.one("binding/action/angle", def.Angle), act: act}
	if r.distance == nil && r.angle == nil {
		return nil
	}
	return r
}

// asked is the whole motion, m and rad.
func (r *relative) asked(s scope) (distance, angle float64, err error) {
	for _, x := range []struct {
		e    *expression
		into *float64
	}{{r.distance, &distance}, {r.angle, &angle}} {
		if x.e == nil || err != nil {
			continue
		}
		*x.into, err = x.e.number(s)
	}
	return distance, angle, err
}

// check judges what is left of the motion where the scope's moved has been moved already.
func (r *relative) check(s scope, v view) (validate.Report, error) {
	distance, angle, err := r.asked(s)
	if err != nil {
		return validate.Report{}, err
	}
	m, _ := s["moved"].(map[string]any)
	x, _ := m["x"].(float64)
	yaw, _ := m["yaw"].(float64)
	return v.checkMotion(r.act, distance-x, angle-yaw), nil
}

// unmoved is what the goals of an action see as moved when it begins.
func unmoved() map[string]any {
	return map[string]any{"x": 0.0, "y": 0.0, "yaw": 0.0, "seconds": 0.0}
}

// mostTurned is the largest turn that may be begun anew after a pause, rad: of a larger one the measured heading does not tell how
// much is done.
const mostTurned = 3.0

// begun is a relative motion under way.
type begun struct {
	skill *actionSkill
	scope scope
	first guard.Sample
}

// begin notes where a relative motion starts; nil where the skill is none.
func (t *actionSkill) begin(s scope) *begun {
	if t.relative == nil {
		return nil
	}
	b := &begun{skill: t, scope: s}
	if latest, ok := t.act.latest(); ok && len(latest.Position) >= 3 {
		b.first = guard.Sample{Position: append([]float64(nil), latest.Position...)}
	}
	return b
}

// measure what has been moved so far, into the scope.
func (b *begun) measure() error {
	latest, ok := b.skill.act.latest()
	if !ok || len(latest.Position) < 3 || len(b.first.Position) < 3 {
		return errors.New("how far the motion has come is not measured")
	}
	_, angle, err := b.skill.relative.asked(b.scope)
	if err != nil {
		return err
	}
	if math.Abs(angle) > mostTurned {
		return fmt.Errorf("of a turn by %.2f rad the heading does not tell how much is done, limit %.2f rad: it is not begun anew", angle, mostTurned)
	}
	dx, dy := latest.Position[0]-b.first.Position[0], latest.Position[1]-b.first.Position[1]
	sin, cos := math.Sincos(b.first.Position[2])
	b.scope["moved"] = map[string]any{
		"x": cos*dx + sin*dy, "y": cos*dy - sin*dx, "yaw": AngleDiff(latest.Position[2], b.first.Position[2]), "seconds": 0.0,
	}
	return nil
}

// again makes the goal of what is left after a pause.
func (b *begun) again() (*ros.Message, error) {
	if err := b.measure(); err != nil {
		return nil, err
	}
	goal, bad := b.skill.message(b.scope)
	if bad != nil {
		return nil, errors.New(bad.Content)
	}
	return goal, nil
}

// predictMotion is where a relative motion would end.
func (t *actionSkill) predictMotion(s scope, at *predicted) tool.Prediction {
	distance, angle, err := t.relative.asked(s)
	if err != nil {
		return tool.Prediction{Unknown: true}
	}
	return tool.Prediction{State: at.moved(at.base.drive(distance, angle))}
}
