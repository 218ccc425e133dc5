package tf

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/geometry/spatial"
)

// Config bounds a buffer. The zero value of a field takes its default.
type Config struct {
	Keep       time.Duration // history per dynamic transform (10 s)
	MaxSamples int           // per dynamic transform (4096)
	MaxFrames  int           // in all (4096)
	// MaxAhead is how far a stamp may be ahead of the clock (5 s): localisation stamps its transform ahead, but one from
	// far away would make every later one look old.
	MaxAhead time.Duration
	// JumpBack is how far the clock must go back to count as a jump (1 s): callers on several threads read the clock in one
	// order and arrive in another, on a busy machine much later.
	JumpBack time.Duration
}

// Stamped is a transform from Child's coordinates to Parent's: the pose of Child in Parent.
type Stamped struct {
	Parent, Child string
	Stamp         int64 // ns; ignored for a static transform
	Transform     spatial.Transform
}

// Change says what a transform did to the buffer besides being added.
type Change struct {
	Reparented string // the child's former parent, whose history is gone
	Normalised bool   // the quaternion's norm was off by more than rounding
	Repeated   bool   // this stamp was there already; the first one is kept
	Kind       bool   // a static transform became dynamic or the other way round
	Cleared    bool   // the clock had jumped back; all dynamic transforms were forgotten first
}

// Buffer of transforms.
type Buffer struct {
	cfg Config

	mu     sync.RWMutex
	frames map[string]int32
	nodes  []node
	now    int64 // newest clock reading
}

// New makes an empty buffer.
func New(cfg Config) *Buffer {
	if cfg.Keep <= 0 {
		cfg.Keep = 10 * time.Second
	}
	if cfg.MaxSamples <= 0 {
		cfg.MaxSamples = 4096
	}
	if cfg.MaxFrames <= 0 {
		cfg.MaxFrames = 4096
	}
	if cfg.MaxAhead <= 0 {
		cfg.MaxAhead = 5 * time.Second
	}
	if cfg.JumpBack <= 0 {
		cfg.JumpBack = time.Second
	}
	return &Buffer{cfg: cfg, frames: map[string]int32{}}
}

// Set adds a dynamic transform; now is the clock's reading (ns), by which a jump back is noticed. What is refused changes
// nothing, except that a jump back is acted upon.
func (b *Buffer) Set(s Stamped, now int64) (Change, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ch := Change{Cleared: b.advance(now)}
	err := check(&s, &ch)
	switch {
	case err != nil:
		return ch, err
	case s.Stamp <= 0:
		return ch, fmt.Errorf("%w: transform %s -> %s, stamp %d ns", ErrBadStamp, s.Child, s.Parent, s.Stamp)
	case s.Stamp-now > int64(b.cfg.MaxAhead):
		return ch, &AheadError{Frame: s.Child, Ahead: time.Duration(s.Stamp - now), Limit: b.cfg.MaxAhead}
	}
	if id, known := b.frames[s.Child]; known {
		n := &b.nodes[id]
		sameLink := n.parent != noParent && !n.static && b.nodes[n.parent].name == s.Parent
		if sameLink && n.newest()-s.Stamp > int64(b.cfg.Keep) {
			return ch, &TooOldError{Frame: s.Child, Parent: s.Parent, Age: time.Duration(n.newest() - s.Stamp), Limit: b.cfg.Keep}
		}
	}
	n, err := b.link(s, false, &ch)
	if err != nil {
		return ch, err
	}
	ch.Repeated = n.insert(sample{s.Stamp, s.Transform}, int64(b.cfg.Keep), b.cfg.MaxSamples)
	return ch, nil
}

// SetStatic adds a transform that holds at all times, and replaces an earlier one.
func (b *Buffer) SetStatic(s Stamped) (Change, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ch Change
	if err := check(&s, &ch); err != nil {
		return ch, err
	}
	n, err := b.link(s, true, &ch)
	if err != nil {
		return ch, err
	}
	n.forget()
	n.insert(sample{transform: s.Transform}, 0, 1)
	return ch, nil
}

// Advance tells the clock's reading (ns), and whether it had jumped back and the dynamic transforms were forgotten.
func (b *Buffer) Advance(now int64) (cleared bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.advance(now)
}

func (b *Buffer) advance(now int64) (cleared bool) {
	if now >= b.now {
		b.now = now
		return false
	}
	if b.now-now <= int64(b.cfg.JumpBack) {
		return false
	}
	b.now = now
	for i := range b.nodes {
		if n := &b.nodes[i]; n.parent != noParent && !n.static {
			n.forget()
			n.parent = noParent
			cleared = true
		}
	}
	return cleared
}

// Frames lists the known frames, sorted.
func (b *Buffer) Frames() []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	names := make([]string, 0, len(b.nodes))
	for i := range b.nodes {
		names = append(names, b.nodes[i].name)
	}
	slices.Sort(names)
	return names
}

// check refuses what no buffer may hold and normalises the rotation.
func check(s *Stamped, ch *Change) error {
	for _, name := range [...]string{s.Parent, s.Child} {
		if err := CheckFrameName(name); err != nil {
			return err
		}
	}
	if s.Parent == s.Child {
		return fmt.Errorf("%w: %q", ErrRoot, s.Child)
	}
	bad := func(err error) error {
		return &TransformError{Parent: s.Parent, Child: s.Child, Translation: s.Transform.Translation, Rotation: s.Transform.Rotation, Err: err}
	}
	t := s.Transform.Translation
	if !(spatial.Finite(t.X) && spatial.Finite(t.Y) && spatial.Finite(t.Z)) {
		return bad(ErrNotFinite)
	}
	q, changed, err := spatial.CheckQuaternion(s.Transform.Rotation)
	if err != nil {
		return bad(err)
	}
	s.Transform.Rotation, ch.Normalised = q, changed
	return nil
}

// CheckFrameName refuses names that no frame has: empty ones, and ones with a leading slash, which ROS 2 does not strip.
func CheckFrameName(name string) error {
	if name == "" {
		return &FrameNameError{Frame: name, Reason: "is empty"}
	}
	if name[0] == '/' {
		return &FrameNameError{Frame: name, Reason: "begins with a slash"}
	}
	return nil
}

// link makes s.Child a child of s.Parent and gives its node.
func (b *Buffer) link(s Stamped, static bool, ch *Change) (*node, error) {
	child, haveChild := b.frames[s.Child]
	parent, haveParent := b.frames[s.Parent]
	if haveChild && haveParent {
		for id := parent; id != noParent; id = b.nodes[id].parent {
			if id == child {
				return nil, &CycleError{Parent: s.Parent, Child: s.Child}
			}
		}
	}
	more := 0
	if !haveChild {
		more++
	}
	if !haveParent {
		more++
	}
	if len(b.nodes)+more > b.cfg.MaxFrames {
		return nil, fmt.Errorf("%w: %q -> %q, limit %d", ErrFull, s.Child, s.Parent, b.cfg.MaxFrames)
	}
	if !haveParent {
		parent = b.add(s.Parent)
	}
	if !haveChild {
		child = b.add(s.Child)
	}
	n := &b.nodes[child]
	if n.parent != noParent {
		if n.parent != parent {
			ch.Reparented = b.nodes[n.parent].name
			n.forget()
		}
		if n.static != static {
			ch.Kind = true
			n.forget()
		}
	}
	n.parent, n.static = parent, static
	return n, nil
}

func (b *Buffer) add(name string) int32 {
	id := int32(len(b.nodes))
	b.nodes = append(b.nodes, node{name: name, parent: noParent})
	b.frames[name] = id
	return id
}
