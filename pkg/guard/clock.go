package guard

import "time"

// Clock tells monotonic time. Times it returns are only subtracted from each other.
type Clock interface {
	Now() time.Time
	NewTicker(d time.Duration) Ticker
}

// Ticker delivers ticks on C until stopped; a slow receiver misses ticks and does not pile them up.
type Ticker interface {
	C() <-chan time.Time
	Stop()
}

// SystemClock is the machine's clock, read monotonically.
func SystemClock() Clock { return systemClock{} }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) NewTicker(d time.Duration) Ticker { return systemTicker{time.NewTicker(d)} }

type systemTicker struct{ t *time.Ticker }

func (t systemTicker) C() <-chan time.Time { return t.t.C }
func (t systemTicker) Stop()               { t.t.Stop() }
