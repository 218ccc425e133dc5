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
	grip    grip
	tip     string // the arm's last link
}

// sighting is one object where it was seen.
type sighting struct {
	pose    spatial.Pose // in the map frame
	size    [3]float64   // m
	stamp   ros.Time
	arrived time.Time
	// ahead is the detection itself, as long as the transform of its stamp has not arrived: until then the newest before it serves.
	ahead *detection
}

// detection is where a detector saw something.
type detection struct {
	frame string
	pose  spatial.Pose
}

// newObjects listens to the profile's detections; nil where it has none.
func newObjects(w *worldView, p *Profile) (*objectMemory, error) {
	tip := ""
	for _, a := range p.Actuators {
		if a.Kind == "arm" {
			tip = a.Tip
		}
	}
	o := &objectMemory{profile: p, world: w, tip: tip, seen: map[string]sighting{}, refused: map[string]string{}}
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
			if name == o.grip.object && !o.atTip(s) {
				o.grip = grip{} // seen elsewhere: it is held no longer
			}
		}
		o.mu.Unlock()
	}
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
	size := d.Msg("bbox.size")
	s := sighting{
		size:  [3]float64{size.Float("x"), size.Float("y"), size.Float("z")},
		stamp: r.stamp, arrived: r.arrived, ahead: &detection{frame, p},
	}
	return s, o.place(&s)
}

// place puts a sighting where its detection is in the map frame.
func (o *objectMemory) place(s *sighting) error {
	t, err := o.world.lookup(o.profile.Frames.Map, s.ahead.frame, s.stamp)
	if err != nil {
		return err
	}
	s.pose = t.Transform.ApplyPose(s.ahead.pose)
	if t.Stamp == int64(s.stamp) {
		s.ahead = nil
	}
	return nil
}

// look again at sightings whose transforms had not arrived with them: topics come in no order. It is called with o.mu held.
func (o *objectMemory) look() {
	for name, s := range o.seen {
		if s.ahead != nil && o.place(&s) == nil {
			o.seen[name] = s
		}
	}
}

// flicker is how much older than the newest picture a sighting may be and still count as in view: detectors miss one now and then.
const flicker = 250 * time.Millisecond

