package plot

import (
	"fmt"
	"io"
	"math"
	"strings"

	"agent_node/sim/world"
)

// Layout of the picture, in pixels.
const (
	scale  = 120.0 // pixels in a metre
	border = 28.0
	footer = 76.0
)

// Colours.
const (
	paper   = "#f7f5f0"
	floor   = "#ffffff"
	raster  = "#ebe7de"
	wall    = "#3d4654"
	wood    = "#e3d3b8"
	grain   = "#b59b70"
	danger  = "#d1495b"
	ink     = "#2b3340"
	faint   = "#7b8494"
	route   = "#2f6fb2"
	bodyTop = "#2f6fb2"
	pin     = "#1f8a70"
)

var objectColours = map[string]string{"red": "#d1342f", "blue": "#2456c9", "green": "#2e9e4f"}

// Options of a picture.
type Options struct {
	Title string
	// Marks is the time between two marks on the path, in seconds; 0 means 2.
	Marks float64
}

// SVG draws the world and, if run is not empty, what was driven in it.
func SVG(out io.Writer, w *world.World, run []Sample, o Options) error {
	if o.Marks <= 0 {
		o.Marks = 2
	}
	sx, sy := w.Bounds.Size()
	c := &canvas{w: w, width: sx*scale + 2*border, height: sy*scale + 2*border + footer}
	c.open()
	c.room()
	for _, z := range w.Zones {
		c.zone(z)
	}
	for _, f := range w.Furniture {
		c.furniture(f)
	}
	for _, s := range w.Walls {
		c.box(s.Box, wall, "none", 0)
		c.rim(s.Box)
	}
	for _, p := range w.Places {
		c.place(p)
	}
	things := lying(w, run)
	for i := range things {
		things[i].way(c)
	}
	if len(run) > 0 {
		c.path(run, o.Marks)
	}
	for _, t := range things {
		c.object(t.end())
	}
	c.names(things)
	c.foot(run, o)
	c.add(`</svg>`)
	_, err := io.WriteString(out, c.text.String())
	return err
}

type canvas struct {
	w             *world.World
	width, height float64
	text          strings.Builder
	taken         []rect
}

func (c *canvas) add(format string, args ...any) {
	fmt.Fprintf(&c.text, format, args...)
	c.text.WriteByte('\n')
}

// x and y are where a point of the map is on the canvas.
func (c *canvas) x(m float64) float64 { return border + (m-c.w.Bounds.MinX)*scale }
func (c *canvas) y(m float64) float64 { return border + (c.w.Bounds.MaxY-m)*scale }

func (c *canvas) open() {
	c.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="Inter, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif">`,
		c.width, c.height, c.width, c.height)
	c.add(`<defs>`)
	c.add(`<pattern id="hatch" width="11" height="11" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="11" height="11" fill="%s" fill-opacity="0.10"/><line x1="0" y1="0" x2="0" y2="11" stroke="%s" stroke-width="4" stroke-opacity="0.30"/></pattern>`, danger, danger)
	c.add(`<filter id="halo" x="-20%%" y="-20%%" width="140%%" height="140%%"><feDropShadow dx="0" dy="1.5" stdDeviation="1.5" flood-color="%s" flood-opacity="0.30"/></filter>`, ink)
	c.add(`</defs>`)
	c.add(`<rect width="100%%" height="100%%" fill="%s"/>`, paper)
}

// room is the floor with a line for every half metre.
func (c *canvas) room() {
	b := c.w.Bounds
	c.box(b, floor, "none", 0)
	for m := math.Ceil(b.MinX); m <= b.MaxX; m++ {
		c.line(m, b.MinY, m, b.MaxY, raster, 1)
	}
	for m := math.Ceil(b.MinY); m <= b.MaxY; m++ {
		c.line(b.MinX, m, b.MaxX, m, raster, 1)
	}
}

func (c *canvas) box(b world.Box, fill, stroke string, width float64) {
	sx, sy := b.Size()
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" stroke="%s" stroke-width="%.1f"/>`,
		c.x(b.MinX), c.y(b.MaxY), sx*scale, sy*scale, fill, stroke, width)
}

func (c *canvas) line(x0, y0, x1, y1 float64, stroke string, width float64) {
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%.1f"/>`,
		c.x(x0), c.y(y0), c.x(x1), c.y(y1), stroke, width)
}

func (c *canvas) zone(z world.Zone) {
	c.box(z.Box, "url(#hatch)", danger, 2)
	x, y := z.Box.Center()
	c.add(`<rect x="%.1f" y="%.1f" width="78" height="22" rx="4" fill="%s" fill-opacity="0.88"/>`, c.x(x)-39, c.y(y)-11, floor)
	c.label(c.x(x), c.y(y), 15, danger, "600", "middle", z.Name)
}

func (c *canvas) furniture(f world.Obstacle) {
	sx, sy := f.Box.Size()
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5" fill="%s" stroke="%s" stroke-width="1.5"/>`,
		c.x(f.Box.MinX), c.y(f.Box.MaxY), sx*scale, sy*scale, wood, grain)
	c.rim(f.Box)
}

// rim keeps labels off the edge of a box; inside they may stand.
func (c *canvas) rim(b world.Box) {
	const half, step = 3.0, 6.0
	for x := c.x(b.MinX); x <= c.x(b.MaxX); x += step {
		c.busy(x, c.y(b.MinY), half)
		c.busy(x, c.y(b.MaxY), half)
	}
	for y := c.y(b.MaxY); y <= c.y(b.MinY); y += step {
		c.busy(c.x(b.MinX), y, half)
		c.busy(c.x(b.MaxX), y, half)
	}
}

// names writes the names of places and objects.
func (c *canvas) names(things []thing) {
	for _, p := range c.w.Places {
		c.beside(c.x(p.Pose.X), c.y(p.Pose.Y), c.w.Robot.Radius*scale, 17, pin, "600", p.Name)
	}
	for _, t := range things {
		o := t.end()
		c.beside(c.x(o.X), c.y(o.Y), o.Size*scale, 12, ink, "400", o.Name)
	}
}

// place marks where the robot stands at a place, and how it looks there.
func (c *canvas) place(p world.Place) {
	x, y := c.x(p.Pose.X), c.y(p.Pose.Y)
	r := c.w.Robot.Radius * scale
	s, co := math.Sincos(p.Pose.Yaw)
	c.add(`<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s" fill-opacity="0.10" stroke="%s" stroke-width="1.8" stroke-dasharray="5 4"/>`, x, y, r, pin, pin)
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="2.5" stroke-linecap="round"/>`,
		x+0.62*r*co, y-0.62*r*s, x+0.95*r*co, y-0.95*r*s, pin)
	c.busy(x, y, 0.7*r)
}

func (c *canvas) object(o world.Object) {
	colour := colourOf(o)
	x, y := c.x(o.X), c.y(o.Y)
	// Twice their size: at true scale nobody would see them.
	half := o.Size * scale
	if o.Shape == world.Ball {
		c.add(`<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s" stroke="#ffffff" stroke-width="1.5"/>`, x, y, half, colour)
	} else {
		c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="1.5" fill="%s" stroke="#ffffff" stroke-width="1.5"/>`, x-half, y-half, 2*half, 2*half, colour)
	}
	c.busy(x, y, half)
}
