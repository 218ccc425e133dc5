package robottools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/tf"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/geometry/zone"
	"agent_node/pkg/guard"
	"agent_node/pkg/ros"
)

// errStaleTransform marks a transform that is missing or too old.
var errStaleTransform = errors.New("robottools: no fresh transform")

// worldView is what the node knows of the robot's surroundings: transforms, map, zones, footprint.
type worldView struct {
	profile *Profile
	node    ros.Node
	buffer  *tf.Buffer
	maxAge  time.Duration
	print   spatial.Footprint
	keepIn  []*zone.Zone
	zones   []*zone.Zone

	mu      sync.Mutex
	grid    *grid.Grid
	mapped  chan struct{}       // closes when a map has arrived, usable or not
	changed chan struct{}       // closes when a dynamic transform arrives
	refused map[string]refusals // transforms by child frame
	heard   []func(arrived time.Time)
	subs    []ros.Subscription
	mapSub  *latest
	unjump  func()
}

// defaultPoseAge is how old the map pose may be where the profile does not say, s.
const defaultPoseAge = 0.5

func newWorld(node ros.Node, p *Profile) (*worldView, error) {
	w := &worldView{profile: p, node: node, buffer: tf.New(tf.Config{}), changed: make(chan struct{}), mapped: make(chan struct{}), refused: map[string]refusals{}, maxAge: seconds(defaultPoseAge)}
	if p.World.PoseMaxAge > 0 {
		w.maxAge = seconds(p.World.PoseMaxAge)
	}
	if err := w.shapes(); err != nil {
		return nil, err
	}
	if err := w.subscribe(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	w.unjump = node.Clock().OnJump(func(_, to ros.Time) { w.buffer.Advance(int64(to)) })
	return w, nil
}

// shapes makes footprint and zones of the profile.
func (w *worldView) shapes() error {
	p := w.profile
	var err error
	switch f := p.World.Footprint; {
	case len(f.Polygon) > 0:
		w.print, err = spatial.PolygonFootprint(vectors(f.Polygon))
	case f.Radius > 0:
		w.print, err = spatial.CircleFootprint(f.Radius)
	}
	if err != nil {
		return p.source.errorf("world/footprint", "%v", err)
	}
	for _, group := range []struct {
		path string
		kind zone.Kind
		list []Zone
		into *[]*zone.Zone
	}{
		{"world/workspace", zone.KeepIn, p.World.Workspace, &w.keepIn},
		{"world/keep_out", zone.KeepOut, p.World.KeepOut, &w.zones},
		{"world/speed_zones", zone.Speed, p.World.SpeedZones, &w.zones},
	} {
		for i, z := range group.list {
			made, err := makeZone(z, group.kind, p.Frames.Map)
			if err != nil {
				return p.source.errorf(fmt.Sprintf("%s/%d", group.path, i), "%v", err)
			}
			*group.into = append(*group.into, made)
		}
	}
	return nil
}

func makeZone(z Zone, kind zone.Kind, frame string) (*zone.Zone, error) {
	if z.Frame != "" {
		frame = z.Frame
	}
	var shape zone.Shape
	var err error
	switch {
	case z.Circle != nil:
		shape, err = zone.Circle(r2.Vec{X: z.Circle.Center[0], Y: z.Circle.Center[1]}, z.Circle.Radius)
	case z.Box != nil:
		shape, err = zone.Box(r2.Vec{X: z.Box.Center[0], Y: z.Box.Center[1]}, r2.Vec{X: z.Box.Size[0], Y: z.Box.Size[1]}, z.Box.Yaw)
	default:
		shape, err = zone.Polygon(vectors(z.Polygon))
	}
	if err == nil && z.Heights != nil {
		shape, err = shape.WithHeights(z.Heights[0], z.Heights[1])
	}
	if err != nil {
		return nil, err
	}
	return zone.New(zone.Config{Name: z.Name, Kind: kind, Frame: frame, Shape: shape, Margin: z.Margin, MaxLinear: z.Speed, MaxAngular: z.AngularSpeed})
}

func vectors(corners [][2]float64) []r2.Vec {
	out := make([]r2.Vec, len(corners))
	for i, c := range corners {
		out[i] = r2.Vec{X: c[0], Y: c[1]}
	}
	return out
}

func (w *worldView) subscribe() error {
	for _, s := range []struct {
		topic  string
		qos    ros.QoS
		static bool
	}{
		{"/tf", ros.QoS{Depth: 100, Reliability: ros.BestEffort}, false},
		{"/tf_static", ros.QoS{Depth: 100, Durability: ros.TransientLocal}, true},
	} {
		sub, err := w.node.CreateSubscription(s.topic, "tf2_msgs/msg/TFMessage", s.qos, func(r ros.Received) { w.transforms(r, s.static) })
		if err != nil {
			return fmt.Errorf("robottools: %s: %w", s.topic, err)
		}
		w.subs = append(w.subs, sub)
	}
	if m := w.profile.World.Map; m.Topic != "" {
		l, err := listen(w.node, m.Topic, "nav_msgs/msg/OccupancyGrid", func(r reading) { w.takeMap(r.msg) })
		if err != nil {
			return w.profile.source.errorf("world/map", "%v", err)
		}
		w.mapSub = l
	}
	return nil
}

// transforms feeds the buffer; what it refuses (non-finite, cycles) is logged and not used.
func (w *worldView) transforms(r ros.Received, static bool) {
	now := int64(w.node.Clock().Now())
	for _, t := range r.Message.Msgs("transforms") {
		s := tf.Stamped{
			Parent: t.Str("header.frame_id"), Child: t.Str("child_frame_id"), Stamp: int64(t.Stamp("header.stamp")),
			Transform: spatial.Transform{Translation: vec3(t.Msg("transform.translation")), Rotation: quaternion(t.Msg("transform.rotation"))},
		}
		var err error
		var change tf.Change
		if static {
			change, err = w.buffer.SetStatic(s)
		} else {
			change, err = w.buffer.Set(s, now)
		}
		switch {
		case err != nil:
			w.refusedTransform(s, err)
		case change.Reparented != "":
			w.node.Logger().Warn("frame has a new parent", "child", s.Child, "parent", s.Parent, "before", change.Reparented)
		case change.Cleared:
			w.node.Logger().Warn("time jumped back: transforms are forgotten", "parent", s.Parent, "child", s.Child)
		}
	}
	w.mu.Lock()
	close(w.changed)
	w.changed = make(chan struct{})
	heard := w.heard
	w.mu.Unlock()
	for _, f := range heard {
		f(r.Arrived)
	}
}

// onTransforms has f called after each message of transforms. Static and dynamic ones may come at the same time.
func (w *worldView) onTransforms(f func(arrived time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, f)
}

// refusalEvery bounds how often a link's refused transforms are told: they come at the rate of their source.
const refusalEvery = 5 * time.Second

// refusals of one link since they were told last.
type refusals struct {
	count int
	told  time.Time
}

func (w *worldView) refusedTransform(s tf.Stamped, why error) {
	w.mu.Lock()
	r := w.refused[s.Child]
	r.count++
	tell := time.Since(r.told) >= refusalEvery
	count := r.count
	if tell {
		r = refusals{told: time.Now()}
	}
	w.refused[s.Child] = r
	w.mu.Unlock()
	if tell {
		w.node.Logger().Warn("transform refused", "parent", s.Parent, "child", s.Child, "error", why, "since_last_told", count)
	}
}

func vec3(m *ros.Message) r3.Vec { return r3.Vec{X: m.Float("x"), Y: m.Float("y"), Z: m.Float("z")} }

func quaternion(m *ros.Message) quat.Number {
	return quat.Number{Real: m.Float("w"), Imag: m.Float("x"), Jmag: m.Float("y"), Kmag: m.Float("z")}
}

func poseOf(m *ros.Message) spatial.Pose {
	return spatial.Pose{Position: vec3(m.Msg("position")), Orientation: quaternion(m.Msg("orientation"))}
}

// takeMap replaces the map; one that makes no sense is an error that refuses motions.
func (w *worldView) takeMap(m *ros.Message) {
	data, _ := m.Get("data")
	cells, _ := data.([]int8)
	rules := grid.Rules{OccupiedAt: int8(w.profile.World.Map.Occupied), UnknownIsFree: w.profile.World.Map.UnknownIsFree}
	g, err := w.readMap(m, cells, rules)
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.mapped:
	default:
		close(w.mapped)
	}
	w.grid = g
	if err != nil {
		w.grid = nil
		w.node.Logger().Error("map refused", "topic", w.profile.World.Map.Topic, "error", err)
	}
}

