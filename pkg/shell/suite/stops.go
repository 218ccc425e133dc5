package suite

import (
	"maps"
	"math"
	"slices"

	"agent_node/pkg/ros"
)

// A node that loses sight of an actuator, on a busy machine for instance, holds it where it is. Where that is done by an action the robot counts a goal
// like any other. Such a goal is no command: it is told by what the node was doing, and by the robot, which did not move.

// still is how far nothing may have moved, m and rad.
const still = 0.005

// The states in which a node stops an actuator, of agent_msgs/msg/ActuatorState.
var stopping = []int64{5, 6, 8, 9} // canceling, stopping, fault, estop

// watchStops hears of actuators that are being stopped.
func (b *Bench) watchStops(m *ros.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range m.Msgs("actuators") {
		if slices.Contains(stopping, a.Int("state")) {
			if b.stopped == nil {
				b.stopped = map[string]bool{}
			}
			b.stopped[a.Str("name")] = true
		}
	}
}

// watchJoints keeps the newest position of every actuator's joints.
func (b *Bench) watchJoints(m *ros.Message) {
	names, q := m.Strs("name"), m.Floats("position")
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.posture == nil {
		b.posture = map[string]float64{}
	}
	for i, n := range names {
		if i < len(q) && b.commanded(n) {
			b.posture[n] = q[i]
		}
	}
}

// commanded reports whether a joint is one of an actuator's, and not a wheel.
func (b *Bench) commanded(joint string) bool {
	for _, a := range b.Profile.Actuators {
		if slices.Contains(a.Joints, joint) {
			return true
		}
	}
	return false
}

// where everything is: joints by the robot's own measurements, the base by the truth.
func (b *Bench) where() map[string]float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := maps.Clone(b.posture)
	if out == nil {
		out = map[string]float64{}
	}
	if b.truth {
		out["x of the base"], out["y of the base"] = b.pose[0], b.pose[1]
		out["cos yaw of the base"], out["sin yaw of the base"] = math.Cos(b.pose[2]), math.Sin(b.pose[2])
	}
	return out
}

// stops takes what only held an actuator off the arrivals, and gives how many those were. from is where everything was before.
func (b *Bench) stops(before, after map[string]uint64, from map[string]float64) (rest map[string]uint64, n uint64) {
	to := b.where()
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, x := range to {
		if y, ok := from[name]; !ok || !(math.Abs(x-y) <= still) {
			return after, 0
		}
	}
	rest = maps.Clone(after)
	for name, a := range b.Profile.Actuators {
		if a.Stop.Action == "" || !b.stopped[name] || len(to) == 0 {
			continue
		}
		counter, err := b.Node.ResolveName(a.Stop.Action)
		if err != nil {
			continue
		}
		if rest[counter] > before[counter] {
			n += rest[counter] - before[counter]
			rest[counter] = before[counter]
		}
	}
	return rest, n
}

// afresh forgets which actuators were being stopped.
func (b *Bench) afresh() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = nil
}
