package robot

import (
	"fmt"

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
}

const (
	paramDrift      = "fault.drift"
	paramSlowAccept = "fault.slow_accept"
	paramTeleport   = "sim.teleport"
	paramCharge     = "sim.charge"
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
	start := r.world.Start()
	if o.Start != nil {
		start = *o.Start
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
	p.start.X = as[float64](fixed("start.x", "Where the robot stands at first, m in map.", start.X, nil))
	p.start.Y = as[float64](fixed("start.y", "Where the robot stands at first, m in map.", start.Y, nil))
	p.start.Yaw = as[float64](fixed("start.yaw", "How the robot is turned at first, rad in map.", start.Yaw, nil))
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
	return p, d.err
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

// check refuses a teleport to where the robot has no room.
func (r *Robot) check(changes []param.Parameter) error {
	for _, c := range changes {
		if c.Name != paramTeleport {
			continue
		}
		v := as[[]float64](c.Value)
		if len(v) != 3 {
			return fmt.Errorf("%d numbers, x, y and yaw are needed", len(v))
		}
		p := world.Pose{X: v[0], Y: v[1], Yaw: v[2]}
		if !p.Finite() || r.world.Collides(p) {
			return fmt.Errorf("no room at x %.3f m, y %.3f m: %.3f m to the nearest obstacle, %.3f m are needed",
				p.X, p.Y, r.world.Clearance(p.X, p.Y), r.world.Robot.Radius)
		}
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
		r.node.Logger().Error("the navigation server did not come back", "err", err)
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
	}
	return nil
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }
