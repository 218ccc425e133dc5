package mesh

import (
	"strconv"
	"strings"

	"agent_node/pkg/geometry/spatial"
)

// ParseOBJ reads a Wavefront file: its vertices and faces. Faces of more than three corners are cut into triangles about their first one. What is about
// looks (textures, normals, materials) and about curves is passed over; free-form surfaces are refused.
func ParseOBJ(data []byte) (*Mesh, error) {
	if len(data) > MaxBytes {
		return nil, whole(ErrTooLarge, "%d bytes, at most %d", len(data), MaxBytes)
	}
	var b builder
	var points []int // vertex of each v, equal ones as one
	line, joined := 0, ""
	for text := range strings.Lines(string(data)) {
		line++
		if text, _, _ = strings.Cut(text, "#"); strings.HasSuffix(strings.TrimRight(text, " \t\r\n"), `\`) {
			if joined += strings.TrimSuffix(strings.TrimRight(text, " \t\r\n"), `\`) + " "; len(joined) > 1<<16 {
				return nil, onLine(line, ErrTooLarge, "a line of more than %d bytes", 1<<16)
			}
			continue
		}
		f := strings.Fields(joined + text)
		joined = ""
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "v":
			p, ok := vector(f[1:])
			if !ok {
				return nil, onLine(line, ErrNumber, "v %q: must be three numbers of at most %g", clip(strings.Join(f[1:], " ")), float64(spatial.MaxExtent))
			}
			if points = append(points, b.vertex(p)); len(points) > MaxVertices {
				return nil, onLine(line, ErrTooLarge, "more than %d vertices", MaxVertices)
			}
		case "f":
			if err := b.face(f[1:], points, line); err != nil {
				return nil, err
			}
		case "curv", "curv2", "surf", "cstype", "deg", "bmat":
			return nil, onLine(line, ErrSyntax, "%s: curves and free-form surfaces are not read, only faces", f[0])
		}
	}
	if joined != "" {
		return nil, onLine(line, ErrSyntax, "the file ends within a line that goes on")
	}
	if len(b.mesh.Triangles) == 0 {
		return nil, whole(ErrEmpty, "no face")
	}
	return &b.mesh, nil
}

// face cuts one into triangles. A corner is a vertex's number from 1, or from the last one backwards if negative, and what follows a slash is about looks.
func (b *builder) face(fields []string, points []int, line int) error {
	if len(fields) < 3 {
		return onLine(line, ErrSyntax, "a face of %d corners, must have three or more", len(fields))
	}
	corners := make([]int, len(fields))
	for i, s := range fields {
		v, _, _ := strings.Cut(s, "/")
		n, err := strconv.Atoi(v)
		switch {
		case err != nil:
			return onLine(line, ErrIndex, "%q is no vertex's number", clip(s))
		case n < 0:
			n += len(points)
		default:
			n--
		}
		if n < 0 || n >= len(points) {
			return onLine(line, ErrIndex, "%q: there are %d vertices so far", clip(s), len(points))
		}
		corners[i] = points[n]
	}
	for i := 2; i < len(corners); i++ {
		b.mesh.Triangles = append(b.mesh.Triangles, [3]int{corners[0], corners[i-1], corners[i]})
	}
	if len(b.mesh.Triangles) > MaxTriangles {
		return onLine(line, ErrTooLarge, "more than %d triangles", MaxTriangles)
	}
	return nil
}
