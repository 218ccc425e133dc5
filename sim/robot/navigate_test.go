package robot_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/sim/robot"
	"agent_node/sim/world"
)

func TestNavigateReachesThePlaceAndTellsOfIt(t *testing.T) {
	withRobot(t, robot.Options{Seed: 4}, func(t *testing.T, r *rig) {
		r.hear("/navigate_to_pose/_action/feedback", "nav2_msgs/action/NavigateToPose_FeedbackMessage", ros.DefaultQoS())
		c := r.navigator()
		g := r.send(c, goal(c, "map", r.place("kitchen")), action.GoalOptions{})
		wantStatus(t, r.outcome(g), action.StatusSucceeded, 0)
		feedback := len(r.all("/navigate_to_pose/_action/feedback"))
		last := r.last("/navigate_to_pose/_action/feedback").Float("feedback.distance_remaining")
		if d := r.robot.Truth().Pose.DistanceTo(r.place("kitchen")); d > 0.05 || r.moving() {
			t.Errorf("%.3f m from the kitchen, moving: %v", d, r.moving())
		}
		if seconds := r.robot.Truth().Time.Seconds(); seconds < 6 || float64(feedback) < 9*seconds || last > 0.1 {
			t.Errorf("%d feedback messages in %.1f s, the last with %.3f m left", feedback, seconds, last)
		}
	})
}

func TestBadGoalsAbortWithTheirCodesAndMoveNothing(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.navigator()
		start := r.robot.Truth().Pose
		for _, x := range []struct {
			name string
			goal *ros.Message
			code uint64
		}{
			{"in the wall", goal(c, "map", world.Pose{X: -0.6, Y: 2}), 206},
			{"in the zone", goal(c, "map", world.Pose{X: 0, Y: 0.1}), 206},
			{"off the map", goal(c, "map", world.Pose{X: 30}), 204},
			{"unknown frame", goal(c, "attic", world.Pose{}), 202},
			{"no frame", goal(c, "", world.Pose{}), 202},
			{"NaN", goal(c, "map", world.Pose{X: math.NaN()}), 200},
			{"zero quaternion", goal(c, "map", world.Pose{}).With("pose.pose.orientation.w", 0.0), 200},
			{"tipped over", goal(c, "map", world.Pose{}).With("pose.pose.orientation.x", 0.7071).With("pose.pose.orientation.w", 0.7071), 200},
		} {
			o := r.outcome(r.send(c, x.goal, action.GoalOptions{}))
			if got := o.Result.Uint("error_code"); o.Status != action.StatusAborted || got != x.code || o.Result.Str("error_msg") == "" {
				t.Errorf("%s: %v with %d (%s), want aborted with %d", x.name, o.Status, got, o.Result.Str("error_msg"), x.code)
			}
		}
		if _, err := c.Send(t.Context(), goal(c, "map", r.place("office")).With("behavior_tree", "/no/such.xml"), action.GoalOptions{}); !errors.Is(err, ros.ErrRejected) {
			t.Errorf("a behavior tree: %v, want rejected", err)
		}
		if r.robot.Truth().Pose != start {
			t.Error("it moved")
		}
		if n := r.robot.Counters()["/navigate_to_pose"]; n != 9 {
			t.Errorf("%d goals counted, 9 were sent", n)
		}
	})
}

func TestGoalsInTheRobotsOwnFrames(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.navigator()
		start := r.robot.Truth().Pose
		for _, frame := range []string{"odom", "base_link"} {
			g := r.send(c, goal(c, frame, world.Pose{X: 0.5}), action.GoalOptions{})
			wantStatus(t, r.outcome(g), action.StatusSucceeded, 0)
		}
		if want := start.Compose(world.Pose{X: 1}); r.robot.Truth().Pose.DistanceTo(want) > 0.1 {
			t.Errorf("is at %+v, want %+v", r.robot.Truth().Pose, want)
		}
	})
}

