package physics

import (
	"math"

	"agent_node/sim/world"
)

// Figures of the localisation, which stands in for a particle filter on the map.
const (
	localPosition = 0.006 // m, sigma of its error along each axis
	localHeading  = 0.004 // rad
	localMemory   = 0.8   // how much of an error the next one keeps
	localMoved    = 0.05  // m driven before it corrects itself again
	localTurned   = 0.05  // rad turned
)

// localisation corrects the drift of the odometry: it knows the pose in map up to a
// small error, and says so as the pose of odom in map. Like its models it only acts when
// odometry says that the robot moved.
type localisation struct {
	noise
	mapToOdom world.Pose
	offset    world.Pose // its error at the last correction
	last      world.Pose // odometry at the last correction
}

func newLocalisation(seed uint64, start world.Pose) localisation {
	return localisation{noise: newNoise(seed, streamLocalisation), mapToOdom: start}
}

func (l *localisation) step(truth, odometry world.Pose, lost bool) {
	moved := l.last.DistanceTo(odometry) >= localMoved ||
		math.Abs(world.WrapAngle(odometry.Yaw-l.last.Yaw)) >= localTurned
	if lost || !moved {
		return
	}
	fresh := math.Sqrt(1 - localMemory*localMemory)
	l.offset = world.Pose{
		X:   localMemory*l.offset.X + fresh*l.normal(localPosition),
		Y:   localMemory*l.offset.Y + fresh*l.normal(localPosition),
		Yaw: localMemory*l.offset.Yaw + fresh*l.normal(localHeading),
	}
	believed := world.Pose{X: truth.X + l.offset.X, Y: truth.Y + l.offset.Y, Yaw: world.WrapAngle(truth.Yaw + l.offset.Yaw)}
	l.mapToOdom = believed.Compose(odometry.Inverse())
	l.last = odometry
}

// reset takes the pose as given, as from a person who says where the robot is.
func (l *localisation) reset(truth, odometry world.Pose) {
	l.mapToOdom = truth.Compose(odometry.Inverse())
	l.offset, l.last = world.Pose{}, odometry
}
