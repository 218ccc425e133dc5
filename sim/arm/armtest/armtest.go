// Package armtest helps tests to get the arm somewhere. Its inverse kinematics is found by trying, with nothing
// but the body's own frames: slow, plain, and independent of what the node does.
package armtest

import (
	"math"

	"agent_node/sim/arm"
	"agent_node/sim/world"
)

// Down is a frame in base_link with its z axis pointing down, its x axis turned by yaw.
func Down(x, y, z, yaw float64) world.Transform {
	return world.Transform{R: world.RPY(math.Pi, 0, yaw), P: world.Vec{X: x, Y: y, Z: z}}
}

// Tool is where tool0 is in base_link.
func Tool(w *world.World, q arm.Values) world.Transform {
	return w.Body.Frames(w.Positions(world.Posture{Arm: q}))[w.Body.Index(world.LinkTool)]
}

// Reach finds joint positions within the limits that bring tool0 to a frame in base_link: with the elbow up and
// the wrist as in the arm's carry pose, whose way there from that pose is free where nothing stands. Ok is false if there are none.
func Reach(w *world.World, target world.Transform) (q arm.Values, ok bool) {
	mount := w.Body[w.Body.Index(world.LinkArm)]
	pan := math.Atan2(target.P.Y-mount.Joint.XYZ.Y, target.P.X-mount.Joint.XYZ.X)
	for _, turn := range []float64{0, 1.5, -1.5, 2.8, -2.8} {
		for _, lift := range []float64{-1.2, -0.6, -1.8} {
			guess := arm.Values{pan, lift, 1.5, -math.Pi/2 - lift - 1.5, -math.Pi / 2, turn}
			if q, ok = descend(w, target, guess); ok {
				return q, true
			}
		}
	}
	return q, false
}

// descend follows the error downhill, damped.
func descend(w *world.World, target world.Transform, q arm.Values) (arm.Values, bool) {
	const steps, small, damping = 200, 1e-6, 1e-3
	for range steps {
		e := miss(target, Tool(w, q))
		if norm(e) < small {
			return q, within(w, q) && alike(target.R, Tool(w, q).R)
		}
		var jacobian [6][world.Joints]float64
		for j := range q {
			const h = 1e-6
			p := q
			p[j] += h
			f := miss(target, Tool(w, p))
			for i := range 6 {
				jacobian[i][j] = (e[i] - f[i]) / h
			}
		}
		for j, d := range solve(jacobian, e, damping) {
			q[j] = world.WrapAngle(q[j] + min(max(d, -0.3), 0.3))
		}
	}
	return q, false
}

func within(w *world.World, q arm.Values) bool {
	for j, l := range w.Arm.Limits {
		if q[j] < l.Lower || q[j] > l.Upper {
			return false
		}
	}
	return true
}

// alike tells a frame from the one that is turned by half a turn, where the error below is none, too.
func alike(a, b world.Rotation) bool {
	return a.Column(0).Dot(b.Column(0)) > 0.5 && a.Column(2).Dot(b.Column(2)) > 0.5
}

// miss is what is missing: three metres and three radians.
func miss(target, is world.Transform) (e [6]float64) {
	d := target.P.Sub(is.P)
	turn := world.Vec{}
	for i := range 3 {
		turn = turn.Add(is.R.Column(i).Cross(target.R.Column(i)).Scale(0.5))
	}
	return [6]float64{d.X, d.Y, d.Z, turn.X, turn.Y, turn.Z}
}

func norm(e [6]float64) float64 {
	s := 0.0
	for _, v := range e {
		s += v * v
	}
	return math.Sqrt(s)
}

// solve is (JᵀJ + damping²)⁻¹ Jᵀe by elimination.
func solve(j [6][world.Joints]float64, e [6]float64, damping float64) (x [world.Joints]float64) {
	var m [world.Joints][world.Joints + 1]float64
	for a := range world.Joints {
		for b := range world.Joints {
			for i := range 6 {
				m[a][b] += j[i][a] * j[i][b]
			}
		}
		m[a][a] += damping * damping
		for i := range 6 {
			m[a][world.Joints] += j[i][a] * e[i]
		}
	}
	for c := range world.Joints {
		for r := c + 1; r < world.Joints; r++ {
			if math.Abs(m[r][c]) > math.Abs(m[c][c]) {
				m[r], m[c] = m[c], m[r]
			}
		}
		for r := range world.Joints {
			if r == c {
				continue
			}
			f := m[r][c] / m[c][c]
			for k := c; k <= world.Joints; k++ {
				m[r][k] -= f * m[c][k]
			}
		}
	}
	for i := range x {
		x[i] = m[i][world.Joints] / m[i][i]
	}
	return x
}

// Move is a smooth motion to joint positions that keeps to the limits: a cubic from rest to rest, with
// half of the speed and acceleration the joints have.
func Move(w *world.World, from, to arm.Values) []arm.Point {
	t := 0.1
	for j, l := range w.Arm.Limits {
		d := math.Abs(to[j] - from[j])
		t = max(t, 1.5*d/(0.5*l.Velocity), math.Sqrt(6*d/(0.5*l.Acceleration)))
	}
	return []arm.Point{{Time: t, Positions: to, HasVelocities: true}}
}
