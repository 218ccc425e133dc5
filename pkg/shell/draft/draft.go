package draft

import (
	"cmp"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"agent_node/pkg/geometry/urdf"
)

// Draft is what the profile will say.
type Draft struct {
	Name        string
	Simulated   bool
	Map         string // frames
	Odom        string
	Base        string
	MapGuess    string // why the map frame is what it is, where that was guessed
	MapTopic    string
	Description string
	Semantic    string
	Detections  string
	Objects     []string
	Start       *Pose // where the robot stands now, in the map frame
	Holds       []Hold
	Mobile      *Mobile
	Arms        []*Arm
	Grippers    []*Gripper
	Batteries   []Sensor
	Scans       []Sensor
	Cameras     []Sensor
	// Notes are for whoever reads the profile: what was seen and is not used, and why.
	Notes []string
}

// Pose in the map frame, m and rad.
type Pose struct{ X, Y, Yaw float64 }

// Hold is a signal of the robot's own that it holds.
type Hold struct{ Name, Topic, Type, When, EmergencyWhen string }

// Sensor is a topic that a query reads.
type Sensor struct{ Tool, Topic, Type string }

// Number is a figure with where it comes from.
type Number struct {
	Value float64
	From  string // "guessed", or a node and its parameter
}

// Mobile is a base that drives.
type Mobile struct {
	Odometry       string
	Period         float64
	Command        string // topic; empty: there is none
	CommandType    string
	Publishers     []string // that are on the command topic now
	Drivers        []string // those of them that carry a navigator's goals out
	Linear         Number
	Angular        Number
	LinearAccel    Number
	AngularAccel   Number
	Deceleration   Number
	Radius         Number
	Polygon        [][2]float64
	Navigate       string // action; empty: there is none
	Plan           string
	Dock           string
	Undock         string
	ErrorCodes     bool // the navigator's results have them
	PositionWithin float64
	AngleWithin    float64
}

// Arm is a chain of joints with a trajectory controller.
type Arm struct {
	Name         string // of the actuator
	Tool         string
	At           string // of the verify tool
	Action       string
	States       string // topic of its joint states
	Period       float64
	Joints       []string
	Tip          string
	Velocity     Number // 0: the description's
	Acceleration Number
	Contacts     [][2]string
	Poses        map[string][]float64 // by name, in the order of Joints
	Fingers      []string
}

// Gripper is one finger with a gripper controller.
type Gripper struct {
	Name         string
	Tool, Is     string
	Action, Type string
	States       string
	Period       float64
	Joint        string
	Open, Closed float64
	Effort       float64
	Revolute     bool
}

// HasPoses reports whether an arm has named poses.
func (d *Draft) HasPoses() bool {
	return slices.ContainsFunc(d.Arms, func(a *Arm) bool { return len(a.Poses) > 0 })
}

// Moves reports whether there is something that moves.
func (d *Draft) Moves() bool { return d.Mobile != nil || len(d.Arms)+len(d.Grippers) > 0 }

// Empty reports whether nothing was found that a tool could be made of.
func (d *Draft) Empty() bool {
	return !d.Moves() && len(d.Batteries)+len(d.Scans)+len(d.Cameras)+len(d.Objects) == 0
}

const (
	guessed    = "guessed: look it up"
	navigateTo = "nav2_msgs/action/NavigateToPose"
	planTo     = "nav2_msgs/action/ComputePathToPose"
	dockType   = "nav2_msgs/action/DockRobot"
	undockType = "nav2_msgs/action/UndockRobot"
	follow     = "control_msgs/action/FollowJointTrajectory"
	grip       = "control_msgs/action/GripperCommand"
	gripNew    = "control_msgs/action/ParallelGripperCommand"
	moveGroup  = "moveit_msgs/action/MoveGroup"
	twist      = "geometry_msgs/msg/Twist"
	twistNew   = "geometry_msgs/msg/TwistStamped"
)

