package validate

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/trajectory"
)

// tipSlack is how far over its limit a speed may be without being found, relative: the search for the greatest one ends there.
const tipSlack = 1e-3

// tipSteps bounds that search in one segment.
const tipSteps = 20_000

// tipSpeed is the search for the greatest speed of an arm's tip along a curve.
type tipSpeed struct {
	chain *kinematics.Chain
	order []int // of the arm's joints, by the chain's
	jac   *mat.Dense
	reach float64
	q, v  []float64 // of all joints
	chainQ, chainV,
	bent []float64
	turns []bool // by the chain's joints
	gains []float64
}

func newTipSpeed(a *Arm) (*tipSpeed, error) {
	names := a.Chain.Names()
	s := &tipSpeed{
		chain: a.Chain, jac: mat.NewDense(6, len(names), nil), gains: a.Chain.Gains(),
		reach: 1.05*a.Chain.Reach() + 0.05, // a joint that slides may be a little beyond its limit
		q:     make([]float64, len(a.Joints)), v: make([]float64, len(a.Joints)),
		chainQ: make([]float64, len(names)), chainV: make([]float64, len(names)), bent: make([]float64, len(a.Joints)),
	}
	for _, name := range names {
		k := slices.IndexFunc(a.Joints, func(j limits.Joint) bool { return j.Name == name })
		if k < 0 {
			return nil, fmt.Errorf("%w: joint %q moves the tip and is none of the arm's", ErrWorld, name)
		}
		s.order = append(s.order, k)
		s.turns = append(s.turns, !a.Joints[k].Prismatic)
	}
	return s, nil
}

// at is how fast the tip moves and turns for positions and velocities of the arm's joints.
func (s *tipSpeed) at(q, v []float64) (linear, angular float64) {
	for i, k := range s.order {
		s.chainQ[i], s.chainV[i] = q[k], v[k]
	}
	if s.chain.Jacobian(s.jac, s.chainQ) != nil {
		return math.NaN(), math.NaN()
	}
	var t [6]float64
	for r := range t {
		for i, v := range s.chainV {
			t[r] += s.jac.At(r, i) * v
		}
	}
	return r3.Norm(r3.Vec{X: t[0], Y: t[1], Z: t[2]}), r3.Norm(r3.Vec{X: t[3], Y: t[4], Z: t[5]})
}

// slope bounds how fast the two speeds change, per second, while joints move no faster than v and change that no faster than a: a column of the
// Jacobian is at most as long as the reach, and turns no faster than all joints together.
func (s *tipSpeed) slope(v, a []float64) (linear, angular float64) {
	var turning, sliding, speeding float64
	for i, k := range s.order {
		arm, v, a := 1.0, s.gains[i]*v[k], s.gains[i]*a[k]
		if s.turns[i] {
			arm = s.reach
			turning += v
			angular += a
		}
		sliding += arm * v
		speeding += arm * a
	}
	return speeding + 2*turning*sliding, angular + turning*turning
}

// tipFindings appends a finding for each speed of the tip that is over its limit anywhere on the curve; excess is the greater of the quotients.
func (a *Arm) tipFindings(curve *trajectory.Curve, into []geometry.Finding) (out []geometry.Finding, excess float64) {
	if a.Tip == (limits.Tip{}) {
		return into, 0
	}
	s, err := newTipSpeed(a)
	if err != nil { // it has been checked: this is not to happen, and must not pass if it does
		return append(into, geometry.New(geometry.RuleLimits, "arm", -1, 0, 0, "", err.Error())), 0
	}
	type peak struct {
		limit, speed float64
		at           time.Duration
		point        int
		unit, name   string
	}
	peaks := [2]peak{{limit: a.Tip.Linear, unit: "m/s", name: "linear"}, {limit: a.Tip.Angular, unit: "rad/s", name: "angular"}}
	for i := range curve.Segments() {
		seg := curve.Segment(i)
		from, to := seg.Times()
		T := (to - from).Seconds()
		if T == 0 {
			continue
		}
		seg.Rates(s.v)
		seg.Bends(s.bent)
		for k := range s.v {
			s.v[k], s.bent[k] = s.v[k]/T, s.bent[k]/(T*T)
		}
		slopeLinear, slopeAngular := s.slope(s.v, s.bent)
		slopes := [2]float64{slopeLinear, slopeAngular}
		// Intervals of time by their middles, halved until neither speed can be over its limit by more than the slack.
		type span struct{ mid, half float64 }
		todo := []span{{T / 2, T / 2}}
		for steps := 0; len(todo) > 0; steps++ {
			x := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			seg.At(x.mid/T, s.q)
			seg.Velocities(x.mid/T, s.v)
			linear, angular := s.at(s.q, s.v)
			split := false
			for p, speed := range [2]float64{linear, angular} {
				if peaks[p].limit == 0 {
					continue
				}
				if !(speed <= peaks[p].speed) {
					peaks[p].speed, peaks[p].point, peaks[p].at = speed, seg.Point(), from+time.Duration(1e9*x.mid)
				}
				most := max(peaks[p].limit, peaks[p].speed) * (1 + tipSlack)
				split = split || !(speed+slopes[p]*x.half <= most)
			}
			if !split {
				continue
			}
			if steps > tipSteps {
				return append(into, geometry.New(geometry.RuleTipSpeed, "tip", seg.Point(), math.NaN(), a.Tip.Linear, "m/s", "cannot be found: the joints are too fast")), 0
			}
			todo = append(todo, span{x.mid - x.half/2, x.half / 2}, span{x.mid + x.half/2, x.half / 2})
		}
	}
	for _, p := range peaks {
		if p.limit == 0 {
			continue
		}
		excess = max(excess, p.speed/p.limit)
		if !(p.speed <= p.limit*(1+1e-9)) {
			f := geometry.Over(geometry.RuleTipSpeed, "tip "+p.name, p.point, p.speed, p.limit, p.unit)
			f.Message += fmt.Sprintf(", at %.3f s, before point %d", p.at.Seconds(), p.point)
			into = append(into, f)
		}
	}
	return into, excess
}