func TestAVelocityMessageTakesTheBaseOver(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c, command := r.navigator(), r.velocity()
		g := r.send(c, goal(c, "map", r.place("kitchen")), action.GoalOptions{})
		r.wait(3 * time.Second)
		before := r.robot.Truth().Twist.Linear
		command(0, 0)
		r.wait(20 * time.Millisecond)
		if now := r.robot.Truth().Twist.Linear; now >= before {
			t.Errorf("%.3f m/s before, %.3f m/s two ticks after", before, now)
		}
		if !ended(g) {
			t.Fatal("the goal goes on")
		}
		wantStatus(t, r.outcome(g), action.StatusAborted, 100)
		r.wait(time.Second)
		if r.moving() {
			t.Error("it moves on")
		}
	})
}

func TestACancelBringsTheBaseToRestBeforeItsResult(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.navigator()
		g := r.send(c, goal(c, "map", r.place("kitchen")), action.GoalOptions{})
		r.wait(3 * time.Second)
		code, err := g.Cancel(t.Context())
		if err != nil || code != action.CancelNone {
			t.Fatalf("cancel: %v, %v", code, err)
		}
		o := r.outcome(g)
		wantStatus(t, o, action.StatusCanceled, 0)
		if r.moving() {
			t.Error("canceled while moving")
		}
	})
}

func TestCancelFaults(t *testing.T) {
	begin := func(r *rig) *action.Goal {
		c := r.navigator()
		g := r.send(c, goal(c, "map", r.place("kitchen")), action.GoalOptions{})
		r.wait(3 * time.Second)
		return g
	}
	cancel := func(r *rig, g *action.Goal, want action.CancelCode) {
		r.t.Helper()
		code, err := g.Cancel(r.t.Context())
		r.must(err)
		if code != want {
			r.t.Errorf("cancel code %v, want %v", code, want)
		}
	}
	t.Run("refuse_cancel", func(t *testing.T) {
		withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
			r.set("fault.refuse_cancel", true)
			g := begin(r)
			cancel(r, g, action.CancelRejected)
			wantStatus(t, r.outcome(g), action.StatusSucceeded, 0)
		})
	})
	t.Run("ignore_cancel never ends by itself", func(t *testing.T) {
		withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
			command := r.velocity()
			r.set("fault.ignore_cancel", true)
			g := begin(r)
			cancel(r, g, action.CancelNone)
			r.wait(time.Second)
			if !r.moving() {
				t.Error("it does not move on")
			}
			r.wait(20 * time.Second)
			if ended(g) {
				t.Fatal("it ended by itself")
			}
			command(0, 0)
			wantStatus(t, r.outcome(g), action.StatusAborted, 100)
		})
	})
	t.Run("ignore_cancel is aborted in motion by a velocity message", func(t *testing.T) {
		withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
			command := r.velocity()
			r.set("fault.ignore_cancel", true)
			g := begin(r)
			cancel(r, g, action.CancelNone)
			command(0, 0)
			wantStatus(t, r.outcome(g), action.StatusAborted, 100)
			r.wait(time.Second)
			if r.moving() {
				t.Error("it moves on")
			}
		})
	})
	t.Run("ignore_cancel cleared obeys", func(t *testing.T) {
		withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
			r.set("fault.ignore_cancel", true)
			g := begin(r)
			cancel(r, g, action.CancelNone)
			r.wait(time.Second)
			r.set("fault.ignore_cancel", false)
			wantStatus(t, r.outcome(g), action.StatusCanceled, 0)
		})
	})
	t.Run("late_result", func(t *testing.T) {
		withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
			command := r.velocity()
			r.set("fault.late_result", true)
			g := begin(r)
			at := time.Now()
			cancel(r, g, action.CancelNone)
			r.wait(time.Second)
			if r.moving() {
				t.Error("it moves on")
			}
			command(0, 0) // ends nothing: the goal drives no more
			wantStatus(t, r.outcome(g), action.StatusCanceled, 0)
			if late := time.Since(at); late < 4900*time.Millisecond || late > 5200*time.Millisecond {
				t.Errorf("the result came after %v, want 5 s", late)
			}
		})
	})
}

