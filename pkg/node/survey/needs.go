package survey

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/robottools"
)

// Kind of a need.
type Kind string

// Kinds.
const (
	Topic     Kind = "topic"     // read: somebody must publish it
	Publish   Kind = "publish"   // written: somebody must subscribe to it
	Service   Kind = "service"   // called
	Action    Kind = "action"    // sent goals
	Parameter Kind = "parameter" // read of another node
	Transform Kind = "transform" // looked up
	Inside    Kind = "inside"    // nothing of the graph: the profile's own facts, time, other tools
)

// Need is one thing that a part of a profile relies on.
type Need struct {
	// For is the part, in words: "actuator base: feedback", "tool drive".
	For  string `json:"for"`
	Kind Kind   `json:"kind"`
	// Name as the profile has it; of a transform "target <- source", of a parameter "node name".
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
	// Skill says that what is sent has an effect; Validators are what checks it beforehand.
	Skill      bool     `json:"skill,omitempty"`
	Validators []string `json:"validators,omitempty"`
	// Tool is the tool's name, where it is one.
	Tool string `json:"tool,omitempty"`

	// Once: it is sent once and must be kept for who comes later (a map, a description).
	Once bool `json:"-"`
	// Period is how often it should come, MaxAge how old the newest may be; zero: not said.
	Period time.Duration `json:"-"`
	MaxAge time.Duration `json:"-"`
	// Joints that a sensor_msgs/msg/JointState must name.
	Joints []string `json:"-"`
	// Frames (parent, child) that a nav_msgs/msg/Odometry, (frame) that a map must be in.
	Parent string `json:"-"`
	Child  string `json:"-"`
	// Node and Param of a parameter; Target and Source of a transform.
	Node   string `json:"-"`
	Param  string `json:"-"`
	Target string `json:"-"`
	Source string `json:"-"`
}

// Topics of transforms, and the type of the messages on them.
const (
	tfTopic       = "/tf"
	tfStaticTopic = "/tf_static"
	tfType        = "tf2_msgs/msg/TFMessage"
)

// Needs lists all that a profile relies on, in its order: the world, the actuators by name, the tools as the file has them.
func Needs(p *robottools.Profile) []Need {
	n := worldNeeds(p)
	for _, name := range slices.Sorted(maps.Keys(p.Actuators)) {
		n = append(n, actuatorNeeds(p, name, p.Actuators[name])...)
	}
	for _, name := range p.ToolOrder {
		n = append(n, toolNeeds(p, name, p.Tools[name])...)
	}
	return append(n, genericNeeds(p)...)
}

// genericNeeds are the names that generic skills may send to.
func genericNeeds(p *robottools.Profile) []Need {
	var list []Need
	add := func(tool string, kind Kind, name, typeName string, validators ...string) {
		list = append(list, Need{For: "tool " + tool, Tool: tool, Kind: kind, Name: name, Type: typeName, Skill: true, Validators: validators})
	}
	g := p.Generic
	rules := func(q robottools.Exprs) []string {
		if len(q) > 0 {
			return []string{"rules"}
		}
		return nil
	}
	for _, e := range g.PublishTopic {
		v := rules(e.Requires)
		if e.Actuator != "" {
			v = append(v, "motion", "twist", "in_flight")
		}
		add("publish_topic", Publish, e.Name, e.Type, v...)
	}
	for _, e := range g.CallService {
		add("call_service", Service, e.Name, e.Type, rules(e.Requires)...)
	}
	for _, e := range g.SendActionGoal {
		v := rules(e.Requires)
		if e.Judged(p) {
			v = append(v, "goal")
		}
		add("send_action_goal", Action, e.Name, e.Type, v...)
	}
	for _, e := range g.SetParameter {
		add("set_parameter", Parameter, e.Node+" "+e.Name, "", rules(nil)...)
		n := &list[len(list)-1]
		n.Node, n.Param = e.Node, e.Name
		if e.Min != nil || e.Max != nil || len(e.OneOf) > 0 {
			n.Validators = []string{"bounds"}
		}
	}
	return list
}

// poseAge is how old the pose in the map may be where the profile does not say.
const poseAge = 500 * time.Millisecond

func worldNeeds(p *robottools.Profile) []Need {
	age := seconds(p.World.PoseMaxAge)
	if age == 0 {
		age = poseAge
	}
	var n []Need
	if p.Frames.Map != p.Frames.Base { // an arm on its stand is where it is
		n = append(n, Need{
			For: "world: pose", Kind: Transform, Name: p.Frames.Map + " <- " + p.Frames.Base,
			Target: p.Frames.Map, Source: p.Frames.Base, MaxAge: age,
		})
	}
	if t := p.World.Map.Topic; t != "" {
		n = append(n, Need{For: "world: map", Kind: Topic, Name: t, Type: "nav_msgs/msg/OccupancyGrid", Once: true, Parent: p.Frames.Map})
	}
	if t := p.World.Description; t != "" {
		n = append(n, Need{For: "world: description", Kind: Topic, Name: t, Type: "std_msgs/msg/String", Once: true})
	}
	if t := p.World.Semantic; t != "" {
		n = append(n, Need{For: "world: semantic description", Kind: Topic, Name: t, Type: "std_msgs/msg/String", Once: true})
	}
	if d := p.World.Detections; d.Topic != "" {
		n = append(n, Need{For: "world: detections", Kind: Topic, Name: d.Topic, Type: d.Type})
	}
	return n
}

