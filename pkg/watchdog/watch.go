package watchdog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/param"
)

const (
	// lookPeriod is how often the node is looked at.
	lookPeriod = 50 * time.Millisecond
	// statusPeriod is how often the watchdog says how it is, beside every change.
	statusPeriod = 200 * time.Millisecond
	// DefaultTimeout is how long a living node may be silent.
	DefaultTimeout = 900 * time.Millisecond
	// goneFor is how long the node's process must have been gone: its goodbye may have come and wait to be taken.
	goneFor = 100 * time.Millisecond
	// late is by how much a look at the node may be late before the watchdog doubts its own ears.
	late = 150 * time.Millisecond
)

// Host is a node of a transport, with what its command line said.
type Host interface {
	ros.Node
	// Params are first values by parameter name.
	Params() map[string]any
}

// settings are the watchdog's parameters.
type settings struct {
	node    string
	profile string
	timeout time.Duration
}

// Watchdog watches one node. Make it with New, then Run it.
type Watchdog struct {
	host   Host
	log    *slog.Logger
	set    settings
	params *param.Server
	pair   *ros.Type
	status ros.Publisher
	ears   ros.Subscription
	beats  chan Beat

	alive atomic.Int64 // when the loop last came round, ns since the epoch

	last     Beat
	heard    time.Time // monotonic; zero: nothing to miss
	goneAt   time.Time // when its process was first seen gone
	lookedAt time.Time
	doubt    time.Time // until when the watchdog was too late itself to judge a silence
	saidAt   time.Time
	said     Status
	state    Status
	stand    *standIn // made of the profile, ready to stop
}

// New makes a watchdog of what its parameters name.
func New(host Host) (w *Watchdog, err error) {
	w = &Watchdog{host: host, log: host.Logger(), beats: make(chan Beat, 64), state: Status{Text: "no node yet"}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if err := w.parameters(); err != nil {
		return w, err
	}
	element, err := host.Types().Message(MessageType)
	if err != nil {
		return w, fmt.Errorf("watchdog: %w", err)
	}
	if w.pair, err = host.Types().Message("diagnostic_msgs/msg/KeyValue"); err != nil {
		return w, fmt.Errorf("watchdog: %w", err)
	}
	if w.status, err = host.CreatePublisher(w.topic(StatusTopic), element.Name, ros.LatchedQoS()); err != nil {
		return w, fmt.Errorf("watchdog: %w", err)
	}
	// Reliable: a node that ends waits until its goodbye was acknowledged.
	w.ears, err = host.CreateSubscription(w.topic(BeatTopic), element.Name, ros.QoS{Depth: 10}, w.hear)
	if err != nil {
		return w, fmt.Errorf("watchdog: %w", err)
	}
	return w, nil
}

// topic of the node that is watched.
func (w *Watchdog) topic(private string) string { return w.set.node + strings.TrimPrefix(private, "~") }

func (w *Watchdog) parameters() error {
	given := map[string]param.Value{}
	for name, v := range w.host.Params() {
		value, err := param.ValueOf(v)
		if err != nil {
			return fmt.Errorf("watchdog: parameter %s: %w", name, err)
		}
		given[name] = value
	}
	var err error
	if w.params, err = param.New(w.host, param.Config{Overrides: given}); err != nil {
		return fmt.Errorf("watchdog: parameters: %w", err)
	}
	node, err := param.Declare(w.params, param.Descriptor{Name: "node", ReadOnly: true, Description: "The node to watch."}, "agent_node")
	if err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	profile, err := param.Declare(w.params, param.Descriptor{
		Name: "profile", ReadOnly: true, Description: "Robot profile (YAML file). Empty: the one that the node names in its heartbeat.",
	}, "")
	if err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	timeout, err := param.Declare(w.params, param.Descriptor{
		Name: "timeout", ReadOnly: true, Description: "How long a living node may be silent, s. The end of its process is seen at once, on the same machine.",
		Float: &param.FloatRange{From: 0.2, To: 60},
	}, DefaultTimeout.Seconds())
	if err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	for _, name := range w.params.UnusedOverrides() {
		w.log.Warn("no such parameter", "name", name)
	}
	w.set = settings{profile: profile.Get(), timeout: time.Duration(timeout.Get() * float64(time.Second))}
	w.set.node, err = w.host.ResolveName(node.Get())
	return err
}

func (w *Watchdog) hear(r ros.Received) {
	b, err := ReadBeat(r.Message)
	if err != nil {
		w.log.Warn("heartbeat", "error", err)
		return
	}
	select {
	case w.beats <- b:
	default: // the loop lags behind; it will find newer ones
	}
}

// Close takes the watchdog down. The robot is left as it is.
func (w *Watchdog) Close() error {
	var all []error
	if w.stand != nil {
		all = append(all, w.stand.close())
	}
	if w.ears != nil {
		all = append(all, w.ears.Close())
	}
	if w.status != nil {
		all = append(all, w.status.Close())
	}
	if w.params != nil {
		all = append(all, w.params.Close())
	}
	return errors.Join(all...)
}

// Run watches until ctx ends.
func (w *Watchdog) Run(ctx context.Context) error {
	w.log.Info("watching", "watched", w.set.node, "timeout", w.set.timeout)
	ticker := time.NewTicker(lookPeriod)
	defer ticker.Stop()
	w.lookedAt = time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case b := <-w.beats:
			w.take(b)
		case <-ticker.C:
			w.drain()
			w.look()
			w.alive.Store(time.Now().UnixNano())
		}
		w.tell()
	}
}

