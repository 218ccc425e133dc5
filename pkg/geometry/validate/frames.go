package validate

import (
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/tf"
)

// nanosecondsPerSecond: a builtin_interfaces/Time with as many or more nanoseconds is none.
const nanosecondsPerSecond = 1_000_000_000

// stamp judges a command's time stamp.
func (w *World) stamp(s Stamp, subject string, into []geometry.Finding) []geometry.Finding {
	switch {
	case s.Nanosec >= nanosecondsPerSecond:
		return append(into, geometry.New(geometry.RuleStamp, subject+".nanosec", -1, float64(s.Nanosec), nanosecondsPerSecond-1, "ns",
			fmt.Sprintf("is %d ns: a time has at most 999999999", s.Nanosec)))
	case s.Sec < 0:
		return append(into, geometry.New(geometry.RuleStamp, subject+".sec", -1, float64(s.Sec), 0, "s", fmt.Sprintf("is %d s: before time began", s.Sec)))
	case s.IsZero():
		return into
	}
	age := time.Duration(w.Now - s.Ns())
	if -age > w.stampAhead() {
		return append(into, geometry.New(geometry.RuleStamp, subject, -1, -age.Seconds(), w.stampAhead().Seconds(), "s",
			fmt.Sprintf("is %.3f s ahead of the clock, limit %.3f s", -age.Seconds(), w.stampAhead().Seconds())))
	}
	if age > w.stampAge() {
		return append(into, geometry.New(geometry.RuleStamp, subject, -1, age.Seconds(), w.stampAge().Seconds(), "s",
			fmt.Sprintf("is %.3f s old, limit %.3f s", age.Seconds(), w.stampAge().Seconds())))
	}
	return into
}

// toFixed finds the transform from a frame to the fixed frame at a stamp (0: now).
func (w *World) toFixed(frame string, at int64, subject string, into []geometry.Finding) (spatial.Transform, []geometry.Finding) {
	return w.into(w.Frame, frame, at, subject, into)
}

// into finds the transform from a frame to a target frame at a stamp (0: now).
func (w *World) into(target, frame string, at int64, subject string, into []geometry.Finding) (spatial.Transform, []geometry.Finding) {
	if err := tf.CheckFrameName(frame); err != nil {
		return spatial.Transform{}, append(into, w.frameFinding(err, subject))
	}
	if frame == target {
		return spatial.Identity(), into
	}
	if w.TF == nil {
		return spatial.Transform{}, append(into, w.frameFinding(&tf.UnknownFrameError{Frame: frame}, subject))
	}
	var r tf.Result
	var err error
	if at == 0 {
		r, err = w.TF.Latest(target, frame, w.Now, w.maxAge())
	} else {
		r, err = w.TF.Lookup(tf.Query{Target: target, Source: frame, At: at, MaxAge: w.maxAge(), Tolerance: w.maxAge()})
	}
	if err != nil {
		return spatial.Transform{}, append(into, w.frameFinding(err, subject))
	}
	return r.Transform, into
}

// planar is toFixed for what lies flat: the pose of the frame in the fixed frame, and its height.
func (w *World) planar(frame, subject string, into []geometry.Finding) (p spatial.Pose2, height float64, out []geometry.Finding) {
	if frame == w.Frame {
		return spatial.Pose2{}, 0, into
	}
	n := len(into)
	t, into := w.toFixed(frame, 0, subject, into)
	if len(into) > n {
		return spatial.Pose2{}, 0, into
	}
	if tilt := spatial.Tilt(t.Rotation); !(tilt <= w.maxTilt()) {
		return spatial.Pose2{}, 0, append(into, geometry.New(geometry.RuleRollPitch, subject, -1, tilt, w.maxTilt(), "rad",
			fmt.Sprintf("frame %q is tilted by %.3f rad against %q, limit %.3f rad", frame, tilt, w.Frame, w.maxTilt())))
	}
	return t.Planar(), t.Translation.Z, into
}

func (w *World) frameFinding(err error, subject string) geometry.Finding {
	var old *tf.TooOldError
	var out *tf.ExtrapolationError
	switch {
	case errors.As(err, &old):
		return geometry.New(geometry.RuleTransformAge, subject, -1, old.Age.Seconds(), old.Limit.Seconds(), "s", err.Error())
	case errors.As(err, &out) && out.Future():
		return geometry.New(geometry.RuleStamp, subject, -1, float64(out.Asked-out.Newest)/1e9, w.maxAge().Seconds(), "s", err.Error())
	case errors.As(err, &out):
		return geometry.New(geometry.RuleStamp, subject, -1, float64(out.Oldest-out.Asked)/1e9, 0, "s", err.Error())
	case errors.Is(err, tf.ErrNoTime):
		return geometry.New(geometry.RuleStamp, subject, -1, 0, 0, "s", err.Error())
	}
	return geometry.New(geometry.RuleFrame, subject, -1, 0, 0, "", err.Error())
}
