package robottools

import (
	"maps"
	"slices"
	"strings"
)

// Placed is the profile of one of several robots of a kind: its absolute names lie below a namespace, its frames have a prefix
// (robot_state_publisher's frame_prefix). A frame that is written with a slash before it has none: /map is every robot's map.
// Relative names and private ones (~/x) stay as they are: they move with the node.
func (p *Profile) Placed(namespace, framePrefix string) *Profile {
	pl := placing{strings.TrimSuffix(namespace, "/"), framePrefix}
	out := *p
	out.linkPrefix = framePrefix
	out.Frames = Frames{pl.frame(p.Frames.Map), pl.frame(p.Frames.Odom), pl.frame(p.Frames.Base)}
	out.World = pl.world(p.World)
	out.Actuators = maps.Clone(p.Actuators)
	for name, a := range out.Actuators {
		out.Actuators[name] = pl.actuator(a)
	}
	out.Tools = maps.Clone(p.Tools)
	for name, t := range out.Tools {
		t.Binding = pl.binding(t.Binding)
		out.Tools[name] = t
	}
	out.Generic = pl.generic(p.Generic)
	return &out
}

// linkFrame is the frame of a link of the robot's description.
func (p *Profile) linkFrame(link string) string {
	if link == "" {
		return ""
	}
	return p.linkPrefix + link
}

// baseLink is the link of the description that the base frame is.
func (p *Profile) baseLink() string { return strings.TrimPrefix(p.Frames.Base, p.linkPrefix) }

// placing moves names.
type placing struct{ namespace, prefix string }

func (pl placing) name(n string) string {
	if !strings.HasPrefix(n, "/") {
		return n
	}
	return pl.namespace + n
}

func (pl placing) names(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = pl.name(out[i])
	}
	return out
}

func (pl placing) frame(f string) string {
	if f == "" {
		return ""
	}
	if plain, ok := strings.CutPrefix(f, "/"); ok {
		return plain
	}
	return pl.prefix + f
}

func (pl placing) world(w World) World {
	w.Map.Topic, w.Description, w.Semantic = pl.name(w.Map.Topic), pl.name(w.Description), pl.name(w.Semantic)
	w.Detections.Topic = pl.name(w.Detections.Topic)
	if w.Detections.Frame != "" {
		w.Detections.Frame = pl.frame(w.Detections.Frame)
	}
	for _, zones := range []*[]Zone{&w.Workspace, &w.KeepOut, &w.SpeedZones} {
		*zones = slices.Clone(*zones)
		for i := range *zones {
			(*zones)[i].Frame = pl.frame((*zones)[i].Frame)
		}
	}
	return w
}

func (pl placing) feedback(f Feedback) Feedback {
	f.Topic = pl.name(f.Topic)
	if t := f.Transform; t != nil {
		f.Transform = &TransformSource{pl.frame(t.Target), pl.frame(t.Source)}
	}
	return f
}

func (pl placing) actuator(a Actuator) Actuator {
	a.Feedback = pl.feedback(a.Feedback)
	if a.Second != nil {
		second := pl.feedback(*a.Second)
		a.Second = &second
	}
	a.Stop.Topic, a.Stop.Action, a.Stop.Service = pl.name(a.Stop.Topic), pl.name(a.Stop.Action), pl.name(a.Stop.Service)
	a.Stop.Frame = pl.frame(a.Stop.Frame)
	a.Pause = slices.Clone(a.Pause)
	for i := range a.Pause {
		a.Pause[i].Topic = pl.name(a.Pause[i].Topic)
	}
	a.AllowedPublishers = pl.names(a.AllowedPublishers)
	return a
}

func (pl placing) binding(b Binding) Binding {
	if x := b.Topic; x != nil {
		c := *x
		c.Name = pl.name(c.Name)
		b.Topic = &c
	}
	if x := b.Publish; x != nil {
		c := *x
		c.Name = pl.name(c.Name)
		b.Publish = &c
	}
	if x := b.Service; x != nil {
		c := *x
		c.Name = pl.name(c.Name)
		b.Service = &c
	}
	if x := b.Action; x != nil {
		c := *x
		c.Name, c.Publishers = pl.name(c.Name), pl.names(c.Publishers)
		if x.Planner != nil {
			d := *x.Planner
			d.Name = pl.name(d.Name)
			c.Planner = &d
		}
		b.Action = &c
	}
	if x := b.Parameter; x != nil {
		c := *x
		c.Node = pl.name(c.Node)
		b.Parameter = &c
	}
	if x := b.Transform; x != nil {
		c := *x
		c.Target, c.Source = pl.frame(c.Target), pl.frame(c.Source)
		b.Transform = &c
	}
	if x := b.Trajectory; x != nil {
		c := *x
		c.Name = pl.name(c.Name)
		b.Trajectory = &c
	}
	return b
}

func (pl placing) generic(g Generic) Generic {
	g.PublishTopic, g.CallService = slices.Clone(g.PublishTopic), slices.Clone(g.CallService)
	g.SendActionGoal, g.SetParameter = slices.Clone(g.SendActionGoal), slices.Clone(g.SetParameter)
	for i := range g.PublishTopic {
		g.PublishTopic[i].Name = pl.name(g.PublishTopic[i].Name)
	}
	for i := range g.CallService {
		g.CallService[i].Name = pl.name(g.CallService[i].Name)
	}
	for i := range g.SendActionGoal {
		e := &g.SendActionGoal[i]
		e.Name, e.Publishers = pl.name(e.Name), pl.names(e.Publishers)
	}
	for i := range g.SetParameter {
		g.SetParameter[i].Node = pl.name(g.SetParameter[i].Node)
	}
	return g
}
