package ros_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/conformance"
)

func TestNewHasDefaults(t *testing.T) {
	m := ros.New(everyType)
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	if m.Int("answer") != 42 || m.Float("pose.position.y") != 2.5 || m.Int("triple[1]") != 2 || len(m.Msgs("two_poses")) != 2 {
		t.Errorf("defaults: %v", m.Map())
	}
	for i, f := range everyType.Fields {
		want := 0
		if f.Array == ros.FixedArray {
			want = f.Size
		}
		if v := reflect.ValueOf(m.Values[i]); v.Kind() == reflect.Slice && v.Len() != want {
			t.Errorf("%s has %d elements, want %d", f.Name, v.Len(), want)
		}
	}
	// A default belongs to the type: writing to one message changes no other.
	m.With("triple[0]", 9)
	m.Msgs("two_poses")[0].With("name", "changed")
	if n := ros.New(everyType); n.Int("triple[0]") != 1 || n.Str("two_poses[0].name") != "" {
		t.Error("two messages share a default")
	}
}

// any random message of a type that has every kind of field.
func draw(t *rapid.T) *ros.Message {
	seed := rapid.Uint64().Draw(t, "seed")
	return conformance.Random(everyType, rand.New(rand.NewPCG(seed, 0)))
}

func TestCloneIsDeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t)
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		before, err := m.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		c := m.Clone()
		if !ros.Equal(m, c) || !ros.Equal(c, m) {
			t.Fatal("a clone differs")
		}
		spoil(c)
		after, err := m.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(before) != string(after) {
			t.Fatalf("changing a clone changed the original:\n%s\n%s", before, after)
		}
	})
}

// spoil changes every element of a message in place.
func spoil(m *ros.Message) {
	for i, v := range m.Values {
		switch x := v.(type) {
		case *ros.Message:
			spoil(x)
			continue
		case []*ros.Message:
			for _, e := range x {
				spoil(e)
			}
			continue
		}
		if r := reflect.ValueOf(v); r.Kind() == reflect.Slice {
			for j := range r.Len() {
				e := r.Index(j)
				switch e.Kind() {
				case reflect.Bool:
					e.SetBool(!e.Bool())
				case reflect.String:
					e.SetString("spoiled")
				case reflect.Float32, reflect.Float64:
					e.SetFloat(-123)
				default:
					e.Set(reflect.Zero(e.Type()))
				}
			}
			continue
		}
		m.Values[i] = reflect.Zero(reflect.TypeOf(v)).Interface()
	}
}

func TestEqualSeesEveryField(t *testing.T) {
	a := ros.New(everyType)
	for _, path := range []string{"pose.position.x", "two_poses[1].covariance[2]", "float32_three[0]", "uint8_value", "int64_three[1]"} {
		if b := a.Clone().With(path, 7); ros.Equal(a, b) || ros.Equal(b, a) {
			t.Errorf("equal in spite of %s", path)
		}
	}
	if b := a.Clone().With("poses", []any{map[string]any{}}); ros.Equal(a, b) {
		t.Error("equal in spite of one more element")
	}
	nan := a.Clone().With("float64_value", math.NaN()).With("float32_three", []float32{0, float32(math.NaN()), 0})
	if !ros.Equal(nan, nan.Clone()) || ros.Equal(a, nan) {
		t.Error("NaN equals NaN and nothing else")
	}
	if !ros.Equal(nil, nil) || ros.Equal(a, nil) || ros.Equal(nil, a) {
		t.Error("nil equals nil alone")
	}
	if ros.Equal(ros.New(stampType), ros.New(durationType)) {
		t.Error("messages of two types are equal")
	}
}

func TestMapRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t)
		back, err := ros.FromMap(everyType, m.Map())
		if err != nil {
			t.Fatal(err)
		}
		if !ros.Equal(m, back) {
			t.Fatalf("%v\nbecame %v", m.Map(), back.Map())
		}
	})
}

func TestMapKnowsFewTypes(t *testing.T) {
	m := conformance.Extreme(everyType)
	var look func(path string, v any)
	look = func(path string, v any) {
		switch x := v.(type) {
		case bool, int64, uint64, float64, string, []byte, []bool, []int64, []uint64, []float64, []string:
		case map[string]any:
			for k, e := range x {
				look(path+"."+k, e)
			}
		case []any:
			for _, e := range x {
				look(path+"[]", e)
			}
		default:
			t.Errorf("%s is a %T", path, v)
		}
	}
	look("", m.Map())
}

