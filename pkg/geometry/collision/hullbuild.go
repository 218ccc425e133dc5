package collision

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"
)

// hullBuilder finds the faces of a hull: it begins with a tetrahedron and adds, again and again, the point that is farthest outside
// of some face, replacing all faces that this point sees by a cone.
type hullBuilder struct {
	points []r3.Vec
	slack  float64 // a point within it of a face's plane is on it
	faces  []hullFace
	queue  []int // faces that have points outside, some of them dead meanwhile
	flat   bool  // all points are in one plane
	torn   bool  // rounding has torn the surface
}

type hullFace struct {
	corner  [3]int
	across  [3]int // the face beyond the edge from corner i to corner i+1
	normal  r3.Vec // unit, outwards
	offset  float64
	outside []int // points that it sees
	dead    bool
	mark    int
}

func (f *hullFace) above(p r3.Vec) float64 { return r3.Dot(f.normal, p) - f.offset }

// build reports whether the points have a hull with thickness.
func (b *hullBuilder) build() bool {
	t, ok := b.tetrahedron()
	if !ok {
		b.flat = true
		return false
	}
	for _, c := range [4][3]int{{t[0], t[1], t[2]}, {t[0], t[3], t[1]}, {t[1], t[3], t[2]}, {t[2], t[3], t[0]}} {
		b.addFace(c[0], c[1], c[2])
	}
	for i := range b.faces {
		for e := range 3 {
			from, to := b.faces[i].corner[e], b.faces[i].corner[(e+1)%3]
			for k := range b.faces {
				for g := range 3 {
					if b.faces[k].corner[g] == to && b.faces[k].corner[(g+1)%3] == from {
						b.faces[i].across[e] = k
					}
				}
			}
		}
	}
	all := make([]int, 0, len(b.points))
	for i := range b.points {
		if i != t[0] && i != t[1] && i != t[2] && i != t[3] {
			all = append(all, i)
		}
	}
	b.share(all, []int{0, 1, 2, 3})
	for round := 1; len(b.queue) > 0 && !b.torn; round++ {
		f := b.queue[len(b.queue)-1]
		b.queue = b.queue[:len(b.queue)-1]
		if !b.faces[f].dead && len(b.faces[f].outside) > 0 {
			b.grow(f, round)
		}
	}
	return !b.torn
}

// tetrahedron of points that are far from each other, its faces counter-clockwise from outside; ok is false where all points are in one plane.
func (b *hullBuilder) tetrahedron() (t [4]int, ok bool) {
	farthest := func(measure func(r3.Vec) float64) (int, float64) {
		at, most := 0, math.Inf(-1)
		for i, p := range b.points {
			if v := measure(p); v > most {
				at, most = i, v
			}
		}
		return at, most
	}
	t[0], _ = farthest(func(p r3.Vec) float64 { return p.X })
	o := b.points[t[0]]
	var d float64
	if t[1], d = farthest(func(p r3.Vec) float64 { return r3.Norm2(r3.Sub(p, o)) }); !(d > 0) {
		return t, false
	}
	u := r3.Scale(1/math.Sqrt(d), r3.Sub(b.points[t[1]], o))
	if t[2], d = farthest(func(p r3.Vec) float64 { return norm(r3.Cross(u, r3.Sub(p, o))) }); !(d > 100*b.slack) {
		return t, false
	}
	n := r3.Cross(u, r3.Sub(b.points[t[2]], o))
	n = r3.Scale(1/norm(n), n)
	if t[3], d = farthest(func(p r3.Vec) float64 { return math.Abs(r3.Dot(n, r3.Sub(p, o))) }); !(d > 100*b.slack) {
		return t, false
	}
	if r3.Dot(n, r3.Sub(b.points[t[3]], o)) > 0 {
		t[1], t[2] = t[2], t[1]
	}
	return t, true
}

func (b *hullBuilder) addFace(i, j, k int) int {
	p, q, r := b.points[i], b.points[j], b.points[k]
	n := r3.Cross(r3.Sub(q, p), r3.Sub(r, p))
	if l := norm(n); l > 0 {
		n = r3.Scale(1/l, n)
	}
	// The plane is put where the outermost of the three is: no corner is outside of its own face.
	b.faces = append(b.faces, hullFace{corner: [3]int{i, j, k}, normal: n, offset: max(r3.Dot(n, p), r3.Dot(n, q), r3.Dot(n, r))})
	return len(b.faces) - 1
}

// share gives each point to the face that it is farthest outside of; the others are inside and forgotten.
func (b *hullBuilder) share(points, faces []int) {
	for _, i := range points {
		at, most := -1, b.slack
		for _, f := range faces {
			if d := b.faces[f].above(b.points[i]); d > most {
				at, most = f, d
			}
		}
		if at >= 0 {
			b.faces[at].outside = append(b.faces[at].outside, i)
		}
	}
	for _, f := range faces {
		if len(b.faces[f].outside) > 0 {
			b.queue = append(b.queue, f)
		}
	}
}

// edge of the hole that is left where faces are taken away: the face beyond it, and which edge of that face it is.
type edge struct{ face, side int }

