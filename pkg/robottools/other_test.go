package robottools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
)

// lift is an actuator that no room here knows: it goes up and down, by whatever it is told.
type lift struct {
	t    *testing.T
	node ros.Node

	mu       sync.Mutex
	height   float64
	velocity float64
	target   float64 // to go to, NaN: none
	wanted   float64 // velocity, where there is no target
	frozen   bool
	commands int // positions and velocities, but for stops
	stops    int
	calls    int
	fails    bool // the service's word
	speed    float64
}

const liftPeriod = 20 * time.Millisecond

func newLift(t *testing.T, bus *mem.Bus) *lift {
	t.Helper()
	l := &lift{t: t, node: must1(bus.NewNode("lift", mem.Options{Logger: slog.New(slog.DiscardHandler)}))(t), target: math.NaN(), speed: 0.2}
	must1(l.node.CreateSubscription("/lift/position", "std_msgs/msg/Float64", ros.DefaultQoS(), func(r ros.Received) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.target = r.Message.Float("data")
		l.commands++
	}))(t)
	must1(l.node.CreateSubscription("/lift/velocity", "std_msgs/msg/Float64", ros.DefaultQoS(), func(r ros.Received) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.target, l.wanted = math.NaN(), r.Message.Float("data")
		if l.wanted == 0 {
			l.stops++
		} else {
			l.commands++
		}
	}))(t)
	must1(l.node.CreateService("/lift/raise", "std_srvs/srv/SetBool", func(ctx context.Context, req *ros.Message) (*ros.Message, error) {
		l.mu.Lock()
		l.calls++
		fails := l.fails
		if !fails {
			l.target = map[bool]float64{true: 0.5, false: 0}[req.Bool("data")]
		}
		l.mu.Unlock()
		return ros.New(must1(l.node.Types().Service("std_srvs/srv/SetBool"))(t).Response).With("success", !fails), nil
	}))(t)
	must1(l.node.CreateService("/lift/raise_and_wait", "std_srvs/srv/Trigger", func(ctx context.Context, _ *ros.Message) (*ros.Message, error) {
		l.mu.Lock()
		l.calls++
		l.target = 0.5
		l.mu.Unlock()
		for {
			l.mu.Lock()
			there := math.Abs(l.height-0.5) < 0.001
			l.mu.Unlock()
			if there {
				return ros.New(must1(l.node.Types().Service("std_srvs/srv/Trigger"))(t).Response).With("success", true), nil
			}
			select {
			case <-time.After(liftPeriod):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}))(t)
	must1(l.node.CreateService("/lift/halt", "std_srvs/srv/Trigger", func(context.Context, *ros.Message) (*ros.Message, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.target, l.wanted = math.NaN(), 0
		l.stops++
		return ros.New(must1(l.node.Types().Service("std_srvs/srv/Trigger"))(t).Response).With("success", true), nil
	}))(t)
	return l
}

// run moves and measures until ctx ends: on a status topic and by a transform.
func (l *lift) run(ctx context.Context) {
	status := must1(l.node.CreatePublisher("/lift/status", "sensor_msgs/msg/Range", ros.DefaultQoS()))(l.t)
	tf := must1(l.node.CreatePublisher("/tf", "tf2_msgs/msg/TFMessage", ros.DefaultQoS()))(l.t)
	link := must1(l.node.Types().Message("geometry_msgs/msg/TransformStamped"))(l.t)
	tick := time.NewTicker(liftPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		l.mu.Lock()
		dt := liftPeriod.Seconds()
		want := l.wanted
		if !math.IsNaN(l.target) {
			want = math.Max(-l.speed, math.Min(l.speed, (l.target-l.height)/dt))
		}
		l.velocity += math.Max(-2*dt, math.Min(2*dt, want-l.velocity)) // 2 m/s^2
		if math.Abs(want) < math.Abs(l.velocity) && !math.IsNaN(l.target) {
			l.velocity = want // it does not run past
		}
		l.height += l.velocity * dt
		height := l.height
		frozen := l.frozen
		l.mu.Unlock()
		if frozen {
			continue
		}
		now := l.node.Clock().Now()
		m := ros.New(status.Type()).With("range", float32(height))
		m.SetStamp("header.stamp", now)
		must(l.t, status.Publish(m))
		x := ros.New(link).With("header.frame_id", "base_link").With("child_frame_id", "lift_link").With("transform.translation.z", height).With("transform.rotation.w", 1.0)
		x.SetStamp("header.stamp", now)
		must(l.t, tf.Publish(ros.New(tf.Type()).With("transforms", []*ros.Message{x})))
	}
}

func (l *lift) now() (height, velocity float64, commands, stops, calls int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.height, l.velocity, l.commands, l.stops, l.calls
}

const (
	byStatus    = `{topic: /lift/status, type: sensor_msgs/msg/Range, period: 0.02, position: ["double(msg.range)"]}`
	byTransform = `{transform: {target: base_link, source: lift_link}, period: 0.02}`
	stopTopic   = `{topic: /lift/velocity, type: std_msgs/msg/Float64, message: {data: "0.0"}}`
	stopHold    = `{topic: /lift/position, type: std_msgs/msg/Float64, message: {data: state.z}}`
	stopService = `{service: /lift/halt, type: std_srvs/srv/Trigger}`
)

// liftProfile is a profile of the lift alone.
func liftProfile(feedback, stop, more string) string {
	return fmt.Sprintf(`
name: lift
simulation: true
frames: {map: map, odom: odom, base: base_link}
actuators:
  lift:
    kind: other
    axes: [{name: z, group: linear}]
    feedback: %s
    stop: %s
    limits: {deceleration: 1.0}
    %s
tools:
  move_to:
    class: skill
    description: Move to a height.
    actuator: lift
    parameters: &height
      type: object
      properties: {height: {type: number}}
      required: [height]
      additionalProperties: false
    requires: {"too high": "args.height <= 1.0 && args.height >= 0.0"}
    binding:
      publish: {name: /lift/position, type: std_msgs/msg/Float64, once: true, message: {data: args.height}, until: "math.abs(state.z - args.height) < 0.002"}
    validators: [rules]
    time_limit: {factor: 2.0, plus: 1.0}
    estimate: math.abs(args.height - state.z) / 0.2
  run_up:
    class: skill
    description: Run up by a distance.
    actuator: lift
    parameters: *height
    requires: {"too high": args.height <= 1.0}
    binding:
      publish: {name: /lift/velocity, type: std_msgs/msg/Float64, message: {data: "0.2"}, until: moved.z >= args.height}
    validators: [rules]
  raise:
    class: skill
    description: Raise by a service that answers at once.
    actuator: lift
    parameters: {type: object, additionalProperties: false}
    binding:
      service: {name: /lift/raise, type: std_srvs/srv/SetBool, request: {data: "true"}, success: response.success, until: state.z > 0.498}
  raise_and_wait:
    class: skill
    description: Raise by a service that answers when it is up.
    actuator: lift
    parameters: {type: object, additionalProperties: false}
    binding:
      service: {name: /lift/raise_and_wait, type: std_srvs/srv/Trigger, success: response.success}
`, feedback, stop, more)
}

// liftRig is the lift and a robot bound to it.
type liftRig struct {
	*lift
	robot *robottools.Robot
	tools map[string]tool.Tool
}

func newLiftRig(t *testing.T, feedback, stop, more string) *liftRig {
	t.Helper()
	bus := mem.NewBus()
	t.Cleanup(func() { must(t, bus.Close()) })
	l := newLift(t, bus)
	p := must1(robottools.Load("lift.yaml", []byte(liftProfile(feedback, stop, more))))(t)
	host := must1(bus.NewNode("agent_node", mem.Options{Logger: slog.New(slog.DiscardHandler)}))(t)
	r := must1(robottools.New(robottools.Config{Node: host, Profile: p, WaitForBindings: time.Second}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	lifted := make(chan struct{})
	go func() { l.run(ctx); close(lifted) }()
	guarded, stopGuard := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(guarded) }()
	t.Cleanup(func() {
		stopGuard()
		var unresting *guard.NotAtRestError
		if err := <-done; !l.frozen || !errors.As(err, &unresting) {
			must(t, err)
		}
		must(t, r.Close())
		cancel()
		<-lifted
	})
	out := &liftRig{lift: l, robot: r, tools: map[string]tool.Tool{}}
	for _, x := range r.Tools() {
		out.tools[x.Spec().Name] = x
	}
	time.Sleep(time.Second)
	return out
}

func (r *liftRig) call(ctx context.Context, name, args string) tool.Result {
	return r.tools[name].Call(ctx, tool.Call{ID: "c", Session: "s", Arguments: json.RawMessage(args), Note: func(string, any) {}})
}

// Any actuator, however it is measured, commanded and stopped.
func TestAnActuatorOfAnyKind(t *testing.T) {
	for _, c := range []struct {
		name, feedback, stop, tool, args string
		height                           float64
		check                            func(*testing.T, *liftRig)
	}{
		{"a position topic, measured by a status", byStatus, stopHold, "move_to", `{"height":0.4}`, 0.4, nil},
		{"a position topic, measured by a transform", byTransform, stopHold, "move_to", `{"height":0.4}`, 0.4, nil},
		{"a velocity topic", byStatus, stopTopic, "run_up", `{"height":0.3}`, 0.3, func(t *testing.T, r *liftRig) {
			if _, _, commands, stops, _ := r.now(); commands < 20 || stops == 0 {
				t.Errorf("%d velocities, %d zeros: a stream ends in zero", commands, stops)
			}
		}},
		{"a service that answers at once", byStatus, stopService, "raise", `{}`, 0.5, func(t *testing.T, r *liftRig) {
			if _, _, _, _, calls := r.now(); calls != 1 {
				t.Errorf("%d calls", calls)
			}
		}},
		{"a service that answers at the end", byTransform, stopService, "raise_and_wait", `{}`, 0.5, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newLiftRig(t, c.feedback, c.stop, "")
				res := r.call(context.Background(), c.tool, c.args)
				height, velocity, _, _, _ := r.now()
				if !res.OK || math.Abs(height-c.height) > 0.015 || velocity != 0 {
					t.Errorf("%+v; at %.3f m, %.3f m/s, want %.3f", res, height, velocity, c.height)
				}
				if c.check != nil {
					c.check(t, r)
				}
			})
		})
	}
}

