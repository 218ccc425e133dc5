package ros

import "time"

// Time is ROS time in nanoseconds since its epoch. The zero Time is "not set".
type Time int64

// TimeFrom converts a wall-clock time.
func TimeFrom(t time.Time) Time { return Time(t.UnixNano()) }

// Std converts to a time.Time in UTC.
func (t Time) Std() time.Time { return time.Unix(0, int64(t)).UTC() }

// Sub is t-u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Add is t+d.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// IsZero reports whether the time is not set.
func (t Time) IsZero() bool { return t == 0 }
