package node

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/watchdog"
)

const (
	// stuckLimit is how long a goroutine that guards an actuator may do nothing before the node counts as hanging.
	stuckLimit = 500 * time.Millisecond
	// sleptLimit is how much too late a heartbeat may be before the node takes itself to have been suspended: by then its watchdog has tripped.
	// Without one nobody stood in for the node, and each motion is judged by what its own feedback says.
	sleptLimit = watchdog.DefaultTimeout
	// watchedLimit is how long ago a watchdog may have been heard and still count as there.
	watchedLimit = 5 * time.Second
)

// heartbeat tells a watchdog that the node lives, and hears what the watchdog says.
type heartbeat struct {
	n    *Node
	pub  ros.Publisher
	sub  ros.Subscription
	pair *ros.Type
	self watchdog.Process
	stop chan struct{}
	done chan struct{}
	poke chan struct{} // beat now
	name *name

	mu      sync.Mutex
	heard   time.Time // when a watchdog last said that it watches this node, or when this began
	watched bool      // that one ever did
	warned  bool      // that it is missing
	tripped time.Time // when it was last told that it has tripped
}

func newHeartbeat(n *Node) (*heartbeat, error) {
	h := &heartbeat{n: n, self: watchdog.Self(), stop: make(chan struct{}), done: make(chan struct{}), poke: make(chan struct{}, 1), heard: time.Now()}
	var err error
	if h.pair, err = n.ros.Types().Message("diagnostic_msgs/msg/KeyValue"); err != nil {
		return nil, fmt.Errorf("node: heartbeat: %w", err)
	}
	if h.pub, err = n.ros.CreatePublisher(watchdog.BeatTopic, watchdog.MessageType, ros.QoS{Depth: 1}); err != nil {
		return nil, fmt.Errorf("node: %s: %w", watchdog.BeatTopic, err)
	}
	if h.sub, err = n.ros.CreateSubscription(watchdog.StatusTopic, watchdog.MessageType, ros.QoS{Depth: 10, Reliability: ros.BestEffort}, h.hear); err != nil {
		return nil, errors.Join(fmt.Errorf("node: %s: %w", watchdog.StatusTopic, err), h.pub.Close())
	}
	if h.name, err = newName(n, h); err != nil {
		return nil, errors.Join(err, h.sub.Close(), h.pub.Close())
	}
	go h.beat()
	return h, nil
}

// Health is nil while every actuator is guarded: what a watchdog asks.
func (n *Node) Health() error {
	w := n.work.Load()
	if w == nil {
		return nil
	}
	if stuck := w.robot.Guard().Stuck(stuckLimit); len(stuck) > 0 {
		return fmt.Errorf("node: nothing guards %s: its goroutine has not come round for %v", strings.Join(stuck, ", "), stuckLimit)
	}
	return nil
}

func (h *heartbeat) beat() {
	defer close(h.done)
	tick := time.NewTicker(watchdog.BeatPeriod)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-h.stop:
			return
		case <-h.poke:
			h.publish(false)
			continue
		case <-tick.C:
		}
		now := time.Now()
		if now.Sub(last)-watchdog.BeatPeriod > sleptLimit {
			h.name.slept(now)
		}
		if slept := now.Sub(last) - watchdog.BeatPeriod; slept > sleptLimit && h.watchedAt(last) {
			h.n.watchdogStop(fmt.Sprintf("the node was suspended for %.2f s", slept.Seconds()))
		}
		last = now
		h.require(now)
		h.publish(false)
	}
}

// watchedAt reports whether a watchdog had been heard shortly before a moment.
func (h *heartbeat) watchedAt(moment time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.watched && moment.Sub(h.heard) < watchedLimit
}

// publish one heartbeat.
func (h *heartbeat) publish(bye bool) {
	b := h.name.beat()
	b.Bye = bye
	if err := h.n.Health(); err != nil {
		b.Problem = err.Error()
	}
	b.Profile, b.Namespace, b.FramePrefix = robottools.Source(h.n.params.profile.Get()), h.n.params.robotNamespace.Get(), h.n.params.framePrefix.Get()
	if dir, err := TraceDir(h.n.params.traceDir.Get()); err == nil {
		b.TraceDir = dir
		if full, err := filepath.Abs(dir); err == nil {
			b.TraceDir = full
		}
	}
	if w := h.n.work.Load(); w != nil {
		b.Goals = w.robot.LiveGoals()
		for _, a := range w.robot.Guard().States() {
			if a.Owner != "" || a.State != guard.Holding && a.State != guard.Unknown {
				b.Busy = append(b.Busy, a.Name)
			}
		}
	}
	if err := h.pub.Publish(b.Write(ros.New(h.pub.Type()), h.n.ros.Name(), h.pair)); err != nil && !errors.Is(err, ros.ErrClosed) {
		h.n.logger("heartbeat").Warn("heartbeat", "error", err)
	}
}

// hear takes what a watchdog says. One that has tripped over this very process while it lives was right to stop the robot: the
// goals end, too.
func (h *heartbeat) hear(r ros.Received) {
	s := watchdog.ReadStatus(r.Message)
	if s.Process != h.self || !s.Watching && !s.Tripped {
		return // it watches another, or could not stand in for this one
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	h.heard, h.watched, h.warned = now, true, false
	if s.Tripped && now.Sub(h.tripped) > time.Second {
		h.tripped = now
		h.n.watchdogStop("the watchdog has stopped the robot: " + s.Text)
	}
}

// require ends goals while a watchdog that must be there is not.
func (h *heartbeat) require(now time.Time) {
	if !h.n.params.watchdogRequired.Get() {
		return
	}
	h.mu.Lock()
	silent := now.Sub(h.heard)
	missing := silent > secondsOf(h.n.params.watchdogTimeout.Get())
	tell := missing && !h.warned
	h.warned = h.warned || tell
	h.mu.Unlock()
	if tell {
		h.n.logger("heartbeat").Error("no watchdog watches this node: it moves nothing", "silent", silent)
	}
	if missing && h.n.goals.busy() > 0 {
		h.n.watchdogStop(fmt.Sprintf("no watchdog has been heard for %.1f s and watchdog.required is true", silent.Seconds()))
	}
}

// close says goodbye where the robot is at rest; else the watchdog has to look after it.
func (h *heartbeat) close(rested bool) error {
	close(h.stop)
	<-h.done
	if rested {
		h.publish(true)
	}
	return errors.Join(h.name.close(), h.sub.Close(), h.pub.Close())
}

// watchdogStop ends every goal, which brings to rest what it moves. What moves without a goal is stopped.
func (n *Node) watchdogStop(why string) {
	n.logger("heartbeat").Error("watchdog", "reason", why)
	if n.goals.busy() > 0 {
		n.goals.interrupt(harness.Interrupt{Reason: harness.ReasonWatchdog, Message: why})
		return
	}
	w := n.work.Load()
	if w == nil {
		return
	}
	go func() {
		if err := w.robot.Guard().Quiesce(w.running); err != nil && w.running.Err() == nil {
			n.logger("heartbeat").Error("watchdog", "error", err)
		}
	}()
}
