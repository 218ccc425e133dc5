package robottools

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/num/quat"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/guard"
	"agent_node/pkg/ros"
)

// sampler reads one message as a sample; not ok: it is none of this actuator's.
type sampler func(m *ros.Message, arrived time.Time) (s guard.Sample, ok bool)

// feed listens to a source of measurements and hands its samples on.
func (r *Robot) feed(axes []guard.Axis, f Feedback, into func(guard.Sample)) error {
	if f.Transform != nil {
		return r.feedTransform(axes, *f.Transform, into)
	}
	read, err := r.samplerOf(axes, f)
	if err != nil {
		return err
	}
	// Measurements are heard from publishers of any quality of service; a latched copy would be old news.
	sub, err := r.node.CreateSubscription(f.Topic, f.Type, ros.QoS{Depth: 20, Reliability: ros.BestEffort}, func(got ros.Received) {
		if s, ok := read(got.Message, got.Arrived); ok {
			into(s)
		}
	})
	if err != nil {
		return err
	}
	r.own(sub)
	r.attention.calmly(sub)
	return nil
}

func (r *Robot) samplerOf(axes []guard.Axis, f Feedback) (sampler, error) {
	switch {
	case len(f.Position) > 0:
		return r.expressionSampler(axes, f)
	case f.Type == "nav_msgs/msg/Odometry":
		return odometrySampler(axes)
	case f.Type == "sensor_msgs/msg/JointState":
		return jointSampler(axes), nil
	}
	return nil, fmt.Errorf("nothing says how positions are read from %s: give position", f.Type)
}

// odometrySampler reads x, y and yaw in the odometry's frame, and the twist in the base's.
func odometrySampler(axes []guard.Axis) (sampler, error) {
	if len(axes) != 3 || axes[0].Name != "x" || axes[1].Name != "y" || axes[2].Name != "yaw" {
		return nil, errors.New("odometry measures x, y and yaw: give position for other axes")
	}
	return func(m *ros.Message, arrived time.Time) (guard.Sample, bool) {
		twist := m.Msg("twist.twist")
		return guard.Sample{
			Stamp: m.Stamp("header.stamp").Std(), Arrived: arrived,
			Position: []float64{
				m.Float("pose.pose.position.x"), m.Float("pose.pose.position.y"), spatial.Yaw(quaternion(m.Msg("pose.pose.orientation"))),
			},
			Velocity: []float64{twist.Float("linear.x"), twist.Float("linear.y"), twist.Float("angular.z")},
		}, true
	}, nil
}

// jointSampler reads joints by name; a message that lacks one of them is none of this actuator's.
func jointSampler(axes []guard.Axis) sampler {
	return func(m *ros.Message, arrived time.Time) (guard.Sample, bool) {
		names := m.Strs("name")
		positions, velocities := m.Floats("position"), m.Floats("velocity")
		s := guard.Sample{Stamp: m.Stamp("header.stamp").Std(), Arrived: arrived, Position: make([]float64, len(axes))}
		if len(velocities) == len(names) {
			s.Velocity = make([]float64, len(axes))
		}
		for i, x := range axes {
			k := slices.Index(names, x.Name)
			if k < 0 || k >= len(positions) {
				return s, false
			}
			s.Position[i] = positions[k]
			if s.Velocity != nil {
				s.Velocity[i] = velocities[k]
			}
		}
		return s, true
	}
}

// expressionSampler reads any message by CEL. What cannot be read is NaN: a measurement that is none, and never rest.
func (r *Robot) expressionSampler(axes []guard.Axis, f Feedback) (sampler, error) {
	env, err := newEnv()
	if err != nil {
		return nil, err
	}
	compileAll := func(what string, texts []string) ([]*expression, error) {
		if len(texts) > 0 && len(texts) != len(axes) {
			return nil, fmt.Errorf("%s has %d expressions, the actuator has %d axes", what, len(texts), len(axes))
		}
		out := make([]*expression, len(texts))
		for i, t := range texts {
			if out[i], err = compile(env, t); err != nil {
				return nil, fmt.Errorf("%s/%d: %w", what, i, err)
			}
		}
		return out, nil
	}
	position, err := compileAll("position", f.Position)
	if err != nil {
		return nil, err
	}
	velocity, err := compileAll("velocity", f.Velocity)
	if err != nil {
		return nil, err
	}
	stamp, err := compile(env, f.Stamp)
	if err != nil {
		return nil, fmt.Errorf("stamp: %w", err)
	}
	t, err := r.node.Types().Message(f.Type)
	if err != nil {
		return nil, err
	}
	stamped, warn := hasStamp(t), &seldom{every: refusalEvery}
	return func(m *ros.Message, arrived time.Time) (guard.Sample, bool) {
		sc := scope{"msg": m.Map()}
		s := guard.Sample{Arrived: arrived}
		var bad error
		read := func(list []*expression) []float64 {
			if len(list) == 0 {
				return nil
			}
			out := make([]float64, len(list))
			for i, e := range list {
				v, err := e.number(sc)
				if err != nil {
					v, bad = math.NaN(), err
				}
				out[i] = v
			}
			return out
		}
		s.Position, s.Velocity = read(position), read(velocity)
		switch {
		case stamp != nil:
			at, err := stampFrom(stamp, sc)
			if err != nil {
				bad = err
			}
			s.Stamp = at
		case stamped:
			s.Stamp = m.Stamp("header.stamp").Std()
		default:
			s.Stamp = r.node.Clock().Now().Std()
		}
		if bad != nil && warn.now() {
			r.node.Logger().Warn("measurement", "topic", f.Topic, "error", bad)
		}
		return s, true
	}, nil
}

