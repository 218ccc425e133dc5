package mesh_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/mesh"
)

// cube of a side of 2 about a centre, as corners and outward triangles.
func cube(x float64) (corners []r3.Vec, faces [][3]int) {
	for k := range 8 {
		corners = append(corners, r3.Vec{X: x + float64(2*(k&1)-1), Y: float64((k & 2) - 1), Z: float64((k&4)/2 - 1)})
	}
	for _, q := range [][4]int{{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}} {
		faces = append(faces, [3]int{q[0], q[1], q[2]}, [3]int{q[0], q[2], q[3]})
	}
	return corners, faces
}

func textCube(x float64) string {
	var b strings.Builder
	corners, faces := cube(x)
	b.WriteString("solid cube\n")
	for _, f := range faces {
		b.WriteString(" facet normal 0 0 0\n  outer loop\n")
		for _, i := range f {
			fmt.Fprintf(&b, "   vertex %g %g %e\n", corners[i].X, corners[i].Y, corners[i].Z)
		}
		b.WriteString("  endloop\n endfacet\n")
	}
	b.WriteString("endsolid cube\n")
	return b.String()
}

func binaryCube(header string) []byte {
	corners, faces := cube(0)
	var b bytes.Buffer
	b.WriteString(header + strings.Repeat("\x00", 80-len(header)))
	put := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	put(uint32(len(faces)))
	for _, f := range faces {
		put([3]float32{float32(math.NaN()), 0, 0}) // a normal that nobody reads
		for _, i := range f {
			put([3]float32{float32(corners[i].X), float32(corners[i].Y), float32(corners[i].Z)})
		}
		put(uint16(0xffff))
	}
	return b.Bytes()
}

func objCube() string {
	var b strings.Builder
	corners, _ := cube(0)
	b.WriteString("# a cube\nmtllib x.mtl\no cube\n")
	for _, c := range corners {
		fmt.Fprintf(&b, "v %g %g %g 1.0\n", c.X, c.Y, c.Z)
	}
	b.WriteString("vn 0 0 1\nvt 0 0\nusemtl red\ns off\n")
	b.WriteString("f 1//1 3//1 4//1 2//1\nf 5/1/1 6/1/1 8/1/1 7/1/1\nf -8 -7 -3 \\\n -4\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6 # the last\n")
	return b.String()
}

