package rosout

import (
	"context"
	"sync"
)

// pump hands entries to a slow output from a goroutine of its own, which lives only while there is
// something to hand on. Of entries that nobody takes, the oldest are dropped and counted.
type pump struct {
	f func(*entry)

	mu      sync.Mutex
	queue   []*entry
	dropped int
	started bool
	stopped bool
	running bool
	idle    chan struct{} // closed when the queue is empty; nil if nobody waits
}

func newPump(f func(*entry)) *pump { return &pump{f: f} }

// start begins to hand on; what was pushed before was kept.
func (p *pump) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = true
	p.wake()
}

// stop drops everything from now on.
func (p *pump) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.queue = nil
}

func (p *pump) push(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	if len(p.queue) >= kept {
		p.queue = p.queue[1:]
		p.dropped++
	}
	p.queue = append(p.queue, e)
	p.wake()
}

// wake is called with mu held.
func (p *pump) wake() {
	if p.started && !p.running && len(p.queue) > 0 {
		p.running = true
		go p.run()
	}
}

func (p *pump) run() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		e := *p.queue[0]
		p.queue = p.queue[1:]
		e.dropped, p.dropped = p.dropped, 0
		p.hand(&e)
	}
	p.running = false
	if p.idle != nil {
		close(p.idle)
		p.idle = nil
	}
}

func (p *pump) hand(e *entry) {
	p.mu.Unlock()
	defer p.mu.Lock()
	p.f(e)
}

// flush waits until everything was handed on, or ctx ends.
func (p *pump) flush(ctx context.Context) error {
	p.mu.Lock()
	if !p.running {
		p.mu.Unlock()
		return nil
	}
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
