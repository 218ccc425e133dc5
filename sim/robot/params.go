package robot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/param"
	"agent_node/sim/world"
)

// parameters are the values that were settled when the robot was made.
type parameters struct {
	server *param.Server
	seed   uint64
	rate   float64
	clock  bool
	start  world.Pose
	record string
	prefix string // of frames
}

const (
	paramDrift      = "fault.drift"
	paramSlowAccept = "fault.slow_accept"
	paramTeleport   = "sim.teleport"
	paramCharge     = "sim.charge"
	paramTakeAway   = "sim.take_away"
	paramObject     = "sim.object." // and the object's name, with underscores
)

// Streams of what is drawn once, before time passes.
const (
	streamStart uint64 = 1<<32 + iota
	streamObjects
)

// declare declares every parameter.
func (r *Robot) declare(o Options) (*parameters, error) {
	p := &parameters{server: o.Params}
	if p.server == nil {
		s, err := serve(r.node)
		if err != nil {
			return nil, err
		}
		r.closers = append(r.closers, s)
		p.server = s
	}
	if o.Rate == 0 {
		o.Rate = 1
	}
	d := declarer{s: p.server}
	fixed := func(name, description string, def any, f *param.FloatRange) param.Value {
		return d.declare(param.Descriptor{Name: name, Description: description, ReadOnly: true, Float: f}, def)
	}
	p.seed = uint64(as[int64](fixed("seed", "Seed of all noise.", int64(o.Seed), nil)))
	p.rate = as[float64](fixed("rate", "Simulated seconds in a real one.", o.Rate, &param.FloatRange{From: 0.01, To: 1000}))
	p.clock = as[bool](fixed("publish_clock", "Publish the simulated time on /clock and stamp with it; a rate other than 1 implies it.", o.Clock, nil))
	p.clock = p.clock || p.rate != 1
	start := r.draw(p.seed, o.Start,
		as[bool](fixed("start.random", "The robot starts where the seed says, unless start.x, start.y or start.yaw is given.", o.RandomStart, nil)),
		as[bool](fixed("objects.random", "The objects lie where the seed says, each within reach from a place.", o.RandomObjects, nil)))
	p.start.X = as[float64](fixed("start.x", "Where the robot stands at first, m in map.", start.X, nil))
	p.start.Y = as[float64](fixed("start.y", "Where the robot stands at first, m in map.", start.Y, nil))
	p.start.Yaw = as[float64](fixed("start.yaw", "How the robot is turned at first, rad in map.", start.Yaw, nil))
	p.prefix = as[string](fixed("frame_prefix", "Put before the name of every frame, as robot_state_publisher's is: one of several robots has r1/ for example.", "", nil))
	p.record = as[string](fixed("sim.record", "File for the truth of this run, as JSON lines; empty for none.", "", nil))
	for _, f := range switches {
		d.declare(param.Descriptor{Name: f.name, Description: f.description}, false)
	}
	d.declare(param.Descriptor{
		Name: paramDrift, Description: "Speed added to the base's motion, m/s, also under a zero command.",
		Float: &param.FloatRange{From: -0.5, To: 0.5},
	}, 0.0)
	d.declare(param.Descriptor{
		Name: paramSlowAccept, Description: "How long the answer to a goal is kept back, s.",
		Float: &param.FloatRange{From: 0, To: 3600},
	}, 0.0)
	d.declare(param.Descriptor{
		Name: paramTeleport, Description: "Setting it puts the robot down at x, y, yaw (m, m, rad in map), at rest.",
		Constraints: "three finite numbers; the footprint must be free there",
	}, []float64{p.start.X, p.start.Y, p.start.Yaw})
	d.declare(param.Descriptor{
		Name: paramCharge, Description: "Setting it sets the battery's charge, percent.",
		Float: &param.FloatRange{From: 0, To: 100},
	}, r.world.Battery.Initial)
	for _, thing := range r.world.Objects {
		d.declare(param.Descriptor{
			Name: objectParam(thing), Description: "Setting it puts the " + thing.Name + " down by hand at x, y, z, yaw (m, m, m, rad in map).",
			Constraints: "two to four finite numbers; without z it is put on what is there; not inside an obstacle",
		}, []float64{thing.X, thing.Y, thing.Z, thing.Yaw})
	}
	d.declare(param.Descriptor{Name: paramTakeAway, Description: "Setting it takes the object with this name out of the world, until it is put down again."}, "")
	return p, d.err
}

// draw draws what is random about the start: where the objects lie, and where the robot stands unless that is given.
func (r *Robot) draw(seed uint64, given *world.Pose, robot, objects bool) world.Pose {
	if objects {
		r.world = r.world.Scatter(rand.New(rand.NewPCG(seed, streamObjects)))
	}
	switch {
	case given != nil:
		return *given
	case robot:
		return r.world.RandomPose(rand.New(rand.NewPCG(seed, streamStart)))
	}
	return r.world.Start()
}

// objectParam is the parameter that moves an object.
func objectParam(o world.Object) string { return paramObject + strings.ReplaceAll(o.Name, " ", "_") }

