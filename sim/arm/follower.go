package arm

import "agent_node/sim/world"

// slowing is how fast the trajectory's time is brought to rest and back to its rate, 1/s. No joint, at its
// full speed, has to slow down harder than it can: so the arm stops on its path and not beside it.
const slowing = 2.5

// Follower leads the arm along one trajectory. It is not safe for concurrent use.
type Follower struct {
	names      [world.Joints]string
	trajectory *Trajectory
	tolerances Tolerances

	time    float64 // of the trajectory
	rate    float64 // of its time: 1, or less while it stops
	stopped bool
	desired Setpoint
}

// NewFollower makes a follower; the trajectory begins with the first step.
func NewFollower(names [world.Joints]string, t *Trajectory, tolerances Tolerances) *Follower {
	return &Follower{names: names, trajectory: t, tolerances: tolerances, time: t.Begin(), rate: 1, desired: t.At(t.Begin())}
}

// Desired is what was asked for in the last step.
func (f *Follower) Desired() Setpoint { return f.desired }

// Time is how far the trajectory has come, s.
func (f *Follower) Time() float64 { return f.time }

// Stop brings the arm to rest on its path, for good.
func (f *Follower) Stop() { f.stopped = true }

// Step lets dt seconds pass and says what the arm should do, by what was measured. The scaling, from 0 to 1, is the rate at which
// the trajectory's time may pass. It is done when the arm stands at the end within the goal's tolerance; an error is an [Error].
func (f *Follower) Step(measured Setpoint, scaling, dt float64) (command Setpoint, done bool, err error) {
	if f.stopped {
		scaling = 0
	}
	f.rate += min(max(scaling-f.rate, -slowing*dt), slowing*dt)
	f.time += f.rate * dt
	f.desired = f.trajectory.At(f.time)
	for j := range world.Joints {
		f.desired.Velocities[j] *= f.rate
		f.desired.Accelerations[j] *= f.rate * f.rate
	}
	if f.stopped {
		return f.desired, false, nil
	}
	late := f.time - f.trajectory.End()
	if late < 0 {
		return f.desired, false, f.onPath(measured)
	}
	err = f.atGoal(measured)
	if err != nil && (f.tolerances.GoalTime < 0 || late <= f.tolerances.GoalTime) {
		return f.desired, false, nil
	}
	return f.desired, err == nil, err
}

func (f *Follower) onPath(measured Setpoint) error {
	for j, t := range f.tolerances.Path {
		p, v := f.off(measured, j)
		if t.broken(p, v) {
			return failure(PathToleranceViolated, "%s is off by %.3f rad and %.3f rad/s at %.2f s, %s", f.names[j], p, v, f.time, t)
		}
	}
	return nil
}

func (f *Follower) atGoal(measured Setpoint) error {
	for j, t := range f.tolerances.Goal {
		p, v := f.off(measured, j)
		if t.broken(p, v) {
			return failure(GoalToleranceViolated, "%s is off by %.3f rad and %.3f rad/s %.2f s after the end, %s", f.names[j], p, v, f.time-f.trajectory.End(), t)
		}
	}
	return nil
}

// off is how far a joint is off.
func (f *Follower) off(measured Setpoint, j int) (position, velocity float64) {
	return f.desired.Positions[j] - measured.Positions[j], f.desired.Velocities[j] - measured.Velocities[j]
}
