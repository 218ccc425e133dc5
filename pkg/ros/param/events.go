package param

import (
	"slices"
	"sync"
)

// event is what one declaration or one Set did.
type event struct{ added, changed, removed []Parameter }

// announce is called with setting held, so that events keep the order of the changes.
func (s *Server) announce(e event) {
	s.remote.publish(s, e)
	if len(s.listeners) == 0 {
		return
	}
	changes := slices.Concat(e.added, e.changed)
	for _, p := range e.removed {
		changes = append(changes, Parameter{Name: p.Name})
	}
	listeners := slices.Clone(s.listeners)
	s.delivery.add(func() {
		for _, l := range listeners {
			l.f(slices.Clone(changes))
		}
	})
}

// delivery runs change callbacks in order and never two at once, on the goroutine of
// whoever changed something. Because nothing is locked meanwhile, a callback may set
// parameters itself: its change is delivered after the one at hand.
type delivery struct {
	mu      sync.Mutex
	pending []func()
	running bool
}

func (d *delivery) add(f func()) {
	d.mu.Lock()
	d.pending = append(d.pending, f)
	d.mu.Unlock()
}

func (d *delivery) run() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running {
		return
	}
	d.running = true
	defer func() { d.running = false }()
	for len(d.pending) > 0 {
		f := d.pending[0]
		d.pending = d.pending[1:]
		d.call(f)
	}
}

func (d *delivery) call(f func()) {
	d.mu.Unlock()
	defer d.mu.Lock()
	f()
}
