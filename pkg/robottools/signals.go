package robottools

import (
	"fmt"
	"slices"

	"agent_node/pkg/ros"
)

// watchPause listens to one of the robot's own signals of a hold.
func (r *Robot) watchPause(a *actuator, s PauseSource) error {
	env, err := newEnv()
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
	l, err := listen(r.node, s.Topic, s.Type, func(got reading) {
		sc := r.constants().with("msg", got.msg.Map())
		if when != nil {
			paused, err := when.bool(sc)
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
			stopped, err := emergency.bool(sc)
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

// watchCommands sees what others publish on the base's velocity topics.
func (r *Robot) watchCommands(a *baseActuator) error {
	sub, err := r.node.CreateSubscription(a.def.Stop.Topic, a.def.Stop.Type, ros.QoS{Depth: 20, Reliability: ros.BestEffort}, func(got ros.Received) {
		if got.Publisher == "" || r.ours(got.Publisher) {
			return
		}
		name, allowed := r.whoPublishes(a, got.Publisher)
		if a.guard.State().Owner == "" && allowed {
			a.guard.Permitted(name)
			return
		}
		a.guard.Foreign(name)
	})
	if err != nil {
		return fmt.Errorf("robottools: %s: %w", a.def.Stop.Topic, err)
	}
	r.own(sub)
	return nil
}

// ours reports whether a publisher id is one of this node's own velocity publishers.
func (r *Robot) ours(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.velocities {
		if v.pub.ID() == id {
			return true
		}
	}
	return false
}

// whoPublishes names the node behind a publisher id, and whether the profile allows it.
func (r *Robot) whoPublishes(a *baseActuator, id string) (string, bool) {
	infos, err := r.node.Graph().Publishers(a.def.Stop.Topic)
	if err != nil {
		return id, false
	}
	for _, i := range infos {
		if i.Publisher == id {
			return i.Node, slices.Contains(a.def.AllowedPublishers, i.Node)
		}
	}
	return id, false
}