// Decide makes a draft of what was found.
func (r *Robot) Decide(name string) *Draft {
	d := &Draft{Name: name, Simulated: r.Simulated}
	model := r.model(d)
	r.frames(d, model)
	r.mobile(d, model)
	r.arms(d, model)
	r.grippers(d, model)
	r.sensors(d)
	r.holds(d)
	r.start(d)
	if n := r.of(moveGroup); len(n) > 0 {
		d.note("MoveIt is there (%s): its named states and the pairs of links that it lets touch are taken over; the node plans and judges arm motions by itself, and sends them to the controller.", n[0])
	}
	if d.Name == "" {
		d.Name = "robot"
		if model != nil && model.Name != "" {
			d.Name = plain(model.Name)
		}
	}
	r.leftOver(d)
	return d
}

func (d *Draft) note(format string, args ...any) { d.Notes = append(d.Notes, sprintf(format, args...)) }

// model is the robot's description, where it has one that can be read.
func (r *Robot) model(d *Draft) *urdf.Model {
	text := ""
	for _, name := range r.namesOf(r.Topics, "std_msgs/msg/String") {
		if m := r.Newest[name]; m != nil && strings.HasSuffix(name, "robot_description") {
			text, d.Description = m.Str("data"), name
			break
		}
	}
	if text == "" {
		for _, node := range sortedKeys(r.Params) {
			if s, ok := r.Params[node]["robot_description"].(string); ok && s != "" {
				text = s
				d.note("the robot's description is a parameter of %s only: let robot_state_publisher publish it on a topic, and name that as world.description.", node)
			}
		}
	}
	if text == "" {
		return nil
	}
	m, err := urdf.Parse([]byte(text))
	if err != nil {
		d.note("the robot's description cannot be read: %v", err)
		d.Description = ""
		return nil
	}
	return m
}

// frames by what odometry and transforms say.
func (r *Robot) frames(d *Draft, model *urdf.Model) {
	if odom := r.odometry(); odom != "" {
		m := r.Newest[odom]
		d.Odom, d.Base = m.Str("header.frame_id"), m.Str("child_frame_id")
	}
	if d.Base == "" {
		switch {
		case model != nil:
			d.Base = model.Root
			// A fixed arm often hangs on a world link that stands for the room.
			if j := childOf(model, model.Root); model.Root == "world" && j != nil {
				d.Base = j.Child
			}
		default:
			d.Base = "base_link"
		}
	}
	if d.Odom == "" {
		d.Odom = d.Base
	}
	top := d.Odom
	for parent, ok := r.Parents[top]; ok && parent != top; parent, ok = r.Parents[top] {
		top = parent
	}
	d.Map = top
	if m := r.mapTopic(); m != "" {
		d.MapTopic = m
		if f := r.Newest[m].Str("header.frame_id"); f != "" {
			d.Map = f
		}
	}
	if d.Map == d.Odom {
		d.MapGuess = "no localisation was seen: poses are those of the odometry, and drift"
		if d.Odom == d.Base {
			d.MapGuess = "it does not drive: its base stands for the room"
		}
	}
}

// childOf is the one joint below a link, where that is fixed.
func childOf(m *urdf.Model, link string) (child *urdf.Joint) {
	for i := range m.Joints {
		if j := &m.Joints[i]; j.Parent == link {
			if child != nil || j.Type != urdf.Fixed {
				return nil
			}
			child = j
		}
	}
	return child
}

// odometry is the likeliest of the odometry topics that were heard.
func (r *Robot) odometry() string {
	return best(r.namesOf(r.Topics, "nav_msgs/msg/Odometry"), func(name string) float64 {
		if r.Newest[name] == nil || truthLike.MatchString(name) { // a simulator's truth is nothing that a robot has
			return never
		}
		score := -float64(len(name))
		if path.Base(name) == "odom" {
			score += 100
		}
		if strings.HasSuffix(name, "odometry/filtered") {
			score += 150
		}
		return score
	})
}

