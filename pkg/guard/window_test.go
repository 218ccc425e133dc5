package guard

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var stampZero = time.Unix(1_700_000_000, 0)

// base axes: a driving robot's.
var baseAxes = []Axis{{"x", Linear, false}, {"y", Linear, false}, {"yaw", Angular, true}}

func testConfig(axes []Axis, period time.Duration) *Config {
	c := DefaultConfig("test")
	c.Axes = axes
	c.Period = period
	return &c
}

// reading is one sample as the tests write it: times in s, x and vx on the first axis.
type reading struct{ stamp, arrived, x, v float64 }

func (r reading) addTo(w *window) {
	p, v := make([]float64, w.n), make([]float64, w.n)
	p[0], v[0] = r.x, r.v
	w.add(stampZero.Add(secs(r.stamp)), secs(r.arrived), p, v)
}

func secs(s float64) time.Duration { return time.Duration(s * 1e9) }

// still is n readings at rest, a period apart, beginning at time 0.
func still(n int, period float64) []reading {
	var rs []reading
	for i := range n {
		t := float64(i) * period
		rs = append(rs, reading{t, t, 0, 0})
	}
	return rs
}

func TestSettledRule(t *testing.T) {
	nan := math.NaN()
	edit := func(rs []reading, f func(int, *reading)) []reading {
		for i := range rs {
			f(i, &rs[i])
		}
		return rs
	}
	one := func(k int, f func(*reading)) []reading {
		return edit(still(11, 0.1), func(i int, r *reading) {
			if i == k {
				f(r)
			}
		})
	}
	for _, tc := range []struct {
		name string
		rs   []reading
		now  float64 // after the newest arrival
		from float64
		want flaw
	}{
		{"at rest", still(11, 0.1), 0, 0, noFlaw},
		{"just six samples, 0.5 s", still(6, 0.1), 0, 0, noFlaw},
		{"five samples, 0.4 s", still(5, 0.1), 0, 0, tooShort},
		{"nothing", nil, 0, 0, noSample},
		{"newest almost too old", still(11, 0.1), 0.2999, 0, noFlaw},
		{"newest too old", still(11, 0.1), 0.3, 0, tooOld},
		{"newest of the future", still(11, 0.1), -0.1, 0, tooOld},
		{"speed at the threshold", one(8, func(r *reading) { r.v = 0.01 }), 0, 0, noFlaw},
		{"speed above it", one(8, func(r *reading) { r.v = 0.0101 }), 0, 0, fast},
		{"speed above it, backwards", one(8, func(r *reading) { r.v = -0.0101 }), 0, 0, fast},
		{"speed above it, before the window", one(3, func(r *reading) { r.v = 1 }), 0, 0, noFlaw},
		{"speed NaN", one(8, func(r *reading) { r.v = nan }), 0, 0, notFinite},
		{"speed Inf", one(8, func(r *reading) { r.v = math.Inf(-1) }), 0, 0, notFinite},
		{"position NaN", one(8, func(r *reading) { r.x = nan }), 0, 0, notFinite},
		{"position NaN, oldest of the window", one(5, func(r *reading) { r.x = nan }), 0, 0, notFinite},
		{"creeping at the threshold", edit(still(11, 0.1), func(i int, r *reading) { r.x = 0.001 * float64(i) }), 0, 0, noFlaw},
		{"creeping above it", edit(still(11, 0.1), func(i int, r *reading) { r.x = 0.0011 * float64(i) }), 0, 0, displaced},
		{"out and back", one(8, func(r *reading) { r.x = 0.011 }), 0, 0, spreadOut},
		{"huge", one(8, func(r *reading) { r.x = math.MaxFloat64 }), 0, 0, spreadOut},
		{"one stamp twice", one(8, func(r *reading) { r.stamp = 0.7 }), 0, 0, notIncreasing},
		{"stamps stand still", edit(still(11, 0.1), func(i int, r *reading) { r.stamp = 0 }), 0, 0, notIncreasing},
		{"clock jumped back", edit(still(11, 0.1), func(i int, r *reading) {
			if i > 8 {
				r.stamp -= 100
			}
		}), 0, 0, notIncreasing},
		{"clock jumped back a window ago", edit(still(20, 0.1), func(i int, r *reading) {
			if i > 8 {
				r.stamp -= 100
			}
		}), 0, 0, noFlaw},
		{"clock jumped forward", edit(still(11, 0.1), func(i int, r *reading) {
			if i > 8 {
				r.stamp += 100
			}
		}), 0, 0, gap},
		{"gap of three periods", append(still(4, 0.1), reading{0.6, 0.6, 0, 0}, reading{0.65, 0.65, 0, 0}, reading{0.7, 0.7, 0, 0}, reading{0.8, 0.8, 0, 0}), 0, 0, noFlaw},
		{"gap of more", append(still(3, 0.1), reading{0.51, 0.51, 0, 0}, reading{0.6, 0.6, 0, 0}, reading{0.7, 0.7, 0, 0}), 0, 0, gap},
		{"too few in a window", []reading{{0, 0, 0, 0}, {0.2, 0.2, 0, 0}, {0.35, 0.35, 0, 0}, {0.5, 0.5, 0, 0}}, 0, 0, tooFew},
		{"arrived in a bunch", edit(still(11, 0.1), func(i int, r *reading) { r.arrived = 1 + 0.03*float64(i) }), 0, 0, bunched},
		{"arrivals late, and spread enough", edit(still(11, 0.1), func(i int, r *reading) { r.arrived = 1 + 0.08*float64(i) }), 0, 0, noFlaw},
		{"not watched for a window yet", still(11, 0.1), 0, 0.55, tooShort},
		{"watched for just a window", still(11, 0.1), 0, 0.5, noFlaw},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWindow(testConfig(baseAxes, 100*time.Millisecond), baseAxes, 100*time.Millisecond)
			last := 0.0
			for _, r := range tc.rs {
				r.addTo(w)
				last = r.arrived
			}
			v, why := w.judge(secs(last+tc.now), secs(tc.from))
			if why != tc.want || (v == isRest) != (tc.want == noFlaw) {
				t.Errorf("verdict %v: %q, want %q", v, why, tc.want)
			}
		})
	}
}

