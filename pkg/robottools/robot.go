package robottools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/rosout"
	"agent_node/pkg/ros/share"
)

// Config of a robot.
type Config struct {
	Node    ros.Node
	Profile *Profile
	// Namespace and FramePrefix of this robot, one of several; see [Profile.Placed].
	Namespace, FramePrefix string
	// WaitForBindings is how long a call waits for a missing server before it is server_unavailable (10 s).
	WaitForBindings time.Duration
	// OnTransition hears every change of an actuator's state.
	OnTransition func(guard.Transition)
	// Clock that the guard's deadlines and arrivals run on; nil: the machine's. A robot simulated faster than
	// real time needs one that runs as fast.
	Clock guard.Clock
	// OnReport hears what else the guard finds worth recording: foreign publishers, late answers, driver errors.
	OnReport func(guard.Report)
	// ActuatorsOnly makes a robot that can be measured and stopped, and nothing else: no tools, no world. The end of its Run stops
	// nothing.
	ActuatorsOnly bool
}

// Robot is a profile bound to a node: its tools, its guard and its world.
type Robot struct {
	shared      *share.Node
	node        ros.Node
	profile     *Profile
	guard       *guard.Guard
	world       *worldView
	objects     *objectMemory
	description *description
	interlocks  map[string][]lock
	all         []*actuator // of every kind, by name
	actuators   map[string]*baseActuator
	joints      map[string]*jointActuator
	bare        bool
	tools       []tool.Tool
	table       *tool.Table
	wait        time.Duration
	arrived     func(time.Time) time.Time // a message's arrival on the guard's clock; nil: as it is
	now         func() time.Time          // the guard's clock
	begun       time.Time                 // when it began to listen, by now
	attention   attention

	background context.Context // ends with Close; never a call's own
	cancel     context.CancelFunc
	stops      sync.WaitGroup // stop commands that ask somebody

	mu         sync.Mutex
	owned      []io.Closer
	velocities map[string]*velocity
	publishers map[string]ros.Publisher
	names      map[string]string // nodes by their publishers' ids
	topics     map[string]*latest

	emergency sync.Mutex      // held while the guard is told, so that what it is told last is so
	estop     map[string]bool // by input
}

// part is the node with a logger of its own.
type part struct {
	ros.Node
	log *slog.Logger
}

// Logger implements ros.Node.
func (p part) Logger() *slog.Logger { return p.log }

