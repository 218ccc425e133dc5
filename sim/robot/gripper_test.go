package robot_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/sim/arm"
	"agent_node/sim/physics"
	"agent_node/sim/robot"
	"agent_node/sim/world"
)

const gripperAction = "/gripper_controller/gripper_cmd"

func (r *rig) gripperClient() *action.Client {
	r.t.Helper()
	c, err := action.NewClient(r.client, gripperAction, "control_msgs/action/GripperCommand")
	r.must(err)
	return c
}

// grip is a goal of the gripper.
func grip(c *action.Client, position, effort float64) *ros.Message {
	return ros.New(c.Type().Goal).With("command.position", position).With("command.max_effort", effort)
}

// object is an object as it truly is.
func (r *rig) object(name string) physics.ObjectState {
	r.t.Helper()
	for _, o := range r.robot.Objects() {
		if o.Name == name {
			return o
		}
	}
	r.t.Fatalf("there is no %s", name)
	return physics.ObjectState{}
}

func TestTheGripperOpensAndCloses(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.gripperClient()
		for _, x := range []struct {
			ask, ends        float64
			reached, stalled bool
		}{{0.03, 0.03, true, false}, {0, 0, true, false}, {0.08, 0.08, true, false}, {0.2, 0.08, false, true}, {-0.1, 0, false, true}} {
			began := time.Now()
			o := r.outcome(r.send(c, grip(c, x.ask, 10), action.GoalOptions{}))
			m := o.Result
			if o.Status != action.StatusSucceeded || m.Bool("reached_goal") != x.reached || m.Bool("stalled") != x.stalled || math.Abs(m.Float("position")-x.ends) > 0.002 {
				t.Errorf("asked for %.2f m: %v, %v", x.ask, o.Status, m.Map())
			}
			if x.ask == 0.08 && time.Since(began) < 800*time.Millisecond {
				t.Errorf("0.08 m took %v", time.Since(began))
			}
		}
		for _, bad := range [][2]float64{{math.NaN(), 1}, {0, math.Inf(1)}, {0, -5}} {
			if _, err := c.Send(t.Context(), grip(c, bad[0], bad[1]), action.GoalOptions{}); !errors.Is(err, ros.ErrRejected) {
				t.Errorf("%v: %v, want rejected", bad, err)
			}
		}
		if n := r.robot.Counters()[gripperAction]; n != 8 {
			t.Errorf("%d goals counted, 8 were sent", n)
		}
	})
}

// An object is fetched by nothing but messages; whoever listens hears of it.
func TestAnObjectIsGraspedAndLetGo(t *testing.T) {
	table := world.Pose{X: 2.25, Y: -1.6}
	withRobot(t, robot.Options{Start: &table, Seed: 5}, func(t *testing.T, r *rig) {
		r.hear("/detections", "vision_msgs/msg/Detection3DArray", ros.DefaultQoS())
		r.hear("/sim/held", "std_msgs/msg/String", ros.DefaultQoS())
		r.hear("/sim/objects", "vision_msgs/msg/Detection3DArray", ros.DefaultQoS())
		r.hear("/joint_states", "sensor_msgs/msg/JointState", ros.DefaultQoS())
		c, fingers := r.armClient(), r.gripperClient()
		move := func(q arm.Values) {
			t.Helper()
			wantArm(t, r.outcome(r.send(c, r.move(c, q), action.GoalOptions{})), action.StatusSucceeded, arm.Successful)
		}
		cube := r.object("red cube")
		move(r.over(cube.X, cube.Y, cube.Z+0.1))
		move(r.over(cube.X, cube.Y, cube.Z))
		o := r.outcome(r.send(fingers, grip(fingers, 0, 15), action.GoalOptions{}))
		if m := o.Result; o.Status != action.StatusSucceeded || !m.Bool("stalled") || m.Bool("reached_goal") || math.Abs(m.Float("position")-0.05) > 1e-3 || m.Float("effort") != 15 {
			t.Fatalf("grasping: %v, %v", o.Status, m.Map())
		}
		move(r.over(cube.X, cube.Y, cube.Z+0.1))
		r.wait(200 * time.Millisecond)
		if r.last("/sim/held").Str("data") != "red cube" {
			t.Error("nobody is told that it is held")
		}
		told := detected(r.last("/sim/objects"))["red cube"]
		if is := r.object("red cube"); vec(told.Msg("position")).Sub(world.Vec{X: is.X, Y: is.Y, Z: is.Z}).Norm() > 1e-3 || is.Z < cube.Z+0.09 {
			t.Errorf("it is told at %v, is at %+v", told.Map(), is)
		}
		state := r.last("/joint_states")
		if w := state.Floats("position")[len(state.Floats("position"))-1]; math.Abs(w-0.05) > 1e-3 {
			t.Errorf("the fingers are said %.4f m apart", w)
		}
		seen, ok := detected(r.last("/detections"))["red cube"]
		if !ok {
			t.Fatal("what is held is not seen")
		}
		at := r.last("/detections")
		if at.Str("header.frame_id") != "camera_link" {
			t.Errorf("detections are in %q", at.Str("header.frame_id"))
		}
		w := r.robot.World()
		camera := w.Body.Frames(nil)[w.Body.Index("camera_link")]
		said := r.robot.Truth().Pose.Transform(0).Mul(camera).Apply(vec(seen.Msg("position")))
		if is := r.object("red cube"); said.Sub(world.Vec{X: is.X, Y: is.Y, Z: is.Z}).Norm() > 0.025 {
			t.Errorf("it is seen at %+v, is at %+v", said, is)
		}
		r.outcome(r.send(fingers, grip(fingers, 0.08, 0), action.GoalOptions{}))
		r.wait(500 * time.Millisecond)
		if is := r.object("red cube"); is.Held || math.Abs(is.Z-0.425) > 1e-9 || r.last("/sim/held").Str("data") != "" {
			t.Errorf("let go it is %+v", is)
		}
	})
}

