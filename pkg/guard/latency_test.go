package guard

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// setClock stands where it is set; its ticker never ticks. What is measured against it is therefore the way of an event alone.
type setClock struct {
	base  time.Time
	since atomic.Int64
}

func (c *setClock) Now() time.Time { return c.base.Add(time.Duration(c.since.Load())) }
func (c *setClock) NewTicker(time.Duration) Ticker {
	return systemTicker{&time.Ticker{C: make(chan time.Time)}}
}
func (c *setClock) pass(d time.Duration) { c.since.Add(int64(d)) }

// timed tells when the stop command left.
type timed struct{ stopped chan time.Time }

func (d *timed) Stop() error {
	select {
	case d.stopped <- time.Now():
	default:
	}
	return nil
}
func (*timed) Cancel(Epoch) {}

// latencyRig is a guard in real goroutines under a clock that is set.
type latencyRig struct {
	g     *Guard
	a     *Actuator
	clock *setClock
	d     *timed
}

// measure feeds a still measurement and waits until it has been taken.
func (r *latencyRig) measure() {
	r.clock.pass(20 * time.Millisecond)
	s := Sample{Stamp: r.clock.Now(), Position: make([]float64, 3), Velocity: make([]float64, 3)}
	r.a.Observe(s)
	for !r.a.State().LastFeedback.Equal(s.Stamp) {
		runtime.Gosched()
	}
}

// rest feeds measurements until ran is closed; nobody may be there any more to take them.
func (r *latencyRig) rest(ran <-chan struct{}) {
	for {
		select {
		case <-ran:
			return
		case <-time.After(time.Millisecond):
			r.clock.pass(20 * time.Millisecond)
			r.a.Observe(Sample{Stamp: r.clock.Now(), Position: make([]float64, 3), Velocity: make([]float64, 3)})
		}
	}
}

func (r *latencyRig) until(b *testing.B, s State) {
	for i := 0; r.a.State().State != s; i++ {
		if i > 1000 {
			b.Fatalf("%v is not reached: %+v", s, r.a.State())
		}
		r.measure()
	}
}

// BenchmarkEventToStop: from an event that ends a stream in flight to the stop command that leaves, in real time, in process: median,
// 99th percentile and maximum of 10,000.
func BenchmarkEventToStop(b *testing.B) {
	ctx := context.Background()
	for _, tc := range []struct {
		name string
		stop func(*latencyRig, context.CancelFunc)
	}{
		{"cancel", func(_ *latencyRig, cancel context.CancelFunc) { cancel() }},
		{"stop", func(r *latencyRig, _ context.CancelFunc) { go r.g.StopAll(ctx, "bench") }},
		{"estop", func(r *latencyRig, _ context.CancelFunc) { r.g.EmergencyStop(true) }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			const n = 10_000
			r := &latencyRig{clock: &setClock{base: time.Now()}, d: &timed{stopped: make(chan time.Time, 1)}}
			r.g = New(GuardConfig{Clock: r.clock})
			a, err := r.g.Add(*testConfig(baseAxes, 20*time.Millisecond), r.d)
			if err != nil {
				b.Fatal(err)
			}
			r.a = a
			runCtx, end := context.WithCancel(ctx)
			ran := make(chan struct{})
			go func() { r.g.Run(runCtx); close(ran) }()
			took := make([]time.Duration, 0, n)
			for b.Loop() {
				took = took[:0]
				for range n {
					took = append(took, r.once(b, tc.stop))
				}
			}
			end()
			r.rest(ran)
			slices.Sort(took)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(micro(took[n/2]), "median-us")
			b.ReportMetric(micro(took[n*99/100]), "p99-us")
			b.ReportMetric(micro(took[n-1]), "max-us")
		})
	}
}

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// once sends a stream, ends it, and brings the actuator back to Holding.
func (r *latencyRig) once(b *testing.B, stop func(*latencyRig, context.CancelFunc)) time.Duration {
	r.until(b, Holding)
	l, err := r.a.Acquire(context.Background(), "bench")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started, over := make(chan struct{}), make(chan Outcome, 1)
	go func() {
		over <- l.Execute(ctx, Command{
			Start:  func(Epoch) error { close(started); return nil },
			Stream: func(Epoch, time.Time, Sample) (bool, error) { return false, nil },
		})
	}()
	<-started
	for r.a.State().State != InFlight {
		runtime.Gosched()
	}
	for len(r.d.stopped) > 0 {
		<-r.d.stopped
	}
	began := time.Now()
	stop(r, cancel)
	took := (<-r.d.stopped).Sub(began)
	for len(over) == 0 {
		r.measure()
	}
	if r.a.State().State == Estop {
		r.g.EmergencyStop(false)
		r.a.box.post(input{kind: inReset})
	}
	l.Release()
	return took
}
