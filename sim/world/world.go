package world

import "fmt"

// World is the surroundings of the robot and the robot's own figures.
// It is data and not changed after it was made.
type World struct {
	Bounds     Box        // the mapped area
	Resolution float64    // m, edge of a map cell
	Walls      []Obstacle // the outer walls and the inner one
	Furniture  []Obstacle
	Zones      []Zone
	Places     []Place
	Objects    []Object
	Robot      Robot
	Battery    Battery
	Arm        Arm
	Gripper    Gripper
	Camera     Camera
	Body       Body
}

// Obstacle is a solid that reaches from the floor up beyond the lidar's plane.
type Obstacle struct {
	Name   string
	Box    Box
	Height float64 // m
}

// Zone is a keep-out zone: nothing stands there, and no part of the robot may enter.
type Zone struct {
	Name string
	Box  Box
}

// Place is a named pose of the base, and the surface beside it where objects lie.
type Place struct {
	Name string
	Pose Pose
	// Surface is the top of the furniture that objects of this place lie on.
	Surface Surface
}

// Surface is a horizontal rectangle.
type Surface struct {
	Box    Box
	Height float64 // m above the floor
	// Reach is the part of it where the arm can put the centre of an object down, and fetch it, with the
	// tool pointing down and 0.1 m above it to come from, when the base is at the place's pose. The
	// camera sees it from there. Its middle is where things are put.
	Reach Box
}

// Shape of an object.
type Shape string

// Shapes.
const (
	Cube Shape = "cube" // Size is the edge
	Ball Shape = "ball" // Size is the diameter
)

// Object is a thing that lies about. Its position is that of its centre.
type Object struct {
	Name    string
	Shape   Shape
	Size    float64 // m
	X, Y, Z float64 // m
	Yaw     float64 // rad
}

// Robot holds the figures of the base.
type Robot struct {
	Radius       float64 // m, of the round footprint
	Height       float64 // m
	WheelRadius  float64 // m
	WheelTrack   float64 // m, between the wheels' middles
	LidarHeight  float64 // m
	Limits       Limits
	SilenceLimit float64 // s without a velocity message after which the base stops
}

// Limits of the base's motion. Each is a bound on the absolute value.
type Limits struct {
	Linear              float64 // m/s
	Angular             float64 // rad/s
	LinearAcceleration  float64 // m/s^2
	LinearDeceleration  float64 // m/s^2
	AngularAcceleration float64 // rad/s^2
}

// Battery holds the figures of the battery, charge in percent.
type Battery struct {
	Initial     float64 // percent at the start
	IdleDrain   float64 // percent/s
	MotionDrain float64 // percent per metre driven
	TurnDrain   float64 // percent per radian turned
	Charge      float64 // percent/s at rest at the dock
	DockRadius  float64 // m from the dock's pose within which it charges
}

// Place finds a place by name.
func (w *World) Place(name string) (Place, error) {
	for _, p := range w.Places {
		if p.Name == name {
			return p, nil
		}
	}
	return Place{}, fmt.Errorf("world: no place %q", name)
}

// Obstacles are all solids: walls, then furniture.
func (w *World) Obstacles() []Obstacle {
	all := make([]Obstacle, 0, len(w.Walls)+len(w.Furniture))
	return append(append(all, w.Walls...), w.Furniture...)
}

// Start is where the robot stands at first: the dock.
func (w *World) Start() Pose {
	dock, err := w.Place("dock")
	if err != nil {
		return Pose{}
	}
	return dock.Pose
}
