package nav

import (
	"math"

	"agent_node/sim/world"
)

// Figures of the follower. It stays below the base's own limits, so that noise in
// measured speeds does not look like a breach of them.
const (
	cruise        = 0.45  // m/s
	turning       = 0.80  // rad/s
	lookaheadMin  = 0.18  // m
	lookaheadTime = 0.6   // s
	turnFirst     = 0.70  // rad off the path: turn on the spot
	turnEnough    = 0.15  // rad
	arrived       = 0.01  // m left of the path
	besides       = 0.04  // m from the goal at the path's end that is put right
	corrections   = 2     // times
	aligned       = 0.015 // rad
	slow          = 0.10  // rad/s, stopped from within a hundredth of a radian
	patience      = 5.0   // s without progress
	progress      = 0.05
	restLinear    = 0.01 // m/s
	restAngular   = 0.02 // rad/s
	restPatience  = 1.0  // s after which arriving counts even if the base creeps on
)

type phase uint8

const (
	turnToPath phase = iota
	drive
	turnToGoal
	settle
	over
)

// Follower drives one path. It is not safe for concurrent use.
type Follower struct {
	path      Path
	ahead     []float64 // length of the path from pose i to its end
	limits    world.Limits
	corrected int

	phase   phase
	at      int     // the path's pose that the robot passed last
	left    float64 // m of path left
	yawLeft float64

	stuck  float64 // s without progress
	anchor world.Pose
	rested float64 // s in phase settle
	began  bool
}

// NewFollower makes a follower for a path of at least one pose.
func NewFollower(p Path, limits world.Limits) *Follower {
	f := &Follower{limits: limits}
	f.follow(p)
	return f
}

func (f *Follower) follow(p Path) {
	f.path, f.ahead, f.at, f.phase = p, make([]float64, len(p)), 0, turnToPath
	for i := len(p) - 2; i >= 0; i-- {
		f.ahead[i] = f.ahead[i+1] + p[i].DistanceTo(p[i+1])
	}
	f.left = f.ahead[0]
}

// DistanceRemaining is the length of path left, in metres.
func (f *Follower) DistanceRemaining() float64 { return f.left }

// TimeRemaining is an estimate of the seconds left.
func (f *Follower) TimeRemaining() float64 {
	if f.phase == over {
		return 0
	}
	return f.left/cruise + math.Abs(f.yawLeft)/turning
}

// Step looks at the pose in map and the measured twist, and says with which velocity
// to go on. dt is the time since the last step in seconds; a scaling of 0 says that the
// base holds itself stopped, which is no lack of progress. done is true once the goal
// is reached and the base is at rest. The error is an [*Error].
func (f *Follower) Step(pose world.Pose, measured world.Twist, scaling, dt float64) (command world.Twist, done bool, err error) {
	if f.phase == over {
		return world.Twist{}, true, nil
	}
	if err := f.watch(pose, scaling, dt); err != nil {
		f.phase = over
		return world.Twist{}, false, err
	}
	f.locate(pose)
	goal := f.path[len(f.path)-1]
	f.yawLeft = world.WrapAngle(goal.Yaw - pose.Yaw)
	switch f.phase {
	case turnToPath, drive:
		return f.track(pose), false, nil
	case turnToGoal:
		// Passing the heading at speed is not being aligned with it.
		if math.Abs(f.yawLeft) <= aligned && math.Abs(measured.Angular) <= slow {
			f.phase = settle
			return world.Twist{}, false, nil
		}
		return world.Twist{Angular: f.spin(f.yawLeft)}, false, nil
	case settle:
		return world.Twist{}, f.settled(measured, dt), nil
	case over:
	}
	return world.Twist{}, true, nil
}

