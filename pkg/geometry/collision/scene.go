package collision

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
)

// Attached is an object that moves with a link.
type Attached struct {
	Body        // Pose is in the link's frame
	Link string // that holds it
	// Touch are links that may touch it. The links that move as one with Link may anyway.
	Touch []string
}

// World is what a scene has beside the robot. The zero value is empty.
type World struct {
	Bodies   []Body // around the robot, in the base's frame
	Attached []Attached
	// Rest are positions of joints that are not among Config.Joints (a gripper's finger); the others are at 0, or at the bound next to it.
	Rest map[string]float64
	// Allowed pairs that are not checked, such as a finger and the object that it reaches for.
	Allowed []Pair
	// Margin kept between the robot and bodies; SelfMargin between links of the robot and attached objects. m.
	Margin, SelfMargin float64
	// Grace is by how much a pair may fall short of its margin where a motion begins, as long as the motion makes it worse by no more than 2 mm
	// and until it is clear of it (an object that is lifted off a table; a table that was measured a little too near). m; 0: not at all.
	Grace float64
}

// Contact is a pair that is closer than its margin.
type Contact struct {
	A, B string // link or attached object first, then link, attached object or body
	Self bool   // between parts of the robot (attached objects are parts of it); else B is a body of the world
	// Distance in m; negative: they overlap, by at most that much.
	Distance float64
	Margin   float64 // that it falls short of
}

// Resolution is how much more than its margin a pair must have to pass, m. It bounds the number of steps along a motion.
const Resolution = 1e-4

// Scene is a robot in a world. It is read only, and may be shared.
type Scene struct {
	robot      *Robot
	joints     []limits.Joint
	frames     []kinematics.Frame
	links      map[string]linkPlace
	base       spatial.Transform // of the root's frame in the base's
	parts      []part
	pairs      []pair
	distant    []pair // that never meet
	margin     float64
	selfMargin float64
	grace      float64
	rooms      chan *room // that are not in use
}

type linkPlace struct {
	frame int
	pose  spatial.Transform
}

// part is a shape of a link, of an attached object or of a body.
type part struct {
	name  string
	world bool
	frame int   // that carries it; a body of the world is on frame 0
	local solid // in its frame (frame 0: in the base's)
	bound float64
	// reach[k] bounds the distance of any of its points from the axis of frame k, or is 1 where frame k slides; 0 where k does not carry it.
	reach []float64
	ball  ball
}

// ball in the base's frame.
type ball struct {
	center r3.Vec
	radius float64
}

// pair of parts that are checked; a is the one that names the contact first.
type pair struct {
	a, b   int
	meet   int // the frame that carries both, next to them
	margin float64
	self   bool
}

// room is what one check works in.
type room struct {
	poses  []spatial.Transform
	solids []solid
	q, dq  []float64

	// Per pair, along a motion.
	due   []float64 // when it is to be looked at again
	bar   []float64 // the distance that it must have
	speed []float64 // bound of the approach
	clear []float64 // how much more than its bar it has at least: at the segment's start, if it had moved evenly until it was looked at; between segments, now

	// Per frame.
	rate   []float64 // of its own joint
	beyond []float64 // how much farther than its limits it may slide

	against []float64 // per part and frame: bound of the part's speed against the frame
}

// keep is how many rooms wait for the next check; more are in use when more checks run at once.
const keep = 8

// room is one that waits, or a new one; leave gives it back.
func (s *Scene) room() *room {
	select {
	case r := <-s.rooms:
		return r
	default:
		return s.newRoom()
	}
}

func (s *Scene) leave(r *room) {
	select {
	case s.rooms <- r:
	default:
	}
}

func (s *Scene) newRoom() *room {
	r := &room{
		poses: make([]spatial.Transform, len(s.frames)), solids: make([]solid, len(s.parts)),
		due: make([]float64, len(s.pairs)), bar: make([]float64, len(s.pairs)), speed: make([]float64, len(s.pairs)), clear: make([]float64, len(s.pairs)),
		rate: make([]float64, len(s.frames)), beyond: make([]float64, len(s.frames)), against: make([]float64, len(s.parts)*len(s.frames)),
		q: make([]float64, len(s.joints)), dq: make([]float64, len(s.joints)),
	}
	for i := range s.parts {
		r.solids[i] = s.parts[i].local
	}
	return r
}

// Robot of the scene.
func (s *Scene) Robot() *Robot { return s.robot }

// Grace is by how much a pair may fall short of its margin where a motion begins, m.
func (s *Scene) Grace() float64 { return s.grace }

// Joints that move, in the order of configurations, with the limits of the description. The slice is a copy.
func (s *Scene) Joints() []limits.Joint { return slices.Clone(s.joints) }