// grow adds the farthest point outside of a face.
func (b *hullBuilder) grow(f, round int) {
	eye, most := -1, 0.0
	for _, i := range b.faces[f].outside {
		if d := b.faces[f].above(b.points[i]); d > most {
			eye, most = i, d
		}
	}
	if eye < 0 {
		return
	}
	var rim []edge
	var seen []int
	b.visible(f, -1, b.points[eye], round, &seen, &rim)
	var orphans []int
	for _, s := range seen {
		b.faces[s].dead = true
		orphans = append(orphans, b.faces[s].outside...)
		b.faces[s].outside = nil
	}
	fresh := make([]int, len(rim))
	for i, e := range rim {
		g := &b.faces[e.face]
		to, from := g.corner[e.side], g.corner[(e.side+1)%3]
		fresh[i] = b.addFace(from, to, eye)
		b.faces[fresh[i]].across[0] = e.face
		b.faces[e.face].across[e.side] = fresh[i]
	}
	for i := range fresh { // the rim is in order: each begins where the one before ends
		if b.faces[fresh[i]].corner[1] != b.faces[fresh[(i+1)%len(fresh)]].corner[0] {
			b.torn = true
			return
		}
		b.faces[fresh[i]].across[1] = fresh[(i+1)%len(fresh)]
		b.faces[fresh[i]].across[2] = fresh[(i+len(fresh)-1)%len(fresh)]
	}
	orphans = slices.DeleteFunc(orphans, func(i int) bool { return i == eye })
	b.share(orphans, fresh)
}

// visible collects the faces that a point sees, going from one to the next, and the rim around them counter-clockwise. from is the edge over which
// the face was entered.
func (b *hullBuilder) visible(f, from int, eye r3.Vec, round int, seen *[]int, rim *[]edge) {
	b.faces[f].mark = round
	*seen = append(*seen, f)
	first := 0
	if from >= 0 {
		first = from + 1
	}
	count := 3
	if from >= 0 {
		count = 2
	}
	for i := range count {
		e := (first + i) % 3
		g := b.faces[f].across[e]
		side := b.side(g, f, b.faces[f].corner[(e+1)%3])
		switch {
		case b.faces[g].mark == round:
		case b.faces[g].above(eye) > 0:
			b.visible(g, side, eye, round, seen, rim)
		default:
			*rim = append(*rim, edge{g, side})
		}
	}
}

// side is which edge of face g, beginning at a corner, leads to face f.
func (b *hullBuilder) side(g, f, begin int) int {
	for e := range 3 {
		if b.faces[g].across[e] == f && b.faces[g].corner[e] == begin {
			return e
		}
	}
	return 0
}

// compact gives the corners that are used, and the faces with these corners' numbers.
func (b *hullBuilder) compact() (corners []r3.Vec, faces [][3]int) {
	number := map[int]int{}
	for _, f := range b.faces {
		if f.dead {
			continue
		}
		var out [3]int
		for i, c := range f.corner {
			k, ok := number[c]
			if !ok {
				k = len(corners)
				number[c] = k
				corners = append(corners, b.points[c])
			}
			out[i] = k
		}
		faces = append(faces, out)
	}
	return corners, faces
}

// flatHull is the outline of points in one plane, or the ends of points on a line, after Andrew: sorted along one axis, the lower chain, then the upper one.
func flatHull(points []r3.Vec, size float64) []r3.Vec {
	o := points[0]
	far := func(measure func(r3.Vec) float64) r3.Vec {
		return slices.MaxFunc(points, func(a, b r3.Vec) int {
			switch d := measure(a) - measure(b); {
			case d < 0:
				return -1
			case d > 0:
				return 1
			}
			return 0
		})
	}
	u := r3.Sub(far(func(p r3.Vec) float64 { return r3.Norm2(r3.Sub(p, o)) }), o)
	u = r3.Scale(1/norm(u), u)
	across := func(p r3.Vec) r3.Vec {
		d := r3.Sub(p, o)
		return r3.Sub(d, r3.Scale(r3.Dot(d, u), u))
	}
	v := across(far(func(p r3.Vec) float64 { return norm(across(p)) }))
	if l := norm(v); l > 1e-12*size {
		v = r3.Scale(1/l, v)
	}
	type flat struct {
		x, y float64
		p    r3.Vec
	}
	list := make([]flat, len(points))
	for i, p := range points {
		d := r3.Sub(p, o)
		list[i] = flat{r3.Dot(d, u), r3.Dot(d, v), p}
	}
	slices.SortFunc(list, func(a, b flat) int {
		if a.x != b.x {
			return sign(a.x - b.x)
		}
		return sign(a.y - b.y)
	})
	chain := func(list []flat) []flat {
		var out []flat
		for _, c := range list {
			for len(out) >= 2 {
				a, b := out[len(out)-2], out[len(out)-1]
				if (b.x-a.x)*(c.y-a.y)-(b.y-a.y)*(c.x-a.x) > 0 {
					break
				}
				out = out[:len(out)-1]
			}
			out = append(out, c)
		}
		return out
	}
	both := chain(list)
	slices.Reverse(list)
	both = append(both, chain(list)...)
	out := make([]r3.Vec, len(both))
	for i, c := range both {
		out[i] = c.p
	}
	return out
}

func sign(v float64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}
