//go:build !race

package peers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/trajectory"
)

// bounded are the robot's joints, with bounds for those that have none: the peer wants a middle.
func (r *robot) bounded() []limits.Joint {
	js := slices.Clone(r.joints)
	for i := range js {
		if js[i].Continuous {
			js[i].Continuous, js[i].Lower, js[i].Upper = false, -3, 3
		}
	}
	return js
}

// ask for the quotients of a trajectory to its limits, sampled densely.
func sample(p *peer, js []limits.Joint, start []float64, tr trajectory.Trajectory, order, samples int) []float64 {
	var middle, half, velocity, acceleration []float64
	for _, j := range js {
		middle, half = append(middle, (j.Lower+j.Upper)/2), append(half, (j.Upper-j.Lower)/2)
		velocity, acceleration = append(velocity, j.Velocity), append(acceleration, j.Acceleration)
	}
	zero := make([]float64, len(js))
	rows := append(append([]float64{0}, start...), zero...)
	if order == 2 {
		rows = append(rows, zero...)
	}
	for _, x := range tr.Points {
		if x.Time == 0 {
			continue
		}
		rows = append(append(append(rows, x.Time.Seconds()), x.Positions...), x.Velocities...)
		if order == 2 {
			rows = append(rows, x.Accelerations...)
		}
	}
	measured := tr.Points[0].Time != 0 // else the first point says all that there is to say of the start
	return p.ask("sampled", question{"measured": measured, "order": order, "samples": samples, "middle": middle, "half": half, "velocity": velocity, "acceleration": acceleration}, rows, nil)
}

// TestVerdictsOfTrajectoriesAreThoseOfDenseSampling: none is refused that keeps all limits, none is passed that breaks one, by SciPy's interpolation.
func TestVerdictsOfTrajectoriesAreThoseOfDenseSampling(t *testing.T) {
	p := open(t)
	n := size(60, 3000)
	for _, r := range robots(t) {
		js, rng := r.bounded(), random(51)
		passed, refused, between := 0, 0, 0
		for range n {
			start, tr, order := r.drawTrajectory(rng, js)
			curve, err := trajectory.NewCurve(trajectory.Start{Positions: start}, tr)
			fatal(t, err)
			found, _ := curve.CheckLimits(js, 0.1, nil)
			quotients := sample(p, js, start, tr, order, 400)
			worst := slices.Max(quotients)
			ok := !slices.ContainsFunc(found, func(f geometry.Finding) bool {
				return f.Rule == geometry.RulePositionLimit || f.Rule == geometry.RuleVelocity || f.Rule == geometry.RuleAcceleration
			})
			switch {
			case math.Abs(worst-1) < 1e-4:
				between++ // samples do not tell
			case ok && worst > 1:
				t.Fatalf("%s: passed, and by samples %v of its limits: %+v", r.name, quotients, tr)
			case !ok && worst < 1:
				t.Fatalf("%s: refused, and by samples %v of its limits: %v; order %d, from %v: %+v", r.name, quotients, found, order, start, tr)
			case ok:
				passed++
			default:
				refused++
			}
		}
		t.Logf("%s: %d passed, %d refused, %d at a limit", r.name, passed, refused, between)
		if passed < n/10 || refused < n/10 {
			t.Errorf("%s: only one kind was drawn: %d passed, %d refused of %d", r.name, passed, refused, n)
		}
	}
}

// drawTrajectory has cubics or quintics between three points, about as fast as the limits allow.
func (r *robot) drawTrajectory(rng *rand.Rand, js []limits.Joint) (start []float64, tr trajectory.Trajectory, order int) {
	order = 1 + rng.IntN(2)
	tr.Joints = r.chain.Names()
	start = make([]float64, len(js))
	for k, j := range js {
		start[k] = (j.Lower+j.Upper)/2 + 0.45*(2*rng.Float64()-1)*(j.Upper-j.Lower)
	}
	at, q := 0.0, start
	pace := 0.2 + 0.8*rng.Float64()
	for i := range 3 {
		at += 0.3 + 0.7*rng.Float64()
		x := trajectory.Point{Time: time.Duration(at * 1e9), Positions: make([]float64, len(js)), Velocities: make([]float64, len(js))}
		if order == 2 {
			x.Accelerations = make([]float64, len(js))
		}
		for k, j := range js {
			x.Positions[k] = q[k] + 0.2*pace*j.Velocity*(2*rng.Float64()-1)
			if i < 2 {
				x.Velocities[k] = 0.2 * pace * j.Velocity * (2*rng.Float64() - 1)
				if order == 2 {
					x.Accelerations[k] = 0.2 * pace * j.Acceleration * (2*rng.Float64() - 1)
				}
			}
		}
		tr.Points = append(tr.Points, x)
		q = x.Positions
	}
	return start, tr, order
}