func TestSetConverts(t *testing.T) {
	type named int32
	for _, c := range []struct {
		path string
		in   any
		want any // nil: an error with the reason
		why  string
	}{
		{"uint8_value", 255, uint8(255), ""},
		{"uint8_value", 256, nil, "out of range"},
		{"uint8_value", -1, nil, "out of range"},
		{"uint8_value", 1.5, nil, "not an integer"},
		{"uint8_value", 2.0, uint8(2), ""},
		{"uint8_value", math.NaN(), nil, "not finite"},
		{"uint8_value", "1", nil, "wrong type"},
		{"uint8_value", true, nil, "wrong type"},
		{"uint8_value", nil, nil, "wrong type"},
		{"uint8_value", json.Number("7"), uint8(7), ""},
		{"int8_value", -128, int8(-128), ""},
		{"int8_value", -129, nil, "out of range"},
		{"int8_value", named(5), int8(5), ""},
		{"int64_value", uint64(math.MaxInt64), int64(math.MaxInt64), ""},
		{"int64_value", uint64(math.MaxInt64 + 1), nil, "out of range"},
		{"int64_value", 9223372036854775808.0, nil, "out of range"},
		{"int64_value", -9223372036854775808.0, int64(math.MinInt64), ""},
		{"uint64_value", uint64(math.MaxUint64), uint64(math.MaxUint64), ""},
		{"uint64_value", 18446744073709551616.0, nil, "out of range"},
		{"uint64_value", json.Number("18446744073709551615"), uint64(math.MaxUint64), ""},
		{"float64_value", int64(1 << 53), float64(1 << 53), ""},
		{"float64_value", int64(1<<53 + 1), nil, "not exactly representable"},
		{"float64_value", int64(math.MinInt64), float64(math.MinInt64), ""},
		{"float64_value", uint64(math.MaxUint64), nil, "not exactly representable"},
		{"float64_value", "NaN", nil, "wrong type"},
		{"float32_value", 0.1, float32(0.1), ""},
		{"float32_value", 1e39, nil, "out of range"},
		{"float32_value", math.Inf(-1), float32(math.Inf(-1)), ""},
		{"float32_value", 1<<24 + 1, nil, "not exactly representable"},
		{"float32_value", 1 << 24, float32(1 << 24), ""},
		{"bool_value", true, true, ""},
		{"bool_value", 1, nil, "wrong type"},
		{"string_value", "text", "text", ""},
		{"string_value", []byte("text"), nil, "wrong type"},
		{"short", "four", "four", ""},
		{"short", "fünf", nil, "string too long"}, // five bytes
		{"wshort", "fünf", "fünf", ""},            // four units
		{"wshort", "🤖🤖", "🤖🤖", ""},
		{"wshort", "🤖🤖.", nil, "string too long"},
		{"float64_list", []int{1, 2}, []float64{1, 2}, ""},
		{"float64_list", []any{1, 2.5, json.Number("3")}, []float64{1, 2.5, 3}, ""},
		{"float64_list", [2]float32{1, 2}, []float64{1, 2}, ""},
		{"float64_list", 1.0, nil, "wrong type"},
		{"float64_three", []float64{1, 2}, nil, "wrong array length"},
		{"uint8_list", []byte{1, 2}, []byte{1, 2}, ""},
		{"uint8_few", []byte{1, 2, 3, 4}, nil, "wrong array length"},
		{"uint8_three[1]", 9, uint8(9), ""},
		{"uint8_three[1]", 300, nil, "out of range"},
		{"shorts", []string{"a", "longer"}, nil, "string too long"},
		{"pose", map[string]any{"position": map[string]float64{"x": 1}}, nil, ""},
		{"pose", 5, nil, "wrong type"},
		{"pose", (*ros.Message)(nil), nil, "wrong type"},
		{"pose", ros.New(stampType), nil, "wrong type"},
		{"stamp", ros.Time(1_500_000_000), nil, ""},
		{"elapsed", ros.Time(5), nil, "wrong type"},
	} {
		m := ros.New(everyType)
		before := m.Clone()
		err := m.Set(c.path, c.in)
		var fe *ros.FieldError
		switch {
		case c.why == "" && err != nil:
			t.Errorf("%s = %v: %v", c.path, c.in, err)
		case c.why != "" && (!errors.As(err, &fe) || fe.Reason != c.why || !strings.HasPrefix(fe.Path, c.path) || fe.Message != everyType.Name || !errors.Is(err, ros.ErrInvalidMessage)):
			t.Errorf("%s = %v: error %v, want %q", c.path, c.in, err, c.why)
		case c.why != "" && !ros.Equal(m, before):
			t.Errorf("%s = %v: refused, and the message changed", c.path, c.in)
		case c.want != nil:
			if got, err := m.Get(c.path); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s = %v (%T): got %v (%T), %v", c.path, c.in, c.in, got, got, err)
			}
		}
		if err := m.Validate(); err != nil {
			t.Errorf("%s = %v left an invalid message: %v", c.path, c.in, err)
		}
	}
}

