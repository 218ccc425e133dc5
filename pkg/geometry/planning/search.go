package planning

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	defaultNodes = 2000
	stride       = 0.5 // rad or m of the joint that goes farthest, in one extension of a tree
	shortcuts    = 150
)

// tree of configurations that can be reached from its first one.
type tree struct {
	nodes   [][]float64
	parents []int
}

func (t *tree) add(q []float64, parent int) int {
	t.nodes = append(t.nodes, q)
	t.parents = append(t.parents, parent)
	return len(t.nodes) - 1
}

// nearest node to q, by the joint that is farthest.
func (t *tree) nearest(q []float64) int {
	best, at := math.Inf(1), 0
	for i, n := range t.nodes {
		if d := farthest(n, q); d < best {
			best, at = d, i
		}
	}
	return at
}

// back lists the configurations from a node to the first one.
func (t *tree) back(node int) [][]float64 {
	var out [][]float64
	for ; node >= 0; node = t.parents[node] {
		out = append(out, t.nodes[node])
	}
	return out
}

func farthest(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

func between(a, b []float64, u float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = (1-u)*a[i] + u*b[i]
	}
	return out
}

// search grows one tree from the start and one from the goal, in turn, each towards a random configuration, and the other one towards what was reached
// (RRT-Connect). No path: nil.
func (p *planner) search(ctx context.Context) ([][]float64, error) {
	nodes := p.Nodes
	if nodes == 0 {
		nodes = defaultNodes
	}
	random := rand.New(rand.NewPCG(p.Seed, 0x727274)) // the second word only tells this use of a seed from others
	var a, b tree
	a.add(p.from, -1)
	b.add(p.to, -1)
	grow, other, forward := &a, &b, true
	// Tries that add nothing are bounded as well.
	for try := 0; len(a.nodes)+len(b.nodes) < nodes && try < 4*nodes; try++ {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		q := p.sample(random)
		if reached, at := p.extend(grow, q); at >= 0 {
			// The other tree goes all the way, if it can.
			for {
				met, node := p.extend(other, reached)
				if node < 0 {
					break
				}
				if farthest(met, reached) == 0 {
					path := join(grow.back(at), other.back(node), forward)
					if path = p.shorten(random, path); p.clear(path...) {
						return path, nil
					}
					break
				}
			}
		}
		grow, other, forward = other, grow, !forward
	}
	return nil, nil
}

// join makes a path from start to goal of the ways back from where two trees have met.
func join(grown, met [][]float64, forward bool) [][]float64 {
	if !forward {
		grown, met = met, grown
	}
	slices.Reverse(grown)
	return append(grown, met[1:]...)
}

func (p *planner) sample(random *rand.Rand) []float64 {
	q := make([]float64, len(p.Joints))
	for i, j := range p.Joints {
		if j.Continuous {
			q[i] = p.from[i] + (2*random.Float64()-1)*math.Pi
			continue
		}
		q[i] = j.Lower + random.Float64()*(j.Upper-j.Lower)
	}
	return q
}

// extend grows a tree one stride towards q, where the way is clear; node is -1 where it is not.
func (p *planner) extend(t *tree, q []float64) (reached []float64, node int) {
	near := t.nearest(q)
	from := t.nodes[near]
	d := farthest(from, q)
	if d == 0 {
		return q, near
	}
	to := q
	if d > stride {
		to = between(from, q, stride/d)
	}
	if !p.Scene.Free(to) || !p.clear(from, to) {
		return nil, -1
	}
	return to, t.add(to, near)
}

// shorten replaces parts of a path by straight lines where they are clear.
func (p *planner) shorten(random *rand.Rand, path [][]float64) [][]float64 {
	path = slices.Clone(path)
	for range shortcuts {
		if len(path) <= 2 {
			break
		}
		u, v := random.Float64()*float64(len(path)-1), random.Float64()*float64(len(path)-1)
		if u > v {
			u, v = v, u
		}
		i, k := int(u), int(v)
		if i == k {
			continue
		}
		a, b := between(path[i], path[i+1], u-float64(i)), between(path[k], path[k+1], v-float64(k))
		if length(a, b) < 0.99*p.along(path, i, a, k, b) && p.clear(a, b) {
			path = slices.Concat(path[:i+1], [][]float64{a, b}, path[k+1:])
		}
	}
	// What a straight line passes by is not needed.
	for i := 1; i+1 < len(path); {
		if farthest(path[i-1], path[i]) < 1e-9 || p.clear(path[i-1], path[i+1]) {
			path = slices.Delete(path, i, i+1)
			i = max(1, i-1)
			continue
		}
		i++
	}
	return path
}

// along is the length of a path from a, between its points i and i+1, to b, between k and k+1.
func (p *planner) along(path [][]float64, i int, a []float64, k int, b []float64) float64 {
	l := length(a, path[i+1])
	for n := i + 1; n < k; n++ {
		l += length(path[n], path[n+1])
	}
	return l + length(path[k], b)
}

func length(a, b []float64) float64 {
	l := 0.0
	for i := range a {
		l += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(l)
}
