package robottools

import (
	"fmt"
	"time"
)

// StaleError says that a source has nothing fresh enough.
type StaleError struct {
	Topic      string
	Age, Limit time.Duration
	Never      bool // no message has come at all
	Publishers int
}

// Error names topic, age, limit and unit.
func (e *StaleError) Error() string {
	if e.Never {
		return fmt.Sprintf("no message on %s (%d publishers), limit %.2f s", e.Topic, e.Publishers, e.Limit.Seconds())
	}
	return fmt.Sprintf("the newest message on %s is %.2f s old, limit %.2f s", e.Topic, e.Age.Seconds(), e.Limit.Seconds())
}
