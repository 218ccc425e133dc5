package robottools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/guard"
	"agent_node/pkg/ros"
)

// baseActuator is a mobile base: measured by odometry, stopped by zero velocities.
type baseActuator struct {
	name    string
	def     Actuator
	guard   *guard.Actuator
	limits  *limits.Base
	zero    *velocity
	arrived func(time.Time) time.Time

	mu     sync.Mutex
	last   guard.Sample
	seen   bool
	active *actionRun
}

// addActuator makes the guard know a base and feeds it.
func (r *Robot) addActuator(name string, def Actuator) error {
	at := join("actuators", name)
	l, err := baseLimits(def.Limit)
	if err != nil {
		return r.profile.source.errorf(join(at, "limits"), "%v", err)
	}
	a := &baseActuator{name: name, def: def, limits: l, arrived: r.arrived}
	if a.zero, err = r.velocityOn(def.Stop.Topic, def.Stop.Type, def.Stop.Frame); err != nil {
		return r.profile.source.errorf(join(at, "stop"), "%v", err)
	}
	cfg := guardConfig(name, def)
	if a.guard, err = r.guard.Add(cfg, a); err != nil {
		return r.profile.source.errorf(at, "%v", err)
	}
	r.actuators[name] = a
	// Odometry is heard from publishers of any quality of service; a latched copy would be old news.
	sub, err := r.node.CreateSubscription(def.Feedback.Topic, def.Feedback.Type, ros.QoS{Depth: 20, Reliability: ros.BestEffort}, a.odometry)
	if err != nil {
		return r.profile.source.errorf(join(at, "feedback"), "%v", err)
	}
	r.own(sub)
	for i, s := range def.Pause {
		if err := r.watchPause(a, s); err != nil {
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
	for _, o := range []struct {
		from float64
		into *time.Duration
	}{
		{t.Window, &c.Window}, {t.StallTime, &c.StallTime}, {t.FeedbackTimeout, &c.FeedbackTimeout}, {t.PauseCap, &c.PauseCap},
		{t.StopTime, &c.StopTime}, {t.SettleTime, &c.SettleTime}, {t.CancelAnswer, &c.CancelAnswer},
		{t.CancelResult, &c.CancelResult}, {t.AcceptTimeout, &c.AcceptTimeout},
	} {
		if o.from > 0 {
			*o.into = seconds(o.from)
		}
	}
	linear, angular := c.Groups[guard.Linear], c.Groups[guard.Angular]
	linear.Deceleration, angular.Deceleration = def.Limit.Deceleration, def.Limit.AngularAcceleration
	for _, o := range []struct {
		from float64
		into *float64
	}{
		{t.LinearSpeed, &linear.Speed}, {t.Displacement, &linear.Displacement},
		{t.AngularSpeed, &angular.Speed}, {t.Rotation, &angular.Displacement},
	} {
		if o.from > 0 {
			*o.into = o.from
		}
	}
	c.Groups[guard.Linear], c.Groups[guard.Angular] = linear, angular
	return c
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
	if a.arrived != nil {
		s.Arrived = a.arrived(s.Arrived)
	}
	a.mu.Lock()
	a.last, a.seen = s, true
	a.mu.Unlock()
	a.guard.Observe(s)
}

// latest is the newest sample; its slices are never written again.
func (a *baseActuator) latest() (guard.Sample, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last, a.seen
}

// Stop implements guard.Driver.
func (a *baseActuator) Stop() error { return a.zero.send(0, 0) }

// Cancel implements guard.Driver.
func (a *baseActuator) Cancel(epoch guard.Epoch) {
	a.mu.Lock()
	run := a.active
	a.mu.Unlock()
	if run != nil {
		run.cancel(epoch)
	}
}

func (a *baseActuator) begin(run *actionRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.active = run
}

func (a *baseActuator) end(run *actionRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.active == run {
		a.active = nil
	}
}

// watchPause listens to one of the robot's own signals of a hold.
func (r *Robot) watchPause(a *baseActuator, s PauseSource) error {
	env, err := newEnv()
	if err != nil {
		return err
	}
	when, err := compile(env, s.When)
	if err != nil {
		return err
	}
	emergency, err := compile(env, s.EmergencyWhen)
	if err != nil {
		return err
	}
	source := a.name + "/" + s.Name
	l, err := listen(r.node, s.Topic, s.Type, func(got reading) {
		sc := r.constants().with("msg", got.msg.Map())
		if when != nil {
			paused, err := when.bool(sc)
			if err != nil {
				r.node.Logger().Error("pause signal", "source", source, "error", err)
				paused = true // what cannot be read is no permission to move
			}
			if paused {
				a.guard.Pause(s.Name)
			} else {
				a.guard.Resume(s.Name)
			}
		}
		if emergency != nil {
			stopped, err := emergency.bool(sc)
			if err != nil {
				r.node.Logger().Error("emergency signal", "source", source, "error", err)
				stopped = true
			}
			r.EmergencyInput(source, stopped)
		}
	})
	if err != nil {
		return err
	}
	r.own(l)
	return nil
}

// watchCommands sees what others publish on the base's velocity topics.
func (r *Robot) watchCommands(a *baseActuator) error {
	sub, err := r.node.CreateSubscription(a.def.Stop.Topic, a.def.Stop.Type, ros.QoS{Depth: 20, Reliability: ros.BestEffort}, func(got ros.Received) {
		if got.Publisher == "" || r.ours(got.Publisher) {
			return
		}
		name, allowed := r.whoPublishes(a, got.Publisher)
		if a.guard.State().Owner == "" && allowed {
			a.guard.Permitted(name)
			return
		}
		a.guard.Foreign(name)
	})
	if err != nil {
		return fmt.Errorf("robottools: %s: %w", a.def.Stop.Topic, err)
	}
	r.own(sub)
	return nil
}

// ours reports whether a publisher id is one of this node's own velocity publishers.
func (r *Robot) ours(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.velocities {
		if v.pub.ID() == id {
			return true
		}
	}
	return false
}

// whoPublishes names the node behind a publisher id, and whether the profile allows it.
func (r *Robot) whoPublishes(a *baseActuator, id string) (string, bool) {
	infos, err := r.node.Graph().Publishers(a.def.Stop.Topic)
	if err != nil {
		return id, false
	}
	for _, i := range infos {
		if i.Publisher == id {
			return i.Node, slices.Contains(a.def.AllowedPublishers, i.Node)
		}
	}
	return id, false
}

// velocity publishes Twist or TwistStamped on one topic.
type velocity struct {
	node    ros.Node
	pub     ros.Publisher
	twist   *ros.Type // of the fields that profiles map
	stamped bool
	frame   string
}

// velocityOn shares one publisher per topic, so that a stop and a stream never differ in origin.
func (r *Robot) velocityOn(topic, typeName, frame string) (*velocity, error) {
	key := topic + " " + typeName
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.velocities[key]; ok {
		return v, nil
	}
	twist, err := r.node.Types().Message("geometry_msgs/msg/Twist")
	if err != nil {
		return nil, err
	}
	pub, err := r.node.CreatePublisher(topic, typeName, ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	if frame == "" {
		frame = r.profile.Frames.Base
	}
	v := &velocity{node: r.node, pub: pub, twist: twist, stamped: typeName == "geometry_msgs/msg/TwistStamped", frame: frame}
	r.velocities[key] = v
	r.owned = append(r.owned, pub)
	return v, nil
}

// send publishes one velocity: m/s forward, rad/s to the left.
func (v *velocity) send(linear, angular float64) error {
	m := ros.New(v.pub.Type())
	t := m
	if v.stamped {
		t = m.Msg("twist")
		m.SetStamp("header.stamp", v.node.Clock().Now())
		if err := m.Set("header.frame_id", v.frame); err != nil {
			return err
		}
	}
	if err := t.Set("linear.x", linear); err != nil {
		return err
	}
	if err := t.Set("angular.z", angular); err != nil {
		return err
	}
	return v.pub.Publish(m)
}

// subscriberPoll is how often a missing subscriber is looked for.
const subscriberPoll = 50 * time.Millisecond

// waitSubscriber waits until somebody other than this node's own watch listens.
func (v *velocity) waitSubscriber(ctx context.Context) error {
	tick := time.NewTicker(subscriberPoll)
	defer tick.Stop()
	for {
		ok, err := v.heard()
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: no subscriber: %w", v.pub.Topic(), ros.ErrNotReady)
		}
	}
}

// heard reports whether another node subscribes.
func (v *velocity) heard() (bool, error) {
	infos, err := v.node.Graph().Subscriptions(v.pub.Topic())
	if err != nil {
		return false, fmt.Errorf("%s: %w", v.pub.Topic(), err)
	}
	self := strings.TrimSuffix(v.node.Namespace(), "/") + "/" + v.node.Name()
	for _, i := range infos {
		if i.Node != self {
			return true, nil
		}
	}
	return false, nil
}
