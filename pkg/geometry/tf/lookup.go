package tf

import (
	"fmt"
	"time"

	"agent_node/pkg/geometry/spatial"
)

// Query asks where Source is in Target at a time.
type Query struct {
	Target, Source string
	At             int64         // ns; 0 is not "latest", see Latest
	MaxAge         time.Duration // every sample used is at most this far from the time used; must be over 0
	// Tolerance lets At be later than the newest sample by this much; the newest is then used, and Result.Stamp says so.
	Tolerance time.Duration
}

// Result of a lookup.
type Result struct {
	Transform spatial.Transform // maps Source coordinates to Target's
	Stamp     int64             // ns, the time it holds for; for an all-static chain the time asked
	Static    bool              // no dynamic transform was involved
}

// Lookup answers a query. Between two samples it interpolates. Errors: ErrNoTime, ErrNoMaxAge, *UnknownFrameError,
// *NotConnectedError, *ExtrapolationError, *TooOldError.
func (b *Buffer) Lookup(q Query) (Result, error) {
	if q.At <= 0 {
		return Result{}, fmt.Errorf("%w: %q in %q at %d ns", ErrNoTime, q.Source, q.Target, q.At)
	}
	if q.MaxAge <= 0 {
		return Result{}, fmt.Errorf("%w: %q in %q", ErrNoMaxAge, q.Source, q.Target)
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	c, err := b.chain(q.Target, q.Source)
	if err != nil {
		return Result{}, err
	}
	at := q.At
	if c.slowest != noParent {
		n := &b.nodes[c.slowest]
		if late := at - n.newest(); late > 0 {
			if late > int64(max(q.Tolerance, 0)) {
				return Result{}, b.extrapolation(c.slowest, at)
			}
			if late > int64(q.MaxAge) {
				return Result{}, b.tooOld(c.slowest, late, q.MaxAge)
			}
			at = n.newest()
		}
	}
	return b.evaluate(c, at, q.MaxAge)
}

// Latest is the newest transform that all links of the chain have, not after now and at most maxAge before it. Errors as Lookup's.
func (b *Buffer) Latest(target, source string, now int64, maxAge time.Duration) (Result, error) {
	if now <= 0 {
		return Result{}, fmt.Errorf("%w: %q in %q, the clock reads %d ns", ErrNoTime, source, target, now)
	}
	if maxAge <= 0 {
		return Result{}, fmt.Errorf("%w: %q in %q", ErrNoMaxAge, source, target)
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	c, err := b.chain(target, source)
	if err != nil {
		return Result{}, err
	}
	at := now
	if c.slowest != noParent {
		// Stamps ahead of the clock are usual for localisation; the answer is for now at the latest.
		at = min(now, b.nodes[c.slowest].newest())
		if now-at > int64(maxAge) {
			return Result{}, b.tooOld(c.slowest, now-at, maxAge)
		}
	}
	return b.evaluate(c, at, maxAge)
}

// chain is the way from source up to the common ancestor and down to target.
type chain struct {
	target, source, top int32
	slowest             int32 // the dynamic link whose newest sample is the oldest; noParent: all static
}

func (b *Buffer) chain(target, source string) (chain, error) {
	for _, name := range [...]string{target, source} {
		if err := CheckFrameName(name); err != nil {
			return chain{}, err
		}
		if _, known := b.frames[name]; !known {
			return chain{}, &UnknownFrameError{Frame: name}
		}
	}
	c := chain{target: b.frames[target], source: b.frames[source], slowest: noParent}
	t, s := c.target, c.source
	dt, ds := b.depth(t), b.depth(s)
	for t != s {
		// Step up from the deeper one; from both ends in turn once level.
		if ds >= dt {
			if b.nodes[s].parent == noParent {
				return chain{}, &NotConnectedError{target, source, b.nodes[b.root(t)].name, b.nodes[s].name}
			}
			c.see(b, s)
			s, ds = b.nodes[s].parent, ds-1
		} else {
			c.see(b, t)
			t, dt = b.nodes[t].parent, dt-1
		}
	}
	c.top = t
	return c, nil
}

func (c *chain) see(b *Buffer, id int32) {
	if n := &b.nodes[id]; !n.static && (c.slowest == noParent || n.newest() < b.nodes[c.slowest].newest()) {
		c.slowest = id
	}
}

func (b *Buffer) depth(id int32) (d int) {
	for b.nodes[id].parent != noParent {
		id, d = b.nodes[id].parent, d+1
	}
	return d
}

func (b *Buffer) root(id int32) int32 {
	for b.nodes[id].parent != noParent {
		id = b.nodes[id].parent
	}
	return id
}

func (b *Buffer) evaluate(c chain, at int64, maxAge time.Duration) (Result, error) {
	s, err := b.up(c.source, c.top, at, maxAge)
	if err != nil {
		return Result{}, err
	}
	t, err := b.up(c.target, c.top, at, maxAge)
	if err != nil {
		return Result{}, err
	}
	return Result{Transform: t.Inverse().Compose(s), Stamp: at, Static: c.slowest == noParent}, nil
}

// up maps the coordinates of id to those of its ancestor top.
func (b *Buffer) up(id, top int32, at int64, maxAge time.Duration) (spatial.Transform, error) {
	acc := spatial.Identity()
	for ; id != top; id = b.nodes[id].parent {
		t, err := b.at(id, at, maxAge)
		if err != nil {
			return acc, err
		}
		acc = t.Compose(acc)
	}
	return acc, nil
}

// at is the link of id to its parent at a time, which is not after its newest sample.
func (b *Buffer) at(id int32, at int64, maxAge time.Duration) (spatial.Transform, error) {
	n := &b.nodes[id]
	if n.static {
		return n.samples()[0].transform, nil
	}
	if at < n.samples()[0].stamp {
		return spatial.Transform{}, b.extrapolation(id, at)
	}
	before, after := n.around(at)
	if before == after {
		return before.transform, nil
	}
	// Across a gap that wide nobody knows where the frame was.
	if gap := max(at-before.stamp, after.stamp-at); gap > int64(maxAge) {
		return spatial.Transform{}, b.tooOld(id, gap, maxAge)
	}
	u := float64(at-before.stamp) / float64(after.stamp-before.stamp)
	return spatial.Interpolate(before.transform, after.transform, u), nil
}

func (b *Buffer) extrapolation(id int32, at int64) error {
	n := &b.nodes[id]
	return &ExtrapolationError{Frame: n.name, Parent: b.nodes[n.parent].name, Asked: at, Oldest: n.samples()[0].stamp, Newest: n.newest()}
}

func (b *Buffer) tooOld(id int32, age int64, limit time.Duration) error {
	n := &b.nodes[id]
	return &TooOldError{Frame: n.name, Parent: b.nodes[n.parent].name, Age: time.Duration(age), Limit: limit}
}
