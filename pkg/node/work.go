package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model/planner"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
	"agent_node/pkg/robottools"
)

// work is what a configured node works with.
type work struct {
	robot    *robottools.Robot
	table    *tool.Table
	policy   policy.Policy
	model    *watchedModel
	bindings bindingWatch // the diagnostics' goroutine alone touches it
	harness  *harness.Harness
	mirror   *mirror
	traces   string                         // the folder of the records
	idle     map[string]guard.ActuatorState // see noteIdle; the machine's callbacks alone touch it

	left atomic.Bool // see leaveToOthers

	running context.Context // of the guard
	cancel  context.CancelFunc
	done    chan error
}

// loadProfile reads the file that the parameter names, or the built-in robot's.
func (n *Node) loadProfile() (*robottools.Profile, error) {
	file := n.params.profile.Get()
	if file == "" {
		n.log.Warn("no profile is given: using that of the built-in robot, which is a simulation")
	}
	return robottools.Open(file)
}

// configure makes everything that a goal needs.
func (n *Node) configure() (w *work, err error) {
	profile, err := n.loadProfile()
	if err != nil {
		return nil, err
	}
	w = &work{done: make(chan error, 1)}
	w.robot, err = robottools.New(robottools.Config{
		Node: n.ros, Profile: profile, Namespace: n.params.robotNamespace.Get(), FramePrefix: n.params.framePrefix.Get(), Clock: n.options.GuardClock, WaitForBindings: secondsOf(n.params.waitForBindings.Get()),
		OnTransition: n.actuatorChanged, OnReport: n.guardReport,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.running, w.cancel = ctx, cancel
	made := w // a return of nil forgets it
	go func() { made.done <- made.robot.Run(ctx) }()
	defer func() {
		if err != nil {
			err = errors.Join(err, made.end(context.Background()))
		}
	}()
	if w.table, err = tool.NewTable(w.robot.Tools()...); err != nil {
		return nil, err
	}
	if w.policy, err = n.permissions(profile); err != nil {
		return nil, err
	}
	asked, secrets, err := n.newModel()
	if err != nil {
		return nil, err
	}
	w.model = &watchedModel{Model: asked}
	dir, err := TraceDir(n.params.traceDir.Get())
	if err != nil {
		return nil, err
	}
	sink, err := trace.NewFiles(trace.FileOptions{
		Dir: dir, MaxBytes: partBytes(n.params.traceMax.Get()), Fsync: n.params.traceSync.Get(), Secrets: secrets,
	})
	if err != nil {
		return nil, err
	}
	w.traces = dir
	w.mirror = &mirror{sink: sink, n: n, open: map[string]*mirroredLog{}}
	w.harness, err = harness.New(harness.Config{
		Model: w.model, Tools: w.table, Policy: w.policy, Approver: n.approvals, Trace: w.mirror,
		// A session's end stops what it owns and what moves; an arm that rests needs no order to hold.
		Settle: w.settle, Stop: func(ctx context.Context, _ string) error { return made.robot.Guard().Quiesce(ctx) },
		Standstill: func() bool {
			return slices.ContainsFunc(made.robot.Guard().States(), func(a guard.ActuatorState) bool { return a.Standstill })
		},
		Understand: planner.Understand,
		Facts:      w.robot.Facts(), Defaults: n.params.limits.limitsNow(), Maxima: n.params.maxima.limitsNow(),
		Prices:           budget.Prices{Input: n.params.priceInput.Get(), Output: n.params.priceOutput.Get()},
		AcceptanceRounds: rounds(n.params.rounds.Get()), StopReserve: secondsOf(n.params.stopReserve.Get()),
		MaxOutputTokens: uint64(n.params.modelMaxOutput.Get()), Images: n.params.modelImages.Get(), Secrets: secrets, Logger: n.logger("harness"),
		WaitFree: !n.params.waitCounts.Get(),
		// The offline planner and scripts read where they stand from the whole history.
		Compaction: harness.Compaction{On: n.params.modelKind.Get() == "openai", ByModel: true, ContextTokens: uint64(n.params.modelContext.Get())},
	})
	return w, err
}

// partBytes: the sink takes zero for its default and a negative number for no limit.
func partBytes(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}

// rounds: the harness takes zero for its default and a negative number for never.
func rounds(n int64) int {
	if n == 0 {
		return -1
	}
	return int(n)
}

// settle returns since when every actuator has been measured at rest.
func (w *work) settle(ctx context.Context) (time.Time, error) {
	if err := w.robot.Guard().Quiesce(ctx); err != nil {
		return time.Time{}, err
	}
	return w.robot.RestSince(), nil
}

// recordOf an earlier session, from the trace folder.
func (w *work) recordOf(session string) (*harness.Record, error) {
	if !trace.ValidSession(session) {
		return nil, errors.New("that is no session's id")
	}
	if w.mirror.running(session) {
		return nil, errors.New("it is running")
	}
	events, report, err := trace.EventsOfFile(filepath.Join(w.traces, session+".jsonl"))
	if err != nil {
		return nil, err
	}
	if !report.OK() {
		return nil, fmt.Errorf("its record was changed: %s: %s", trace.At(report.Problems[0].File, report.Problems[0].Line), report.Problems[0].Message)
	}
	record, err := harness.ReadRecord(events)
	if err != nil {
		return nil, err
	}
	return record, record.Resumable()
}

// TraceDir is the folder of the traces: the one that the parameter trace.dir names, or one in the user's state folder.
func TraceDir(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	if d := os.Getenv("XDG_STATE_HOME"); d != "" {
		return filepath.Join(d, "agent_node", "traces"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("node: trace.dir is not set, and there is no home folder: %w", err)
	}
	return filepath.Join(home, ".local", "state", "agent_node", "traces"), nil
}

// noteIdle remembers, before a way down begins, which actuators are under nobody's command here.
func (w *work) noteIdle() {
	w.idle = map[string]guard.ActuatorState{}
	for _, a := range w.robot.Guard().States() {
		if a.Owner == "" && (a.State == guard.Unknown || a.State == guard.Holding) {
			w.idle[a.Name] = a
		}
	}
}

// unrested takes from a *guard.NotAtRestError what is no reason to stay on the way down: actuators that were idle and of which
// nothing was heard since (a node without its robot has nothing to bring to rest), and faults that nobody has acknowledged at
// measured rest.
func (w *work) unrested(err error) error {
	var moving *guard.NotAtRestError
	if !errors.As(err, &moving) {
		return err
	}
	left := &guard.NotAtRestError{}
	for _, a := range moving.Actuators {
		before, idle := w.idle[a.Name]
		unheard := idle && (before.State == guard.Unknown || a.LastFeedback.Equal(before.LastFeedback))
		if !unheard && !w.robot.AtRest(a.Name) {
			left.Actuators = append(left.Actuators, a)
		}
	}
	if len(left.Actuators) == 0 {
		return nil
	}
	return left
}

// leaveToOthers makes the way down send the robot nothing, where nothing is under way here: what moves is moved by another node of the name.
func (w *work) leaveToOthers() {
	for _, a := range w.robot.Guard().States() {
		if a.Owner != "" {
			return
		}
	}
	if w.held() != nil {
		return
	}
	w.left.Store(true)
	w.robot.Guard().Leave()
}

// held says which goals are not known to have ended although they were canceled: the robot is held by stop commands alone.
func (w *work) held() error {
	goals := w.robot.LiveGoals()
	if len(goals) == 0 {
		return nil
	}
	var names []string
	for _, g := range goals {
		names = append(names, fmt.Sprintf("%s of %s (%s)", g.ID, g.Action, g.Actuator))
	}
	return fmt.Errorf("node: goals are not known to have ended, stop commands hold the robot: %s", strings.Join(names, ", "))
}

// end stops the guard (which brings everything to rest) and takes the robot down.
func (w *work) end(ctx context.Context) error {
	if w.idle == nil {
		w.noteIdle()
	}
	w.cancel()
	var err error
	select {
	case err = <-w.done:
		if err = w.unrested(err); w.left.Load() {
			err = nil // it is another's to bring to rest
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	return errors.Join(err, w.robot.Close())
}
