package robottools

import (
	"fmt"
	"sync"
	"time"

	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/guard"
	"agent_node/pkg/ros"
)

// actuator is what every kind of actuator has in common: its guard, its newest sample, the goal it follows.
type actuator struct {
	name    string
	def     Actuator
	guard   *guard.Actuator
	arrived func(time.Time) time.Time

	mu     sync.Mutex
	last   guard.Sample
	seen   bool
	active goalRun
}

// goalRun is a goal, or a row of goals, that the actuator follows.
type goalRun interface{ cancel(epoch guard.Epoch) }

// baseActuator is a mobile base: measured by odometry, stopped by zero velocities.
type baseActuator struct {
	actuator
	limits *limits.Base
	zero   *velocity
}

// addActuator makes the guard know a base; feed begins to feed it.
func (r *Robot) addActuator(name string, def Actuator) error {
	at := join("actuators", name)
	l, err := baseLimits(def.Limit)
	if err != nil {
		return r.profile.source.errorf(join(at, "limits"), "%v", err)
	}
	a := &baseActuator{actuator: actuator{name: name, def: def, arrived: r.arrived}, limits: l}
	if a.zero, err = r.velocityOn(def.Stop.Topic, def.Stop.Type, def.Stop.Frame); err != nil {
		return r.profile.source.errorf(join(at, "stop"), "%v", err)
	}
	cfg := guardConfig(name, def)
	if a.guard, err = r.guard.Add(cfg, a); err != nil {
		return r.profile.source.errorf(at, "%v", err)
	}
	r.actuators[name] = a
	return nil
}

// feed measures the base and hears its signals, once every actuator is known: what arrives is judged beside all of them.
func (a *baseActuator) feed(r *Robot) error {
	at, def := join("actuators", a.name), a.def
	// Odometry is heard from publishers of any quality of service; a latched copy would be old news.
	sub, err := r.node.CreateSubscription(def.Feedback.Topic, def.Feedback.Type, ros.QoS{Depth: 20, Reliability: ros.BestEffort}, a.odometry)
	if err != nil {
		return r.profile.source.errorf(join(at, "feedback"), "%v", err)
	}
	r.own(sub)
	for i, s := range def.Pause {
		if err := r.watchPause(&a.actuator, s); err != nil {
			return r.profile.source.errorf(fmt.Sprintf("%s/pause/%d", at, i), "%v", err)
		}
	}
	return r.watchCommands(a)
}

// guardConfig is the guard's numbers with the profile's overrides.
func guardConfig(name string, def Actuator) guard.Config {
	c := guard.DefaultConfig(name)
	c.Axes = []guard.Axis{
		{Name: "x", Group: guard.Linear}, {Name: "y", Group: guard.Linear}, {Name: "yaw", Group: guard.Angular, Wrap: true},
	}
	c.Period = seconds(def.Feedback.Period)
	t := def.Guard
	tuneTimes(&c, t)
	linear, angular := c.Groups[guard.Linear], c.Groups[guard.Angular]
	linear.Deceleration, angular.Deceleration = def.Limit.Deceleration, def.Limit.AngularAcceleration
	for _, o := range []struct {
		from float64
		into *float64
	}{
		{t.LinearSpeed, &linear.Speed},
		{t.Displacement, &linear.Displacement},
		{t.AngularSpeed, &angular.Speed},
		{t.Rotation, &angular.Displacement},
	} {
		if o.from > 0 {
			*o.into = o.from
		}
	}
	c.Groups[guard.Linear], c.Groups[guard.Angular] = linear, angular
	return c
}

// tuneTimes takes over the profile's durations.
func tuneTimes(c *guard.Config, t GuardTuning) {
	for _, o := range []struct {
		from float64
		into *time.Duration
	}{
		{t.Window, &c.Window},
		{t.StallTime, &c.StallTime},
		{t.FeedbackTimeout, &c.FeedbackTimeout},
		{t.PauseCap, &c.PauseCap},
		{t.StopTime, &c.StopTime},
		{t.SettleTime, &c.SettleTime},
		{t.CancelAnswer, &c.CancelAnswer},
		{t.CancelResult, &c.CancelResult},
		{t.AcceptTimeout, &c.AcceptTimeout},
	} {
		if o.from > 0 {
			*o.into = seconds(o.from)
		}
	}
}

// odometry feeds the guard.
func (a *baseActuator) odometry(r ros.Received) {
	m := r.Message
	twist := m.Msg("twist.twist")
	s := guard.Sample{
		Stamp:   m.Stamp("header.stamp").Std(),
		Arrived: r.Arrived,
		Position: []float64{
			m.Float("pose.pose.position.x"), m.Float("pose.pose.position.y"), spatial.Yaw(quaternion(m.Msg("pose.pose.orientation"))),
		},
		Velocity: []float64{twist.Float("linear.x"), twist.Float("linear.y"), twist.Float("angular.z")},
	}
	a.observe(s)
}

// observe keeps a sample and feeds the guard. The sample's slices are never written again.
func (a *actuator) observe(s guard.Sample) {
	if a.arrived != nil {
		s.Arrived = a.arrived(s.Arrived)
	}
	a.mu.Lock()
	a.last, a.seen = s, true
	a.mu.Unlock()
	a.guard.Observe(s)
}

// latest is the newest sample; its slices are never written again.
func (a *actuator) latest() (guard.Sample, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last, a.seen
}

// Stop implements guard.Driver.
func (a *baseActuator) Stop() error { return a.zero.send(0, 0) }

// Cancel implements guard.Driver.
func (a *actuator) Cancel(epoch guard.Epoch) {
	a.mu.Lock()
	run := a.active
	a.mu.Unlock()
	if run != nil {
		run.cancel(epoch)
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
		a.active = nil
	}
}
