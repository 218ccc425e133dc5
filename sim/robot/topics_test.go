package robot_test

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/sim/plot"
	"agent_node/sim/robot"
	"agent_node/sim/world"
)

func TestEveryInterfaceIsThereUnderItsNameAndType(t *testing.T) {
	withRobot(t, robot.Options{Clock: true}, func(t *testing.T, r *rig) {
		topics, err := r.client.Graph().Topics()
		r.must(err)
		for name, want := range map[string]string{
			"/cmd_vel": "geometry_msgs/msg/Twist", "/cmd_vel_stamped": "geometry_msgs/msg/TwistStamped",
			"/odom": "nav_msgs/msg/Odometry", "/tf": "tf2_msgs/msg/TFMessage", "/tf_static": "tf2_msgs/msg/TFMessage",
			"/scan": "sensor_msgs/msg/LaserScan", "/map": "nav_msgs/msg/OccupancyGrid", "/joint_states": "sensor_msgs/msg/JointState",
			"/battery_state": "sensor_msgs/msg/BatteryState", "/robot_description": "std_msgs/msg/String",
			"/speed_scaling": "std_msgs/msg/Float64", "/robot_mode": "std_msgs/msg/String", "/clock": "rosgraph_msgs/msg/Clock",
			"/sim/ground_truth": "nav_msgs/msg/Odometry", "/sim/objects": "vision_msgs/msg/Detection3DArray",
			"/sim/counters": "diagnostic_msgs/msg/DiagnosticArray",
			"/detections":   "vision_msgs/msg/Detection3DArray", "/sim/contact": "std_msgs/msg/Bool", "/sim/held": "std_msgs/msg/String",
			"/arm_controller/follow_joint_trajectory/_action/status": "action_msgs/msg/GoalStatusArray",
			"/gripper_controller/gripper_cmd/_action/status":         "action_msgs/msg/GoalStatusArray",
			"/navigate_to_pose/_action/status":                       "action_msgs/msg/GoalStatusArray",
			"/compute_path_to_pose/_action/status":                   "action_msgs/msg/GoalStatusArray",
		} {
			if got := topics[name]; !slices.Equal(got, []string{want}) {
				t.Errorf("%s is %v, want %s", name, got, want)
			}
		}
	})
}

func TestTopicsComeAtTheirRates(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		least := map[string]struct {
			typeName string
			rate     int // Hz
		}{
			"/odom": {"nav_msgs/msg/Odometry", 50}, "/sim/ground_truth": {"nav_msgs/msg/Odometry", 20},
			"/tf": {"tf2_msgs/msg/TFMessage", 50}, "/scan": {"sensor_msgs/msg/LaserScan", 10},
			"/joint_states": {"sensor_msgs/msg/JointState", 50}, "/battery_state": {"sensor_msgs/msg/BatteryState", 5},
			"/sim/counters": {"diagnostic_msgs/msg/DiagnosticArray", 5}, "/sim/objects": {"vision_msgs/msg/Detection3DArray", 5},
			"/detections":    {"vision_msgs/msg/Detection3DArray", 10},
			"/speed_scaling": {"std_msgs/msg/Float64", 5}, "/robot_mode": {"std_msgs/msg/String", 5},
		}
		for topic, x := range least {
			r.hear(topic, x.typeName, ros.DefaultQoS())
		}
		r.wait(2 * time.Second)
		for topic, x := range least {
			if n := len(r.all(topic)); n < 2*x.rate {
				t.Errorf("%s: %d messages in 2 s, want %d", topic, n, 2*x.rate)
			}
		}
		last := ros.Time(0)
		for i, m := range r.all("/odom") {
			stamp := m.Stamp("header.stamp")
			if i > 0 && stamp.Sub(last) != 20*time.Millisecond {
				t.Fatalf("odometry %d is stamped %v after the one before", i, stamp.Sub(last))
			}
			last = stamp
		}
		if late := r.client.Clock().Now().Sub(last); late < 0 || late > 30*time.Millisecond {
			t.Errorf("the newest odometry is %v old", late)
		}
	})
}

