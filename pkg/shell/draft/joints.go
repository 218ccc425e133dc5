package draft

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"

	"gonum.org/v1/gonum/spatial/r3"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// arms are the trajectory controllers whose joints form a chain of the description.
func (r *Robot) arms(d *Draft, model *urdf.Model) {
	actions := r.of(follow)
	if len(actions) == 0 {
		return
	}
	if model == nil || d.Description == "" {
		d.note("%s moves joints, and there is no robot description to judge by: publish it on /robot_description.", strings.Join(actions, ", "))
		return
	}
	semantics := r.semantics(d)
	taken := map[string]bool{}
	for _, action := range actions {
		joints := r.jointsOf(path.Dir(action))
		if len(joints) == 0 {
			joints = r.longest(model, d.Base, taken)
		}
		a, err := r.arm(d, model, action, joints)
		if err != nil {
			d.note("%s is not used: %v", action, err)
			continue
		}
		for _, j := range a.Joints {
			taken[j] = true
		}
		semantics.into(a)
		if d.Semantic != "" { // the node reads the pairs there
			a.Contacts = nil
		}
		d.Arms = append(d.Arms, a)
	}
	for _, a := range d.Arms {
		a.Name, a.Tool, a.At = "arm", "move_arm", "arm_at"
		if len(d.Arms) > 1 {
			a.Name = shortName(a.Action)
			a.Tool, a.At = "move_"+a.Name, a.Name+"_at"
		}
	}
}

// jointsOf a controller by its own parameter.
func (r *Robot) jointsOf(node string) []string {
	for _, name := range []string{"joints", "joint"} {
		switch v := r.Params[node][name].(type) {
		case []string:
			return v
		case string:
			if v != "" {
				return []string{v}
			}
		}
	}
	return nil
}

// states is the topic that tells all of some joints, the one that tells them most often.
func (r *Robot) states(joints []string) string {
	return best(r.namesOf(r.Topics, "sensor_msgs/msg/JointState"), func(name string) float64 {
		m := r.Newest[name]
		if m == nil || truthLike.MatchString(name) {
			return never
		}
		names := m.Strs("name")
		for _, j := range joints {
			if !slices.Contains(names, j) {
				return never
			}
		}
		return r.Rate[name]
	})
}

// arm of a controller's joints.
func (r *Robot) arm(d *Draft, model *urdf.Model, action string, joints []string) (*Arm, error) {
	if len(joints) < 2 {
		return nil, fmt.Errorf("of its joints only %v are known: no arm", joints)
	}
	for _, j := range joints {
		switch m := model.Joint(j); {
		case m == nil:
			return nil, fmt.Errorf("the description has no joint %s", j)
		case m.Type == urdf.Prismatic:
			return nil, fmt.Errorf("joint %s is prismatic: an arm's joints turn; describe it as an actuator of kind other", j)
		}
	}
	tip, err := tipOf(model, joints)
	if err != nil {
		return nil, err
	}
	chain, err := kinematics.NewChain(model, d.Base, tip)
	if err != nil {
		return nil, err
	}
	names := chain.Names()
	if other := lacking(names, joints); other != "" {
		return nil, fmt.Errorf("between %s and %s there are joints that it does not move (%s)", d.Base, tip, other)
	}
	if other := lacking(joints, names); other != "" {
		return nil, fmt.Errorf("the joints %s are not on the way from %s to %s", other, d.Base, tip)
	}
	a := &Arm{Action: action, Joints: names, Tip: tip, States: r.states(names), Acceleration: Number{1.0, guessed}, Fingers: below(model, tip)}
	if a.States == "" {
		return nil, fmt.Errorf("no topic of joint states tells of %s", strings.Join(names, ", "))
	}
	a.Period = period(r.Rate[a.States])
	for _, j := range chain.Joints() {
		if j.Velocity == 0 {
			a.Velocity = Number{0.5, guessed + "; the description has none for " + j.Name}
		}
		for _, node := range sortedKeys(r.Params) {
			if v, ok := r.Params[node]["robot_description_planning.joint_limits."+j.Name+".max_acceleration"].(float64); ok && v > 0 && (a.Acceleration.From == guessed || v < a.Acceleration.Value) {
				a.Acceleration = Number{v, node + ", the least of its joints"}
			}
		}
	}
	if mesh := meshes(model); mesh != "" {
		d.note("the links %s have meshes as collision shapes: they are read from their ROS packages; name those that are not installed here under world.packages.", mesh)
	}
	return a, nil
}