func TestSetCopies(t *testing.T) {
	list, pose := []float64{1, 2}, ros.New(poseType)
	m := ros.New(everyType).With("float64_list", list).With("pose", pose).With("poses", []*ros.Message{pose})
	list[0] = 9
	pose.With("name", "changed")
	if m.Floats("float64_list")[0] != 1 || m.Str("pose.name") != "" || m.Str("poses[0].name") != "" {
		t.Errorf("the message shares what was set: %v", m.Map())
	}
	if m.Msg("pose").With("name", "mine"); m.Str("pose.name") != "mine" {
		t.Error("Msg is not the message's own")
	}
}

func TestPathErrors(t *testing.T) {
	m := ros.New(everyType).With("poses", []any{map[string]any{}})
	for _, path := range []string{
		"nothing", "pose.nothing", "poses[1]", "poses[-1]", "poses[x]", "poses[0", "poses[0]x", "poses[0].nothing",
		"poses.name", "answer.x", "answer[0]", "pose[0]", ".", "pose.", "pose..name", "[0]", "uint8_three[3]", "poses[99999999999999999999]", " pose",
	} {
		var fe *ros.FieldError
		if _, err := m.Get(path); !errors.As(err, &fe) || fe.Path != path {
			t.Errorf("Get(%q): %v", path, err)
		}
		if err := m.Set(path, 1); !errors.As(err, &fe) {
			t.Errorf("Set(%q): %v", path, err)
		}
	}
	if v, err := m.Get(""); err != nil || v != any(m) {
		t.Errorf("the empty path: %v, %v", v, err)
	}
}

func TestFromMapErrors(t *testing.T) {
	for _, c := range []struct {
		in   map[string]any
		path string
		why  string
	}{
		{map[string]any{"pose": map[string]any{"posn": 1}}, "pose.posn", "unknown field"},
		{map[string]any{"zeta": 1, "alpha": 2}, "alpha", "unknown field"},
		{map[string]any{"pose": nil}, "pose", "wrong type"},
		{map[string]any{"poses": []any{map[string]any{}, map[string]any{"position": map[string]any{"x": "a"}}}}, "poses[1].position.x", "wrong type"},
		{map[string]any{"two_poses": []any{map[string]any{}}}, "two_poses", "wrong array length"},
		{map[string]any{"uint8_list": []any{1, 300}}, "uint8_list[1]", "out of range"},
	} {
		var fe *ros.FieldError
		if _, err := ros.FromMap(everyType, c.in); !errors.As(err, &fe) || fe.Path != c.path || fe.Reason != c.why || fe.Offset != -1 {
			t.Errorf("%v: %v; want %s: %s", c.in, err, c.path, c.why)
		}
	}
}

