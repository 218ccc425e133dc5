package draft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agent_node/pkg/ros"
)

// A TurtleBot as Nav2 brings it up: stamped velocities through a smoother, a teleoperator, limits and footprint in parameters.
func TestDraftOfATurtleBotWithNav2(t *testing.T) {
	d, p, text := drafted(t, func(s *stage) {
		s.tell("/diffdrive_controller", "/odom", "nav_msgs/msg/Odometry", false, odometry("odom", "base_footprint"))
		s.tell("/amcl", "/tf", "tf2_msgs/msg/TFMessage", false, func(m *ros.Message, now ros.Time) {
			link, err := s.node("/amcl").Types().Message("geometry_msgs/msg/TransformStamped")
			s.must(err)
			var list []*ros.Message
			for _, f := range [][2]string{{"map", "odom"}, {"odom", "base_footprint"}, {"base_footprint", "base_link"}} {
				l := ros.New(link).With("header.frame_id", f[0]).With("child_frame_id", f[1]).With("transform.translation.x", 1.0).With("transform.rotation.w", 1.0)
				l.SetStamp("header.stamp", now)
				list = append(list, l)
			}
			m.With("transforms", list)
		})
		s.tell("/map_server", "/map", "nav_msgs/msg/OccupancyGrid", true, func(m *ros.Message, _ ros.Time) { m.With("header.frame_id", "map") })
		s.tell("/local_costmap/local_costmap", "/local_costmap/costmap", "nav_msgs/msg/OccupancyGrid", false, func(m *ros.Message, _ ros.Time) { m.With("header.frame_id", "odom") })
		s.tell("/turtlebot4_node", "/battery_state", "sensor_msgs/msg/BatteryState", false, nil)
		s.tell("/rplidar", "/scan", "sensor_msgs/msg/LaserScan", false, nil)
		s.tell("/oakd", "/oakd/rgb/preview/image_raw", "sensor_msgs/msg/Image", false, nil)
		for _, x := range []struct{ from, to, topic string }{
			{"/controller_server", "/velocity_smoother", "/cmd_vel_nav"},
			{"/velocity_smoother", "/diffdrive_controller", "/cmd_vel"},
			{"/teleop_twist_joy", "/diffdrive_controller", "/cmd_vel"},
		} {
			s.tell(x.from, x.topic, "geometry_msgs/msg/TwistStamped", false, nil)
			s.hear(x.to, x.topic, "geometry_msgs/msg/TwistStamped")
		}
		s.serve("/bt_navigator", "/navigate_to_pose", "nav2_msgs/action/NavigateToPose")
		s.serve("/planner_server", "/compute_path_to_pose", "nav2_msgs/action/ComputePathToPose")
		s.serve("/behavior_server", "/spin", "nav2_msgs/action/Spin")
		s.params("/controller_server", map[string]any{"FollowPath.max_vel_x": 0.31, "FollowPath.max_vel_theta": 1.9, "FollowPath.acc_lim_x": 2.5, "FollowPath.decel_lim_x": -2.5})
		s.params("/velocity_smoother", map[string]any{"max_velocity": []float64{0.26, 0.0, 1.0}, "max_accel": []float64{2.5, 0.0, 3.2}, "max_decel": []float64{-2.0, 0.0, -3.2}})
		s.params("/local_costmap/local_costmap", map[string]any{"robot_radius": 0.189, "footprint": "[]"})
	})
	base := p.Actuators["base"]
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"frames", p.Frames, [3]string{"map", "odom", "base_footprint"}},
		{"feedback", base.Feedback.Topic, "/odom"},
		{"period", base.Feedback.Period, 0.05},
		{"stop", base.Stop.Topic + " " + base.Stop.Type, "/cmd_vel geometry_msgs/msg/TwistStamped"},
		{"linear, the least of all", base.Limit.Linear, 0.26},
		{"angular", base.Limit.Angular, 1.0},
		{"deceleration, a magnitude", base.Limit.Deceleration, 2.0},
		{"footprint", p.World.Footprint.Radius, 0.189},
		{"map", p.World.Map.Topic, "/map"},
		{"allowed", base.AllowedPublishers, []string{"/teleop_twist_joy", "/velocity_smoother"}},
		{"who carries goals out", p.Tools["navigate_to"].Binding.Action.Publishers, []string{"/velocity_smoother"}},
		{"drive", p.Tools["drive"].Binding.Publish.Type, "geometry_msgs/msg/TwistStamped"},
		{"planner", p.Tools["navigate_to"].Binding.Action.Planner.Name, "/compute_path_to_pose"},
		{"camera", p.Tools["look"].Binding.Topic.Name, "/oakd/rgb/preview/image_raw"},
		{"start", p.Places["start"].X, 2.0},
	} {
		want := fmt.Sprint(x.want)
		if f, ok := x.want.([3]string); ok {
			want = fmt.Sprintf("{%s %s %s}", f[0], f[1], f[2])
		}
		if fmt.Sprint(x.got) != want {
			t.Errorf("%s: %v, want %s", x.what, x.got, want)
		}
	}
	if !slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, "/spin nav2_msgs/action/Spin") }) {
		t.Errorf("what is not used is not told: %q", d.Notes)
	}
	if strings.Contains(text, "guessed: look it up") {
		// What Nav2's parameters said needs no guess: only the acceleration of turning has none here but the smoother's.
		t.Errorf("guessed though it was told:\n%s", text)
	}
}

