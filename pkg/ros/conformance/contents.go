package conformance

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"agent_node/pkg/ros"
)

// contentTypes are messages that between them have every kind of field. A source
// of types need not have those of test_msgs.
var contentTypes = []string{
	"test_msgs/msg/Arrays", "test_msgs/msg/BasicTypes", "test_msgs/msg/BoundedPlainSequences", "test_msgs/msg/BoundedSequences",
	"test_msgs/msg/Builtins", "test_msgs/msg/Constants", "test_msgs/msg/Defaults", "test_msgs/msg/Empty",
	"test_msgs/msg/MultiNested", "test_msgs/msg/Nested", "test_msgs/msg/Strings", "test_msgs/msg/UnboundedSequences",
	"test_msgs/msg/WStrings",
	"std_msgs/msg/Empty", "geometry_msgs/msg/TwistStamped", "nav_msgs/msg/Odometry", "sensor_msgs/msg/BatteryState",
	"sensor_msgs/msg/Image", "sensor_msgs/msg/LaserScan", "trajectory_msgs/msg/MultiDOFJointTrajectory",
	"diagnostic_msgs/msg/DiagnosticArray", "rcl_interfaces/msg/ParameterEvent", "unique_identifier_msgs/msg/UUID",
}

var contentServices = []string{
	"test_msgs/srv/Arrays", "test_msgs/srv/BasicTypes", "test_msgs/srv/Empty",
	"std_srvs/srv/SetBool", "rcl_interfaces/srv/SetParameters", "lifecycle_msgs/srv/GetAvailableTransitions",
}

// contents sends every kind of field there and back, defaults, extremes and random values.
func contents(t *testing.T, a, b ros.Node) {
	for _, name := range contentTypes {
		typ, err := a.Types().Message(name)
		if errors.Is(err, ros.ErrUnknownType) && name[:9] == "test_msgs" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			topic := topicFor(t, "x")
			in := subscribe(t, b, topic, name, ros.QoS{Depth: 100})
			p := advertise(t, a, topic, name, ros.QoS{Depth: 100})
			matched(t, p, 1)
			for i, m := range samples(typ) {
				publish(t, p, m)
				if got := in.next(t).Message; !ros.Equal(got, m) {
					t.Fatalf("sample %d: sent %v\nreceived %v", i, m.Map(), got.Map())
				}
			}
		})
	}
	for _, name := range contentServices {
		typ, err := a.Types().Service(name)
		if errors.Is(err, ros.ErrUnknownType) && name[:9] == "test_msgs" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			asked, answers := make(chan *ros.Message, 1), make(chan *ros.Message, 1)
			s, err := b.CreateService(topicFor(t, "x"), name, func(_ context.Context, m *ros.Message) (*ros.Message, error) {
				asked <- m
				return <-answers, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			closeAfter(t, s)
			c, err := a.CreateClient(s.Service(), name)
			if err != nil {
				t.Fatal(err)
			}
			closeAfter(t, c)
			if err := c.WaitReady(soon(t)); err != nil {
				t.Fatal(err)
			}
			responseType, err := b.Types().Service(name)
			if err != nil {
				t.Fatal(err)
			}
			responses := samples(responseType.Response)
			for i, m := range samples(typ.Request) {
				answers <- responses[i]
				got, err := c.Call(soon(t), m)
				if err != nil {
					t.Fatal(err)
				}
				if q := receive(t, asked, "the request"); !ros.Equal(q, m) {
					t.Fatalf("sample %d: asked %v\nreceived %v", i, m.Map(), q.Map())
				}
				if !ros.Equal(got, responses[i]) {
					t.Fatalf("sample %d: answered %v\nreceived %v", i, responses[i].Map(), got.Map())
				}
			}
		})
	}
}

const randomSamples = 4

// samples are a type's default, its extremes, and random ones, the same at every run.
func samples(t *ros.Type) []*ros.Message {
	all := []*ros.Message{ros.New(t), Extreme(t)}
	r := rand.New(rand.NewPCG(1, 2))
	for range randomSamples {
		all = append(all, Random(t, r))
	}
	return all
}
