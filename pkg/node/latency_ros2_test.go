//go:build ros2

package node_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/ros2"
)

// The robot's side of the benchmark below runs in a process of its own: this test binary, started with this variable set to a domain.
const robotSide = "AGENT_NODE_BENCH_ROBOT_DOMAIN"

const (
	benchVelocity = "/bench/cmd_vel"
	benchEvent    = "/bench/emergency_stop"
	twist         = "geometry_msgs/msg/Twist"
	boolean       = "std_msgs/msg/Bool"
)

// setTime is a clock that stands where it is set, so that rest is measured in no time and what is timed is the way of the event alone.
type setTime struct {
	base  time.Time
	since atomic.Int64
}

type noTicks struct{ c chan time.Time }

func (t noTicks) C() <-chan time.Time { return t.c }
func (noTicks) Stop()                 {}

func (c *setTime) Now() time.Time { return c.base.Add(time.Duration(c.since.Load())) }
func (c *setTime) NewTicker(time.Duration) guard.Ticker {
	return noTicks{make(chan time.Time)}
}

// overROS is an actuator whose velocities are messages.
type overROS struct{ pub ros.Publisher }

func (d overROS) send(x float64) error {
	return d.pub.Publish(ros.New(d.pub.Type()).With("linear.x", x))
}
func (d overROS) Stop() error      { return d.send(0) }
func (overROS) Cancel(guard.Epoch) {}

func benchNode(b *testing.B, name string, domain int) *ros2.Node {
	n, err := ros2.NewNode(name, ros2.Options{Domain: domain, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = n.Close() })
	return n
}

// BenchmarkEventToStopOverROS: another process publishes that the emergency stop is pressed, and times until the zero velocity is there:
// two messages of ROS 2 and the guard between them. Median, 99th percentile and maximum of 10,000.
func BenchmarkEventToStopOverROS(b *testing.B) {
	const rounds = 10_000
	domain := 60 + os.Getpid()%40
	if os.Getenv(robotSide) != "" {
		b.Skip("this process plays the robot")
	}
	b.Setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
	n := benchNode(b, "bench_guard", domain)
	pub, err := n.CreatePublisher(benchVelocity, twist, ros.QoS{Depth: 10})
	if err != nil {
		b.Fatal(err)
	}
	clock := &setTime{base: time.Now()}
	g := guard.New(guard.GuardConfig{Clock: clock})
	cfg := guard.DefaultConfig("base")
	cfg.Axes = []guard.Axis{{Name: "x", Group: guard.Linear}}
	cfg.Period = 100 * time.Millisecond // few samples make a window
	cfg.StallTime = 1000 * time.Hour    // of the flying time
	d := overROS{pub}
	a, err := g.Add(cfg, d)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := n.CreateSubscription(benchEvent, boolean, ros.QoS{Depth: 10}, func(r ros.Received) { g.EmergencyStop(r.Message.Bool("data")) }); err != nil {
		b.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var guarding, feeding sync.WaitGroup
	guarding.Go(func() { _ = g.Run(ctx) })
	enough := make(chan struct{})
	feeding.Go(func() { // the sensor: it always shows rest, and its time flies
		for i := 0; ; i++ {
			select {
			case <-enough:
				return
			case <-time.After(20 * time.Microsecond):
			}
			clock.since.Add(int64(cfg.Period))
			a.Observe(guard.Sample{Stamp: clock.Now(), Position: []float64{1e-5 * float64(i%2)}, Velocity: []float64{0}})
		}
	})
	robot := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestRobotSideOfTheBenchmark$", "-test.v")
	robot.Env = append(os.Environ(), fmt.Sprintf("%s=%d", robotSide, domain), fmt.Sprintf("AGENT_NODE_BENCH_ROUNDS=%d", rounds))
	var told resultLines
	robot.Stdout, robot.Stderr = &told, os.Stderr
	if err := robot.Start(); err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- robot.Wait() }()
	over := false
	for !over {
		select {
		case err := <-done:
			if err != nil {
				b.Fatalf("the robot's side: %v\n%s", err, told.text)
			}
			over = true
			continue
		default:
		}
		l, err := a.Acquire(ctx, "bench")
		if err != nil {
			g.EmergencyStop(false)
			_ = g.Reset(ctx)
			continue
		}
		limited, cancel := context.WithTimeout(ctx, 2*time.Second) // the last one, when the robot has gone
		_ = l.Execute(limited, guard.Command{
			Start: func(guard.Epoch) error {
				time.AfterFunc(time.Millisecond, func() { _ = d.send(0.1) }) // in flight by then: it goes
				return nil
			},
			Stream: func(guard.Epoch, time.Time, guard.Sample) (bool, error) { return false, nil },
		})
		cancel()
		l.Release()
	}
	end()
	guarding.Wait()
	close(enough)
	feeding.Wait()
	var median, p99, most float64
	if _, err := fmt.Sscanf(told.find("took "), "took %f %f %f", &median, &p99, &most); err != nil {
		b.Fatalf("the robot's side said %q", told.text)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median, "median-us")
	b.ReportMetric(p99, "p99-us")
	b.ReportMetric(most, "max-us")
}

