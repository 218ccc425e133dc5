package arm

import (
	"math"
	"slices"

	"agent_node/sim/world"
)

// Values are one number for each joint, in the arm's order.
type Values [world.Joints]float64

// Point is a point of a trajectory in the order of the arm's joints.
type Point struct {
	Time          float64 // s from the trajectory's start
	Positions     Values  // rad
	Velocities    Values  // rad/s
	Accelerations Values  // rad/s^2
	// What the point has besides positions; accelerations only count with velocities.
	HasVelocities, HasAccelerations bool
}

// Setpoint is what the arm should do at a time.
type Setpoint struct{ Positions, Velocities, Accelerations Values }

// Trajectory leads from where the arm was when it began through every point.
type Trajectory struct {
	points []Point // the first one is where it began
}

// restless is the least velocity at the end that counts as one, rad/s.
const restless = 1e-6

// Asked is a goal as it comes in: joint by name, in any order.
type Asked struct {
	Names  []string
	Points []AskedPoint
	// Age is how long ago it should have begun, s: negative where it begins later, 0 to begin now.
	Age float64
}

// AskedPoint is a point of it. A part that is empty is left out.
type AskedPoint struct {
	Time                                          float64 // s
	Positions, Velocities, Accelerations, Efforts []float64
}

// Check judges a goal's form as the joint_trajectory_controller does before it accepts one, and brings its
// points into the arm's order. Whatever is wrong is an [Error]; such a goal is refused.
func Check(names [world.Joints]string, a Asked) ([]Point, error) {
	index, err := order(names, a.Names)
	if err != nil {
		return nil, err
	}
	if len(a.Points) == 0 {
		return nil, failure(InvalidGoal, "the trajectory has no points")
	}
	points := make([]Point, 0, len(a.Points))
	before := math.Inf(-1)
	for i, p := range a.Points {
		if !(p.Time >= 0 && p.Time > before) {
			return nil, failure(InvalidGoal, "point %d is at %v s, it must be later than the one before and not below 0 s", i, p.Time)
		}
		before = p.Time
		point, err := ordered(index, i, p)
		if err != nil {
			return nil, err
		}
		points = append(points, point)
	}
	last := points[len(points)-1]
	for j, v := range last.Velocities {
		if math.Abs(v) > restless {
			return nil, failure(InvalidGoal, "%s still moves with %v rad/s at the end", names[j], v)
		}
	}
	if a.Age > last.Time {
		return nil, failure(OldHeaderTimestamp, "it ended %.3f s ago", a.Age-last.Time)
	}
	return points, nil
}

// indices are where in a goal each of the arm's joints is.
type indices [world.Joints]int

// order finds each of the arm's joints in the goal, exactly once, and nothing else there.
func order(names [world.Joints]string, asked []string) (index indices, err error) {
	for j, n := range names {
		if index[j] = slices.Index(asked, n); index[j] < 0 {
			return index, failure(InvalidJoints, "%q is missing; all joints must be named", n)
		}
	}
	for i, n := range asked {
		if !slices.Contains(names[:], n) {
			return index, failure(InvalidJoints, "there is no joint %q", n)
		}
		if slices.Index(asked, n) != i {
			return index, failure(InvalidJoints, "%q is named twice", n)
		}
	}
	return index, nil
}

// ordered brings a point's numbers into the arm's order.
func ordered(index indices, number int, p AskedPoint) (Point, error) {
	out := Point{Time: p.Time, HasVelocities: len(p.Velocities) > 0, HasAccelerations: len(p.Accelerations) > 0}
	for _, part := range []struct {
		name   string
		from   []float64
		to     *Values
		needed bool
	}{
		{"positions", p.Positions, &out.Positions, true},
		{"velocities", p.Velocities, &out.Velocities, false},
		{"accelerations", p.Accelerations, &out.Accelerations, false},
	} {
		if len(part.from) != world.Joints && (part.needed || len(part.from) > 0) {
			return out, failure(InvalidGoal, "point %d has %d %s, there are %d joints", number, len(part.from), part.name, world.Joints)
		}
		for j, i := range index {
			if len(part.from) == 0 {
				break
			}
			v := part.from[i]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return out, failure(InvalidGoal, "point %d: number %d of its %s is %v", number, i, part.name, v)
			}
			part.to[j] = v
		}
	}
	if len(p.Efforts) > 0 {
		return out, failure(InvalidGoal, "point %d has efforts, the arm is led by position", number)
	}
	return out, nil
}

// startTolerance is how far a first point that is due at once may be from where the joint is, rad.
const startTolerance = 0.05

// NewTrajectory leads from where the arm is through points that [Check] has passed. Their time began age seconds ago, or, where
// age is negative, is yet to begin; the way to the first point begins now. Points that should have been passed by now
// are left out. A first point that is due at once and is not where the arm is, is an [Error].
func NewTrajectory(names [world.Joints]string, from Setpoint, points []Point, age float64) (*Trajectory, error) {
	here := Point{
		Time: age, Positions: from.Positions, Velocities: from.Velocities, Accelerations: from.Accelerations,
		HasVelocities: true, HasAccelerations: true,
	}
	if first := points[0]; first.Time == 0 && age == 0 {
		for j, q := range first.Positions {
			if d := math.Abs(q - from.Positions[j]); !(d <= startTolerance) {
				return nil, failure(InvalidGoal, "it starts %.3f rad from where %s is, %.3f rad are allowed", d, names[j], startTolerance)
			}
		}
	}
	for len(points) > 1 && points[0].Time <= age {
		points = points[1:]
	}
	return &Trajectory{append([]Point{here}, points...)}, nil
}

// Begin is the time at which it began, s: 0, or as old as the goal was.
func (t *Trajectory) Begin() float64 { return t.points[0].Time }

// End is the time of the last point, s.
func (t *Trajectory) End() float64 { return t.points[len(t.points)-1].Time }

// At is what it asks for at a time: before it begins, where it begins; after its end, to stand at the last point.
func (t *Trajectory) At(time float64) Setpoint {
	first, last := t.points[0], t.points[len(t.points)-1]
	switch {
	case time >= last.Time:
		return Setpoint{Positions: last.Positions}
	case !(time > first.Time):
		return Setpoint{Positions: first.Positions, Velocities: first.Velocities}
	}
	i := 1
	for t.points[i].Time <= time {
		i++
	}
	a, b := t.points[i-1], t.points[i]
	var out Setpoint
	for j := range world.Joints {
		out.Positions[j], out.Velocities[j], out.Accelerations[j] = between(a, b, j, time)
	}
	return out
}