var (
	truthLike  = regexp.MustCompile(`(?i)ground_?truth|/sim/|gazebo`)
	costLike   = regexp.MustCompile(`(?i)costmap|/sim/`)
	teleLike   = regexp.MustCompile(`(?i)tele|joy|key|twist_mux|web|rviz`)
	insideLike = regexp.MustCompile(`(?i)cmd_vel_(nav|smoothed|raw|teleop|joy|key)|/joy|teleop|safety`)
)

func (r *Robot) mapTopic() string {
	return best(r.namesOf(r.Topics, "nav_msgs/msg/OccupancyGrid"), func(name string) float64 {
		if r.Newest[name] == nil || costLike.MatchString(name) {
			return never
		}
		return -float64(len(name))
	})
}

func (r *Robot) mobile(d *Draft, model *urdf.Model) {
	odom := r.odometry()
	if odom == "" {
		return
	}
	m := &Mobile{Odometry: odom, Period: period(r.Rate[odom]), PositionWithin: 0.25, AngleWithin: 0.25}
	m.Command, m.CommandType = r.command(odom)
	m.Navigate, m.Plan = r.shortest(navigateTo), r.shortest(planTo)
	if t, err := r.types.Action(navigateTo); err == nil {
		m.ErrorCodes = t.Result.FieldIndex("error_code") >= 0
	}
	if m.Command == "" && m.Navigate == "" {
		d.note("odometry is told on %s, and nothing was seen by which the base could be driven.", odom)
		return
	}
	m.Publishers = r.Told[m.Command]
	for _, p := range m.Publishers {
		if !teleLike.MatchString(p) {
			m.Drivers = append(m.Drivers, p)
		}
	}
	m.Dock, m.Undock = r.installed(d, dockType), r.installed(d, undockType)
	r.baseLimits(m)
	r.footprint(m, model, d.Base)
	d.Mobile = m
}

// command is the likeliest topic of velocities that somebody listens to.
func (r *Robot) command(odom string) (topic, typeName string) {
	var names []string
	for _, t := range []string{twist, twistNew} {
		names = append(names, r.namesOf(r.Topics, t)...)
	}
	topic = best(names, func(name string) float64 {
		if len(r.Commanded[name]) == 0 {
			return never
		}
		score := -float64(len(name))
		if insideLike.MatchString(name) {
			score -= 1000
		}
		if path.Base(name) == "cmd_vel" {
			score += 100
		}
		if path.Dir(name) == path.Dir(odom) {
			score += 50
		}
		return score
	})
	if topic == "" {
		return "", ""
	}
	// Of two types on one topic, plain Twist is the older habit, and what more things listen to.
	return topic, slices.Min(slices.DeleteFunc(slices.Clone(r.Topics[topic]), func(t string) bool { return t != twist && t != twistNew }))
}

func (r *Robot) baseLimits(m *Mobile) {
	m.Linear, m.Angular = Number{0.3, guessed}, Number{0.8, guessed}
	if m.Navigate != "" { // what a navigator drives at is not to be refused; this node's own skills are slower
		m.Linear, m.Angular = Number{0.6, guessed}, Number{1.5, guessed}
	}
	m.LinearAccel, m.AngularAccel = Number{0.5, guessed}, Number{1.0, guessed}
	m.Deceleration = Number{0.5, guessed}
	for _, x := range []struct {
		into  *Number
		names string
		index int // of an array
	}{
		{&m.Linear, `\.(max_vel_x|desired_linear_vel|vx_max)$|^linear\.x\.max_velocity$`, 0},
		{&m.Angular, `\.(max_vel_theta|wz_max)$|^angular\.z\.max_velocity$`, 0},
		{&m.LinearAccel, `\.acc_lim_x$|^linear\.x\.max_acceleration$`, 0},
		{&m.AngularAccel, `\.acc_lim_theta$|^angular\.z\.max_acceleration$`, 0},
		{&m.Deceleration, `\.decel_lim_x$|^linear\.x\.max_deceleration$`, 0},
		{&m.Linear, `^max_velocity$`, 0},
		{&m.Angular, `^max_velocity$`, 2},
		{&m.LinearAccel, `^max_accel$`, 0},
		{&m.AngularAccel, `^max_accel$`, 2},
		{&m.Deceleration, `^max_decel$`, 0},
	} {
		like := regexp.MustCompile(x.names)
		for _, node := range sortedKeys(r.Params) {
			for _, name := range sortedKeys(r.Params[node]) {
				if !like.MatchString(name) {
					continue
				}
				v := math.Abs(numberIn(r.Params[node][name], x.index))
				// The least of what the stack's own nodes allow is what the base will do.
				if v > 0 && !math.IsInf(v, 0) && (x.into.From == guessed || v < x.into.Value) {
					*x.into = Number{v, node + " " + name}
				}
			}
		}
	}
}

