package robottools_test

import (
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/robottools"
)

// Ticks come by simulated time, at the tickers' periods, and each is taken before time goes on.
func TestTickersTickBySimulatedTime(t *testing.T) {
	var sim time.Duration
	clock := robottools.NewSimClock(func() time.Duration { return sim })
	begin := clock.Now()
	fast, slow := clock.NewTicker(20*time.Millisecond), clock.NewTicker(time.Second)
	done := make(chan struct{})
	var last time.Time
	fasts, slows := 0, 0
	go func() {
		for {
			select {
			case last = <-fast.C():
				fasts++
			case <-slow.C():
				slows++
			case <-done:
				close(done)
				return
			}
		}
	}()
	for range 1000 {
		sim += 10 * time.Millisecond
		clock.Advance(time.Hour)
	}
	done <- struct{}{}
	<-done
	if fasts != 500 || slows != 10 || last.Sub(begin) != 10*time.Second {
		t.Errorf("%d and %d ticks, the last after %v", fasts, slows, last.Sub(begin))
	}
	fast.Stop()
	fast.Stop()
	slow.Stop()
	sim += time.Hour
	clock.Advance(time.Hour) // waits for nobody
}

// A receiver that hangs is waited for once, and again when it has taken a tick.
func TestAReceiverThatHangsHoldsTimeUpOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sim time.Duration
		clock := robottools.NewSimClock(func() time.Duration { return sim })
		ticker := clock.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		step := func() time.Duration {
			begin := time.Now()
			sim += 10 * time.Millisecond
			clock.Advance(time.Second)
			return time.Since(begin)
		}
		if took := step(); took != time.Second {
			t.Errorf("the first tick was held for %v", took)
		}
		for range 5 {
			if took := step(); took != 0 {
				t.Errorf("a later one for %v", took)
			}
		}
		go func() { <-ticker.C() }()
		synctest.Wait()
		if took := step(); took != 0 {
			t.Errorf("a receiver that is there took %v", took)
		}
		if took := step(); took != time.Second {
			t.Errorf("it is not waited for anew, but %v", took)
		}
	})
}
