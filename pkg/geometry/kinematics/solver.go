package kinematics

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// solver goes downhill from one start. It owns its room and is used by one call.
type solver struct {
	chain   *Chain
	target  spatial.Transform
	freedom Freedom
	axis    r3.Vec // of the tip, unit
	goal    r3.Vec // the same axis of the target, in the base's frame
	scale   float64

	positionTolerance, angleTolerance float64

	lower, upper []float64
	q            []float64 // where it is
	next         []float64 // where it might go
	frames       []spatial.Transform
	rows         int
	errors       [6]float64
	jac          []float64 // 6 by n
	normal, chol []float64 // n by n
	rhs, step    []float64
	held         []bool // joints that stay at their limit
}

func newSolver(c *Chain, target spatial.Transform, o Options) *solver {
	n := len(c.joints)
	room := make([]float64, 6*n+2*n*n+6*n)
	cut := func(k int) []float64 {
		out := room[:k:k]
		room = room[k:]
		return out
	}
	s := &solver{
		chain: c, target: target, freedom: o.Freedom, scale: c.scale, axis: o.Axis, rows: 6,
		positionTolerance: o.Position, angleTolerance: o.Angle,
		jac: cut(6 * n), normal: cut(n * n), chol: cut(n * n), lower: cut(n), upper: cut(n), q: cut(n), next: cut(n), rhs: cut(n), step: cut(n),
		frames: make([]spatial.Transform, len(c.frames)), held: make([]bool, n),
	}
	if s.positionTolerance == 0 {
		s.positionTolerance = 1e-6
	}
	if s.angleTolerance == 0 {
		s.angleTolerance = 1e-6
	}
	if n := r3.Norm(s.axis); n > 0 {
		s.axis = r3.Scale(1/n, s.axis)
	} else {
		s.axis = r3.Vec{Z: 1}
	}
	s.goal = spatial.Rotate(target.Rotation, s.axis)
	if s.freedom == PositionOnly {
		s.rows = 3
	}
	for i, j := range c.joints {
		s.lower[i], s.upper[i] = j.Lower+o.Margin, j.Upper-o.Margin
	}
	return s
}

func (s *solver) clamp() {
	for i := range s.q {
		s.q[i] = min(max(s.q[i], s.lower[i]), s.upper[i])
	}
}

// place computes frames and errors at q, and gives half of the sum of squares.
func (s *solver) place(q []float64) (tip spatial.Transform, cost float64) {
	s.chain.framePoses(s.frames, q)
	tip = s.chain.tipPose(s.frames)
	d := r3.Sub(s.target.Translation, tip.Translation)
	s.errors = [6]float64{d.X, d.Y, d.Z}
	if s.rows > 3 {
		w := r3.Scale(s.scale, s.turn(tip.Rotation))
		s.errors[3], s.errors[4], s.errors[5] = w.X, w.Y, w.Z
	}
	for _, e := range s.errors[:s.rows] {
		cost += e * e / 2
	}
	return tip, cost
}

// turn is the rotation vector, in the base's frame, that is missing.
func (s *solver) turn(r quat.Number) r3.Vec {
	if s.freedom == Pointing {
		a := spatial.Rotate(r, s.axis)
		x := r3.Cross(a, s.goal)
		sine := r3.Norm(x)
		angle := math.Atan2(sine, r3.Dot(a, s.goal))
		if sine < 1e-9 {
			if angle < 1 {
				return x
			}
			// Just the other way round: any axis across will do.
			x = r3.Cross(a, r3.Vec{X: 1})
			if math.Abs(a.X) > 0.9 {
				x = r3.Cross(a, r3.Vec{Y: 1})
			}
			sine = r3.Norm(x)
		}
		return r3.Scale(angle/sine, x)
	}
	return spatial.RotationVector(quat.Mul(s.target.Rotation, quat.Conj(r)))
}

// missing is by how much the tip is off at q.
func (s *solver) missing() (position, angle float64) {
	tip, _ := s.place(s.q)
	position = r3.Norm(r3.Sub(s.target.Translation, tip.Translation))
	if s.freedom != PositionOnly {
		angle = r3.Norm(s.turn(tip.Rotation))
	}
	return position, angle
}

func (s *solver) done() bool {
	e := &s.errors
	if !(math.Sqrt(e[0]*e[0]+e[1]*e[1]+e[2]*e[2]) <= s.positionTolerance) {
		return false
	}
	return s.rows == 3 || math.Sqrt(e[3]*e[3]+e[4]*e[4]+e[5]*e[5]) <= s.angleTolerance*s.scale
}

const (
	maxSteps  = 60
	maxStride = 1.0 // rad or m of a joint in one step: the linear model reaches no farther
)

