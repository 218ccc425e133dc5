package watchdog_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/watchdog"
	"agent_node/sim/robot"
)

// rig is the built-in robot, a watchdog, and a peer that plays the node that is watched.
type rig struct {
	t     *testing.T
	bot   *robot.Robot
	peer  ros.Node
	beats ros.Publisher
	pair  *ros.Type
	dir   string // of traces
	beat  watchdog.Beat
	mu    sync.Mutex
	said  []watchdog.Status
	goals *action.Client
}

func inBubble(t *testing.T, test func(*rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(newRig(t)) })
}

func newRig(t *testing.T) *rig {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if os.Getenv("RIG_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	bus := mem.NewBus()
	t.Cleanup(func() { must(t, bus.Close()) })
	r := &rig{t: t, dir: t.TempDir()}
	r.bot = must1(robot.New(must1(bus.NewNode("sim_robot", mem.Options{Logger: log}))(t), robot.Options{Seed: 5}))(t)
	w := must1(watchdog.New(must1(bus.NewNode("agent_node_watchdog", mem.Options{Logger: log}))(t)))(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- r.bot.Run(ctx) }()
	go func() { done <- errors.Join(w.Run(ctx), w.Close()) }()
	t.Cleanup(func() { cancel(); must(t, <-done); must(t, <-done) })

	r.peer = must1(bus.NewNode("agent_node", mem.Options{Logger: log}))(t)
	r.pair = must1(r.peer.Types().Message("diagnostic_msgs/msg/KeyValue"))(t)
	r.beats = must1(r.peer.CreatePublisher(watchdog.BeatTopic, watchdog.MessageType, ros.QoS{Depth: 1}))(t)
	must1(r.peer.CreateSubscription(watchdog.StatusTopic, watchdog.MessageType, ros.LatchedQoS(), func(m ros.Received) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.said = append(r.said, watchdog.ReadStatus(m.Message))
	}))(t)
	r.goals = must1(action.NewClient(r.peer, "/navigate_to_pose", "nav2_msgs/action/NavigateToPose"))(t)
	t.Cleanup(func() { must(t, r.goals.Close()) })
	r.beat = watchdog.Beat{Process: watchdog.Process{PID: 4242}, TraceDir: r.dir} // of a machine that cannot be seen into
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func must1[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (r *rig) publish(b watchdog.Beat) {
	must(r.t, r.beats.Publish(b.Write(ros.New(r.beats.Type()), "agent_node", r.pair)))
}

// live beats for a time.
func (r *rig) live(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(watchdog.BeatPeriod) {
		r.publish(r.beat)
	}
}

// navigate sends the robot to the kitchen and writes the trace that a node would.
func (r *rig) navigate() *action.Goal {
	r.t.Helper()
	pose := r.goals.Type().Goal
	goal := ros.New(pose)
	must(r.t, goal.Set("pose.header.frame_id", "map"))
	must(r.t, goal.Set("pose.pose.position.x", 1.4))
	must(r.t, goal.Set("pose.pose.position.y", 1.5))
	must(r.t, goal.Set("pose.pose.orientation.w", 1.0))
	var id string
	g := must1(r.goals.Send(context.Background(), goal, action.GoalOptions{Sending: func(x action.GoalID) { id = x.String() }}))(r.t)
	write(r.t, r.dir, "s", []event{
		called("1", "navigate_to", "skill"),
		{"tool.skill.goal_sent", "1", map[string]any{"action": "/navigate_to_pose", "goal": id, "actuator": "base"}},
		turned("base", "in_flight"),
	}, true)
	r.beat.Busy = []string{"base"}
	return g
}

func (r *rig) speed() float64 {
	v := r.bot.Truth().Twist
	return math.Hypot(v.Linear, v.Angular)
}

func (r *rig) fault(name string, on bool) {
	client := must1(r.peer.CreateClient("/sim_robot/set_parameters", "rcl_interfaces/srv/SetParameters"))(r.t)
	defer client.Close()
	must(r.t, client.WaitReady(context.Background()))
	req := ros.New(client.Type().Request)
	must(r.t, req.Set("parameters", []any{map[string]any{"name": "fault." + name, "value": map[string]any{"type": 1, "bool_value": on}}}))
	resp := must1(client.Call(context.Background(), req))(r.t)
	for _, res := range resp.Msgs("results") {
		if !res.Bool("successful") {
			r.t.Error(res.Str("reason"))
		}
	}
}

func (r *rig) lastSaid() watchdog.Status {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.said) == 0 {
		return watchdog.Status{}
	}
	return r.said[len(r.said)-1]
}

// silence begins now: when was it noticed, and since when is the robot at rest.
func (r *rig) silence(limit time.Duration) (noticed, rested time.Duration) {
	r.t.Helper()
	begin := time.Now()
	noticed, rested = -1, -1
	for time.Since(begin) < limit {
		if noticed < 0 && r.lastSaid().Tripped {
			noticed = time.Since(begin)
		}
		switch {
		case r.speed() > 0.011:
			rested = -1
		case rested < 0:
			rested = time.Since(begin)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return noticed, rested
}

func TestSilenceEndsWhatTheTraceNames(t *testing.T) {
	for _, fault := range []string{"", "refuse_cancel", "ignore_cancel", "late_result", "drop_feedback"} {
		t.Run(fault, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				if fault != "" {
					r.fault(fault, true)
				}
				r.live(time.Second)
				g := r.navigate()
				r.live(3 * time.Second)
				if s := r.lastSaid(); !s.Watching || s.Tripped {
					t.Fatalf("while it beats: %+v", s)
				}
				if r.speed() < 0.1 {
					t.Fatal("it does not drive")
				}
				noticed, rested := r.silence(4 * time.Second)
				if noticed < 0 || noticed > time.Second {
					t.Errorf("noticed after %v", noticed)
				}
				if rested < 0 || rested > 3*time.Second {
					t.Errorf("at rest after %v", rested)
				}
				t.Logf("noticed after %v, at rest after %v", noticed, rested)
				if fault == "" {
					if out, err := g.Result(context.Background()); err != nil || out.Status != action.StatusCanceled {
						t.Errorf("the goal: %+v, %v", out, err)
					}
					if n := r.bot.Counters()["/cmd_vel"]; n != 0 {
						t.Errorf("%d velocities, though the cancel was enough", n)
					}
				}
			})
		})
	}
}