// scope is what expressions see as objects: name -> {seen, in_view, place, held, x, y, z, yaw, age_s, width_m, height_m, refused}.
func (o *objectMemory) scope(now ros.Time) map[string]any {
	var picture ros.Time
	if o.source != nil {
		newest, _ := o.source.get()
		picture = newest.stamp
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.look()
	out := make(map[string]any, len(o.profile.Objects))
	for name, record := range o.profile.Objects {
		e := map[string]any{"seen": false, "in_view": false, "place": record.Place, "held": name == o.grip.object}
		if why, bad := o.refused[name]; bad {
			e["refused"] = why
		}
		if s, ok := o.seen[name]; ok {
			e["seen"] = true
			e["in_view"] = picture.Sub(s.stamp) <= flicker
			e["x"], e["y"], e["z"] = round(s.pose.Position.X, 4), round(s.pose.Position.Y, 4), round(s.pose.Position.Z, 4)
			e["yaw"] = round(spatial.Yaw(s.pose.Orientation), 4)
			e["age_s"] = round(now.Sub(s.stamp).Seconds(), 2)
			e["width_m"], e["height_m"] = round(s.size[0], 4), round(s.size[2], 4)
			e["place"] = ""
			if name != o.grip.object {
				e["place"] = o.profile.placeAt(s.pose.Position.X, s.pose.Position.Y, s.pose.Position.Z)
			}
		}
		out[name] = e
	}
	return out
}

// grip is what the gripper says and what was between its fingers when it closed.
type grip struct {
	object string  // held; "" for none
	width  float64 // of the fingers when it was grasped, m
	size   float64 // of the object, m
}

// Figures of holding, m: fingers closer than empty hold nothing; an object is between them when it was seen within reach of the
// tip; fingers that have moved by more than slip since they closed hold it no longer.
const (
	gripEmpty = 0.01
	gripReach = 0.05
	gripSlip  = 0.012
)

// heldNow decides from measurements what the gripper holds: fingers at rest on something, and an object that was last seen
// between them. It stays held until the fingers move, since nobody sees into a closed hand.
func (r *Robot) heldNow() grip {
	a := r.gripperOf()
	if a == nil {
		return grip{}
	}
	s, ok := a.latest()
	if !ok || len(s.Position) == 0 {
		return grip{}
	}
	width := s.Position[0]
	rest, _, _ := a.guard.AtRest()
	tip, tipErr := r.world.at(r.profile.Frames.Map, r.profile.linkFrame(r.tip()), r.node.Clock().Now())
	o := r.objects
	o.mu.Lock()
	defer o.mu.Unlock()
	o.look()
	switch {
	case o.grip.object != "" && (width < gripEmpty || math.Abs(width-o.grip.width) > gripSlip):
		o.grip = grip{}
	case o.grip.object == "" && rest && width >= gripEmpty && width < a.def.Limit.Open-gripEmpty && tipErr == nil:
		best := gripReach
		for name, seen := range o.seen {
			p, t := seen.pose.Position, tip.Translation
			if d := math.Hypot(math.Hypot(p.X-t.X, p.Y-t.Y), p.Z-t.Z); d < best {
				best, o.grip = d, grip{object: name, width: width, size: math.Max(seen.size[0], math.Max(seen.size[1], seen.size[2]))}
			}
		}
	}
	if o.grip.object != "" && tipErr == nil {
		// What is held is where the tip is, whether the camera sees it or not.
		held := o.seen[o.grip.object]
		held.pose, held.ahead = tip.Pose(), nil
		held.stamp = r.node.Clock().Now()
		o.seen[o.grip.object] = held
	}
	return o.grip
}

// lost is how far from the tip a held object must be seen to be held no longer, m.
const lost = 0.12

// atTip reports whether a sighting is where the tip is. It is called with o.mu held.
func (o *objectMemory) atTip(s sighting) bool {
	tip, err := o.world.at(o.profile.Frames.Map, o.profile.linkFrame(o.tip), s.stamp)
	if err != nil {
		return true // nothing speaks against it
	}
	p, t := s.pose.Position, tip.Translation
	return math.Hypot(math.Hypot(p.X-t.X, p.Y-t.Y), p.Z-t.Z) <= lost
}

// gripperOf is the robot's gripper, nil without one.
func (r *Robot) gripperOf() *jointActuator {
	for _, a := range r.joints {
		if a.def.Kind == "gripper" {
			return a
		}
	}
	return nil
}

// tip is the last link of the robot's arm.
func (r *Robot) tip() string {
	for _, a := range r.joints {
		if a.def.Kind == "arm" {
			return a.def.Tip
		}
	}
	return ""
}

// heldIn is what the gripper holds, measured or predicted, and its size in m.
func (r *Robot) heldIn(v view) (object string, size float64, ok bool) {
	g := r.heldNow()
	if v.at != nil && v.at.grips {
		return v.at.held, predictedSize, v.at.held != ""
	}
	return g.object, g.size, g.object != ""
}

// predictedSize is taken for an object that a plan would hold, m.
const predictedSize = 0.05

// placeAt is the place on whose surface an object's middle is, "" where it is on none.
func (p *Profile) placeAt(x, y, z float64) string {
	return p.placeBelow(x, y, z, surfaceHeight)
}

// placeBelow is the place whose surface is below a point of the map, at most so far.
func (p *Profile) placeBelow(x, y, z, far float64) string {
	best, distance := "", math.Inf(1)
	for name, pl := range p.Places {
		s := pl.Surface
		if s == nil || z < s.Z-surfaceMargin || z > s.Z+far {
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

// recorded is where an object that was never seen is taken to lie: those on record at one place side by side along its surface.
func (p *Profile) recorded(name string) (spot, bool) {
	place := p.Objects[name].Place
	s := p.Places[place].Surface
	if s == nil {
		return spot{}, false
	}
	before, all := 0.0, 0.0
	for other, o := range p.Objects {
		if o.Place == place {
			all++
			if other < name {
				before++
			}
		}
	}
	at := spot{(s.Min[0] + s.Max[0]) / 2, (s.Min[1] + s.Max[1]) / 2, s.Z + predictedSize/2, place}
	share := (before + 1) / (all + 1)
	if s.Max[0]-s.Min[0] > s.Max[1]-s.Min[1] {
		at.x = s.Min[0] + share*(s.Max[0]-s.Min[0])
	} else {
		at.y = s.Min[1] + share*(s.Max[1]-s.Min[1])
	}
	return at, true
}

// Figures of lying at a place, m: how far beside its surface an object's middle may be seen, since what is seen from afar is seen
// badly, and how far above it.
const (
	surfaceMargin = 0.08
	surfaceHeight = 0.2
)

func (o *objectMemory) close() error {
	if o == nil || o.source == nil {
		return nil
	}
	return o.source.Close()
}
