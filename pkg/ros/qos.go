package ros

import "time"

// Reliability of a publisher or subscription.
type Reliability uint8

// Durability of a publisher or subscription.
type Durability uint8

// The policies of ROS 2 that this house uses.
const (
	Reliable Reliability = iota
	BestEffort
)

// Durabilities.
const (
	Volatile Durability = iota
	TransientLocal
)

// QoS is a quality-of-service profile: keep-last history of Depth messages.
type QoS struct {
	Depth       int // 0 means 10
	Reliability Reliability
	Durability  Durability
	Lifespan    time.Duration // 0 means for ever
	// Deadline is how long after a message the next one is due at the latest; 0 means none.
	Deadline time.Duration
	// ManualLiveliness: a publisher says by itself that it is alive. Of endpoints in the graph only; it cannot be asked for.
	ManualLiveliness bool
}

// DefaultQoS is reliable, volatile, depth 10.
func DefaultQoS() QoS { return QoS{Depth: 10} }

// SensorQoS is best effort, volatile, depth 5.
func SensorQoS() QoS { return QoS{Depth: 5, Reliability: BestEffort} }

// LatchedQoS is reliable, transient local, depth 1.
func LatchedQoS() QoS { return QoS{Depth: 1, Durability: TransientLocal} }

// String is the reliability's ROS name.
func (r Reliability) String() string {
	if r == BestEffort {
		return "best_effort"
	}
	return "reliable"
}

// String is the durability's ROS name.
func (d Durability) String() string {
	if d == TransientLocal {
		return "transient_local"
	}
	return "volatile"
}

// String names the policies by which publishers and subscriptions fail to match: the two that matter most always, the others where
// they ask for something.
func (q QoS) String() string {
	s := q.Reliability.String() + " " + q.Durability.String()
	if q.Deadline > 0 {
		s += " deadline " + q.Deadline.String()
	}
	if q.ManualLiveliness {
		s += " liveliness manual_by_topic"
	}
	return s
}

// Incompatible names the first policy by which a publisher's offer fails a subscription's request, as ROS names it with the value
// requested; empty where they match.
func Incompatible(offer, request QoS) string {
	switch {
	case request.Reliability == Reliable && offer.Reliability == BestEffort:
		return "reliability reliable"
	case request.Durability == TransientLocal && offer.Durability == Volatile:
		return "durability transient_local"
	case request.Deadline > 0 && (offer.Deadline == 0 || offer.Deadline > request.Deadline):
		return "deadline " + request.Deadline.String()
	case request.ManualLiveliness && !offer.ManualLiveliness:
		return "liveliness manual_by_topic"
	}
	return ""
}
