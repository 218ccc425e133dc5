package robottools

import (
	"testing"
	"time"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/guard"
)

func TestBeatCountsNoPause(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		gaps   []time.Duration // between steps; negative: a pause of that length
		active time.Duration
		lapses int
	}{
		"begins":                {nil, 0, 0},
		"steps":                 {[]time.Duration{50 * ms, 50 * ms, 70 * ms}, 170 * ms, 0},
		"a pause":               {[]time.Duration{50 * ms, -10 * time.Second, 50 * ms}, 100 * ms, 0},
		"a moment's pause":      {[]time.Duration{50 * ms, -ms, 50 * ms}, 100 * ms, 0},
		"pauses":                {[]time.Duration{-time.Hour, -time.Second, -ms, 50 * ms}, 50 * ms, 0},
		"a machine held up":     {[]time.Duration{50 * ms, 8 * time.Second, 50 * ms}, 600 * ms, 1},
		"one that is too slow":  {[]time.Duration{time.Second, time.Second}, time.Second, 2},
		"one that is just slow": {[]time.Duration{400 * ms, 400 * ms}, 800 * ms, 0},
	} {
		var b beat
		now, lapses := time.Unix(1000, 0), 0
		b.step(now)
		for _, gap := range c.gaps {
			if gap < 0 {
				b.rest()
				gap = -gap
			}
			now = now.Add(gap)
			if _, lapsed := b.step(now); lapsed {
				lapses++
			}
		}
		if b.active != c.active || lapses != c.lapses {
			t.Errorf("%s: active for %v with %d lapses, want %v with %d", name, b.active, lapses, c.active, c.lapses)
		}
	}
}

// What was commanded is held against what was measured by then, and not against a pause, or news that a busy machine has not read yet.
func TestProgressJudgesWhatCanBeMeasured(t *testing.T) {
	const ms = time.Millisecond
	type step struct {
		gap    time.Duration // since the last; negative: a pause comes first
		moves  float64       // m measured in it
		repeat int
	}
	lag := step{50 * ms, 0, 9} // the robot stands and has not said so yet: 0.27 m at 0.6 m/s
	for name, c := range map[string]struct {
		steps []step
		blind bool
	}{
		"moves":                             {[]step{{50 * ms, 0.03, 100}}, false},
		"slowly":                            {[]step{{50 * ms, 0.004, 100}}, false},
		"never moves":                       {[]step{{50 * ms, 0, 11}}, true},
		"never moves on a slow machine":     {[]step{{400 * ms, 0, 2}}, true},
		"a pause":                           {[]step{{50 * ms, 0.03, 10}, {-10 * time.Second, 0, 1}, {50 * ms, 0.03, 10}}, false},
		"a pause told late":                 {[]step{{50 * ms, 0.03, 10}, lag, {-10 * time.Second, 0, 1}, {50 * ms, 0, 4}, {50 * ms, 0.03, 1}}, false},
		"pauses told late":                  {[]step{lag, {-time.Second, 0.03, 1}, lag, {-time.Second, 0.03, 1}, lag, {-time.Second, 0.03, 1}, lag}, false},
		"pauses of what never moves":        {[]step{lag, {-time.Second, 0, 1}, {50 * ms, 0, 5}, {-time.Second, 0, 1}, {50 * ms, 0, 6}}, true},
		"held up, the news comes after":     {[]step{{50 * ms, 0.03, 10}, {600 * ms, 0, 1}, {50 * ms, 0.35, 1}}, false},
		"held up, and no motion in the end": {[]step{{50 * ms, 0.03, 10}, {600 * ms, 0, 1}, {50 * ms, 0, 2}}, true},
	} {
		var p progress
		var b beat
		now, sample := time.Unix(1000, 0), guard.Sample{Position: []float64{0, 0, 0}}
		var err error
		for _, s := range append([]step{{0, 0, 1}}, c.steps...) {
			for range s.repeat {
				gap := s.gap
				if gap < 0 {
					b.rest()
					p.resumed()
					gap = -gap
				}
				now = now.Add(gap)
				sample.Position[0] += s.moves
				dt, _ := b.step(now)
				if e := p.commanded(spatial.Twist{Linear: r3.Vec{X: 0.6}}, dt, sample); err == nil {
					err = e
				}
			}
		}
		if (err != nil) != c.blind {
			t.Errorf("%s: %v, want it to end: %v", name, err, c.blind)
		}
	}
}
