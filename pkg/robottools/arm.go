package robottools

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
)

// scene puts the arm into the world as it is known now: the profile's bodies around the base, the held object at the tool.
func (r *Robot) scene(m *armModel, a *jointActuator, v view) (*collision.Scene, error) {
	base, ok := v.pose()
	if !ok {
		return nil, errors.New("the base's pose is not known, so what stands around the arm is not known")
	}
	toBase := planarPose(base).Transform().Inverse()
	w := collision.World{Margin: r.profile.World.ArmMargin, Grace: armGrace, Rest: map[string]float64{}}
	for _, b := range r.profile.World.Bodies {
		w.Bodies = append(w.Bodies, collision.Body{
			Name:  b.Name,
			Shape: collision.Shape{Kind: collision.Box, Size: r3.Vec{X: b.Size[0], Y: b.Size[1], Z: b.Size[2]}},
			Pose:  toBase.Compose(spatial.Transform{Translation: r3.Vec{X: b.Center[0], Y: b.Center[1], Z: b.Center[2]}, Rotation: spatial.FromYaw(b.Yaw)}),
		})
	}
	zones, err := r.world.zoneBodies(toBase)
	if err != nil {
		return nil, err
	}
	w.Bodies = append(w.Bodies, zones...)
	for name, j := range r.joints {
		if name == a.name {
			continue
		}
		if q := j.jointState(v, 0).Positions; len(q) == len(j.joints) {
			for i, joint := range j.joints {
				w.Rest[joint] = q[i]
			}
		}
	}
	if held, size, ok := r.heldIn(v); ok {
		size = math.Max(size-2*touching, touching)
		w.Attached = append(w.Attached, collision.Attached{
			Body: collision.Body{
				Name:  held,
				Shape: collision.Shape{Kind: collision.Box, Size: r3.Vec{X: size, Y: size, Z: size}},
				Pose:  spatial.Identity(),
			},
			Link: a.def.Tip, Touch: a.def.Fingers,
		})
	}
	return m.robot.Scene(w)
}

// armGrace is by how much the arm may be too near to something where a motion begins, as long as it goes away from it; and by how much it may seem to overlap in
// flight, m: poses are measured that well.
const armGrace = 0.02

// touching is how much of a held object's outside does not count, m: lifted and put down, it touches what it lies on, and
// neither its pose nor its size is measured better.
const touching = 0.012

// armWorld is the world for validating a trajectory.
func (r *Robot) armWorld(m *armModel, a *jointActuator, v view) (*validate.World, error) {
	scene, err := r.scene(m, a, v)
	if err != nil {
		return nil, err
	}
	w := v.r.world.snapshotOf()
	w.Arm = &validate.Arm{Joints: m.joints, Scene: scene, State: a.jointState(v, w.Now), Chain: m.chain, Tip: m.tip, Wrench: m.wrench}
	return w, nil
}

// jointState is the measured, or predicted, state of an arm.
func (a *jointActuator) jointState(v view, now int64) validate.JointState {
	if v.at != nil {
		if q, ok := v.at.joints[a.name]; ok {
			return validate.JointState{Names: a.joints, Positions: q, Stamp: now}
		}
	}
	s, ok := a.latest()
	if !ok {
		return validate.JointState{}
	}
	return validate.JointState{Names: a.joints, Positions: s.Position, Velocities: s.Velocity, Stamp: s.Stamp.UnixNano()}
}

// downward is a tool that points down with that yaw: its z axis along -z of the base.
func downward(yaw float64) quat.Number { return quat.Mul(spatial.FromYaw(yaw), quat.Number{Imag: 1}) }

// rpy is a rotation by fixed-axis roll, pitch and yaw (URDF's).
func rpy(roll, pitch, yaw float64) quat.Number {
	axis := func(v r3.Vec, angle float64) quat.Number { return quat.Number(r3.NewRotation(angle, v)) }
	return quat.Mul(quat.Mul(axis(r3.Vec{Z: 1}, yaw), axis(r3.Vec{Y: 1}, pitch)), axis(r3.Vec{X: 1}, roll))
}
