package world

import "fmt"

// Sunk is how deep an object may be in what it lies on and still lie on it, m.
const Sunk = 0.02

// Top is the height of the furniture at a point, 0 where the floor is bare.
func (w *World) Top(x, y float64) float64 {
	top := 0.0
	for _, f := range w.Furniture {
		if f.Box.Contains(x, y) {
			top = max(top, f.Height)
		}
	}
	return top
}

// Room tells why an object cannot be where it says it is: off the map, under the floor, or inside of something.
func (w *World) Room(o Object) error {
	at := Pose{o.X, o.Y, o.Yaw}
	if !at.Finite() || !finite(o.Z) || !w.Bounds.Contains(o.X, o.Y) || o.Z < o.Size/2-Sunk {
		return fmt.Errorf("world: the %s cannot be at x %v m, y %v m, z %v m: that is off the map or under the floor", o.Name, o.X, o.Y, o.Z)
	}
	for _, s := range w.Obstacles() {
		if s.Box.Contains(o.X, o.Y) && o.Z-o.Size/2+Sunk < s.Height {
			return fmt.Errorf("world: the %s cannot be at x %.3f m, y %.3f m, z %.3f m: that is inside the %s", o.Name, o.X, o.Y, o.Z, s.Name)
		}
	}
	return nil
}
