package world

// Body is everything of the robot that its description tells of: the links in an order in which
// each comes after its parent, the root (base_link) first. Frames are those of URDF: a link's
// frame is that of the joint it hangs on.
type Body []Link

// Link is a rigid part, and the joint that ties it to its parent.
type Link struct {
	Name   string
	Parent string // "": the root
	Joint  Joint
	Mass   float64 // kg; 0 is a frame without a body
	Solids []Solid
	Dark   bool // how it is painted
}

// JointKind says how a joint moves.
type JointKind string

// Kinds of joints, as URDF calls them.
const (
	Fixed      JointKind = "fixed"
	Revolute   JointKind = "revolute"
	Continuous JointKind = "continuous"
	Prismatic  JointKind = "prismatic"
)

// Joint ties a link to its parent. Positions are in rad, or m where it is prismatic.
type Joint struct {
	Name string // of one that is Fixed, derived from the link's where it is empty
	Kind JointKind
	XYZ  Vec // where its origin is in the parent's frame, m
	RPY  Vec // how it is turned there: roll, pitch, yaw about the parent's axes, rad
	Axis Vec // unit vector in its own frame

	Lower, Upper float64
	Velocity     float64 // rad/s or m/s
	Acceleration float64 // rad/s^2 or m/s^2; URDF has no place for it
	Effort       float64 // Nm or N

	Mimic  string  // the joint that it follows
	Factor float64 // of the other's position
}

// Solid is a shape of a link, in the link's frame: for collisions and, the same, for the eye.
type Solid struct {
	Kind SolidKind
	// A and B are the ends of the axis, or, of a box, the corners with the least and the greatest
	// coordinates. A sphere has A alone.
	A, B   Vec
	Radius float64 // m
}

// SolidKind is the kind of a solid.
type SolidKind string

// Kinds of solids. A capsule is a cylinder with half a sphere at each end.
const (
	Capsule  SolidKind = "capsule"
	Cylinder SolidKind = "cylinder"
	Sphere   SolidKind = "sphere"
	Cuboid   SolidKind = "box"
)

// Joint finds a joint by name.
func (b Body) Joint(name string) (Joint, bool) {
	for _, l := range b {
		if l.Parent != "" && l.Joint.Name == name {
			return l.Joint, true
		}
	}
	return Joint{}, false
}
