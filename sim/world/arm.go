package world

import "math"

// Joints is the number of the arm's joints.
const Joints = 6

// Arm holds the figures of the arm.
type Arm struct {
	Names [Joints]string
	// Limits of each joint, in the order of Names.
	Limits [Joints]JointLimits
	// Carry is the pose with the arm folded over the base, within its footprint: the one in which the
	// base may drive, and the one it starts in. The tool points down.
	Carry [Joints]float64
}

// JointLimits bound a joint's motion; velocity and acceleration are bounds on the absolute value.
type JointLimits struct {
	Lower, Upper float64 // rad
	Velocity     float64 // rad/s
	Acceleration float64 // rad/s^2
}

// Gripper holds the figures of the gripper, whose position is its opening: the width between the fingers.
type Gripper struct {
	Joint    string
	Open     float64 // m; 0 is closed
	Velocity float64 // m/s, of the width
	Effort   float64 // N, the most it presses with
	// Reach is how far from tool0 the centre of an object may be for it to be grasped, m.
	Reach float64
}

// Camera holds the figures of the camera, which looks along the x axis of camera_link.
type Camera struct {
	HorizontalFOV float64 // rad
	VerticalFOV   float64 // rad
	RangeMin      float64 // m
	RangeMax      float64 // m
	Rate          float64 // Hz
	Noise         float64 // m, one sigma along each axis
}

// Names of links that others ask for.
const (
	LinkBase   = "base_link"
	LinkArm    = "arm_base_link"
	LinkTool   = "tool0"
	LinkCamera = "camera_link"
	LinkLaser  = "laser"
)

func defaultArm() Arm {
	big := JointLimits{Lower: -3.05, Upper: 3.05, Velocity: 1.2, Acceleration: 3.0}
	wrist := JointLimits{Lower: -3.05, Upper: 3.05, Velocity: 1.8, Acceleration: 5.0}
	lift, elbow := big, big
	lift.Lower, lift.Upper = -2.9, 0.5
	elbow.Lower, elbow.Upper = -2.75, 2.75
	return Arm{
		Names: [Joints]string{
			"shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint",
		},
		Limits: [Joints]JointLimits{big, lift, elbow, wrist, wrist, wrist},
		Carry:  [Joints]float64{0, -1.85, 2.70, -0.85 - math.Pi/2, -math.Pi / 2, 0},
	}
}