func TestLateSubscribersGetWhatIsLatched(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		r.wait(time.Second)
		r.hear("/map", "nav_msgs/msg/OccupancyGrid", ros.LatchedQoS())
		r.hear("/robot_description", "std_msgs/msg/String", ros.LatchedQoS())
		r.hear("/tf_static", "tf2_msgs/msg/TFMessage", ros.LatchedQoS())
		m, w := r.last("/map"), r.robot.World()
		grid := w.Grid()
		cells, err := m.Get("data")
		r.must(err)
		for i, v := range cells.([]int8) {
			if (v == 100) != grid.Occupied[i] || v != 0 && v != 100 {
				t.Fatalf("cell %d is %d, occupied is %v", i, v, grid.Occupied[i])
			}
		}
		if m.Int("info.width") != 160 || m.Int("info.height") != 100 || m.Float("info.origin.position.x") != -4 || m.Float("info.origin.position.y") != -2.5 {
			t.Errorf("the map's info is %v", m.Msg("info").Map())
		}
		fixed := r.last("/tf_static").Msgs("transforms")
		parents := map[string]string{}
		for _, m := range fixed {
			parents[m.Str("child_frame_id")] = m.Str("header.frame_id")
		}
		if !maps.Equal(parents, map[string]string{
			"laser": "base_link", "camera_mast": "base_link", "camera_link": "camera_mast",
			"arm_base_link": "base_link", "gripper_link": "wrist_3_link", "tool0": "gripper_link",
		}) {
			t.Errorf("static transforms: %v", parents)
		}
		if r.last("/robot_description").Str("data") == "" {
			t.Error("no description")
		}
	})
}

// The transforms, composed, are where the robot is.
func TestTransformsLeadFromMapToTheRobot(t *testing.T) {
	withRobot(t, robot.Options{Seed: 5}, func(t *testing.T, r *rig) {
		r.hear("/tf", "tf2_msgs/msg/TFMessage", ros.DefaultQoS())
		drive := r.velocity()
		for range 40 {
			drive(0.4, 0.5)
			r.wait(100 * time.Millisecond)
		}
		r.wait(2 * time.Second)
		frames := map[string]world.Pose{}
		for _, m := range r.all("/tf") {
			for _, x := range m.Msgs("transforms") {
				frames[x.Str("header.frame_id")+" "+x.Str("child_frame_id")] = transform(x)
			}
		}
		got, truth := frames["map odom"].Compose(frames["odom base_link"]), r.robot.Truth().Pose
		if d := got.DistanceTo(truth); d > 0.05 || math.Abs(world.WrapAngle(got.Yaw-truth.Yaw)) > 0.05 {
			t.Errorf("transforms say %+v, truth is %+v", got, truth)
		}
		for _, wheel := range []string{"left_wheel", "right_wheel"} {
			if _, ok := frames["base_link "+wheel]; !ok {
				t.Errorf("no transform of %s", wheel)
			}
		}
	})
}

func transform(m *ros.Message) world.Pose {
	return world.Pose{
		X: m.Float("transform.translation.x"), Y: m.Float("transform.translation.y"),
		Yaw: 2 * math.Atan2(m.Float("transform.rotation.z"), m.Float("transform.rotation.w")),
	}
}

