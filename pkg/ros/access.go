package ros

import (
	"fmt"
	"math"
	"time"
)

// The accessors below are for fixed code paths over types whose fields are known.
// They panic on a path that is wrong; data never makes them panic.

// Float is a number as float64.
func (m *Message) Float(path string) float64 {
	n, ok := numberOf(m.must(path))
	if !ok {
		panic(m.mismatch(path, "a number"))
	}
	switch n.form {
	case 'i':
		return float64(n.i)
	case 'u':
		return float64(n.u)
	}
	return n.f
}

// Int is an integer; a uint64 beyond int64's range becomes its maximum (see Uint).
func (m *Message) Int(path string) int64 {
	n, ok := numberOf(m.must(path))
	switch {
	case ok && n.form == 'i':
		return n.i
	case ok && n.form == 'u':
		return int64(min(n.u, math.MaxInt64))
	}
	panic(m.mismatch(path, "an integer"))
}

// Uint is an unsigned integer.
func (m *Message) Uint(path string) uint64 {
	n, ok := numberOf(m.must(path))
	if !ok || n.form != 'u' {
		panic(m.mismatch(path, "an unsigned integer"))
	}
	return n.u
}

// Str is a string.
func (m *Message) Str(path string) string { return mustBe[string](m, path) }

// Bool is a bool.
func (m *Message) Bool(path string) bool { return mustBe[bool](m, path) }

// Msg is a nested message: the message's own, so that writing to it writes to m.
func (m *Message) Msg(path string) *Message { return mustBe[*Message](m, path) }

// Msgs is an array of nested messages, the message's own.
func (m *Message) Msgs(path string) []*Message { return mustBe[[]*Message](m, path) }

// Floats is an array of float32 or float64 as float64. A float64 array is the message's own.
func (m *Message) Floats(path string) []float64 {
	switch v := m.must(path).(type) {
	case []float64:
		return v
	case []float32:
		w := make([]float64, len(v))
		for i, x := range v {
			w[i] = float64(x)
		}
		return w
	}
	panic(m.mismatch(path, "an array of floats"))
}

// Strs is an array of strings, the message's own.
func (m *Message) Strs(path string) []string { return mustBe[[]string](m, path) }

func (m *Message) must(path string) any {
	v, err := m.Get(path)
	if err != nil {
		panic(err)
	}
	return v
}

func mustBe[T any](m *Message, path string) T {
	v, ok := m.must(path).(T)
	if !ok {
		panic(m.mismatch(path, fmt.Sprintf("%T", v)))
	}
	return v
}

func (m *Message) mismatch(path, want string) error {
	v, _ := m.Get(path)
	return &FieldError{Message: m.Type.Name, Path: path, Reason: reasonType, Want: want, Value: show(v), Offset: -1}
}

const (
	timeType     = "builtin_interfaces/msg/Time"
	durationType = "builtin_interfaces/msg/Duration"
)

// Stamp is a builtin_interfaces Time or Duration field in nanoseconds.
func (m *Message) Stamp(path string) Time {
	s := m.Msg(path)
	return Time(s.Int("sec")*int64(time.Second) + s.Int("nanosec"))
}

// Duration is a builtin_interfaces Duration field.
func (m *Message) Duration(path string) time.Duration { return time.Duration(m.Stamp(path)) }

// SetStamp sets a builtin_interfaces Time field. A time that its 32 bits of seconds
// cannot hold (before 1901, after 2038) becomes the nearest that they can.
func (m *Message) SetStamp(path string, t Time) { writeStamp(m.Msg(path), int64(t)) }

// SetDuration sets a builtin_interfaces Duration field; beyond 68 years it becomes the longest there is.
func (m *Message) SetDuration(path string, d time.Duration) { writeStamp(m.Msg(path), int64(d)) }

func stampMessage(t *Type, ns int64) *Message {
	m := New(t)
	writeStamp(m, ns)
	return m
}

// writeStamp splits as ROS does: nanosec is never negative, so -0.5 s is sec -1 and nanosec 500000000.
func writeStamp(m *Message, ns int64) {
	sec, nanosec := ns/int64(time.Second), ns%int64(time.Second)
	if nanosec < 0 {
		sec, nanosec = sec-1, nanosec+int64(time.Second)
	}
	switch {
	case sec > math.MaxInt32:
		sec, nanosec = math.MaxInt32, int64(time.Second)-1
	case sec < math.MinInt32:
		sec, nanosec = math.MinInt32, 0
	}
	m.With("sec", int32(sec)).With("nanosec", uint32(nanosec))
}