// TestTimedPathsKeepTheirLimitsAndTakeNoLonger: paths that are timed here are within all limits by samples; a straight way takes as long as toppra's, which is the
// fastest there is along it, and ruckig's, where no jerk is limited and one joint moves, is the same.
func TestTimedPathsKeepTheirLimitsAndTakeNoLonger(t *testing.T) {
	p := open(t)
	n := size(8, 200)
	for _, r := range robots(t) {
		js, rng := r.bounded(), random(61)
		var ours, toppras, bent, rucks, jerky, ruckJerky float64
		var spentOurs time.Duration
		var spentToppra, spentRuckig float64
		for range n {
			a, b, c := r.within(rng, js), r.within(rng, js), r.within(rng, js)
			var line, corner trajectory.Trajectory
			var err error
			spentOurs += spent(func() { line, err = trajectory.FromPath([][]float64{a, b}, js, 1) })
			fatal(t, err)
			corner, err = trajectory.FromPath([][]float64{a, b, c}, js, 1)
			fatal(t, err)
			for _, tr := range []trajectory.Trajectory{line, corner} {
				if q := sample(p, js, a, tr, 1, 200); !(slices.Max(q) <= 1+1e-6) {
					t.Fatalf("%s: %v of its limits: %+v", r.name, q, tr)
				}
			}
			var top struct{ Duration, Seconds float64 }
			p.ask("toppra", question{"velocity": velocities(js), "acceleration": accelerations(js)}, slices.Concat(a, b), &top)
			if d := line.Duration().Seconds(); top.Duration > 0 && d > top.Duration*1.005+2e-3 {
				t.Errorf("%s: a straight way takes %g s, toppra's %g s", r.name, d, top.Duration)
			}
			ours, toppras, spentToppra = ours+line.Duration().Seconds(), toppras+top.Duration, spentToppra+top.Seconds
			bent += corner.Duration().Seconds()
			var ruck struct{ Each float64 }
			d := p.ask("ruckig", question{"velocity": velocities(js), "acceleration": accelerations(js)}, slices.Concat(a, b), &ruck)
			rucks, spentRuckig = rucks+d[0], spentRuckig+ruck.Each
			// One joint alone: there is only one fastest way.
			alone := slices.Clone(a)
			alone[0] = b[0]
			single, err := trajectory.FromPath([][]float64{a, alone}, js, 1)
			fatal(t, err)
			if d := p.ask("ruckig", question{"velocity": velocities(js), "acceleration": accelerations(js)}, slices.Concat(a, alone), nil)[0]; math.Abs(d-single.Duration().Seconds()) > 2e-3 {
				t.Errorf("%s: one joint takes %g s, ruckig's %g s", r.name, single.Duration().Seconds(), d)
			}
			limited, jerks := slices.Clone(js), make([]float64, len(js))
			for i := range limited {
				jerks[i] = 5 * limited[i].Acceleration
				limited[i].Jerk = jerks[i]
			}
			glide, err := trajectory.FromPath([][]float64{a, alone}, limited, 1)
			fatal(t, err)
			d = p.ask("ruckig", question{"velocity": velocities(js), "acceleration": accelerations(js), "jerk": jerks}, slices.Concat(a, alone), nil)
			if got := glide.Duration().Seconds(); math.Abs(d[0]-got) > 5e-3 {
				t.Errorf("%s: one joint with limited jerk takes %g s, ruckig's %g s", r.name, got, d[0])
			}
			jerky, ruckJerky = jerky+glide.Duration().Seconds(), ruckJerky+d[0]
		}
		f := float64(n)
		t.Logf("%s: straight ways %.3f s in the mean, toppra %.3f s, ruckig (each joint its own way) %.3f s; one joint with limited jerk %.3f s, ruckig %.3f s; over a corner, at rest there, %.3f s; to compute %v, toppra %.0f us, ruckig %.1f us",
			r.name, ours/f, toppras/f, rucks/f, jerky/f, ruckJerky/f, bent/f, spentOurs/time.Duration(n), 1e6*spentToppra/f, 1e6*spentRuckig/f)
	}
}

func (r *robot) within(rng *rand.Rand, js []limits.Joint) []float64 {
	q := make([]float64, len(js))
	for k, j := range js {
		q[k] = j.Lower + rng.Float64()*(j.Upper-j.Lower)
	}
	return q
}

func velocities(js []limits.Joint) (out []float64) {
	for _, j := range js {
		out = append(out, j.Velocity)
	}
	return out
}

func accelerations(js []limits.Joint) (out []float64) {
	for _, j := range js {
		out = append(out, j.Acceleration)
	}
	return out
}