// sixJoints is a description of an arm with a flange, a tool frame and two fingers.
func sixJoints(prefix, shape string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<robot name="six-axis"><link name="world"/><link name="%[1]sbase_link"><collision><geometry>%[2]s</geometry></collision></link>
<joint name="%[1]sstand" type="fixed"><parent link="world"/><child link="%[1]sbase_link"/></joint>`, prefix, shape)
	parent := prefix + "base_link"
	for i := range 6 {
		link := fmt.Sprintf("%slink_%d", prefix, i+1)
		axis := []string{"0 0 1", "0 1 0", "0 1 0", "0 1 0", "0 0 1", "0 1 0"}[i]
		fmt.Fprintf(&b, `<link name="%[1]s"/><joint name="%[2]sjoint_%[3]d" type="revolute"><parent link="%[4]s"/><child link="%[1]s"/><origin xyz="0 0 0.2"/>
<axis xyz="%[5]s"/><limit lower="-3" upper="3" effort="100" velocity="2"/></joint>`, link, prefix, i+1, parent, axis)
		parent = link
	}
	fmt.Fprintf(&b, `<link name="%[1]stool0"/><joint name="%[1]stool" type="fixed"><parent link="%[2]s"/><child link="%[1]stool0"/></joint>
<link name="%[1]sfinger"><collision><geometry><box size="0.01 0.01 0.05"/></geometry></collision></link>
<joint name="%[1]sfinger_joint" type="prismatic"><parent link="%[2]s"/><child link="%[1]sfinger"/><axis xyz="0 1 0"/><limit lower="0" upper="0.04" effort="40" velocity="0.1"/></joint></robot>`, prefix, parent)
	return b.String()
}

const semantic = `<robot name="six-axis"><group_state name="home" group="arm">
<joint name="joint_1" value="0"/><joint name="joint_2" value="-1.5"/><joint name="joint_3" value="1.5"/><joint name="joint_4" value="0"/><joint name="joint_5" value="0"/><joint name="joint_6" value="0.5"/>
</group_state><group_state name="open" group="hand"><joint name="finger_joint" value="0.04"/></group_state>
<disable_collisions link1="link_1" link2="link_2" reason="Adjacent"/><disable_collisions link1="link_2" link2="link_4" reason="Never"/></robot>`

// An arm of ros2_control with MoveIt, which stands where it is; its gripper has the new action.
func TestDraftOfAnArmWithMoveIt(t *testing.T) {
	for _, semanticTopic := range []bool{false, true} {
		draftOfAnArm(t, semanticTopic)
	}
}

func draftOfAnArm(t *testing.T, semanticTopic bool) {
	t.Helper()
	arm := []string{"joint_3", "joint_1", "joint_2", "joint_4", "joint_5", "joint_6"} // as the controller lists them
	d, p, _ := drafted(t, func(s *stage) {
		s.tell("/robot_state_publisher", "/robot_description", "std_msgs/msg/String", true, described(sixJoints("", `<box size="0.1 0.1 0.1"/>`)))
		s.tell("/joint_state_broadcaster", "/joint_states", "sensor_msgs/msg/JointState", false, joints(append([]string{"finger_joint"}, arm...)...))
		s.tell("/ur_control", "/speed_scaling_state_broadcaster/speed_scaling", "std_msgs/msg/Float64", false, nil)
		s.tell("/safety_plc", "/protective_stop", "std_msgs/msg/Bool", false, nil)
		s.serve("/arm_controller", "/arm_controller/follow_joint_trajectory", "control_msgs/action/FollowJointTrajectory")
		s.serve("/hand_controller", "/hand_controller/gripper_cmd", "control_msgs/action/ParallelGripperCommand")
		s.params("/arm_controller", map[string]any{"joints": arm})
		s.params("/hand_controller", map[string]any{"joint": "finger_joint"})
		if semanticTopic {
			s.tell("/move_group", "/robot_description_semantic", "std_msgs/msg/String", true, described(semantic))
		}
		s.params("/move_group", map[string]any{
			"robot_description_semantic": semantic, "robot_description_planning.joint_limits.joint_1.max_acceleration": 2.0,
			"robot_description_planning.joint_limits.joint_2.max_acceleration": 1.5,
		})
	})
	a, g := p.Actuators["arm"], p.Actuators["gripper"]
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"frames", p.Frames, "{base_link base_link base_link}"},
		{"joints in the order of the chain", a.Joints, "[joint_1 joint_2 joint_3 joint_4 joint_5 joint_6]"},
		{"tip", a.Tip, "tool0"},
		{"fingers", a.Fingers, "[finger]"},
		{"acceleration, the least", a.Limit.Acceleration, "1.5"},
		{"contacts, by hand or by topic", fmt.Sprintf("%v %s", a.AllowedContacts, p.World.Semantic), map[bool]string{false: "[[link_2 link_4]] ", true: "[] /robot_description_semantic"}[semanticTopic]},
		{"named", p.Constants["arm_poses"], "map[home:[0 -1.5 1.5 0 0 0.5]]"},
		{"gripper", g.Stop.Type, "control_msgs/action/ParallelGripperCommand"},
		{"opening", fmt.Sprint(g.Limit.Open, g.Limit.Closed, g.Limit.MaxEffort), "0.04 0 20"},
		{"holds", len(a.Pause), "2"},
		{"no base", len(p.Actuators), "2"},
	} {
		if fmt.Sprint(x.got) != x.want {
			t.Errorf("%s: %v, want %s", x.what, x.got, x.want)
		}
	}
	if _, ok := p.Tools["navigate_to"]; ok {
		t.Error("it cannot drive")
	}
	if len(d.Notes) != 0 {
		t.Errorf("%q", d.Notes)
	}
}

// Two arms have two controllers, each its own joints; names keep them apart.
func TestDraftOfTwoArms(t *testing.T) {
	_, p, text := drafted(t, func(s *stage) {
		left := strings.TrimSuffix(sixJoints("left_", `<box size="0.1 0.1 0.1"/>`), "</robot>")
		right := sixJoints("right_", `<box size="0.1 0.1 0.1"/>`)
		both := left + strings.Replace(right[strings.Index(right, `<link name="right_base_link"`):], "", "", 1)
		s.tell("/robot_state_publisher", "/robot_description", "std_msgs/msg/String", true, described(both))
		var all []string
		for _, side := range []string{"left", "right"} {
			var names []string
			for i := range 6 {
				names = append(names, fmt.Sprintf("%s_joint_%d", side, i+1))
			}
			all = append(all, names...)
			s.serve("/"+side+"_arm_controller", "/"+side+"_arm_controller/follow_joint_trajectory", "control_msgs/action/FollowJointTrajectory")
			s.params("/"+side+"_arm_controller", map[string]any{"joints": names})
		}
		s.tell("/joint_state_broadcaster", "/joint_states", "sensor_msgs/msg/JointState", false, joints(all...))
	})
	if p.Actuators["left_arm"].Tip != "left_tool0" || p.Actuators["right_arm"].Tip != "right_tool0" || p.Tools["move_left_arm"].Actuator != "left_arm" {
		t.Errorf("%v\n%s", p.Actuators, text)
	}
}

// What cannot be used is said, with what to do; nothing is guessed into motion.
func TestDraftSaysWhatItCannotUse(t *testing.T) {
	for _, x := range []struct {
		name    string
		furnish func(s *stage)
		says    string
	}{
		{"odometry and no way to drive", func(s *stage) {
			s.tell("/wheels", "/odom", "nav_msgs/msg/Odometry", false, odometry("odom", "base_link"))
			s.tell("/power", "/battery", "sensor_msgs/msg/BatteryState", false, nil)
		}, "nothing was seen by which the base could be driven"},
		{"a trajectory controller without a description", func(s *stage) {
			s.serve("/c", "/c/follow_joint_trajectory", "control_msgs/action/FollowJointTrajectory")
			s.tell("/power", "/battery", "sensor_msgs/msg/BatteryState", false, nil)
		}, "there is no robot description to judge by"},
		{"a description that is none", func(s *stage) {
			s.tell("/rsp", "/robot_description", "std_msgs/msg/String", true, described("<robot"))
			s.tell("/power", "/battery", "sensor_msgs/msg/BatteryState", false, nil)
		}, "description cannot be read"},
		{"meshes", func(s *stage) {
			s.tell("/rsp", "/robot_description", "std_msgs/msg/String", true, described(sixJoints("", `<mesh filename="package://arm/base.stl"/>`)))
			s.tell("/jsb", "/joint_states", "sensor_msgs/msg/JointState", false, joints("joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"))
			s.serve("/c", "/c/follow_joint_trajectory", "control_msgs/action/FollowJointTrajectory")
		}, "the links base_link have meshes as collision shapes"},
		{"a gripper of nobody knows what", func(s *stage) {
			s.serve("/g", "/g/gripper_cmd", "control_msgs/action/GripperCommand")
			s.tell("/power", "/battery", "sensor_msgs/msg/BatteryState", false, nil)
		}, "which joint it moves is not known"},
	} {
		t.Run(x.name, func(t *testing.T) {
			d, _, text := drafted(t, x.furnish)
			if !strings.Contains(strings.Join(d.Notes, "\n"), x.says) || !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "), x.says) {
				t.Errorf("%q not in %q", x.says, d.Notes)
			}
		})
	}
	if d, _, _ := drafted(t, func(s *stage) { s.tell("/talker", "/chatter", "std_msgs/msg/String", false, described("hello")) }); !d.Empty() {
		t.Error("a talker is no robot")
	}
}
