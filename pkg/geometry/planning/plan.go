package planning

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
)

// ErrRequest is wrapped by errors about a request that makes no sense.
var ErrRequest = errors.New("planning: bad request")

// Request for a path.
type Request struct {
	Scene    *collision.Scene
	Joints   []limits.Joint // in the order of configurations
	From, To []float64
	// Vias are configurations over which a detour is tried before the search: each alone, then each two, in their order (carry, up).
	Vias [][]float64
	// Nodes bounds the search (2000); negative: there is none.
	Nodes int
	Seed  uint64
}

// Why there is no path.
type Why string

// Reasons of a BlockedError.
const (
	AtStart Why = "the start is in contact"
	AtGoal  Why = "the goal is in contact"
	Between Why = "no way was found; in the straight one" // the contact is that of the straight line
)

// BlockedError names the contact that is in the way.
type BlockedError struct {
	Why Why
	Hit collision.Hit
}

// Error names both parts.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("planning: %s: %s and %s are %.4f m apart, limit %.4f m", e.Why, e.Hit.A, e.Hit.B, e.Hit.Distance, e.Hit.Margin)
}

// PlanJoints gives a path from Request.From to Request.To, both included, that Scene.CheckPath accepts. Continuous joints take the shorter way round. An
// error is a *BlockedError, wraps ErrRequest, or is the context's.
//
// The start may be a little beyond a limit, as a measured state may; the goal may not.
func PlanJoints(ctx context.Context, r Request) ([][]float64, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	p := planner{Request: r, from: r.From, to: slices.Clone(r.To)}
	for i, j := range r.Joints {
		p.to[i] = j.Near(p.to[i], p.from[i])
	}
	straight, err := p.Scene.CheckPath(p.from, p.to)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if straight == nil {
		return p.path(p.from, p.to), nil
	}
	if err := p.ends(); err != nil {
		return nil, err
	}
	if path := p.detour(); path != nil {
		return path, nil
	}
	path, err := p.search(ctx)
	if err != nil {
		return nil, err
	}
	if path == nil {
		return nil, &BlockedError{Why: Between, Hit: *straight}
	}
	return path, nil
}

func (r *Request) check() error {
	if r.Scene == nil {
		return fmt.Errorf("%w: no scene", ErrRequest)
	}
	if have := r.Scene.Robot().Joints(); len(have) != len(r.Joints) {
		return fmt.Errorf("%w: limits of %d joints, the scene has %d", ErrRequest, len(r.Joints), len(have))
	}
	for i, name := range r.Scene.Robot().Joints() {
		if r.Joints[i].Name != name {
			return fmt.Errorf("%w: joint %d is %q, in the scene %q", ErrRequest, i, r.Joints[i].Name, name)
		}
		if err := r.Joints[i].Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrRequest, err)
		}
	}
	inside := func(what string, q []float64, limited bool) error {
		if len(q) != len(r.Joints) {
			return fmt.Errorf("%w: %s has %d positions for %d joints", ErrRequest, what, len(q), len(r.Joints))
		}
		for i, j := range r.Joints {
			if !spatial.Finite(q[i]) || limited && !j.Contains(q[i], 0) {
				return fmt.Errorf("%w: %s: %s is at %g %s, limits %g and %g", ErrRequest, what, j.Name, q[i], j.Unit(), j.Lower, j.Upper)
			}
		}
		return nil
	}
	if err := inside("start", r.From, false); err != nil {
		return err
	}
	if err := inside("goal", r.To, true); err != nil {
		return err
	}
	for i, v := range r.Vias {
		if err := inside(fmt.Sprintf("via %d", i), v, true); err != nil {
			return err
		}
	}
	return nil
}

// planner is one request's.
type planner struct {
	Request
	from, to []float64
}

// path is a copy of its configurations.
func (p *planner) path(q ...[]float64) [][]float64 {
	out := make([][]float64, len(q))
	for i := range q {
		out[i] = slices.Clone(q[i])
	}
	return out
}

// clear reports whether the path can be gone.
func (p *planner) clear(path ...[]float64) bool {
	hit, err := p.Scene.CheckPath(path...)
	return hit == nil && err == nil
}

// ends looks at start and goal by themselves.
func (p *planner) ends() error {
	for _, e := range [...]struct {
		why Why
		q   []float64
	}{{AtStart, p.from}, {AtGoal, p.to}} {
		if e.why == AtStart && p.clear(p.from) {
			continue // what the scene bears with at the beginning of a motion
		}
		contacts, err := p.Scene.Check(e.q)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrRequest, err)
		}
		if len(contacts) > 0 {
			return &BlockedError{Why: e.why, Hit: collision.Hit{Contact: contacts[0], Q: slices.Clone(e.q)}}
		}
	}
	return nil
}

// detour tries the vias.
func (p *planner) detour() [][]float64 {
	vias := make([][]float64, len(p.Vias))
	for k, v := range p.Vias {
		vias[k] = slices.Clone(v)
		for i, j := range p.Joints {
			vias[k][i] = j.Near(v[i], p.from[i])
		}
	}
	for _, v := range vias {
		if p.clear(p.from, v, p.to) {
			return p.path(p.from, v, p.to)
		}
	}
	for i, v := range vias {
		for k, w := range vias {
			if i != k && p.clear(p.from, v, w, p.to) {
				return p.path(p.from, v, w, p.to)
			}
		}
	}
	return nil
}