func TestAnActuatorOfAnyKindIsStopped(t *testing.T) {
	for _, c := range []struct{ name, stop, tool, args string }{
		{"by a position that it holds", stopHold, "move_to", `{"height":1.0}`},
		{"by a velocity", stopTopic, "run_up", `{"height":1.0}`},
		{"by a service", stopService, "raise", `{}`},
		{"by a service, of a call that has not answered", stopService, "raise_and_wait", `{}`},
	} {
		for _, how := range []string{"cancel", "stop"} {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					r := newLiftRig(t, byStatus, c.stop, "")
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					time.AfterFunc(time.Second, func() {
						if how == "cancel" {
							cancel()
							return
						}
						must(t, r.robot.Guard().StopAll(context.Background(), "test"))
					})
					res := r.call(ctx, c.tool, c.args)
					height, velocity, _, _, _ := r.now()
					if res.OK || res.ErrorKind != tool.Canceled || velocity != 0 || height < 0.1 || height > 0.35 {
						t.Errorf("%+v; at %.3f m, %.3f m/s", res, height, velocity)
					}
					time.Sleep(2 * time.Second)
					if later, _, _, _, _ := r.now(); math.Abs(later-height) > 0.001 {
						t.Errorf("moved on from %.3f to %.3f m", height, later)
					}
				})
			})
		}
	}
}

