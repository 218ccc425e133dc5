package mesh

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

const (
	stlHeader   = 84 // bytes before the first triangle of a binary file: a comment, the number of triangles
	stlTriangle = 50 // a normal, three corners, two bytes that mean nothing
)

// ParseSTL reads a stereolithography file, text or binary. Normals are not looked at.
func ParseSTL(data []byte) (*Mesh, error) {
	if len(data) > MaxBytes {
		return nil, whole(ErrTooLarge, "%d bytes, at most %d", len(data), MaxBytes)
	}
	// Binary files may begin with "solid" as well: their length tells.
	binaryForm := len(data) >= stlHeader && uint64(len(data)) == stlHeader+stlTriangle*uint64(binary.LittleEndian.Uint32(data[80:]))
	if !binaryForm && saysSolid(data) && !bytes.ContainsRune(data, 0) {
		return textSTL(data)
	}
	return binarySTL(data)
}

func saysSolid(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) >= 5 && strings.EqualFold(string(data[:5]), "solid")
}

func binarySTL(data []byte) (*Mesh, error) {
	if len(data) < stlHeader {
		return nil, &Error{Offset: int64(len(data)), Reason: ErrSyntax, What: fmt.Sprintf("ends within the header of %d bytes, and is no text that begins with solid", stlHeader)}
	}
	n := binary.LittleEndian.Uint32(data[80:])
	switch want := stlHeader + stlTriangle*uint64(n); {
	case n == 0:
		return nil, whole(ErrEmpty, "the file says so")
	case n > MaxTriangles:
		return nil, &Error{Offset: 80, Reason: ErrTooLarge, What: fmt.Sprintf("%d triangles, at most %d", n, MaxTriangles)}
	case uint64(len(data)) != want:
		return nil, &Error{Offset: int64(len(data)), Reason: ErrSyntax, What: fmt.Sprintf("has %d bytes, must have %d for %d triangles", len(data), want, n)}
	}
	var b builder
	for i := range int(n) {
		at := stlHeader + stlTriangle*i + 12 // behind the normal
		var t [3]int
		for k := range t {
			p, bad := point32(data[at+12*k:])
			if bad >= 0 {
				return nil, &Error{
					Offset: int64(at + 12*k + 4*bad), Reason: ErrNumber,
					What: fmt.Sprintf("corner %d of triangle %d is (%g, %g, %g), must be finite and at most %g", k, i, p.X, p.Y, p.Z, float64(spatial.MaxExtent)),
				}
			}
			t[k] = b.vertex(p)
		}
		b.mesh.Triangles = append(b.mesh.Triangles, t)
	}
	return &b.mesh, nil
}

// point32 reads three floats; bad is the first one that is no coordinate, or -1.
func point32(data []byte) (p r3.Vec, bad int) {
	bad = -1
	var c [3]float64
	for i := range c {
		c[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		if bad < 0 && !(math.Abs(c[i]) <= spatial.MaxExtent) {
			bad = i
		}
	}
	return r3.Vec{X: c[0], Y: c[1], Z: c[2]}, bad
}

// textSTL reads the form that people can read: solid, facet, outer loop, three times vertex, endloop, endfacet, endsolid. Several solids may follow each other.
func textSTL(data []byte) (*Mesh, error) {
	var b builder
	var t [3]int
	corners := 0
	// What may come next, by what came last.
	next := map[string][]string{
		"": {"solid"}, "solid": {"facet", "endsolid"}, "facet": {"outer"}, "outer": {"vertex"}, "vertex": {"vertex", "endloop"},
		"endloop": {"endfacet"}, "endfacet": {"facet", "endsolid"}, "endsolid": {"solid"},
	}
	last := ""
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		f := strings.Fields(text)
		if len(f) == 0 {
			continue
		}
		word := strings.ToLower(f[0])
		if !contains(next[last], word) {
			return nil, onLine(line, ErrSyntax, "%q where %s must come", clip(f[0]), strings.Join(next[last], " or "))
		}
		last = word
		switch word {
		case "outer":
			corners = 0
		case "vertex":
			p, ok := vector(f[1:])
			if !ok || len(f) != 4 {
				return nil, onLine(line, ErrNumber, "vertex %q: must be three numbers of at most %g", clip(strings.Join(f[1:], " ")), float64(spatial.MaxExtent))
			}
			if corners == 3 {
				return nil, onLine(line, ErrSyntax, "a facet has three corners, this is the fourth")
			}
			t[corners] = b.vertex(p)
			corners++
		case "endloop":
			if corners != 3 {
				return nil, onLine(line, ErrSyntax, "a facet has three corners, this one has %d", corners)
			}
			if b.mesh.Triangles = append(b.mesh.Triangles, t); len(b.mesh.Triangles) > MaxTriangles {
				return nil, onLine(line, ErrTooLarge, "more than %d triangles", MaxTriangles)
			}
		}
	}
	if last != "endsolid" {
		return nil, onLine(line, ErrSyntax, "ends after %q, without endsolid", last)
	}
	if len(b.mesh.Triangles) == 0 {
		return nil, whole(ErrEmpty, "no facet")
	}
	return &b.mesh, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
