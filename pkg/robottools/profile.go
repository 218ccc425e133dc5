package robottools

import "encoding/json"

// Profile describes one robot. The JSON Schema for editors is config/profile.schema.json.
type Profile struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Simulation says that no hardware can be harmed: skills without validators are allowed.
	Simulation bool `json:"simulation"`
	// AllowUnvalidated names skills that an operator allows although nothing validates their commands.
	AllowUnvalidated []string `json:"allow_unvalidated"`
	Frames           Frames   `json:"frames"`
	// Facts go into the model's system prompt, one line each.
	Facts       []string            `json:"facts"`
	Places      map[string]Place    `json:"places"`
	Objects     map[string]Object   `json:"objects"`
	Constants   map[string]any      `json:"constants"`
	Permissions map[string]string   `json:"permissions"`
	Actuators   map[string]Actuator `json:"actuators"`
	World       World               `json:"world"`
	Tools       map[string]Tool     `json:"tools"`
	// Discovery lets the model look at the graph; nil: it may not. Generic are skills for names that are listed.
	Discovery *Discovery `json:"discovery"`
	Generic   Generic    `json:"generic"`
	// ToolOrder is the order in which the file lists the tools.
	ToolOrder []string `json:"-"`

	source *source
	// linkPrefix is what frames have before the names of the description's links.
	linkPrefix string
	envs       *envs
}

// Frames by their REP-105 roles.
type Frames struct {
	Map  string `json:"map"`
	Odom string `json:"odom"`
	Base string `json:"base"`
}

// Place is a named pose in the map frame: m, m, rad.
type Place struct {
	X   float64 `json:"x"`
	Y   float64 `json:"y"`
	Yaw float64 `json:"yaw"`
	// Surface is where objects of the place lie; nil: none do.
	Surface *Surface `json:"surface"`
}

// Surface is a level area, its sides along the map's axes, m.
type Surface struct {
	Min [2]float64 `json:"min"`
	Max [2]float64 `json:"max"`
	Z   float64    `json:"z"`
}

// Object is what is on record of an object before it is seen.
type Object struct {
	// Place where it usually is; empty: not known.
	Place string `json:"place"`
}

// World is what commands are validated against.
type World struct {
	Map MapSource `json:"map"`
	// Footprint of the robot, in its base frame: a radius, or a polygon.
	Footprint Footprint `json:"footprint"`
	// PoseMaxAge is how old the map pose may be for a check, seconds.
	PoseMaxAge float64 `json:"pose_max_age"`
	Workspace  []Zone  `json:"workspace"`
	KeepOut    []Zone  `json:"keep_out"`
	SpeedZones []Zone  `json:"speed_zones"`
	// Description is the topic of the URDF, for arms: kinematics, limits, shapes.
	Description string `json:"description"`
	// Semantic is the topic of the SRDF: pairs of links whose contacts do not count. Where it is named, arms wait for it.
	Semantic string `json:"semantic"`
	// Packages are directories of ROS packages that meshes are in and that the environment does not find.
	Packages map[string]string `json:"packages"`
	// Bodies stand around the arm, in the map frame; ArmMargin is kept from them, m.
	Bodies    []Body  `json:"bodies"`
	ArmMargin float64 `json:"arm_margin"`
	// Detections is where objects are seen.
	Detections Detections `json:"detections"`
}

// Body is a box in the map frame, m and rad.
type Body struct {
	Name   string     `json:"name"`
	Center [3]float64 `json:"center"`
	Size   [3]float64 `json:"size"`
	Yaw    float64    `json:"yaw"`
}

// Detections is a vision_msgs/msg/Detection3DArray topic.
type Detections struct {
	Topic string `json:"topic"`
	Type  string `json:"type"`
	// Frame of the camera, along whose x axis it looks; Range (m) and Angle (rad, the whole opening) are how far it surely sees. All
	// for predictions. Without a range it is taken to see everything; without a frame it looks along the base's.
	Frame string  `json:"frame"`
	Range float64 `json:"range"`
	Angle float64 `json:"angle"`
}

// MapSource is a nav_msgs/msg/OccupancyGrid topic: while it is missing, motions are refused. Without a topic no map is checked.
type MapSource struct {
	Topic string `json:"topic"`
	// UnknownIsFree lets commands into unexplored cells.
	UnknownIsFree bool `json:"unknown_is_free"`
	// Occupied is the cell value from which a cell counts as occupied (65).
	Occupied int `json:"occupied"`
}

