package guard

import (
	"fmt"
	"math"
	"time"
)

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
	// StampAge: how far from GuardConfig.SourceTime the newest stamp may be, either way, for rest. 0: like MaxAge; to be raised for
	// a source that is slow by nature (a localisation); negative: not asked for (two machines whose clocks nobody synchronises).
	// As feedback in motion a sample counts up to FeedbackTimeout.
	StampAge time.Duration
	// Noisy: the values of a live sensor differ from sample to sample even at rest (not so where few bits are resolved). Three
	// identical samples in a row are then a frozen sensor: no feedback, and a window that holds them is never rest.
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
	// EndTime: how long stop commands hold an actuator still for a goal that is not known to have ended, before that is a fault (10 s).
	EndTime time.Duration
	// Deceleration of groups that name none (0.5, in the group's unit per s^2).
	Deceleration float64
	// SettleTime for rest after a result (3 s).
	SettleTime time.Duration
	// MotionSamples: so many samples in a row above a speed threshold are motion nobody commanded (3).
	MotionSamples int
	// MoveTime: within this time a commanded motion shows in the measurements (0.5 s). A command that ended sooner, by its
	// server's result or by our zeros, proves nothing by unchanged values: Command.MustMove then asks for none. 0: it always asks.
	// docs/guard.md says why this cannot turn one fault into a false claim.
	MoveTime time.Duration
	// SpreadFactor: no sample of the window is farther from the newest than this many displacement thresholds (2), so that an
	// oscillation sampled at its turning points is not rest. 0: not asked for.
	SpreadFactor float64
	// Standstill: GuardConfig.SourceTime that does not advance for this long is a pause by SourceClock (0.5 s).
	Standstill time.Duration
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
		EndTime:         10 * time.Second,
		Deceleration:    0.5,
		SettleTime:      3 * time.Second,
		MotionSamples:   3,
		MoveTime:        500 * time.Millisecond,
		SpreadFactor:    2,
		Standstill:      500 * time.Millisecond,
	}
}

// Check refuses what cannot work. Errors wrap ErrConfig and name the field, its value and its limit.
func (c *Config) Check() error {
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("%w: actuator %q: %s is %v, want %s", ErrConfig, c.Name, field, value, want)
	}
	if c.Name == "" {
		return bad("Name", `""`, "a name")
	}
	if err := c.checkAxes("Axes", c.Axes); err != nil {
		return err
	}
	if c.Second != nil {
		if err := c.checkAxes("Second.Axes", c.Second.Axes); err != nil {
			return err
		}
		if c.Second.Period <= 0 {
			return bad("Second.Period", c.Second.Period, "more than 0 s")
		}
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"Period", c.Period},
		{"Window", c.Window},
		{"MaxAge", c.MaxAge},
		{"ControlPeriod", c.ControlPeriod},
		{"AcceptTimeout", c.AcceptTimeout},
		{"StallTime", c.StallTime},
		{"FeedbackTimeout", c.FeedbackTimeout},
		{"PauseCap", c.PauseCap},
		{"CancelAnswer", c.CancelAnswer},
		{"CancelResult", c.CancelResult},
		{"StopTime", c.StopTime},
		{"EndTime", c.EndTime},
		{"SettleTime", c.SettleTime},
		{"Standstill", c.Standstill},
	} {
		if d.value <= 0 {
			return bad(d.field, d.value, "more than 0 s")
		}
	}
	if c.MoveTime < 0 {
		return bad("MoveTime", c.MoveTime, "0 s or more")
	}
	if c.MinSamples < 2 {
		return bad("MinSamples", c.MinSamples, "2 or more")
	}
	if c.MotionSamples < 1 {
		return bad("MotionSamples", c.MotionSamples, "1 or more")
	}
	if !(c.MaxGapPeriods >= 1) || math.IsInf(c.MaxGapPeriods, 0) {
		return bad("MaxGapPeriods", c.MaxGapPeriods, "a finite number, 1 or more")
	}
	if !(c.ArrivalSpread >= 0 && c.ArrivalSpread <= 1) {
		return bad("ArrivalSpread", c.ArrivalSpread, "0 to 1")
	}
	if !(c.SpreadFactor >= 0) || math.IsInf(c.SpreadFactor, 0) {
		return bad("SpreadFactor", c.SpreadFactor, "a finite number, 0 or more")
	}
	if !(c.Deceleration > 0) || math.IsInf(c.Deceleration, 0) {
		return bad("Deceleration", c.Deceleration, "a finite number above 0")
	}
	if w := windowOf(c, c.Period); c.SettleTime < 2*w {
		return bad("SettleTime", c.SettleTime, fmt.Sprintf("two windows (%v) or more, else nothing ever settles in time", 2*w))
	}
	if 3*c.Period > c.FeedbackTimeout {
		return bad("FeedbackTimeout", c.FeedbackTimeout, fmt.Sprintf("3 periods (%v) or more, else ordinary feedback counts as lost", 3*c.Period))
	}
	return nil
}

func (c *Config) checkAxes(field string, axes []Axis) error {
	if len(axes) == 0 {
		return fmt.Errorf("%w: actuator %q: %s is empty, want one axis or more", ErrConfig, c.Name, field)
	}
	for i, a := range axes {
		l, ok := c.Groups[a.Group]
		if !ok {
			return fmt.Errorf("%w: actuator %q: %s[%d] %q names group %q, which Groups does not have", ErrConfig, c.Name, field, i, a.Name, a.Group)
		}
		for _, v := range []struct {
			name  string
			value float64
			zero  bool
		}{{"Speed", l.Speed, false}, {"Displacement", l.Displacement, false}, {"Deceleration", l.Deceleration, true}} {
			ok := v.value > 0 || v.zero && v.value == 0
			if !ok || math.IsInf(v.value, 0) {
				return fmt.Errorf("%w: actuator %q: Groups[%q].%s is %v, want a finite number above 0", ErrConfig, c.Name, a.Group, v.name, v.value)
			}
		}
	}
	return nil
}

// windowOf is how long rest is looked at, given a source's period.
func windowOf(c *Config, period time.Duration) time.Duration { return max(c.Window, 5*period) }

// ageOf is how old the newest sample may be.
func ageOf(c *Config, period time.Duration) time.Duration { return max(c.MaxAge, 3*period) }
