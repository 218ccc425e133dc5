package tf

import (
	"errors"
	"fmt"
	"time"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// Errors without details of their own.
var (
	ErrNoTime    = errors.New("tf: a time is needed: 0 is not \"latest\"")
	ErrNoMaxAge  = errors.New("tf: a maximum age over 0 is needed")
	ErrFull      = errors.New("tf: too many frames")
	ErrRoot      = errors.New("tf: parent and child are the same frame")
	ErrBadStamp  = errors.New("tf: stamp is not after 0")
	ErrNotFinite = errors.New("not a finite number")
)

// UnknownFrameError says: no transform ever named this frame.
type UnknownFrameError struct{ Frame string }

func (e *UnknownFrameError) Error() string { return fmt.Sprintf("tf: unknown frame %q", e.Frame) }

// FrameNameError says: a name that no frame can have.
type FrameNameError struct{ Frame, Reason string }

func (e *FrameNameError) Error() string {
	return fmt.Sprintf("tf: frame name %q %s", e.Frame, e.Reason)
}

// NotConnectedError says: both frames are known and no chain of transforms joins them.
type NotConnectedError struct{ Target, Source, TargetRoot, SourceRoot string }

func (e *NotConnectedError) Error() string {
	return fmt.Sprintf("tf: %q and %q are not connected: their roots are %q and %q", e.Target, e.Source, e.TargetRoot, e.SourceRoot)
}

// TooOldError says: the transform of Frame to its parent is older than allowed, or, in Set, older than the history kept.
type TooOldError struct {
	Frame, Parent string
	Age, Limit    time.Duration
}

func (e *TooOldError) Error() string {
	return fmt.Sprintf("tf: transform %s -> %s is %.3f s old, limit %.3f s", e.Frame, e.Parent, e.Age.Seconds(), e.Limit.Seconds())
}

// ExtrapolationError says: the time asked is outside the samples of Frame's transform to its parent.
type ExtrapolationError struct {
	Frame, Parent  string
	Asked          int64 // ns
	Oldest, Newest int64 // ns
}

func (e *ExtrapolationError) Error() string {
	by, side := time.Duration(e.Asked-e.Newest), "after its newest"
	if e.Asked < e.Oldest {
		by, side = time.Duration(e.Oldest-e.Asked), "before its oldest"
	}
	return fmt.Sprintf("tf: transform %s -> %s asked %.3f s %s sample: no extrapolation", e.Frame, e.Parent, by.Seconds(), side)
}

// Future reports whether the time asked was after the newest sample.
func (e *ExtrapolationError) Future() bool { return e.Asked > e.Newest }

// AheadError says: a stamp farther ahead of the clock than MaxAhead.
type AheadError struct {
	Frame        string
	Ahead, Limit time.Duration
}

func (e *AheadError) Error() string {
	return fmt.Sprintf("tf: transform of %s is stamped %.3f s ahead of the clock, limit %.3f s", e.Frame, e.Ahead.Seconds(), e.Limit.Seconds())
}

// CycleError says: the link would make Child its own ancestor.
type CycleError struct{ Parent, Child string }

func (e *CycleError) Error() string {
	return fmt.Sprintf("tf: %q cannot become a child of %q, which is below it already", e.Child, e.Parent)
}

// TransformError says: a transform that is none: non-finite numbers, or a quaternion refused (Err is then a
// *spatial.QuaternionError).
type TransformError struct {
	Parent, Child string
	Translation   r3.Vec
	Rotation      quat.Number
	Err           error
}

func (e *TransformError) Error() string {
	t := e.Translation
	return fmt.Sprintf("tf: transform %s -> %s, translation (%g, %g, %g): %v", e.Child, e.Parent, t.X, t.Y, t.Z, e.Err)
}

// Unwrap gives the reason.
func (e *TransformError) Unwrap() error { return e.Err }
