package robottools

import "time"

// lapse is the silence after which a base stops by itself, as bases do that are commanded by a stream of velocities.
const lapse = 500 * time.Millisecond

// beat is the time that a stream has been active, from step to step. The zero value is a stream that begins.
type beat struct {
	last   time.Time
	active time.Duration
}

// rest: nothing is commanded from the last step to the next one.
func (b *beat) rest() { b.last = time.Time{} }

// step is the time since the last step for which that one's command has counted. lapsed: it has ceased since, because the machine
// was held up for longer.
func (b *beat) step(now time.Time) (dt time.Duration, lapsed bool) {
	if !b.last.IsZero() {
		dt = now.Sub(b.last)
	}
	if lapsed = dt > lapse; lapsed {
		dt = lapse
	}
	b.last = now
	b.active += dt
	return dt, lapsed
}
