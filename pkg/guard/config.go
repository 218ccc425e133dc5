package guard

import "time"

// Group says which thresholds an axis is held against.
type Group string

// Groups that DefaultConfig has thresholds for. A Config may name others in Groups.
const (
	// Linear axes are translations of a base or a tool (m, m/s). Speed and displacement are Euclidean over the group's axes.
	Linear Group = "linear"
	// Angular axes are rotations of a base or a tool (rad, rad/s), each held against the threshold alone.
	Angular Group = "angular"
	// Joint axes are revolute joints (rad, rad/s), each held against the threshold alone. Prismatic joints and grippers are Linear.
	Joint Group = "joint"
)

// Axis is one value of the samples' Position and Velocity.
type Axis struct {
	Name  string
	Group Group
	// Wrap: the position is an angle that jumps by 2 pi (a yaw, a continuous joint). Differences are taken the short way round.
	Wrap bool
}

// Limits of one group of axes: what rest is.
type Limits struct {
	// Speed at or below which the group is at rest, in m/s or rad/s.
	Speed float64
	// Displacement within one window at or below which the group is at rest, in m or rad. Also the measure of progress: a motion
	// that is not displaced by more than this for StallTime is stalled.
	Displacement float64
	// Deceleration that the actuator can be relied on for, in m/s^2 or rad/s^2; 0: Config.Deceleration.
	Deceleration float64
	// Euclidean: speed and displacement are norms over the group's axes, not each axis alone.
	Euclidean bool
}

// SecondSource is another, independent measurement of the same actuator (Actuator.ObserveSecond).
type SecondSource struct {
	Axes   []Axis
	Period time.Duration // of its samples
}

// Config of one actuator: every number of the rules.
type Config struct {
	Name string
	Axes []Axis
	// Groups has the thresholds of every group that the axes name.
	Groups map[Group]Limits
	// Second is set where there is a second source.
	Second *SecondSource

	// Period of the measurements (20 ms).
	Period time.Duration
	// Window is the least time that rest is looked at (0.5 s); the rule uses the larger of this and 5 periods.
	Window time.Duration
	// MinSamples in a window (5).
	MinSamples int
	// MaxGapPeriods: no two stamps of a window are farther apart than so many periods (3).
	MaxGapPeriods float64
	// ArrivalSpread: the part of the window that arrivals must be spread over, on the monotonic clock (0.8).
	ArrivalSpread float64
	// MaxAge of the newest sample (100 ms); the rule uses the larger of this and 3 periods. By arrival; by stamp too where
	// GuardConfig.SourceTime is set.
	MaxAge time.Duration
	// Noisy: the values of a live sensor differ from sample to sample even at rest. A window of identical values is then a frozen
	// sensor, and never rest.
	Noisy bool

	// ControlPeriod between two stop commands, and two calls of Command.Stream (50 ms).
	ControlPeriod time.Duration
	// AcceptTimeout for the answer to a goal (2 s).
	AcceptTimeout time.Duration
	// StallTime without measured progress (5 s).
	StallTime time.Duration
	// FeedbackTimeout without fresh, finite measurements (1 s).
	FeedbackTimeout time.Duration
	// PauseCap: a longer pause ends the motion (60 s).
	PauseCap time.Duration
	// CancelAnswer: how long the answer to a cancel may take (1 s).
	CancelAnswer time.Duration
	// CancelResult: how long the goal's end may take after its cancel was accepted (3 s).
	CancelResult time.Duration
	// StopTime: least time for stop commands to bring rest (3 s); the rule uses the larger of this and speed/deceleration + window + 1 s.
	StopTime time.Duration
	// Deceleration of groups that name none (0.5, in the group's unit per s^2).
	Deceleration float64
	// SettleTime for rest after a result (3 s).
	SettleTime time.Duration
	// MotionSamples: so many samples in a row above a speed threshold are motion nobody commanded (3).
	MotionSamples int
	// InstantTime: a command that its server (or its stream) ends with success within this time of its start had nothing to
	// move, and needs no changed values as evidence even with Command.MustMove (0.5 s; 0: always needs them). See docs/guard.md.
	InstantTime time.Duration
}

// DefaultConfig is the rules' numbers for an actuator of that name. Axes must be added.
func DefaultConfig(name string) Config {
	return Config{
		Name: name,
		Groups: map[Group]Limits{
			Linear:  {Speed: 0.01, Displacement: 0.005, Euclidean: true},
			Angular: {Speed: 0.02, Displacement: 0.01},
			Joint:   {Speed: 0.01, Displacement: 0.002},
		},
		Period:          20 * time.Millisecond,
		Window:          500 * time.Millisecond,
		MinSamples:      5,
		MaxGapPeriods:   3,
		ArrivalSpread:   0.8,
		MaxAge:          100 * time.Millisecond,
		ControlPeriod:   50 * time.Millisecond,
		AcceptTimeout:   2 * time.Second,
		StallTime:       5 * time.Second,
		FeedbackTimeout: time.Second,
		PauseCap:        time.Minute,
		CancelAnswer:    time.Second,
		CancelResult:    3 * time.Second,
		StopTime:        3 * time.Second,
		Deceleration:    0.5,
		SettleTime:      3 * time.Second,
		MotionSamples:   3,
		InstantTime:     500 * time.Millisecond,
	}
}
