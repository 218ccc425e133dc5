package plot

import (
	"fmt"
	"math"
	"strings"

	"agent_node/sim/world"
)

// thing is an object of the world and the way it took in a run.
type thing struct {
	world.Object
	stops []Thing
}

// lying are the world's objects, each with where it was in the run.
func lying(w *world.World, run []Sample) []thing {
	out := make([]thing, len(w.Objects))
	for i, o := range w.Objects {
		out[i].Object = o
		for _, s := range run {
			for _, at := range s.Objects {
				if at.Name == o.Name {
					out[i].stops = append(out[i].stops, at)
				}
			}
		}
	}
	return out
}

// end is the object where it lay at last.
func (t thing) end() world.Object {
	o := t.Object
	if n := len(t.stops); n > 0 {
		o.X, o.Y, o.Z = t.stops[n-1].X, t.stops[n-1].Y, t.stops[n-1].Z
	}
	return o
}

// way draws the way the object took, and where it began.
func (t thing) way(c *canvas) {
	const apart = 0.01 // m
	if len(t.stops) < 2 {
		return
	}
	first, last := t.stops[0], t.stops[0]
	var d strings.Builder
	fmt.Fprintf(&d, "M%.1f %.1f", c.x(first.X), c.y(first.Y))
	long := 0.0
	for _, s := range t.stops[1:] {
		if step := math.Hypot(s.X-last.X, s.Y-last.Y); step >= apart {
			fmt.Fprintf(&d, "L%.1f %.1f", c.x(s.X), c.y(s.Y))
			long += step
			last = s
		}
	}
	if long == 0 {
		return
	}
	colour, half := colourOf(t.Object), t.Size*scale
	c.add(`<path d="%s" fill="none" stroke="%s" stroke-width="2.2" stroke-dasharray="2 5" stroke-linecap="round"/>`, d.String(), colour)
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" fill="%s" fill-opacity="0.55" stroke="%s" stroke-width="1.5" stroke-dasharray="3 2"/>`,
		c.x(first.X)-half, c.y(first.Y)-half, 2*half, 2*half, floor, colour)
}

// colourOf is an object's colour, by the first word of its name.
func colourOf(o world.Object) string {
	for word, v := range objectColours {
		if strings.HasPrefix(o.Name, word) {
			return v
		}
	}
	return faint
}

// arm draws the arm, from above, as it stood at the end of the run.
func (c *canvas) arm(run []Sample) {
	p := world.Posture{Arm: c.w.Arm.Carry, Width: c.w.Gripper.Open}
	for _, s := range run {
		if len(s.Arm) == world.Joints {
			p = world.Posture{Arm: [world.Joints]float64(s.Arm), Width: s.Width}
		}
	}
	end := run[len(run)-1]
	base := world.Pose{X: end.X, Y: end.Y, Yaw: end.Yaw}.Transform(0)
	frames := c.w.Body.Frames(c.w.Positions(p))
	var d strings.Builder
	command := byte('M')
	for i, l := range c.w.Body {
		if l.Joint.Kind != world.Revolute && l.Name != world.LinkTool {
			continue
		}
		at := base.Apply(frames[i].P)
		fmt.Fprintf(&d, "%c%.1f %.1f", command, c.x(at.X), c.y(at.Y))
		command = 'L'
	}
	for _, stroke := range []struct {
		colour string
		width  float64
	}{{"#ffffff", 9}, {ink, 5.5}} {
		c.add(`<path d="%s" fill="none" stroke="%s" stroke-width="%.1f" stroke-linejoin="round" stroke-linecap="round"/>`, d.String(), stroke.colour, stroke.width)
	}
}
