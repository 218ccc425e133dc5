package gazebo

import (
	"bytes"
	"fmt"
	"math"

	"agent_node/sim/world"
)

// Grey levels of Nav2's maps.
const (
	occupied = 0
	free     = 254
)

// mapPGM is the flat's occupancy grid as an image: the first row is the one with the greatest y.
func mapPGM(w *world.World) []byte {
	g := w.Grid()
	return image(g, func(i int) bool { return g.Occupied[i] })
}

// keepOutPGM is the mask of Nav2's keep-out filter: a cell is out where the robot, with its middle anywhere in it, reaches into a
// zone. The filter comes after the costmap's inflation, so the mask has the robot's radius in it.
func keepOutPGM(w *world.World) []byte {
	g := w.Grid()
	reach := w.Robot.Radius + g.Resolution*math.Sqrt2/2
	return image(g, func(i int) bool { return w.ZoneDistance(g.Center(i)) < reach })
}

func image(g *world.Grid, black func(cell int) bool) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "P5\n%d %d\n255\n", g.Width, g.Height)
	for row := g.Height - 1; row >= 0; row-- {
		for column := range g.Width {
			level := byte(free)
			if black(row*g.Width + column) {
				level = occupied
			}
			out.WriteByte(level)
		}
	}
	return out.Bytes()
}

func mapYAML(w *world.World, image string) []byte {
	g := w.Grid()
	return fmt.Appendf(nil, `# Written by `+"`go run ./sim/write_models`"+` from sim/world.
image: %s
mode: trinary
resolution: %g
origin: [%g, %g, 0.0]
negate: 0
occupied_thresh: 0.65
free_thresh: 0.25
`, image, g.Resolution, g.OriginX, g.OriginY)
}

// round takes the dust of binary fractions off a length.
func round(v float64) float64 { return math.Round(v*1e9)/1e9 + 0 }
