package guardtest

import (
	"math"
	"time"

	"agent_node/pkg/guard"
)

// sensor makes the measurement that is due, if one is, with what is wrong with it.
func (r *Robot) sensor(now time.Time) (guard.Sample, bool) {
	r.history = append(r.history, truth{now, append([]float64(nil), r.pos...), append([]float64(nil), r.vel...)})
	for len(r.history) > 1 && now.Sub(r.history[1].at) >= r.opt.Lag {
		r.history = r.history[1:]
	}
	if now.Before(r.due) {
		return guard.Sample{}, false
	}
	jitter := 1 + r.opt.Jitter*(2*r.rng.Float64()-1)
	r.due = now.Add(time.Duration(jitter * float64(r.opt.Period)))
	if r.faults.NoFeedback || r.rng.Float64() < r.opt.Loss {
		return guard.Sample{}, false
	}
	f := &r.faults
	if f.RepeatLast && !r.last.Stamp.IsZero() {
		s := r.last
		s.Arrived = time.Time{}
		return s, true
	}
	seen := r.history[0]
	s := guard.Sample{Stamp: seen.at, Position: r.blur(seen.pos, r.opt.Noise), Velocity: r.blur(seen.vel, r.opt.Noise/10)}
	switch {
	case f.FreezeValues:
		if r.frozen == nil {
			r.frozen = &guard.Sample{Position: s.Position, Velocity: s.Velocity}
			if r.last.Position != nil {
				r.frozen = &guard.Sample{Position: r.last.Position, Velocity: r.last.Velocity}
			}
		}
		s.Position, s.Velocity = r.frozen.Position, r.frozen.Velocity
	default:
		r.frozen = nil
	}
	if f.FreezeStamps && !r.last.Stamp.IsZero() {
		s.Stamp = r.last.Stamp
	}
	if f.StaleZero > 0 {
		s.Stamp = s.Stamp.Add(-f.StaleZero)
		s.Position = make([]float64, len(s.Position))
		s.Velocity = make([]float64, len(s.Velocity))
		for i := range s.Position {
			s.Position[i] = 1e-6 * r.rng.NormFloat64()
		}
	}
	s.Stamp = s.Stamp.Add(f.StampShift)
	if f.NaN {
		s.Velocity[len(s.Velocity)-1] = math.NaN()
	}
	if f.Inf {
		s.Velocity[0] = math.Inf(1)
	}
	if f.NaNPosition {
		s.Position[0] = math.NaN()
	}
	r.counts.Samples++
	if !f.NaN && !f.Inf && !f.NaNPosition && f.StaleZero == 0 {
		r.last = s
	}
	return s, true
}

func (r *Robot) blur(x []float64, sigma float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v + sigma*r.rng.NormFloat64()
	}
	return out
}