func TestSpeedIsTheNormOfLinearAxes(t *testing.T) {
	w := newWindow(testConfig(baseAxes, 20*time.Millisecond), baseAxes, 20*time.Millisecond)
	for _, tc := range []struct {
		v    []float64
		slow bool
	}{
		{[]float64{0.006, 0.008, 0}, true},
		{[]float64{0.008, 0.008, 0}, false},
		{[]float64{0, 0, 0.02}, true},
		{[]float64{0, 0, -0.021}, false},
		{[]float64{0, math.NaN(), 0}, false},
		{[]float64{math.Inf(1), math.NaN(), 0}, false},
	} {
		if got := w.slow(tc.v); got != tc.slow {
			t.Errorf("slow(%v) = %v", tc.v, got)
		}
	}
}

func TestAnglesTakeTheShortWayRound(t *testing.T) {
	w := newWindow(testConfig(baseAxes, 20*time.Millisecond), baseAxes, 20*time.Millisecond)
	if !w.near([]float64{0, 0, math.Pi - 0.001}, []float64{0, 0, -math.Pi + 0.001}, 1) {
		t.Error("a yaw that passes pi by 2 mrad is no displacement of 2 pi")
	}
	joint := []Axis{{"j", Joint, false}}
	w = newWindow(testConfig(joint, 20*time.Millisecond), joint, 20*time.Millisecond)
	if w.near([]float64{math.Pi}, []float64{-math.Pi}, 1) {
		t.Error("a limited joint does not wrap")
	}
}

func TestVelocityIsDerivedWhereItIsNotMeasured(t *testing.T) {
	w := newWindow(testConfig(baseAxes, 100*time.Millisecond), baseAxes, 100*time.Millisecond)
	if ok, why := w.add(stampZero, 0, []float64{0, 0, 0}, nil); ok || why != notFinite {
		t.Errorf("the first sample has no velocity: %v %v", ok, why)
	}
	w.add(stampZero.Add(secs(0.1)), secs(0.1), []float64{0.1, 0, 0}, nil)
	if v := w.velocity(1)[0]; math.Abs(v-1) > 1e-12 {
		t.Errorf("derived velocity %g m/s, want 1", v)
	}
	if ok, _ := w.add(stampZero.Add(secs(0.1)), secs(0.2), []float64{0.1, 0, 0}, nil); ok {
		t.Error("no time passed, so there is no velocity")
	}
}

func TestFrozenValuesOfANoisySensorAreNotRest(t *testing.T) {
	for _, noisy := range []bool{false, true} {
		c := testConfig(baseAxes, 100*time.Millisecond)
		c.Noisy = noisy
		w := newWindow(c, baseAxes, c.Period)
		for _, r := range still(11, 0.1) {
			r.addTo(w)
		}
		if v, why := w.judge(secs(1), 0); (v == isRest) == noisy {
			t.Errorf("noisy=%v: %v %v", noisy, v, why)
		}
	}
}

