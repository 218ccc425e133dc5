package guard_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

// enoughEvents is from how many on every rule of the table has to be met.
const enoughEvents = 100_000

// eventsWanted is how many random events the test below runs: GUARD_EVENTS, or 100,000 (PROOF=1: a million), or with the race detector,
// which is slow, fewer.
func eventsWanted(t *testing.T) int {
	if s := os.Getenv("GUARD_EVENTS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("GUARD_EVENTS is %q, want a number of events", s)
		}
		return n
	}
	if os.Getenv("PROOF") == "1" {
		return 10 * enoughEvents
	}
	if testing.Short() || raceDetector {
		return enoughEvents / 5
	}
	return enoughEvents
}

// Whatever happens, in whatever order: no claim of rest of what moves, no command lost, no state unreached, and stop always wins.
func TestRandomEvents(t *testing.T) {
	const perBubble = 2000
	wanted := eventsWanted(t)
	seen := map[guard.Pair]int{}
	states := map[guard.State]bool{guard.Unknown: true}
	total := chaosCounts{}
	for seed := uint64(0); total.events < wanted && !t.Failed(); seed++ {
		n := min(perBubble, wanted-total.events)
		synctest.Test(t, func(t *testing.T) {
			c := newChaos(t, seed)
			c.play(n)
			c.finish()
			for _, x := range c.transitions {
				seen[guard.Pair{From: x.From, Event: x.Event}]++
				states[x.To] = true
			}
			total.add(&c.counts)
		})
	}
	t.Logf("%d events, %d commands sent, %d outcomes (%d at rest), %d stops (%d at rest), %d transitions", total.events, total.sent, total.outcomes, total.rested, total.stops, total.stopped, len(seen))
	for _, s := range guard.States() {
		if !states[s] {
			t.Errorf("%v was never reached", s)
		}
	}
	for _, p := range guard.ChangingRules() {
		if seen[p] == 0 {
			if total.events >= enoughEvents {
				t.Errorf("never: %v in %v", p.Event, p.From)
			} else {
				t.Logf("never: %v in %v", p.Event, p.From)
			}
		}
	}
	if total.rested == 0 || total.rested == total.outcomes || total.stopped == 0 {
		t.Error("the test tests nothing: outcomes are all alike")
	}
}

type chaosCounts struct{ events, sent, outcomes, rested, stops, stopped int }

func (c *chaosCounts) add(d *chaosCounts) {
	c.events += d.events
	c.sent += d.sent
	c.outcomes += d.outcomes
	c.rested += d.rested
	c.stops += d.stops
	c.stopped += d.stopped
}

// chaos is one bubble of random events.
type chaos struct {
	*rig
	rng   *rand.Rand
	seed  uint64
	noisy bool
	allow time.Duration // by which a claim may lag behind the truth

	counts  chaosCounts
	stopGen atomic.Int64 // raised when a stop has been taken
	waiting sync.WaitGroup
	monitor chan struct{}
	lease   *guard.Lease
	cancel  context.CancelFunc
	mu      sync.Mutex
	log     []string
}

func newChaos(t *testing.T, seed uint64) *chaos {
	rng := rand.New(rand.NewPCG(seed, 99))
	c := &chaos{rng: rng, seed: seed, noisy: seed%4 != 3, monitor: make(chan struct{}), cancel: func() {}}
	period := []time.Duration{50 * ms, 100 * ms}[rng.IntN(2)]
	o := guardtest.Options{Period: period, Tick: 25 * ms, Jitter: 0.3, Loss: 0.02, Lag: time.Duration(rng.IntN(80)) * ms, Seed: seed}
	if c.noisy {
		o.Noise = 0.0005
	}
	c.allow = o.Lag + max(3*period, 100*ms) + 2*period
	c.rig = newRig(t, rigOptions{robot: o, config: func(cfg *guard.Config) {
		cfg.PauseCap = 5 * time.Second // so that it is met
	}})
	go c.watch()
	return c
}

func (c *chaos) failf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.log
	if len(tail) > 40 {
		tail = tail[len(tail)-40:]
	}
	c.t.Errorf("seed %d, %v: %s\nlast events: %q", c.seed, c.a.State(), fmt.Sprintf(format, args...), tail)
}

func (c *chaos) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, fmt.Sprintf("%v ", c.a.State().State)+fmt.Sprintf(format, args...))
}

