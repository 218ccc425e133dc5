package robottools

import (
	"fmt"
	"slices"
	"sync"

	"agent_node/pkg/ros"
)

// watchPause listens to one of the robot's own signals of a hold.
func (r *Robot) watchPause(a *actuator, s PauseSource) error {
	env, err := r.profile.envs.with()
	if err != nil {
		return err
	}
	when, err := compile(env, s.When)
	if err != nil {
		return err
	}
	emergency, err := compile(env, s.EmergencyWhen)
	if err != nil {
		return err
	}
	source := a.name + "/" + s.Name
	// What the expressions see but for the message never changes, and most messages say what the one before said.
	f, constants := r.profile.Frames, r.profile.Constants
	if constants == nil {
		constants = map[string]any{}
	}
	fixed := scope{"constants": constants, "frames": map[string]any{"map": f.Map, "odom": f.Odom, "base": f.Base}}
	var (
		mu                   sync.Mutex
		last                 *ros.Message
		whenSays, estopSays  bool
		whenError, estopFail error
	)
	l, err := listenToEach(r.node, s.Topic, s.Type, func(got reading) {
		mu.Lock()
		defer mu.Unlock()
		if last == nil || !ros.Equal(last, got.msg) {
			last = got.msg
			sc := fixed.with("msg", got.msg.Map())
			if when != nil {
				whenSays, whenError = when.bool(sc)
			}
			if emergency != nil {
				estopSays, estopFail = emergency.bool(sc)
			}
		}
		if when != nil {
			paused, err := whenSays, whenError
			if err != nil {
				r.node.Logger().Error("pause signal", "source", source, "error", err)
				paused = true // what cannot be read is no permission to move
			}
			if paused {
				a.guard.Pause(s.Name)
			} else {
				a.guard.Resume(s.Name)
			}
		}
		if emergency != nil {
			stopped, err := estopSays, estopFail
			if err != nil {
				r.node.Logger().Error("emergency signal", "source", source, "error", err)
				stopped = true
			}
			r.EmergencyInput(source, stopped)
		}
	})
	if err != nil {
		return err
	}
	r.own(l)
	return nil
}

// watchCommands sees what others publish on an actuator's command topics.
func (r *Robot) watchCommands(a *actuator) error {
	for _, c := range r.commandTopics(a) {
		sub, err := r.node.CreateSubscription(c.topic, c.typeName, ros.QoS{Depth: 20, Reliability: ros.BestEffort}, func(got ros.Received) {
			if got.Publisher == "" || r.ours(got.Publisher) {
				return
			}
			name, found := r.whoPublishes(c.topic, got.Publisher)
			switch owned := a.guard.State().Owner != ""; {
			case !found:
				a.guard.Foreign(name)
			case owned && a.carriedOutBy(name):
				// the goal at hand, on its way
			case !owned && slices.Contains(a.def.AllowedPublishers, name):
				a.guard.Permitted(name)
			default:
				a.guard.Foreign(name)
			}
		})
		if err != nil {
			return fmt.Errorf("robottools: %s: %w", c.topic, err)
		}
		r.own(sub)
	}
	return nil
}

// commandTopic is a topic by which an actuator is moved.
type commandTopic struct{ topic, typeName string }

// commandTopics are the one that stops it and those that skills publish on.
func (r *Robot) commandTopics(a *actuator) []commandTopic {
	var out []commandTopic
	add := func(topic, typeName string) {
		if c := (commandTopic{topic, typeName}); topic != "" && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	add(a.def.Stop.Topic, a.def.Stop.Type)
	for _, name := range r.profile.ToolOrder {
		t := r.profile.Tools[name]
		if p := t.Binding.Publish; p != nil && t.Actuator == a.name {
			add(p.Name, p.Type)
		}
	}
	for _, e := range r.profile.Generic.PublishTopic {
		if e.Actuator == a.name {
			add(e.Name, e.Type)
		}
	}
	return out
}

// ours reports whether a publisher id is one of this node's own.
func (r *Robot) ours(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.publishers {
		if p.ID() == id {
			return true
		}
	}
	return false
}

// maxNames bounds the memory of publishers' names.
const maxNames = 256

// whoPublishes names the node behind a publisher id on a topic.
func (r *Robot) whoPublishes(topic, id string) (node string, found bool) {
	r.mu.Lock()
	node, found = r.names[id]
	r.mu.Unlock()
	if found {
		return node, true
	}
	infos, err := r.node.Graph().Publishers(topic)
	if err != nil {
		return id, false
	}
	for _, i := range infos {
		if i.Publisher != id {
			continue
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.names) >= maxNames {
			clear(r.names)
		}
		r.names[id] = i.Node
		return i.Node, true
	}
	return id, false
}
