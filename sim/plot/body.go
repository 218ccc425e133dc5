package plot

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"agent_node/sim/world"
)

// Layout of the picture of the robot, in pixels.
const (
	bodyWidth   = 1240.0
	bodyHeight  = 820.0
	panelTop    = 92.0
	panelHeight = 470.0
)

// Body draws the robot as its description has it: from the side and from above in the carry pose, from the side at a table in
// another one, with its joints' limits. What is drawn of the links are their collision shapes.
func Body(out io.Writer, w *world.World, at world.Posture) error {
	c := &canvas{w: w, width: bodyWidth, height: bodyHeight}
	c.open()
	c.plain(border, 34, 21, ink, "600", "start", "The robot, as its URDF has it")
	c.plain(border, 60, 14, faint, "400", "start", "Links are drawn as their collision shapes. A dot is a joint that turns about the line of sight, a bar one that turns about an axis in the picture.")
	carry := world.Posture{Arm: w.Arm.Carry, Width: w.Gripper.Open}
	side := [2]world.Vec{{X: 1}, {Z: 1}}
	c.panel(view{c: c, x0: border, width: 372, title: "carry pose, from the side", scale: 430, middle: world.Vec{X: 0.02, Z: 0.42}, axes: side}, carry, true)
	c.panel(view{c: c, x0: 416, width: 300, title: "carry pose, from above", scale: 430, middle: world.Vec{}, axes: [2]world.Vec{{X: 1}, {Y: 1}}}, carry, false)
	c.panel(view{c: c, x0: 732, width: 480, title: "at the table, from the side", scale: 400, middle: world.Vec{X: 0.25, Z: 0.42}, axes: side, table: true}, at, false)
	c.limits(border, panelTop+panelHeight+34)
	c.add(`</svg>`)
	_, err := io.WriteString(out, c.text.String())
	return err
}

// view is one look at the robot, along an axis of base_link.
type view struct {
	c         *canvas
	x0, width float64
	title     string
	scale     float64 // pixels in a metre
	middle    world.Vec
	axes      [2]world.Vec // what points right and up
	table     bool         // the table stands in front, with an object on it
}

// spot is where a point in base_link is in the picture.
func (v view) spot(p world.Vec) spot {
	p = p.Sub(v.middle)
	return spot{v.x0 + v.width/2 + v.scale*p.Dot(v.axes[0]), panelTop + panelHeight/2 - v.scale*p.Dot(v.axes[1])}
}

// sight points at whoever looks.
func (v view) sight() world.Vec { return v.axes[0].Cross(v.axes[1]) }

func (c *canvas) panel(v view, p world.Posture, named bool) {
	c.taken = c.taken[:0]
	id := fmt.Sprintf("panel%.0f", v.x0)
	c.add(`<clipPath id="%s"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8"/></clipPath>`, id, v.x0, panelTop, v.width, panelHeight)
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8" fill="%s" stroke="%s"/>`, v.x0, panelTop, v.width, panelHeight, floor, raster)
	c.add(`<g clip-path="url(#%s)">`, id)
	frames := c.w.Body.Frames(c.w.Positions(p))
	v.grid()
	v.sightOfCamera(frames)
	if v.axes[1].Z == 0 {
		v.footprint()
	} else {
		v.ground()
	}
	if v.table {
		v.furniture()
	}
	v.links(frames)
	if v.table {
		v.object(frames)
	}
	v.joints(frames, named)
	c.add(`</g>`)
	c.plain(v.x0+14, panelTop+22, 15, ink, "600", "start", v.title)
	v.bar()
}

// grid has a line for every tenth of a metre.
func (v view) grid() {
	for i := -20; i <= 20; i++ {
		m := float64(i) / 10
		a, b := v.spot(v.axes[0].Scale(m)), v.spot(v.axes[1].Scale(m))
		v.c.add(`<path d="M%.1f %.1f V%.1f M%.1f %.1f H%.1f" stroke="%s" stroke-width="1"/>`, a.x, panelTop, panelTop+panelHeight, v.x0, b.y, v.x0+v.width, raster)
	}
}

// ground is the floor, from the side.
func (v view) ground() {
	at := v.spot(world.Vec{})
	v.c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, v.x0, at.y, v.width, panelTop+panelHeight-at.y, raster)
	v.c.add(`<path d="M%.1f %.1f H%.1f" stroke="%s" stroke-width="2"/>`, v.x0, at.y, v.x0+v.width, wall)
}