// placed is where the values of such a parameter ask to put the object.
func (r *Robot) placed(o world.Object, v []float64) (world.Object, error) {
	if len(v) < 2 || len(v) > 4 {
		return o, fmt.Errorf("%d numbers, x and y are needed, z and yaw are taken", len(v))
	}
	o.X, o.Y, o.Yaw = v[0], v[1], 0
	if len(v) > 2 {
		o.Z = v[2]
	} else {
		o.Z = r.world.Top(o.X, o.Y) + o.Size/2
	}
	if len(v) > 3 {
		o.Yaw = v[3]
	}
	return o, r.world.Room(o)
}

// serve makes a parameter server with the values that were given to the node from outside.
func serve(n ros.Node) (*param.Server, error) {
	cfg := param.Config{Overrides: make(map[string]param.Value)}
	if given, ok := n.(interface{ Params() map[string]any }); ok {
		for name, v := range given.Params() {
			value, err := param.ValueOf(v)
			if err != nil {
				return nil, fmt.Errorf("robot: parameter %s: %w", name, err)
			}
			cfg.Overrides[name] = value
		}
	}
	return param.New(n, cfg)
}

// declarer declares until something goes wrong.
type declarer struct {
	s   *param.Server
	err error
}

func (d *declarer) declare(desc param.Descriptor, def any) param.Value {
	if d.err != nil {
		return param.Value{}
	}
	var v param.Value
	v, d.err = d.s.Declare(desc, def)
	return v
}

// as is the value, or zero where declaring failed.
func as[T any](v param.Value) T {
	x, _ := v.Any().(T)
	return x
}

// listen lets the parameters act, with the values they have and with those to come.
func (r *Robot) listen() error {
	server := r.params.server
	checks := server.OnSet(r.check)
	changes := server.OnChange(r.apply)
	r.closers = append(r.closers, closerFunc(func() error { checks(); changes(); return nil }))
	all := server.All()
	if err := r.check(all); err != nil {
		return err
	}
	r.apply(all)
	return nil
}

// check refuses what cannot be: the robot where it has no room, an object inside of something, an object that is not there.
func (r *Robot) check(changes []param.Parameter) error {
	for _, c := range changes {
		var err error
		switch c.Name {
		case paramTeleport:
			err = r.checkTeleport(as[[]float64](c.Value))
		case paramTakeAway:
			name := as[string](c.Value)
			if name != "" && !slices.ContainsFunc(r.world.Objects, func(o world.Object) bool { return o.Name == name }) {
				err = fmt.Errorf("there is no object %q", name)
			}
		default:
			for _, o := range r.world.Objects {
				if c.Name == objectParam(o) {
					_, err = r.placed(o, as[[]float64](c.Value))
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Robot) checkTeleport(v []float64) error {
	if len(v) != 3 {
		return fmt.Errorf("%d numbers, x, y and yaw are needed", len(v))
	}
	p := world.Pose{X: v[0], Y: v[1], Yaw: v[2]}
	if !p.Finite() || r.world.Collides(p) {
		return fmt.Errorf("no room at x %.3f m, y %.3f m: %.3f m to the nearest obstacle, %.3f m are needed",
			p.X, p.Y, r.world.Clearance(p.X, p.Y), r.world.Robot.Radius)
	}
	return nil
}

// apply makes parameters' values take effect.
func (r *Robot) apply(changes []param.Parameter) {
	r.mu.Lock()
	for _, c := range changes {
		if err := r.applyOne(c); err != nil {
			r.node.Logger().Error("parameter has no effect", "name", c.Name, "err", err)
		}
	}
	down := r.faults.actionServerDown
	r.mu.Unlock()
	if err := r.actions.setDown(down); err != nil {
		r.node.Logger().Error("the action servers did not come back", "err", err)
	}
}

// applyOne is called with mu held.
func (r *Robot) applyOne(c param.Parameter) error {
	for _, f := range switches {
		if f.name == c.Name {
			*f.field(&r.faults) = as[bool](c.Value)
			return nil
		}
	}
	switch c.Name {
	case paramDrift:
		r.faults.drift = as[float64](c.Value)
	case paramSlowAccept:
		r.faults.slowAccept = as[float64](c.Value)
	case paramCharge:
		return r.sim.SetCharge(as[float64](c.Value))
	case paramTeleport:
		if v := as[[]float64](c.Value); len(v) == 3 {
			return r.sim.Teleport(world.Pose{X: v[0], Y: v[1], Yaw: world.WrapAngle(v[2])})
		}
	case paramTakeAway:
		if name := as[string](c.Value); name != "" {
			return r.sim.TakeObject(name)
		}
	default:
		return r.applyObject(c)
	}
	return nil
}

// applyObject is called with mu held.
func (r *Robot) applyObject(c param.Parameter) error {
	for _, o := range r.world.Objects {
		if c.Name != objectParam(o) {
			continue
		}
		at, err := r.placed(o, as[[]float64](c.Value))
		if err != nil {
			return err
		}
		return r.sim.PutObject(at)
	}
	return nil
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }
