package zone

import (
	"errors"
	"fmt"
	"math"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
)

// Kind of a zone.
type Kind uint8

// Kinds. The zero value is no kind.
const (
	KeepIn  Kind = 1 // the whole footprint stays inside (workspace)
	KeepOut Kind = 2 // no part of the footprint enters
	Speed   Kind = 3 // while any part of the footprint is inside, the zone's speeds hold
)

// String is the kind's name in configuration and messages.
func (k Kind) String() string {
	switch k {
	case KeepIn:
		return "keep-in"
	case KeepOut:
		return "keep-out"
	case Speed:
		return "speed"
	}
	return "invalid"
}

// ErrZone is wrapped by every error about a zone's configuration.
var ErrZone = errors.New("zone: bad configuration")

// Shape is a filled area of the plane over a range of heights. The zero value is no shape.
type Shape struct {
	polygon    *spatial.Polygon
	center     r2.Vec
	radius     float64 // of a circle, when polygon is nil
	zMin, zMax float64 // m; both 0: any height
}

// Box is a rectangle of size.X by size.Y, turned by yaw about its centre.
func Box(center, size r2.Vec, yaw float64) (Shape, error) {
	if !(size.X > 0 && size.Y > 0 && size.X <= spatial.MaxExtent && size.Y <= spatial.MaxExtent) {
		return Shape{}, fmt.Errorf("%w: box of %g m by %g m: sizes must be over 0 and at most %g m", ErrZone, size.X, size.Y, float64(spatial.MaxExtent))
	}
	if !spatial.Finite(yaw) {
		return Shape{}, fmt.Errorf("%w: box yaw is %g, must be a finite number", ErrZone, yaw)
	}
	p := spatial.Pose2{X: center.X, Y: center.Y, Yaw: yaw}
	x, y := size.X/2, size.Y/2
	return Polygon([]r2.Vec{p.Apply(r2.Vec{X: x, Y: y}), p.Apply(r2.Vec{X: -x, Y: y}), p.Apply(r2.Vec{X: -x, Y: -y}), p.Apply(r2.Vec{X: x, Y: -y})})
}

// Polygon is a simple polygon, its corners in either order, convex or not.
func Polygon(corners []r2.Vec) (Shape, error) {
	p, err := spatial.NewPolygon(corners)
	if err != nil {
		return Shape{}, fmt.Errorf("%w: %w", ErrZone, err)
	}
	return Shape{polygon: p}, nil
}

// Circle is a disc; with heights a cylinder.
func Circle(center r2.Vec, radius float64) (Shape, error) {
	if !(math.Abs(center.X) <= spatial.MaxExtent && math.Abs(center.Y) <= spatial.MaxExtent) {
		return Shape{}, fmt.Errorf("%w: circle at (%g, %g): coordinates must be finite and at most %g m", ErrZone, center.X, center.Y, float64(spatial.MaxExtent))
	}
	if !(radius > 0 && radius <= spatial.MaxExtent) {
		return Shape{}, fmt.Errorf("%w: circle radius is %g m, must be over 0 and at most %g m", ErrZone, radius, float64(spatial.MaxExtent))
	}
	return Shape{center: center, radius: radius}, nil
}

// WithHeights limits the shape to heights from zMin to zMax (m) of its frame. Without it, a shape holds at every height.
func (s Shape) WithHeights(zMin, zMax float64) (Shape, error) {
	if !(zMin < zMax && spatial.Finite(zMin) && spatial.Finite(zMax)) {
		return Shape{}, fmt.Errorf("%w: heights from %g m to %g m: must be finite and rise", ErrZone, zMin, zMax)
	}
	s.zMin, s.zMax = zMin, zMax
	return s, nil
}

// Outline is the shape's polygon, or nil and its circle: for drawing.
func (s Shape) Outline() (corners []r2.Vec, center r2.Vec, radius float64) {
	if s.polygon != nil {
		return s.polygon.Corners(), r2.Vec{}, 0
	}
	return nil, s.center, s.radius
}

// Parts are convex polygons that together make up the shape's, counter-clockwise; none where it is a circle.
func (s Shape) Parts() [][]r2.Vec {
	if s.polygon == nil {
		return nil
	}
	return s.polygon.Parts()
}

// Heights of the shape in its frame, m; limited is false where it holds at every height.
func (s Shape) Heights() (zMin, zMax float64, limited bool) {
	return s.zMin, s.zMax, s.zMin != 0 || s.zMax != 0
}

// Config of a zone.
type Config struct {
	Name  string
	Kind  Kind
	Frame string // of the shape
	Shape Shape
	// Margin is added around a keep-out or speed zone and taken off the inside of a keep-in zone, in metres.
	Margin float64
	// MaxLinear (m/s) and MaxAngular (rad/s) of a speed zone; 0: that one is not limited.
	MaxLinear  float64
	MaxAngular float64
}

// Zone is a checked configuration. It is immutable.
type Zone struct {
	cfg Config
}

// New checks a configuration. Errors wrap ErrZone and name the zone and the field.
func New(cfg Config) (*Zone, error) {
	bad := func(format string, a ...any) (*Zone, error) {
		return nil, fmt.Errorf("%w: zone %q: %s", ErrZone, cfg.Name, fmt.Sprintf(format, a...))
	}
	if cfg.Name == "" {
		return bad("a name is needed")
	}
	if cfg.Kind < KeepIn || cfg.Kind > Speed {
		return bad("kind %d is none of keep-in, keep-out, speed", cfg.Kind)
	}
	if cfg.Frame == "" || cfg.Frame[0] == '/' {
		return bad("frame %q is no frame's name", cfg.Frame)
	}
	if cfg.Shape.polygon == nil && cfg.Shape.radius == 0 {
		return bad("a shape is needed")
	}
	if !(cfg.Margin >= 0 && cfg.Margin <= spatial.MaxExtent) {
		return bad("margin is %g m, must be from 0 to %g m", cfg.Margin, float64(spatial.MaxExtent))
	}
	for _, f := range [...]struct {
		name  string
		value float64
	}{{"MaxLinear", cfg.MaxLinear}, {"MaxAngular", cfg.MaxAngular}} {
		if !(f.value >= 0 && spatial.Finite(f.value)) {
			return bad("%s is %g, must be finite and not negative", f.name, f.value)
		}
		if cfg.Kind != Speed && f.value != 0 {
			return bad("%s belongs to speed zones, this is a %s zone", f.name, cfg.Kind)
		}
	}
	if cfg.Kind == Speed && cfg.MaxLinear == 0 && cfg.MaxAngular == 0 {
		return bad("a speed zone needs MaxLinear or MaxAngular")
	}
	return &Zone{cfg}, nil
}

// Config that the zone was made from.
func (z *Zone) Config() Config { return z.cfg }

// Name of the zone.
func (z *Zone) Name() string { return z.cfg.Name }

// Kind of the zone.
func (z *Zone) Kind() Kind { return z.cfg.Kind }

// Frame of the zone's shape.
func (z *Zone) Frame() string { return z.cfg.Frame }

// Margin in metres.
func (z *Zone) Margin() float64 { return z.cfg.Margin }

// AppliesAt reports whether a robot that reaches from bottom to bottom+height (m, in the zone's frame) meets the zone's heights. A robot
// of unknown height (0) meets all of them.
func (z *Zone) AppliesAt(bottom, height float64) bool {
	s := z.cfg.Shape
	if s.zMin == 0 && s.zMax == 0 || height == 0 {
		return true
	}
	return bottom <= s.zMax && bottom+height >= s.zMin
}
