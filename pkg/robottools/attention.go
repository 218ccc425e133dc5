package robottools

import (
	"sync"

	"agent_node/pkg/guard"
	"agent_node/pkg/ros"
)

// attention decides whether measurements are taken at once or several together: at once while anything is carried out, and
// while any actuator does anything but hold. Signals that stop or pause are no matter of it: they are always taken at once.
type attention struct {
	mu     sync.Mutex
	held   int                    // by whom the robot is attended to
	states map[string]guard.State // of actuators
	calm   []ros.Unhurried        // what may wait while nothing goes on
	idle   bool
}

// Attend has everything taken at once until done is called: for as long as somebody works with the robot.
func (r *Robot) Attend() (done func()) {
	r.attention.change(func(a *attention) { a.held++ })
	return sync.OnceFunc(func() { r.attention.change(func(a *attention) { a.held-- }) })
}

// moved notes an actuator's new state.
func (a *attention) moved(actuator string, to guard.State) {
	a.change(func(a *attention) { a.states[actuator] = to })
}

// calmly adds subscriptions whose messages may wait while nothing goes on.
func (a *attention) calmly(subs ...ros.Subscription) {
	a.change(func(a *attention) {
		for _, s := range subs {
			if u, ok := s.(ros.Unhurried); ok {
				a.calm = append(a.calm, u)
				u.LetWait(a.idle)
			}
		}
	})
}

func (a *attention) change(f func(*attention)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(a)
	idle := a.held == 0
	for _, s := range a.states {
		idle = idle && s == guard.Holding
	}
	if idle == a.idle {
		return
	}
	a.idle = idle
	for _, u := range a.calm {
		u.LetWait(idle)
	}
}