// lacking are names of all that are not in some, in words.
func lacking(all, some []string) string {
	var out []string
	for _, n := range all {
		if !slices.Contains(some, n) {
			out = append(out, n)
		}
	}
	return strings.Join(out, ", ")
}

// tipLike are names of links that tools are meant by.
var tipLike = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^tool0$|tool0$`), regexp.MustCompile(`(?i)tcp|grasp|end_?eff|ee_link|ee$`), regexp.MustCompile(`(?i)tool|flange|hand$`),
}

// tipOf a chain: the link below its last joint that is named like a tool, else the last joint's own.
func tipOf(m *urdf.Model, joints []string) (string, error) {
	last := ""
	for _, name := range joints {
		// The last joint has no other of them below it.
		deeper := false
		for _, other := range joints {
			deeper = deeper || other != name && isAbove(m, name, other)
		}
		if !deeper {
			if last != "" {
				return "", fmt.Errorf("the joints %v are no chain: both %s and %s end it", joints, last, name)
			}
			last = name
		}
	}
	child := m.Joint(last).Child
	rigid := []string{child}
	for i := 0; i < len(rigid); i++ {
		for k := range m.Joints {
			if j := &m.Joints[k]; j.Parent == rigid[i] && j.Type == urdf.Fixed {
				rigid = append(rigid, j.Child)
			}
		}
	}
	for _, like := range tipLike {
		for _, link := range rigid {
			if like.MatchString(link) {
				return link, nil
			}
		}
	}
	return child, nil
}

// isAbove: joint a is on the way from the root to joint b.
func isAbove(m *urdf.Model, a, b string) bool {
	for j := m.Above(m.Joint(b).Parent); j != nil; j = m.Above(j.Parent) {
		if j.Name == a {
			return true
		}
	}
	return false
}

// below are the links that hang on a link, itself left out: fingers, where it is an arm's tip.
func below(m *urdf.Model, link string) []string {
	var out []string
	from := link
	if j := m.Above(link); j != nil && j.Type == urdf.Fixed {
		from = j.Parent // a tool frame stands beside the gripper's fingers, on its body
		if j := m.Above(from); j != nil && j.Type == urdf.Fixed && shaped(m, from) {
			out = append(out, from)
		}
	}
	list := []string{from}
	for i := 0; i < len(list); i++ {
		for k := range m.Joints {
			if j := &m.Joints[k]; j.Parent == list[i] {
				list = append(list, j.Child)
				if shaped(m, j.Child) {
					out = append(out, j.Child)
				}
			}
		}
	}
	return out
}

// shaped: a link has a collision shape.
func shaped(m *urdf.Model, link string) bool {
	l := m.Link(link)
	return l != nil && len(l.Collisions) > 0
}

// longest chain of turning joints that are told and not taken, in the order from the base.
func (r *Robot) longest(m *urdf.Model, base string, taken map[string]bool) []string {
	var top []string
	for i := range m.Links {
		var chain []string
		for j := m.Above(m.Links[i].Name); j != nil; j = m.Above(j.Parent) {
			if j.Type == urdf.Fixed || j.Mimic != nil {
				continue
			}
			if j.Type == urdf.Prismatic || taken[j.Name] || r.states([]string{j.Name}) == "" {
				chain = nil
				break
			}
			chain = append(chain, j.Name)
		}
		if len(chain) > len(top) {
			slices.Reverse(chain)
			top = chain
		}
	}
	return top
}

// meshes names the links whose shapes are meshes.
func meshes(m *urdf.Model) string {
	var out []string
	for i := range m.Links {
		for _, c := range m.Links[i].Collisions {
			if _, ok := c.Shape.(urdf.Mesh); ok && !slices.Contains(out, m.Links[i].Name) {
				out = append(out, m.Links[i].Name)
			}
		}
	}
	return strings.Join(out, ", ")
}

// reach is how far the shapes that drive with a base stand out of its middle in the plane, m; 0 where nothing is known.
func reach(m *urdf.Model, base string) float64 {
	if m == nil || m.Link(base) == nil {
		return 0
	}
	tree, err := kinematics.NewTree(m, nil, nil)
	if err != nil {
		return 0
	}
	far := 0.0
	for i := range m.Links {
		link := &m.Links[i]
		if !drivesWith(m, link.Name, base) {
			continue
		}
		// All joints rest: every link has its place in the root's frame.
		_, from, ok1 := tree.Link(base)
		_, to, ok2 := tree.Link(link.Name)
		if !ok1 || !ok2 {
			continue
		}
		at := from.Inverse().Compose(to)
		for _, c := range link.Collisions {
			r, known := extent(at.Compose(c.Origin), c.Shape)
			if !known {
				return 0
			}
			far = math.Max(far, r)
		}
	}
	return far
}

// extent of a shape from the z axis, m.
func extent(at spatial.Transform, shape urdf.Shape) (far float64, known bool) {
	var half r3.Vec
	switch s := shape.(type) {
	case urdf.Box:
		half = r3.Scale(0.5, s.Size)
	case urdf.Cylinder:
		if axis := r3.Sub(at.Apply(r3.Vec{Z: 1}), at.Translation); math.Abs(axis.Z) > 0.999 { // it stands
			return math.Hypot(at.Translation.X, at.Translation.Y) + s.Radius, true
		}
		half = r3.Vec{X: s.Radius, Y: s.Radius, Z: s.Length / 2}
	case urdf.Sphere:
		return math.Hypot(at.Translation.X, at.Translation.Y) + s.Radius, true
	default:
		return 0, false
	}
	for corner := range 8 {
		p := at.Apply(r3.Vec{X: sign(corner&1) * half.X, Y: sign(corner&2) * half.Y, Z: sign(corner&4) * half.Z})
		far = math.Max(far, math.Hypot(p.X, p.Y))
	}
	return far, true
}

func sign(bit int) float64 {
	if bit != 0 {
		return 1
	}
	return -1
}

// drivesWith: a link hangs on the base by fixed joints, and at most one that turns for ever (a wheel).
func drivesWith(m *urdf.Model, link, base string) bool {
	for at := link; at != base; {
		j := m.Above(at)
		if j == nil || j.Type == urdf.Revolute || j.Type == urdf.Prismatic || j.Type == urdf.Continuous && (at != link || j.Parent != base) {
			return false
		}
		at = j.Parent
	}
	return true
}

// grippers are the gripper controllers with the finger that each moves.
func (r *Robot) grippers(d *Draft, model *urdf.Model) {
	actions := append(r.of(grip), r.of(gripNew)...)
	taken := map[string]bool{}
	for _, a := range d.Arms {
		for _, j := range a.Joints {
			taken[j] = true
		}
	}
	for _, action := range actions {
		joint := ""
		if names := r.jointsOf(path.Dir(action)); len(names) > 0 {
			joint = names[0]
		} else if model != nil {
			joint = r.finger(model, taken)
		}
		if model == nil || joint == "" || model.Joint(joint) == nil {
			d.note("%s is not used: which joint it moves is not known.", action)
			continue
		}
		j := model.Joint(joint)
		g := &Gripper{
			Action: action, Type: r.Actions[action][0], Joint: joint, Effort: 20, States: r.states([]string{joint}),
			Open: tidy(j.Limit.Upper), Closed: tidy(j.Limit.Lower), Revolute: j.Type != urdf.Prismatic,
		}
		if g.Revolute { // a driven knuckle turns as it closes
			g.Open, g.Closed = g.Closed, g.Open
		}
		if j.Limit.Effort > 0 {
			g.Effort = math.Min(g.Effort, j.Limit.Effort)
		}
		if g.States == "" || math.IsInf(g.Open, 0) || math.IsInf(g.Closed, 0) || g.Open < 0 || g.Closed < 0 {
			d.note("%s is not used: joint %s is not told of by joint states, or its limits (%g to %g) are no opening.", action, joint, j.Limit.Lower, j.Limit.Upper)
			continue
		}
		taken[joint] = true
		g.Period = period(r.Rate[g.States])
		d.Grippers = append(d.Grippers, g)
	}
	for _, g := range d.Grippers {
		g.Name, g.Tool, g.Is = "gripper", "gripper", "gripper_is"
		if len(d.Grippers) > 1 {
			g.Name = shortName(g.Action)
			g.Tool, g.Is = g.Name, g.Name+"_is"
		}
	}
}

func tidy(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// finger is a joint that is told of, moves by itself, and hangs on an arm; a sliding one first.
func (r *Robot) finger(m *urdf.Model, taken map[string]bool) string {
	found := ""
	for i := range m.Joints {
		j := &m.Joints[i]
		if !j.Moves() || j.Mimic != nil || taken[j.Name] || j.Type == urdf.Continuous || r.states([]string{j.Name}) == "" {
			continue
		}
		onArm := len(taken) == 0
		for arm := range taken {
			onArm = onArm || m.Joint(arm) != nil && isAbove(m, arm, j.Name)
		}
		switch {
		case !onArm:
		case j.Type == urdf.Prismatic:
			return j.Name
		case found == "":
			found = j.Name
		}
	}
	return found
}

// shortName of a controller: "/left_arm_controller/follow_joint_trajectory" is left_arm.
func shortName(action string) string {
	name := strings.ToLower(plain(path.Base(path.Dir(action))))
	for _, suffix := range []string{"_controller", "_trajectory", "_joint", "_action"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if name == "" {
		return "arm"
	}
	return name
}

// semantics is what a MoveIt configuration (SRDF) adds.
type semantics struct {
	States []struct {
		Name   string `xml:"name,attr"`
		Joints []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"joint"`
	} `xml:"group_state"`
	Disabled []struct {
		A      string `xml:"link1,attr"`
		B      string `xml:"link2,attr"`
		Reason string `xml:"reason,attr"`
	} `xml:"disable_collisions"`
}

