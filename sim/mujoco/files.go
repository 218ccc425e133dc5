package mujoco

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"

	_ "embed"

	"agent_node/sim/robot"
	"agent_node/sim/urdftext"
	"agent_node/sim/world"
)

//go:generate go run ../write_models

//go:embed flat.xml.tmpl
var flatText string

// Files are the generated files by their paths in this folder.
func Files(w *world.World) (map[string][]byte, error) {
	text, err := robot.Description(w)
	if err != nil {
		return nil, err
	}
	r, err := urdftext.Read(text)
	if err != nil {
		return nil, err
	}
	t, err := template.New("flat").Funcs(functions(w, r)).Parse(flatText)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data{World: w, Root: r.Links[0], Drives: drivesOf(r), Start: w.Start()}); err != nil {
		return nil, fmt.Errorf("mujoco: flat.xml: %w", err)
	}
	return map[string][]byte{"flat.xml": out.Bytes()}, nil
}

// data is what the template is filled with.
type data struct {
	*world.World
	Root   urdftext.Link
	Drives []drive
	Start  world.Pose
}

func functions(w *world.World, r *urdftext.Robot) template.FuncMap {
	return template.FuncMap{
		"above": r.Above, "below": r.Below, "color": r.Color, "drive": driveOf, "geom": geometry,
		"lifted": func(link string) bool { return isAbove(r, link, w.Arm.Names[0]) },
		"box": func(b world.Box, height float64) string {
			x, y := b.Center()
			sx, sy := b.Size()
			return fmt.Sprintf(`pos="%s" size="%s"`, numbers(x, y, height/2), numbers(sx/2, sy/2, height/2))
		},
		"half": func(v float64) string { return numbers(v / 2) },
		"num":  func(v float64) string { return numbers(v) },
		"paint": func(name string) string {
			if c, ok := colors[strings.Fields(name)[0]]; ok {
				return c
			}
			return "0.6 0.6 0.6 1"
		},
	}
}

// What the objects' names say of their colours.
var colors = map[string]string{"red": "0.80 0.15 0.12 1", "blue": "0.15 0.30 0.80 1", "green": "0.15 0.60 0.25 1"}

// isAbove reports whether a link hangs on a joint, or on what hangs on it.
func isAbove(r *urdftext.Robot, link, joint string) bool {
	for j := r.Above(link); j != nil; j = r.Above(j.Parent.Link) {
		if j.Name == joint {
			return true
		}
	}
	return false
}

// geometry is a shape's type and size: MJCF has half lengths.
func geometry(s urdftext.Shape) (string, error) {
	half := func(text string) (string, error) {
		var out []float64
		for _, f := range strings.Fields(text) {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return "", err
			}
			out = append(out, v/2)
		}
		return numbers(out...), nil
	}
	switch g := s.Geometry; {
	case g.Box != nil:
		size, err := half(g.Box.Size)
		return `type="box" size="` + size + `"`, err
	case g.Cylinder != nil:
		long, err := half(g.Cylinder.Length)
		return `type="cylinder" size="` + g.Cylinder.Radius + " " + long + `"`, err
	case g.Sphere != nil:
		return `type="sphere" size="` + g.Sphere.Radius + `"`, nil
	}
	return "", fmt.Errorf("a shape that is neither box, cylinder nor sphere")
}

// numbers are written to 1e-12, so that halves of binary fractions stay short.
func numbers(v ...float64) string {
	out := make([]string, len(v))
	for i, x := range v {
		out[i] = strconv.FormatFloat(math.Round(x*1e12)/1e12+0, 'f', -1, 64)
	}
	return strings.Join(out, " ")
}
