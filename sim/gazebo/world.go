package gazebo

import (
	_ "embed"
	"strings"
	"text/template"

	"agent_node/sim/world"
)

//go:embed world.sdf.tmpl
var worldText string

// What the objects' names say of their colours.
var colors = map[string]string{"red": "0.80 0.15 0.12 1", "blue": "0.15 0.30 0.80 1", "green": "0.15 0.60 0.25 1"}

const (
	objectFriction = 0.8
	// zoneHeight is how high the keep-out zone's mark on the floor is, m: far below the lidar's plane.
	zoneHeight = 0.002
)

func worldSDF(w *world.World) ([]byte, error) {
	t, err := template.New("world").Funcs(template.FuncMap{
		"id": ID, "half": func(v float64) float64 { return v / 2 },
		"color": func(name string) string {
			if c, ok := colors[strings.Fields(name)[0]]; ok {
				return c
			}
			return "0.6 0.6 0.6 1"
		},
		"box": func(b world.Box, height float64) solid {
			x, y := b.Center()
			sx, sy := b.Size()
			return solid{X: round(x), Y: round(y), Z: round(height / 2), SX: round(sx), SY: round(sy), SZ: height}
		},
		"moment": func(o world.Object) float64 { return o.Mass() * o.Size * o.Size * momentOf(o.Shape) },
	}).Parse(worldText)
	if err != nil {
		return nil, err
	}
	return fill(t, struct {
		*world.World
		Name                 string
		Friction, ZoneHeight float64
	}{w, WorldName, objectFriction, zoneHeight})
}

// solid is an upright box: its centre and its size, m.
type solid struct{ X, Y, Z, SX, SY, SZ float64 }

// momentOf is the moment of inertia of a shape about its centre, in m d^2 with d its edge or diameter.
func momentOf(s world.Shape) float64 {
	if s == world.Ball {
		return 0.1
	}
	return 1.0 / 6
}

// ID is a name as Gazebo's and ROS's names allow it: underscores for blanks.
func ID(name string) string { return strings.ReplaceAll(name, " ", "_") }
