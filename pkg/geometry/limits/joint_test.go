package limits_test

import (
	"errors"
	"math"
	"testing"

	"agent_node/pkg/geometry/limits"
)

func TestJoint(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	good := limits.Joint{Name: "j", Lower: -1, Upper: 2, Velocity: 1, Acceleration: 1, Effort: 1}
	for name, tc := range map[string]struct {
		change func(*limits.Joint)
		ok     bool
	}{
		"sound":                      {func(*limits.Joint) {}, true},
		"little known":               {func(j *limits.Joint) { j.Velocity, j.Acceleration, j.Effort = 0, 0, 0 }, true},
		"turns for ever":             {func(j *limits.Joint) { j.Continuous, j.Lower, j.Upper = true, -inf, inf }, true},
		"turns for ever, has bounds": {func(j *limits.Joint) { j.Continuous = true }, false},
		"no name":                    {func(j *limits.Joint) { j.Name = "" }, false},
		"no bounds":                  {func(j *limits.Joint) { j.Lower, j.Upper = -inf, inf }, false},
		"bounds in the wrong order":  {func(j *limits.Joint) { j.Lower = 3 }, false},
		"a bound of NaN":             {func(j *limits.Joint) { j.Upper = nan }, false},
		"a velocity of NaN":          {func(j *limits.Joint) { j.Velocity = nan }, false},
		"an endless acceleration":    {func(j *limits.Joint) { j.Acceleration = inf }, false},
		"a negative effort":          {func(j *limits.Joint) { j.Effort = -1 }, false},
	} {
		j := good
		tc.change(&j)
		if err := j.Check(); (err == nil) != tc.ok || err != nil && !errors.Is(err, limits.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for q, want := range map[float64]bool{-1: true, 2: true, 2.04: true, 2.06: false, -1.06: false, nan: false, inf: false} {
		if good.Contains(q, 0.05) != want {
			t.Errorf("contains %g: %v", q, !want)
		}
	}
	turns := limits.Joint{Continuous: true}
	if got := turns.Near(0.1, 12.6); math.Abs(got-(0.1+4*math.Pi)) > 1e-12 {
		t.Errorf("%g", got)
	}
	if got := good.Near(0.1, 12.6); got != 0.1 {
		t.Errorf("%g", got)
	}
	if good.Unit() != "rad" || (limits.Joint{Prismatic: true}).Unit() != "m" {
		t.Error("units")
	}
}
