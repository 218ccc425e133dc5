package validate

import (
	"math"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/trajectory"
)

// JointsInFlight judges the measured joints of an arm while a motion is under way: positions within their limits plus LimitTolerance, speeds within their limits plus 10 %
// and 0.05 rad/s or m/s, and nothing that overlaps by more than the scene's Grace. World.Arm.State is not looked at.
func JointsInFlight(s JointState, w *World) []geometry.Finding {
	if w == nil {
		w = &World{}
	}
	if err := w.Arm.Check(); err != nil {
		return []geometry.Finding{geometry.New(geometry.RuleLimits, "arm", -1, 0, 0, "", "no motion can be judged: "+err.Error())}
	}
	arm := *w.Arm
	arm.State = s
	world := World{Now: w.Now, MaxAge: w.MaxAge, Arm: &arm}
	start, into := world.jointStart(nil)
	if len(into) > 0 {
		return into
	}
	for i, j := range arm.Joints {
		if v := start.Velocities[i]; !(math.Abs(v) <= j.Velocity*(1+measuredShare)+jointSlack) {
			into = append(into, geometry.Over(geometry.RuleVelocity, j.Name, -1, v, j.Velocity, j.Unit()+"/s"))
		}
	}
	if arm.Tip != (limits.Tip{}) {
		into = arm.measuredTip(start, into)
	}
	contacts, err := arm.Scene.Check(start.Positions)
	if err != nil { // the positions have been judged: this is not to happen, and must not pass if it does
		return append(into, geometry.New(geometry.RuleFinite, "joint state", -1, 0, 0, "", err.Error()))
	}
	for _, c := range contacts {
		if !(c.Distance >= -arm.Scene.Grace()) {
			c.Margin = -arm.Scene.Grace()
			into = append(into, contactFinding(c, -1, ", as measured"))
		}
	}
	return into
}

// measuredTip judges how fast the tip moves by measured positions and velocities.
func (a *Arm) measuredTip(start trajectory.Start, into []geometry.Finding) []geometry.Finding {
	s, err := newTipSpeed(a)
	if err != nil { // it has been checked
		return append(into, geometry.New(geometry.RuleLimits, "arm", -1, 0, 0, "", err.Error()))
	}
	linear, angular := s.at(start.Positions, start.Velocities)
	for _, f := range [...]struct {
		name         string
		value, limit float64
		unit         string
	}{{"tip linear", linear, a.Tip.Linear, "m/s"}, {"tip angular", angular, a.Tip.Angular, "rad/s"}} {
		if f.limit > 0 && !(f.value <= f.limit*(1+measuredShare)+jointSlack) {
			into = append(into, geometry.Over(geometry.RuleTipSpeed, f.name, -1, f.value, f.limit, f.unit))
		}
	}
	return into
}

// jointSlack is what a joint at rest may seem to move by, rad/s or m/s.
const jointSlack = 0.05
