//go:build ros2

package ros2

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agent_node/pkg/ros"
)

// everyKind are types that have every kind of field in every way between them.
var everyKind = []string{
	"test_msgs/msg/Arrays", "test_msgs/msg/BasicTypes", "test_msgs/msg/BoundedPlainSequences",
	"test_msgs/msg/BoundedSequences", "test_msgs/msg/Builtins", "test_msgs/msg/Constants", "test_msgs/msg/Defaults",
	"test_msgs/msg/Empty", "test_msgs/msg/MultiNested", "test_msgs/msg/Nested", "test_msgs/msg/Strings",
	"test_msgs/msg/UnboundedSequences", "test_msgs/msg/WStrings",
}

func mustSupport(t testing.TB, types *Types, name string) *support {
	t.Helper()
	s, err := types.messageSupport(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// One C message is written over and over, as a publisher's is: nothing of the last one may be left.
func TestWhatIsWrittenToCMemoryIsReadBack(t *testing.T) {
	types := NewTypes()
	for _, name := range everyKind {
		t.Run(name, func(t *testing.T) {
			s := mustSupport(t, types, name)
			m := newCMessage(s)
			defer m.free()
			rapid.Check(t, func(t *rapid.T) {
				for range 3 {
					want := drawMessage(t, s.typ)
					if err := m.set(want); err != nil {
						t.Fatal(err)
					}
					if got := m.get(); !ros.Equal(got, want) {
						t.Fatalf("got %v\nwant %v", got.Map(), want.Map())
					}
				}
			})
		})
	}
	if n := types.Live(); n != 0 {
		t.Errorf("%d messages left in C memory", n)
	}
}

// The middleware itself reads what was written, and writes what is read.
func TestSerializedFormIsReadBack(t *testing.T) {
	types := NewTypes()
	for _, name := range everyKind {
		t.Run(name, func(t *testing.T) {
			c, err := types.Codec(name)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			rapid.Check(t, func(t *rapid.T) {
				want := drawMessage(t, c.Type())
				data, err := c.Append(nil, want)
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.Decode(data)
				if err != nil {
					t.Fatal(err)
				}
				if !ros.Equal(got, want) {
					t.Fatalf("got %v\nwant %v", got.Map(), want.Map())
				}
			})
		})
	}
	if n := types.Live(); n != 0 {
		t.Errorf("%d messages left in C memory", n)
	}
}

func TestCodecAfterCloseSaysSo(t *testing.T) {
	c, err := NewTypes().Codec("test_msgs/msg/Empty")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Append(nil, ros.New(c.Type())); !errors.Is(err, ros.ErrClosed) {
		t.Errorf("serialize: %v", err)
	}
	if _, err := c.Decode([]byte{0, 1, 0, 0, 0}); !errors.Is(err, ros.ErrClosed) {
		t.Errorf("deserialize: %v", err)
	}
}

func TestInvalidMessagesAreRefusedByFieldAndReason(t *testing.T) {
	types := NewTypes()
	set := func(field string, v any) func(m *ros.Message) {
		return func(m *ros.Message) { m.Values[m.Type.FieldIndex(field)] = v }
	}
	inside := func(path string, change func(*ros.Message)) func(m *ros.Message) {
		return func(m *ros.Message) { change(m.Msg(path)) }
	}
	cases := map[string]struct {
		name   string
		change func(m *ros.Message)
		path   string
		reason string
	}{
		"string over its bound":   {"test_msgs/msg/Strings", set("bounded_string_value", strings.Repeat("x", 23)), "bounded_string_value", "bound of 22"},
		"bytes count, not runes":  {"test_msgs/msg/Strings", set("bounded_string_value", strings.Repeat("ß", 12)), "bounded_string_value", "24 bytes"},
		"zero byte in a string":   {"test_msgs/msg/Strings", set("string_value", "a\x00b"), "string_value", "zero byte at 1"},
		"wstring of broken UTF-8": {"test_msgs/msg/WStrings", set("wstring_value", "a\xff"), "wstring_value", "UTF-8"},
		"sequence over its bound": {"test_msgs/msg/BoundedSequences", set("float64_values", make([]float64, 4)), "float64_values", "bound of 3"},
		"strings over the bound":  {"test_msgs/msg/BoundedSequences", set("string_values", make([]string, 4)), "string_values", "bound of 3"},
		"messages over the bound": {"test_msgs/msg/BoundedSequences", set("basic_types_values", make([]*ros.Message, 4)), "basic_types_values", "bound of 3"},
		"string in a sequence":    {"test_msgs/msg/UnboundedSequences", set("string_values", []string{"", "\x00"}), "string_values[1]", "zero byte"},
		"short array":             {"test_msgs/msg/Arrays", set("int8_values", make([]int8, 2)), "int8_values", "array length"},
		"short array of strings":  {"test_msgs/msg/Arrays", set("string_values", make([]string, 2)), "string_values", "array length"},
		"short array of messages": {"test_msgs/msg/Arrays", set("basic_types_values", make([]*ros.Message, 2)), "basic_types_values", "array length"},
		"wrong Go type":           {"test_msgs/msg/BasicTypes", set("uint8_value", 300), "uint8_value", "wrong type"},
		"no value":                {"test_msgs/msg/BasicTypes", set("uint8_value", nil), "uint8_value", "wrong type"},
		"no message":              {"test_msgs/msg/Nested", set("basic_types_value", (*ros.Message)(nil)), "basic_types_value", "no message"},
		"another message":         {"test_msgs/msg/Nested", func(m *ros.Message) { m.Values[0] = m }, "basic_types_value", "wrong type"},
		"too few values":          {"test_msgs/msg/BasicTypes", func(m *ros.Message) { m.Values = m.Values[1:] }, "", "number of values"},
		"deep inside": {
			"test_msgs/msg/Nested", inside("basic_types_value", set("bool_value", 1)), "basic_types_value.bool_value", "wrong type",
		},
		"deep inside an array": {
			"test_msgs/msg/MultiNested", func(m *ros.Message) {
				set("int8_value", "x")(m.Msgs("array_of_arrays")[1].Msgs("basic_types_values")[2])
			},
			"array_of_arrays[1].basic_types_values[2].int8_value", "wrong type",
		},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			s := mustSupport(t, types, c.name)
			m := newCMessage(s)
			defer m.free()
			bad := ros.New(s.typ)
			c.change(bad)
			err := m.set(bad)
			var fault *ros.FieldError
			if !errors.Is(err, ros.ErrInvalidMessage) || !errors.As(err, &fault) {
				t.Fatalf("got %v", err)
			}
			if fault.Path != c.path || !strings.Contains(fault.Reason, c.reason) || fault.Message != c.name {
				t.Errorf("got %v\nwant %s in %s of %s", err, c.reason, c.path, c.name)
			}
			if err := m.set(ros.New(s.typ)); err != nil || !ros.Equal(m.get(), ros.New(s.typ)) {
				t.Errorf("a good message after the bad one: %v", err)
			}
		})
	}
}