// sightOfCamera shades what is in view of the camera.
func (v view) sightOfCamera(frames []world.Transform) {
	f := frames[v.c.w.Body.Index(world.LinkCamera)]
	half := v.c.w.Camera.VerticalFOV / 2
	edge := func(sign float64) world.Vec { return world.Vec{X: 1, Z: sign * math.Tan(half)} }
	if v.axes[1].Z == 0 {
		half = v.c.w.Camera.HorizontalFOV / 2
		edge = func(sign float64) world.Vec { return world.Vec{X: 1, Y: sign * math.Tan(half)} }
	}
	from, a, b := v.spot(f.P), v.spot(f.Apply(edge(1).Scale(2))), v.spot(f.Apply(edge(-1).Scale(2)))
	v.c.add(`<path d="M%.1f %.1f L%.1f %.1f L%.1f %.1f Z" fill="%s" fill-opacity="0.10"/>`, from.x, from.y, a.x, a.y, b.x, b.y, pin)
}

func (v view) footprint() {
	at := v.spot(world.Vec{})
	v.c.add(`<circle cx="%.1f" cy="%.1f" r="%.1f" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="6 5"/>`, at.x, at.y, v.c.w.Robot.Radius*v.scale, danger)
}

// furniture is what stands before the robot at the table.
func (v view) furniture() {
	const near, far = 0.40, 1.0
	a, b := v.spot(world.Vec{X: near, Z: 0.4}), v.spot(world.Vec{X: far})
	v.c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="3" fill="%s" stroke="%s" stroke-width="1.5"/>`, a.x, a.y, b.x-a.x, b.y-a.y, wood, grain)
}

// object is a cube at the tool.
func (v view) object(frames []world.Transform) {
	size := v.c.w.Objects[0].Size
	at := v.spot(frames[v.c.w.Body.Index(world.LinkTool)].P)
	s := size * v.scale
	v.c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" fill="%s" fill-opacity="0.75" stroke="#ffffff"/>`, at.x-s/2, at.y-s/2, s, s, objectColours["red"])
}

