//go:build ros2

package ros2

import (
	"testing"

	"agent_node/pkg/ros"
)

// benchmarked are the messages of tools/bench-messages, which makes the same with rclpy.
func benchmarked(b *testing.B, types *Types) map[string]*ros.Message {
	fresh := func(name string) *ros.Message {
		t, err := types.Message(name)
		if err != nil {
			b.Fatal(err)
		}
		return ros.New(t)
	}
	return map[string]*ros.Message{
		"Twist": fresh("geometry_msgs/msg/Twist").With("linear.x", 0.25).With("angular.z", -0.5),
		"Odometry": fresh("nav_msgs/msg/Odometry").With("header.stamp.sec", 1700000000).With("header.frame_id", "odom").
			With("child_frame_id", "base_link").With("pose.pose.position.x", 1.5).With("pose.covariance", numbers[float64](36)),
		"JointState": fresh("sensor_msgs/msg/JointState").With("header.frame_id", "base_link").
			With("name", []string{"joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6", "joint_7"}).
			With("position", numbers[float64](7)).With("velocity", numbers[float64](7)).With("effort", numbers[float64](7)),
		"LaserScan": fresh("sensor_msgs/msg/LaserScan").With("header.frame_id", "laser").With("ranges", numbers[float32](1080)),
		"Image": fresh("sensor_msgs/msg/Image").With("header.frame_id", "camera").With("encoding", "mono8").
			With("height", 1024).With("width", 1024).With("step", 1024).With("data", make([]uint8, 1<<20)),
	}
}

func numbers[T float32 | float64](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i) * 0.125
	}
	return x
}

// BenchmarkMessage: encode is ros.Message to C memory to CDR bytes, decode is the way back.
func BenchmarkMessage(b *testing.B) {
	types := NewTypes()
	for name, m := range benchmarked(b, types) {
		c, err := types.Codec(m.Type.Name)
		if err != nil {
			b.Fatal(err)
		}
		data, err := c.Append(nil, m)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/encode", func(b *testing.B) {
			b.ReportAllocs()
			var to []byte
			for b.Loop() {
				var err error
				if to, err = c.Append(to[:0], m); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConversion is this package's own part: ros.Message to C memory and back.
func BenchmarkConversion(b *testing.B) {
	types := NewTypes()
	for name, m := range benchmarked(b, types) {
		c := newCMessage(mustSupport(b, types, m.Type.Name))
		if err := c.set(m); err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/encode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.set(m); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.get()
			}
		})
		c.free()
	}
}

// BenchmarkRoundTrip is a message to another node and one back, from Publish to callback both times.
func BenchmarkRoundTrip(b *testing.B) {
	here, there := newNode(b, "here", Options{}), newNode(b, "there", Options{})
	publisher := func(n *Node, topic string) ros.Publisher {
		p, err := n.CreatePublisher(topic, "geometry_msgs/msg/Twist", ros.DefaultQoS())
		if err != nil {
			b.Fatal(err)
		}
		return p
	}
	ping, pong := publisher(here, "ping"), publisher(there, "pong")
	back := make(chan struct{}, 1)
	for n, answer := range map[*Node]func(ros.Received){
		there: func(r ros.Received) {
			if err := pong.Publish(r.Message); err != nil {
				b.Error(err)
			}
		},
		here: func(ros.Received) { back <- struct{}{} },
	} {
		topic := map[*Node]string{there: "ping", here: "pong"}[n]
		if _, err := n.CreateSubscription(topic, "geometry_msgs/msg/Twist", ros.DefaultQoS(), answer); err != nil {
			b.Fatal(err)
		}
	}
	eventually(b, "a match", func() bool { return ping.SubscriptionCount() == 1 && pong.SubscriptionCount() == 1 })
	m := ros.New(ping.Type())
	for b.Loop() {
		if err := ping.Publish(m); err != nil {
			b.Fatal(err)
		}
		<-back
	}
}

// BenchmarkCall is a service call to another node.
func BenchmarkCall(b *testing.B) {
	here, there := newNode(b, "here", Options{}), newNode(b, "there", Options{})
	if _, err := there.CreateService("echo", "test_msgs/srv/BasicTypes", echo); err != nil {
		b.Fatal(err)
	}
	c, err := here.CreateClient("echo", "test_msgs/srv/BasicTypes")
	if err != nil {
		b.Fatal(err)
	}
	if err := c.WaitReady(b.Context()); err != nil {
		b.Fatal(err)
	}
	m := ros.New(c.Type().Request)
	for b.Loop() {
		if _, err := c.Call(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
}