func TestAStreamThatGoesOnIsOutshouted(t *testing.T) {
	inBubble(t, func(r *rig) {
		// A node that hangs with its publisher alive: the last velocity over and over.
		pub := must1(r.peer.CreatePublisher("/cmd_vel", "geometry_msgs/msg/Twist", ros.DefaultQoS()))(t)
		push := ros.New(pub.Type())
		must(t, push.Set("linear.x", 0.3))
		r.live(time.Second)
		r.beat.Busy = []string{"base"}
		for range 20 {
			must(t, pub.Publish(push))
			r.live(100 * time.Millisecond)
		}
		noticed, rested := r.silence(3 * time.Second) // it has fallen silent on both
		if noticed < 0 || noticed > time.Second || rested < 0 || rested > 3*time.Second {
			t.Errorf("noticed after %v, at rest after %v", noticed, rested)
		}
	})
}

func TestANodeThatSaysItCannotGuardIsStoodInFor(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.live(time.Second)
		r.navigate()
		r.live(3 * time.Second)
		r.beat.Problem = "nothing guards base"
		r.publish(r.beat)
		noticed, rested := r.silence(3 * time.Second)
		if noticed < 0 || noticed > 200*time.Millisecond || rested < 0 || rested > 2*time.Second {
			t.Errorf("noticed after %v, at rest after %v", noticed, rested)
		}
		if s := r.lastSaid(); !strings.Contains(s.Text, "nothing guards base") {
			t.Errorf("said %q", s.Text)
		}
	})
}

