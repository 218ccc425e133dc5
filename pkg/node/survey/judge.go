package survey

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/ros"
)

// judge one need by what the look has found.
func (l *looker) judge(n Need) Row {
	r := Row{Need: n, Level: OK, Present: l.present(n)}
	if n.Skill && len(n.Validators) == 0 {
		r.add(Warn, "nothing validates what it sends",
			"outside simulation it needs a person's approval, or allow_unvalidated; name validators where the type has some")
	}
	switch n.Kind {
	case Topic:
		l.judgeTopic(&r)
	case Publish:
		l.judgePublish(&r)
	case Service:
		l.judgeService(&r, l.name(n), n.Type)
	case Action:
		l.judgeAction(&r)
	case Parameter:
		l.judgeParameter(&r)
	case Transform:
		l.judgeTransform(&r)
	case Inside:
	}
	return r
}

// otherType notes types that do not fit; false: the wanted one is not among them.
func (r *Row) otherType(types []string, wanted string) bool {
	r.Types = types
	if slices.Contains(types, wanted) {
		if len(types) > 1 {
			r.add(Warn, fmt.Sprintf("%s has several types: %s", r.Name, strings.Join(types, ", ")), "see who uses which: ros2 topic info -v "+r.Name)
		}
		return true
	}
	r.add(Error, fmt.Sprintf("it is of type %s, the profile says %s", strings.Join(types, ", "), wanted), "mend the type in the profile, or remap the name")
	return false
}

func (l *looker) judgeTopic(r *Row) {
	name := l.name(r.Need)
	others := l.others(name)
	r.Nodes = nodesOf(others)
	if !r.Present {
		advice := "start what publishes it, or mend the name"
		if like := l.alike(r.Type, name); like != "" {
			advice = "of this type there is " + like + ": mend the name, or remap it"
		}
		r.add(Error, "nobody publishes "+name, advice)
		return
	}
	if !r.otherType(typesOf(others), r.Type) {
		return
	}
	r.QoS = qosOf(others)
	if r.Once && slices.ContainsFunc(others, func(i ros.EndpointInfo) bool { return i.QoS.Durability != ros.TransientLocal }) {
		r.add(Warn, "it is sent once, and its publisher is volatile: a node that starts later does not hear it",
			"let it be published transient local, or again and again")
	}
	if l.feel != nil {
		l.feelTopic(r)
		return
	}
	e := l.ears[name]
	if e == nil {
		r.add(Error, "it could not be listened to", "")
		return
	}
	if e.err != nil {
		r.add(Error, e.err.Error(), "install the package of the type, and source its prefix")
		return
	}
	l.judgeSound(r, e)
}

// judgeSound: what came, how often, how old.
func (l *looker) judgeSound(r *Row, e *ear) {
	count, rate, newest, _ := e.sound()
	if count == 0 {
		r.add(Error, fmt.Sprintf("nothing came within %.0f s", l.options.Patience.Seconds()), "is its source running, and not paused? ros2 topic hz "+r.Name)
		return
	}
	r.Rate = math.Round(rate*10) / 10
	if rate > 0 {
		r.Measured = fmt.Sprintf("%.1f Hz", rate)
	} else {
		r.Measured = "came once"
	}
	if r.Period > 0 && rate > 0 && rate < 0.5/r.Period.Seconds() {
		r.add(Warn, fmt.Sprintf("%.1f Hz, the profile says %.0f Hz (period %g s)", rate, 1/r.Period.Seconds(), r.Period.Seconds()),
			"set the period that it has: the guard's windows are made of it")
	}
	if r.Period > 0 && count == 1 {
		r.add(Warn, "one message came, and no second one", "is its source running, and not paused?")
	}
	l.judgeStamp(r, newest)
	judgeContents(r, newest)
}

// Stamps farther off than this are no matter of the network.
const (
	mostAhead = 500 * time.Millisecond
	stampAge  = time.Second
)

