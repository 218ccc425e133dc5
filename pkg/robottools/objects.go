package robottools

import (
	"fmt"
	"math"
	"sync"
	"time"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/ros"
)

// objectMemory remembers where objects were last seen, in the map frame. What was never seen is on record only.
type objectMemory struct {
	profile *Profile
	world   *worldView
	source  *latest

	mu      sync.Mutex
	seen    map[string]sighting
	refused map[string]string // by object: why its newest detection could not be used
	frames  uint64            // detection messages so far
}

// sighting is one object where it was seen.
type sighting struct {
	pose    spatial.Pose // in the map frame
	size    [3]float64   // m
	stamp   ros.Time
	arrived time.Time
}

// newObjects listens to the profile's detections; nil where it has none.
func newObjects(w *worldView, p *Profile) (*objectMemory, error) {
	o := &objectMemory{profile: p, world: w, seen: map[string]sighting{}, refused: map[string]string{}}
	d := p.World.Detections
	if d.Topic == "" {
		return o, nil
	}
	l, err := listen(w.node, d.Topic, d.Type, o.take)
	if err != nil {
		return nil, p.source.errorf("world/detections", "%v", err)
	}
	o.source = l
	return o, nil
}

// take remembers every known object of one detection message, each at its newest sight.
func (o *objectMemory) take(r reading) {
	frame := r.msg.Str("header.frame_id")
	for _, d := range r.msg.Msgs("detections") {
		name, score := "", math.Inf(-1)
		for _, h := range d.Msgs("results") {
			if s := h.Float("hypothesis.score"); s > score {
				name, score = h.Str("hypothesis.class_id"), s
			}
		}
		if _, known := o.profile.Objects[name]; !known {
			continue
		}
		s, err := o.locate(frame, r, d)
		o.mu.Lock()
		if err != nil {
			o.refused[name] = err.Error()
		} else {
			delete(o.refused, name)
			o.seen[name] = s
		}
		o.mu.Unlock()
	}
	o.mu.Lock()
	o.frames++
	o.mu.Unlock()
}

// locate puts a detection into the map frame; a pose that is none is refused by name.
func (o *objectMemory) locate(frame string, r reading, d *ros.Message) (sighting, error) {
	p := poseOf(d.Msg("bbox.center"))
	q, _, err := spatial.CheckQuaternion(p.Orientation)
	if err != nil {
		return sighting{}, fmt.Errorf("detection in %s: rule unit quaternion: %w", frame, err)
	}
	p.Orientation = q
	if !p.Finite() {
		return sighting{}, fmt.Errorf("detection in %s: rule finite: position %v", frame, p.Position)
	}
	t, err := o.world.at(o.profile.Frames.Map, frame, r.stamp)
	if err != nil {
		return sighting{}, err
	}
	size := d.Msg("bbox.size")
	return sighting{
		pose: t.ApplyPose(p), size: [3]float64{size.Float("x"), size.Float("y"), size.Float("z")},
		stamp: r.stamp, arrived: r.arrived,
	}, nil
}

// scope is what expressions see as objects: name -> {seen, place, x, y, z, yaw, age_s, refused}.
func (o *objectMemory) scope(now ros.Time) map[string]any {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make(map[string]any, len(o.profile.Objects))
	for name, record := range o.profile.Objects {
		e := map[string]any{"seen": false, "place": record.Place}
		if why, bad := o.refused[name]; bad {
			e["refused"] = why
		}
		if s, ok := o.seen[name]; ok {
			e["seen"] = true
			e["x"], e["y"], e["z"] = round(s.pose.Position.X, 4), round(s.pose.Position.Y, 4), round(s.pose.Position.Z, 4)
			e["yaw"] = round(spatial.Yaw(s.pose.Orientation), 4)
			e["age_s"] = round(now.Sub(s.stamp).Seconds(), 2)
			e["width_m"], e["height_m"] = round(s.size[0], 4), round(s.size[2], 4)
			e["place"] = o.profile.placeAt(s.pose.Position.X, s.pose.Position.Y)
		}
		out[name] = e
	}
	return out
}

// placeAt is the place whose surface holds a point of the map, "" where none does.
func (p *Profile) placeAt(x, y float64) string {
	best, distance := "", math.Inf(1)
	for name, pl := range p.Places {
		s := pl.Surface
		if s == nil {
			continue
		}
		dx := math.Max(math.Max(s.Min[0]-x, x-s.Max[0]), 0)
		dy := math.Max(math.Max(s.Min[1]-y, y-s.Max[1]), 0)
		if d := math.Hypot(dx, dy); d <= surfaceMargin && d < distance {
			best, distance = name, d
		}
	}
	return best
}

// surfaceMargin is how far over a surface's edge an object's middle may be seen and still count as on it, m.
const surfaceMargin = 0.03

func (o *objectMemory) close() error {
	if o == nil || o.source == nil {
		return nil
	}
	return o.source.Close()
}