// watch is the progress checker.
func (f *Follower) watch(pose world.Pose, scaling, dt float64) error {
	moved := !f.began || f.anchor.DistanceTo(pose) >= progress ||
		math.Abs(world.WrapAngle(pose.Yaw-f.anchor.Yaw)) >= 2*progress
	if moved || f.phase == settle {
		f.anchor, f.stuck, f.began = pose, 0, true
		return nil
	}
	if scaling > 0 {
		f.stuck += dt
	}
	if f.stuck > patience {
		return failure(FailedToMakeProgress, "no progress for %.0f s, %.2f m before the goal", patience, f.left)
	}
	return nil
}

// locate finds out how far along the path the robot is. It never goes back.
func (f *Follower) locate(pose world.Pose) {
	const window = 5 // poses: far enough for a step, too near to jump across a hairpin
	best := math.Inf(1)
	from := f.at
	for i := from; i < min(from+window, len(f.path)); i++ {
		if d := f.path[i].DistanceTo(pose); d < best {
			f.at, best = i, d
		}
	}
	// Between poses: how far the nearest one lies ahead along the path.
	heading := f.heading(f.at)
	dx, dy := f.path[f.at].X-pose.X, f.path[f.at].Y-pose.Y
	f.left = max(f.ahead[f.at]+dx*math.Cos(heading)+dy*math.Sin(heading), 0)
}

// heading of the path at pose i; the last pose's own yaw is the goal's.
func (f *Follower) heading(i int) float64 {
	if i == len(f.path)-1 && i > 0 {
		i--
	}
	return f.path[i].Yaw
}

// track is pure pursuit: it drives an arc to a point of the path ahead, slower in
// curves and towards the end.
func (f *Follower) track(pose world.Pose) world.Twist {
	if f.left <= arrived {
		goal := f.path[len(f.path)-1]
		if pose.DistanceTo(goal) > besides && f.corrected < corrections {
			// A sharp corner just before the end: the last bit goes straight there.
			f.corrected++
			f.follow(densify([]world.Pose{pose, goal}, goal.Yaw))
			return world.Twist{}
		}
		f.phase = turnToGoal
		return world.Twist{}
	}
	brake := math.Sqrt(f.limits.LinearDeceleration * f.left) // half of what the base can do
	speed := min(cruise, brake)
	target := f.target(max(lookaheadMin, lookaheadTime*speed))
	bearing := world.WrapAngle(pose.BearingTo(target) - pose.Yaw)
	limit := turnFirst
	if f.phase == turnToPath {
		limit = turnEnough
	}
	if math.Abs(bearing) > limit {
		f.phase = turnToPath
		return world.Twist{Angular: f.spin(bearing)}
	}
	f.phase = drive
	curvature := 2 * math.Sin(bearing) / pose.DistanceTo(target)
	speed = min(speed, turning/max(math.Abs(curvature), 1e-9))
	return world.Twist{Linear: speed, Angular: speed * curvature}
}

// target is the point of the path at the distance ahead; beyond the end the path goes
// straight on, so that the robot arrives on the line and not in a hook.
func (f *Follower) target(ahead float64) world.Pose {
	want := f.left - ahead // of path left at the target
	for i := f.at; i < len(f.path); i++ {
		if f.ahead[i] <= want {
			return f.path[i]
		}
	}
	end := f.path[len(f.path)-1]
	s, c := math.Sincos(f.heading(len(f.path) - 1))
	beyond := max(-want, 0)
	return world.Pose{X: end.X + c*beyond, Y: end.Y + s*beyond}
}

// spin is the turning rate for an angle that is left: fast, and braking in time.
func (f *Follower) spin(angle float64) float64 {
	a := math.Abs(angle)
	return math.Copysign(min(turning, 2.5*a, math.Sqrt(f.limits.AngularAcceleration*a)), angle)
}

func (f *Follower) settled(measured world.Twist, dt float64) bool {
	f.rested += dt
	rest := math.Abs(measured.Linear) <= restLinear && math.Abs(measured.Angular) <= restAngular
	if rest && f.rested >= 0.1 || f.rested >= restPatience {
		f.phase = over
		return true
	}
	return false
}