func TestLongestAllowedFits(t *testing.T) {
	types := NewTypes()
	for _, c := range []struct{ name, field, value string }{
		{"test_msgs/msg/Strings", "bounded_string_value", strings.Repeat("x", 22)},
		{"test_msgs/msg/WStrings", "wstring_value", "a\U0001F916\u6F22"},
	} {
		s := mustSupport(t, types, c.name)
		m := newCMessage(s)
		defer m.free()
		want := ros.New(s.typ).With(c.field, c.value)
		if err := m.set(want); err != nil || !ros.Equal(m.get(), want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A message of another source, such as the embedded definitions, is taken when its fields are the same.
func TestMessagesOfAnotherSourceAreTaken(t *testing.T) {
	mine, other := NewTypes(), NewTypes()
	s := mustSupport(t, mine, "geometry_msgs/msg/Twist")
	foreign, err := other.Message("geometry_msgs/msg/Twist")
	if err != nil {
		t.Fatal(err)
	}
	m := newCMessage(s)
	defer m.free()
	if err := m.set(ros.New(foreign).With("angular.z", 2)); err != nil || m.get().Float("angular.z") != 2 {
		t.Errorf("got %v", err)
	}
	lookalike := ros.NewType("geometry_msgs/msg/Twist", []ros.Field{{Name: "linear", Kind: ros.KindFloat64}}, nil)
	if err := m.set(ros.New(lookalike)); !errors.Is(err, ros.ErrInvalidMessage) || !strings.Contains(err.Error(), "other fields") {
		t.Errorf("got %v", err)
	}
}

func TestNumbersKeepTheirBits(t *testing.T) {
	types := NewTypes()
	s := mustSupport(t, types, "test_msgs/msg/BasicTypes")
	m := newCMessage(s)
	defer m.free()
	want := math.Float64frombits(0x7ff8dead00000001) // a NaN with a payload
	if err := m.set(ros.New(s.typ).With("float64_value", want)); err != nil {
		t.Fatal(err)
	}
	if got := m.get().Values[s.typ.FieldIndex("float64_value")].(float64); math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("got %x, want %x", math.Float64bits(got), math.Float64bits(want))
	}
}

// What arrives from the wire may be anything: it is an error or a message, and the buffer stays good.
func FuzzDecode(f *testing.F) {
	types := NewTypes()
	names := []string{"test_msgs/msg/UnboundedSequences", "test_msgs/msg/WStrings", "test_msgs/msg/MultiNested"}
	codecs := make([]*Codec, len(names))
	for i, name := range names {
		c, err := types.Codec(name)
		if err != nil {
			f.Fatal(err)
		}
		codecs[i] = c
		data, err := c.Append(nil, ros.New(c.Type()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), data)
		f.Add(uint8(i), data[:len(data)/2])
	}
	f.Cleanup(func() {
		for _, c := range codecs {
			c.Close()
		}
	})
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		c := codecs[int(which)%len(codecs)]
		if m, err := c.Decode(data); err == nil {
			if err := m.Validate(); err != nil && len(m.Type.Fields) > 0 {
				t.Skip("beyond a bound: the middleware does not check")
			}
		} else if !errors.Is(err, ros.ErrInvalidMessage) {
			t.Errorf("got %v", err)
		}
		good := ros.New(c.Type())
		data, err := c.Append(nil, good)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := c.Decode(data); err != nil || !ros.Equal(m, good) {
			t.Errorf("a good message afterwards: %v", err)
		}
	})
}
