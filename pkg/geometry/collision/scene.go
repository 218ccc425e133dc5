package collision

import "agent_node/pkg/geometry/spatial"

// Config says how a robot's description is read.
type Config struct {
	// Base is the link in whose frame bodies are placed; empty: the root.
	Base string
	// Joints that move, in the order of the configurations; mimics follow them.
	Joints []string
	// Allowed pairs of links that are never checked, beside links that are directly joined or move as one.
	Allowed []Pair
}

// Pair of links, bodies or attached objects, by name, in either order.
type Pair [2]string

// Attached is an object that moves with a link.
type Attached struct {
	Body        // Pose is in the link's frame
	Link string // that holds it
	// Touch are links that may touch it. The links that move as one with Link may anyway.
	Touch []string
}

// World is what a scene has beside the robot. The zero value is empty.
type World struct {
	Bodies   []Body // around the robot, in the base's frame
	Attached []Attached
	// Rest are positions of joints that are not among Config.Joints (a gripper's finger); the others are at 0, or at the bound next to it.
	Rest map[string]float64
	// Allowed pairs that are not checked, such as a finger and the object that it reaches for.
	Allowed []Pair
	// Margin kept between the robot and bodies; SelfMargin between links of the robot and attached objects. m.
	Margin, SelfMargin float64
}

// Contact is a pair that is closer than its margin.
type Contact struct {
	A, B string // link or attached object first, then link, attached object or body
	Self bool   // between parts of the robot (attached objects are parts of it); else B is a body of the world
	// Distance in m; negative: they overlap, by at most that much.
	Distance float64
	Margin   float64 // that it falls short of
}

// Hit is the first contact along a motion.
type Hit struct {
	Contact
	Segment int     // of the path or trajectory: from its point Segment to the next
	At      float64 // where on the segment, 0 to 1
	Q       []float64
}

// Motion is a curve through joint space, by a parameter from 0 to 1.
type Motion interface {
	// At writes the configuration.
	At(u float64, q []float64)
	// Rates writes, per joint, a bound of |dq/du| over the whole curve.
	Rates(dq []float64)
}

var _ = spatial.Identity