func (l *looker) judgeStamp(r *Row, m *ros.Message) {
	i := m.Type.FieldIndex("header")
	if i < 0 || m.Type.Fields[i].Type == nil || m.Type.Fields[i].Type.Name != "std_msgs/msg/Header" || r.Once {
		return
	}
	now, stamp := l.node.Clock().Now(), m.Stamp("header.stamp")
	if stamp.IsZero() {
		r.add(Warn, "its messages are not stamped: how old they are cannot be told", "let the source fill header.stamp")
		return
	}
	age := now.Sub(stamp)
	limit := max(r.MaxAge, stampAge)
	r.Measured += fmt.Sprintf(", %.0f ms old", age.Seconds()*1000)
	switch {
	case age > limit:
		r.add(Error, fmt.Sprintf("its newest stamp is %.2f s old, limit %.2f s", age.Seconds(), limit.Seconds()), clockAdvice)
	case age < -mostAhead:
		r.add(Error, fmt.Sprintf("its newest stamp is %.2f s ahead of the clock", -age.Seconds()), clockAdvice)
	}
}

const clockAdvice = "compare the machines' clocks (chrony, ntp); with simulated time every node needs use_sim_time"

// judgeContents: what the guard and the geometry layer cannot work without.
func judgeContents(r *Row, m *ros.Message) {
	switch m.Type.Name {
	case "nav_msgs/msg/Odometry":
		frame(r, "header.frame_id", m.Str("header.frame_id"), r.Parent)
		frame(r, "child_frame_id", m.Str("child_frame_id"), r.Child)
		for _, p := range []string{"pose.pose.position.x", "pose.pose.position.y", "twist.twist.linear.x", "twist.twist.angular.z"} {
			if v := m.Float(p); math.IsNaN(v) || math.IsInf(v, 0) {
				r.add(Error, fmt.Sprintf("%s is %g", p, v), "motion cannot be told from rest: mend the odometry")
			}
		}
	case "sensor_msgs/msg/JointState":
		if lack := missing(r.Joints, m.Strs("name")); lack != "" {
			r.add(Error, "it lacks the joints "+lack, fmt.Sprintf("it has %s: mend the profile's joints", strings.Join(m.Strs("name"), ", ")))
		}
	case "nav_msgs/msg/OccupancyGrid":
		frame(r, "header.frame_id", m.Str("header.frame_id"), r.Parent)
		r.Measured += fmt.Sprintf(", %d x %d cells of %g m", m.Int("info.width"), m.Int("info.height"), m.Float("info.resolution"))
	}
}

func frame(r *Row, path, is, wanted string) {
	if wanted != "" && is != wanted {
		r.add(Warn, fmt.Sprintf("its %s is %q, the profile says %q", path, is, wanted), "mend the profile's frames, or set the robot's frame prefix")
	}
}

func (l *looker) judgePublish(r *Row) {
	name := l.name(r.Need)
	heard := l.listeners(name)
	r.Nodes = nodesOf(heard)
	if !r.Present {
		advice := "start what drives the robot, or mend the name"
		if like := l.alikeHeard(r.Type, name); like != "" {
			advice = "of this type somebody listens to " + like + ": mend the name, or remap it"
		}
		r.add(Error, "nobody subscribes to "+name, advice)
		return
	}
	if !r.otherType(typesOf(heard), r.Type) {
		return
	}
	r.QoS = qosOf(heard)
	offer := ros.DefaultQoS()
	if l.options.Publish != nil {
		offer = l.options.Publish(name)
	}
	for _, i := range heard {
		if policy := ros.Incompatible(offer, i.QoS); policy != "" && i.TypeName == r.Type {
			r.add(Error, fmt.Sprintf("%s wants %s, which the node does not offer", i.Node, policy),
				"set the node's parameter qos_overrides."+name+".publisher."+policyName(policy))
		}
	}
	if foreign := nodesOf(l.others(name)); r.Skill && len(foreign) > 0 {
		r.Measured = "also published by " + strings.Join(foreign, ", ")
	}
}

// policyName is a policy without its value.
func policyName(policy string) string {
	name, _, _ := strings.Cut(policy, " ")
	return name
}

func (l *looker) judgeService(r *Row, name, wanted string) {
	types := l.services[name]
	if len(types) == 0 {
		advice := "start what serves it, or mend the name"
		if like := named(l.services, wanted); like != "" {
			advice = "of this type there is " + like + ": mend the name, or remap it"
		}
		r.add(Error, "nobody serves "+name, advice)
		return
	}
	r.otherType(types, wanted)
}

