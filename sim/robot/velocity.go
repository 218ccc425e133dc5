package robot

import (
	"time"

	"agent_node/pkg/ros"
	"agent_node/sim/world"
)

// openVelocity subscribes to the two velocity topics.
func (r *Robot) openVelocity() error {
	for _, in := range []struct{ topic, typeName, twist string }{
		{"cmd_vel", "geometry_msgs/msg/Twist", ""},
		{"cmd_vel_stamped", "geometry_msgs/msg/TwistStamped", "twist"},
	} {
		name, err := r.node.ResolveName(in.topic)
		if err != nil {
			return err
		}
		counter := r.addCounter(name)
		s, err := r.node.CreateSubscription(in.topic, in.typeName, ros.DefaultQoS(), func(got ros.Received) {
			twist, age := got.Message, time.Duration(0)
			if in.twist != "" {
				twist = got.Message.Msg(in.twist)
				age = r.age(got.Message.Stamp("header.stamp"))
			}
			r.velocity(counter, twist, age)
		})
		if err != nil {
			return err
		}
		r.closers = append(r.closers, s)
	}
	return nil
}

// age of a command with the stamp; one without a stamp is new.
func (r *Robot) age(stamp ros.Time) time.Duration {
	switch {
	case stamp.IsZero():
		return 0
	case r.time.simulated:
		return r.time.stamp(r.now()).Sub(stamp)
	}
	return r.time.clock.Now().Sub(stamp)
}

// velocity takes the base over: navigation under way ends here. A command as old as the
// silence limit is as good as none, as diff_drive_controller has it.
func (r *Robot) velocity(counter int, twist *ros.Message, age time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if nonzero(twist) {
		r.counters.counts[counter]++
	}
	if age.Seconds() > r.world.Robot.SilenceLimit {
		return
	}
	r.takeOver()
	r.sim.Command(world.Twist{Linear: twist.Float("linear.x"), Angular: twist.Float("angular.z")})
}