func TestWhatIsNotMovedIsLeftAlone(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.live(2 * time.Second)
		before := r.bot.Counters()
		noticed, _ := r.silence(3 * time.Second)
		if noticed < 0 {
			t.Error("not noticed")
		}
		for name, n := range r.bot.Counters() {
			if n != before[name] {
				t.Errorf("%s: %d more", name, n-before[name])
			}
		}
		// It comes back and is watched again; then it says goodbye and is not missed.
		r.live(time.Second)
		if s := r.lastSaid(); !s.Watching || s.Tripped {
			t.Errorf("back: %+v", s)
		}
		bye := r.beat
		bye.Bye = true
		r.publish(bye)
		if noticed, _ := r.silence(3 * time.Second); noticed >= 0 {
			t.Error("a node that has said goodbye is missed")
		}
	})
}

func TestASecondDeathIsNoticedAsTheFirst(t *testing.T) {
	inBubble(t, func(r *rig) {
		for i := range 2 {
			r.live(time.Second)
			r.navigate()
			r.live(3 * time.Second)
			noticed, rested := r.silence(4 * time.Second)
			if noticed < 0 || noticed > time.Second || rested < 0 || rested > 3*time.Second {
				t.Errorf("life %d: noticed after %v, at rest after %v", i, noticed, rested)
			}
			must(t, os.Remove(r.dir+"/s.jsonl"))
			r.beat.Busy = nil
			r.beat.Process.PID++
		}
	})
}

// Where rest cannot be measured the zeros go on, until the node is back.
func TestStopsGoOnWhileRestIsNotMeasured(t *testing.T) {
	inBubble(t, func(r *rig) {
		var zeros atomic.Int64
		must1(r.peer.CreateSubscription("/cmd_vel", "geometry_msgs/msg/Twist", ros.DefaultQoS(), func(m ros.Received) {
			if m.Message.Float("linear.x") == 0 {
				zeros.Add(1)
			}
		}))(t)
		r.live(time.Second)
		r.navigate()
		r.live(3 * time.Second)
		r.fault("stop_odom", true)
		if _, rested := r.silence(10 * time.Second); rested < 0 || rested > 3*time.Second {
			t.Errorf("truly at rest after %v", rested)
		}
		before := zeros.Load()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := zeros.Load() - before; n < 30 {
			t.Errorf("%d zeros in 2 s, 10 s after, want 40", n)
		}
		r.fault("stop_odom", false)
		r.beat.Process.PID++
		r.beat.Busy = nil
		r.live(2 * time.Second)
		before = zeros.Load()
		r.live(2 * time.Second)
		if s := r.lastSaid(); !s.Watching || zeros.Load() != before {
			t.Errorf("the node is back: %+v, %d zeros", s, zeros.Load()-before)
		}
	})
}

// Whoever could stop nothing does not say that it watches: a node that needs a watchdog has none then.
func TestAWatchdogThatCannotStandInSaysSo(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.beat.Profile = "/nowhere/robot.yaml"
		r.live(2 * time.Second)
		if s := r.lastSaid(); s.Watching || s.Tripped || !strings.Contains(s.Text, "/nowhere/robot.yaml") {
			t.Errorf("%+v", s)
		}
	})
}

// A profile that the node has by the name it is shipped under is the watchdog's by that name.
func TestShippedProfilesAreStoodInFor(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.beat.Profile = robottools.Source("sim_robot")
		r.live(time.Second)
		r.navigate()
		r.live(3 * time.Second)
		if noticed, rested := r.silence(3 * time.Second); noticed < 0 || rested < 0 {
			t.Errorf("noticed after %v, at rest after %v", noticed, rested)
		}
	})
}

func TestSourcesOfProfiles(t *testing.T) {
	here := must1(os.Getwd())(t)
	for name, want := range map[string]string{"": "", "sim_robot": "sim_robot", "watch.go": here + "/watch.go", "no_such": here + "/no_such", "/etc/robot.yaml": "/etc/robot.yaml"} {
		if got := robottools.Source(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
