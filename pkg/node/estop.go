package node

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/ros"
)

// estopInput listens to the emergency-stop topics. True from any of them latches; the latch opens only by ~/reset after false.
type estopInput struct {
	n    *Node
	subs []ros.Subscription
	tell func(from source, stopped bool)

	order sync.Mutex // held while anybody is told, so that what is told last is what was noted last; before mu

	mu     sync.Mutex
	values map[source]said // the newest value of each
	heard  time.Time
	silent bool
	stop   chan struct{}
	done   chan struct{}
}

const emergencyTopic = "emergency_stop"

// source is who says it: one publisher's false does not outvote another's true.
type source struct{ topic, publisher string }

func (s source) String() string { return strings.TrimSuffix(s.topic+" by "+s.publisher, " by ") }

// said is what a source said last.
type said struct {
	stopped bool
	at      time.Time // when it was heard
	stamp   time.Time // the source's own, zero where the transport has none
	pressed time.Time // stamp of the newest true
}

// lateness is how long after a source's newer message an older one may come, by a subscription that was sent it again. After that the
// source's clock was set back.
const lateness = 5 * time.Second

// silence is what speaks where estop.required and nobody else does.
const silence = "silence"

func newEstopInput(n *Node) (*estopInput, error) {
	e := &estopInput{n: n, tell: n.emergency, values: map[source]said{}, heard: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
	topics := map[string]bool{}
	for _, name := range []string{emergencyTopic, "/" + emergencyTopic} {
		full, err := n.ros.ResolveName(name)
		if err != nil {
			return nil, fmt.Errorf("node: %s: %w", name, err)
		}
		topics[full] = true
	}
	for topic := range topics {
		for _, qos := range ros.HearEach(n.ros, 10) {
			sub, err := n.ros.CreateSubscription(topic, "std_msgs/msg/Bool", qos, func(r ros.Received) {
				e.hear(source{topic, r.Publisher}, r.Message.Bool("data"), r.SourceTimestamp)
			})
			if err != nil {
				return nil, errors.Join(fmt.Errorf("node: %s: %w", topic, err), e.closeSubs())
			}
			e.subs = append(e.subs, sub)
		}
	}
	go e.watch()
	return e, nil
}

// hear takes one value. A source's message may come several times, and after its newer ones: an old false releases nothing, and an old
// true is a press that was not heard in its time, unless it was.
func (e *estopInput) hear(from source, stopped bool, stamp time.Time) {
	e.order.Lock()
	defer e.order.Unlock()
	e.mu.Lock()
	now := time.Now()
	old := e.values[from]
	late := !stamp.IsZero() && stamp.Before(old.stamp) && now.Sub(old.at) < lateness
	missed := late && stopped && !old.stopped && !stamp.Equal(old.pressed)
	v := said{stopped: stopped, at: now, stamp: stamp, pressed: old.pressed}
	if late {
		v = old
	}
	if stopped && (!late || missed) {
		v.pressed = stamp
	}
	e.values[from] = v
	e.heard = now
	e.silent = false
	e.mu.Unlock()
	if missed {
		e.tell(from, true)
	}
	e.tell(from, v.stopped)
	e.tell(source{topic: silence}, false)
}

// forgive takes back the true of publishers that are gone, where somebody has said false on their topic since: who presses
// and who releases may be two processes, one after the other. A button that vanishes while it is pressed stays pressed.
func (e *estopInput) forgive() {
	e.mu.Lock()
	released := map[string]time.Time{} // by topic, the newest false
	var pressed []source
	for s, v := range e.values {
		switch {
		case v.stopped:
			pressed = append(pressed, s)
		case v.at.After(released[s.topic]):
			released[s.topic] = v.at
		}
	}
	pressed = slices.DeleteFunc(pressed, func(s source) bool {
		return s.publisher == "" || !released[s.topic].After(e.values[s].at)
	})
	e.mu.Unlock()
	for _, s := range pressed {
		there, err := e.n.ros.Graph().Publishers(s.topic)
		if err != nil {
			e.n.logger("estop").Warn("emergency stop", "source", s.String(), "error", err)
			continue
		}
		if slices.ContainsFunc(there, func(i ros.EndpointInfo) bool { return i.Publisher == s.publisher }) {
			continue
		}
		e.release(s)
	}
}

// release forgets a source.
func (e *estopInput) release(s source) {
	e.order.Lock()
	defer e.order.Unlock()
	e.mu.Lock()
	delete(e.values, s)
	e.mu.Unlock()
	e.tell(s, false)
}

// pressed says for people who holds the emergency stop, as "/emergency_stop by PUBLISHER said true 3.1 s ago".
func (e *estopInput) pressed() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for s, v := range e.values {
		if v.stopped {
			out = append(out, fmt.Sprintf("%s said true %.1f s ago", s, time.Since(v.at).Seconds()))
		}
	}
	slices.Sort(out)
	if e.silent {
		out = append(out, fmt.Sprintf("nobody has said anything on %s for %.1f s, limit %g s (estop.required)",
			emergencyTopic, time.Since(e.heard).Seconds(), e.n.params.estopTimeout.Get()))
	}
	return out
}

// watch latches on silence where the parameter says so; where it says so no longer, silence holds the latch no more.
func (e *estopInput) watch() {
	defer close(e.done)
	for {
		limit := secondsOf(e.n.params.estopTimeout.Get())
		select {
		case <-e.stop:
			return
		case <-time.After(limit / 4):
		}
		e.listenForSilence(limit)
	}
}

func (e *estopInput) listenForSilence(limit time.Duration) {
	e.order.Lock()
	defer e.order.Unlock()
	e.mu.Lock()
	was, late := e.silent, time.Since(e.heard)
	e.silent = e.n.params.estopRequired.Get() && (was || late > limit)
	is := e.silent
	e.mu.Unlock()
	if is == was {
		return
	}
	if is {
		e.n.logger("estop").Error("no emergency_stop message", "silent", late, "limit", limit)
	}
	e.tell(source{topic: silence}, is)
}

// replay tells a newly made robot what the inputs said last.
func (e *estopInput) replay() {
	e.order.Lock()
	defer e.order.Unlock()
	e.mu.Lock()
	values := maps.Clone(e.values)
	values[source{topic: silence}] = said{stopped: e.silent}
	e.mu.Unlock()
	for s, v := range values {
		e.tell(s, v.stopped)
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
func (n *Node) emergency(from source, stopped bool) {
	if w := n.work.Load(); w != nil {
		w.robot.EmergencyInput(from.String(), stopped)
	}
	if stopped {
		n.goals.interrupt(harness.Interrupt{Reason: harness.ReasonEmergencyStop, Message: "by " + from.String()})
	}
}