func TestValidateFindsWrongGoTypes(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(m *ros.Message)
		path  string
	}{
		{"kind", func(m *ros.Message) { set(m, "answer", 42) }, "answer"},
		{"nil", func(m *ros.Message) { set(m, "answer", nil) }, "answer"},
		{"nil message", func(m *ros.Message) { set(m, "pose", (*ros.Message)(nil)) }, "pose"},
		{"nil element", func(m *ros.Message) { set(m, "poses", []*ros.Message{nil}) }, "poses[0]"},
		{"other type", func(m *ros.Message) { set(m, "pose", ros.New(pointType)) }, "pose"},
		{"fixed array", func(m *ros.Message) { set(m, "triple", []uint8{1}) }, "triple"},
		{"nested", func(m *ros.Message) { set(m.Msgs("two_poses")[1], "name", 7) }, "two_poses[1].name"},
		{"bound", func(m *ros.Message) { set(m, "short", "too long") }, "short"},
		{"bound of an element", func(m *ros.Message) { set(m, "shorts", []string{"", "too long"}) }, "shorts[1]"},
		{"bounded sequence", func(m *ros.Message) { set(m, "uint8_few", make([]uint8, 4)) }, "uint8_few"},
		{"number of values", func(m *ros.Message) { m.Values = m.Values[1:] }, ""},
	} {
		m := ros.New(everyType)
		c.spoil(m)
		var fe *ros.FieldError
		if err := m.Validate(); !errors.As(err, &fe) || fe.Path != c.path {
			t.Errorf("%s: %v, want a fault at %q", c.name, err, c.path)
		}
		if _, err := m.AppendJSON(nil); !errors.As(err, &fe) || fe.Path != c.path {
			t.Errorf("%s: encoding: %v, want a fault at %q", c.name, err, c.path)
		}
	}
	for _, m := range []*ros.Message{nil, {}} {
		if err := m.Validate(); !errors.Is(err, ros.ErrInvalidMessage) {
			t.Errorf("%v: %v", m, err)
		}
	}
}

func set(m *ros.Message, field string, v any) { m.Values[m.Type.FieldIndex(field)] = v }

func TestStamps(t *testing.T) {
	m := ros.New(everyType)
	for _, c := range []struct {
		in       time.Duration
		sec      int64
		nanosec  int64
		readBack time.Duration
	}{
		{0, 0, 0, 0},
		{1500 * time.Millisecond, 1, 500_000_000, 1500 * time.Millisecond},
		{-500 * time.Millisecond, -1, 500_000_000, -500 * time.Millisecond},
		{-2 * time.Second, -2, 0, -2 * time.Second},
		{math.MaxInt64, math.MaxInt32, 999_999_999, math.MaxInt32*time.Second + 999_999_999},
		{math.MinInt64, math.MinInt32, 0, math.MinInt32 * time.Second},
	} {
		m.SetDuration("elapsed", c.in)
		m.SetStamp("stamp", ros.Time(c.in))
		for _, path := range []string{"elapsed", "stamp"} {
			if m.Int(path+".sec") != c.sec || m.Int(path+".nanosec") != c.nanosec || m.Stamp(path) != ros.Time(c.readBack) || m.Duration(path) != c.readBack {
				t.Errorf("%s = %v: %v", path, c.in, m.Msg(path).Map())
			}
		}
	}
	when := time.Date(2026, 5, 4, 3, 2, 1, 7, time.UTC)
	if got := m.With("stamp", when).Stamp("stamp").Std(); !got.Equal(when) {
		t.Errorf("%v became %v", when, got)
	}
}

func TestAccessorsPanicOnWrongPathsOnly(t *testing.T) {
	m := ros.New(everyType).With("uint64_value", uint64(math.MaxUint64)).With("float32_list", []float32{1, 2})
	if m.Int("uint64_value") != math.MaxInt64 || m.Uint("uint64_value") != math.MaxUint64 || m.Float("uint64_value") != math.MaxUint64 {
		t.Error("a large uint64")
	}
	if got := m.Floats("float32_list"); len(got) != 2 || got[1] != 2 {
		t.Errorf("floats %v", got)
	}
	for name, f := range map[string]func(){
		"unknown field":      func() { m.Float("nothing") },
		"float of a string":  func() { m.Float("string_value") },
		"int of a float":     func() { m.Int("float64_value") },
		"uint of an int":     func() { m.Uint("int8_value") },
		"string of an int":   func() { m.Str("answer") },
		"bool of a string":   func() { m.Bool("short") },
		"message of a list":  func() { m.Msg("poses") },
		"messages of one":    func() { m.Msgs("pose") },
		"floats of integers": func() { m.Floats("int8_list") },
		"strings of one":     func() { m.Strs("short") },
		"with an error":      func() { m.With("answer", "x") },
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, ros.ErrInvalidMessage) {
					t.Errorf("%s: recovered %v", name, err)
				}
			}()
			f()
		}()
	}
}

func TestTypeStrings(t *testing.T) {
	for i, want := range []string{"builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration", "test/msg/Pose", "test/msg/Pose[]", "test/msg/Pose[2]", "test/msg/Pose[<=2]", "string<=4", "wstring<=4", "string<=4[<=3]"} {
		if got := everyType.Fields[i].TypeString(); got != want {
			t.Errorf("%s is %s, want %s", everyType.Fields[i].Name, got, want)
		}
	}
}