// Footprint of a base.
type Footprint struct {
	Radius  float64      `json:"radius"`
	Polygon [][2]float64 `json:"polygon"`
	Margin  float64      `json:"margin"`
	// Height of the robot, m, for zones with heights; 0: all of them hold.
	Height float64 `json:"height"`
}

// Zone is an area in a frame: a polygon, a circle or a box.
type Zone struct {
	Name    string       `json:"name"`
	Frame   string       `json:"frame"`
	Polygon [][2]float64 `json:"polygon"`
	Circle  *Circle      `json:"circle"`
	Box     *FlatBox     `json:"box"`
	// Heights from and to, m in the zone's frame; nil: at every height.
	Heights *[2]float64 `json:"heights"`
	Margin  float64     `json:"margin"`
	// Speed (m/s) and AngularSpeed (rad/s) of a speed zone; 0: that one is not limited.
	Speed        float64 `json:"speed"`
	AngularSpeed float64 `json:"angular_speed"`
}

// Circle by its centre and radius, m.
type Circle struct {
	Center [2]float64 `json:"center"`
	Radius float64    `json:"radius"`
}

// FlatBox is a rectangle by its centre and edges, m, turned by yaw, rad.
type FlatBox struct {
	Center [2]float64 `json:"center"`
	Size   [2]float64 `json:"size"`
	Yaw    float64    `json:"yaw"`
}

// Tool is one row of the tool table.
type Tool struct {
	Class       string          `json:"class"`
	Description string          `json:"description"`
	Actuator    string          `json:"actuator"`
	Parameters  json.RawMessage `json:"parameters"`
	Binding     Binding         `json:"binding"`
	// Where is CEL: named intermediate values, in order, usable in every later expression.
	Where Exprs `json:"where"`
	// Result is CEL over the observation: what the model sees. Empty: the whole observation.
	Result string `json:"result"`
	// Fresh is CEL: where it is false, nothing that the tool could judge or tell by is seen now (stale_state).
	Fresh string `json:"fresh"`
	// Pass is CEL, a verify tool's verdict.
	Pass string `json:"pass"`
	// Requires are CEL conditions on arguments and state, checked before anything is sent: message -> expression.
	Requires Exprs `json:"requires"`
	// Preconditions are CEL conditions on the world, checked before anything is sent: message -> expression. What they refuse is
	// precondition_failed: it may be different when the world is.
	Preconditions Exprs `json:"preconditions"`
	// Postconditions is CEL yielding criteria that must hold after the skill.
	Postconditions string   `json:"postconditions"`
	Validators     []string `json:"validators"`
	// TimeLimit of a motion; Estimate is CEL, the seconds that it takes, where the geometry layer does not know.
	TimeLimit  TimeLimit `json:"time_limit"`
	Estimate   string    `json:"estimate"`
	Permission string    `json:"permission"`
	// Conditions on the arguments: "ask if distance_m > 0.3", "deny if place == 'stairs'".
	Conditions []string `json:"conditions"`
	// Repeatable: carried out again after an interruption it leads to the same.
	Repeatable bool `json:"repeatable"`
	// Rate bounds how often the tool is called.
	Rate *Rate `json:"rate"`
}

// Rate is so many calls within any stretch of that many seconds.
type Rate struct {
	Calls int     `json:"calls"`
	Per   float64 `json:"per"`
}

// Binding says what a tool is bound to: exactly one of its fields is set.
type Binding struct {
	Topic     *TopicBinding     `json:"topic"`
	Publish   *PublishBinding   `json:"publish"`
	Service   *ServiceBinding   `json:"service"`
	Action    *ActionBinding    `json:"action"`
	Parameter *ParameterBinding `json:"parameter"`
	Transform *TransformBinding `json:"transform"`
	Profile   string            `json:"profile"` // "places" or "objects"
	Wait      *WaitBinding      `json:"wait"`
	Sequence  *SequenceBinding  `json:"sequence"`
	// Trajectory moves an arm.
	Trajectory *TrajectoryBinding `json:"trajectory"`
	// Agent asks another agent.
	Agent *AgentBinding `json:"agent"`
}

// TopicBinding reads the newest message.
type TopicBinding struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	MaxAge float64 `json:"max_age"` // seconds
	// MaxSide of what a model is shown of an image, pixels (512).
	MaxSide int `json:"max_side"`
}

