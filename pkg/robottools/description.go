package robottools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/mesh"
	"agent_node/pkg/geometry/urdf"
	"agent_node/pkg/ros"
)

// armModel is what the robot's description says of an arm: its chain, its limits, its shapes. It is made when the
// description arrives.
type armModel struct {
	chain  *kinematics.Chain
	robot  *collision.Robot
	joints []limits.Joint
	tip    limits.Tip
	wrench limits.Wrench
}

// description listens to /robot_description, and to its semantic companion where the profile names one, and makes the arms' models.
type description struct {
	profile *Profile
	log     func(msg string, args ...any)
	told    func(msg string, args ...any)

	mu       sync.Mutex
	text     string // newest description
	semantic string // newest SRDF
	models   map[string]*armModel
	err      error // why the newest description could not be used
	ready    chan struct{}
	subs     []*latest
}

func newDescription(node ros.Node, p *Profile) (*description, error) {
	d := &description{profile: p, models: map[string]*armModel{}, ready: make(chan struct{}), log: node.Logger().Error, told: node.Logger().Warn}
	for _, s := range []struct {
		path, topic string
		take        func(string)
	}{
		{"world/description", p.World.Description, func(text string) { d.take(&d.text, text) }},
		{"world/semantic", p.World.Semantic, func(text string) { d.take(&d.semantic, text) }},
	} {
		if s.topic == "" {
			continue
		}
		l, err := listen(node, s.topic, "std_msgs/msg/String", func(r reading) { s.take(r.msg.Str("data")) })
		if err != nil {
			return nil, errors.Join(p.source.errorf(s.path, "%v", err), d.close())
		}
		d.subs = append(d.subs, l)
	}
	return d, nil
}

// take keeps a text and reads the description once all texts are there; one that makes no sense refuses every motion of the arms.
func (d *description) take(into *string, text string) {
	d.mu.Lock()
	*into = text
	whole, semantic := d.text, d.semantic
	d.mu.Unlock()
	if whole == "" || semantic == "" && d.profile.World.Semantic != "" {
		return
	}
	models, err := d.read(whole, semantic) // meshes take their time: not under the lock
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

func (d *description) read(text, semantic string) (map[string]*armModel, error) {
	m, err := urdf.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	var allowed []collision.Pair
	if semantic != "" {
		s, err := urdf.ParseSRDF([]byte(semantic), m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.profile.World.Semantic, err)
		}
		for _, p := range s.Pairs() {
			allowed = append(allowed, collision.Pair(p))
		}
	}
	out := map[string]*armModel{}
	for name, a := range d.profile.Actuators {
		if a.Kind != kindArm {
			continue
		}
		made, err := d.readArm(m, a, allowed)
		if err != nil {
			return nil, fmt.Errorf("actuator %s: %w", name, err)
		}
		out[name] = made
	}
	return out, nil
}

func (d *description) readArm(m *urdf.Model, a Actuator, allowed []collision.Pair) (*armModel, error) {
	p := d.profile
	chain, err := kinematics.NewChain(m, p.baseLink(), a.Tip)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(chain.Names(), a.Joints) {
		return nil, fmt.Errorf("the chain %s -> %s has the joints %v, the profile names %v", p.baseLink(), a.Tip, chain.Names(), a.Joints)
	}
	for _, c := range a.AllowedContacts {
		allowed = append(allowed, collision.Pair(c))
	}
	files := mesh.Files{Package: p.shareDir}
	robot, err := collision.NewRobot(m, collision.Config{Base: p.baseLink(), Joints: a.Joints, Allowed: allowed, Mesh: files.Load})
	if err != nil {
		return nil, err
	}
	joints := chain.Joints()
	for i := range joints {
		joints[i].Acceleration, joints[i].Jerk = a.Limit.Acceleration, a.Limit.Jerk
		if v := a.Limit.Velocity; v > 0 && (joints[i].Velocity == 0 || v < joints[i].Velocity) {
			joints[i].Velocity = v
		}
	}
	if a.JointLimits != "" {
		data, err := files.Read(a.JointLimits)
		if err != nil {
			return nil, fmt.Errorf("joint_limits: %w", err)
		}
		m, err := limits.ParseMoveIt(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.JointLimits, err)
		}
		var told []string
		if joints, told, err = m.Apply(joints); err != nil {
			return nil, fmt.Errorf("%s: %w", a.JointLimits, err)
		}
		for _, t := range told {
			d.told("a limit that is wider than the description's", "joint_limits", t)
		}
	}
	return &armModel{
		chain: chain, robot: robot, joints: joints,
		tip: limits.Tip{Linear: a.Limit.TipSpeed, Angular: a.Limit.TipTurn}, wrench: limits.Wrench{Force: a.Limit.Force, Torque: a.Limit.Torque},
	}, nil
}

// shareDir is where a ROS package's files are: as the profile says, or below a prefix of the environment.
func (p *Profile) shareDir(name string) (string, error) {
	if dir, ok := p.World.Packages[name]; ok {
		return dir, nil
	}
	for _, prefix := range filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH")) {
		dir := filepath.Join(prefix, "share", name)
		if _, err := os.Stat(filepath.Join(dir, "package.xml")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("there is no package %q in AMENT_PREFIX_PATH, and none in world/packages of the profile", name)
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
	if d.text != "" {
		return nil, fmt.Errorf("no semantic description on %s: which contacts count is not known", d.profile.World.Semantic)
	}
	return nil, fmt.Errorf("no robot description on %s: the arm's shape is not known", d.profile.World.Description)
}

func (d *description) close() error {
	if d == nil {
		return nil
	}
	var all []error
	for _, s := range d.subs {
		all = append(all, s.Close())
	}
	return errors.Join(all...)
}