// body builds the robot's body around its figures.
//
// The arm is an elbow arm as the well-known ones with six joints: two parallel long links
// beside each other, so that it folds, and three wrist axes at right angles. At zero it
// stretches forward; a positive lift, elbow or wrist_1 lowers what comes after it.
func (w *World) body() Body {
	r, a, g := w.Robot, w.Arm, w.Gripper
	const (
		ground      = 0.02 // m under the body
		wheelWidth  = 0.03
		pedestal    = 0.09
		shoulder    = 0.04 // of the lift's axis over the pan's joint
		side        = 0.07 // between the upper arm's plane and the pan's axis
		upper       = 0.36
		fore        = 0.34
		wristSide   = 0.07 // wrist_1 to wrist_2
		wristLong   = 0.07 // wrist_2 to wrist_3
		flange      = 0.06 // wrist_3 to the gripper
		palm        = 0.05
		grip        = 0.10  // palm's back to tool0
		fingerFrom  = 0.052 // a gap to the palm, so that neither touches the other
		fingerTo    = 0.112
		fingerThick = 0.012
	)
	y, z := Vec{Y: 1}, Vec{Z: 1}
	revolute := func(i int, at, axis Vec, effort float64) Joint {
		l := a.Limits[i]
		return Joint{
			Name: a.Names[i], Kind: Revolute, XYZ: at, Axis: axis,
			Lower: l.Lower, Upper: l.Upper, Velocity: l.Velocity, Acceleration: l.Acceleration, Effort: effort,
		}
	}
	wheel := func(name string, left float64) Link {
		return Link{
			Name: name, Parent: LinkBase, Mass: 0.5, Dark: true,
			Joint: Joint{
				Name: name + "_joint", Kind: Continuous, XYZ: Vec{Y: left, Z: r.WheelRadius}, Axis: y, Effort: 5,
				Velocity: (r.Limits.Linear + r.Limits.Angular*r.WheelTrack/2) / r.WheelRadius,
			},
			Solids: []Solid{{Kind: Cylinder, A: Vec{Y: -wheelWidth / 2}, B: Vec{Y: wheelWidth / 2}, Radius: r.WheelRadius}},
		}
	}
	finger := func(name, parent string, j Joint) Link {
		return Link{
			Name: name, Parent: parent, Joint: j, Mass: 0.06, Dark: true,
			Solids: []Solid{{Kind: Cuboid, A: Vec{-0.01, -fingerThick / 2, 0}, B: Vec{0.01, fingerThick / 2, fingerTo - fingerFrom}}},
		}
	}
	const mastX, mastY, mastZ = -0.15, -0.09, 0.62
	return Body{
		{
			Name: LinkBase, Mass: 12,
			Solids: []Solid{{Kind: Cylinder, A: Vec{Z: ground}, B: Vec{Z: r.Height}, Radius: r.Radius}},
		},
		wheel("left_wheel", r.WheelTrack/2),
		wheel("right_wheel", -r.WheelTrack/2),
		{
			// It looks out through a slot in the body.
			Name: LinkLaser, Parent: LinkBase, Mass: 0.2, Dark: true, Joint: Joint{Kind: Fixed, XYZ: Vec{Z: r.LidarHeight}},
			Solids: []Solid{{Kind: Cylinder, A: Vec{Z: -0.02}, B: Vec{Z: 0.02}, Radius: 0.035}},
		},
		{
			Name: "camera_mast", Parent: LinkBase, Mass: 0.4, Dark: true, Joint: Joint{Kind: Fixed, XYZ: Vec{mastX, mastY, r.Height}},
			Solids: []Solid{{Kind: Cylinder, B: Vec{Z: mastZ - r.Height - 0.02}, Radius: 0.015}},
		},
		{
			Name: LinkCamera, Parent: "camera_mast", Mass: 0.1, Dark: true,
			Joint:  Joint{Kind: Fixed, XYZ: Vec{Z: mastZ - r.Height}, RPY: Vec{Y: 0.40}},
			Solids: []Solid{{Kind: Cuboid, A: Vec{-0.02, -0.04, -0.015}, B: Vec{0.01, 0.04, 0.015}}},
		},
		{
			Name: LinkArm, Parent: LinkBase, Mass: 1.5, Dark: true, Joint: Joint{Kind: Fixed, XYZ: Vec{X: -0.06, Z: r.Height}},
			Solids: []Solid{{Kind: Cylinder, B: Vec{Z: 0.05}, Radius: 0.055}},
		},
		{
			Name: "shoulder_link", Parent: LinkArm, Mass: 1.6, Joint: revolute(0, Vec{Z: pedestal}, z, 60),
			Solids: []Solid{
				{Kind: Cylinder, A: Vec{Z: -0.03}, B: Vec{Z: shoulder}, Radius: 0.042},
				{Kind: Capsule, A: Vec{Z: shoulder}, B: Vec{Y: side, Z: shoulder}, Radius: 0.042},
			},
		},
		{
			Name: "upper_arm_link", Parent: "shoulder_link", Mass: 1.8, Joint: revolute(1, Vec{Y: side, Z: shoulder}, y, 60),
			Solids: []Solid{{Kind: Capsule, B: Vec{X: upper}, Radius: 0.036}},
		},
		{
			Name: "forearm_link", Parent: "upper_arm_link", Mass: 1.2, Joint: revolute(2, Vec{X: upper, Y: -side}, y, 40),
			Solids: []Solid{{Kind: Capsule, B: Vec{X: fore}, Radius: 0.032}},
		},
		{
			Name: "wrist_1_link", Parent: "forearm_link", Mass: 0.5, Joint: revolute(3, Vec{X: fore}, y, 12),
			Solids: []Solid{{Kind: Capsule, B: Vec{Y: wristSide}, Radius: 0.032}},
		},
		{
			Name: "wrist_2_link", Parent: "wrist_1_link", Mass: 0.5, Joint: revolute(4, Vec{Y: wristSide}, Vec{Z: -1}, 12),
			Solids: []Solid{{Kind: Capsule, B: Vec{Z: -wristLong}, Radius: 0.03}},
		},
		{
			Name: "wrist_3_link", Parent: "wrist_2_link", Mass: 0.2, Joint: revolute(5, Vec{Z: -wristLong}, y, 12), Dark: true,
			Solids: []Solid{{Kind: Cylinder, B: Vec{Y: flange}, Radius: 0.028}},
		},
		{
			Name: "gripper_link", Parent: "wrist_3_link", Mass: 0.5, Joint: Joint{Kind: Fixed, XYZ: Vec{Y: flange}, RPY: Vec{X: -math.Pi / 2}},
			Solids: []Solid{{Kind: Cuboid, A: Vec{-0.025, -0.06, 0}, B: Vec{0.025, 0.06, palm}}},
		},
		{
			Name: LinkTool, Parent: "gripper_link", Joint: Joint{Kind: Fixed, XYZ: Vec{Z: grip}},
		},
		// The right finger goes one half of the opening to its side, and carries the left one along a
		// rail as long as the opening: so the driven joint's position is the width itself, and
		// tool0 stays in the middle.
		finger("right_finger", "gripper_link", Joint{
			Name: "right_finger_joint", Kind: Prismatic, XYZ: Vec{Y: -fingerThick / 2, Z: fingerFrom}, Axis: Vec{Y: -1},
			Upper: g.Open / 2, Velocity: g.Velocity / 2, Effort: g.Effort, Mimic: g.Joint, Factor: 0.5,
		}),
		finger("left_finger", "right_finger", Joint{
			Name: g.Joint, Kind: Prismatic, XYZ: Vec{Y: fingerThick}, Axis: y,
			Upper: g.Open, Velocity: g.Velocity, Effort: g.Effort,
		}),
	}
}