type resultLines struct{ text []byte }

func (r *resultLines) Write(p []byte) (int, error) { r.text = append(r.text, p...); return len(p), nil }

func (r *resultLines) find(prefix string) string {
	for line := range slices.Values(splitLines(string(r.text))) {
		if len(line) >= len(prefix) && line[:len(prefix)] == prefix {
			return line
		}
	}
	return ""
}

func splitLines(s string) (lines []string) {
	for len(s) > 0 {
		i := slices.Index([]byte(s), '\n')
		if i < 0 {
			i = len(s) - 1
		}
		lines, s = append(lines, s[:i]), s[i+1:]
	}
	return lines
}

// TestRobotSideOfTheBenchmark is no test: it plays the robot for the benchmark above, in a process that the benchmark starts.
func TestRobotSideOfTheBenchmark(t *testing.T) {
	var domain, rounds int
	if _, err := fmt.Sscan(os.Getenv(robotSide), &domain); err != nil {
		t.Skip("only the benchmark BenchmarkEventToStopOverROS runs it")
	}
	if _, err := fmt.Sscan(os.Getenv("AGENT_NODE_BENCH_ROUNDS"), &rounds); err != nil {
		t.Fatal(err)
	}
	n, err := ros2.NewNode("bench_robot", ros2.Options{Domain: domain, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	press, err := n.CreatePublisher(benchEvent, boolean, ros.QoS{Depth: 10})
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{}, 1)
	stopped := make(chan time.Time, 1)
	_, err = n.CreateSubscription(benchVelocity, twist, ros.QoS{Depth: 10}, func(r ros.Received) {
		now := time.Now()
		if math.Abs(r.Message.Float("linear.x")) > 0 {
			select {
			case began <- struct{}{}:
			default:
			}
			return
		}
		select {
		case stopped <- now:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for len(took) < rounds {
		select {
		case <-began:
		case <-time.After(30 * time.Second):
			t.Fatalf("nothing is commanded any more, after %d rounds", len(took))
		}
		for len(stopped) > 0 {
			<-stopped
		}
		at := time.Now()
		if err := press.Publish(ros.New(press.Type()).With("data", true)); err != nil {
			t.Fatal(err)
		}
		select {
		case now := <-stopped:
			took = append(took, now.Sub(at))
		case <-time.After(10 * time.Second):
			t.Fatalf("no stop, after %d rounds", len(took))
		}
	}
	slices.Sort(took)
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	fmt.Printf("took %.1f %.1f %.1f\n", us(took[len(took)/2]), us(took[len(took)*99/100]), us(took[len(took)-1]))
}
