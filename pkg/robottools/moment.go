package robottools

import (
	"context"
	"time"
)

// moment is how long a call waits before it reads the world.
const moment = time.Millisecond

// warmUpTime is how long after the start calls wait for what was never measured yet.
const warmUpTime = time.Second

// warmUp waits, right after the start alone, until every actuator was measured and the robot knows where it is: the first goal may come
// sooner than the first messages. A robot that never tells holds nobody up later.
func (r *Robot) warmUp(ctx context.Context) {
	for end := r.begun.Add(warmUpTime); r.now().Before(end) && ctx.Err() == nil && !r.measured(); {
		r.letHear(ctx)
	}
}

func (r *Robot) measured() bool {
	for _, a := range r.all {
		if _, ok := a.latest(); !ok {
			return false
		}
	}
	_, placed := r.world.pose()
	return placed
}

// letHear lets what was published at one time be heard by all who listen. One message reaches several listeners, each from a
// goroutine of its own and in no order: a call that was woken by one of them would read some of the world as it was
// before that message. A moment later all agree, and the same run gives the same numbers.
func (r *Robot) letHear(ctx context.Context) {
	t := time.NewTimer(moment)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