// awaitMap waits for the first map, where there is one.
func (w *worldView) awaitMap(ctx context.Context) error {
	if w.profile.World.Map.Topic == "" {
		return nil
	}
	select {
	case <-w.mapped:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// posePatience is how long a motion waits, beyond the age limit, for where the robot is: transforms come a moment after the node, and
// localisation has gaps.
const posePatience = time.Second

// awaitPose waits a while for the robot's pose; without it what needs it is refused.
func (w *worldView) awaitPose(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.maxAge+posePatience)
	defer cancel()
	for {
		w.mu.Lock()
		changed := w.changed
		w.mu.Unlock()
		if _, ok := w.pose(); ok {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (w *worldView) readMap(m *ros.Message, cells []int8, rules grid.Rules) (*grid.Grid, error) {
	origin, err := grid.PlanarOrigin(poseOf(m.Msg("info.origin")))
	if err != nil {
		return nil, err
	}
	g, err := grid.New(grid.Config{
		Frame: m.Str("header.frame_id"), Stamp: int64(m.Stamp("header.stamp")),
		Width: int(m.Int("info.width")), Height: int(m.Int("info.height")), Resolution: m.Float("info.resolution"),
		Origin: origin, Data: cells, Rules: rules,
	})
	if err != nil {
		return nil, err
	}
	g.Prepare() // here, and not in the control loop
	return g, nil
}

// transform waits for a transform that is fresh and, where after is set, stamped after it.
func (w *worldView) transform(ctx context.Context, target, source string, maxAge time.Duration, after time.Time) (map[string]any, error) {
	clock := w.node.Clock()
	var floor int64
	if !after.IsZero() {
		// The stamp from which on the world had been at rest: that much ROS time ago.
		floor = int64(clock.Now()) - int64(time.Since(after))
		if clock.Simulated() {
			floor = int64(clock.Now())
		}
	}
	for {
		w.mu.Lock()
		changed := w.changed
		w.mu.Unlock()
		now := int64(clock.Now())
		r, err := w.buffer.Latest(target, source, now, maxAge)
		if err == nil && (r.Static || floor == 0 || r.Stamp > floor) {
			return transformMap(r), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if err == nil {
				err = fmt.Errorf("%s -> %s: no transform stamped after rest", target, source)
			}
			return nil, fmt.Errorf("%w: %w", errStaleTransform, err)
		}
	}
}

// at is where source is in target at a stamp; the newest transform serves where the stamp is a little ahead of it.
func (w *worldView) at(target, source string, stamp ros.Time) (spatial.Transform, error) {
	r, err := w.lookup(target, source, stamp)
	return r.Transform, err
}

// lookup is at, with the time that the transform holds for.
func (w *worldView) lookup(target, source string, stamp ros.Time) (tf.Result, error) {
	r, err := w.buffer.Lookup(tf.Query{Target: target, Source: source, At: int64(stamp), MaxAge: w.maxAge, Tolerance: w.maxAge})
	if err != nil {
		return tf.Result{}, fmt.Errorf("%w: %w", errStaleTransform, err)
	}
	return r, nil
}

func transformMap(r tf.Result) map[string]any {
	p := r.Transform.Pose()
	return map[string]any{
		"x": p.Position.X, "y": p.Position.Y, "z": p.Position.Z, "yaw": spatial.Yaw(p.Orientation),
		"qx": p.Orientation.Imag, "qy": p.Orientation.Jmag, "qz": p.Orientation.Kmag, "qw": p.Orientation.Real,
	}
}

// pose is the robot's pose in the map frame, now.
func (w *worldView) pose() (Place, bool) {
	if w.profile.Frames.Map == w.profile.Frames.Base {
		return Place{}, true // an arm on its stand is where it is, and nobody may tell of its base's frame
	}
	r, err := w.buffer.Latest(w.profile.Frames.Map, w.profile.Frames.Base, int64(w.node.Clock().Now()), w.maxAge)
	if err != nil {
		return Place{}, false
	}
	p := r.Transform.Planar()
	return Place{X: p.X, Y: p.Y, Yaw: p.Yaw}, true
}

// snapshotOf is the world as it is known now, for whatever moves.
func (w *worldView) snapshotOf() *validate.World {
	w.mu.Lock()
	g := w.grid
	w.mu.Unlock()
	return &validate.World{
		Now: int64(w.node.Clock().Now()), MaxAge: w.maxAge, Frame: w.profile.Frames.Map, Base: w.profile.Frames.Base, TF: w.buffer,
		Workspace: w.keepIn, Zones: w.zones, Map: g, NeedMap: w.profile.World.Map.Topic != "",
		Footprint: w.print, MapMargin: w.profile.World.Footprint.Margin, Height: w.profile.World.Footprint.Height,
	}
}

// snapshot is the world as it is known now, for one base.
func (w *worldView) snapshot(a *baseActuator) *validate.World {
	world := w.snapshotOf()
	world.Limits = a.limits
	if s, ok := w.state(a, world.Now, w.maxAge); ok {
		world.State = s
	} else if s, ok := w.state(a, world.Now, anyAge); ok && world.Now-s.Stamp > int64(w.maxAge) {
		world.State = s // its age is for the check to name
	}
	return world
}

// anyAge: however old the measurement is.
const anyAge = time.Duration(math.MaxInt64)

// state is the measured state: the pose from the transforms, the twist from the actuator's feedback.
func (w *worldView) state(a *baseActuator, now int64, maxAge time.Duration) (validate.State, bool) {
	r, err := w.buffer.Latest(w.profile.Frames.Map, w.profile.Frames.Base, now, maxAge)
	if err != nil {
		return validate.State{}, false
	}
	s := validate.State{Pose: r.Transform.Pose(), Frame: w.profile.Frames.Map, Stamp: r.Stamp}
	if latest, ok := a.latest(); ok && len(latest.Velocity) >= 3 {
		s.Twist = spatial.Twist{Linear: r3.Vec{X: latest.Velocity[0], Y: latest.Velocity[1]}, Angular: r3.Vec{Z: latest.Velocity[2]}}
	}
	return s, true
}

// streamPeriod is how long one velocity of a stream holds until the next is judged: the guard's control period.
const streamPeriod = 50 * time.Millisecond

// checkTwist judges one velocity of a stream: limits, and the way that it and the braking behind it take.
func (w *worldView) checkTwist(a *baseActuator, velocity spatial.Twist) error {
	var room [4]geometry.Finding
	t := validate.Twist{Twist: velocity, Duration: streamPeriod}
	if found := validate.CheckTwist(t, w.snapshot(a), room[:0]); len(found) > 0 {
		return &geometry.Refusal{Findings: append([]geometry.Finding(nil), found...)}
	}
	return nil
}

// inFlight judges every sample of a motion: the measured pose plus the stopping distance against zones, workspace and limits.
func (w *worldView) inFlight(a *baseActuator) func(guard.Sample) error {
	return func(guard.Sample) error {
		now := int64(w.node.Clock().Now())
		s, ok := w.state(a, now, 2*w.maxAge)
		if fresh := ok && now-s.Stamp <= int64(w.maxAge); ok && !fresh {
			return nil // a gap in localisation; when it lasts, zones cannot be judged, and that is a finding
		}
		world := w.snapshot(a)
		world.State = s
		if found := validate.InFlight(s, world); len(found) > 0 {
			return &geometry.Refusal{Findings: found}
		}
		return nil
	}
}

// zoneBodies are the zones' shapes in the base's frame, for arms; toBase places the map's.
func (w *worldView) zoneBodies(toBase spatial.Transform) ([]collision.Body, error) {
	var out []collision.Body
	for _, list := range [][]*zone.Zone{w.keepIn, w.zones} {
		for _, z := range list {
			bodies, err := validate.ZoneBodies(z)
			if err != nil {
				return nil, fmt.Errorf("zone %q: %w", z.Name(), err)
			}
			at := toBase
			if z.Frame() != w.profile.Frames.Map && len(bodies) > 0 {
				r, err := w.buffer.Latest(w.profile.Frames.Base, z.Frame(), int64(w.node.Clock().Now()), w.maxAge)
				if err != nil {
					return nil, fmt.Errorf("zone %q: %w: %w", z.Name(), errStaleTransform, err)
				}
				at = r.Transform
			}
			for _, b := range bodies {
				b.Pose = at.Compose(b.Pose)
				out = append(out, b)
			}
		}
	}
	return out, nil
}

// baseLimits are the profile's limits for the geometry layer.
func baseLimits(l Limits) (*limits.Base, error) {
	b := &limits.Base{
		Forward: l.Linear, Backward: l.Linear, Lateral: l.Lateral, Angular: l.Angular,
		Decel: l.Deceleration, AngularDecel: l.AngularAcceleration,
		MaxDistance: l.Range, MaxAngle: l.RangeAngle,
	}
	if l.Backward > 0 {
		b.Backward = l.Backward
	}
	return b, b.Check()
}

func (w *worldView) close() error {
	var all []error
	for _, s := range w.subs {
		all = append(all, s.Close())
	}
	if w.mapSub != nil {
		all = append(all, w.mapSub.Close())
	}
	if w.unjump != nil {
		w.unjump()
	}
	return errors.Join(all...)
}

func distance(a, b Place) float64 { return math.Hypot(a.X-b.X, a.Y-b.Y) }

// placeOf reads {'x': …, 'y': …, 'yaw': …}.
func placeOf(v any) (Place, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return Place{}, fmt.Errorf("a pose is %v, wanted {x, y, yaw}", v)
	}
	var p Place
	for name, into := range map[string]*float64{"x": &p.X, "y": &p.Y, "yaw": &p.Yaw} {
		f, ok := m[name].(float64)
		if !ok {
			return Place{}, fmt.Errorf("pose: %s is %v, wanted a number", name, m[name])
		}
		*into = f
	}
	return p, nil
}