// solve goes from q to where the errors vanish, and says whether it got there. Where it does not, q is the best place on the way.
func (s *solver) solve() bool {
	tip, cost := s.place(s.q)
	if s.done() {
		return true
	}
	damping := 1e-2
	slow := 0 // steps in a row that gained little
	for range maxSteps {
		s.linearise(tip)
		improved := false
		before := cost
		for range 6 {
			predicted := s.propose(damping)
			if predicted <= 0 {
				return false // at the bottom of a valley, or in a corner of the limits
			}
			nextTip, nextCost := s.place(s.next)
			if nextCost < cost {
				gain := (cost - nextCost) / predicted
				if gain > 0.75 {
					damping = max(damping/8, 1e-9)
				} else if gain < 0.25 {
					damping *= 3
				}
				tip, cost = nextTip, nextCost
				s.q, s.next = s.next, s.q
				improved = true
				break
			}
			damping *= 6
		}
		if !improved {
			return false
		}
		if s.done() {
			return true
		}
		if cost > 0.98*before {
			if slow++; slow >= 4 {
				return false
			}
		} else {
			slow = 0
		}
	}
	return false
}

// linearise computes the Jacobian at q and the normal equations. The errors are those of q.
func (s *solver) linearise(tip spatial.Transform) {
	n := len(s.q)
	clear(s.jac)
	// The frames may be those of a place that was tried and left.
	s.chain.framePoses(s.frames, s.q)
	s.chain.jacobian(s.jac, n, s.frames, tip.Translation)
	if s.rows > 3 {
		w := s.jac[3*n : 6*n]
		if s.freedom == Pointing {
			// Turning about the axis itself changes nothing.
			a := spatial.Rotate(tip.Rotation, s.axis)
			for i := range n {
				along := a.X*w[i] + a.Y*w[n+i] + a.Z*w[2*n+i]
				w[i] -= along * a.X
				w[n+i] -= along * a.Y
				w[2*n+i] -= along * a.Z
			}
		}
		for i := range w {
			w[i] *= s.scale
		}
	}
	for i := range n {
		s.rhs[i] = 0
		for r := range s.rows {
			s.rhs[i] += s.jac[r*n+i] * s.errors[r]
		}
		for k := range i + 1 {
			v := 0.0
			for r := range s.rows {
				v += s.jac[r*n+i] * s.jac[r*n+k]
			}
			s.normal[i*n+k], s.normal[k*n+i] = v, v
		}
	}
}

// propose computes next from q, and the decrease that the linear model promises. Joints that would leave their limits are held there and the
// others solved anew.
func (s *solver) propose(damping float64) float64 {
	n := len(s.q)
	for i := range n {
		s.held[i] = s.q[i] <= s.lower[i] && s.rhs[i] < 0 || s.q[i] >= s.upper[i] && s.rhs[i] > 0
	}
	s.dampedStep(damping)
	stride := 0.0
	for _, d := range s.step {
		stride = max(stride, math.Abs(d))
	}
	if stride > maxStride {
		for i := range s.step {
			s.step[i] *= maxStride / stride
		}
	}
	for i := range n {
		s.next[i] = min(max(s.q[i]+s.step[i], s.lower[i]), s.upper[i])
		s.step[i] = s.next[i] - s.q[i]
	}
	// cost(q + d) is about cost - d.rhs + d.normal.d / 2
	promised := 0.0
	for i := range n {
		v := 0.0
		for k := range n {
			v += s.normal[i*n+k] * s.step[k]
		}
		promised += s.step[i] * (s.rhs[i] - v/2)
	}
	return promised
}

// dampedStep solves (normal + damping) step = rhs for the joints that are not held, by Cholesky's method in place.
func (s *solver) dampedStep(damping float64) {
	n := len(s.q)
	l := s.chol
	for i := range n {
		if s.held[i] {
			s.step[i] = 0
			continue
		}
		x := s.rhs[i]
		for k := range i + 1 {
			if s.held[k] {
				continue
			}
			v := s.normal[i*n+k]
			if k == i {
				v += damping
			}
			for m := range k {
				if !s.held[m] {
					v -= l[i*n+m] * l[k*n+m]
				}
			}
			if k < i {
				l[i*n+k] = v / l[k*n+k]
				x -= l[i*n+k] * s.step[k]
			} else {
				l[i*n+i] = math.Sqrt(max(v, 1e-12))
			}
		}
		s.step[i] = x / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		if s.held[i] {
			continue
		}
		x := s.step[i]
		for k := i + 1; k < n; k++ {
			if !s.held[k] {
				x -= l[k*n+i] * s.step[k]
			}
		}
		s.step[i] = x / l[i*n+i]
	}
}