func TestTheSameCubeInEveryForm(t *testing.T) {
	for name, data := range map[string][]byte{
		"text.stl": []byte(textCube(0)), "UPPER.STL": []byte(strings.ToUpper(textCube(0))), "binary.stl": binaryCube("made by hand"),
		"binary that says solid.stl": binaryCube("solid cube"), "cube.obj": []byte(objCube()),
		"crlf.obj": []byte(strings.ReplaceAll(objCube(), "\n", "\r\n")), "crlf.stl": []byte(strings.ReplaceAll(textCube(0), "\n", "\r\n")),
	} {
		m, err := mesh.Parse(name, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(m.Vertices) != 8 || len(m.Triangles) != 12 {
			t.Errorf("%s: %d vertices, %d triangles", name, len(m.Vertices), len(m.Triangles))
		}
		// Outward triangles of a closed surface: the volume is that of the cube.
		volume := 0.0
		for _, f := range m.Triangles {
			volume += r3.Dot(m.Vertices[f[0]], r3.Cross(m.Vertices[f[1]], m.Vertices[f[2]])) / 6
		}
		if math.Abs(volume-8) > 1e-12 {
			t.Errorf("%s: volume %g, want 8", name, volume)
		}
	}
}

func TestMalformedFilesAreRefusedWithALine(t *testing.T) {
	replace := func(s, old, by string, n int) []byte { return []byte(strings.Replace(s, old, by, n)) }
	cut := binaryCube("x")
	bad := binaryCube("x")
	copy(bad[84+12+8:], []byte{0, 0, 0x80, 0x7f}) // +Inf
	many := binaryCube("x")
	binary.LittleEndian.PutUint32(many[80:], 0xffffffff)
	none := binaryCube("x")[:84]
	binary.LittleEndian.PutUint32(none[80:], 0)
	text, obj := textCube(0), objCube()
	for _, tc := range []struct {
		name   string
		data   []byte
		reason error
		where  string
	}{
		{"empty.stl", nil, mesh.ErrSyntax, "byte 0"},
		{"short.stl", cut[:100], mesh.ErrSyntax, "byte 100"},
		{"long.stl", append(bytes.Clone(cut), 0), mesh.ErrSyntax, "byte 685"},
		{"infinite.stl", bad, mesh.ErrNumber, "byte 104"},
		{"many.stl", many, mesh.ErrTooLarge, "byte 80"},
		{"none.stl", none, mesh.ErrEmpty, ""},
		{"text none.stl", []byte("solid x\nendsolid x\n"), mesh.ErrEmpty, ""},
		{"text cut.stl", []byte(text[:len(text)-len("endsolid cube\n")]), mesh.ErrSyntax, "line 85"},
		{"text nan.stl", replace(text, "vertex -1 -1", "vertex NaN -1", 1), mesh.ErrNumber, "line 4"},
		{"text hex.stl", replace(text, "vertex -1 -1", "vertex 0x1p3 -1", 1), mesh.ErrNumber, "line 4"},
		{"text huge.stl", replace(text, "vertex -1 -1", "vertex 1e300 -1", 1), mesh.ErrNumber, "line 4"},
		{"text two numbers.stl", replace(text, "vertex -1 -1", "vertex -1", 1), mesh.ErrNumber, "line 4"},
		{"text quad.stl", replace(text, "  endloop", "   vertex 0 0 0\n  endloop", 1), mesh.ErrSyntax, "line 7"},
		{"text two corners.stl", []byte("solid\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n"), mesh.ErrSyntax, "line 6"},
		{"text word.stl", replace(text, "outer", "inner", 1), mesh.ErrSyntax, "line 3"},
		{"index.obj", replace(obj, "f 3 7 8 4", "f 3 7 9 4", 1), mesh.ErrIndex, "line 20"},
		{"zero.obj", replace(obj, "f 3 7 8 4", "f 0 7 8 4", 1), mesh.ErrIndex, "line 20"},
		{"far back.obj", replace(obj, "f -8", "f -9", 1), mesh.ErrIndex, "line 19"},
		{"text index.obj", replace(obj, "f 3 7 8 4", "f 3 x 8 4", 1), mesh.ErrIndex, "line 20"},
		{"two corners.obj", replace(obj, "f 3 7 8 4", "f 3 7", 1), mesh.ErrSyntax, "line 20"},
		{"nan.obj", replace(obj, "v -1 -1 -1", "v nan -1 -1", 1), mesh.ErrNumber, "line 4"},
		{"infinite.obj", replace(obj, "v -1 -1 -1", "v 1e999 -1 -1", 1), mesh.ErrNumber, "line 4"},
		{"no faces.obj", []byte("v 0 0 0\n"), mesh.ErrEmpty, ""},
		{"goes on.obj", []byte("v 0 0 0 \\\n"), mesh.ErrSyntax, "line 1"},
		{"surface.obj", []byte("v 0 0 0\nsurf 0 1 0 1 1\n"), mesh.ErrSyntax, "line 2"},
		{"shape.dae", []byte("<COLLADA/>"), mesh.ErrFormat, ".dae"},
		{"noext", []byte(text), mesh.ErrFormat, "noext"},
	} {
		m, err := mesh.Parse(tc.name, tc.data)
		var e *mesh.Error
		if m != nil || !errors.Is(err, tc.reason) || !errors.As(err, &e) || !strings.Contains(err.Error(), tc.where) {
			t.Errorf("%s: %v, want %v with %q", tc.name, err, tc.reason, tc.where)
		}
	}
}

func TestPieces(t *testing.T) {
	two := textCube(0) + textCube(5)
	open := strings.Replace(two, " facet normal 0 0 0\n  outer loop\n", " facet normal 0 0 0\n  outer loop\n   vertex 9 9 9\n   vertex 8 9 9\n   vertex 9 8 9\n  endloop\n endfacet\n facet normal 0 0 0\n  outer loop\n", 1)
	for _, tc := range []struct {
		name, text string
		want       []int
	}{
		{"one cube", textCube(0), []int{8}},
		{"two cubes that are apart", two, []int{8, 8}},
		{"and a loose triangle, which is no closed surface", open, []int{19}},
		{"sixty-five cubes are taken as one", many(65), []int{8 * 65}},
		{"sixty-four are not", many(64), repeat(8, 64)},
	} {
		m, err := mesh.ParseSTL([]byte(tc.text))
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var got []int
		for _, p := range m.Pieces() {
			got = append(got, len(p))
		}
		if fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s: pieces of %v points, want %v", tc.name, got, tc.want)
		}
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(textCube(float64(5 * i)))
	}
	return b.String()
}

