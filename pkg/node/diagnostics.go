package node

import (
	"fmt"
	"sync"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/lifecycle"
)

// Levels of diagnostic_msgs/msg/DiagnosticStatus.
const (
	levelOK    uint8 = 0
	levelWarn  uint8 = 1
	levelError uint8 = 2
	levelStale uint8 = 3
)

// reports remembers what the guard found lately, for diagnostics.
type reports struct {
	mu   sync.Mutex
	last map[string]noted
}

type noted struct {
	text string
	at   time.Time
}

// reportMemory is how long a report stays in diagnostics.
const reportMemory = 10 * time.Second

// diagnose keeps a report that a person should see.
func (n *Node) diagnose(r guard.Report) {
	switch r.Kind {
	case guard.ReportForeign, guard.ReportUncommanded, guard.ReportDriver, guard.ReportNotAtRest, guard.ReportSample:
	case guard.ReportLate, guard.ReportOrphan, guard.ReportPause, guard.ReportEstop, guard.ReportInternal, guard.ReportOutcome:
		return
	}
	n.reports.mu.Lock()
	defer n.reports.mu.Unlock()
	if n.reports.last == nil {
		n.reports.last = map[string]noted{}
	}
	n.reports.last[r.Actuator] = noted{fmt.Sprintf("%s: %s", r.Kind, r.Detail), time.Now()}
}

func (n *Node) recent(actuator string) (string, bool) {
	n.reports.mu.Lock()
	defer n.reports.mu.Unlock()
	r, ok := n.reports.last[actuator]
	return r.text, ok && time.Since(r.at) < reportMemory
}

// diagnosticsLoop publishes /diagnostics at 1 Hz.
func (n *Node) diagnosticsLoop() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-n.ending:
			return
		case <-tick.C:
		}
		if err := n.publishDiagnostics(); err != nil {
			n.logger("diagnostics").Warn("diagnostics", "error", err)
		}
	}
}

// status is one entry of a diagnostic array.
type status struct {
	name, message string
	level         uint8
	values        [][2]string
}

func (n *Node) publishDiagnostics() error {
	all := n.nodeStatus()
	if w := n.work.Load(); w != nil {
		all = append(all, w.model.status(), n.budgetStatus())
		for _, a := range w.robot.Guard().States() {
			all = append(all, n.actuatorStatus(a))
		}
		bindings, err := n.bindings(w)
		if err != nil {
			n.logger("diagnostics").Warn("diagnostics", "error", err)
		}
		all = append(all, bindings...)
	}
	m := ros.New(n.diagnosticsPub.Type())
	m.SetStamp("header.stamp", n.ros.Clock().Now())
	element, err := n.ros.Types().Message("diagnostic_msgs/msg/DiagnosticStatus")
	if err != nil {
		return err
	}
	pair, err := n.ros.Types().Message("diagnostic_msgs/msg/KeyValue")
	if err != nil {
		return err
	}
	list := make([]*ros.Message, len(all))
	for i, s := range all {
		values := make([]*ros.Message, len(s.values))
		for j, kv := range s.values {
			values[j] = ros.New(pair).With("key", kv[0]).With("value", kv[1])
		}
		list[i] = ros.New(element).With("level", s.level).With("name", n.ros.Name()+": "+s.name).
			With("message", s.message).With("hardware_id", n.ros.Name()).With("values", values)
	}
	return n.diagnosticsPub.Publish(m.With("status", list))
}

// budgetStatus of the goal that is carried out.
func (n *Node) budgetStatus() status {
	n.board.mu.Lock()
	defer n.board.mu.Unlock()
	return budgetStatus(n.board.usage, n.board.limits, n.board.state != harness.StateIdle && n.board.session != "")
}

func (n *Node) nodeStatus() []status {
	state := n.machine.State()
	s := status{name: "node", message: state.String(), level: levelOK, values: [][2]string{{"goals", fmt.Sprint(n.goals.busy())}}}
	if state != lifecycle.Active {
		s.level = levelWarn
	}
	if text := n.beat.name.trouble(); text != "" {
		s.level, s.message = levelError, s.message+"; "+text
	}
	if w := n.work.Load(); w != nil {
		s.values = append(s.values, [2]string{"model", w.model.Name()}, [2]string{"profile", w.robot.Profile().Name})
	}
	return []status{s}
}

func (n *Node) actuatorStatus(a guard.ActuatorState) status {
	s := status{
		name: "actuator " + a.Name, message: a.State.String(), level: levelOK,
		values: [][2]string{{"owner", a.Owner}, {"reason", a.Reason}, {"last_feedback", a.LastFeedback.UTC().Format(time.RFC3339Nano)}},
	}
	switch a.State {
	case guard.Unknown:
		s.level = levelStale
	case guard.Fault, guard.Estop:
		s.level = levelError
	case guard.Paused, guard.Canceling, guard.Stopping:
		s.level = levelWarn
	case guard.Holding, guard.Sent, guard.InFlight, guard.Settling:
	}
	if text, ok := n.recent(a.Name); ok {
		s.level = max(s.level, levelWarn)
		s.message += "; " + text
	}
	return s
}