func actuatorNeeds(p *robottools.Profile, name string, a robottools.Actuator) []Need {
	part := "actuator " + name + ": "
	n := []Need{feedbackNeed(p, part+"feedback", a, a.Feedback)}
	if a.Second != nil {
		n = append(n, feedbackNeed(p, part+"second feedback", a, *a.Second))
	}
	stop := Need{For: part + "stop", Kind: Publish, Name: a.Stop.Topic, Type: a.Stop.Type}
	switch {
	case a.Stop.Action != "":
		stop.Kind, stop.Name = Action, a.Stop.Action
	case a.Stop.Service != "":
		stop.Kind, stop.Name = Service, a.Stop.Service
	}
	n = append(n, stop)
	for _, s := range a.Pause {
		n = append(n, Need{For: part + "hold signal " + s.Name, Kind: Topic, Name: s.Topic, Type: s.Type})
	}
	return n
}

// feedbackNeed is a measurement of an actuator.
func feedbackNeed(p *robottools.Profile, part string, a robottools.Actuator, f robottools.Feedback) Need {
	period := seconds(f.Period)
	n := Need{For: part, Period: period, MaxAge: max(time.Second, 10*period)}
	if t := f.Transform; t != nil {
		n.Kind, n.Name, n.Target, n.Source = Transform, t.Target+" <- "+t.Source, t.Target, t.Source
		return n
	}
	n.Kind, n.Name, n.Type, n.Joints = Topic, f.Topic, f.Type, a.Joints
	if a.Kind == "base" && len(f.Position) == 0 {
		n.Parent, n.Child = p.Frames.Odom, p.Frames.Base
	}
	return n
}

func toolNeeds(p *robottools.Profile, name string, t robottools.Tool) []Need {
	base := Need{For: "tool " + name, Tool: name, Kind: Inside}
	if t.Class == "skill" {
		base.Skill, base.Validators = true, t.Validators
	}
	one := func(kind Kind, name, typeName string) Need {
		n := base
		n.Kind, n.Name, n.Type = kind, name, typeName
		return n
	}
	switch b := t.Binding; {
	case b.Topic != nil:
		n := one(Topic, b.Topic.Name, b.Topic.Type)
		n.MaxAge = seconds(b.Topic.MaxAge)
		return []Need{n}
	case b.Publish != nil:
		return []Need{one(Publish, b.Publish.Name, b.Publish.Type)}
	case b.Service != nil:
		return []Need{one(Service, b.Service.Name, b.Service.Type)}
	case b.Action != nil:
		list := []Need{one(Action, b.Action.Name, b.Action.Type)}
		if pl := b.Action.Planner; pl != nil {
			n := base
			n.For, n.Kind, n.Name, n.Type, n.Skill, n.Validators = base.For+": planner", Action, pl.Name, pl.Type, false, nil
			list = append(list, n)
		}
		return list
	case b.Trajectory != nil:
		n := one(Action, b.Trajectory.Name, b.Trajectory.Type)
		n.Validators = []string{"trajectory"} // always: it is planned and judged here
		return []Need{n}
	case b.Parameter != nil:
		n := one(Parameter, b.Parameter.Node+" "+b.Parameter.Name, "")
		n.Node, n.Param = b.Parameter.Node, b.Parameter.Name
		return []Need{n}
	case b.Transform != nil:
		n := one(Transform, b.Transform.Target+" <- "+b.Transform.Source, "")
		n.Target, n.Source, n.MaxAge = b.Transform.Target, b.Transform.Source, seconds(b.Transform.MaxAge)
		return []Need{n}
	case b.Sequence != nil:
		n := base
		n.Name, n.Validators = "sequence of "+strings.Join(parts(b.Sequence), ", "), []string{"those of its parts"}
		return []Need{n}
	case b.Profile != "":
		return []Need{one(Inside, "the profile's "+b.Profile, "")}
	case b.Agent != nil:
		n := one(Action, b.Agent.Name, "agent_msgs/action/ExecuteTask")
		n.Validators = append(n.Validators, "those of the other agent")
		return []Need{n}
	case b.Wait != nil:
		return []Need{one(Inside, "ROS time", "")}
	}
	return []Need{base}
}

// parts are the tools that a sequence calls, each once, in order.
func parts(s *robottools.SequenceBinding) []string {
	var names []string
	for _, step := range s.Steps {
		if !slices.Contains(names, step.Tool) {
			names = append(names, step.Tool)
		}
	}
	return names
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// String is the need in words.
func (n Need) String() string { return fmt.Sprintf("%s: %s %s %s", n.For, n.Kind, n.Name, n.Type) }
