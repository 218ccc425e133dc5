package node

import (
	"sync"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/ros"
)

// stateBoard holds what ~/state says, and publishes it at every transition.
type stateBoard struct {
	mu            sync.Mutex
	state         harness.State
	session, task string
	usage         budget.Usage
	limits        budget.Limits
}

func (n *Node) setSession(session, task string) {
	n.board.mu.Lock()
	n.board.session, n.board.task = session, task
	n.board.mu.Unlock()
}

// setLimits are those of the session that begins.
func (n *Node) setLimits(l budget.Limits) {
	n.board.mu.Lock()
	n.board.limits, n.board.usage = l, budget.Usage{}
	n.board.mu.Unlock()
}

func (n *Node) setState(s harness.State) {
	n.board.mu.Lock()
	changed := n.board.state != s
	n.board.state = s
	n.board.mu.Unlock()
	if changed {
		n.publishState()
	}
}

// publishState takes the picture now and sends it in order.
func (n *Node) publishState() {
	m := ros.New(n.types.state)
	n.board.mu.Lock()
	m.With("state", uint8(n.board.state)).With("session", n.board.session).With("task", n.board.task)
	n.board.mu.Unlock()
	n.outbox.send(n.statePub, func() *ros.Message {
		if w := n.work.Load(); w != nil {
			m.With("actuators", n.types.actuatorMsgs(w.robot.Guard().States()))
		}
		return m
	})
}

// actuatorChanged hears the guard's transitions; it must not block nor call the guard.
func (n *Node) actuatorChanged(t guard.Transition) {
	n.logger("guard").Debug("actuator", "name", t.Actuator, "from", t.From.String(), "to", t.To.String(), "event", t.Event, "reason", t.Reason, "detail", t.Detail)
	if t.To == guard.Fault {
		n.logger("guard").Error("actuator is in fault", "name", t.Actuator, "reason", t.Reason, "detail", t.Detail)
	}
	n.noteActuator("guard.transition", map[string]any{
		"actuator": t.Actuator, "from": t.From.String(), "to": t.To.String(), "event": t.Event,
		"reason": t.Reason, "detail": t.Detail, "owner": t.Owner, "epoch": uint64(t.Epoch),
	})
	n.board.mu.Lock()
	m := ros.New(n.types.state).With("state", uint8(n.board.state)).With("session", n.board.session).With("task", n.board.task)
	n.board.mu.Unlock()
	n.outbox.send(n.statePub, func() *ros.Message {
		w := n.work.Load()
		if w == nil {
			return m
		}
		states := w.robot.Guard().States()
		for i := range states {
			if states[i].Name == t.Actuator {
				states[i].State, states[i].Reason, states[i].Owner = t.To, t.Reason, t.Owner
			}
		}
		return m.With("actuators", n.types.actuatorMsgs(states))
	})
}

// guardReport hears what else the guard finds worth recording.
func (n *Node) guardReport(r guard.Report) {
	log := n.logger("guard")
	level := log.Info
	switch r.Kind {
	case guard.ReportForeign, guard.ReportUncommanded, guard.ReportDriver, guard.ReportNotAtRest, guard.ReportInternal, guard.ReportOrphan:
		level = log.Warn
	case guard.ReportLate, guard.ReportSample, guard.ReportPause, guard.ReportEstop, guard.ReportOutcome:
	}
	level("guard", "actuator", r.Actuator, "kind", string(r.Kind), "detail", r.Detail, "error", r.Err)
	data := map[string]any{"actuator": r.Actuator, "kind": string(r.Kind), "state": r.State.String(), "detail": r.Detail, "epoch": uint64(r.Epoch)}
	if r.Err != nil {
		data["error"] = r.Err.Error()
	}
	n.noteActuator("guard.report", data)
	n.diagnose(r)
}
