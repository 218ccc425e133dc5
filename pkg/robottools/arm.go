package robottools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/ros"
)

// armModel is what the robot's description says of an arm: its chain, its limits, its shapes. It is made when the
// description arrives.
type armModel struct {
	chain  *kinematics.Chain
	robot  *collision.Robot
	joints []limits.Joint
}

// description listens to /robot_description and makes the arms' models.
type description struct {
	profile *Profile
	log     func(msg string, args ...any)

	mu     sync.Mutex
	models map[string]*armModel
	err    error // why the newest description could not be used
	ready  chan struct{}
	sub    *latest
}

func newDescription(node ros.Node, p *Profile) (*description, error) {
	d := &description{profile: p, models: map[string]*armModel{}, ready: make(chan struct{}), log: node.Logger().Error}
	if p.World.Description == "" {
		return d, nil
	}
	l, err := listen(node, p.World.Description, "std_msgs/msg/String", func(r reading) { d.take(r.msg.Str("data")) })
	if err != nil {
		return nil, p.source.errorf("world/description", "%v", err)
	}
	d.sub = l
	return d, nil
}

// take reads a description; one that makes no sense refuses every motion of the arms.
func (d *description) take(text string) {
	models, err := d.read(text)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.models, d.err = models, err
	if err != nil {
		d.log("robot description refused", "topic", d.profile.World.Description, "error", err)
		return
	}
	select {
	case <-d.ready:
	default:
		close(d.ready)
	}
}

func (d *description) read(text string) (map[string]*armModel, error) {
	m, err := urdf.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	out := map[string]*armModel{}
	for name, a := range d.profile.Actuators {
		if a.Kind != "arm" {
			continue
		}
		made, err := readArm(m, a, d.profile)
		if err != nil {
			return nil, fmt.Errorf("actuator %s: %w", name, err)
		}
		out[name] = made
	}
	return out, nil
}

func readArm(m *urdf.Model, a Actuator, p *Profile) (*armModel, error) {
	chain, err := kinematics.NewChain(m, p.Frames.Base, a.Tip)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(chain.Names(), a.Joints) {
		return nil, fmt.Errorf("the chain %s -> %s has the joints %v, the profile names %v", p.Frames.Base, a.Tip, chain.Names(), a.Joints)
	}
	allowed := make([]collision.Pair, len(a.AllowedContacts))
	for i, c := range a.AllowedContacts {
		allowed[i] = collision.Pair(c)
	}
	robot, err := collision.NewRobot(m, collision.Config{Base: p.Frames.Base, Joints: a.Joints, Allowed: allowed})
	if err != nil {
		return nil, err
	}
	joints := chain.Joints()
	for i := range joints {
		joints[i].Acceleration = a.Limit.Acceleration
		if v := a.Limit.Velocity; v > 0 && (joints[i].Velocity == 0 || v < joints[i].Velocity) {
			joints[i].Velocity = v
		}
	}
	return &armModel{chain: chain, robot: robot, joints: joints}, nil
}

// arm waits for an actuator's model.
func (d *description) arm(ctx context.Context, name string) (*armModel, error) {
	select {
	case <-d.ready:
	default:
		select {
		case <-d.ready:
		case <-ctx.Done():
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if m, ok := d.models[name]; ok {
		return m, nil
	}
	if d.err != nil {
		return nil, fmt.Errorf("robot description: %w", d.err)
	}
	return nil, fmt.Errorf("no robot description on %s: the arm's shape is not known", d.profile.World.Description)
}

func (d *description) close() error {
	if d == nil || d.sub == nil {
		return nil
	}
	return d.sub.Close()
}

// scene puts the arm into the world as it is known now: the profile's bodies around the base, the held object at the tool.
func (r *Robot) scene(m *armModel, a *jointActuator, v view) (*collision.Scene, error) {
	base, ok := v.pose()
	if !ok {
		return nil, errors.New("the base's pose is not known, so what stands around the arm is not known")
	}
	toBase := planarPose(base).Transform().Inverse()
	w := collision.World{Margin: r.profile.World.ArmMargin, Rest: map[string]float64{}}
	for _, b := range r.profile.World.Bodies {
		w.Bodies = append(w.Bodies, collision.Body{
			Name:  b.Name,
			Shape: collision.Shape{Kind: collision.Box, Size: r3.Vec{X: b.Size[0], Y: b.Size[1], Z: b.Size[2]}},
			Pose:  toBase.Compose(spatial.Transform{Translation: r3.Vec{X: b.Center[0], Y: b.Center[1], Z: b.Center[2]}, Rotation: spatial.FromYaw(b.Yaw)}),
		})
	}
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
	w.Arm = &validate.Arm{Joints: m.joints, Scene: scene, State: a.jointState(v, w.Now)}
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
