package robottools

import (
	"fmt"
	"math"
	"sync"
	"time"

	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/guard"
)

// actuator is what every kind of actuator has in common: its guard, its newest sample, the goal it follows, the way it is stopped.
type actuator struct {
	name    string
	def     Actuator
	axes    []guard.Axis
	guard   *guard.Actuator
	stop    stopper
	arrived func(time.Time) time.Time

	mu      sync.Mutex
	last    guard.Sample
	seen    bool
	finite  guard.Sample // the newest without NaN or Inf: what a stop can hold
	active  goalRun
	before  goalRun // the one before, which ended then
	endedAt time.Time
	living  map[guard.Epoch]livingGoal // sent, and not known to have ended
}

// goalRun is a goal, or a row of goals, that the actuator follows.
type goalRun interface {
	// carriedOutBy: messages of that node on the actuator's command topics are this goal being carried out.
	carriedOutBy(node string) bool
}

// baseActuator is a mobile base: x, y and yaw.
type baseActuator struct {
	actuator
	limits *limits.Base
}

// addActuator makes the guard know an actuator; hear begins to feed it.
func (r *Robot) addActuator(name string, def Actuator) error {
	at := join("actuators", name)
	a, err := r.newActuator(at, name, def)
	if err != nil {
		return err
	}
	if a.stop, err = r.newStop(a, def.Stop); err != nil {
		return r.profile.source.errorf(join(at, "stop"), "%v", err)
	}
	if a.guard, err = r.guard.Add(def.config(name), a); err != nil {
		return r.profile.source.errorf(at, "%v", err)
	}
	r.all = append(r.all, a)
	return nil
}

// hear measures an actuator and listens to its signals, once every actuator is known: what arrives is judged beside all of them.
func (r *Robot) hear(a *actuator) error {
	at, def := join("actuators", a.name), a.def
	if err := r.feed(a.axes, def.Feedback, a.observe); err != nil {
		return r.profile.source.errorf(join(at, "feedback"), "%v", err)
	}
	if def.Second != nil {
		if err := r.feed(a.guard.Config().Second.Axes, *def.Second, a.observeSecond); err != nil {
			return r.profile.source.errorf(join(at, "second"), "%v", err)
		}
	}
	if r.bare {
		return nil
	}
	for i, s := range def.Pause {
		if err := r.watchPause(a, s); err != nil {
			return r.profile.source.errorf(fmt.Sprintf("%s/pause/%d", at, i), "%v", err)
		}
	}
	return r.watchCommands(a)
}

// newActuator of the kind that the profile says.
func (r *Robot) newActuator(at, name string, def Actuator) (*actuator, error) {
	var a *actuator
	switch def.Kind {
	case kindBase:
		l, err := baseLimits(def.Limit)
		if err != nil {
			return nil, r.profile.source.errorf(join(at, "limits"), "%v", err)
		}
		b := &baseActuator{limits: l}
		r.actuators[name], a = b, &b.actuator
	case kindArm, kindGripper:
		j := &jointActuator{joints: def.Joints}
		r.joints[name], a = j, &j.actuator
	default:
		a = &actuator{}
	}
	a.name, a.def, a.axes, a.arrived = name, def, def.axes(), r.arrived
	return a, nil
}

// actuator of any kind, nil where there is none of that name.
func (r *Robot) actuator(name string) *actuator {
	for _, a := range r.all {
		if a.name == name {
			return a
		}
	}
	return nil
}

// observe keeps a sample and feeds the guard. The sample's slices are never written again.
func (a *actuator) observe(s guard.Sample) {
	if a.arrived != nil {
		s.Arrived = a.arrived(s.Arrived)
	}
	a.mu.Lock()
	a.last, a.seen = a.withVelocity(s), true
	if finite(s.Position) {
		a.finite = a.last
	}
	a.mu.Unlock()
	a.guard.Observe(s)
}

// withVelocity derives the speeds that a source does not measure, for those who ask for the newest sample; the guard derives
// its own. It is called with mu held.
func (a *actuator) withVelocity(s guard.Sample) guard.Sample {
	if len(s.Velocity) > 0 {
		return s
	}
	s.Velocity = make([]float64, len(s.Position))
	dt := s.Stamp.Sub(a.last.Stamp).Seconds()
	if !a.seen || !(dt > 0) || len(a.last.Position) != len(s.Position) {
		return s
	}
	for i := range s.Position {
		d := s.Position[i] - a.last.Position[i]
		if i < len(a.axes) && a.axes[i].Wrap {
			d = AngleDiff(s.Position[i], a.last.Position[i])
		}
		s.Velocity[i] = d / dt
	}
	return s
}

// observeSecond feeds the guard from the second source.
func (a *actuator) observeSecond(s guard.Sample) {
	if a.arrived != nil {
		s.Arrived = a.arrived(s.Arrived)
	}
	a.guard.ObserveSecond(s)
}

// latest is the newest sample; its slices are never written again.
func (a *actuator) latest() (guard.Sample, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last, a.seen
}

// holdable is the newest finite sample: what a stop command can hold.
func (a *actuator) holdable() (guard.Sample, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.finite, a.finite.Position != nil
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Stop implements guard.Driver.
func (a *actuator) Stop() error { return a.stop.send() }

// Cancel implements guard.Driver.
func (a *actuator) Cancel(epoch guard.Epoch) {
	a.mu.Lock()
	goal, ok := a.living[epoch]
	a.mu.Unlock()
	if ok {
		goal.cancel()
	}
}

func (a *actuator) begin(run goalRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.active = run
}

func (a *actuator) end(run goalRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.active == run {
		a.active, a.before, a.endedAt = nil, run, time.Now()
	}
}

// echo is how long after a goal's end its server's last commands are still its own.
const echo = time.Second

// carriedOutBy: what that node commands now is the goal at hand being carried out, or its end.
func (a *actuator) carriedOutBy(node string) bool {
	a.mu.Lock()
	run := a.active
	if run == nil && time.Since(a.endedAt) < echo {
		run = a.before
	}
	a.mu.Unlock()
	return run != nil && run.carriedOutBy(node)
}

// state is a sample for expressions: of a base {x, y, yaw, vx, vy, wz}, of any other actuator its axes by name and
// velocity, the same of the speeds.
func (a *actuator) state(s guard.Sample) map[string]any {
	if a.def.Kind == kindBase {
		return stateScope(s)
	}
	out, velocity := make(map[string]any, len(a.axes)+1), make(map[string]any, len(a.axes))
	for i, x := range a.axes {
		if i < len(s.Position) {
			out[x.Name] = s.Position[i]
		}
		if i < len(s.Velocity) {
			velocity[x.Name] = s.Velocity[i]
		}
	}
	out["velocity"] = velocity
	return out
}