func TestAnActuatorOfAnyKindPausesAndResumes(t *testing.T) {
	for _, name := range []string{"move_to", "run_up"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newLiftRig(t, byStatus, map[string]string{"move_to": stopHold, "run_up": stopTopic}[name], "")
				time.AfterFunc(700*time.Millisecond, func() { r.robot.Guard().Pause(guard.SourceOperator) })
				still := make(chan float64, 1)
				time.AfterFunc(3*time.Second, func() { _, v, _, _, _ := r.now(); still <- v })
				time.AfterFunc(10*time.Second, func() { r.robot.Guard().Resume(guard.SourceOperator) })
				res := r.call(context.Background(), name, `{"height":0.4}`)
				if height, _, _, _, _ := r.now(); !res.OK || math.Abs(height-0.4) > 0.015 {
					t.Errorf("%+v, at %.3f m", res, height)
				}
				if v := <-still; v != 0 {
					t.Errorf("%.3f m/s while paused", v)
				}
			})
		})
	}
}

func TestWhatIsThereAlreadyNeedNotMove(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newLiftRig(t, byStatus, stopHold, "")
		if res := r.call(context.Background(), "move_to", `{"height":0.0}`); !res.OK {
			t.Errorf("%+v", res)
		}
	})
}

// The limit follows from the estimate: a motion that takes much longer is a timeout, at rest.
func TestALimitByTheEstimate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newLiftRig(t, byStatus, stopHold, "")
		r.speed = 0.05 // a quarter of what was estimated
		begin := time.Now()
		res := r.call(context.Background(), "move_to", `{"height":1.0}`)
		took := time.Since(begin)
		// 5 s estimated: twice that and one more, and the time to stop.
		if res.OK || res.ErrorKind != tool.Timeout || took < 11*time.Second || took > 14*time.Second {
			t.Errorf("%+v after %v", res, took)
		}
		if _, velocity, _, _, _ := r.now(); velocity != 0 {
			t.Errorf("%.3f m/s", velocity)
		}
	})
}

