package suite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/urdf"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
)

// Facts are what expressions know of the robot: a map of plain values by name.
type Facts map[string]any

// known are the names that a case may need.
func known(name string) bool {
	return slices.Contains([]string{"base", "arm", "gripper", "map", "wall", "zone", "places", "objects", "counters", "policy", "simulator"}, name)
}

// has reports whether a need is met.
func (b *Bench) has(need string) bool {
	if name, ok := strings.CutPrefix(need, "tool "); ok {
		_, there := b.Profile.Tools[name]
		return there
	}
	_, there := b.facts[need]
	return there
}

// lacking are the needs of a case that the robot does not meet.
func (b *Bench) lacking(c *Case) []string {
	var out []string
	for _, n := range c.Needs {
		if !b.has(n) {
			out = append(out, n)
		}
	}
	return out
}

// learn reads what stays: limits, places, zones, the map.
func (b *Bench) learn(ctx context.Context) error {
	p := b.Profile
	b.facts = Facts{"simulator": true}
	for name, a := range p.Actuators {
		switch a.Kind {
		case "base":
			b.facts["base"] = map[string]any{"name": name, "v": a.Limit.Linear, "w": a.Limit.Angular, "range": a.Limit.Range, "range_angle": a.Limit.RangeAngle, "r": b.radius()}
		case "gripper":
			b.facts["gripper"] = map[string]any{"name": name, "open": a.Limit.Open, "closed": a.Limit.Closed, "effort": a.Limit.MaxEffort}
		}
	}
	var places []any
	for _, name := range sortedKeys(p.Places) {
		pl := p.Places[name]
		places = append(places, map[string]any{"name": name, "x": pl.X, "y": pl.Y, "yaw": pl.Yaw, "qz": math.Sin(pl.Yaw / 2), "qw": math.Cos(pl.Yaw / 2)})
	}
	if len(places) > 0 {
		b.facts["places"] = places
	}
	if len(p.Objects) > 0 {
		var objects []any
		for _, name := range sortedKeys(p.Objects) {
			objects = append(objects, map[string]any{"name": name, "place": p.Objects[name].Place})
		}
		b.facts["objects"] = objects
	}
	b.facts["frames"] = map[string]any{"map": p.Frames.Map, "odom": p.Frames.Odom, "base": p.Frames.Base}
	b.zone()
	if p.World.Map.Topic != "" {
		m, err := b.latest(ctx, p.World.Map.Topic, "nav_msgs/msg/OccupancyGrid")
		if err != nil {
			return err
		}
		b.plan = newFloor(m, p.World.Map.Occupied)
		b.facts["map"] = map[string]any{"xmin": b.plan.xmin, "xmax": b.plan.xmax, "ymin": b.plan.ymin, "ymax": b.plan.ymax}
		if w, ok := b.plan.thinWall(b.radius() + 0.4); ok {
			b.facts["wall"] = w
		}
	}
	for name, a := range p.Actuators {
		if a.Kind == "arm" && p.World.Description != "" {
			if err := b.learnArm(ctx, name, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// learnArm reads limits off the description.
func (b *Bench) learnArm(ctx context.Context, name string, a robottools.Actuator) error {
	m, err := b.latest(ctx, b.Profile.World.Description, "std_msgs/msg/String")
	if err != nil {
		return err
	}
	model, err := urdf.Parse([]byte(m.Str("data")))
	if err != nil {
		return err
	}
	b.chain, err = kinematics.NewChain(model, b.Profile.Frames.Base, a.Tip)
	if err != nil {
		return err
	}
	b.model, b.arm = model, a
	lo, hi, v := []any{}, []any{}, []any{}
	for _, j := range b.chain.Joints() {
		l, u := j.Lower, j.Upper
		if j.Continuous {
			l, u = -math.Pi, math.Pi
		}
		lo, hi, v = append(lo, l), append(hi, u), append(v, velocity(j, a))
	}
	b.facts["arm"] = map[string]any{"name": name, "joints": anys(a.Joints), "lo": lo, "hi": hi, "v": v, "a": a.Limit.Acceleration, "reach": b.chain.Reach(), "tip": a.Tip}
	return nil
}

func velocity(j limits.Joint, a robottools.Actuator) float64 {
	if a.Limit.Velocity > 0 && (j.Velocity == 0 || a.Limit.Velocity < j.Velocity) {
		return a.Limit.Velocity
	}
	return j.Velocity
}

// now adds what changes: the time, the joints, the pose.
func (b *Bench) now(ctx context.Context) (Facts, error) {
	out := Facts{}
	for k, v := range b.facts {
		out[k] = v
	}
	stamp := int64(b.Node.Clock().Now())
	out["now"] = map[string]any{"sec": stamp / 1e9, "nanosec": stamp % 1e9}
	arm, ok := b.facts["arm"].(map[string]any)
	if !ok {
		return out, nil
	}
	q, err := b.joints(ctx)
	if err != nil {
		return nil, err
	}
	with := map[string]any{}
	for k, v := range arm {
		with[k] = v
	}
	var list, toward []any
	for i, x := range q {
		sign := -1.0
		if lo, hi := arm["lo"].([]any)[i].(float64), arm["hi"].([]any)[i].(float64); x < (lo+hi)/2 {
			sign = 1
		}
		list, toward = append(list, x), append(toward, sign)
	}
	with["q"], with["toward"] = list, toward
	out["arm"] = with
	return out, nil
}

// joints are the arm's measured positions.
func (b *Bench) joints(ctx context.Context) ([]float64, error) {
	for {
		m, err := b.fresh(ctx, b.arm.Feedback.Topic, jointStates)
		if err != nil {
			return nil, err
		}
		names, q := m.Strs("name"), m.Floats("position")
		out := make([]float64, 0, len(b.arm.Joints))
		for _, j := range b.arm.Joints {
			if k := slices.Index(names, j); k >= 0 && k < len(q) {
				out = append(out, q[k])
			}
		}
		if len(out) == len(b.arm.Joints) {
			return out, nil
		}
	}
}

// radius of the base's footprint about its origin.
func (b *Bench) radius() float64 {
	f := b.Profile.World.Footprint
	r := f.Radius
	for _, c := range f.Polygon {
		r = math.Max(r, math.Hypot(c[0], c[1]))
	}
	return r
}

// zone finds a side of a keep-out zone in the map's frame: a point on it, and the way out.
func (b *Bench) zone() {
	for _, z := range b.Profile.World.KeepOut {
		if z.Frame != "" && z.Frame != b.Profile.Frames.Map || z.Heights != nil {
			continue
		}
		if c := z.Circle; c != nil {
			b.facts["zone"] = map[string]any{"name": z.Name, "x": c.Center[0] + c.Radius, "y": c.Center[1], "nx": 1.0, "ny": 0.0, "cx": c.Center[0], "cy": c.Center[1]}
			return
		}
		corners := z.Polygon
		if x := z.Box; x != nil {
			s, c := math.Sincos(x.Yaw)
			for _, k := range [][2]float64{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}} {
				u, v := k[0]*x.Size[0]/2, k[1]*x.Size[1]/2
				corners = append(corners, [2]float64{x.Center[0] + c*u - s*v, x.Center[1] + s*u + c*v})
			}
		}
		if len(corners) < 3 {
			continue
		}
		area, best, at := 0.0, 0.0, 0
		var cx, cy float64
		for i, q := range corners {
			p := corners[(i+len(corners)-1)%len(corners)]
			area += p[0]*q[1] - p[1]*q[0]
			cx, cy = cx+q[0]/float64(len(corners)), cy+q[1]/float64(len(corners))
			if d := math.Hypot(q[0]-p[0], q[1]-p[1]); d > best {
				best, at = d, i
			}
		}
		p, q := corners[(at+len(corners)-1)%len(corners)], corners[at]
		nx, ny := (q[1]-p[1])/best, -(q[0]-p[0])/best
		if area < 0 {
			nx, ny = -nx, -ny
		}
		b.facts["zone"] = map[string]any{"name": z.Name, "x": (p[0] + q[0]) / 2, "y": (p[1] + q[1]) / 2, "nx": nx, "ny": ny, "cx": cx, "cy": cy}
		return
	}
}

// waitMessage bounds the wait for a topic.
const waitMessage = 10 * time.Second

// latest waits for a message that may be latched; fresh for one that is sent from now on.
func (b *Bench) latest(ctx context.Context, topic, kind string) (*ros.Message, error) {
	return b.hear(ctx, topic, kind, ros.QoS{Depth: 1, Durability: ros.TransientLocal})
}

func (b *Bench) fresh(ctx context.Context, topic, kind string) (*ros.Message, error) {
	return b.hear(ctx, topic, kind, ros.QoS{Depth: 1, Reliability: ros.BestEffort})
}

func (b *Bench) hear(ctx context.Context, topic, kind string, q ros.QoS) (m *ros.Message, err error) {
	got := make(chan *ros.Message, 1)
	sub, err := b.Node.CreateSubscription(topic, kind, q, func(r ros.Received) {
		select {
		case got <- r.Message:
		default:
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", topic, err)
	}
	defer sub.Close()
	limit := time.NewTimer(waitMessage)
	defer limit.Stop()
	select {
	case m := <-got:
		return m, nil
	case <-limit.C:
		return nil, fmt.Errorf("%s: no message within %v", topic, waitMessage)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}