func TestProtectiveStopHoldsTheGoalAndReleasesIt(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		r.hear("/robot_mode", "std_msgs/msg/String", ros.DefaultQoS())
		r.hear("/speed_scaling", "std_msgs/msg/Float64", ros.DefaultQoS())
		c := r.navigator()
		g := r.send(c, goal(c, "map", r.place("kitchen")), action.GoalOptions{})
		r.wait(3 * time.Second)
		r.set("fault.protective_stop", true)
		r.wait(20 * time.Millisecond)
		if mode, scaling := r.last("/robot_mode").Str("data"), r.last("/speed_scaling").Float("data"); mode != "protective_stop" || scaling != 0 {
			t.Errorf("mode %q, scaling %v", mode, scaling)
		}
		r.wait(10 * time.Second)
		if r.moving() || ended(g) {
			t.Fatalf("moving: %v, goal ended: %v", r.moving(), ended(g))
		}
		r.set("fault.protective_stop", false)
		wantStatus(t, r.outcome(g), action.StatusSucceeded, 0)
		if mode, scaling := r.last("/robot_mode").Str("data"), r.last("/speed_scaling").Float("data"); mode != "auto" || scaling != 1 {
			t.Errorf("mode %q, scaling %v", mode, scaling)
		}
	})
}

func TestEmergencyStopEndsNavigation(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		r.hear("/robot_mode", "std_msgs/msg/String", ros.DefaultQoS())
		c := r.navigator()
		g := r.send(c, goal(c, "map", r.place("kitchen")), action.GoalOptions{})
		r.wait(3 * time.Second)
		r.set("sim.estop", true)
		wantStatus(t, r.outcome(g), action.StatusAborted, 100)
		r.wait(time.Second)
		if r.moving() || r.last("/robot_mode").Str("data") != "estop" {
			t.Errorf("moving: %v, mode %q", r.moving(), r.last("/robot_mode").Str("data"))
		}
		r.set("sim.estop", false)
		r.wait(2 * time.Second)
		if r.moving() {
			t.Error("it goes on by itself")
		}
	})
}

func TestANewerGoalPreempts(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.navigator()
		first := r.send(c, goal(c, "map", r.place("kitchen")), action.GoalOptions{})
		r.wait(2 * time.Second)
		second := r.send(c, goal(c, "map", r.place("office")), action.GoalOptions{})
		wantStatus(t, r.outcome(first), action.StatusAborted, 100)
		wantStatus(t, r.outcome(second), action.StatusSucceeded, 0)
		if d := r.robot.Truth().Pose.DistanceTo(r.place("office")); d > 0.05 {
			t.Errorf("%.3f m from the office", d)
		}
	})
}

func TestDropFeedback(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		const topic = "/navigate_to_pose/_action/feedback"
		r.hear(topic, "nav2_msgs/action/NavigateToPose_FeedbackMessage", ros.DefaultQoS())
		c := r.navigator()
		g := r.send(c, goal(c, "map", r.place("kitchen")), action.GoalOptions{})
		r.wait(2 * time.Second)
		r.set("fault.drop_feedback", true)
		before := len(r.all(topic))
		wantStatus(t, r.outcome(g), action.StatusSucceeded, 0)
		if n := len(r.all(topic)); before == 0 || n != before {
			t.Errorf("%d messages before the fault, %d in all", before, n)
		}
	})
}

func TestSlowAcceptKeepsTheAnswerBack(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.navigator()
		r.set("fault.slow_accept", 1.5)
		at := time.Now()
		answer := make(chan *action.Goal, 1)
		go func() {
			g, err := c.Send(t.Context(), goal(c, "map", r.place("kitchen")), action.GoalOptions{})
			if err != nil {
				t.Error(err)
			}
			answer <- g
		}()
		r.wait(time.Second)
		if n := r.robot.Counters()["/navigate_to_pose"]; n != 1 || r.moving() {
			t.Errorf("%d goals counted on arrival, moving: %v", n, r.moving())
		}
		g := <-answer
		if took := time.Since(at); took < 1500*time.Millisecond || took > 1600*time.Millisecond {
			t.Errorf("answered after %v, want 1.5 s", took)
		}
		if _, err := g.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, r.outcome(g), action.StatusCanceled, 0)
	})
}

