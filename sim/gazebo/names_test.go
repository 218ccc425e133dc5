package gazebo_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"agent_node/sim/arm"
	"agent_node/sim/world"
)

// bridged is an entry of bridge.yaml.
type bridged struct {
	ROSTopic  string `yaml:"ros_topic_name"`
	GzTopic   string `yaml:"gz_topic_name"`
	ROSType   string `yaml:"ros_type_name"`
	GzType    string `yaml:"gz_type_name"`
	Direction string
}

// pairs are the types that ros_gz_bridge converts, as far as they are used here (its README's table).
var pairs = map[string]string{
	"rosgraph_msgs/msg/Clock":   "gz.msgs.Clock",
	"geometry_msgs/msg/Twist":   "gz.msgs.Twist",
	"nav_msgs/msg/Odometry":     "gz.msgs.Odometry",
	"tf2_msgs/msg/TFMessage":    "gz.msgs.Pose_V",
	"sensor_msgs/msg/LaserScan": "gz.msgs.LaserScan",
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func bridge(t *testing.T) (out []bridged) {
	t.Helper()
	readYAML(t, "bridge.yaml", &out)
	return out
}

// Every name of Gazebo's in the bridge is one that the model or the world gives to something.
func TestBridgeEndsAreThere(t *testing.T) {
	model, err := os.ReadFile("models/sim_robot/model.sdf")
	if err != nil {
		t.Fatal(err)
	}
	engine := map[string]bool{"/clock": true} // Gazebo's own
	flat, err := os.ReadFile("worlds/flat.sdf")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, b := range bridge(t) {
		if pairs[b.ROSType] != b.GzType {
			t.Errorf("%s: the bridge does not turn %s into %s", b.ROSTopic, b.GzType, b.ROSType)
		}
		if b.Direction != "GZ_TO_ROS" && b.Direction != "ROS_TO_GZ" {
			t.Errorf("%s goes %q", b.ROSTopic, b.Direction)
		}
		if !engine[b.GzTopic] && !strings.Contains(string(model)+string(flat), ">"+b.GzTopic+"<") {
			t.Errorf("%s: nothing in model and world is called %s", b.ROSTopic, b.GzTopic)
		}
		if seen[b.ROSTopic] {
			t.Errorf("%s is there twice", b.ROSTopic)
		}
		seen[b.ROSTopic] = true
	}
	if len(seen) < 6 {
		t.Errorf("only %d topics are bridged", len(seen))
	}
}

// bindings are the names that a profile uses, with their types.
func bindings(node any, out map[string]string) {
	add := func(name, kind any) {
		if n, ok := name.(string); ok && strings.HasPrefix(n, "/") {
			k, _ := kind.(string)
			if k != "" || out[n] == "" {
				out[n] = k
			}
		}
	}
	switch v := node.(type) {
	case map[string]any:
		add(v["topic"], v["type"])
		add(v["action"], v["type"])
		add(v["name"], v["type"])
		add(v["description"], nil)
		for _, child := range v {
			bindings(child, out)
		}
	case []any:
		for _, child := range v {
			bindings(child, out)
		}
	}
}

// In Gazebo, too, each name of the profile has one whose it is, with the profile's type.
func TestEveryNameOfTheProfileIsSomebodys(t *testing.T) {
	var profile map[string]any
	readYAML(t, "../../config/sim_robot.yaml", &profile)
	used := map[string]string{}
	bindings(profile, used)
	if len(used) < 12 {
		t.Fatalf("the profile names only %v", used)
	}
	have := map[string][]string{
		// Nav2, by launch/nav2.launch.py
		"/navigate_to_pose":     {"nav2_msgs/action/NavigateToPose"},
		"/compute_path_to_pose": {"nav2_msgs/action/ComputePathToPose"},
		"/map":                  {"nav_msgs/msg/OccupancyGrid"},
		// robot_state_publisher, by launch/gazebo.launch.py
		"/robot_description": {"std_msgs/msg/String"},
	}
	types := map[string]string{
		"joint_state_broadcaster/JointStateBroadcaster":         "",
		"joint_trajectory_controller/JointTrajectoryController": "control_msgs/action/FollowJointTrajectory",
		"position_controllers/GripperActionController":          "control_msgs/action/GripperCommand",
	}
	suffix := map[string]string{
		"control_msgs/action/FollowJointTrajectory": "/follow_joint_trajectory",
		"control_msgs/action/GripperCommand":        "/gripper_cmd",
	}
	for name, c := range controllers(t) {
		action, ok := types[c]
		switch {
		case !ok:
			t.Errorf("%s is of the type %q", name, c)
		case action == "":
			have["/joint_states"] = append(have["/joint_states"], "sensor_msgs/msg/JointState")
		default:
			full := "/" + name + suffix[action]
			have[full] = append(have[full], action)
		}
	}
	for _, b := range bridge(t) {
		if b.Direction == "GZ_TO_ROS" {
			have[b.ROSTopic] = append(have[b.ROSTopic], b.ROSType)
		}
	}
	for name, kind := range standIn(t) {
		have[name] = append(have[name], kind)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		kind := used[name]
		if got := have[name]; len(got) != 1 || kind != "" && got[0] != kind {
			t.Errorf("%s of type %q: in Gazebo there is %v", name, kind, got)
		}
	}
}

// standIn are the names and types of the stand-in node: those that it publishes, and the velocity topics.
func standIn(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("standin.py")
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]string{}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if from, names, ok := strings.Cut(strings.TrimPrefix(line, "from "), ".msg import "); ok {
			for name := range strings.SplitSeq(names, ", ") {
				packages[name] = from + "/msg/" + name
			}
		}
		_, args, ok := strings.Cut(line, "create_publisher(")
		if !ok && strings.Contains(line, `"/cmd_vel`) {
			_, args, _ = strings.Cut("create_subscription("+strings.TrimPrefix(line, "self.create_subscription("), "create_subscription(")
			ok = strings.HasPrefix(args, "Twist")
		}
		if !ok {
			continue
		}
		parts := strings.Split(args, ", ")
		kind := packages[parts[0]]
		if kind == "" {
			t.Errorf("%s is imported from nowhere", parts[0])
		}
		out[strings.Trim(parts[1], `"`)] = kind
	}
	return out
}