// Health is nil while Run comes round.
func (w *Watchdog) Health() error {
	if at := w.alive.Load(); at != 0 {
		if silent := time.Since(time.Unix(0, at)); silent > time.Second {
			return fmt.Errorf("watchdog: its loop has not come round for %v", silent)
		}
	}
	return nil
}

// drain takes every beat that waits, so that none of them is missed because the loop was late.
func (w *Watchdog) drain() {
	for {
		select {
		case b := <-w.beats:
			w.take(b)
		default:
			return
		}
	}
}

// take notes a beat.
func (w *Watchdog) take(b Beat) {
	if b.Bye {
		if b.Process == w.last.Process && !w.heard.IsZero() {
			w.heard = time.Time{}
			if !w.state.Tripped {
				w.state = Status{Text: "the node has ended in good order", Process: b.Process}
			}
		}
		return
	}
	if b.Process.Gone() {
		return // said before it died
	}
	if !b.Holds() && !w.heard.IsZero() && b.Process != w.last.Process {
		return // another of its name, which has not taken over: the one that has is not to be missed the less for it
	}
	if w.state.Tripped && !(w.stand.over() && w.stand.free()) {
		return // it speaks again, or another in its place; first the robot comes to rest, and the goals that it left end
	}
	w.last, w.heard, w.goneAt = b, time.Now(), time.Time{}
	if b.Problem != "" {
		return // the next look judges it
	}
	w.state = Status{Watching: true, Text: "the node beats", Process: b.Process}
	if w.stand != nil && (w.stand.used || w.stand.of != w.robotOf(b)) {
		w.leave()
	}
	if w.stand == nil {
		w.stand = w.prepare(w.robotOf(b))
	}
	if err := w.stand.unable(); err != nil {
		w.state.Watching, w.state.Text = false, "cannot stand in for the node: "+err.Error()
	}
}

// whose says of which robot a stand-in is: a profile, and where that robot's names and frames lie.
type whose struct{ profile, namespace, framePrefix string }

func (w *Watchdog) robotOf(b Beat) whose {
	of := whose{b.Profile, b.Namespace, b.FramePrefix}
	if w.set.profile != "" {
		of.profile = w.set.profile
	}
	return of
}

// look judges the node, and trips.
func (w *Watchdog) look() {
	now := time.Now()
	if gap := now.Sub(w.lookedAt); gap > lookPeriod+late {
		w.doubt = now.Add(w.set.timeout / 2) // what it missed may still be on its way
	}
	w.lookedAt = now
	if w.heard.IsZero() || w.state.Tripped {
		return
	}
	silent := now.Sub(w.heard)
	gone := w.last.Process.Gone()
	if gone && w.goneAt.IsZero() {
		w.goneAt = now
	}
	switch {
	case gone && now.Sub(w.goneAt) >= goneFor:
		w.trip(fmt.Sprintf("process %d of the node has died", w.last.Process.PID))
	case w.last.Problem != "":
		w.trip("the node says: " + w.last.Problem)
	case silent > w.set.timeout && now.After(w.doubt):
		w.trip(fmt.Sprintf("the node has been silent for %.2f s, limit %.2f s", silent.Seconds(), w.set.timeout.Seconds()))
	}
}

// trip brings the robot to rest, in the background: the node may come back meanwhile.
func (w *Watchdog) trip(why string) {
	w.state = Status{Tripped: true, Text: why, Process: w.last.Process}
	w.log.Error("stopping the robot", "reason", why)
	if w.stand == nil || w.stand.used {
		w.stand = w.prepare(w.robotOf(w.last))
	}
	w.stand.rescue(w.last)
}

