package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// A goal with a client_timeout ends when its client has been out of reach for that long: when
//
//   - its endpoint on the action's feedback topic is not in the graph (a client that ends in good order takes it along at once), or
//   - there is no sign of life of it. The middleware takes a process that was killed for alive for some twenty seconds, so a sign
//     is asked for: that its node answers for the types of no parameters, as every node that spins does; or, for a client that
//     waits without spinning, that all feedback has been acknowledged, which its middleware does for it. Feedback to such a
//     goal goes on at the feedback rate all the time.
const (
	// ackTime is how long acknowledgements are waited for, at each look.
	ackTime = 50 * time.Millisecond
	// answerTime is how long the client's node has to answer.
	answerTime = 500 * time.Millisecond
	// ackPeriod is how seldom a middleware may ask its readers what they have: three seconds with Fast DDS. Without any sign of
	// life a client that is still in the graph is given as long.
	ackPeriod = 4 * time.Second
	// firstSight is how long the middleware may take to discover the client's endpoint: what is lost in discovery is told again
	// seconds later.
	firstSight = 8 * time.Second
)

// clientWatch watches the client of one goal.
type clientWatch struct {
	n       *Node
	h       *action.Handle
	timeout time.Duration

	begun   time.Time
	known   map[endpoint]bool // the client's, once seen
	there   bool              // it was in the graph at the last look
	reached time.Time         // when it last gave a sign
	ask     ros.Client        // of its node
}

// endpoint of one node in one process.
type endpoint struct{ peer, node string }

// watchClient ends the goal when its client is lost; it returns when ctx ends.
func (n *Node) watchClient(ctx context.Context, h *action.Handle, timeout time.Duration, lost func(harness.Interrupt)) {
	w := &clientWatch{n: n, h: h, timeout: timeout, begun: time.Now(), reached: time.Now()}
	defer w.close()
	tick := time.NewTicker(min(max(timeout/5, 100*time.Millisecond), 400*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if w.look(ctx) {
			w.reached = time.Now()
		}
		if out := time.Since(w.reached); out >= w.limit() && ctx.Err() == nil {
			lost(harness.Interrupt{
				Reason:  harness.ReasonClientLost,
				Message: fmt.Sprintf("its client has been out of reach for %.1f s, client_timeout is %.1f s", out.Seconds(), w.timeout.Seconds()),
			})
			return
		}
	}
}

// limit is how long the client may be out of reach, as it is known now.
func (w *clientWatch) limit() time.Duration {
	switch {
	case w.known == nil:
		return max(w.timeout, firstSight+time.Second)
	case w.there:
		return max(w.timeout, ackPeriod)
	}
	return w.timeout
}

// look for the client once; true where it gives a sign, or nothing can be known against it.
func (w *clientWatch) look(ctx context.Context) bool {
	all, err := w.h.Server().Clients()
	if err != nil {
		return true
	}
	self := w.n.fullName()
	all = slices.DeleteFunc(all, func(e ros.EndpointInfo) bool { return e.Node == self })
	w.recognise(all)
	i := slices.IndexFunc(all, func(e ros.EndpointInfo) bool { return w.known[endpoint{e.Peer, e.Node}] })
	if w.there = i >= 0; !w.there {
		return false
	}
	if w.answers(ctx, all[i].Node) {
		return true
	}
	heard, err := w.h.Server().FeedbackHeard(ackTime)
	return heard || err != nil
}

// recognise finds out which endpoints are the client's: those of the process that sent the goal. Where the transport does not
// tell, or in other terms, they are all that there are.
func (w *clientWatch) recognise(there []ros.EndpointInfo) {
	if w.known != nil || len(there) == 0 {
		return
	}
	caller := w.h.Caller()
	blind := caller == "" || time.Since(w.begun) > firstSight
	mine := slices.ContainsFunc(there, func(e ros.EndpointInfo) bool { return e.Peer == caller })
	if !mine && !blind {
		return
	}
	w.known = map[endpoint]bool{}
	for _, e := range there {
		if !mine || e.Peer == caller {
			w.known[endpoint{e.Peer, e.Node}] = true
		}
	}
}

// answers asks the client's node for the types of no parameters.
func (w *clientWatch) answers(ctx context.Context, node string) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	name := node + "/get_parameter_types"
	if w.ask != nil && w.ask.Service() != name {
		w.close()
	}
	if w.ask == nil {
		var err error
		if w.ask, err = w.n.ros.CreateClient(name, "rcl_interfaces/srv/GetParameterTypes"); err != nil {
			w.ask = nil
			return false
		}
	}
	if w.ask.WaitReady(ctx) != nil {
		return false
	}
	_, err := w.ask.Call(ctx, ros.New(w.ask.Type().Request))
	return err == nil
}

func (w *clientWatch) close() {
	if w.ask == nil {
		return
	}
	if err := w.ask.Close(); err != nil {
		w.n.logger("goals").Warn("client watch", "error", err)
	}
	w.ask = nil
}

// fullName of the node.
func (n *Node) fullName() string {
	if n.ros.Namespace() == "/" {
		return "/" + n.ros.Name()
	}
	return n.ros.Namespace() + "/" + n.ros.Name()
}
