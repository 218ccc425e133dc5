package node

import (
	"sync"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/ros/action"
)

// observer turns a session's progress into feedback and ~/state: at every transition, and at the
// feedback rate while something moves.
type observer struct {
	n *Node
	h *action.Handle
	r request
	w *work

	mu   sync.Mutex
	last harness.Progress
	stop chan struct{}
	done chan struct{}
}

func newObserver(n *Node, h *action.Handle, r request, w *work, session, task string) *observer {
	o := &observer{n: n, h: h, r: r, w: w, stop: make(chan struct{}), done: make(chan struct{})}
	n.setSession(session, task)
	go o.beat()
	return o
}

// Progress implements harness.Observer.
func (o *observer) Progress(p harness.Progress) {
	o.mu.Lock()
	o.last = p
	o.mu.Unlock()
	o.n.board.mu.Lock()
	o.n.board.usage = p.Usage
	o.n.board.mu.Unlock()
	o.n.setState(p.State)
	o.feedback(p)
}

func (o *observer) feedback(p harness.Progress) {
	if err := o.h.Feedback(o.n.types.feedbackMsg(o.r.told, p, o.w.robot.Guard().States())); err != nil {
		o.n.logger("goals").Debug("feedback", "error", err)
	}
}

// beat repeats the newest progress while something moves.
func (o *observer) beat() {
	defer close(o.done)
	tick := time.NewTicker(secondsOf(1 / o.n.params.feedbackRate.Get()))
	defer tick.Stop()
	for {
		select {
		case <-o.stop:
			return
		case <-tick.C:
		}
		o.mu.Lock()
		p := o.last
		o.mu.Unlock()
		// A client that is watched is told all the time: that it hears is its sign of life.
		watched := p.State != 0 && o.r.clientTimeout > 0
		if p.State == harness.StateAwaitingTool || watched {
			o.feedback(p)
		}
	}
}

func (o *observer) close() {
	close(o.stop)
	<-o.done
	o.n.setState(harness.StateIdle)
}