// Each fault is set while the base drives. The topic and the transform tell the same story.
func TestOdometryFaults(t *testing.T) {
	type heard struct {
		odom, tf []*ros.Message
		moved    float64 // by the truth
	}
	watch := func(t *testing.T, fault string, judge func(t *testing.T, h heard)) {
		t.Run(fault, func(t *testing.T) {
			withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
				drive := r.velocity()
				keep := func(n int) {
					for range n {
						drive(0.3, 0)
						r.wait(100 * time.Millisecond)
					}
				}
				keep(10)
				if fault != "" {
					r.set(fault, true)
				}
				r.hear("/odom", "nav_msgs/msg/Odometry", ros.DefaultQoS())
				r.hear("/tf", "tf2_msgs/msg/TFMessage", ros.DefaultQoS())
				from := r.robot.Truth().Pose
				keep(10)
				h := heard{odom: r.all("/odom"), moved: r.robot.Truth().Pose.DistanceTo(from)}
				for _, m := range r.all("/tf") {
					for _, x := range m.Msgs("transforms") {
						if x.Str("child_frame_id") == "base_link" {
							h.tf = append(h.tf, x)
						}
					}
				}
				if h.moved < 0.25 {
					t.Errorf("the truth moved by %.3f m", h.moved)
				}
				if len(h.odom) != len(h.tf) {
					t.Fatalf("%d messages and %d transforms", len(h.odom), len(h.tf))
				}
				for i, m := range h.odom {
					x, y := m.Float("pose.pose.position.x"), h.tf[i].Float("transform.translation.x")
					if m.Stamp("header.stamp") != h.tf[i].Stamp("header.stamp") || x != y && !(math.IsNaN(x) && math.IsNaN(y)) {
						t.Fatalf("message %d says %v, its transform %v", i, x, y)
					}
				}
				judge(t, h)
				if fault != "" {
					r.set(fault, false)
					keep(10)
					if m := r.last("/odom"); math.Abs(m.Float("twist.twist.linear.x")-0.3) > 0.05 || r.client.Clock().Now().Sub(m.Stamp("header.stamp")) > 30*time.Millisecond {
						t.Errorf("afterwards it says %v", m.Map())
					}
				}
			})
		})
	}
	spread := func(h heard) (values, stamps int) {
		v, s := map[float64]bool{}, map[ros.Time]bool{}
		for _, m := range h.odom {
			v[m.Float("pose.pose.position.x")], s[m.Stamp("header.stamp")] = true, true
		}
		return len(v), len(s)
	}
	watch(t, "", func(t *testing.T, h heard) {
		if values, stamps := spread(h); values < 50 || stamps < 50 {
			t.Errorf("%d values and %d stamps", values, stamps)
		}
	})
	watch(t, "fault.freeze_odom", func(t *testing.T, h heard) {
		if values, stamps := spread(h); values != 1 || stamps < 50 {
			t.Errorf("%d values and %d stamps, want one value and fresh stamps", values, stamps)
		}
	})
	watch(t, "fault.stale_stamps", func(t *testing.T, h heard) {
		if values, stamps := spread(h); values < 50 || stamps != 1 {
			t.Errorf("%d values and %d stamps, want fresh values and one stamp", values, stamps)
		}
	})
	watch(t, "fault.stop_odom", func(t *testing.T, h heard) {
		if len(h.odom) != 0 {
			t.Errorf("%d messages", len(h.odom))
		}
	})
	watch(t, "fault.nan_odom", func(t *testing.T, h heard) {
		for _, m := range h.odom {
			if !math.IsNaN(m.Float("pose.pose.position.x")) || !math.IsNaN(m.Float("twist.twist.linear.x")) || !math.IsNaN(m.Float("pose.pose.orientation.w")) {
				t.Fatalf("it says %v", m.Map())
			}
		}
		if len(h.odom) < 50 {
			t.Errorf("%d messages", len(h.odom))
		}
	})
}

func TestDriftMovesARobotThatIsToldToStand(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		r.set("fault.drift", 0.1)
		r.wait(2 * time.Second)
		if v := r.robot.Truth().Twist.Linear; v != 0.1 {
			t.Errorf("%v m/s, want 0.1", v)
		}
		r.set("fault.drift", 0.0)
		r.wait(time.Second)
		if r.moving() {
			t.Error("it moves on")
		}
	})
}

