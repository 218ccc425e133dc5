package zone

import "gonum.org/v1/gonum/spatial/r2"

// Box is a rectangle of size.X by size.Y, turned by yaw about its centre.
func Box(center, size r2.Vec, yaw float64) (Shape, error) { return Shape{}, nil }

// Polygon is a simple polygon, its corners in either order.
func Polygon(corners []r2.Vec) (Shape, error) { return Shape{}, nil }

// Circle is a disc; with heights a cylinder.
func Circle(center r2.Vec, radius float64) (Shape, error) { return Shape{}, nil }

// WithHeights limits the shape to heights from zMin to zMax (m).
func (s Shape) WithHeights(zMin, zMax float64) (Shape, error) { return s, nil }

// New checks a configuration.
func New(cfg Config) (*Zone, error) { return &Zone{cfg}, nil }
