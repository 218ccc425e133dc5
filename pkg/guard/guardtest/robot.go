package guardtest

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"agent_node/pkg/guard"
)

// Options of a scripted actuator.
type Options struct {
	// Axes measured and moved; nil: one Linear axis "x".
	Axes []guard.Axis
	// Period of the measurements (20 ms), Jitter of their sending as a fraction of it, Loss the fraction that never arrives.
	Period time.Duration
	Jitter float64
	Loss   float64
	// Lag between the truth and what is measured of it.
	Lag time.Duration
	// Noise: standard deviation of measured positions (m, rad) and velocities (a tenth of the number per second).
	Noise float64
	// Acceleration and Deceleration of every axis (1, 1; m/s^2 or rad/s^2).
	Acceleration float64
	Deceleration float64
	// Tick of the physics (5 ms).
	Tick time.Duration
	Seed uint64
}

// Robot is one scripted actuator: body, sensor, driver and server. Safe for concurrent use.
type Robot struct {
	opt      Options
	actuator *guard.Actuator
	began    time.Time

	mu        sync.Mutex
	rng       *rand.Rand
	faults    Faults
	pos, vel  []float64
	wanted    []float64 // velocity that the input asks for
	push      []float64 // velocity that somebody else adds
	movingAt  time.Time // since when the truth moves; zero: it does not
	history   []truth   // for the lag
	due       time.Time // of the next measurement
	last      guard.Sample
	frozen    *guard.Sample
	scheduled []scheduled
	goal      *serverGoal
	newest    guard.Epoch          // that was accepted
	left      guard.Epoch          // that Left began
	owed      map[guard.Epoch]bool // goals that have ended, and whose results are on their way
	velocity  time.Time            // of the last velocity command: the input's own watchdog
	counts    Counts
	sequence  []string
}

type truth struct {
	at       time.Time
	pos, vel []float64
}

type scheduled struct {
	at time.Time
	do func()
}

// Counts of what reached the actuator.
type Counts struct {
	Starts, Velocities, Stops, Cancels, Samples int
	FirstStop                                   time.Time
}

// VelocityTimeout is the silence on the velocity input that stops the body.
const VelocityTimeout = 500 * time.Millisecond

// New makes a scripted actuator at rest at zero.
func New(opt Options) *Robot {
	if opt.Axes == nil {
		opt.Axes = []guard.Axis{{Name: "x", Group: guard.Linear}}
	}
	if opt.Period == 0 {
		opt.Period = 20 * time.Millisecond
	}
	if opt.Acceleration == 0 {
		opt.Acceleration = 1
	}
	if opt.Deceleration == 0 {
		opt.Deceleration = 1
	}
	if opt.Tick == 0 {
		opt.Tick = 5 * time.Millisecond
	}
	n := len(opt.Axes)
	return &Robot{
		opt: opt, began: time.Now(), rng: rand.New(rand.NewPCG(opt.Seed, 1)),
		owed: map[guard.Epoch]bool{}, pos: make([]float64, n), vel: make([]float64, n), wanted: make([]float64, n), push: make([]float64, n), due: time.Now(),
	}
}

// Config is a guard configuration that fits the robot.
func (r *Robot) Config(name string) guard.Config {
	c := guard.DefaultConfig(name)
	c.Axes = r.opt.Axes
	c.Period = r.opt.Period
	c.Deceleration = r.opt.Deceleration
	c.Noisy = r.opt.Noise > 0
	return c
}

// Attach tells the robot whom to feed. Before Run.
func (r *Robot) Attach(a *guard.Actuator) { r.actuator = a }

// Run moves the body and feeds the guard until ctx ends.
func (r *Robot) Run(ctx context.Context) {
	ticker := time.NewTicker(r.opt.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.Step(r.opt.Tick)
		}
	}
}

// Step lets dt pass, up to now: server, body, then sensor.
func (r *Robot) Step(dt time.Duration) {
	now := time.Now()
	r.mu.Lock()
	calls := r.takeDue(now)
	r.mu.Unlock()
	for _, call := range calls {
		call()
	}
	r.mu.Lock()
	call := r.server(now)
	r.body(now, dt)
	s, send := r.sensor(now)
	r.mu.Unlock()
	if call != nil {
		call()
	}
	if send && r.actuator != nil {
		r.actuator.Observe(s)
	}
}

// body integrates the truth.
func (r *Robot) body(now time.Time, dt time.Duration) {
	if r.goal == nil && now.Sub(r.velocity) > VelocityTimeout && !r.faults.IgnoreStop {
		clear(r.wanted)
	}
	h := dt.Seconds()
	for i := range r.pos {
		want := r.wanted[i]
		if r.faults.ProtectiveStop {
			want = 0
		}
		want += r.push[i]
		limit := r.opt.Acceleration
		if math.Abs(want) < math.Abs(r.vel[i]) || want*r.vel[i] < 0 {
			limit = r.opt.Deceleration
		}
		d := math.Max(-limit*h, math.Min(limit*h, want-r.vel[i]))
		v := r.vel[i] + d
		r.pos[i] += (r.vel[i] + v) / 2 * h
		r.vel[i] = v
	}
	if a := r.faults.Oscillate; a > 0 {
		t := now.Sub(r.began).Seconds()
		w := 2 * math.Pi * 4
		r.vel[0] = a * w * math.Cos(w*t)
		r.pos[0] += a * w * math.Cos(w*t) * h
	}
	if r.moves() {
		if r.movingAt.IsZero() {
			r.movingAt = now
		}
	} else {
		r.movingAt = time.Time{}
	}
}

// moves: the truth is above a threshold of rest.
func (r *Robot) moves() bool {
	c := guard.DefaultConfig("")
	sum := map[guard.Group]float64{}
	for i, a := range r.opt.Axes {
		l := c.Groups[a.Group]
		v := math.Abs(r.vel[i])
		if l.Euclidean {
			sum[a.Group] = math.Hypot(sum[a.Group], v)
			v = sum[a.Group]
		}
		if v > l.Speed {
			return true
		}
	}
	return false
}

// Truth is the body's position and velocity now.
func (r *Robot) Truth() (pos, vel []float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]float64(nil), r.pos...), append([]float64(nil), r.vel...)
}

// MovingFor is how long the body has been moving above the thresholds of rest; 0: it does not.
func (r *Robot) MovingFor() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.movingAt.IsZero() {
		return 0
	}
	return time.Since(r.movingAt) + 1
}

// Push adds a velocity to the first axis that nobody commanded.
func (r *Robot) Push(v float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.push[0] = v
}

// Counts of what reached the actuator so far.
func (r *Robot) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// Sequence is what reached the actuator, in order: "start", "velocity", "stop", "cancel". It is cleared by reading.
func (r *Robot) Sequence() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sequence
	r.sequence = nil
	return s
}

func (r *Robot) note(what string) {
	if n := len(r.sequence); n == 0 || r.sequence[n-1] != what {
		r.sequence = append(r.sequence, what)
	}
}

func (r *Robot) after(d time.Duration, do func()) {
	r.scheduled = append(r.scheduled, scheduled{time.Now().Add(d), do})
}

func (r *Robot) takeDue(now time.Time) (calls []func()) {
	kept := r.scheduled[:0]
	for _, s := range r.scheduled {
		if s.at.After(now) {
			kept = append(kept, s)
		} else {
			calls = append(calls, s.do)
		}
	}
	r.scheduled = kept
	return calls
}
