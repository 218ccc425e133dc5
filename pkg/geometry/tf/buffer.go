package tf

import (
	"sync"
	"time"

	"agent_node/pkg/geometry/spatial"
)

// Config bounds a buffer. The zero value of a field takes its default.
type Config struct {
	Keep       time.Duration // history per dynamic transform (10 s)
	MaxSamples int           // per dynamic transform (4096)
	MaxFrames  int           // in all (4096)
	// MaxAhead is how far a stamp may be ahead of the clock (5 s): localisation stamps its transform ahead, but one from
	// far away would make every later one look old.
	MaxAhead time.Duration
	// JumpBack is how far the clock must go back to count as a jump (100 ms): callers on several threads read the clock in one
	// order and arrive in another.
	JumpBack time.Duration
}

// Stamped is a transform from Child's coordinates to Parent's: the pose of Child in Parent.
type Stamped struct {
	Parent, Child string
	Stamp         int64 // ns; ignored for a static transform
	Transform     spatial.Transform
}

// Change says what a transform did to the buffer besides being added.
type Change struct {
	Reparented string // the child's former parent, whose history is gone
	Normalised bool   // the quaternion's norm was off by more than rounding
	Repeated   bool   // this stamp was there already; the first one is kept
	Kind       bool   // a static transform became dynamic or the other way round
	Cleared    bool   // the clock had jumped back; all dynamic transforms were forgotten first
}

// Query asks where Source is in Target at a time.
type Query struct {
	Target, Source string
	At             int64         // ns; 0 is not "latest", see Latest
	MaxAge         time.Duration // every sample used is at most this far from At; must be over 0
	// Tolerance lets At be later than the newest sample by this much; the newest is then used, and Result.Stamp says so.
	Tolerance time.Duration
}

// Result of a lookup.
type Result struct {
	Transform spatial.Transform // maps Source coordinates to Target's
	Stamp     int64             // the time it holds for; for an all-static chain the time asked
	Static    bool              // no dynamic transform was involved
}

// Buffer of transforms.
type Buffer struct {
	cfg Config

	mu     sync.RWMutex
	frames map[string]int32
	nodes  []node
	now    int64 // newest clock reading
}