func TestTruthAndObjectsAreToldAsTheyAre(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		r.hear("/sim/ground_truth", "nav_msgs/msg/Odometry", ros.DefaultQoS())
		r.hear("/sim/objects", "vision_msgs/msg/Detection3DArray", ros.DefaultQoS())
		drive := r.velocity()
		drive(0.4, 0.3)
		r.wait(400 * time.Millisecond)
		m, truth := r.last("/sim/ground_truth"), r.robot.Truth()
		if m.Float("pose.pose.position.x") != truth.Pose.X || m.Float("pose.pose.position.y") != truth.Pose.Y ||
			m.Float("twist.twist.linear.x") != truth.Twist.Linear || m.Float("twist.twist.angular.z") != truth.Twist.Angular || m.Str("header.frame_id") != "map" {
			t.Errorf("told %v, is %+v", m.Map(), truth)
		}
		found := map[string]world.Pose{}
		for _, d := range r.last("/sim/objects").Msgs("detections") {
			p := d.Msgs("results")[0]
			found[p.Str("hypothesis.class_id")] = world.Pose{X: p.Float("pose.pose.position.x"), Y: p.Float("pose.pose.position.y")}
		}
		for _, o := range r.robot.World().Objects {
			if p, ok := found[o.Name]; !ok || p.X != o.X || p.Y != o.Y {
				t.Errorf("%s is told at %+v, is at %v, %v", o.Name, p, o.X, o.Y)
			}
		}
	})
}

func TestCountersCountWhatArrives(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		r.hear("/sim/counters", "diagnostic_msgs/msg/DiagnosticArray", ros.DefaultQoS())
		read := func() map[string]string {
			r.wait(200 * time.Millisecond)
			got := map[string]string{}
			for _, s := range r.last("/sim/counters").Msgs("status") {
				for _, v := range s.Msgs("values") {
					got[v.Str("key")] = v.Str("value")
				}
			}
			return got
		}
		want := map[string]int{
			"/cmd_vel": 0, "/cmd_vel_stamped": 0, "/navigate_to_pose": 0,
			"/arm_controller/follow_joint_trajectory": 0, "/gripper_controller/gripper_cmd": 0,
		}
		check := func(when string) {
			t.Helper()
			got := read()
			if len(got) != len(want) {
				t.Errorf("%s: %v", when, got)
			}
			for name, n := range want {
				if got[name] != strconv.Itoa(n) {
					t.Errorf("%s: %s is %q, want %d", when, name, got[name], n)
				}
			}
		}
		check("at first")
		plain := r.velocity()
		plain(0, 0)
		check("after a zero")
		plain(0.1, 0)
		plain(0, -0.1)
		plain(math.NaN(), 0)
		want["/cmd_vel"] = 3
		p, err := r.client.CreatePublisher("/cmd_vel_stamped", "geometry_msgs/msg/TwistStamped", ros.DefaultQoS())
		r.must(err)
		m := ros.New(p.Type()).With("twist.linear.y", 0.1)
		m.SetStamp("header.stamp", r.client.Clock().Now())
		r.must(p.Publish(m))
		want["/cmd_vel_stamped"] = 1
		check("after commands")
	})
}

func TestStampedCommandsMustBeFresh(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		p, err := r.client.CreatePublisher("/cmd_vel_stamped", "geometry_msgs/msg/TwistStamped", ros.DefaultQoS())
		r.must(err)
		for _, x := range []struct {
			name  string
			stamp func() ros.Time
			moves bool
		}{
			{"old", func() ros.Time { return r.client.Clock().Now().Add(-time.Second) }, false},
			{"unstamped", func() ros.Time { return 0 }, true},
			{"fresh", func() ros.Time { return r.client.Clock().Now() }, true},
		} {
			m := ros.New(p.Type()).With("twist.linear.x", 0.3)
			m.SetStamp("header.stamp", x.stamp())
			r.must(p.Publish(m))
			r.wait(300 * time.Millisecond)
			if r.moving() != x.moves {
				t.Errorf("%s: moving is %v", x.name, r.moving())
			}
			r.wait(time.Second)
		}
	})
}

