package robottools

import (
	"fmt"
	"math"
	"time"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/guard"
)

// A stream that commands motion while nothing is measured to move drives blind: the odometry is frozen, or the robot is held.
// It ends after a way, not after a time as the guard's stall does: at full speed the five seconds of a stall are a room's length.
const (
	blindWay   = 0.3 // m commanded without measured motion; a base that answers within a second stays below it
	blindAngle = 0.6 // rad
	sensedWay  = 0.02
	sensedTurn = 0.03
)

// blindError says that a stream was ended because what it commanded was not measured.
type blindError struct {
	commanded, measured, limit float64
	unit                       string
}

func (e *blindError) Error() string {
	return fmt.Sprintf("%.2f %s were commanded and %.3f %s measured since, limit %.2f %s: the robot is held, or its odometry is frozen",
		e.commanded, e.unit, e.measured, e.unit, e.limit, e.unit)
}

// heldUp is the time of a step after which the sample at hand may be from before: the machine was held up, and its sensors' news with it.
const heldUp = 200 * time.Millisecond

// progress holds what a stream commands against what is measured. The zero value is a stream that begins.
type progress struct {
	known     bool
	x, y, yaw float64       // where motion was sensed last
	since     spatial.Twist // commanded since, m and rad in the base's frame
	forgiven  bool          // a pause since
	late      bool          // the last step was
}

// resumed is called after a pause. Before one is told, the robot has stood for a moment in which it was commanded in vain: that is
// forgiven, but once until motion is sensed. A protective stop that comes and goes must not lend a blind stream another 0.3 m
// each time. The time of a pause itself is not commanded: see beat.
func (p *progress) resumed() {
	if p.known && !p.forgiven {
		p.forgiven, p.since = true, spatial.Twist{}
	}
}

// commanded adds what was commanded until a sample, and judges it. Any motion that is sensed, forward or turning, shows
// that the robot moves and is measured: how well it follows is for others to judge. After a step that was held up it is
// the next one that judges, and no more than the next.
func (p *progress) commanded(velocity spatial.Twist, dt time.Duration, s guard.Sample) error {
	x, y, yaw := s.Position[0], s.Position[1], s.Position[2]
	if !p.known {
		*p = progress{known: true, x: x, y: y, yaw: yaw}
	}
	p.since = p.since.Add(velocity.Scaled(dt.Seconds()))
	moved, turned := math.Hypot(x-p.x, y-p.y), math.Abs(AngleDiff(yaw, p.yaw))
	if moved > sensedWay || turned > sensedTurn {
		*p = progress{known: true, x: x, y: y, yaw: yaw}
		return nil
	}
	if p.late = dt > heldUp && !p.late; p.late {
		return nil
	}
	if way := math.Hypot(p.since.Linear.X, p.since.Linear.Y); way > blindWay {
		return &blindError{way, moved, blindWay, "m"}
	}
	if turn := math.Abs(p.since.Angular.Z); turn > blindAngle {
		return &blindError{turn, turned, blindAngle, "rad"}
	}
	return nil
}