func TestWindowGrowsToAFasterSource(t *testing.T) {
	// The profile says 10 Hz, the source sends 2 kHz: half a second of it must be looked at, not the last 10 ms.
	w := newWindow(testConfig(baseAxes, 100*time.Millisecond), baseAxes, 100*time.Millisecond)
	for i := range 4000 {
		s := float64(i) / 2000
		reading{s, s, 0, 0}.addTo(w)
	}
	if v, why := w.judge(secs(3999.0/2000), 0); v != isRest {
		t.Errorf("at rest, but %v", why)
	}
	if len(w.stamps) > 4096 {
		t.Errorf("%d samples are kept", len(w.stamps))
	}
}

// history draws samples: mostly at rest and in order, with every flaw now and then.
func history(t *rapid.T) (rs []reading, period float64) {
	period = rapid.SampledFrom([]float64{0.005, 0.02, 0.1, 0.25}).Draw(t, "period")
	n := rapid.SampledFrom([]int{0, 1, 5, 12, 30, 60, 120}).Draw(t, "n")
	flaws := map[int]int{} // by sample
	for range rapid.SampledFrom([]int{0, 0, 1, 1, 2, 6}).Draw(t, "flaws") {
		flaws[rapid.IntRange(0, max(0, n-1)).Draw(t, "at")] = rapid.IntRange(1, 7).Draw(t, "flaw")
	}
	stamp, arrived, x := 0.0, 0.0, 0.0
	for i := range n {
		dt := period * rapid.Float64Range(0.5, 1.5).Draw(t, "dt")
		stamp += dt
		arrived += dt
		r := reading{stamp, arrived, x, rapid.Float64Range(-0.008, 0.008).Draw(t, "v")}
		switch flaws[i] {
		case 7:
			r.v = rapid.Float64Range(-1, 1).Draw(t, "speed")
		case 1:
			x += rapid.Float64Range(-0.02, 0.02).Draw(t, "step")
		case 2:
			stamp += rapid.Float64Range(-1, 1).Draw(t, "jump")
		case 3:
			r.v = rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "v")
		case 4:
			r.x = rapid.SampledFrom([]float64{math.NaN(), math.Inf(1)}).Draw(t, "x")
		case 5:
			arrived += rapid.Float64Range(0, 0.5).Draw(t, "late")
		case 6:
			r.stamp = stamp - dt
		}
		rs = append(rs, r)
	}
	return rs, period
}

// What is called settled keeps every sentence of the rule, checked the long way round from the raw history.
func TestSettledHistoriesHoldNoMotion(t *testing.T) {
	settled := 0
	rapid.Check(t, func(t *rapid.T) {
		rs, period := history(t)
		axes := []Axis{{"x", Linear, false}}
		c := testConfig(axes, secs(period))
		w := newWindow(c, axes, c.Period)
		for _, r := range rs {
			r.addTo(w)
		}
		if len(rs) == 0 {
			return
		}
		newest := rs[len(rs)-1]
		now := newest.arrived + rapid.Float64Range(0, 0.5).Draw(t, "age")
		if v, _ := w.judge(secs(now), 0); v != isRest {
			return
		}
		settled++
		span := math.Max(0.5, 5*period)
		first := -1
		for i := len(rs) - 1; i >= 0 && first < 0; i-- {
			if secs(newest.stamp)-secs(rs[i].stamp) >= secs(span) {
				first = i
			}
		}
		if first < 0 {
			t.Fatalf("no sample is a window older than the newest")
		}
		run := rs[first:]
		if len(run) < 5 {
			t.Fatalf("%d samples", len(run))
		}
		for i, r := range run {
			if !(math.Abs(r.v) <= 0.01) || math.IsNaN(r.x) || math.IsInf(r.x, 0) {
				t.Fatalf("sample %d: %+v", i, r)
			}
			if i > 0 && (secs(r.stamp) <= secs(run[i-1].stamp) || secs(r.stamp)-secs(run[i-1].stamp) > 3*secs(period)+1) {
				t.Fatalf("stamps %g, %g", run[i-1].stamp, r.stamp)
			}
		}
		if d := math.Abs(run[0].x - newest.x); !(d <= 0.005) {
			t.Fatalf("displacement %g m", d)
		}
		if d := newest.arrived - run[0].arrived; d < 0.8*span-1e-6 {
			t.Fatalf("arrivals spread over %g s", d)
		}
		if age := now - newest.arrived; age >= math.Max(0.1, 3*period)+1e-6 {
			t.Fatalf("age %g s", age)
		}
	})
	if settled == 0 {
		t.Error("no history was settled: the property was never put to the test")
	}
}

