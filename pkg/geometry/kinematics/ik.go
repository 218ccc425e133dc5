package kinematics

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// IK finds joint positions within the limits for which the tip is at target (in the base's frame). It starts from seed (nil: the middle of
// the limits), then from random positions, and gives the first solution found: most often the one next to the seed. The same arguments give the
// same solution. An error is an *UnreachableError, a *PositionsError about the seed, or wraps ErrOptions.
//
// The method is that of Levenberg and Marquardt on position and rotation vector, with the joints that are at a limit and would go beyond it held there.
func (c *Chain) IK(target spatial.Transform, seed []float64, o Options) ([]float64, error) {
	found, err := c.Solutions(target, seed, 1, o)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// distinct is by how much, in rad or m, some joint of two solutions differs.
const distinct = 0.05

// Solutions finds up to n different solutions, the ones next to the seed first, with the least largest motion of a joint. It takes the time of
// all restarts unless n are found before. Errors are those of IK.
func (c *Chain) Solutions(target spatial.Transform, seed []float64, n int, o Options) ([][]float64, error) {
	p, err := c.problem(target, seed, o)
	if err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("%w: %d solutions asked for", ErrOptions, n)
	}
	var found [][]float64
	rejected := 0
	if p.withinReach() {
		for try := 0; try <= p.restarts && len(found) < n; try++ {
			p.begin(try)
			if !p.solve() {
				continue
			}
			p.unwind()
			if slices.ContainsFunc(found, func(q []float64) bool { return apart(q, p.q) < distinct }) {
				continue
			}
			if o.Accept != nil && !o.Accept(p.q) {
				rejected++
				continue
			}
			found = append(found, slices.Clone(p.q))
		}
	}
	if len(found) == 0 {
		return nil, p.unreachable(rejected)
	}
	slices.SortStableFunc(found, func(a, b []float64) int { return cmp.Compare(apart(a, p.seed), apart(b, p.seed)) })
	return found, nil
}

// apart is the largest difference of a joint.
func apart(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

// problem is one call's.
type problem struct {
	*solver
	seed     []float64
	restarts int
	options  Options
	random   *rand.Rand
}

func (c *Chain) problem(target spatial.Transform, seed []float64, o Options) (*problem, error) {
	if !target.Finite() {
		return nil, fmt.Errorf("%w: the target %v is not finite", ErrOptions, target)
	}
	q, _, err := spatial.CheckQuaternion(target.Rotation)
	if err != nil {
		return nil, fmt.Errorf("%w: target: %w", ErrOptions, err)
	}
	target.Rotation = q
	for _, f := range [...]struct {
		name  string
		value float64
	}{{"Margin", o.Margin}, {"Position", o.Position}, {"Angle", o.Angle}, {"Axis", r3.Norm(o.Axis)}, {"Restarts", float64(o.Restarts)}} {
		if !(f.value >= 0 && spatial.Finite(f.value)) {
			return nil, fmt.Errorf("%w: %s is %g, must be finite and not negative", ErrOptions, f.name, f.value)
		}
	}
	if o.Freedom < Whole || o.Freedom > PositionOnly {
		return nil, fmt.Errorf("%w: there is no freedom %d", ErrOptions, o.Freedom)
	}
	p := &problem{solver: newSolver(c, target, o), options: o, restarts: o.Restarts}
	if p.restarts == 0 {
		p.restarts = 128
	}
	if seed == nil {
		seed = make([]float64, len(c.joints))
		for i := range seed {
			if !c.joints[i].Continuous {
				seed[i] = (p.lower[i] + p.upper[i]) / 2
			}
		}
	}
	if err := CheckPositions(c.joints, seed); err != nil {
		return nil, err
	}
	for i, j := range c.joints {
		if p.lower[i] > p.upper[i] {
			return nil, fmt.Errorf("%w: a margin of %g leaves joint %s no room", ErrOptions, o.Margin, j.Name)
		}
	}
	p.seed = slices.Clone(seed)
	p.random = rand.New(rand.NewPCG(o.Seed, 0x696b)) // the second word only tells this use of a seed from others
	return p, nil
}

// begin sets where a try starts: the seed, then anywhere.
func (p *problem) begin(try int) {
	for i, j := range p.chain.joints {
		switch {
		case try == 0:
			p.q[i] = p.seed[i]
		case j.Continuous:
			p.q[i] = p.seed[i] + (2*p.random.Float64()-1)*math.Pi
		default:
			p.q[i] = p.lower[i] + p.random.Float64()*(p.upper[i]-p.lower[i])
		}
	}
	p.clamp()
}

// unwind takes continuous joints to the turn that is next to the seed.
func (p *problem) unwind() {
	for i, j := range p.chain.joints {
		p.q[i] = j.Near(p.q[i], p.seed[i])
	}
}

// withinReach is false where no configuration at all gets to the place.
func (p *problem) withinReach() bool {
	return r3.Norm(r3.Sub(p.target.Translation, p.chain.frames[1].Origin.Translation)) <= p.chain.reach+p.positionTolerance
}

// unreachable measures what is missing.
func (p *problem) unreachable(rejected int) error {
	if rejected > 0 {
		return &UnreachableError{Rejected: rejected}
	}
	// How near does the place get, whatever the orientation?
	const tries = 12
	place := newSolver(p.chain, p.target, Options{Freedom: PositionOnly, Margin: p.options.Margin, Position: p.positionTolerance})
	best := &UnreachableError{Missing: math.Inf(1), Angle: math.Inf(1)}
	keep := func(s *solver, missing, angle float64) {
		if missing < best.Missing || missing == best.Missing && angle < best.Angle {
			best.Missing, best.Angle, best.Nearest = missing, angle, append(best.Nearest[:0], s.q...)
		}
	}
	for try := range tries {
		p.begin(try)
		copy(place.q, p.q)
		place.solve()
		missing, _ := place.missing()
		keep(place, missing, 0)
		if missing <= p.positionTolerance {
			break
		}
	}
	if best.Missing > p.positionTolerance {
		copy(p.q, best.Nearest)
		_, best.Angle = p.missing()
		return best
	}
	// It gets there: what of the orientation is missing? The place weighs a thousand times more.
	best = &UnreachableError{Missing: math.Inf(1), Angle: math.Inf(1)}
	p.scale /= 1000
	for try := range tries {
		p.begin(try)
		p.solve()
		missing, angle := p.missing()
		if missing <= 1e-3 { // at that weight, as good as there
			missing = 0
		}
		keep(p.solver, missing, angle)
	}
	return best
}
