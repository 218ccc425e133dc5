package validate

import (
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/tf"
	"agent_node/pkg/geometry/zone"
)

// Transforms looks frames up; *tf.Buffer is one.
type Transforms interface {
	Lookup(tf.Query) (tf.Result, error)
	Latest(target, source string, now int64, maxAge time.Duration) (tf.Result, error)
}

// State is what was measured of the base.
type State struct {
	Pose  spatial.Pose
	Frame string        // of Pose
	Twist spatial.Twist // in the base frame
	Stamp int64         // ns, of the measurement; 0: there is none
}

// World is what is known when a command is judged. It is read only; one may be shared by concurrent checks. Durations and lengths
// that are 0 take the default in their comment.
type World struct {
	Now    int64         // ns, ROS time
	MaxAge time.Duration // of state and transforms (0.5 s)

	Frame string     // the fixed frame in which motions are judged, usually "map"; must be set
	Base  string     // the base frame ("base_link")
	TF    Transforms // nil: only Frame itself is known

	Limits    *limits.Base // nil refuses every motion
	Workspace []*zone.Zone // keep-in; each of them holds
	Zones     []*zone.Zone // keep-out and speed zones (a keep-in zone here holds as well)
	Map       *grid.Grid
	NeedMap   bool // a map belongs to this robot: while it is missing, motions are refused
	Footprint spatial.Footprint
	Height    float64 // m of the robot, for zones with heights (0: they apply at every height)
	State     State

	// Previous is the last twist of the same stream, when there is one: acceleration is judged between it and the next.
	Previous      *spatial.Twist
	PreviousStamp int64 // ns

	CommandTimeout time.Duration // for which a velocity goes on when nobody says anything any more (0.5 s)
	StampAhead     time.Duration // a command's stamp may be ahead of Now by this (0.1 s)
	StampAge       time.Duration // and behind by this (10 s)
	MapMargin      float64       // m kept from blocked cells (0)
	StartTolerance float64       // m by which the measured pose may break a zone or the map, if the motion makes it no worse (0.03)
	PathStart      float64       // m between the measured pose and the path's beginning (0.5)
	PathGoal       float64       // m between the path's end and its goal (0.25)
	MaxTilt        float64       // rad of roll and pitch (0.05)
	MaxHeight      float64       // m of a goal above or below the ground (0.5)
	NearestRadius  float64       // m around a refused goal in which a free pose is proposed (1)
	MapInFlight    bool          // InFlight judges the map too, not only zones and limits

	Arm     *Arm     // nil refuses every JointTrajectory
	Gripper *Gripper // nil refuses every GripperCommand
}

// ErrWorld is wrapped by every error about a world's configuration.
var ErrWorld = errors.New("validate: bad world")

// Check reports what is wrong with the parts of a world that come from configuration: a world that fails refuses every
// motion. Call it at start-up.
func (w *World) Check() error {
	_, err := w.check()
	return err
}

// check names the rule as well.
func (w *World) check() (rule string, err error) {
	if w == nil {
		return geometry.RuleLimits, fmt.Errorf("%w: there is none", ErrWorld)
	}
	if err := tf.CheckFrameName(w.Frame); err != nil {
		return geometry.RuleFrame, fmt.Errorf("%w: fixed frame: %w", ErrWorld, err)
	}
	if w.Limits == nil {
		return geometry.RuleLimits, fmt.Errorf("%w: no velocity limits", ErrWorld)
	}
	if err := w.Limits.Check(); err != nil {
		return geometry.RuleLimits, fmt.Errorf("%w: %w", ErrWorld, err)
	}
	if w.Footprint.IsZero() {
		return geometry.RuleFootprint, fmt.Errorf("%w: no footprint", ErrWorld)
	}
	for i, z := range w.Workspace {
		if z == nil || z.Kind() != zone.KeepIn {
			return geometry.RuleWorkspace, fmt.Errorf("%w: workspace zone %d is not a keep-in zone", ErrWorld, i)
		}
	}
	for i, z := range w.Zones {
		if z == nil {
			return geometry.RuleKeepOut, fmt.Errorf("%w: zone %d is nil", ErrWorld, i)
		}
	}
	for _, f := range [...]struct {
		name  string
		value float64
	}{
		{"MaxAge", float64(w.MaxAge)},
		{"Height", w.Height},
		{"CommandTimeout", float64(w.CommandTimeout)},
		{"StampAhead", float64(w.StampAhead)},
		{"StampAge", float64(w.StampAge)},
		{"MapMargin", w.MapMargin},
		{"StartTolerance", w.StartTolerance},
		{"PathStart", w.PathStart},
		{"PathGoal", w.PathGoal},
		{"MaxTilt", w.MaxTilt},
		{"MaxHeight", w.MaxHeight},
		{"NearestRadius", w.NearestRadius},
	} {
		if !(f.value >= 0 && spatial.Finite(f.value)) {
			return geometry.RuleLimits, fmt.Errorf("%w: %s is %g, must be finite and not negative", ErrWorld, f.name, f.value)
		}
	}
	return "", nil
}

func (w *World) maxAge() time.Duration         { return or(w.MaxAge, 500*time.Millisecond) }
func (w *World) commandTimeout() time.Duration { return or(w.CommandTimeout, 500*time.Millisecond) }
func (w *World) stampAhead() time.Duration     { return or(w.StampAhead, 100*time.Millisecond) }
func (w *World) stampAge() time.Duration       { return or(w.StampAge, 10*time.Second) }
func (w *World) startTolerance() float64       { return or(w.StartTolerance, 0.03) }
func (w *World) pathStart() float64            { return or(w.PathStart, 0.5) }
func (w *World) pathGoal() float64             { return or(w.PathGoal, 0.25) }
func (w *World) maxTilt() float64              { return or(w.MaxTilt, 0.05) }
func (w *World) maxHeight() float64            { return or(w.MaxHeight, 0.5) }
func (w *World) nearestRadius() float64        { return or(w.NearestRadius, 1) }

func (w *World) base() string {
	if w.Base == "" {
		return "base_link"
	}
	return w.Base
}

func or[T time.Duration | float64](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}
