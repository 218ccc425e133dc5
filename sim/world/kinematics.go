package world

// Positions are joint positions by name; a joint that is missing is at 0. Joints that mimic another
// one follow it, whatever is said of them.
type Positions map[string]float64

// Origin is where the joint's frame is in its parent's, at the position.
func (j Joint) Origin(position float64) Transform {
	t := Transform{RPY(j.RPY.X, j.RPY.Y, j.RPY.Z), j.XYZ}
	switch j.Kind {
	case Revolute, Continuous:
		t.R = t.R.Mul(About(j.Axis, position))
	case Prismatic:
		t.P = t.Apply(j.Axis.Scale(position))
	case Fixed:
	}
	return t
}

// Position is that of the joint among the positions.
func (j Joint) Position(q Positions) float64 {
	if j.Mimic != "" {
		return j.Factor * q[j.Mimic]
	}
	return q[j.Name]
}

// Frames are where the links are in the root's frame, in the order of the body.
func (b Body) Frames(q Positions) []Transform {
	frames := make([]Transform, len(b))
	for i, l := range b {
		frames[i] = Identity()
		if l.Parent != "" {
			frames[i] = frames[b.Index(l.Parent)].Mul(l.Joint.Origin(l.Joint.Position(q)))
		}
	}
	return frames
}

// Index is the number of the link with the name, or -1.
func (b Body) Index(name string) int {
	for i, l := range b {
		if l.Name == name {
			return i
		}
	}
	return -1
}

// Posture are the positions of everything that moves but the wheels: the arm's joints and the gripper's opening.
type Posture struct {
	Arm   [Joints]float64 // rad, in the order of Arm.Names
	Width float64         // m
}

// Positions are the posture's, by name.
func (w *World) Positions(p Posture) Positions {
	q := Positions{w.Gripper.Joint: p.Width}
	for i, name := range w.Arm.Names {
		q[name] = p.Arm[i]
	}
	return q
}
