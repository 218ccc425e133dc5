package guard

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// handDriven is a driver and a clock for an actor that is stepped by hand.
type handDriven struct {
	now   time.Time
	stops int
}

func (s *handDriven) Stop() error                    { s.stops++; return nil }
func (*handDriven) Cancel(Epoch)                     {}
func (s *handDriven) Now() time.Time                 { return s.now }
func (*handDriven) NewTicker(_ time.Duration) Ticker { return systemTicker{time.NewTicker(time.Hour)} }

// byHand is an actor without its goroutine, brought to a state, and what it periodically does there: a measurement and a tick.
func byHand(tb testing.TB, axes int, want State) (period func(), d *handDriven) {
	d = &handDriven{now: time.Now()}
	g := New(GuardConfig{Clock: d, SourceTime: func() (time.Time, bool) { return d.now, true }})
	cfg := *testConfig(nil, 20*time.Millisecond)
	for i := range axes {
		cfg.Axes = append(cfg.Axes, Axis{fmt.Sprint(i), Joint, false})
	}
	a, err := g.Add(cfg, d)
	if err != nil {
		tb.Fatal(err)
	}
	r := newActor(a)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	tb.Cleanup(r.cancel)
	s := Sample{Position: make([]float64, axes), Velocity: make([]float64, axes)}
	period = func() {
		d.now = d.now.Add(20 * time.Millisecond)
		s.Stamp = d.now
		a.Observe(s)
		r.drain()
		r.take(&r.tick)
	}
	for range 100 {
		period()
	}
	moving := func() {
		s.Velocity[0] = 0.1
		period()
	}
	switch want {
	case Holding:
	case InFlight, Paused:
		r.take(&input{kind: inAcquire, id: 1, text: "bench", ask: &asking{id: 1, reply: make(chan leased, 1)}})
		x := &execution{id: 2, reply: make(chan Outcome, 1), command: Command{
			Start:  func(Epoch) error { return nil },
			Stream: func(Epoch, time.Time, Sample) (bool, error) { return false, nil },
			Check:  func(Sample) error { return nil },
		}}
		r.take(&input{kind: inExecute, id: r.m.lease.id, exec: x, order: order{id: 2, stream: true, check: true}})
		drive := period
		period = func() { s.Position[0] += 0.01; drive() } // it makes progress
		if want == Paused {
			a.Pause("mode")
			drive()
			period = drive
		}
	case Stopping, Fault:
		moving()
		r.take(&input{kind: inStop})
		for want == Fault && r.m.state != Fault {
			period()
		}
	case Estop:
		moving()
		r.take(&input{kind: inEstop, flag: true})
		for !r.m.late {
			period()
		}
	default:
		tb.Fatalf("no way to %v", want)
	}
	if r.m.state != want {
		tb.Fatalf("in %v, want %v", r.m.state, want)
	}
	return period, d
}

// What is done again and again allocates nothing, in any state that lasts.
func TestPeriodicPathAllocatesNothing(t *testing.T) {
	for _, s := range []State{Holding, InFlight, Paused, Stopping, Fault, Estop} {
		t.Run(s.String(), func(t *testing.T) {
			period, _ := byHand(t, 7, s)
			if n := testing.AllocsPerRun(40, period); n != 0 {
				t.Errorf("%g allocations a period", n)
			}
		})
	}
}

func TestStopIsSentAtTheControlRate(t *testing.T) {
	for s, want := range map[State]int{Holding: 0, InFlight: 0, Paused: 10, Stopping: 10, Fault: 10, Estop: 10} {
		period, d := byHand(t, 1, s)
		d.stops = 0
		for range 10 {
			period()
		}
		if d.stops != want {
			t.Errorf("%v: %d stop commands in 10 control periods, want %d", s, d.stops, want)
		}
	}
}

// BenchmarkPeriodicPath is one measurement through the mailbox, and one tick of the control rate.
func BenchmarkPeriodicPath(b *testing.B) {
	for _, s := range []State{Holding, InFlight, Fault} {
		for _, axes := range []int{3, 7} {
			b.Run(fmt.Sprintf("%v/axes=%d", s, axes), func(b *testing.B) {
				period, _ := byHand(b, axes, s)
				b.ReportAllocs()
				for b.Loop() {
					period()
				}
			})
		}
	}
}