// place puts all parts where they are at q.
func (s *Scene) place(r *room, q []float64) {
	r.poses[0] = s.base
	for i := 1; i < len(s.frames); i++ {
		s.frames[i].Place(&r.poses[i], &r.poses[s.frames[i].Parent], q)
	}
	var m rotation
	last := 0
	for i := range s.parts {
		p := &s.parts[i] // sorted by frame
		if p.frame == 0 {
			continue
		}
		if p.frame != last {
			m, last = rotationOf(&r.poses[p.frame]), p.frame
		}
		p.local.moved(&r.solids[i], &m, r.poses[p.frame].Translation)
	}
}

// near is a cheap lower bound of a pair's distance.
func (s *Scene) near(r *room, p *pair) float64 {
	a, b := &s.parts[p.a], &s.parts[p.b]
	x, y := &r.solids[p.a], &r.solids[p.b]
	if b.world && (y.kind == Box || y.kind == HalfSpace) { // floors and tables are large
		return pointDistance(x.c, y) - a.bound
	}
	return norm(r3.Sub(x.c, y.c)) - a.bound - b.bound
}

// Free reports whether nothing is closer than its margin at q; false for a q that is none. It does not allocate.
func (s *Scene) Free(q []float64) bool {
	if kinematics.CheckPositions(s.joints, q) != nil {
		return false
	}
	r := s.room()
	defer s.leave(r)
	s.place(r, q)
	for i := range s.pairs {
		p := &s.pairs[i]
		if bar := p.margin + Resolution; s.near(r, p) <= bar && !apart(&r.solids[p.a], &r.solids[p.b], bar) {
			return false
		}
	}
	return true
}

// Check lists the contacts at a configuration, the deepest first, one per pair of names; the error is a *kinematics.PositionsError.
func (s *Scene) Check(q []float64) ([]Contact, error) {
	if err := kinematics.CheckPositions(s.joints, q); err != nil {
		return nil, err
	}
	r := s.room()
	defer s.leave(r)
	s.place(r, q)
	var out []Contact
	for i := range s.pairs {
		p := &s.pairs[i]
		if s.near(r, p) > p.margin+Resolution {
			continue
		}
		c := s.contact(r, p)
		if !(c.Distance <= p.margin+Resolution) {
			continue
		}
		if k := slices.IndexFunc(out, func(o Contact) bool { return o.A == c.A && o.B == c.B }); k < 0 {
			out = append(out, c)
		} else if c.Distance < out[k].Distance {
			out[k] = c
		}
	}
	slices.SortStableFunc(out, func(a, b Contact) int { return cmp.Compare(a.Distance-a.Margin, b.Distance-b.Margin) })
	return out, nil
}

func (s *Scene) contact(r *room, p *pair) Contact {
	return Contact{
		A: s.parts[p.a].name, B: s.parts[p.b].name, Self: p.self, Margin: p.margin,
		Distance: distance(&r.solids[p.a], &r.solids[p.b]),
	}
}

// Nearest is the pair with the least distance beyond its margin at q, in contact or not; ok is false where there is no pair to check. The error is a
// *kinematics.PositionsError.
func (s *Scene) Nearest(q []float64) (c Contact, ok bool, err error) {
	if err := kinematics.CheckPositions(s.joints, q); err != nil {
		return Contact{}, false, err
	}
	r := s.room()
	defer s.leave(r)
	s.place(r, q)
	for _, list := range [...][]pair{s.pairs, s.distant} {
		for i := range list {
			p := &list[i]
			if ok && s.near(r, p)-p.margin > c.Distance-c.Margin {
				continue
			}
			if d := s.contact(r, p); !ok || d.Distance-d.Margin < c.Distance-c.Margin {
				c, ok = d, true
			}
		}
	}
	return c, ok, nil
}

// LinkPose in the base's frame at q; ok is false for a link that is not there. The error is a *kinematics.PositionsError.
func (s *Scene) LinkPose(link string, q []float64) (t spatial.Transform, ok bool, err error) {
	if err := kinematics.CheckPositions(s.joints, q); err != nil {
		return spatial.Transform{}, false, err
	}
	l, ok := s.links[link]
	if !ok {
		return spatial.Transform{}, false, nil
	}
	r := s.room()
	defer s.leave(r)
	s.place(r, q)
	return r.poses[l.frame].Compose(l.pose), true, nil
}

// LinkPoses of all links in the base's frame at q, by name.
func (s *Scene) LinkPoses(q []float64) (map[string]spatial.Transform, error) {
	if err := kinematics.CheckPositions(s.joints, q); err != nil {
		return nil, err
	}
	r := s.room()
	defer s.leave(r)
	s.place(r, q)
	out := make(map[string]spatial.Transform, len(s.links))
	for name, l := range s.links {
		out[name] = r.poses[l.frame].Compose(l.pose)
	}
	return out, nil
}
