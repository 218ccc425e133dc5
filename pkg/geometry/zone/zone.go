package zone

import (
	"errors"

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

// Config of a zone.
type Config struct {
	Name  string
	Kind  Kind
	Frame string // of the shape
	Shape Shape
	// Margin is added around a keep-out or speed zone and taken off the inside of a keep-in zone, in metres.
	Margin float64
	// MaxLinear (m/s) and MaxAngular (rad/s) of a speed zone; MaxAngular 0: not limited.
	MaxLinear  float64
	MaxAngular float64
}

// Zone is a checked configuration. It is immutable.
type Zone struct {
	cfg Config
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
