package validate_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/trajectory"
	"agent_node/pkg/geometry/urdf"
	"agent_node/pkg/geometry/validate"

	"gonum.org/v1/gonum/spatial/r3"
)

// armJoints are those of the robot in ../testdata, in its controller's order.
var armJoints = []string{"shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"}

// Poses of the arm: folded over the base; forward over the table, tool down, 0.2 m above it.
var (
	carry = []float64{0, -1.85, 2.70, -2.4208, -1.5708, 0}
	above = []float64{-0.125, -1.14, 0.99, -1.42, -1.5708, 1.445}
)

var armModel = must(urdf.Parse(must(os.ReadFile("../testdata/sim_robot.urdf"))))

// box is a body of the world, by its middle and edges.
func box(name string, x, y, z, sx, sy, sz float64) collision.Body {
	return collision.Body{
		Name: name, Shape: collision.Shape{Kind: collision.Box, Size: r3.Vec{X: sx, Y: sy, Z: sz}},
		Pose: spatial.Transform{Translation: r3.Vec{X: x, Y: y, Z: z}, Rotation: spatial.FromYaw(0)},
	}
}

// surroundings of the arm: a table 0.4 m high, from 0.3 m in front of the robot's middle on, and the floor.
func surroundings() collision.World {
	return collision.World{
		Bodies: []collision.Body{box("table", 0.6, 0, 0.2, 0.6, 1.4, 0.4), box("floor", 0, 0, -0.05, 10, 10, 0.1)},
		Rest:   map[string]float64{"finger_joint": 0.08}, Margin: 0.005, SelfMargin: 0.002, Grace: 0.02,
	}
}

// surroundingsNone is an arm in free space.
func surroundingsNone() collision.World {
	return collision.World{Rest: map[string]float64{"finger_joint": 0.08}}
}

func scene(w collision.World) *collision.Scene {
	return must(must(collision.NewRobot(armModel, collision.Config{Joints: armJoints})).Scene(w))
}

// armLimits are the description's, with the accelerations that it has no place for.
func armLimits() []limits.Joint {
	joints := must(kinematics.NewChain(armModel, "base_link", "tool0")).Joints()
	for i := range joints {
		joints[i].Acceleration = 3
		if i >= 3 {
			joints[i].Acceleration = 5
		}
	}
	return joints
}

// armWorld is a world with an arm at rest at q, and a gripper.
func armWorld(q []float64) *validate.World {
	w := world(spatial.Pose2{})
	w.Arm = &validate.Arm{
		Joints: armLimits(), Scene: scene(surroundings()),
		State: validate.JointState{
			Names:      append([]string{"left_wheel_joint"}, armJoints...),
			Positions:  append([]float64{7}, q...),
			Velocities: make([]float64, 7),
			Stamp:      w.Now,
		},
	}
	w.Gripper = &validate.Gripper{Open: 0.08, MaxEffort: 40}
	return w
}

// to is a trajectory of points, each a second after the one before, without velocities.
func to(points ...[]float64) validate.JointTrajectory {
	c := validate.JointTrajectory{Trajectory: trajectory.Trajectory{Joints: armJoints}}
	for i, q := range points {
		c.Points = append(c.Points, trajectory.Point{Positions: slices.Clone(q), Time: time.Duration(i+1) * time.Second})
	}
	return c
}

// moved is q with one joint moved.
func moved(q []float64, joint int, by float64) []float64 {
	out := slices.Clone(q)
	out[joint] += by
	return out
}

type durationMsg struct {
	Sec     int64
	Nanosec int64
}

func (d durationMsg) std() time.Duration {
	return time.Duration(d.Sec)*time.Second + time.Duration(d.Nanosec)
}

type followMsg struct {
	Trajectory struct {
		Header     struct{ Stamp validate.Stamp }
		JointNames []string `json:"joint_names"`
		Points     []struct {
			Positions, Velocities, Accelerations, Effort []float64
			TimeFromStart                                durationMsg `json:"time_from_start"`
		}
	}
	PathTolerance, GoalTolerance []struct {
		Name                             string
		Position, Velocity, Acceleration float64
	}
}

func armCommand(t *testing.T, kind, message string) validate.Command {
	t.Helper()
	message = strings.ReplaceAll(message, "NaN", `"NaN"`)
	message = strings.ReplaceAll(message, "goal_tolerance", "GoalTolerance")
	switch kind {
	case "control_msgs/action/FollowJointTrajectory":
		var m followMsg
		if err := json.Unmarshal([]byte(message), &m); err != nil {
			t.Fatal(err)
		}
		c := validate.JointTrajectory{Stamp: m.Trajectory.Header.Stamp, Trajectory: trajectory.Trajectory{Joints: m.Trajectory.JointNames}}
		for _, p := range m.Trajectory.Points {
			c.Points = append(c.Points, trajectory.Point{
				Positions: p.Positions, Velocities: p.Velocities, Accelerations: p.Accelerations, Effort: p.Effort, Time: p.TimeFromStart.std(),
			})
		}
		for _, g := range m.GoalTolerance {
			c.GoalTolerance = append(c.GoalTolerance, validate.Tolerance{Joint: g.Name, Position: g.Position, Velocity: g.Velocity, Acceleration: g.Acceleration})
		}
		return c
	case "control_msgs/action/GripperCommand":
		var m struct {
			Command struct {
				Position  geometry.Number
				MaxEffort geometry.Number `json:"max_effort"`
			}
		}
		if err := json.Unmarshal([]byte(message), &m); err != nil {
			t.Fatal(err)
		}
		return validate.GripperCommand{Position: float64(m.Command.Position), MaxEffort: float64(m.Command.MaxEffort)}
	}
	t.Fatalf("no such kind %q", kind)
	return nil
}

// TestArmSafetyCases runs the trajectory and gripper cases, resolved for the arm in its carry pose.
func TestArmSafetyCases(t *testing.T) {
	f, err := os.Open("testdata/safety_arm.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	count := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct {
			ID, Why string
			Unsafe  bool
			Payload struct {
				InterfaceType string `json:"interface_type"`
				MessageJSON   string `json:"message_json"`
			}
			Expect struct{ Rule, Joint string }
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		count++
		t.Run(c.ID+" "+c.Why, func(t *testing.T) {
			w := armWorld(carry)
			r := validate.Validate(armCommand(t, c.Payload.InterfaceType, c.Payload.MessageJSON), w)
			if !c.Unsafe {
				expect(t, r, "")
				return
			}
			expect(t, r, rules(r.Findings)) // each is fit to be read
			if !slices.ContainsFunc(r.Findings, func(f geometry.Finding) bool {
				return f.Rule == c.Expect.Rule && (c.Expect.Joint == "" || f.Subject == c.Expect.Joint)
			}) {
				t.Errorf("rule %q of %q is not among %v", c.Expect.Rule, c.Expect.Joint, r.Findings)
			}
			if r.Nearest != nil {
				expect(t, validate.Validate(r.Nearest, w), "")
			}
		})
	}
	if count != 18 {
		t.Errorf("%d cases, want 18", count)
	}
}