// stampFrom evaluates to {sec, nanosec}. An error leaves the zero time, which no guard takes for a measurement's.
func stampFrom(e *expression, s scope) (time.Time, error) {
	v, err := e.eval(s)
	if err != nil {
		return time.Time{}, err
	}
	m, _ := v.(map[string]any)
	sec, ok1 := whole(m["sec"])
	nsec, ok2 := whole(m["nanosec"])
	if !ok1 || !ok2 {
		return time.Time{}, fmt.Errorf("%s: is %v, wanted {sec, nanosec}", e.text, v)
	}
	return time.Unix(sec, nsec), nil
}

func whole(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case uint64:
		return int64(n), n <= math.MaxInt64
	case float64:
		return int64(n), n == math.Trunc(n)
	}
	return 0, false
}

// seldom says when something that happens at the rate of a source is to be told.
type seldom struct {
	every time.Duration
	mu    sync.Mutex
	told  time.Time
}

func (s *seldom) now() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.told.IsZero() && time.Since(s.told) < s.every {
		return false
	}
	s.told = time.Now()
	return true
}

// component picks an axis out of a transform.
var component = map[string]func(spatial.Transform) float64{
	"x":     func(t spatial.Transform) float64 { return t.Translation.X },
	"y":     func(t spatial.Transform) float64 { return t.Translation.Y },
	"z":     func(t spatial.Transform) float64 { return t.Translation.Z },
	"roll":  func(t spatial.Transform) float64 { roll, _ := rollPitch(t.Rotation); return roll },
	"pitch": func(t spatial.Transform) float64 { _, pitch := rollPitch(t.Rotation); return pitch },
	"yaw":   func(t spatial.Transform) float64 { return spatial.Yaw(t.Rotation) },
}

// rollPitch are a unit quaternion's fixed-axis angles, rad.
func rollPitch(q quat.Number) (roll, pitch float64) {
	roll = math.Atan2(2*(q.Real*q.Imag+q.Jmag*q.Kmag), 1-2*(q.Imag*q.Imag+q.Jmag*q.Jmag))
	pitch = math.Asin(max(-1, min(1, 2*(q.Real*q.Jmag-q.Kmag*q.Imag))))
	return roll, pitch
}

// feedTransform hands on where a frame is in another, whenever it is told anew. The stamp is the transform's: one that stands
// is no measurement.
func (r *Robot) feedTransform(axes []guard.Axis, f TransformSource, into func(guard.Sample)) error {
	pick := make([]func(spatial.Transform) float64, len(axes))
	for i, x := range axes {
		var ok bool
		if pick[i], ok = component[x.Name]; !ok {
			return fmt.Errorf("a transform has no axis %q: x, y, z, roll, pitch or yaw", x.Name)
		}
	}
	w, err := r.transforms()
	if err != nil {
		return err
	}
	var one sync.Mutex // static and dynamic transforms come side by side
	last := int64(0)
	w.onTransforms(func(arrived time.Time) {
		one.Lock()
		defer one.Unlock()
		now := int64(r.node.Clock().Now())
		got, err := w.buffer.Latest(f.Target, f.Source, now, anyAge)
		if err != nil || got.Static || got.Stamp == last {
			return
		}
		last = got.Stamp
		s := guard.Sample{Stamp: ros.Time(got.Stamp).Std(), Arrived: arrived, Position: make([]float64, len(axes))}
		for i, p := range pick {
			s.Position[i] = p(got.Transform)
		}
		into(s)
	})
	return nil
}

// transforms is what the robot hears on /tf. A robot of actuators alone has them only where one is measured by them.
func (r *Robot) transforms() (*worldView, error) {
	if r.world != nil {
		return r.world, nil
	}
	bare := *r.profile
	bare.World = World{}
	w, err := newWorld(r.node, &bare)
	r.world = w
	return w, err
}
