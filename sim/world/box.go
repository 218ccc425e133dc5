package world

import "math"

// Box is an axis-aligned rectangle with MinX <= MaxX and MinY <= MaxY, in metres.
type Box struct{ MinX, MinY, MaxX, MaxY float64 }

// Center is the middle of the box.
func (b Box) Center() (x, y float64) { return (b.MinX + b.MaxX) / 2, (b.MinY + b.MaxY) / 2 }

// Size is the box's extent along x and y.
func (b Box) Size() (x, y float64) { return b.MaxX - b.MinX, b.MaxY - b.MinY }

// Contains reports whether the point lies in the box, its edge included. NaN lies nowhere.
func (b Box) Contains(x, y float64) bool {
	return x >= b.MinX && x <= b.MaxX && y >= b.MinY && y <= b.MaxY
}

// Distance is how far the point is from the box, 0 inside.
func (b Box) Distance(x, y float64) float64 {
	dx := max(b.MinX-x, 0, x-b.MaxX)
	dy := max(b.MinY-y, 0, y-b.MaxY)
	return math.Hypot(dx, dy)
}

// Ray is how far a ray from the point in direction (dx, dy), of unit length, runs
// before it meets the box: 0 from inside, +Inf if it never does.
func (b Box) Ray(x, y, dx, dy float64) float64 {
	near, far := 0.0, math.Inf(1)
	for _, axis := range [2]struct{ p, d, lo, hi float64 }{{x, dx, b.MinX, b.MaxX}, {y, dy, b.MinY, b.MaxY}} {
		if axis.d == 0 {
			if axis.p < axis.lo || axis.p > axis.hi {
				return math.Inf(1)
			}
			continue
		}
		a, c := (axis.lo-axis.p)/axis.d, (axis.hi-axis.p)/axis.d
		near, far = max(near, min(a, c)), min(far, max(a, c))
	}
	if near > far {
		return math.Inf(1)
	}
	return near
}

// Clearance is the distance from the point to the nearest obstacle, 0 inside one.
func (w *World) Clearance(x, y float64) float64 {
	d := math.Inf(1)
	for i := range w.Walls {
		d = min(d, w.Walls[i].Box.Distance(x, y))
	}
	for i := range w.Furniture {
		d = min(d, w.Furniture[i].Box.Distance(x, y))
	}
	return d
}

// ZoneDistance is the distance from the point to the nearest keep-out zone.
func (w *World) ZoneDistance(x, y float64) float64 {
	d := math.Inf(1)
	for i := range w.Zones {
		d = min(d, w.Zones[i].Box.Distance(x, y))
	}
	return d
}

// Collides reports whether the robot's footprint at the pose overlaps an obstacle
// or leaves the map. A pose that is not finite collides.
func (w *World) Collides(p Pose) bool {
	free := w.Bounds.Contains(p.X, p.Y) && w.Clearance(p.X, p.Y) >= w.Robot.Radius
	return !free
}

// Ray is how far a ray from the point at the angle runs before it meets an obstacle.
func (w *World) Ray(x, y, angle float64) float64 {
	dy, dx := math.Sincos(angle)
	d := math.Inf(1)
	for i := range w.Walls {
		d = min(d, w.Walls[i].Box.Ray(x, y, dx, dy))
	}
	for i := range w.Furniture {
		d = min(d, w.Furniture[i].Box.Ray(x, y, dx, dy))
	}
	return d
}
