package world

import "math"

// Default is the flat that the built-in robot lives in: one room of 8 m by 5 m
// with an inner wall between office and kitchen and a keep-out zone on the straight
// line from the dock to the kitchen. The caller may change what it gets.
func Default() *World {
	const (
		x0, x1, y0, y1 = -4.0, 4.0, -2.5, 2.5
		t              = 0.1 // outer walls' thickness
		tall, desk     = 1.0, 0.4
		edge           = 0.05 // of the objects
	)
	on := func(height float64) float64 { return height + edge/2 }
	kitchen := Box{0.7, 1.9, 2.1, 2.4}
	office := Box{-3.9, 0.9, -3.4, 2.1}
	table := Box{2.65, -2.0, 3.25, -1.2}
	shelf := Box{-1.25, -2.15, -0.95, -1.85}
	w := &World{
		Bounds:     Box{x0, y0, x1, y1},
		Resolution: 0.05,
		Walls: []Obstacle{
			{"south wall", Box{x0, y0, x1, y0 + t}, tall},
			{"north wall", Box{x0, y1 - t, x1, y1}, tall},
			{"west wall", Box{x0, y0 + t, x0 + t, y1 - t}, tall},
			{"east wall", Box{x1 - t, y0 + t, x1, y1 - t}, tall},
			{"inner wall", Box{-0.65, 1.3, -0.55, y1 - t}, tall},
		},
		Furniture: []Obstacle{
			{"kitchen counter", kitchen, desk},
			{"office desk", office, desk},
			{"table", table, desk},
			{"dock shelf", shelf, desk},
		},
		Zones: []Zone{{"keep-out", Box{-0.4, -0.15, 0.4, 0.4}}},
		Places: []Place{
			{"kitchen", Pose{1.4, 1.5, math.Pi / 2}, Surface{kitchen, desk, Box{1.2, 1.95, 1.6, 2.08}}},
			{"office", Pose{-3.0, 1.5, math.Pi}, Surface{office, desk, Box{-3.58, 1.3, -3.45, 1.7}}},
			{"dock", Pose{-1.6, -1.5, 0}, Surface{shelf, desk, Box{-1.21, -1.92, -1.14, -1.88}}},
			{"table", Pose{2.25, -1.6, 0}, Surface{table, desk, Box{2.70, -1.8, 2.83, -1.4}}},
		},
		Objects: []Object{
			{Name: "red cube", Shape: Cube, Size: edge, X: 2.80, Y: -1.45, Z: on(desk)},
			{Name: "blue cube", Shape: Cube, Size: edge, X: 2.80, Y: -1.80, Z: on(desk)},
			{Name: "green ball", Shape: Ball, Size: edge, X: -3.55, Y: 1.50, Z: on(desk)},
		},
		Robot: Robot{
			Radius: 0.22, Height: 0.25, WheelRadius: 0.06, WheelTrack: 0.36, LidarHeight: 0.20,
			Limits: Limits{
				Linear: 0.5, Angular: 1.0,
				LinearAcceleration: 0.8, LinearDeceleration: 1.0, AngularAcceleration: 2.0,
			},
			SilenceLimit: 0.5,
		},
		Battery: Battery{
			Initial: 80, IdleDrain: 0.01, MotionDrain: 0.04, TurnDrain: 0.02,
			Charge: 0.05, DockRadius: 0.15,
		},
		Arm:     defaultArm(),
		Gripper: Gripper{Joint: "finger_joint", Open: 0.08, Velocity: 0.10, Effort: 40, Reach: 0.02},
		Camera: Camera{
			HorizontalFOV: 1.25, VerticalFOV: 0.95, RangeMin: 0.2, RangeMax: 2.5, Rate: 10, Noise: 0.003,
		},
	}
	w.Body = w.body()
	return w
}