// PublishBinding streams messages at a rate until a condition, then zero.
type PublishBinding struct {
	Name string `json:"name"`
	// Type is geometry_msgs/msg/Twist or TwistStamped for a base's velocities, else any.
	Type string `json:"type"`
	// Once sends one message, a position to go to, and no stream.
	Once bool `json:"once"`
	// Message maps field paths to CEL over args, moved, state.
	Message Exprs `json:"message"`
	// Until is CEL: the motion is complete.
	Until string `json:"until"`
	// For is CEL: seconds after which the motion is complete.
	For string `json:"for"`
	// Distance and Angle are CEL: the straight motion and the turn that the geometry layer checks beforehand, m and rad.
	Distance string `json:"distance"`
	Angle    string `json:"angle"`
}

// ServiceBinding calls a service.
type ServiceBinding struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Request Exprs  `json:"request"`
	// Success is CEL over response.
	Success string `json:"success"`
	// Until is CEL over state: the motion that the call began is complete. Without it the response is its end.
	Until string `json:"until"`
}

// ActionBinding sends a goal.
type ActionBinding struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Goal Exprs  `json:"goal"`
	// Success is CEL over result; without it the status decides alone.
	Success string `json:"success"`
	// Target is CEL: {'x': …, 'y': …, 'yaw': …} in the map frame, the pose that the geometry layer checks.
	Target string `json:"target"`
	// Distance and Angle are CEL: the straight drive and the turn that the goal asks for from where the robot stands, m and rad,
	// which the geometry layer checks beforehand. After a pause the goal is made anew with what moved says by then.
	Distance string `json:"distance"`
	Angle    string `json:"angle"`
	// Planner asks somebody for the path to check it.
	Planner *PlannerBinding `json:"planner"`
	// Publishers are nodes that carry the goal out by publishing on the actuator's command topics, beside the server itself (a
	// controller server, a velocity smoother).
	Publishers []string `json:"publishers"`
}

// PlannerBinding is an action (ComputePathToPose) that yields a nav_msgs/msg/Path.
type PlannerBinding struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Goal Exprs  `json:"goal"`
	// From maps fields of the goal to CEL over from: where a plan's step would begin.
	From      Exprs   `json:"from"`
	Path      string  `json:"path"`    // field path of the path in the result
	Success   string  `json:"success"` // CEL over result
	TimeLimit float64 `json:"time_limit"`
}

// ParameterBinding reads a parameter of a node.
type ParameterBinding struct {
	Node string `json:"node"`
	Name string `json:"name"`
}

// TransformBinding reads a transform: the pose of source in target.
type TransformBinding struct {
	Target string  `json:"target"`
	Source string  `json:"source"`
	MaxAge float64 `json:"max_age"` // seconds
}

// AgentBinding has another agent carry out a task by its execute_task, within what is left of the budget here.
type AgentBinding struct {
	// Name of the action as it is, whatever the namespace of this robot: the other is elsewhere.
	Name string `json:"name"`
	Task string `json:"task"` // CEL: words
	// Criteria and AllowedTools are CEL lists of words, passed on.
	Criteria     string `json:"criteria"`
	AllowedTools string `json:"allowed_tools"`
	// LostAfter is how long this node may be out of the other's reach before the other stops, s (10).
	LostAfter float64 `json:"lost_after"`
}

// WaitBinding lets time pass on the node's ROS clock.
type WaitBinding struct {
	Seconds string `json:"seconds"` // CEL
}

// SequenceBinding calls other tools in order.
type SequenceBinding struct {
	Steps []SequenceStep `json:"steps"`
	// OnFailure leads to a safe state after a part has failed and something had moved.
	OnFailure []SequenceStep `json:"on_failure"`
}

// SequenceStep is one call. A verify tool that does not pass is a failed pre- or postcondition.
type SequenceStep struct {
	Tool string `json:"tool"`
	Args Exprs  `json:"args"`
	// When is CEL: the step is left out where it is false.
	When string `json:"when"`
}

// TrajectoryBinding moves an arm by a control_msgs/action/FollowJointTrajectory goal that is planned here.
type TrajectoryBinding struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Joints is CEL: joint positions in the actuator's order, rad; an empty list means none.
	Joints string `json:"joints"`
	// Pose is CEL: {frame, x, y, z} of the tip, with roll, pitch and yaw. Without roll and pitch the tool points down, with the yaw that is
	// given, or with any.
	Pose string `json:"pose"`
	// Speed is the share of the limits that is used (0 to 1; 0 means 1).
	Speed float64 `json:"speed"`
	// Vias are joint positions over which a detour is tried.
	Vias [][]float64 `json:"vias"`
}
