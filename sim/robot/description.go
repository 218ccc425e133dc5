package robot

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"

	"agent_node/sim/world"
)

//go:embed description.urdf.tmpl
var descriptionText string

// Description is the robot's URDF. The origin of base_link is on the floor, in the middle
// between the wheels. Plain URDF knows no capsule: one is a cylinder and a ball at each of its ends.
func Description(w *world.World) (string, error) {
	t, err := template.New("urdf").Parse(descriptionText)
	if err != nil {
		return "", fmt.Errorf("robot: description: %w", err)
	}
	links := make([]linkText, 0, len(w.Body))
	for _, l := range w.Body {
		links = append(links, describeLink(l))
	}
	var out strings.Builder
	if err := t.Execute(&out, links); err != nil {
		return "", fmt.Errorf("robot: description: %w", err)
	}
	return out.String(), nil
}

// What the template is filled with: numbers as they are written.
type (
	linkText struct {
		Name, Paint string
		Inertial    *inertialText
		Pieces      []pieceText
		Joint       *jointText
	}
	inertialText struct{ Origin, Mass, IXX, IXY, IXZ, IYY, IYZ, IZZ string }
	// pieceText is a box, a cylinder if it has a length, else a ball.
	pieceText struct{ XYZ, RPY, Box, Radius, Length string }
	jointText struct {
		Name, Kind, Parent, Child, XYZ, RPY, Axis, Effort, Velocity string
		Bounds                                                      *boundsText
		Mimic                                                       *mimicText
	}
	boundsText struct{ Lower, Upper string }
	mimicText  struct{ Joint, Factor string }
)

func describeLink(l world.Link) linkText {
	text := linkText{Name: l.Name, Paint: "body"}
	if l.Dark {
		text.Paint = "dark"
	}
	if in := l.Inertia(); in.Mass > 0 {
		text.Inertial = &inertialText{
			Origin: vector(in.Center), Mass: number(in.Mass),
			IXX: moment(in.IXX), IXY: moment(in.IXY), IXZ: moment(in.IXZ), IYY: moment(in.IYY), IYZ: moment(in.IYZ), IZZ: moment(in.IZZ),
		}
	}
	for _, s := range l.Solids {
		text.Pieces = append(text.Pieces, pieces(s)...)
	}
	if l.Parent != "" {
		text.Joint = describeJoint(l)
	}
	return text
}

func describeJoint(l world.Link) *jointText {
	j := l.Joint
	text := &jointText{
		Name: j.Name, Kind: string(j.Kind), Parent: l.Parent, Child: l.Name, XYZ: vector(j.XYZ), RPY: vector(j.RPY),
	}
	if j.Name == "" {
		text.Name = l.Name + "_joint"
	}
	if j.Kind != world.Fixed {
		text.Axis, text.Effort, text.Velocity = vector(j.Axis), number(j.Effort), number(j.Velocity)
	}
	if j.Kind == world.Revolute || j.Kind == world.Prismatic {
		text.Bounds = &boundsText{number(j.Lower), number(j.Upper)}
	}
	if j.Mimic != "" {
		text.Mimic = &mimicText{j.Mimic, number(j.Factor)}
	}
	return text
}

// pieces are what URDF has for a solid.
func pieces(s world.Solid) []pieceText {
	size := s.B.Sub(s.A)
	middle := pieceText{XYZ: vector(s.Center()), RPY: vector(world.Vec{})}
	ball := func(at world.Vec) pieceText {
		return pieceText{XYZ: vector(at), RPY: vector(world.Vec{}), Radius: number(s.Radius)}
	}
	switch s.Kind {
	case world.Cuboid:
		middle.Box = vector(size)
		return []pieceText{middle}
	case world.Sphere:
		return []pieceText{ball(s.A)}
	case world.Cylinder, world.Capsule:
		// URDF's cylinders stand along z; pitch, then yaw lay them along the axis.
		pitch, yaw := math.Atan2(math.Hypot(size.X, size.Y), size.Z), math.Atan2(size.Y, size.X)
		middle.RPY = vector(world.Vec{Y: pitch, Z: yaw})
		middle.Radius, middle.Length = number(s.Radius), number(size.Norm())
	}
	if s.Kind == world.Capsule {
		return []pieceText{middle, ball(s.A), ball(s.B)}
	}
	return []pieceText{middle}
}

func vector(v world.Vec) string { return number(v.X) + " " + number(v.Y) + " " + number(v.Z) }

// number writes a length or an angle to 1e-12, so that turning by a right angle stays one.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e12)/1e12+0, 'f', -1, 64)
}

// moment writes a moment of inertia, which may be small.
func moment(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