// watch compares every claim with the truth, all the time.
func (c *chaos) watch() {
	defer close(c.monitor)
	for c.ctx.Err() == nil {
		moving := c.r.MovingFor()
		if rest, _, _ := c.a.AtRest(); rest && moving > c.allow {
			c.failf("claims rest of what has moved for %v", moving)
			return
		}
		if rest, _, _ := c.a.AtRest(); rest && c.r.RunningFor() > c.allow {
			c.failf("claims rest, and the server has run a goal for %v", c.r.RunningFor())
			return
		}
		if s := c.a.State().State; s == guard.Holding && moving > c.allow+1500*ms {
			c.failf("holding, and it has moved for %v", moving)
			return
		}
		select {
		case <-time.After(25 * ms):
		case <-c.ctx.Done():
		}
	}
}

func (c *chaos) play(n int) {
	for range n {
		if c.t.Failed() {
			return
		}
		c.counts.events++
		c.event()
		time.Sleep(time.Duration(c.rng.IntN(1+[]int{1, 20, 200, 1500}[c.rng.IntN(4)])) * ms)
	}
}

func (c *chaos) event() {
	switch k := c.rng.IntN(100); {
	case k < 4:
		c.scene()
	case k < 30:
		c.command()
	case k < 36:
		c.note("cancel")
		c.cancel()
	case k < 40:
		c.note("release")
		if c.lease != nil {
			c.lease.Release()
		}
	case k < 44:
		c.stop("stop", func(ctx context.Context) error { return c.g.StopAll(ctx, "chaos") })
	case k < 46:
		c.stop("quiesce", c.g.Quiesce)
	case k < 48:
		c.note("estop")
		c.g.EmergencyStop(true)
		synctest.Wait()
		c.stopGen.Add(1)
	case k < 52:
		c.note("estop off")
		c.g.EmergencyStop(false)
	case k < 60:
		c.reset()
	case k < 70:
		source := []string{guard.SourceOperator, "protective_stop", "speed_scaling"}[c.rng.IntN(3)]
		if c.rng.IntN(2) == 0 {
			c.note("pause %s", source)
			c.r.Set(func(f *guardtest.Faults) { f.ProtectiveStop = source == "protective_stop" })
			c.g.Pause(source)
		} else {
			c.resume()
		}
	case k < 90:
		c.fault()
	case k < 96:
		c.note("faults over")
		c.heal()
	case k < 97:
		c.note("server dies")
		c.r.Die()
	case k < 98:
		c.a.Foreign("somebody")
	default:
		c.answer()
	}
}

func (c *chaos) resume() {
	c.note("resume")
	for _, s := range []string{guard.SourceOperator, "protective_stop", "speed_scaling"} {
		c.g.Resume(s)
	}
	c.r.Set(func(f *guardtest.Faults) { f.ProtectiveStop = false })
}

func (c *chaos) heal() {
	c.r.Set(func(f *guardtest.Faults) { *f = guardtest.Faults{} })
	c.r.Push(0)
}

// command runs one in the background, by a lease that may be fresh, held, or lost.
func (c *chaos) command() {
	if c.lease == nil || c.rng.IntN(3) > 0 {
		ctx, cancel := context.WithTimeout(c.ctx, time.Duration(c.rng.IntN(1500))*ms)
		l, err := c.a.Acquire(ctx, "chaos")
		cancel()
		if err == nil {
			c.lease = l
		}
	}
	if c.lease == nil {
		return
	}
	gen := c.stopGen.Load()
	var cmd guard.Command
	distance := (c.rng.Float64() - 0.5) * 3
	if c.rng.IntN(2) == 0 {
		cmd = c.r.Drive(distance, 0.4)
	} else {
		pos, _ := c.r.Truth()
		cmd = c.r.Goal(pos[0]+distance, 0.4)
	}
	c.guardStop(&cmd, gen)
	cmd.Allowance = time.Duration(1+c.rng.IntN(8)) * time.Second
	fails, slow := c.rng.IntN(5) == 0, time.Duration(c.rng.IntN(300))*ms
	cmd.Revalidate = func(ctx context.Context) error {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
		}
		if fails {
			return errors.New("no longer valid")
		}
		return ctx.Err()
	}
	if c.rng.IntN(10) == 0 {
		cmd.Check = func(s guard.Sample) error { return errors.New("in the zone") }
	}
	ctx, cancel := context.WithCancel(c.ctx)
	c.cancel = cancel
	c.note("command %s %.2f", cmd.Tool, distance)
	c.counts.sent++
	lease := c.lease
	c.waiting.Add(1)
	go func() {
		defer c.waiting.Done()
		o := lease.Execute(ctx, cmd)
		moving := c.r.MovingFor()
		cancel()
		if o.AtRest && moving > c.allow {
			c.failf("outcome %+v of what has moved for %v", o, moving)
		}
		if o.AtRest && c.r.Running() == o.Epoch && o.Epoch != 0 {
			c.failf("outcome %+v, and the server runs the goal", o)
		}
		if o.Reason == "" || !o.AtRest && o.Detail == "" && o.Err == nil {
			c.failf("outcome %+v explains nothing", o)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.counts.outcomes++
		if o.AtRest {
			c.counts.rested++
		}
	}()
}

