package plot

import (
	"fmt"
	"math"
	"strings"
)

// path draws the way of the robot's middle, its body at regular times, and the robot
// where the run ended.
func (c *canvas) path(run []Sample, every float64) {
	var d strings.Builder
	for i, s := range thin(run) {
		command := 'L'
		if i == 0 {
			command = 'M'
		}
		fmt.Fprintf(&d, "%c%.1f %.1f", command, c.x(s.X), c.y(s.Y))
		c.busy(c.x(s.X), c.y(s.Y), 4)
	}
	r := c.w.Robot.Radius * scale
	c.add(`<path d="%s" fill="none" stroke="%s" stroke-opacity="0.10" stroke-width="%.1f" stroke-linejoin="round" stroke-linecap="round"/>`, d.String(), route, 2*r)
	c.add(`<path d="%s" fill="none" stroke="#ffffff" stroke-width="7" stroke-linejoin="round" stroke-linecap="round"/>`, d.String())
	c.add(`<path d="%s" fill="none" stroke="%s" stroke-width="3.6" stroke-linejoin="round" stroke-linecap="round"/>`, d.String(), route)
	c.marks(run, every)
	c.robot(run[len(run)-1])
	c.arm(run)
}

// thin leaves out samples that are no new point on paper.
func thin(run []Sample) []Sample {
	const apart = 0.01 // m
	out := run[:1:1]
	for _, s := range run[1:] {
		if last := out[len(out)-1]; math.Hypot(s.X-last.X, s.Y-last.Y) >= apart {
			out = append(out, s)
		}
	}
	return out
}

// marks puts a dot on the path for every so many seconds, with the time where there is room.
func (c *canvas) marks(run []Sample, every float64) {
	const room = 30.0 // pixels between two marks, and from the ends
	next := run[0].T + every
	px, py := c.x(run[0].X), c.y(run[0].Y)
	end := run[len(run)-1]
	for _, s := range run {
		if s.T < next {
			continue
		}
		next += every
		x, y := c.x(s.X), c.y(s.Y)
		if math.Hypot(x-px, y-py) < room || math.Hypot(x-c.x(end.X), y-c.y(end.Y)) < room+c.w.Robot.Radius*scale/2 {
			continue
		}
		px, py = x, y
		// The text stands beside the path: to the right of the way the robot looks.
		side, along := math.Sincos(s.Yaw)
		c.add(`<circle cx="%.1f" cy="%.1f" r="4.6" fill="#ffffff" stroke="%s" stroke-width="2.4"/>`, x, y, route)
		tx, ty := x+22*side, y+18*along
		c.busy(tx, ty, 10)
		c.label(tx, ty, 12, faint, "500", "middle", fmt.Sprintf("%.0f s", s.T-run[0].T))
	}
}

// robot draws the robot itself.
func (c *canvas) robot(s Sample) {
	v := c.w.Robot
	c.add(`<g transform="translate(%.1f %.1f) rotate(%.1f)" filter="url(#halo)">`, c.x(s.X), c.y(s.Y), -s.Yaw*180/math.Pi)
	for _, y := range []float64{v.WheelTrack / 2, -v.WheelTrack / 2} {
		c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="7" rx="2" fill="%s"/>`, -v.WheelRadius*scale, y*scale-3.5, 2*v.WheelRadius*scale, ink)
	}
	c.add(`<circle r="%.1f" fill="%s" stroke="#ffffff" stroke-width="2"/>`, v.Radius*scale-1, bodyTop)
	c.add(`<path d="M%.1f 0 L%.1f %.1f L%.1f %.1f Z" fill="#ffffff"/>`, 0.82*v.Radius*scale, 0.30*v.Radius*scale, 0.42*v.Radius*scale, 0.30*v.Radius*scale, -0.42*v.Radius*scale)
	c.add(`<circle r="%.1f" fill="%s"/>`, 0.20*v.Radius*scale, ink)
	c.add(`</g>`)
}

// foot writes the title, what was driven, the legend and the scale.
func (c *canvas) foot(run []Sample, o Options) {
	y := c.height - footer + 6
	title := o.Title
	if title == "" {
		title = "The built-in robot's world"
	}
	c.plain(border, y, 19, ink, "600", "start", title)
	if len(run) > 0 {
		driven := 0.0
		for i := 1; i < len(run); i++ {
			driven += math.Hypot(run[i].X-run[i-1].X, run[i].Y-run[i-1].Y)
		}
		c.plain(border, y+27, 14, faint, "400", "start", fmt.Sprintf("%.1f m driven in %.1f s; a dot every %.0f s", driven, run[len(run)-1].T-run[0].T, o.Marks))
	}
	c.legend(c.width-border, y)
}

// legend is right-aligned at x.
func (c *canvas) legend(x, y float64) {
	bar := x - scale
	c.add(`<path d="M%.1f %.1f v6 h%.1f v-6" fill="none" stroke="%s" stroke-width="1.8"/>`, bar, y+18, scale, ink)
	c.plain(bar+scale/2, y+38, 13, ink, "400", "middle", "1 m")

	at := bar - 440
	item := func(width float64, text, shape string, args ...any) {
		c.add(shape, args...)
		c.plain(at+34, y+24, 13, ink, "400", "start", text)
		at += width
	}
	item(120, "driven", `<path d="M%.1f %.1f h26" stroke="%s" stroke-width="3.6" stroke-linecap="round"/>`, at, y+24, route)
	item(165, "keep-out zone", `<rect x="%.1f" y="%.1f" width="26" height="16" fill="url(#hatch)" stroke="%s" stroke-width="1.5"/>`, at, y+16, danger)
	item(120, "obstacle", `<rect x="%.1f" y="%.1f" width="13" height="16" fill="%s"/><rect x="%.1f" y="%.1f" width="13" height="16" fill="%s" stroke="%s"/>`, at, y+16, wall, at+13, y+16, wood, grain)
}
