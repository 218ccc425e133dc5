package node

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/ros"
)

// estopInput listens to the emergency-stop topics. True from any of them latches; the latch opens only by ~/reset after false.
type estopInput struct {
	n    *Node
	subs []ros.Subscription

	mu     sync.Mutex
	values map[string]bool // by source, the newest value
	heard  time.Time
	silent bool
	stop   chan struct{}
	done   chan struct{}
}

const emergencyTopic = "emergency_stop"

func newEstopInput(n *Node) (*estopInput, error) {
	e := &estopInput{n: n, values: map[string]bool{}, heard: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
	topics := map[string]bool{}
	for _, name := range []string{emergencyTopic, "/" + emergencyTopic} {
		full, err := n.ros.ResolveName(name)
		if err != nil {
			return nil, fmt.Errorf("node: %s: %w", name, err)
		}
		topics[full] = true
	}
	// Two subscriptions each: a transient-local one alone hears nothing from an ordinary publisher.
	for topic := range topics {
		for _, qos := range []ros.QoS{{Depth: 10, Reliability: ros.BestEffort}, {Depth: 10, Durability: ros.TransientLocal}} {
			sub, err := n.ros.CreateSubscription(topic, "std_msgs/msg/Bool", qos, func(r ros.Received) { e.hear(topic+" "+r.Publisher, r.Message.Bool("data")) })
			if err != nil {
				return nil, errors.Join(fmt.Errorf("node: %s: %w", topic, err), e.closeSubs())
			}
			e.subs = append(e.subs, sub)
		}
	}
	go e.watch()
	return e, nil
}

// hear takes one value. A source is a topic and a publisher: one publisher's false does not outvote another's true.
func (e *estopInput) hear(source string, stopped bool) {
	e.mu.Lock()
	e.values[source] = stopped
	e.heard = time.Now()
	e.silent = false
	e.mu.Unlock()
	e.n.emergency(source, stopped)
	e.n.emergency(silence, false)
}

const silence = "silence"

// watch latches on silence where the parameter says so.
func (e *estopInput) watch() {
	defer close(e.done)
	for {
		limit := secondsOf(e.n.params.estopTimeout.Get())
		select {
		case <-e.stop:
			return
		case <-time.After(limit / 4):
		}
		if !e.n.params.estopRequired.Get() {
			continue
		}
		e.mu.Lock()
		late := time.Since(e.heard)
		now := late > limit && !e.silent
		e.silent = e.silent || now
		e.mu.Unlock()
		if now {
			e.n.log.Error("no emergency_stop message", "silent", late, "limit", limit)
			e.n.emergency(silence, true)
		}
	}
}

// replay tells a newly made robot what the inputs said last.
func (e *estopInput) replay() {
	e.mu.Lock()
	values := make(map[string]bool, len(e.values)+1)
	for s, v := range e.values {
		values[s] = v
	}
	values[silence] = e.silent
	e.mu.Unlock()
	for s, v := range values {
		e.n.emergency(s, v)
	}
}

func (e *estopInput) closeSubs() error {
	var all []error
	for _, s := range e.subs {
		all = append(all, s.Close())
	}
	return errors.Join(all...)
}

func (e *estopInput) close() error {
	close(e.stop)
	<-e.done
	return e.closeSubs()
}

// emergency passes one input on: the guard first, then the goals.
func (n *Node) emergency(source string, stopped bool) {
	if w := n.work.Load(); w != nil {
		w.robot.EmergencyInput(source, stopped)
	}
	if stopped {
		n.goals.interrupt(harness.Interrupt{Reason: harness.ReasonEmergencyStop, Message: "by " + source})
	}
}
