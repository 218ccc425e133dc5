package node

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/harness/trace"
	"agent_node/pkg/ros"
)

// mirror is a trace sink that also publishes every event on ~/trace, and knows the open
// logs so that guard transitions reach them.
type mirror struct {
	sink trace.Sink
	n    *Node

	mu   sync.Mutex
	open map[string]*mirroredLog
}

// Open implements trace.Sink.
func (m *mirror) Open(session string) (trace.Log, error) {
	log, err := m.sink.Open(session)
	if err != nil {
		return nil, err
	}
	l := &mirroredLog{Log: log, m: m, session: session}
	m.mu.Lock()
	m.open[session] = l
	m.mu.Unlock()
	return l, nil
}

// Claim implements trace.Claimer.
func (m *mirror) Claim(of, by string) error {
	if c, ok := m.sink.(trace.Claimer); ok {
		return c.Claim(of, by)
	}
	return nil
}

// Release implements trace.Claimer.
func (m *mirror) Release(of, by string) error {
	if c, ok := m.sink.(trace.Claimer); ok {
		return c.Release(of, by)
	}
	return nil
}

// running says whether a session's record is being written.
func (m *mirror) running(session string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.open[session]
	return ok
}

// note appends to the running goal's log (there is one at a time; a queue holds no logs). Decompositions move nothing.
func (m *mirror) note(kind string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		m.n.logger("trace").Error("trace", "kind", kind, "error", err)
		return
	}
	m.mu.Lock()
	logs := make([]*mirroredLog, 0, len(m.open))
	for _, l := range m.open {
		if !strings.HasPrefix(l.session, planningPrefix) {
			logs = append(logs, l)
		}
	}
	m.mu.Unlock()
	for _, l := range logs {
		if err := l.Append(trace.Event{Time: time.Now(), Session: l.session, Kind: kind, Data: raw}); err != nil {
			m.n.logger("trace").Error("trace", "kind", kind, "error", err)
		}
	}
}

// drainTime bounds the wait for queued guard events at the end of a session.
const drainTime = time.Second

type mirroredLog struct {
	trace.Log
	m       *mirror
	session string

	mu    sync.Mutex
	seq   uint64
	ended bool
}

// Append implements trace.Log: recorded first, then told.
func (l *mirroredLog) Append(e trace.Event) error {
	if e.Kind == trace.KindEnd && !strings.HasPrefix(l.session, planningPrefix) {
		l.m.n.outbox.drain(drainTime) // what the guard reported so far belongs before the end
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil // a guard event after the end belongs to no session
	}
	l.ended = e.Kind == trace.KindEnd
	if err := l.Log.Append(e); err != nil {
		return err
	}
	l.seq++
	e.Session = l.session
	l.m.n.publishTrace(l.seq, e)
	return nil
}

// Close implements trace.Log.
func (l *mirroredLog) Close() error {
	l.m.mu.Lock()
	delete(l.m.open, l.session)
	l.m.mu.Unlock()
	return l.Log.Close()
}

func (n *Node) publishTrace(seq uint64, e trace.Event) {
	e.Data = slices.Clone(e.Data) // the log reuses it
	n.outbox.send(n.tracePub, func() *ros.Message {
		m := ros.New(n.types.trace).With("seq", seq).With("session", e.Session).With("kind", e.Kind).
			With("call_id", e.CallID).With("data_json", string(e.Data))
		m.SetStamp("stamp", stamp(e.Time))
		return m
	})
}

// noteActuator records a guard event in the running session's trace, from the outbox's goroutine.
func (n *Node) noteActuator(kind string, data map[string]any) {
	n.outbox.send(n.tracePub, func() *ros.Message {
		if w := n.work.Load(); w != nil {
			w.mirror.note(kind, data)
		}
		return nil
	})
}

// goalRefused tells on ~/trace and in the log why a goal was refused: the response has no room for it.
func (n *Node) goalRefused(id, reason string) {
	n.logger("goals").Warn("goal refused", "goal", id, "reason", reason)
	data, err := json.Marshal(map[string]string{"reason": reason})
	if err != nil {
		n.logger("goals").Error("goal refused", "error", err)
		return
	}
	n.publishTrace(0, trace.Event{Time: time.Now(), Session: id, Kind: "goal.refused", Data: data})
}

var _ trace.Sink = (*mirror)(nil)