func TestAServerThatGoesDownTakesItsGoalsWithIt(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.navigator()
		g := r.send(c, goal(c, "map", r.place("kitchen")), action.GoalOptions{})
		r.wait(3 * time.Second)
		r.set("fault.action_server_down", true)
		if c.Ready() {
			t.Error("the server is still there")
		}
		r.wait(2 * time.Second)
		if r.moving() {
			t.Error("the base moves without a navigator")
		}
		if s := g.Status(); s.Terminal() {
			t.Errorf("the dead server has told of status %v", s)
		}
		r.set("fault.action_server_down", false)
		if !c.Ready() {
			t.Fatal("the server is not back")
		}
		if code, err := g.Cancel(t.Context()); err == nil && code == action.CancelNone {
			t.Error("the new server knows the old goal")
		}
		next := r.send(c, goal(c, "map", r.place("office")), action.GoalOptions{})
		wantStatus(t, r.outcome(next), action.StatusSucceeded, 0)
	})
}

func TestEveryGoalEndsWhenTheRobotDoes(t *testing.T) {
	var g *action.Goal
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.navigator()
		g = r.send(c, goal(c, "map", r.place("kitchen")), action.GoalOptions{})
		r.wait(2 * time.Second)
		r.must(r.robot.Close())
		wantStatus(t, r.outcome(g), action.StatusAborted, 100)
	})
}

func TestPlanningIsNotDriving(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c, err := action.NewClient(r.client, "/compute_path_to_pose", "nav2_msgs/action/ComputePathToPose")
		r.must(err)
		ask := func() *ros.Message {
			k := r.place("kitchen")
			return ros.New(c.Type().Goal).With("goal.header.frame_id", "map").
				With("goal.pose.position.x", k.X).With("goal.pose.position.y", k.Y).With("goal.pose.orientation.w", 1.0)
		}
		office := r.place("office")
		for _, x := range []struct {
			name   string
			goal   *ros.Message
			status action.Status
			code   uint64
			from   world.Pose
		}{
			{"from here", ask(), action.StatusSucceeded, 0, r.place("dock")},
			{"by Nav2's name", ask().With("planner_id", "GridBased"), action.StatusSucceeded, 0, r.place("dock")},
			{"from elsewhere", ask().With("use_start", true).With("start.header.frame_id", "map").With("start.pose.position.x", office.X).
				With("start.pose.position.y", office.Y).With("start.pose.orientation.w", 1.0), action.StatusSucceeded, 0, office},
			{"unknown planner", ask().With("planner_id", "Oracle"), action.StatusAborted, 201, world.Pose{}},
			{"unknown start frame", ask().With("use_start", true), action.StatusAborted, 202, world.Pose{}},
			{"start off the map", ask().With("use_start", true).With("start.header.frame_id", "map").With("start.pose.position.x", 50.0), action.StatusAborted, 203, world.Pose{}},
			{"into the zone", ask().With("goal.pose.position.x", 0.0).With("goal.pose.position.y", 0.1), action.StatusAborted, 206, world.Pose{}},
		} {
			o := r.outcome(r.send(c, x.goal, action.GoalOptions{}))
			wantStatus(t, o, x.status, x.code)
			poses := o.Result.Msgs("path.poses")
			if x.status != action.StatusSucceeded {
				if len(poses) != 0 {
					t.Errorf("%s: a path of %d poses", x.name, len(poses))
				}
				continue
			}
			first, end := at(poses[0]), at(poses[len(poses)-1])
			if first.DistanceTo(x.from) > 0.01 || end.DistanceTo(r.place("kitchen")) > 1e-6 || o.Result.Str("path.header.frame_id") != "map" {
				t.Errorf("%s: from %+v to %+v in %q", x.name, first, end, o.Result.Str("path.header.frame_id"))
			}
		}
		for name, n := range r.robot.Counters() {
			if n != 0 {
				t.Errorf("%s counts %d", name, n)
			}
		}
	})
}

// at is the position of a geometry_msgs/PoseStamped.
func at(m *ros.Message) world.Pose {
	return world.Pose{X: m.Float("pose.position.x"), Y: m.Float("pose.position.y")}
}
