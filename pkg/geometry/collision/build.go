package collision

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/spatial"
)

// sceneBuilder puts a scene together.
type sceneBuilder struct {
	robot *Robot
	tree  *kinematics.Tree
	world World
	scene *Scene
	touch map[Pair]bool // pairs of names that are not checked
}

func (b *sceneBuilder) build() (*Scene, error) {
	if err := b.numbers(); err != nil {
		return nil, err
	}
	if err := b.place(); err != nil {
		return nil, err
	}
	if err := b.attach(); err != nil {
		return nil, err
	}
	if err := b.surround(); err != nil {
		return nil, err
	}
	if err := b.allow(); err != nil {
		return nil, err
	}
	s := b.scene
	slices.SortStableFunc(s.parts, func(x, y part) int { return cmp.Compare(x.frame, y.frame) })
	b.pair()
	s.rooms = make(chan *room, keep)
	return s, nil
}

func (b *sceneBuilder) numbers() error {
	for _, f := range [...]struct {
		name  string
		value float64
	}{{"Margin", b.world.Margin}, {"SelfMargin", b.world.SelfMargin}, {"Grace", b.world.Grace}} {
		if !(f.value >= 0 && f.value <= 1) {
			return fmt.Errorf("%w: %s is %g m, must be from 0 to 1 m", ErrWorld, f.name, f.value)
		}
	}
	return nil
}

// place puts the links' shapes into their frames.
func (b *sceneBuilder) place() error {
	s, m := b.scene, b.robot.model
	frame, pose, ok := b.tree.Link(b.robot.config.Base)
	if !ok || frame != 0 {
		return fmt.Errorf("%w: base link %q is not there, or is moved by the joints", ErrWorld, b.robot.config.Base)
	}
	s.base = pose.Inverse()
	s.links = make(map[string]linkPlace, len(m.Links))
	for _, l := range m.Links {
		frame, pose, _ := b.tree.Link(l.Name)
		s.links[l.Name] = linkPlace{frame, pose}
		for _, sh := range b.robot.shapes[l.Name] {
			b.add(l.Name, false, frame, sh.shape, pose.Compose(sh.pose))
		}
	}
	return nil
}

func (b *sceneBuilder) add(name string, world bool, frame int, shape Shape, pose spatial.Transform) {
	if frame == 0 && !world {
		pose = b.scene.base.Compose(pose)
	}
	p := part{name: name, world: world, frame: frame, local: newSolid(shape, pose)}
	p.bound = p.local.bound()
	p.reach = b.reach(&p)
	p.ball = b.ball(&p)
	b.scene.parts = append(b.scene.parts, p)
}

// reach bounds how far a part's points are from the axes of the frames that carry it, whatever the joints between do.
func (b *sceneBuilder) reach(p *part) []float64 {
	frames := b.scene.frames
	out := make([]float64, len(frames))
	// The distance from the origin of the frame at hand to the farthest point of the part.
	far := norm(p.local.c) + p.bound
	for k := p.frame; k > 0; k = frames[k].Parent {
		f := &frames[k]
		switch {
		case f.Slides:
			out[k] = 1
			j := b.scene.joints[f.Joint]
			far += max(abs(f.Factor*j.Lower+f.Offset), abs(f.Factor*j.Upper+f.Offset))
		case k == p.frame: // it turns about this very axis
			across := norm(r3.Sub(p.local.c, r3.Scale(r3.Dot(p.local.c, f.Axis), f.Axis)))
			out[k] = across + p.bound
		default:
			out[k] = far
		}
		far += norm(f.Origin.Translation)
	}
	return out
}

// ball holds a part whatever the joints do: about the origin of the first joint that moves it. A part that slides may leave any ball when a joint is beyond its limits, and has none.
func (b *sceneBuilder) ball(p *part) ball {
	frames := b.scene.frames
	far := norm(p.local.c) + p.bound
	for k := p.frame; k > 0; k = frames[k].Parent {
		f := &frames[k]
		if f.Slides {
			break
		}
		if f.Parent == 0 {
			return ball{b.scene.base.Apply(f.Origin.Translation), far}
		}
		far += norm(f.Origin.Translation)
	}
	return ball{radius: math.Inf(1)}
}

// reaches reports whether a part can ever come near a body of the world.
func (p *part) reaches(body *part, margin float64) bool {
	o := &body.local
	apart := norm(r3.Sub(o.c, p.ball.center)) - body.bound
	if o.kind == Box || o.kind == HalfSpace {
		apart = pointDistance(p.ball.center, o)
	}
	return !(apart > p.ball.radius*(1+1e-9)+margin+2*Resolution)
}

func abs(v float64) float64 { return max(v, -v) }

