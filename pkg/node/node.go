package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/lifecycle"
	"agent_node/pkg/ros/param"
	"agent_node/pkg/ros/rosout"
	"agent_node/pkg/ros/typedesc"
)

// Host is a node of a transport, with what its command line said.
type Host interface {
	ros.Node
	// Params are first values by parameter name.
	Params() map[string]any
	// UseSimTime switches between the system's clock and /clock.
	UseSimTime(on bool) error
}

// Node is the agent on ROS.
type Node struct {
	ros     Host
	tuned   *overridden // the same
	options Options
	log     *slog.Logger
	types   *types
	params  *parameters
	outbox  *outbox
	board   stateBoard

	statePub, approvalPub, tracePub, diagnosticsPub ros.Publisher

	approvals *approvals
	goals     *goals
	estop     *estopInput
	beat      *heartbeat
	machine   *lifecycle.Machine
	reports   reports

	work    atomic.Pointer[work]
	servers []*action.Server // of goals, while active; the machine's callbacks alone touch it
	plans   *planning        // while active, likewise

	bare sync.Mutex // one stop of an unconfigured node at a time

	leaving context.Context // done when a node that is told to end waits for rest no longer
	leave   context.CancelFunc
	rested  bool // taken down in good order
	closing sync.Once
	failed  chan error // see Failed

	mu     sync.Mutex
	owned  []io.Closer
	ending chan struct{}
	beats  sync.WaitGroup
}

// Options of a node.
type Options struct {
	// GuardClock is what the guard's deadlines run on; nil: the machine's clock.
	GuardClock guard.Clock
	// Discovery is how long the transport may take to find what else there is: so long a node listens for another of its name before it
	// is configured. 0: a transport that knows at once.
	Discovery time.Duration
	// Graph names the graph that the node is part of among those of this machine, such as its domain: of the processes with one trace folder
	// one alone has a name on it. Empty: a graph inside this process.
	Graph string
}

// New makes the node unconfigured, with its parameters, services and topics. Start makes it work.
func New(host Host, o Options) (*Node, error) {
	tuned, err := withOverrides(host)
	if err != nil {
		return nil, err
	}
	n := &Node{ros: tuned, tuned: tuned, options: o, log: host.Logger(), ending: make(chan struct{}), failed: make(chan error, 1)}
	n.leaving, n.leave = context.WithCancel(context.Background())
	n.board.state = harness.StateIdle
	n.outbox = newOutbox(n.log)
	n.approvals = newApprovals(n)
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.close(context.Background()))
	}
	return n, nil
}

func (n *Node) open() (err error) {
	if n.types, err = lookUp(n.ros.Types()); err != nil {
		return fmt.Errorf("node: agent_msgs: %w", err)
	}
	if err := n.openParameters(); err != nil {
		return err
	}
	for _, p := range []struct {
		topic, typeName string
		qos             ros.QoS
		into            *ros.Publisher
	}{
		{"~/state", "agent_msgs/msg/AgentState", ros.LatchedQoS(), &n.statePub},
		{"~/approvals", "agent_msgs/msg/ApprovalRequest", ros.QoS{Depth: 10, Durability: ros.TransientLocal}, &n.approvalPub},
		{"~/trace", "agent_msgs/msg/TraceEvent", ros.QoS{Depth: 1000}, &n.tracePub},
		{"/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", ros.DefaultQoS(), &n.diagnosticsPub},
	} {
		if *p.into, err = n.ros.CreatePublisher(p.topic, p.typeName, p.qos); err != nil {
			return fmt.Errorf("node: %s: %w", p.topic, err)
		}
		n.own(*p.into)
	}
	n.goals = &goals{
		log: n.log, refuse: n.goalRefused, closed: true,
		policy: n.params.queuePolicy.Get, length: func() int { return int(n.params.queueLength.Get()) },
	}
	// Before what takes its time: others of its name are looked for meanwhile.
	if n.beat, err = newHeartbeat(n); err != nil {
		return err
	}
	if n.estop, err = newEstopInput(n); err != nil {
		return err
	}
	if err := n.serve(); err != nil {
		return err
	}
	n.machine, err = lifecycle.New(n.ros, lifecycle.Callbacks{
		Configure: n.onConfigure, Cleanup: n.onCleanup, Activate: n.onActivate, Deactivate: n.onDeactivate,
		Shutdown: func(ctx context.Context, _ lifecycle.State) error {
			return errors.Join(n.deactivate(), n.onCleanup(ctx))
		},
		Error: func(ctx context.Context, _ lifecycle.State, cause error) error {
			n.log.Error("transition failed", "error", cause)
			return errors.Join(n.deactivate(), n.onCleanup(ctx))
		},
		Changed: func(from, to lifecycle.State) { n.log.Info("lifecycle", "from", from.String(), "to", to.String()) },
	})
	if err != nil {
		return err
	}
	n.publishState()
	n.beats.Go(n.diagnosticsLoop)
	return nil
}