// leave hands the robot back to a node that beats.
func (w *Watchdog) leave() {
	if err := w.stand.close(); err != nil {
		w.log.Warn("letting go of the robot", "error", err)
	}
	w.stand = nil
}

// tell publishes the status when it changes, and now and then.
func (w *Watchdog) tell() {
	now := time.Now()
	if w.said == w.state && now.Sub(w.saidAt) < statusPeriod {
		return
	}
	w.said, w.saidAt = w.state, now
	if err := w.status.Publish(w.state.write(ros.New(w.status.Type()), w.set.node, w.pair)); err != nil && !errors.Is(err, ros.ErrClosed) {
		w.log.Warn("status", "error", err)
	}
}

// standIn is a robot of actuators alone, which listens from the moment that the node is known.
type standIn struct {
	w      *Watchdog
	of     whose
	used   bool
	ready  chan struct{} // closed when made, or not
	robot  *robottools.Robot
	err    error
	ctx    context.Context // ends with close
	cancel context.CancelFunc
	work   sync.WaitGroup
	done   chan struct{} // closed when the rescue is over
}

// prepare makes one in the background.
func (w *Watchdog) prepare(of whose) *standIn {
	s := &standIn{w: w, of: of, ready: make(chan struct{}), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.work.Go(func() {
		defer close(s.ready)
		if s.robot, s.err = newRobot(w.host, of, s.report); s.err != nil {
			w.log.Error("the robot's profile cannot be used: a node that dies cannot be stood in for", "profile", of.profile, "error", s.err)
		}
	})
	return s
}

func newRobot(host Host, of whose, report func(guard.Report)) (*robottools.Robot, error) {
	p, err := robottools.Open(of.profile)
	if err != nil {
		return nil, err
	}
	return robottools.New(robottools.Config{Node: host, Profile: p, Namespace: of.namespace, FramePrefix: of.framePrefix, ActuatorsOnly: true, OnReport: report})
}

// report hears what the stand-in's guard has to say while it stops.
func (s *standIn) report(r guard.Report) {
	switch r.Kind {
	case guard.ReportDriver, guard.ReportNotAtRest, guard.ReportInternal:
		s.w.log.Warn("guard", "actuator", r.Actuator, "kind", string(r.Kind), "detail", r.Detail, "error", r.Err)
	case guard.ReportForeign, guard.ReportUncommanded, guard.ReportLate, guard.ReportOrphan, guard.ReportSample, guard.ReportPause,
		guard.ReportEstop, guard.ReportOutcome:
	}
}

// unable says why it could stop nothing; nil while it is being made.
func (s *standIn) unable() error {
	select {
	case <-s.ready:
		return s.err
	default:
		return nil
	}
}

// over: nothing is being rescued any more.
func (s *standIn) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// free: no goal is left that would move the robot once it is let go of. After over.
func (s *standIn) free() bool { return s.robot == nil || len(s.robot.LiveGoals()) == 0 }

// rescue stops the robot in the background, until it rests or close.
func (s *standIn) rescue(b Beat) {
	s.used = true
	s.work.Go(func() {
		defer close(s.done)
		<-s.ready
		log := s.w.log
		if s.err != nil {
			log.Error("the robot cannot be stopped", "error", s.err)
			return
		}
		s.work.Go(func() { _ = s.robot.Run(s.ctx) }) // what it did not bring to rest, Rescue has said
		busy := b.Busy
		remains, err := LastRemains(b.TraceDir)
		if err != nil {
			log.Warn("the node's trace cannot be read: every actuator is stopped", "folder", b.TraceDir, "error", err)
			for _, a := range s.robot.Guard().Actuators() {
				busy = append(busy, a.Name())
			}
		}
		remains = remains.With(b.Goals)
		if remains.Empty() && len(busy) == 0 {
			log.Info("the node was moving nothing")
			return
		}
		if !remains.Empty() {
			log.Warn("left behind", "trace", remains.Trace, "goals", len(remains.Goals), "tools", remains.Tools, "moving", remains.Moving, "busy", busy)
		}
		if err := (Rescuer{Node: s.w.host, Robot: s.robot, Log: log}).Rescue(s.ctx, remains, busy); err != nil {
			log.Error("not at rest; stop commands go on", "error", err)
			return
		}
		log.Warn("the robot is at rest")
	})
}

// close lets go of the robot, which is left as it is.
func (s *standIn) close() error {
	s.cancel()
	s.work.Wait()
	if s.robot == nil {
		return nil
	}
	return s.robot.Close()
}