// New resolves a profile's types against the node and binds its tools. Unknown types and
// fields are errors with file and line. Servers need not be there yet.
func New(cfg Config) (*Robot, error) {
	shared := share.Of(cfg.Node) // many parts want the same topics
	r := &Robot{
		node: part{shared, cfg.Node.Logger().With(rosout.LoggerKey, "robot")}, shared: shared, profile: cfg.Profile.Placed(cfg.Namespace, cfg.FramePrefix), wait: cfg.WaitForBindings, bare: cfg.ActuatorsOnly, publishers: map[string]ros.Publisher{}, names: map[string]string{},
		actuators: map[string]*baseActuator{}, joints: map[string]*jointActuator{}, velocities: map[string]*velocity{}, topics: map[string]*latest{},
		estop: map[string]bool{}, now: time.Now, attention: attention{states: map[string]guard.State{}},
	}
	if cfg.Clock != nil {
		r.arrived = func(time.Time) time.Time { return cfg.Clock.Now() }
		r.now = cfg.Clock.Now
	}
	if r.wait <= 0 {
		r.wait = 10 * time.Second
	}
	r.background, r.cancel = context.WithCancel(context.Background())
	r.guard = guard.New(guard.GuardConfig{Clock: cfg.Clock, Logger: cfg.Node.Logger().With(rosout.LoggerKey, "guard"), OnTransition: r.onTransition(cfg.OnTransition), OnReport: cfg.OnReport, SourceTime: r.sourceTime, Leave: cfg.ActuatorsOnly})
	if err := r.bind(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.begun = r.now()
	return r, nil
}

// onTransition notes what the actuators do, then tells.
func (r *Robot) onTransition(tell func(guard.Transition)) func(guard.Transition) {
	return func(t guard.Transition) {
		r.attention.moved(t.Actuator, t.To)
		if tell != nil {
			tell(t)
		}
	}
}

func (r *Robot) bind() error {
	if r.bare {
		return r.addActuators()
	}
	var err error
	if r.world, err = newWorld(r.node, r.profile); err != nil {
		return err
	}
	if r.description, err = newDescription(r.node, r.profile); err != nil {
		return err
	}
	if err = r.compileInterlocks(); err != nil {
		return err
	}
	if r.objects, err = newObjects(r.world, r.profile); err != nil {
		return err
	}
	if err := r.addActuators(); err != nil {
		return err
	}
	var all []error
	for _, name := range r.profile.ToolOrder {
		t, err := r.newTool(name, r.profile.Tools[name])
		if err != nil {
			all = append(all, err)
			continue
		}
		r.tools = append(r.tools, t)
	}
	for _, make := range []func() ([]tool.Tool, error){r.newDiscovery, r.newGeneric} {
		made, err := make()
		all = append(all, err)
		r.tools = append(r.tools, made...)
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	return r.link()
}

func (r *Robot) addActuators() error {
	for _, name := range slices.Sorted(maps.Keys(r.profile.Actuators)) {
		if err := r.addActuator(name, r.profile.Actuators[name]); err != nil {
			return err
		}
	}
	for _, a := range r.all {
		r.attention.moved(a.name, guard.Unknown)
		if err := r.hear(a); err != nil {
			return err
		}
	}
	if r.world != nil {
		r.attention.calmly(r.world.subs...)
	}
	if r.objects != nil && r.objects.source != nil {
		r.attention.calmly(r.objects.source.subs...)
	}
	return nil
}

// link makes the table of the profile's tools and joins sequences with their parts.
func (r *Robot) link() (err error) {
	if r.table, err = tool.NewTable(r.tools...); err != nil {
		return err
	}
	var all []error
	for _, t := range r.tools {
		if s, ok := t.(*sequenceTool); ok {
			all = append(all, s.link(r, r.profile))
		}
	}
	for _, t := range r.tools {
		if b, ok := t.(interface{ pair(*Profile) }); ok {
			b.pair(r.profile)
		}
	}
	all = append(all, r.linkInterlocks())
	return errors.Join(all...)
}

// byName finds a tool of the profile.
func (r *Robot) byName(name string) tool.Tool {
	t, _ := r.table.Get(name)
	return t
}

func (r *Robot) classOf(name string) tool.Class {
	s, _ := r.table.Spec(name)
	return s.Class
}

func (r *Robot) newTool(name string, def Tool) (tool.Tool, error) {
	b, c := r.newBound(name, def)
	switch {
	case def.Binding.Topic != nil:
		return r.newTopicRead(b, c)
	case def.Binding.Transform != nil:
		return r.newTransformRead(b, c)
	case def.Binding.Parameter != nil:
		return r.newParameterRead(b, c)
	case def.Binding.Profile != "":
		return r.newProfileRead(b, c)
	case def.Binding.Service != nil:
		return r.newService(b, c)
	case def.Binding.Action != nil:
		return r.newAction(b, c)
	case def.Binding.Publish != nil && r.profile.streams(def):
		return r.newStream(b, c)
	case def.Binding.Publish != nil:
		return r.newTopicSkill(b, c)
	case def.Binding.Wait != nil:
		return r.newWait(b, c)
	case def.Binding.Agent != nil:
		return r.newAgent(b, c)
	case def.Binding.Trajectory != nil:
		return r.newTrajectory(b, c)
	case def.Binding.Sequence != nil:
		return r.newSequence(b, c)
	}
	return nil, c.p.source.errorf(c.at, "no binding")
}

// Tools of the profile, in its order.
func (r *Robot) Tools() []tool.Tool { return r.tools }

// Guard of the robot's actuators.
func (r *Robot) Guard() *guard.Guard { return r.guard }

// Profile the robot was made from.
func (r *Robot) Profile() *Profile { return r.profile }

// Run guards the actuators until ctx ends, then brings them to rest (bounded).
func (r *Robot) Run(ctx context.Context) error { return r.guard.Run(ctx) }

// Close ends what New made.
func (r *Robot) Close() error {
	r.cancel()
	r.stops.Wait()
	r.mu.Lock()
	owned := r.owned
	r.owned = nil
	r.mu.Unlock()
	var all []error
	for _, c := range slices.Backward(owned) {
		all = append(all, c.Close())
	}
	all = append(all, r.objects.close(), r.description.close())
	if r.world != nil {
		all = append(all, r.world.close())
	}
	all = append(all, r.shared.Close())
	return errors.Join(all...)
}

// sourceTime is the clock that measurements are stamped with.
func (r *Robot) sourceTime() (time.Time, bool) {
	c := r.node.Clock()
	return c.Now().Std(), c.Advancing()
}

func (r *Robot) own(c io.Closer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owned = append(r.owned, c)
}

// listen shares one subscription pair per topic and type among tools.
func (r *Robot) listen(topic, typeName string) (*latest, error) {
	key := topic + " " + typeName
	r.mu.Lock()
	l, ok := r.topics[key]
	r.mu.Unlock()
	if ok {
		return l, nil
	}
	l, err := listenBy(r.node, r.now, r.arrived, topic, typeName, nil)
	if err != nil {
		return nil, err
	}
	r.own(l)
	r.attention.calmly(l.subs...)
	r.mu.Lock()
	r.topics[key] = l
	r.mu.Unlock()
	return l, nil
}

// constants is a scope with what the profile itself says.
func (r *Robot) constants() scope {
	places := make(map[string]any, len(r.profile.Places))
	for name, p := range r.profile.Places {
		m := map[string]any{"x": p.X, "y": p.Y, "yaw": p.Yaw}
		if f := p.Surface; f != nil {
			m["surface"] = map[string]any{"min": []any{f.Min[0], f.Min[1]}, "max": []any{f.Max[0], f.Max[1]}, "z": f.Z}
		}
		places[name] = m
	}
	r.heldNow()
	objects := r.objects.scope(r.node.Clock().Now())
	c := r.profile.Constants
	if c == nil {
		c = map[string]any{}
	}
	f := r.profile.Frames
	joints := map[string]any{}
	for name, a := range r.joints {
		if s, ok := a.latest(); ok {
			joints[name] = numbersOf(s.Position)
		}
	}
	return scope{
		"joints": joints,
		"places": places, "objects": objects, "constants": c,
		"frames": map[string]any{"map": f.Map, "odom": f.Odom, "base": f.Base},
	}
}

// poseScope is the map pose for expressions and observations, rounded to the millimetre.
func (r *Robot) poseScope() (map[string]any, bool) {
	p, ok := r.world.pose()
	if !ok {
		return nil, false
	}
	return poseMap(p), true
}

func round(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}

// allowance is the smaller of the tool's time limit and what the budget leaves.
func (r *Robot) allowance(limit time.Duration, deadline time.Time) time.Duration {
	if deadline.IsZero() {
		return limit
	}
	left := max(time.Until(deadline), time.Millisecond)
	if limit == 0 {
		return left
	}
	return min(limit, left)
}

// awaitServer waits for a binding that is missing, then says server_unavailable.
func (r *Robot) awaitServer(ctx context.Context, b *bound, ready func(context.Context) error) *tool.Result {
	wait, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	what, err := b.spec.Binding, ready(wait)
	_, base := r.actuators[b.def.Actuator]
	if err == nil && base {
		// The map comes once, some time after the node: without it no motion of the base can be judged.
		what, err = "map "+r.profile.World.Map.Topic, r.world.awaitMap(wait)
	}
	if err == nil {
		if base {
			r.world.awaitPose(wait)
		}
		return nil
	}
	if ctx.Err() != nil {
		return b.fail(tool.Canceled, "while waiting for %s: %v", what, context.Cause(ctx))
	}
	f := b.fail(tool.ServerUnavailable, "%s: nobody there after %.0f s", what, r.wait.Seconds())
	f.DependencyLost = true
	return f
}

// Facts are the robot's facts for a model's system prompt.
func (r *Robot) Facts() string {
	p := r.profile
	var b strings.Builder
	fmt.Fprintf(&b, "Robot: %s.", p.Name)
	if p.Description != "" {
		fmt.Fprintf(&b, " %s", p.Description)
	}
	if p.Simulation {
		b.WriteString(" It is a simulation.")
	}
	fmt.Fprintf(&b, "\nFrames: map %s, odometry %s, base %s (REP-105); metres, radians, x forward, y left.\n", p.Frames.Map, p.Frames.Odom, p.Frames.Base)
	if len(p.Places) > 0 {
		fmt.Fprintf(&b, "Places: %s.\n", strings.Join(slices.Sorted(maps.Keys(p.Places)), ", "))
	}
	if len(p.Objects) > 0 {
		fmt.Fprintf(&b, "Objects: %s.\n", strings.Join(slices.Sorted(maps.Keys(p.Objects)), ", "))
	}
	for _, f := range p.Facts {
		b.WriteString(f + "\n")
	}
	return b.String()
}

// EmergencyInput tells one emergency-stop input's state: true from any latches, all false allow a reset.
func (r *Robot) EmergencyInput(source string, stopped bool) {
	r.emergency.Lock()
	defer r.emergency.Unlock()
	r.estop[source] = stopped
	active := false
	for _, s := range r.estop {
		active = active || s
	}
	r.guard.EmergencyStop(active)
}

// RestSince is since when every actuator has been measured at rest, on the guard's clock as the arrivals of what tools read
// are; the zero time if one is not.
func (r *Robot) RestSince() time.Time {
	var latest time.Time
	for _, a := range r.all {
		rest, since, _ := a.guard.AtRest()
		if !rest {
			return time.Time{}
		}
		if since.After(latest) {
			latest = since
		}
	}
	return latest
}

// AtRest reports whether an actuator is measured at rest now.
func (r *Robot) AtRest(actuator string) bool {
	a := r.actuator(actuator)
	if a == nil {
		return false
	}
	rest, _, _ := a.guard.AtRest()
	return rest
}

// Heard is how many messages of a topic have come since the robot was made, and when the last one did; zero for what is not
// listened to now.
func (r *Robot) Heard(topic, typeName string) (count uint64, newest time.Time) {
	name, err := r.node.ResolveName(topic)
	if err != nil {
		return 0, time.Time{}
	}
	return r.shared.Heard(name, typeName)
}

// TransformAge is how old the newest transform of source in target is; an error where there is none that is at most maxAge old.
func (r *Robot) TransformAge(target, source string, maxAge time.Duration) (time.Duration, error) {
	now := r.node.Clock().Now()
	got, err := r.world.buffer.Latest(target, source, int64(now), maxAge)
	if err != nil || got.Static {
		return 0, err
	}
	return now.Sub(ros.Time(got.Stamp)), nil
}
