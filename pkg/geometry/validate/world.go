package validate

import (
	"time"

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
	Zones     []*zone.Zone // keep-out and speed zones
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
}
