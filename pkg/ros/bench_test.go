package ros_test

import (
	"maps"
	"slices"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/conformance"
	"agent_node/pkg/ros/msgdef"
)

// benchMessages are the messages of the speed comparison, as robots send them.
func benchMessages(b *testing.B) map[string]*ros.Message {
	b.Helper()
	source := msgdef.Embedded()
	blank := func(name string) *ros.Message {
		t, err := source.Message(name)
		if err != nil {
			b.Fatal(err)
		}
		return ros.New(t)
	}
	ranges := func(n int) []float32 {
		s := []float32{}
		for i := range n {
			s = append(s, 1+float32(i)/7)
		}
		return s
	}
	joints, names := []float64{}, []string{}
	for i := range 6 {
		joints, names = append(joints, float64(i)/3), append(names, "joint_"+string(rune('1'+i)))
	}
	return map[string]*ros.Message{
		"Twist":      blank("geometry_msgs/msg/Twist").With("linear.x", 0.25).With("angular.z", -0.1),
		"Odometry":   blank("nav_msgs/msg/Odometry").With("header.frame_id", "odom").With("child_frame_id", "base_link").With("pose.pose.position.x", 1.25),
		"JointState": blank("sensor_msgs/msg/JointState").With("name", names).With("position", joints).With("velocity", joints),
		"LaserScan":  blank("sensor_msgs/msg/LaserScan").With("ranges", ranges(1080)),
		"Image1MB":   blank("sensor_msgs/msg/Image").With("encoding", "rgb8").With("data", make1MB()),
	}
}

func make1MB() []byte {
	b := []byte{}
	for i := range 1 << 20 {
		b = append(b, byte(i*7))
	}
	return b
}

func BenchmarkMessage(b *testing.B) {
	all := benchMessages(b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		text, err := m.AppendJSON(nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("EncodeJSON/"+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			var buf []byte
			for b.Loop() {
				buf, _ = m.AppendJSON(buf[:0])
			}
		})
		b.Run("DecodeJSON/"+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := ros.DecodeJSON(m.Type, text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Clone/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Clone()
			}
		})
		b.Run("Validate/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Validate(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Map/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Map()
			}
		})
	}
	b.Run("Set", func(b *testing.B) {
		b.ReportAllocs()
		m := conformance.Extreme(everyType)
		for b.Loop() {
			if err := m.Set("pose.position.x", 1.5); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("New/Odometry", func(b *testing.B) {
		b.ReportAllocs()
		t := benchMessages(b)["Odometry"].Type
		for b.Loop() {
			ros.New(t)
		}
	})
}