// An axis that moves above its threshold anywhere in the window is never at rest, whatever else is so.
func TestMotionInTheWindowIsNeverSettled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axes := []Axis{{"x", Linear, false}, {"y", Linear, false}, {"yaw", Angular, true}, {"j1", Joint, false}}
		limit := []float64{0.01, 0.01, 0.02, 0.01}
		c := testConfig(axes, 20*time.Millisecond)
		w := newWindow(c, axes, c.Period)
		k := rapid.IntRange(0, 24).Draw(t, "sample before the newest")
		axis := rapid.IntRange(0, 3).Draw(t, "axis")
		v := limit[axis] * rapid.Float64Range(1.0001, 1e6).Draw(t, "times the threshold")
		for i := range 60 {
			vel := make([]float64, 4)
			if i == 59-k {
				vel[axis] = v
			}
			at := time.Duration(i) * c.Period
			w.add(stampZero.Add(at), at, make([]float64, 4), vel)
			if verdict, _ := w.judge(at, 0); verdict == isRest && i >= 59-k {
				t.Fatalf("settled with %s at %g, %d samples ago", axes[axis].Name, v, i-(59-k))
			}
		}
	})
}

// Odometry of a robot at rest, with jitter, loss and noise, is settled nearly always.
func TestOdometryAtRestSettles(t *testing.T) {
	for _, hz := range []float64{10, 20, 50, 100} {
		t.Run(fmt.Sprintf("%g Hz", hz), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(hz), 7))
			period := 1 / hz
			c := testConfig(baseAxes, secs(period))
			c.Noisy = true
			w := newWindow(c, baseAxes, c.Period)
			met, asked := 0, 0
			next, sent := 0.0, 0.0
			for now := 0.0; now < 2000; now += 0.05 {
				for next <= now {
					if rng.Float64() >= 0.02 {
						p, v := make([]float64, 3), make([]float64, 3)
						for i := range p {
							p[i], v[i] = 0.0005*rng.NormFloat64(), 0.001*rng.NormFloat64()
						}
						w.add(stampZero.Add(secs(sent)), secs(next), p, v)
					}
					sent += period
					next = sent + period*0.4*rng.Float64() // stamped on time, delivered with jitter
				}
				if now > 2 {
					asked++
					if v, _ := w.judge(secs(now), 0); v == isRest {
						met++
					}
				}
			}
			share := float64(met) / float64(asked)
			t.Logf("settled in %.2f %% of %d windows", 100*share, asked)
			if share < 0.99 {
				t.Errorf("settled in %.2f %% of the windows at rest, want 99 %%", 100*share)
			}
		})
	}
}

func TestOscillationThroughZeroIsNotRest(t *testing.T) {
	// 4 Hz, sampled at 8 Hz exactly at the turning points: every speed reads zero, and the net displacement of an even number of
	// samples is zero too.
	c := testConfig([]Axis{{"x", Linear, false}}, 125*time.Millisecond)
	w := newWindow(c, c.Axes, c.Period)
	for i := range 41 {
		at := time.Duration(i) * c.Period
		x := 0.02 * math.Cos(2*math.Pi*4*at.Seconds())
		w.add(stampZero.Add(at), at, []float64{x}, []float64{0})
		if v, _ := w.judge(at, 0); v == isRest {
			t.Fatalf("settled at %v", at)
		}
	}
}

func BenchmarkWindow(b *testing.B) {
	for _, n := range []int{3, 7} {
		axes := make([]Axis, n)
		for i := range axes {
			axes[i] = Axis{fmt.Sprint(i), Joint, false}
		}
		for _, hz := range []int{10, 50, 500} {
			b.Run(fmt.Sprintf("axes=%d/hz=%d", n, hz), func(b *testing.B) {
				period := time.Second / time.Duration(hz)
				w := newWindow(testConfig(axes, period), axes, period)
				p, v := make([]float64, n), make([]float64, n)
				at := time.Duration(0)
				b.ReportAllocs()
				for b.Loop() {
					at += period
					w.add(stampZero.Add(at), at, p, v)
					w.judge(at, 0)
				}
			})
		}
	}
}
