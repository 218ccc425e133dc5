package action

import (
	"context"
	"sync"
	"time"
)

// Every client of a service hears every response, and keeps usually ten until it looks. A burst, as when
// twenty goals are accepted at once or a goal ends that many wait for, would push answers
// out of a slow client's queue, and ROS 2 does not send them again.
const (
	paceBurst = 5                     // answers that may leave at once
	paceGap   = 10 * time.Millisecond // between those that follow
	// paceLong is how long the line may become at that gap; those behind follow at paceRush.
	paceLong = 300 * time.Millisecond
	paceRush = 2 * time.Millisecond
)

// pacer spaces answers: a few may leave at once, the others one by one.
type pacer struct {
	mu   sync.Mutex
	next time.Time // when the next answer is due at the steady pace
}

// wait waits for the caller's turn, or until ctx ends.
func (p *pacer) wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	turn := p.next.Add(-paceBurst * paceGap)
	gap := paceGap
	if p.next.Sub(now) > paceLong {
		gap = paceRush
	}
	p.next = p.next.Add(gap)
	p.mu.Unlock()
	pause := turn.Sub(now)
	if pause <= 0 {
		return nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
