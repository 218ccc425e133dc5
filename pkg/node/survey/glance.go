package survey

import (
	"fmt"
	"time"

	"agent_node/pkg/ros"
)

// Senses are what somebody hears anyway who listens all the time.
type Senses struct {
	// Heard is how many messages of a topic have come, and when the last one did.
	Heard func(topic, typeName string) (count uint64, newest time.Time)
	// Transform is how old the newest transform of source in target is.
	Transform func(target, source string, maxAge time.Duration) (age time.Duration, err error)
	// Seldom says of a topic that it is listened to only now and then: that nothing comes means nothing.
	Seldom func(typeName string) bool
}

// Glance asks the graph once for every need, and by senses what has come. Nothing is subscribed to and nobody is waited for.
func Glance(node ros.Node, needs []Need, senses Senses, publish func(topic string) ros.QoS) (Report, error) {
	l := &looker{node: node, needs: needs, options: Options{Publish: publish}, self: fullName(node), feel: &senses, simulated: true}
	if err := l.read(); err != nil {
		return Report{}, err
	}
	r := Report{Nodes: l.nodes}
	for _, n := range needs {
		r.Rows = append(r.Rows, l.judge(n))
	}
	return r, nil
}

// silence is how long a topic with a period may be silent, in periods, and at least.
const (
	silentPeriods = 10
	silentAtLeast = time.Second
)

// feelTopic judges a topic by what was heard.
func (l *looker) feelTopic(r *Row) {
	if l.feel.Seldom != nil && l.feel.Seldom(r.Type) {
		return
	}
	count, newest := l.feel.Heard(r.Name, r.Type)
	if count == 0 {
		r.add(Stale, "nothing has come on "+r.Name, "is its source running, and not paused?")
		return
	}
	age := time.Since(newest)
	r.Measured = fmt.Sprintf("%.1f s old", age.Seconds())
	limit := r.MaxAge
	if r.Period > 0 {
		limit = max(silentAtLeast, silentPeriods*r.Period)
	}
	if !r.Once && limit > 0 && age > limit {
		r.add(Stale, fmt.Sprintf("nothing has come on %s for %.1f s, limit %.1f s", r.Name, age.Seconds(), limit.Seconds()), "is its source running, and not paused?")
	}
}

// feelTransform judges a transform that somebody follows anyway.
func (l *looker) feelTransform(r *Row) {
	age, err := l.feel.Transform(r.Target, r.Source, r.MaxAge)
	r.Present = err == nil
	if err != nil {
		r.add(Stale, err.Error(), "is localisation running, and robot_state_publisher?")
		return
	}
	r.Measured = fmt.Sprintf("%.0f ms old", age.Seconds()*1000)
}