// guardStop makes the command complain when it is carried on after a stop.
func (c *chaos) guardStop(cmd *guard.Command, gen int64) {
	start, stream := cmd.Start, cmd.Stream
	fails := 0 // which start fails
	if c.rng.IntN(10) == 0 {
		fails = 1 + c.rng.IntN(2)
	}
	breaks := 0 // which call of the stream fails
	if c.rng.IntN(5) == 0 {
		breaks = 1 + c.rng.IntN(20)
	}
	starts, calls := 0, 0
	check := func(what string) {
		if c.stopGen.Load() != gen {
			c.failf("%s after a stop", what)
		}
	}
	cmd.Start = func(e guard.Epoch) error {
		check("start")
		if starts++; starts == fails {
			return errors.New("cannot be sent")
		}
		return start(e)
	}
	if stream != nil {
		cmd.Stream = func(e guard.Epoch, now time.Time, s guard.Sample) (bool, error) {
			check("stream")
			if calls++; calls == breaks {
				return false, errors.New("cannot be carried on")
			}
			return stream(e, now, s)
		}
	}
}

func (c *chaos) stop(what string, ask func(context.Context) error) {
	c.note("%s", what)
	busy := c.a.State().State != guard.Holding || c.a.State().Owner != ""
	c.waiting.Add(1)
	c.counts.stops++
	go func() {
		defer c.waiting.Done()
		err := ask(c.ctx)
		if moving := c.r.MovingFor(); err == nil && moving > c.allow {
			c.failf("%s says that it rests, and it has moved for %v", what, moving)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil {
			c.counts.stopped++
		}
	}()
	synctest.Wait()
	if what == "stop" || busy {
		c.stopGen.Add(1)
	}
}

// reset is a person's: with a sensor that cannot show whether it lives, or a goal that nobody has answered for, a person looks first.
func (c *chaos) reset() {
	if !c.noisy && c.r.MovingFor() > 0 || c.r.Running() != 0 {
		return
	}
	c.note("reset")
	ctx, cancel := context.WithTimeout(c.ctx, time.Duration(c.rng.IntN(3000))*ms)
	defer cancel()
	_ = c.g.Reset(ctx) // what it says is checked by watch: it holds, and does not move
}

// answer gives an answer that nobody asked for, of some epoch.
func (c *chaos) answer() {
	e := guard.Epoch(c.rng.IntN(200))
	c.note("stray answer %d", e)
	if e == c.r.Running() {
		return // an answer of the goal at hand would be a lie of its server, and no stray one
	}
	switch c.rng.IntN(4) {
	case 0:
		c.a.CancelAnswered(e, true)
	case 1:
		c.a.Progress(guard.Epoch(100_000) + e)
	case 2:
		c.a.Finished(guard.Epoch(100_000)+e, guard.ReasonSucceeded, nil)
	case 3:
		c.a.Accepted(guard.Epoch(100_000) + e)
	}
}

// finish heals everything and waits: nothing that was begun stays without its end.
func (c *chaos) finish() {
	c.g.EmergencyStop(false)
	c.resume()
	c.heal()
	done := make(chan struct{})
	go func() { c.waiting.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(3 * time.Minute):
		c.failf("%d commands sent, %d outcomes: one is lost", c.counts.sent, c.counts.outcomes)
	}
	if c.counts.sent != c.counts.outcomes {
		c.failf("%d commands sent, %d outcomes", c.counts.sent, c.counts.outcomes)
	}
	if !c.t.Failed() {
		if err := c.g.Reset(c.ctx); err != nil {
			c.failf("healed, and reset says %v", err)
		}
		if _, err := c.a.Acquire(c.ctx, "last"); err != nil && !errors.Is(err, guard.ErrOwned) {
			c.failf("healed, and acquire says %v", err)
		}
	}
	for _, p := range c.reported(guard.ReportInternal) {
		c.failf("internal: %s", p.Detail)
	}
	if err := c.close(); err != nil && !c.t.Failed() {
		c.failf("Run says %v", err)
	}
}
