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
	at := make(map[string]int, len(b))
	frames := make([]Transform, len(b))
	for i, l := range b {
		at[l.Name] = i
		frames[i] = Identity()
		if l.Parent != "" {
			frames[i] = frames[at[l.Parent]].Mul(l.Joint.Origin(l.Joint.Position(q)))
		}
	}
	return frames
}
