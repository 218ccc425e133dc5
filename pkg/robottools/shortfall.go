package robottools

import (
	"math"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
)

// shortfall is the share of a straight drive or of a turn that must have been measured where it is said to be done. Checks judge where the robot
// is then, by tolerances of the robot's; a short motion is smaller than those, and a whole turn ends where it began.
const shortfall = 0.5

// short is the failure of a motion that ended well and was not made: measured from its beginning on, it came less than half the way.
// nil: it was made, or nothing was asked for.
func (b *bound) short(distance, angle float64, moved map[string]any) *tool.Result {
	if distance != 0 && angle != 0 {
		return nil // along an arc the way is longer than what was moved
	}
	for _, m := range []struct {
		of, unit string
		asked    float64
	}{{"x", "m", distance}, {"yaw", "rad", angle}} {
		done, ok := moved[m.of].(float64)
		if !ok || m.asked == 0 || done*math.Copysign(1, m.asked) >= shortfall*math.Abs(m.asked) {
			continue
		}
		return b.fail(tool.PostconditionFailed, "%.4g %s were asked for and it ended as done, but only %.4g %s were measured, less than half", m.asked, m.unit, done, m.unit)
	}
	return nil
}

// unmade is short, of a relative motion that an action's server says it has made.
func (b *begun) unmade() *tool.Result {
	distance, angle, err := b.skill.relative.asked(b.scope)
	if err != nil || b.measure() != nil {
		return nil // it was told before, or cannot be measured: the postconditions judge
	}
	return b.skill.short(distance, angle, b.scope["moved"].(map[string]any))
}

// noticeable is what joints are measured to, rad or m: a smaller motion cannot be told from none.
const noticeable = 0.001

// shortJoints is short, of joints: the one that had the longest way to go is not half there. What was measured before and after may be
// missing. unit of their positions.
func (b *bound) shortJoints(names []string, from, to, at []float64, unit func(joint int) string) *tool.Result {
	if len(from) != len(to) || len(at) != len(to) {
		return nil
	}
	longest := -1
	for i := range to {
		if way := math.Abs(to[i] - from[i]); way > noticeable && (longest < 0 || way > math.Abs(to[longest]-from[longest])) {
			longest = i
		}
	}
	if longest < 0 {
		return nil
	}
	way := to[longest] - from[longest]
	if done := at[longest] - from[longest]; done*math.Copysign(1, way) < shortfall*math.Abs(way) {
		return b.fail(tool.PostconditionFailed, "%s was to move by %.4g %s and the server says it has, but only %.4g %s were measured, less than half", names[longest], way, unit(longest), done, unit(longest))
	}
	return nil
}

// position measured last; nil: none.
func (a *jointActuator) position() []float64 {
	s, ok := a.latest()
	if !ok {
		return nil
	}
	return append([]float64(nil), s.Position...)
}

// gripped is short, of a gripper whose server says that it reached its goal. One that stalled met something, perhaps at once.
func (t *actionSkill) gripped(from []float64, p preparedGoal, result *ros.Message) *tool.Result {
	if t.grip == nil || !t.has("gripper") || result == nil {
		return nil
	}
	stalled, _ := result.Map()["stalled"].(bool)
	if reached, _ := result.Map()["reached_goal"].(bool); !reached || stalled {
		return nil
	}
	_, width := t.robot.checkGripper(t.grip, t.def.Binding.Action.Type, p.goal)
	return t.shortJoints(t.grip.joints, from, []float64{width}, t.grip.position(), func(int) string { return "rad or m" }) // as the finger's joint is
}