func controllers(t *testing.T) map[string]string {
	t.Helper()
	var file struct {
		Manager struct {
			Parameters map[string]any `yaml:"ros__parameters"`
		} `yaml:"controller_manager"`
	}
	readYAML(t, "controllers.yaml", &file)
	out := map[string]string{}
	for name, v := range file.Manager.Parameters {
		if m, ok := v.(map[string]any); ok {
			out[name], _ = m["type"].(string)
		}
	}
	return out
}

func TestControllersHaveTheRobotsFigures(t *testing.T) {
	var file struct {
		Arm struct {
			Parameters struct {
				Joints      []string
				Constraints map[string]any
			} `yaml:"ros__parameters"`
		} `yaml:"arm_controller"`
		Gripper struct {
			Parameters struct {
				Joint     string
				MaxEffort float64 `yaml:"max_effort"`
			} `yaml:"ros__parameters"`
		} `yaml:"gripper_controller"`
	}
	readYAML(t, "controllers.yaml", &file)
	w, want := world.Default(), arm.DefaultTolerances()
	if !slices.Equal(file.Arm.Parameters.Joints, w.Arm.Names[:]) {
		t.Errorf("the arm's joints are %v", file.Arm.Parameters.Joints)
	}
	c := file.Arm.Parameters.Constraints
	if c["goal_time"] != want.GoalTime || c["stopped_velocity_tolerance"] != want.Goal[0].Velocity {
		t.Errorf("the constraints are %v, the built-in robot's %+v", c, want)
	}
	for i, name := range w.Arm.Names {
		got, _ := c[name].(map[string]any)
		if got["trajectory"] != want.Path[i].Position || got["goal"] != want.Goal[i].Position {
			t.Errorf("%s: %v, the built-in robot has %+v and %+v", name, got, want.Path[i], want.Goal[i])
		}
	}
	if g := file.Gripper.Parameters; g.Joint != w.Gripper.Joint || g.MaxEffort != w.Gripper.Effort {
		t.Errorf("the gripper is %+v", g)
	}
}

func TestNav2HasTheRobotsFigures(t *testing.T) {
	text, err := os.ReadFile("nav2.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(string(text), "&*") {
		t.Error("ROS's parameter files know no anchors")
	}
	var file map[string]any
	readYAML(t, "nav2.yaml", &file)
	at := func(path ...string) any {
		var v any = file
		for _, p := range path {
			m, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("nav2.yaml has no %v", path)
			}
			v = m[p]
		}
		return v
	}
	node := func(name string, path ...string) any {
		return at(append([]string{name, "ros__parameters"}, path...)...)
	}
	w := world.Default()
	for _, costmap := range []string{"local_costmap", "global_costmap"} {
		in := func(path ...string) any { return node2(at, costmap, path...) }
		if in("robot_radius") != w.Robot.Radius || in("robot_base_frame") != world.LinkBase || in("resolution") != w.Resolution {
			t.Errorf("%s: radius %v, base %v, resolution %v", costmap, in("robot_radius"), in("robot_base_frame"), in("resolution"))
		}
		if filters, _ := in("filters").([]any); !slices.Contains(filters, any("keepout_filter")) {
			t.Errorf("%s has no keep-out filter", costmap)
		}
	}
	follow := func(name string) float64 {
		v, ok := node("controller_server", "FollowPath", name).(float64)
		if !ok {
			t.Fatalf("no %s", name)
		}
		return v
	}
	if v := follow("desired_linear_vel"); v > w.Robot.Limits.Linear {
		t.Errorf("Nav2 drives with %v m/s", v)
	}
	if v := follow("rotate_to_heading_angular_vel"); v > w.Robot.Limits.Angular {
		t.Errorf("Nav2 turns with %v rad/s", v)
	}
	if v := follow("max_angular_accel"); v > w.Robot.Limits.AngularAcceleration {
		t.Errorf("Nav2 turns up with %v rad/s2", v)
	}
	for _, server := range []string{"controller_server", "behavior_server"} {
		if node(server, "enable_stamped_cmd_vel") != false {
			t.Errorf("%s does not say that /cmd_vel is a Twist", server)
		}
	}
	start := w.Start()
	if node("amcl", "initial_pose", "x") != start.X || node("amcl", "initial_pose", "y") != start.Y || node("amcl", "initial_pose", "yaw") != start.Yaw {
		t.Errorf("localisation begins at %v, the robot at %+v", node("amcl", "initial_pose"), start)
	}
	if node("amcl", "base_frame_id") != world.LinkBase || node("amcl", "odom_frame_id") != "odom" || node("amcl", "global_frame_id") != "map" {
		t.Error("localisation is about other frames")
	}
}

// node2 is a parameter of a costmap, whose node has its own name twice.
func node2(at func(...string) any, name string, path ...string) any {
	return at(append([]string{name, name, "ros__parameters"}, path...)...)
}
