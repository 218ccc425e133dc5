package robot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/param"
	"agent_node/sim/nav"
	"agent_node/sim/physics"
	"agent_node/sim/world"
)

// Robot is the built-in robot on a node.
//
// One goroutine, [Robot.Run], steps the physics and publishes what the sensors say. mu
// guards the physics, the faults, the counters and the jobs; callbacks and action
// handlers take it for a moment only, and nothing is published while it is held.
type Robot struct {
	node    ros.Node
	world   *world.World
	planner *nav.Planner
	params  *parameters
	time    timing
	record  *recorder
	outputs []output
	closers []io.Closer // in the order of their making

	mu       sync.Mutex
	sim      *physics.Sim
	faults   faults
	counters counters
	tap      odometryTap
	base     lane
	arm      lane
	gripper  lane
	contact  bool

	elapsed atomic.Int64 // simulated, ns
	hold    func()       // before each step; nil: nothing holds time up

	actions actions

	closing  sync.Once
	closeErr error
}

// New makes the robot: every topic, service and action is there when it returns. Time does
// not pass before [Robot.Run]. Whoever does not call Run calls [Robot.Close].
func New(node ros.Node, o Options) (*Robot, error) {
	r := &Robot{node: node, world: o.World, hold: o.Hold}
	if r.world == nil {
		r.world = world.Default()
	}
	if err := r.build(o); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Robot) build(o Options) (err error) {
	if r.params, err = r.declare(o); err != nil {
		return err
	}
	start := r.params.start
	if r.sim, err = physics.New(physics.Options{World: r.world, Seed: r.params.seed, Start: &start}); err != nil {
		return err
	}
	if r.record, err = openRecord(r.params.record, o.Record); err != nil {
		return err
	}
	r.closers = append(r.closers, r.record)
	r.planner = nav.NewPlanner(r.world)
	r.time.rate, r.time.simulated, r.time.clock = r.params.rate, r.params.clock, r.node.Clock()
	r.time.begin(0, r.node.Clock().Now())
	for _, part := range []func() error{r.openLatched, r.openOutputs, r.openVelocity, r.openActions, r.listen} {
		if err := part(); err != nil {
			return err
		}
	}
	if r.time.simulated {
		// The node's own clock, with which its action servers stamp, is the one it publishes.
		if err := r.SetParameter(param.UseSimTime, true); err != nil {
			return err
		}
	}
	for _, name := range r.params.server.UnusedOverrides() {
		r.node.Logger().Warn("no such parameter", "name", name)
	}
	return nil
}

// Run lets time pass until ctx ends; then goals are ended, every interface is taken down and nil is returned.
func (r *Robot) Run(ctx context.Context) error {
	ticker := time.NewTicker(r.time.period())
	defer ticker.Stop()
	pace := pacer{rate: r.time.rate, last: time.Now(), held: r.hold != nil}
	r.time.begin(r.now(), r.time.clock.Now())
	for {
		select {
		case <-ctx.Done():
			return r.Close()
		case <-ticker.C:
		}
		// One look at both clocks: time that goes by while a backlog is played is caught up with at the next look, and is
		// no reason to set the stamps, which would then go back.
		now, wall := time.Now(), r.time.clock.Now()
		for range pace.due(now) {
			if r.hold != nil {
				r.hold()
			}
			r.tick()
		}
		r.time.adjust(r.now(), wall)
	}
}

// tick lets one step pass and publishes what is due.
func (r *Robot) tick() {
	r.mu.Lock()
	r.sim.SetFaults(r.faults.physical())
	r.advance()
	r.sim.Step()
	r.elapsed.Store(int64(r.sim.Time()))
	s := r.look()
	contact := s.truth.Contact || s.truth.ArmContact
	touched := contact && !r.contact
	r.contact = contact
	r.mu.Unlock()
	if touched {
		r.node.Logger().Warn("the robot is held by something it bumped into", "base", s.truth.Contact, "arm", s.truth.ArmContact,
			"x", s.truth.Pose.X, "y", s.truth.Pose.Y)
	}
	for _, o := range r.outputs {
		if s.step%o.every == 0 {
			o.publish(s)
		}
	}
}

// Truth is the state of the simulated world.
func (r *Robot) Truth() physics.Truth {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sim.Truth()
}

// Objects are the objects as they truly are, those taken away included.
func (r *Robot) Objects() []physics.ObjectState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sim.Objects()
}

// Counters are the goals and nonzero commands received so far, by the resolved name of
// action or topic.
func (r *Robot) Counters() map[string]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counters.byName()
}

// SetParameter sets a parameter of the robot, as from outside: a fault by its name, say.
func (r *Robot) SetParameter(name string, value any) error {
	v, err := param.ValueOf(value)
	if err != nil {
		return fmt.Errorf("robot: parameter %s: %w", name, err)
	}
	return r.params.server.Set(param.Parameter{Name: name, Value: v})
}

// Elapsed is the simulated time that has passed.
func (r *Robot) Elapsed() time.Duration { return time.Duration(r.elapsed.Load()) }

// UnknownParameters are the names of parameters that were given from outside and are none of the robot's.
func (r *Robot) UnknownParameters() []string { return r.params.server.UnusedOverrides() }

// World is the robot's world. It must not be changed.
func (r *Robot) World() *world.World { return r.world }

func (r *Robot) now() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sim.Time()
}

// Close ends every goal and takes every interface down. The node stays the caller's.
func (r *Robot) Close() error {
	r.closing.Do(func() {
		errs := []error{r.actions.close()}
		for _, c := range slices.Backward(r.closers) {
			errs = append(errs, c.Close())
		}
		r.closeErr = errors.Join(errs...)
	})
	return r.closeErr
}