// numberIn a parameter's value, or in an array of them.
func numberIn(v any, index int) float64 {
	switch x := v.(type) {
	case float64:
		if index == 0 {
			return x
		}
	case int64:
		if index == 0 {
			return float64(x)
		}
	case []float64:
		if index < len(x) {
			return x[index]
		}
	}
	return math.NaN()
}

func (r *Robot) footprint(m *Mobile, model *urdf.Model, base string) {
	for _, node := range sortedKeys(r.Params) {
		p := r.Params[node]
		if s, ok := p["footprint"].(string); ok && len(m.Polygon) == 0 {
			if corners := polygon(s); len(corners) >= 3 {
				m.Polygon, m.Radius = corners, Number{0, node + " footprint"}
				return
			}
		}
	}
	for _, node := range sortedKeys(r.Params) {
		if v, ok := r.Params[node]["robot_radius"].(float64); ok && v > 0 {
			m.Radius = Number{v, node + " robot_radius"}
			return
		}
	}
	if radius := reach(model, base); radius > 0 {
		m.Radius = Number{math.Ceil(radius*100) / 100, "of the description's shapes that are fixed to the base, and its wheels"}
		return
	}
	m.Radius = Number{0.3, guessed}
}

// sensors that queries read.
func (r *Robot) sensors(d *Draft) {
	d.Batteries = r.tools("get_battery", "sensor_msgs/msg/BatteryState")
	d.Scans = r.tools("get_clearance", "sensor_msgs/msg/LaserScan")
	d.Cameras = append(r.tools("look", "sensor_msgs/msg/Image"), r.tools("look_compressed", "sensor_msgs/msg/CompressedImage")...)
	if names := r.told("vision_msgs/msg/Detection3DArray"); len(names) > 0 {
		d.Detections = best(names, func(n string) float64 {
			if truthLike.MatchString(n) {
				return -1000
			}
			return -float64(len(n))
		})
		if m := r.Newest[d.Detections]; m != nil {
			for _, det := range m.Msgs("detections") {
				for _, h := range det.Msgs("results") {
					if id := h.Str("hypothesis.class_id"); id != "" && !slices.Contains(d.Objects, id) {
						d.Objects = append(d.Objects, id)
					}
				}
			}
			slices.Sort(d.Objects)
		}
	}
}

// tools are queries of a type's topics: the first has the plain name.
func (r *Robot) tools(tool, typeName string) []Sensor {
	var out []Sensor
	for _, name := range r.told(typeName) {
		if truthLike.MatchString(name) {
			continue
		}
		t := tool
		if len(out) > 0 {
			t += "_" + plain(strings.ToLower(strings.Trim(name, "/")))
		}
		out = append(out, Sensor{t, name, typeName})
	}
	return out
}