func TestSilenceStopsTheRobot(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		drive := r.velocity()
		for range 10 {
			drive(0.5, 0)
			r.wait(100 * time.Millisecond)
		}
		if !r.moving() {
			t.Fatal("it does not move")
		}
		r.wait(time.Second)
		if r.moving() {
			t.Error("a second after the last command it moves")
		}
	})
}

func TestFasterTimeGoesOutOnTheClock(t *testing.T) {
	withRobot(t, robot.Options{Rate: 10}, func(t *testing.T, r *rig) {
		r.hear("/clock", "rosgraph_msgs/msg/Clock", ros.DefaultQoS())
		r.hear("/odom", "nav_msgs/msg/Odometry", ros.DefaultQoS())
		r.wait(time.Second)
		clock := r.all("/clock")
		first, last := clock[0].Stamp("clock"), clock[len(clock)-1].Stamp("clock")
		if passed := last.Sub(first); passed < 9800*time.Millisecond || passed > 10*time.Second {
			t.Errorf("%v passed in a second at rate 10", passed)
		}
		if late := last.Sub(r.last("/odom").Stamp("header.stamp")); late < 0 || late > 20*time.Millisecond {
			t.Errorf("the newest odometry is %v behind the clock", late)
		}
	})
}

func TestParametersOfATest(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		r.hear("/battery_state", "sensor_msgs/msg/BatteryState", ros.DefaultQoS())
		r.set("sim.teleport", []float64{1.5, -0.5, 1})
		if p := r.robot.Truth().Pose; p != (world.Pose{X: 1.5, Y: -0.5, Yaw: 1}) {
			t.Errorf("is at %+v", p)
		}
		for _, bad := range []any{[]float64{-0.6, 2, 0}, []float64{1}, []float64{math.NaN(), 0, 0}, "there"} {
			if err := r.robot.SetParameter("sim.teleport", bad); err == nil {
				t.Errorf("teleported to %v", bad)
			}
		}
		r.set("sim.charge", 15.0)
		r.wait(400 * time.Millisecond)
		if p := r.last("/battery_state").Float("percentage"); math.Abs(p-0.15) > 0.002 {
			t.Errorf("percentage is %v, want 0.15", p)
		}
		for name, bad := range map[string]any{"sim.charge": 120.0, "fault.slow_accept": -1.0, "seed": int64(5), "fault.nonsense": true, "fault.drift": true} {
			if err := r.robot.SetParameter(name, bad); err == nil {
				t.Errorf("%s is set to %v", name, bad)
			}
		}
	})
}

func TestARunIsRecorded(t *testing.T) {
	var record bytes.Buffer
	withRobot(t, robot.Options{Record: &record}, func(t *testing.T, r *rig) {
		drive := r.velocity()
		drive(0.4, 0)
		r.wait(2 * time.Second)
		r.set("sim.object.red_cube", []float64{1.4, 2.0})
		r.wait(time.Second)
	})
	run, err := plot.Read(&record)
	if err != nil {
		t.Fatal(err)
	}
	if len(run) < 29 || run[len(run)-1].X <= run[0].X {
		t.Errorf("%d samples, from %+v to %+v", len(run), run[0], run[len(run)-1])
	}
	told := 0
	for _, s := range run[1:] {
		told += len(s.Objects)
		for _, o := range s.Objects {
			if o.Name != "red cube" || o.X != 1.4 || o.Y != 2.0 {
				t.Errorf("%+v", o)
			}
		}
	}
	if len(run[0].Objects) != 3 || len(run[0].Arm) != 6 || told != 1 {
		t.Errorf("the first sample is %+v, later %d objects are told of", run[0], told)
	}
}