// detected are the poses of a vision_msgs/Detection3DArray by name.
func detected(m *ros.Message) map[string]*ros.Message {
	out := map[string]*ros.Message{}
	for _, d := range m.Msgs("detections") {
		p := d.Msgs("results")[0]
		out[p.Str("hypothesis.class_id")] = p.Msg("pose.pose")
	}
	return out
}

func TestDetectionsComeAlsoWhenNothingIsSeen(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		r.hear("/detections", "vision_msgs/msg/Detection3DArray", ros.DefaultQoS())
		r.wait(2 * time.Second)
		all := r.all("/detections")
		if len(all) < 20 {
			t.Errorf("%d messages in 2 s", len(all))
		}
		for _, m := range all {
			if len(m.Msgs("detections")) != 0 {
				t.Fatal("it sees something from the dock")
			}
		}
		if age := r.client.Clock().Now().Sub(all[len(all)-1].Stamp("header.stamp")); age < 0 || age > 150*time.Millisecond {
			t.Errorf("the newest is %v old", age)
		}
	})
}

func TestObjectsAreMovedByParameters(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		r.hear("/sim/objects", "vision_msgs/msg/Detection3DArray", ros.DefaultQoS())
		r.set("sim.object.red_cube", []float64{1.4, 2.0})
		r.set("sim.object.green_ball", []float64{0.5, 0.5, 1.0})
		r.set("sim.object.blue_cube", []float64{1.3, 2.05, 0.425, 0.5})
		r.wait(time.Second)
		for name, want := range map[string]world.Vec{"red cube": {X: 1.4, Y: 2.0, Z: 0.425}, "green ball": {X: 0.5, Y: 0.5, Z: 0.025}, "blue cube": {X: 1.3, Y: 2.05, Z: 0.425}} {
			if o := r.object(name); (world.Vec{X: o.X, Y: o.Y, Z: o.Z}).Sub(want).Norm() > 1e-9 {
				t.Errorf("%s is at %+v, want %+v", name, o.Object, want)
			}
		}
		if yaw := r.object("blue cube").Yaw; math.Abs(yaw-0.5) > 1e-9 {
			t.Errorf("the blue cube is turned by %v", yaw)
		}
		r.set("sim.take_away", "red cube")
		r.wait(200 * time.Millisecond)
		if _, there := detected(r.last("/sim/objects"))["red cube"]; there || len(detected(r.last("/sim/objects"))) != 2 {
			t.Error("it is not taken away")
		}
		r.set("sim.object.red_cube", []float64{1.4, 2.0})
		r.wait(200 * time.Millisecond)
		if _, there := detected(r.last("/sim/objects"))["red cube"]; !there {
			t.Error("it is not put back")
		}
		for name, bad := range map[string]any{
			"sim.object.red_cube": []float64{1}, "sim.object.blue_cube": []float64{2.8, -1.6, 0.1}, "sim.object.green_ball": []float64{math.NaN(), 0},
			"sim.object.teapot": []float64{0, 0}, "sim.take_away": "teapot",
		} {
			if err := r.robot.SetParameter(name, bad); err == nil {
				t.Errorf("%s is set to %v", name, bad)
			}
		}
	})
}

func TestRandomStartsFollowTheSeed(t *testing.T) {
	type scene struct {
		pose    world.Pose
		objects [3]world.Object
	}
	look := func(o robot.Options, argv ...string) scene {
		r, end, err := made(t, o, argv...)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		s := scene{pose: r.Truth().Pose}
		for i, x := range r.Objects() {
			s.objects[i] = x.Object
		}
		return s
	}
	random := robot.Options{Seed: 4, RandomStart: true, RandomObjects: true}
	first := look(random)
	if look(random) != first {
		t.Error("the same seed gives another start")
	}
	if look(robot.Options{}, "--ros-args", "-p", "seed:=4", "-p", "start.random:=true", "-p", "objects.random:=true") != first {
		t.Error("by parameters the start is another one")
	}
	other := random
	other.Seed = 5
	if s := look(other); s.pose == first.pose || s.objects == first.objects {
		t.Error("another seed gives the same start")
	}
	still := look(robot.Options{Seed: 4, RandomObjects: true})
	if still.pose != world.Default().Start() || still.objects != first.objects {
		t.Error("where the robot starts changes where the objects lie")
	}
	here := world.Pose{X: 1}
	given := random
	given.Start = &here
	if s := look(given); s.pose != here || s.objects != first.objects {
		t.Error("a start that is given does not win")
	}
}
