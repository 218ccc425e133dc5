package mesh

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// Bounds of what is read: a collision shape is far below them.
const (
	MaxBytes     = 64 << 20
	MaxTriangles = 1 << 20
	MaxVertices  = 1 << 20
)

// Mesh is a surface of triangles.
type Mesh struct {
	Vertices  []r3.Vec
	Triangles [][3]int // indices of vertices
}

// Reasons why a file is refused. Every error about a file's content is an *Error that wraps one of them.
var (
	ErrFormat   = errors.New("unknown format")
	ErrSyntax   = errors.New("malformed")
	ErrNumber   = errors.New("bad number")
	ErrIndex    = errors.New("bad index")
	ErrEmpty    = errors.New("no triangles")
	ErrTooLarge = errors.New("too large")
)

// Error says where a file goes wrong, and how.
type Error struct {
	Line   int   // of a text, from 1; 0: the file as a whole
	Offset int64 // of a binary file, in bytes; -1: none
	What   string
	Reason error
}

// Error has the line first.
func (e *Error) Error() string {
	at := ""
	switch {
	case e.Line > 0:
		at = fmt.Sprintf("line %d: ", e.Line)
	case e.Offset >= 0:
		at = fmt.Sprintf("byte %d: ", e.Offset)
	}
	return fmt.Sprintf("mesh: %s%v: %s", at, e.Reason, e.What)
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Reason }

func whole(reason error, format string, args ...any) *Error {
	return &Error{Offset: -1, Reason: reason, What: fmt.Sprintf(format, args...)}
}

func onLine(line int, reason error, format string, args ...any) *Error {
	return &Error{Line: line, Offset: -1, Reason: reason, What: fmt.Sprintf(format, args...)}
}

// Parse reads a file's content; the format is that of the name's ending: .stl or .obj.
func Parse(name string, data []byte) (*Mesh, error) {
	if len(data) > MaxBytes {
		return nil, whole(ErrTooLarge, "%d bytes, at most %d", len(data), MaxBytes)
	}
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".stl":
		return ParseSTL(data)
	case ".obj":
		return ParseOBJ(data)
	default:
		return nil, whole(ErrFormat, "%q: .stl and .obj are read; convert what is neither (a .dae, for instance)", name)
	}
}

// number reads a plain decimal number: no NaN, no infinity, no hexadecimal, nothing over spatial.MaxExtent.
func number(s string) (float64, bool) {
	for _, c := range s {
		if (c < '0' || c > '9') && !strings.ContainsRune("+-.eE", c) {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && math.Abs(v) <= spatial.MaxExtent
}

// vector reads three numbers.
func vector(fields []string) (v r3.Vec, ok bool) {
	if len(fields) < 3 {
		return v, false
	}
	var c [3]float64
	for i := range c {
		if c[i], ok = number(fields[i]); !ok {
			return v, false
		}
	}
	return r3.Vec{X: c[0], Y: c[1], Z: c[2]}, true
}

// clip keeps what is quoted in an error short.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

// builder collects triangles, with equal corners as one vertex.
type builder struct {
	mesh  Mesh
	index map[r3.Vec]int
}

func (b *builder) vertex(p r3.Vec) int {
	p = r3.Add(p, r3.Vec{}) // -0 is 0
	if i, ok := b.index[p]; ok {
		return i
	}
	if b.index == nil {
		b.index = map[r3.Vec]int{}
	}
	i := len(b.mesh.Vertices)
	b.index[p] = i
	b.mesh.Vertices = append(b.mesh.Vertices, p)
	return i
}
