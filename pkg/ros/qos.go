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

// String names the two policies by which publishers and subscriptions fail to match.
func (q QoS) String() string { return q.Reliability.String() + " " + q.Durability.String() }