// holds are topics that sound like the robot's own signals of a hold.
func (r *Robot) holds(d *Draft) {
	for _, name := range r.told("std_msgs/msg/Float64") {
		if strings.Contains(name, "speed_scaling") {
			d.Holds = append(d.Holds, Hold{Name: "speed_scaling", Topic: name, Type: "std_msgs/msg/Float64", When: "!(msg.data > 0.0)"})
			break
		}
	}
	for _, name := range r.told("std_msgs/msg/String") {
		if b := path.Base(name); b == "robot_mode" || b == "safety_mode" {
			d.Holds = append(d.Holds, Hold{
				Name: b, Topic: name, Type: "std_msgs/msg/String", When: "msg.data.lowerAscii().contains('protective')",
				EmergencyWhen: "msg.data.lowerAscii().contains('estop') || msg.data.lowerAscii().contains('emergency')",
			})
		}
	}
	for _, name := range r.told("std_msgs/msg/Bool") {
		b := path.Base(name)
		if b != "emergency_stop" && stopLike.MatchString(b) {
			d.Holds = append(d.Holds, Hold{Name: plain(b), Topic: name, Type: "std_msgs/msg/Bool", When: "msg.data"})
		}
	}
}

var stopLike = regexp.MustCompile(`(?i)e_?stop|protective|safety_stop|runstop|paused`)

// start is where the robot stands now.
func (r *Robot) start(d *Draft) {
	const age = 2e9
	if d.Mobile == nil {
		return
	}
	if t, err := r.links.Latest(d.Map, d.Base, int64(r.now), age); err == nil {
		p := t.Transform.Planar()
		d.Start = &Pose{cents(p.X), cents(p.Y), cents(p.Yaw)}
	}
}

func cents(v float64) float64 { return math.Round(v*100)/100 + 0 }

// leftOver lists what was seen and is not in the draft.
func (r *Robot) leftOver(d *Draft) {
	text := d.YAML()
	var left []string
	for _, name := range sortedKeys(r.Actions) {
		if !strings.Contains(text, " "+name+"\n") && !strings.Contains(text, " "+name+",") && !strings.Contains(text, " "+name+"}") {
			left = append(left, name+" "+strings.Join(r.Actions[name], ", "))
		}
	}
	if len(left) > 0 {
		d.note("actions that are there and are not used: %s.", strings.Join(left, "; "))
	}
}

// Helpers.

const never = -1e9

// best of some names by score; empty where none scores above never.
func best(names []string, score func(string) float64) string {
	top, found := never, ""
	for _, n := range names {
		if s := score(n); s > top {
			top, found = s, n
		}
	}
	return found
}

// namesOf a type, sorted.
func (r *Robot) namesOf(all map[string][]string, typeName string) []string {
	var names []string
	for name, types := range all {
		if slices.Contains(types, typeName) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// told are topics of a type that somebody publishes.
func (r *Robot) told(typeName string) []string {
	return slices.DeleteFunc(r.namesOf(r.Topics, typeName), func(n string) bool { return len(r.Told[n]) == 0 })
}

// of are the actions of a type.
func (r *Robot) of(action string) []string { return r.namesOf(r.Actions, action) }

// shortest name of an action's servers; empty: there is none.
func (r *Robot) shortest(action string) string {
	return best(r.of(action), func(n string) float64 { return -float64(len(n)) })
}

// installed is like shortest, where the type is installed here; else it is noted.
func (r *Robot) installed(d *Draft, action string) string {
	name := r.shortest(action)
	if name == "" {
		return ""
	}
	if _, err := r.types.Action(action); err != nil {
		d.note("the action %s is of type %s, which is not installed here: install its package and draft again.", name, action)
		return ""
	}
	return name
}

// period of a rate, rounded to something that a person would write.
func period(rate float64) float64 {
	if rate <= 0 {
		return 0.1
	}
	for _, p := range []float64{0.001, 0.002, 0.004, 0.005, 0.008, 0.01, 0.02, 0.025, 0.033, 0.04, 0.05, 0.067, 0.1, 0.2, 0.5, 1} {
		if math.Abs(p*rate-1) < 0.12 {
			return p
		}
	}
	return math.Round(1000/rate) / 1000
}

// plain is a name of letters, digits and underscores that begins with a letter.
func plain(s string) string {
	s = strings.Trim(notPlain.ReplaceAllString(s, "_"), "_")
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "robot_" + s
	}
	return s
}

var notPlain = regexp.MustCompile(`[^A-Za-z0-9]+`)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