// links draws the solids, the farthest first.
func (v view) links(frames []world.Transform) {
	type piece struct {
		far  float64
		link world.Link
		s    world.Solid
		t    world.Transform
	}
	var all []piece
	for i, l := range v.c.w.Body {
		for _, s := range l.Solids {
			a, b := v.spot(frames[i].Apply(s.A)), v.spot(frames[i].Apply(s.B))
			for _, f := range []float64{0, 0.25, 0.5, 0.75, 1} {
				v.c.busy(a.x+f*(b.x-a.x), a.y+f*(b.y-a.y), 5)
			}
			all = append(all, piece{frames[i].Apply(s.Center()).Dot(v.sight()), l, s, frames[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b piece) int {
		if a.far < b.far {
			return -1
		} else if a.far > b.far {
			return 1
		}
		return 0
	})
	for _, p := range all {
		fill := bodyTop
		if p.link.Dark {
			fill = ink
		}
		v.c.add(`<path d="%s" fill="%s" fill-opacity="0.82" stroke="#ffffff" stroke-width="1.4"/>`, v.outline(p.s, p.t), fill)
	}
}

// outline is the path around a solid. A capsule's is that of two circles: it looks so from everywhere.
func (v view) outline(s world.Solid, t world.Transform) string {
	var points []spot
	if s.Kind == world.Capsule || s.Kind == world.Sphere {
		ends := []world.Vec{t.Apply(s.A), t.Apply(s.B)}
		if s.Kind == world.Sphere {
			ends = ends[:1]
		}
		for _, end := range ends {
			at := v.spot(end)
			for i := range 48 {
				sin, cos := math.Sincos(2 * math.Pi * float64(i) / 48)
				points = append(points, spot{at.x + v.scale*s.Radius*cos, at.y + v.scale*s.Radius*sin})
			}
		}
	} else {
		for _, p := range surface(s) {
			points = append(points, v.spot(t.Apply(p)))
		}
	}
	var d strings.Builder
	command := byte('M')
	for _, p := range hull(points) {
		fmt.Fprintf(&d, "%c%.1f %.1f", command, p.x, p.y)
		command = 'L'
	}
	return d.String() + "Z"
}

// joints marks the arm's joints and the frames that others ask for, with their names if there is room for them.
func (v view) joints(frames []world.Transform, named bool) {
	const mark = 4.5
	for i, l := range v.c.w.Body {
		frame := slices.Contains([]string{world.LinkTool, world.LinkCamera, world.LinkLaser}, l.Name)
		if l.Joint.Kind != world.Revolute && !frame {
			continue
		}
		at := v.spot(frames[i].P)
		name := l.Name
		if l.Joint.Kind == world.Revolute {
			name = strings.TrimSuffix(l.Joint.Name, "_joint")
			axis := frames[i].R.Apply(l.Joint.Axis)
			dx, dy := 15*axis.Dot(v.axes[0]), -15*axis.Dot(v.axes[1])
			v.c.add(`<path d="M%.1f %.1f L%.1f %.1f" stroke="#f2b33d" stroke-width="3.4" stroke-linecap="round"/>`, at.x-dx, at.y-dy, at.x+dx, at.y+dy)
			v.c.add(`<circle cx="%.1f" cy="%.1f" r="%.1f" fill="#f2b33d" stroke="#ffffff" stroke-width="1.2"/>`, at.x, at.y, mark)
		} else {
			v.c.add(`<path d="M%.1f %.1f h12 M%.1f %.1f v12" stroke="%s" stroke-width="2.4"/>`, at.x-6, at.y, at.x, at.y-6, danger)
		}
		v.c.busy(at.x, at.y, 10)
		if named {
			defer v.c.beside(at.x, at.y, 14, 12.5, ink, "500", name)
		}
	}
}

// bar is the scale.
func (v view) bar() {
	x, y, long := v.x0+v.width-14, panelTop+panelHeight-16, 0.2*v.scale
	v.c.add(`<path d="M%.1f %.1f v-6 h-%.1f v6" fill="none" stroke="%s" stroke-width="1.8"/>`, x, y, long, ink)
	v.c.plain(x-long/2, y-16, 12, ink, "400", "middle", "0.2 m")
}

// limits is the table of the joints.
func (c *canvas) limits(x, y float64) {
	const row = 24.0
	columns := []struct {
		at     float64
		anchor string
		head   string
	}{{0, "start", "joint"}, {330, "end", "from"}, {420, "end", "to"}, {540, "end", "speed"}, {690, "end", "acceleration"}, {790, "end", "effort"}, {890, "end", "carry"}}
	write := func(y float64, fill, weight string, cells ...string) {
		for i, text := range cells {
			c.plain(x+columns[i].at, y, 13.5, fill, weight, columns[i].anchor, text)
		}
	}
	heads := make([]string, len(columns))
	for i, col := range columns {
		heads[i] = col.head
	}
	write(y, ink, "600", heads...)
	c.add(`<path d="M%.1f %.1f H%.1f" stroke="%s" stroke-width="1"/>`, x, y+row/2, x+columns[len(columns)-1].at, wall)
	c.plain(x+960, y, 13.5, ink, "600", "start", "figures")
	mass := 0.0
	for _, l := range c.w.Body {
		mass += l.Mass
		if l.Parent == "" || l.Joint.Mimic != "" || l.Joint.Kind != world.Revolute && l.Joint.Kind != world.Prismatic {
			continue
		}
		y += row
		j, unit, force := l.Joint, "rad", "Nm"
		if j.Kind == world.Prismatic {
			unit, force = "m", "N"
		}
		carry, acceleration := "", ""
		if i := slices.Index(c.w.Arm.Names[:], j.Name); i >= 0 {
			carry, acceleration = fmt.Sprintf("%.3f rad", c.w.Arm.Carry[i]), fmt.Sprintf("%.1f rad/s²", j.Acceleration)
		}
		write(y, ink, "400", j.Name, fmt.Sprintf("%.2f %s", j.Lower, unit), fmt.Sprintf("%.2f %s", j.Upper, unit),
			fmt.Sprintf("%.2f %s/s", j.Velocity, unit), acceleration, fmt.Sprintf("%.0f %s", j.Effort, force), carry)
	}
	y -= 6 * row
	for i, text := range []string{
		fmt.Sprintf("%.1f kg in all", mass),
		fmt.Sprintf("gripper opens %.0f mm", 1000*c.w.Gripper.Open),
		fmt.Sprintf("camera sees %.1f to %.1f m", c.w.Camera.RangeMin, c.w.Camera.RangeMax),
		"shaded: in view of the camera",
		"dashed: footprint",
	} {
		c.plain(x+960, y+float64(i)*row, 13.5, ink, "400", "start", text)
	}
}
