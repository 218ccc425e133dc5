package robot_test

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/mem"
	"agent_node/sim/robot"
	"agent_node/sim/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a robot on a bus of its own and a client beside it, in a bubble of fake time.
type rig struct {
	t      *testing.T
	bus    *mem.Bus
	robot  *robot.Robot
	client *mem.Node

	mu    sync.Mutex
	heard map[string][]*ros.Message
}

// withRobot runs a test with a robot whose time passes.
func withRobot(t *testing.T, o robot.Options, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		quiet := slog.New(slog.DiscardHandler)
		r := &rig{t: t, bus: mem.NewBus(), heard: make(map[string][]*ros.Message)}
		node, err := r.bus.NewNode("sim_robot", mem.Options{Logger: quiet})
		r.must(err)
		r.client, err = r.bus.NewNode("client", mem.Options{Logger: quiet})
		r.must(err)
		r.robot, err = robot.New(node, o)
		r.must(err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.robot.Run(ctx) }()
		test(t, r)
		stop()
		r.must(<-ended)
		r.must(r.client.Close())
		r.must(node.Close())
		r.must(r.bus.Close())
	})
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// wait lets simulated time pass (the rate is 1 in most tests).
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// hear subscribes to a topic and keeps what comes.
func (r *rig) hear(topic, typeName string, qos ros.QoS) {
	r.t.Helper()
	if qos.Depth == 0 {
		qos.Depth = 1000
	}
	_, err := r.client.CreateSubscription(topic, typeName, qos, func(got ros.Received) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.heard[topic] = append(r.heard[topic], got.Message)
	})
	r.must(err)
}

// all is what came on a topic so far.
func (r *rig) all(topic string) []*ros.Message {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*ros.Message(nil), r.heard[topic]...)
}

// last is the newest message of a topic.
func (r *rig) last(topic string) *ros.Message {
	r.t.Helper()
	got := r.all(topic)
	if len(got) == 0 {
		r.t.Fatalf("nothing on %s", topic)
	}
	return got[len(got)-1]
}

func (r *rig) set(name string, v any) {
	r.t.Helper()
	r.must(r.robot.SetParameter(name, v))
	synctest.Wait()
}

// navigator is a client of navigate_to_pose.
func (r *rig) navigator() *action.Client {
	r.t.Helper()
	c, err := action.NewClient(r.client, "/navigate_to_pose", "nav2_msgs/action/NavigateToPose")
	r.must(err)
	return c
}

// goal is a goal of navigate_to_pose.
func goal(c *action.Client, frame string, p world.Pose) *ros.Message {
	s, co := math.Sincos(p.Yaw / 2)
	return ros.New(c.Type().Goal).With("pose.header.frame_id", frame).
		With("pose.pose.position.x", p.X).With("pose.pose.position.y", p.Y).
		With("pose.pose.orientation.z", s).With("pose.pose.orientation.w", co)
}

func (r *rig) place(name string) world.Pose {
	r.t.Helper()
	p, err := r.robot.World().Place(name)
	r.must(err)
	return p.Pose
}

// send sends a goal that must be accepted.
func (r *rig) send(c *action.Client, m *ros.Message, o action.GoalOptions) *action.Goal {
	r.t.Helper()
	g, err := c.Send(r.t.Context(), m, o)
	r.must(err)
	return g
}

// outcome waits for a goal's end, for a minute at most.
func (r *rig) outcome(g *action.Goal) action.Outcome {
	r.t.Helper()
	ctx, stop := context.WithTimeout(r.t.Context(), time.Minute)
	defer stop()
	o, err := g.Result(ctx)
	r.must(err)
	return o
}

// ended reports whether a goal has its outcome.
func ended(g *action.Goal) bool {
	synctest.Wait()
	select {
	case <-g.Done():
		return true
	default:
		return false
	}
}

// velocity makes a publisher of cmd_vel and returns what sends a twist on it.
func (r *rig) velocity() func(linear, angular float64) {
	r.t.Helper()
	p, err := r.client.CreatePublisher("/cmd_vel", "geometry_msgs/msg/Twist", ros.DefaultQoS())
	r.must(err)
	return func(linear, angular float64) {
		r.must(p.Publish(ros.New(p.Type()).With("linear.x", linear).With("angular.z", angular)))
		synctest.Wait()
	}
}

func (r *rig) moving() bool {
	t := r.robot.Truth().Twist
	return math.Abs(t.Linear) > 0.01 || math.Abs(t.Angular) > 0.02
}

func wantStatus(t *testing.T, o action.Outcome, status action.Status, code uint64) {
	t.Helper()
	if got := o.Result.Uint("error_code"); o.Status != status || got != code {
		t.Errorf("status %v with error_code %d (%s), want %v with %d", o.Status, got, o.Result.Str("error_msg"), status, code)
	}
}