func TestRefusalsOfAnyKind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newLiftRig(t, byStatus, stopHold, "")
		if res := r.call(context.Background(), "move_to", `{"height":1.5}`); res.ErrorKind != tool.GeometryRefused || !strings.Contains(res.Content, "too high") {
			t.Errorf("%+v", res)
		}
		r.fails = true
		if res := r.call(context.Background(), "raise", `{}`); res.OK || !strings.Contains(res.Content, "answered") {
			t.Errorf("%+v", res)
		}
		if _, _, commands, _, _ := r.now(); commands > 60 { // the stops of the failed one
			t.Errorf("%d commands", commands)
		}
		r.mu.Lock()
		r.frozen = true // no more measurements
		r.mu.Unlock()
		time.Sleep(2 * time.Second)
		if res := r.call(context.Background(), "move_to", `{"height":0.3}`); res.ErrorKind != tool.StaleState {
			t.Errorf("%+v", res)
		}
		r.mu.Lock()
		r.frozen = false
		r.mu.Unlock()
		time.Sleep(2 * time.Second)
	})
}

// A second source that measures motion forbids rest, whatever the first one says.
func TestASecondSourceHasItsSay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		second := `{topic: /lift/encoder, type: std_msgs/msg/Float64, period: 0.02, position: [msg.data]}`
		r := newLiftRig(t, byStatus, stopHold, "second: "+second)
		pub := must1(r.node.CreatePublisher("/lift/encoder", "std_msgs/msg/Float64", ros.DefaultQoS()))(t)
		x := 0.0
		feed := func(v float64, d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(liftPeriod) {
				x += v * liftPeriod.Seconds()
				must(t, pub.Publish(ros.New(pub.Type()).With("data", x)))
			}
		}
		feed(0.1, time.Second)
		if r.robot.AtRest("lift") {
			t.Error("at rest, while the encoder turns")
		}
		feed(0, 2*time.Second)
		if !r.robot.AtRest("lift") {
			t.Error("not at rest, though both say so")
		}
	})
}

// Every number of the guard can be set, and what cannot work is refused with its line.
func TestActuatorsAreCheckedWithLines(t *testing.T) {
	good := liftProfile(byStatus, stopHold, "guard: {noisy: true, min_samples: 6, stamp_age: -1, move_time: 0, spread_factor: 3, joint_speed: 0.02, control_period: 0.04}")
	must1(robottools.Load("lift.yaml", []byte(good)))(t)
	for name, c := range map[string]struct{ old, new, want string }{
		"no axes":                     {"    axes: [{name: z, group: linear}]\n", "", "axes"},
		"unknown group":               {"group: linear", "group: furlongs", "actuators/lift/axes/0/group"},
		"too many expressions":        {`["double(msg.range)"]`, `["double(msg.range)", "0.0"]`, "2 expressions, the actuator has 1 axes"},
		"no way to read it":           {`, position: ["double(msg.range)"]`, "", "give position"},
		"broken CEL of feedback":      {"double(msg.range)", "double(msg.range", "actuators/lift/feedback/position/0"},
		"broken CEL of stop":          {"message: {data: state.z}", "message: {data: state.z +}", "actuators/lift/stop/message/data"},
		"a stop that says nothing":    {", message: {data: state.z}", "", "give message"},
		"a stop's type of another":    {"stop: {topic: /lift/position, type: std_msgs/msg/Float64", "stop: {topic: /lift/position, type: std_srvs/srv/Trigger", "is no type of a topic"},
		"a window that never settles": {"noisy: true", "window: 3.0", "SettleTime"},
		"three ways to stop":          {"stop: {topic:", "stop: {service: /x, topic:", "actuators/lift/stop"},
		"once without an end":         {`, until: "math.abs(state.z - args.height) < 0.002"`, ", for: '1.0'", "needs until"},
		"a base's validator":          {"validators: [rules]\n    time_limit", "validators: [rules, twist]\n    time_limit", "twist validates velocities of a base"},
		"an estimate nobody has":      {"    estimate: math.abs(args.height - state.z) / 0.2\n", "", "give estimate"},
		"a limit that is none":        {"time_limit: {factor: 2.0, plus: 1.0}", "time_limit: soon", "tools/move_to/time_limit"},
		"until of nobody's motion":    {"description: Raise by a service that answers at once.\n    actuator: lift", "description: Raise by a service that answers at once.", "name the actuator"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(good, c.old) {
				t.Fatalf("the profile has no %q to break", c.old)
			}
			_, err := robottools.Load("lift.yaml", []byte(strings.Replace(good, c.old, c.new, 1)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v lacks %q", err, c.want)
			}
			if first := strings.SplitN(err.Error(), "\n", 2)[0]; !strings.HasPrefix(first, "lift.yaml:") || first[len("lift.yaml:")] < '1' || first[len("lift.yaml:")] > '9' {
				t.Errorf("error %q does not begin with file and line", first)
			}
		})
	}
}
