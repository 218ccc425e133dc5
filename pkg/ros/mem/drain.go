package mem

import (
	"sync/atomic"
	"time"
)

// pending counts the messages that wait for a subscription's callback or are with one.
type pending struct {
	n     atomic.Int64
	empty chan struct{} // holds one token when the last of them is dealt with
}

func (p *pending) add() { p.n.Add(1) }

func (p *pending) done() {
	if p.n.Add(-1) > 0 {
		return
	}
	select {
	case p.empty <- struct{}{}:
	default:
	}
}

// Drain waits until no subscription of the bus has anything left to deliver, and no callback runs, or for so long at most; it
// reports whether that is so. A simulator that calls it before each of its steps never runs ahead of those who listen, however
// busy the machine is. It is for one caller at a time, and not for a callback.
func (b *Bus) Drain(most time.Duration) bool {
	if b.pending.n.Load() == 0 {
		return true
	}
	late := time.NewTimer(most)
	defer late.Stop()
	for b.pending.n.Load() > 0 {
		select {
		case <-b.pending.empty: // perhaps of an earlier time: look again
		case <-late.C:
			return b.pending.n.Load() == 0
		}
	}
	return true
}