func (b *sceneBuilder) attach() error {
	for i, a := range b.world.Attached {
		if err := b.newName(a.Name); err != nil {
			return fmt.Errorf("%w: attached object %d: %w", ErrWorld, i, err)
		}
		l, ok := b.scene.links[a.Link]
		if !ok {
			return fmt.Errorf("%w: %q is attached to link %q, which is not there", ErrWorld, a.Name, a.Link)
		}
		if err := checkBody(a.Body); err != nil {
			return err
		}
		if a.Shape.Kind == HalfSpace {
			return fmt.Errorf("%w: %q: a half space cannot be attached to a link", ErrWorld, a.Name)
		}
		b.add(a.Name, false, l.frame, a.Shape, l.pose.Compose(a.Pose))
	}
	return nil
}

func (b *sceneBuilder) surround() error {
	for i, o := range b.world.Bodies {
		if err := b.newName(o.Name); err != nil {
			return fmt.Errorf("%w: body %d: %w", ErrWorld, i, err)
		}
		if err := checkBody(o); err != nil {
			return err
		}
		b.add(o.Name, true, 0, o.Shape, o.Pose)
	}
	return nil
}

// newName makes sure that a contact's names say which parts are meant. Several bodies may share a name (the parts of a table), links may not.
func (b *sceneBuilder) newName(name string) error {
	if name == "" {
		return fmt.Errorf("has no name")
	}
	if _, link := b.scene.links[name]; link {
		return fmt.Errorf("is called %q, as a link is", name)
	}
	return nil
}

func checkBody(o Body) error {
	if err := o.Shape.check(); err != nil {
		return fmt.Errorf("%w: %q: %w", ErrWorld, o.Name, err)
	}
	t := o.Pose.Translation
	if !o.Pose.Finite() || !(norm(t) <= spatial.MaxExtent) {
		return fmt.Errorf("%w: %q: pose %v, must be finite and within %g m", ErrWorld, o.Name, o.Pose, float64(spatial.MaxExtent))
	}
	if q, changed, err := spatial.CheckQuaternion(o.Pose.Rotation); err != nil || changed {
		return fmt.Errorf("%w: %q: orientation %v has norm %g, must be 1", ErrWorld, o.Name, o.Pose.Rotation, spatial.Norm(q))
	}
	return nil
}

// allow collects the pairs of names that are not checked.
func (b *sceneBuilder) allow() error {
	b.touch = map[Pair]bool{}
	add := func(x, y string) { b.touch[Pair{x, y}], b.touch[Pair{y, x}] = true, true }
	for _, j := range b.robot.model.Joints {
		add(j.Parent, j.Child)
	}
	for _, p := range b.robot.config.Allowed {
		add(p[0], p[1])
	}
	known := map[string]bool{}
	for l := range maps.Keys(b.scene.links) {
		known[l] = true
	}
	for i := range b.scene.parts {
		known[b.scene.parts[i].name] = true
	}
	for _, p := range b.world.Allowed {
		for _, n := range p {
			if !known[n] {
				return fmt.Errorf("%w: the allowed pair %q, %q names nothing that is called %q", ErrWorld, p[0], p[1], n)
			}
		}
		add(p[0], p[1])
	}
	for _, a := range b.world.Attached {
		for _, l := range a.Touch {
			if !known[l] {
				return fmt.Errorf("%w: %q may touch %q, which is not there", ErrWorld, a.Name, l)
			}
			add(a.Name, l)
		}
	}
	return nil
}

// pair lists the pairs to check: those that the joints move against each other and that may not touch.
func (b *sceneBuilder) pair() {
	s := b.scene
	for i := range s.parts {
		for k := range i {
			x, y := &s.parts[i], &s.parts[k]
			if x.frame == y.frame || b.touch[Pair{x.name, y.name}] {
				continue // they move as one, or may touch
			}
			p := pair{a: i, b: k, margin: s.margin, self: !x.world && !y.world, meet: b.meet(x.frame, y.frame)}
			if p.self {
				p.margin = s.selfMargin
			} else if x.world {
				p.a, p.b = k, i
			}
			if !p.self && !s.parts[p.a].reaches(&s.parts[p.b], p.margin) {
				s.distant = append(s.distant, p) // the broad phase: no configuration brings them together
				continue
			}
			s.pairs = append(s.pairs, p)
		}
	}
}

// meet is the frame, next to both, that carries both. A frame comes after its parent: the higher index is never above the lower one.
func (b *sceneBuilder) meet(x, y int) int {
	for x != y {
		if x > y {
			x = b.scene.frames[x].Parent
		} else {
			y = b.scene.frames[y].Parent
		}
	}
	return x
}
