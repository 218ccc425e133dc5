package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/lifecycle"
	"agent_node/pkg/watchdog"
)

// ErrTwin is wrapped where another instance has the node's name.
var ErrTwin = errors.New("another node has this name")

// claimTime is how long a claim stands before it counts where the graph has another heartbeat of this name: a living instance beats in it, and
// one that claims as well has heard of this claim. A killed one, which the middleware keeps in the graph for a while, is silent.
const claimTime = 4 * watchdog.BeatPeriod

// yieldEvery is how often a node that has lost its name tries to let go of the robot, should it not come to rest.
const yieldEvery = time.Second

// name is the node's claim to its own name. Two nodes of one name would both carry out each goal, and both drive one robot: an instance is
// configured and active only while it holds the name, and what it hears of is other instances' heartbeats.
type name struct {
	n     *Node
	h     *heartbeat
	sub   ros.Subscription
	full  string
	born  time.Time // when others could begin to find this one
	after time.Duration

	mu       sync.Mutex
	own      watchdog.Beat // Process, Instance, Claim, Since
	lost     chan struct{} // closed when the claim under way is lost
	to       watchdog.Beat // to whom
	yielding bool
	locked   *os.File // see lock; nil: not held
	refused  string   // why the last claim was, until the next
	lostTo   error    // why the name that was held has to be yielded; nil: it need not
	seen     string   // what was said of an instance that wants this one's name
	seenAt   time.Time
	told     map[string]bool // instances that the log has told of
}

func newName(n *Node, h *heartbeat) (*name, error) {
	c := &name{
		n: n, h: h, full: strings.TrimSuffix(n.ros.Namespace(), "/") + "/" + n.ros.Name(), born: time.Now(), after: n.options.Discovery,
		own: watchdog.Beat{Process: h.self, Instance: rand.Text(), Claim: watchdog.ClaimNone}, told: map[string]bool{},
	}
	var err error
	if c.sub, err = n.ros.CreateSubscription(watchdog.BeatTopic, watchdog.MessageType, ros.QoS{Depth: 10}, c.hear); err != nil {
		return nil, fmt.Errorf("node: %s: %w", watchdog.BeatTopic, err)
	}
	return c, nil
}

func (c *name) close() error {
	c.unlock()
	return c.sub.Close()
}

// beat begins a heartbeat.
func (c *name) beat() watchdog.Beat {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own
}

// claim takes the name, or says who has it: at once where that is a process of this machine with the same trace folder. Else it takes Discovery
// from the node's start on, and claimTime where the graph knows of another.
func (c *name) claim(ctx context.Context) error {
	if err := c.lock(); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if errors.Is(err, ErrTwin) {
			c.refused = err.Error()
		}
		return err
	}
	err := c.listen(ctx)
	if err != nil {
		c.unlock()
	}
	return err
}

// listen claims the name by the heartbeat, and hears whether another has it.
func (c *name) listen(ctx context.Context) error {
	lost := make(chan struct{})
	c.mu.Lock()
	c.own.Claim, c.own.Since, c.lost, c.refused, c.lostTo = watchdog.ClaimWanted, time.Now().UnixNano(), lost, "", nil
	c.mu.Unlock()
	select {
	case c.h.poke <- struct{}{}:
	default: // it is about to beat
	}
	err := c.await(ctx, lost, time.Until(c.born.Add(c.after)))
	if err == nil && !c.alone() {
		err = c.await(ctx, lost, claimTime)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-lost:
		err = c.twin(c.to)
	default:
	}
	c.lost = nil
	if err != nil {
		c.own.Claim = watchdog.ClaimNone
		if ctx.Err() == nil || !errors.Is(err, ctx.Err()) { // who gave up was refused nothing
			c.refused = err.Error()
		}
		return err
	}
	c.own.Claim = watchdog.ClaimHeld
	return nil
}

// await lets a time pass in which the claim may be lost.
func (c *name) await(ctx context.Context, lost <-chan struct{}, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-lost:
		return ErrTwin
	case <-ctx.Done():
		return fmt.Errorf("node: claiming the name %s: %w", c.full, ctx.Err())
	}
}

// alone: the graph has no heartbeat of this name but the own one.
func (c *name) alone() bool {
	list, err := c.n.ros.Graph().Publishers(c.h.pub.Topic())
	return err == nil && len(list) <= 1
}

