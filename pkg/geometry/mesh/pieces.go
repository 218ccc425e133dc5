package mesh

import "gonum.org/v1/gonum/spatial/r3"

// maxPieces of a mesh: more are taken as one.
const maxPieces = 64

// Pieces are the points of the mesh's parts, each of which may be replaced by its convex hull: the parts that are closed surfaces of
// their own (as convex decompositions write them), or else the whole mesh. Only corners of triangles count.
func (m *Mesh) Pieces() [][]r3.Vec {
	parent := make([]int, len(m.Vertices))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, t := range m.Triangles {
		a := root(t[0])
		parent[root(t[1])], parent[root(t[2])] = a, a
	}
	number := map[int]int{} // of a piece, by its root
	var pieces [][]r3.Vec
	taken := make([]bool, len(m.Vertices))
	for _, t := range m.Triangles {
		k, ok := number[root(t[0])]
		if !ok {
			k = len(pieces)
			number[root(t[0])] = k
			pieces = append(pieces, nil)
		}
		for _, v := range t {
			if !taken[v] {
				taken[v] = true
				pieces[k] = append(pieces[k], m.Vertices[v])
			}
		}
	}
	if len(pieces) <= 1 || len(pieces) <= maxPieces && m.closed() {
		return pieces
	}
	var all []r3.Vec
	for _, p := range pieces {
		all = append(all, p...)
	}
	return [][]r3.Vec{all}
}

// closed reports whether every edge is that of two triangles which go along it in opposite directions.
func (m *Mesh) closed() bool {
	ways := make(map[[2]int]int, 3*len(m.Triangles))
	for _, t := range m.Triangles {
		for i := range t {
			ways[[2]int{t[i], t[(i+1)%3]}]++
		}
	}
	for e, n := range ways {
		if n != 1 || ways[[2]int{e[1], e[0]}] != 1 {
			return false
		}
	}
	return true
}