func repeat(v, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func TestFilesOfDescriptions(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "my robot"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "my robot", "a.obj")
	if err := os.WriteFile(file, []byte(objCube()), 0o600); err != nil {
		t.Fatal(err)
	}
	files := mesh.Files{Package: func(name string) (string, error) {
		if name != "pkg" {
			return "", fmt.Errorf("no package %q", name)
		}
		return dir, nil
	}}
	for uri, ok := range map[string]bool{
		"package://pkg/my robot/a.obj": true, "package://pkg/my%20robot/a.obj": true, "file://" + filepath.ToSlash(file): true, file: true,
		"package://other/my robot/a.obj": false, "package://pkg/../etc/passwd": false, "package://pkg//etc/passwd": false, "package://pkg": false,
		"package:///a.obj": false, "file://host/a.obj": false, "http://host/a.obj": false, "model://a.obj": false, "a.obj": false, "../a.obj": false, "": false,
		dir: false, "/dev/zero": false, filepath.Join(dir, "none.obj"): false, "file://%zz": false,
	} {
		m, err := files.Load(uri)
		if (err == nil) != ok {
			t.Errorf("%q: %v", uri, err)
		}
		if err == nil && len(m.Triangles) != 12 {
			t.Errorf("%q: %d triangles", uri, len(m.Triangles))
		}
		if err != nil && !errors.Is(err, mesh.ErrFile) {
			t.Errorf("%q: %v is no ErrFile", uri, err)
		}
	}
	if _, err := (mesh.Files{}).Load("package://pkg/a.obj"); !errors.Is(err, mesh.ErrFile) {
		t.Errorf("without packages: %v", err)
	}
}

func sound(t *testing.T, m *mesh.Mesh) {
	for _, f := range m.Triangles {
		for _, i := range f {
			if i < 0 || i >= len(m.Vertices) {
				t.Fatalf("triangle %v of %d vertices", f, len(m.Vertices))
			}
			if p := m.Vertices[i]; !(math.Abs(p.X)+math.Abs(p.Y)+math.Abs(p.Z) <= 3e6) {
				t.Fatalf("vertex %v", p)
			}
		}
	}
	if len(m.Triangles) == 0 || len(m.Pieces()) == 0 {
		t.Fatalf("%d triangles, %d pieces", len(m.Triangles), len(m.Pieces()))
	}
}

func FuzzParseSTL(f *testing.F) {
	f.Add([]byte(textCube(0)[:300]))
	f.Add(binaryCube("solid"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := mesh.ParseSTL(data); err == nil {
			sound(t, m)
		}
	})
}

func FuzzParseOBJ(f *testing.F) {
	f.Add([]byte(objCube()))
	f.Add([]byte("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1/2/3 -2 -3\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := mesh.ParseOBJ(data); err == nil {
			sound(t, m)
		}
	})
}