func (r *Robot) semantics(d *Draft) *semantics {
	text := ""
	for _, node := range sortedKeys(r.Params) {
		if s, ok := r.Params[node]["robot_description_semantic"].(string); ok {
			text = s
		}
	}
	for name, m := range r.Newest {
		if strings.HasSuffix(name, "robot_description_semantic") && m.Type.Name == "std_msgs/msg/String" {
			text, d.Semantic = m.Str("data"), name
		}
	}
	s := &semantics{}
	if text == "" {
		return s
	}
	if err := xml.Unmarshal([]byte(text), s); err != nil {
		d.note("robot_description_semantic cannot be read: %v", err)
		return &semantics{}
	}
	return s
}

// into an arm: named states of exactly its joints, and pairs that may touch. Pairs that are neighbours are no news.
func (s *semantics) into(a *Arm) {
	for _, p := range s.Disabled {
		if p.Reason != "Adjacent" {
			a.Contacts = append(a.Contacts, [2]string{p.A, p.B})
		}
	}
	for _, state := range s.States {
		values := make([]float64, len(a.Joints))
		found := 0
		for _, j := range state.Joints {
			v, err := strconv.ParseFloat(strings.TrimSpace(j.Value), 64)
			if i := slices.Index(a.Joints, j.Name); i >= 0 && err == nil {
				values[i] = v
				found++
			}
		}
		if found == len(a.Joints) && found == len(state.Joints) {
			if a.Poses == nil {
				a.Poses = map[string][]float64{}
			}
			a.Poses[state.Name] = values
		}
	}
}

// polygon reads "[[x, y], ...]" as Nav2 writes footprints.
func polygon(s string) [][2]float64 {
	var out [][2]float64
	if json.Unmarshal([]byte(s), &out) != nil {
		return nil
	}
	return out
}
