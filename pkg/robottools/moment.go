package robottools

import (
	"context"
	"time"
)

// moment is how long a call waits before it reads the world.
const moment = time.Millisecond

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