// twin says what is wrong and what to do.
func (c *name) twin(b watchdog.Beat) error {
	where := fmt.Sprintf("process %d of another machine or container", b.Process.PID)
	if b.Process.Host == c.own.Process.Host {
		where = fmt.Sprintf("process %d of this machine", b.Process.PID)
	}
	return fmt.Errorf("node: %w: %s is %s, too, and it came first. Two of one name would both carry out each goal and drive one robot. Stop one of them; "+
		"or, where each has a robot of its own, start this one under another name or namespace: --ros-args -r __node:=NAME or -r __ns:=/NAMESPACE", ErrTwin, c.full, where)
}

// yields says why the name has to be yielded: nil while it is held for sure, or was never.
func (c *name) yields() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lostTo
}

// release gives the name up.
func (c *name) release() {
	defer c.unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own.Claim = watchdog.ClaimNone
}

// slept: the node was suspended, and another may have taken its place by right. From then on it is the newcomer.
func (c *name) slept(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own.Since = now.UnixNano()
}

// hear takes the heartbeats of this name, the own ones among them.
func (c *name) hear(r ros.Received) {
	b, err := watchdog.ReadBeat(r.Message)
	if err != nil || b.Instance == "" {
		return // no node's
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.Instance == c.own.Instance || b.Bye || b.Claim == watchdog.ClaimNone || b.Process.Gone() {
		return
	}
	held := b.Holds()
	switch {
	case c.own.Claim == watchdog.ClaimWanted && (held || b.Before(c.own)):
		if c.lost != nil {
			c.to = b
			close(c.lost)
			c.lost = nil
		}
	case c.own.Claim != watchdog.ClaimHeld:
	case held && b.Before(c.own):
		if !c.yielding {
			c.yielding = true // until it holds the name again
			why := c.twin(b)
			c.lostTo = why
			c.n.beats.Go(func() { c.yield(why) })
		}
	default:
		c.noteNewcomer(b)
	}
}

// noteNewcomer tells of an instance that wants the name, which this one holds: once in the log, and in the diagnostics while it is there.
func (c *name) noteNewcomer(b watchdog.Beat) {
	c.seen = fmt.Sprintf("a second node of the name %s was started, as process %d: it has to yield", c.full, b.Process.PID)
	c.seenAt = time.Now()
	if c.told[b.Instance] {
		return
	}
	if len(c.told) > 100 {
		clear(c.told)
	}
	c.told[b.Instance] = true
	c.n.logger("heartbeat").Error(c.seen, "process", b.Process.PID, "host", b.Process.Host, "instance", b.Instance)
}

// trouble is what diagnostics say of the name: empty where all is well.
func (c *name) trouble() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.refused != "":
		return c.refused
	case c.seen != "" && time.Since(c.seenAt) < reportMemory:
		return c.seen
	}
	return ""
}

// Failed tells, once at most, why a node that started by itself cannot go on: it has yielded to another of its name. It is unconfigured then.
func (n *Node) Failed() <-chan error { return n.failed }

// yield ends the goals, at rest, and leaves the robot to the other instance: two were apart, or did not find each other in time.
func (c *name) yield(why error) {
	c.n.logger("heartbeat").Error("yields", "error", why)
	if w := c.n.work.Load(); w != nil && c.n.goals.busy() == 0 {
		w.leaveToOthers()
	}
	c.n.goals.close(harness.Interrupt{Reason: harness.ReasonShutdown, Message: why.Error()})
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.yielding, c.refused = false, why.Error()
	}()
	for {
		err := c.letGo()
		if err == nil {
			if c.n.params.autostart.Get() {
				select {
				case c.n.failed <- why:
				default: // it was told before
				}
			}
			return
		}
		c.n.logger("heartbeat").Error("yields: the robot is not let go of yet", "error", err)
		select {
		case <-c.n.ending:
			return
		case <-time.After(yieldEvery):
		}
	}
}

// letGo takes the node to unconfigured, as far as it still has to go.
func (c *name) letGo() error {
	ctx, cancel := c.n.patient()
	defer cancel()
	if c.n.machine.State() == lifecycle.Active {
		if err := c.n.machine.Deactivate(ctx); err != nil {
			return err
		}
	}
	switch state := c.n.machine.State(); {
	case state == lifecycle.Inactive:
		return c.n.machine.Cleanup(ctx)
	case state != lifecycle.Unconfigured && state != lifecycle.Finalized:
		return fmt.Errorf("node: in transition: %s", state)
	}
	return nil
}