func (n *Node) openParameters() error {
	overrides := map[string]param.Value{}
	for name, v := range n.ros.Params() {
		value, err := param.ValueOf(v)
		if err != nil {
			return fmt.Errorf("node: parameter %s: %w", name, err)
		}
		overrides[name] = value
	}
	server, err := param.New(n.ros, param.Config{Overrides: overrides, SimTime: n.ros.UseSimTime})
	if err != nil {
		return fmt.Errorf("node: parameters: %w", err)
	}
	n.own(server)
	if n.params, err = declareParameters(server); err != nil {
		return fmt.Errorf("node: parameters: %w", err)
	}
	if err := n.tuned.declare(server); err != nil {
		return fmt.Errorf("node: parameters: %w", err)
	}
	for _, name := range server.UnusedOverrides() {
		n.log.Warn("no such parameter", "name", name)
	}
	return n.describeTypes()
}

// describeTypes serves ~/get_type_description.
func (n *Node) describeTypes() error {
	s, err := typedesc.Serve(n.ros, typedesc.First(
		typedesc.FromPrefixes(filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH"))...), typedesc.FromTypes(n.ros.Types())))
	if err != nil {
		return fmt.Errorf("node: type descriptions: %w", err)
	}
	n.own(s)
	return nil
}

// logger of a part of the node: agent_node.PART, with a level of its own where --log-level gives it one.
func (n *Node) logger(part string) *slog.Logger { return n.log.With(rosout.LoggerKey, part) }

func (n *Node) own(c io.Closer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.owned = append(n.owned, c)
}

// Start configures and activates the node where its parameter autostart says so.
func (n *Node) Start(ctx context.Context) error {
	if !n.params.autostart.Get() {
		return nil
	}
	err := n.machine.Configure(ctx)
	if err == nil {
		err = n.machine.Activate(ctx)
	}
	if why := n.beat.name.yields(); err != nil && why != nil && !errors.Is(err, ErrTwin) {
		err = errors.Join(why, err) // it was taken down meanwhile
	}
	return err
}

// letGoTime is what the way down may take when rest has been waited for in vain: a stop that was begun goes on for its time.
const letGoTime = 2 * time.Second

// Shutdown ends every goal with a terminal status, brings the robot to rest and takes the node down. It waits for rest for stop_reserve, and
// for a goal that no cancel ends its actuator's EndTime more; ctx bounds the waiting, too. An error wraps *guard.NotAtRestError where rest was not
// measured.
func (n *Node) Shutdown(ctx context.Context) error {
	reserve := secondsOf(n.params.stopReserve.Get())
	defer time.AfterFunc(reserve, n.leave).Stop()
	bounded, cancel := context.WithTimeout(ctx, reserve+letGoTime)
	defer cancel()
	err := n.machine.Shutdown(bounded)
	n.rested = err == nil
	if w := n.work.Load(); w == nil || w.held() == nil {
		ctx = bounded
	}
	err = errors.Join(err, n.close(ctx))
	var moving *guard.NotAtRestError
	if errors.As(err, &moving) {
		err = fmt.Errorf("node: ends although the robot was not measured at rest (stop_reserve is %v): it may still move, so look: %w", reserve, err)
	}
	return err
}

// close takes everything down, once.
func (n *Node) close(ctx context.Context) (err error) {
	n.closing.Do(func() { err = n.takeDown(ctx) })
	return err
}

func (n *Node) takeDown(ctx context.Context) error {
	defer n.leave()
	var all []error
	if n.beat != nil {
		all = append(all, n.beat.close(n.rested))
	}
	if w := n.work.Swap(nil); w != nil {
		// A goal lives that no cancel ends. It is held for some time more: a watchdog, which misses the heartbeat by now, takes over.
		all = append(all, w.end(ctx))
	}
	select {
	case <-n.ending:
	default:
		close(n.ending)
	}
	n.beats.Wait()
	if n.estop != nil {
		all = append(all, n.estop.close())
	}
	if n.machine != nil {
		all = append(all, n.machine.Close())
	}
	n.outbox.close()
	n.mu.Lock()
	owned := n.owned
	n.owned = nil
	n.mu.Unlock()
	for _, c := range slices.Backward(owned) {
		all = append(all, c.Close())
	}
	return errors.Join(all...)
}

func (n *Node) onConfigure(ctx context.Context) error {
	// First of all: what follows listens to the robot, stops it where an earlier life of the node left it moving, and all that is the other's.
	if err := n.beat.name.claim(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			n.log.Info("configure: given up, as told", "while", err)
		} else {
			n.log.Error("configure", "error", err)
		}
		return lifecycle.Failure(err)
	}
	w, err := n.configure()
	if err != nil {
		n.beat.name.release()
		// A profile or parameter that cannot work leaves the node sound: mend it and configure again.
		n.log.Error("configure", "error", err)
		return lifecycle.Failure(err)
	}
	n.work.Store(w)
	// Another may have been found only now: the robot is its own, and is sent nothing.
	if why := n.beat.name.yields(); why != nil {
		w.leaveToOthers()
		n.work.Store(nil)
		n.beat.name.release()
		n.log.Error("configure", "error", why)
		return lifecycle.Failure(errors.Join(why, w.end(ctx)))
	}
	n.estop.replay()
	n.publishState()
	n.rescueRemains(w)
	return nil
}

// onCleanup lets go of the robot, except while a goal lives that no cancel ends: stop commands hold it, and would end.
func (n *Node) onCleanup(ctx context.Context) error {
	if w := n.work.Load(); w != nil {
		if err := w.held(); err != nil {
			return lifecycle.Failure(err)
		}
	}
	w := n.work.Swap(nil)
	if w == nil {
		n.beat.name.release()
		return nil
	}
	defer n.beat.name.release()
	return w.end(ctx)
}

func (n *Node) onActivate(context.Context) error {
	if why := n.beat.name.yields(); why != nil {
		return lifecycle.Failure(why)
	}
	plans, err := n.servePlanning()
	if err != nil {
		return err
	}
	n.goals.open()
	servers, err := n.serveGoals()
	if err != nil {
		n.goals.close(harness.Interrupt{Reason: harness.ReasonShutdown})
		return errors.Join(err, plans.close(context.Background()))
	}
	n.servers, n.plans = servers, plans
	return nil
}

// restPatience bounds how long deactivating waits for goals to end at rest.
const restPatience = 30 * time.Second

// patient waits so long, and no longer than stop_reserve once the node is told to end.
func (n *Node) patient() (context.Context, context.CancelFunc) {
	return context.WithTimeout(n.leaving, restPatience)
}

// onDeactivate ends the goals, at rest, before the action disappears. Where that cannot be had, since a server goes on with a goal that it
// was asked to end, the node stays active, and says so.
func (n *Node) onDeactivate(ctx context.Context) error {
	err := n.deactivate()
	w := n.work.Load()
	if err == nil || w == nil || w.held() == nil {
		return err
	}
	if again := n.onActivate(ctx); again != nil {
		return errors.Join(err, again)
	}
	return lifecycle.Failure(err)
}

func (n *Node) deactivate() error {
	if w := n.work.Load(); w != nil {
		w.noteIdle()
	}
	n.goals.close(harness.Interrupt{Reason: harness.ReasonShutdown, Message: "the node is being deactivated"})
	// A context of its own: a shutdown's or a request's may end before the robot rests.
	ctx, cancel := n.patient()
	defer cancel()
	err := closeServers(ctx, n.servers)
	n.servers = nil
	if n.plans != nil {
		err = errors.Join(err, n.plans.close(ctx))
		n.plans = nil
	}
	if w := n.work.Load(); w != nil && !w.left.Load() {
		err = errors.Join(err, w.unrested(w.robot.Guard().Quiesce(ctx)))
	}
	return err
}

// monotonic converts a ROS time into a time on this machine's monotonic clock.
func (n *Node) monotonic(t ros.Time) time.Time {
	return time.Now().Add(t.Sub(n.ros.Clock().Now()))
}