func (l *looker) judgeAction(r *Row) {
	name := l.name(r.Need)
	var types []string
	for _, t := range l.services[name+"/_action/send_goal"] {
		types = append(types, strings.TrimSuffix(t, "_SendGoal"))
	}
	if len(types) == 0 {
		advice := "start the action's server (managed nodes must be active), or mend the name"
		if like := named(l.services, r.Type+"_SendGoal"); like != "" {
			advice = "of this type there is " + strings.TrimSuffix(like, "/_action/send_goal") + ": mend the name, or remap it"
		}
		r.add(Error, "nobody serves the action "+name, advice)
		return
	}
	if !r.otherType(types, r.Type) {
		return
	}
	for _, part := range []string{"cancel_goal", "get_result"} {
		if len(l.services[name+"/_action/"+part]) == 0 {
			r.add(Error, "its "+part+" is not served", "the server is not whole: a cancel or a result would never come")
		}
	}
	if _, err := l.node.Types().Action(r.Type); err != nil {
		r.add(Error, err.Error(), "install the package of the type, and source its prefix")
	}
	if status := l.others(name + "/_action/status"); len(status) > 0 {
		r.Nodes = nodesOf(status)
	}
	if _, told := l.topics[name+"/_action/feedback"]; told {
		r.Measured = "told by feedback and status"
	}
}

func (l *looker) judgeParameter(r *Row) {
	if r.Present && l.feel != nil {
		return
	}
	if !r.Present {
		r.add(Error, "there is no node "+r.Node, "start it, or mend the name")
		return
	}
	r.Nodes = []string{r.Node}
	a := l.asked[r.Name]
	switch {
	case a == nil || !a.done():
		r.add(Error, "the node does not answer", "is it running?")
	case a.err != nil:
		r.add(Error, a.err.Error(), "ros2 param list "+r.Node)
	default:
		r.Measured = a.value
	}
}

func (l *looker) judgeTransform(r *Row) {
	if l.feel != nil {
		l.feelTransform(r)
		return
	}
	if l.links == nil {
		return
	}
	age, err := l.links.look(l.node, r.Need)
	if err != nil {
		advice := "is localisation running, and robot_state_publisher? ros2 run tf2_ros tf2_echo " + r.Target + " " + r.Source
		r.add(Error, err.Error(), advice)
		if refused := l.links.refused(); refused != nil {
			r.add(Warn, "transforms are refused: "+refused.Error(), "mend their source")
		}
		return
	}
	r.Measured = fmt.Sprintf("%.0f ms old", age.Seconds()*1000)
	if age == 0 {
		r.Measured = "static"
	}
}

// alike is a topic of the type that somebody publishes under another name.
func (l *looker) alike(typeName, not string) string {
	for _, name := range namesOfType(l.topics, typeName) {
		if name != not && len(l.others(name)) > 0 {
			return name
		}
	}
	return ""
}

// alikeHeard is a topic of the type that somebody listens to under another name.
func (l *looker) alikeHeard(typeName, not string) string {
	for _, name := range namesOfType(l.topics, typeName) {
		if name != not && len(l.listeners(name)) > 0 {
			return name
		}
	}
	return ""
}

// named is a name of the graph that has a type, the shortest first.
func named(all map[string][]string, typeName string) string {
	if names := namesOfType(all, typeName); len(names) > 0 {
		return names[0]
	}
	return ""
}

func namesOfType(all map[string][]string, typeName string) []string {
	var names []string
	for name, types := range all {
		if slices.Contains(types, typeName) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return names
}

func typesOf(infos []ros.EndpointInfo) []string {
	var types []string
	for _, i := range infos {
		if !slices.Contains(types, i.TypeName) {
			types = append(types, i.TypeName)
		}
	}
	slices.Sort(types)
	return types
}

// qosOf is the quality of service of endpoints in words, each once.
func qosOf(infos []ros.EndpointInfo) string {
	var words []string
	for _, i := range infos {
		w := i.QoS.String()
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	return strings.Join(words, "; ")
}
