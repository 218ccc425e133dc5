package param_test

import (
	"errors"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/ros/param"
	"agent_node/pkg/ros/param/paramtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connector() paramtest.Connect {
	bus := mem.NewBus()
	return func(t *testing.T, name string) ros.Node {
		t.Helper()
		n, err := bus.NewNode(name, mem.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		})
		return n
	}
}

func TestSuite(t *testing.T) {
	for _, c := range paramtest.Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, connector()) })
	}
}

func newServer(t *testing.T, cfg param.Config) *param.Server {
	t.Helper()
	s, err := param.New(connector()(t, "robot"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func values(m map[string]any) map[string]param.Value {
	out := map[string]param.Value{}
	for k, v := range m {
		out[k] = param.MustValue(v)
	}
	return out
}

func TestOverridesWinOverDefaults(t *testing.T) {
	s := newServer(t, param.Config{Overrides: values(map[string]any{
		"rate": 5, "rates": []int{1, 2}, "bytes": []int{1, 255}, "empty": []string{}, "n": 9, "ro": "given", "tpyo": 1,
	})})
	for _, x := range []struct {
		d    param.Descriptor
		def  any
		want any
	}{
		{param.Descriptor{Name: "rate"}, 2.0, 5.0},
		{param.Descriptor{Name: "rates"}, []float64{}, []float64{1, 2}},
		{param.Descriptor{Name: "bytes"}, []byte{}, []byte{1, 255}},
		{param.Descriptor{Name: "empty"}, []int{1}, []int64{}},
		{param.Descriptor{Name: "ro", ReadOnly: true}, "default", "given"},
		{param.Descriptor{Name: "plain"}, "default", "default"},
	} {
		v, err := s.Declare(x.d, x.def)
		if err != nil || !v.Equal(param.MustValue(x.want)) {
			t.Errorf("%s: %v, %v; want %v", x.d.Name, v, err, x.want)
		}
	}
	_, err := s.Declare(param.Descriptor{Name: "n", Int: &param.IntRange{From: 0, To: 5}}, 1)
	if !errors.Is(err, param.ErrOutOfRange) {
		t.Errorf("override outside of the range: %v", err)
	}
	if got := s.UnusedOverrides(); !slices.Equal(got, []string{"n", "tpyo"}) {
		t.Errorf("unused overrides %q", got)
	}
}

func TestDeclarationErrors(t *testing.T) {
	s := newServer(t, param.Config{})
	if _, err := s.Declare(param.Descriptor{Name: "a"}, 1); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		d    param.Descriptor
		def  any
		want error
	}{
		{param.Descriptor{Name: "a"}, 1, param.ErrAlreadyDeclared},
		{param.Descriptor{Name: "use_sim_time"}, true, param.ErrAlreadyDeclared},
		{param.Descriptor{Name: ""}, 1, param.ErrInvalidName},
		{param.Descriptor{Name: "a b"}, 1, param.ErrInvalidName},
		{param.Descriptor{Name: ".b"}, 1, param.ErrInvalidName},
		{param.Descriptor{Name: "b."}, 1, param.ErrInvalidName},
		{param.Descriptor{Name: "b..c"}, 1, param.ErrInvalidName},
		{param.Descriptor{Name: "b"}, nil, param.ErrWrongType},
		{param.Descriptor{Name: "b"}, struct{}{}, param.ErrWrongType},
		{param.Descriptor{Name: "b"}, uint64(math.MaxUint64), param.ErrWrongType},
		{param.Descriptor{Name: "b"}, []any{1, "x"}, param.ErrWrongType},
		{param.Descriptor{Name: "b", Type: param.Double}, "x", param.ErrWrongType},
		{param.Descriptor{Name: "b", Type: 77}, nil, param.ErrWrongType},
		{param.Descriptor{Name: "b", Float: &param.FloatRange{From: 1, To: 0}}, 1.0, param.ErrOutOfRange},
		{param.Descriptor{Name: "b", Float: &param.FloatRange{From: math.NaN(), To: 1}}, 1.0, param.ErrOutOfRange},
		{param.Descriptor{Name: "b", Float: &param.FloatRange{From: 0, To: 1}}, math.NaN(), param.ErrOutOfRange},
		{param.Descriptor{Name: "b", Float: &param.FloatRange{From: 0, To: 1}}, []float64{0.5, 1.5}, param.ErrOutOfRange},
		{param.Descriptor{Name: "b", Int: &param.IntRange{From: 3, To: 2}}, 1, param.ErrOutOfRange},
		{param.Descriptor{Name: "b", Int: &param.IntRange{From: 0, To: 2}, Float: &param.FloatRange{}}, 1, param.ErrWrongType},
	} {
		_, err := s.Declare(x.d, x.def)
		var typed *param.Error
		if !errors.Is(err, x.want) || !errors.As(err, &typed) {
			t.Errorf("declare %+v = %v: %v, want %v", x.d, x.def, err, x.want)
		}
	}
	if _, err := s.Get("b"); !errors.Is(err, param.ErrNotDeclared) {
		t.Errorf("what was not declared: %v", err)
	}
}

func TestSteps(t *testing.T) {
	s := newServer(t, param.Config{})
	for _, x := range []struct {
		d    param.Descriptor
		def  any
		good []any
		bad  []any
	}{
		{
			param.Descriptor{Name: "f", Float: &param.FloatRange{From: 0, To: 1, Step: 0.1}},
			0.0,
			[]any{0.1, 0.3, 0.7, 0.1 + 0.2, 1.0},
			[]any{0.05, 0.15, -0.1, 1.1, math.Inf(1), math.NaN()},
		},
		{
			param.Descriptor{Name: "odd end", Float: &param.FloatRange{From: 0, To: 0.95, Step: 0.1}},
			0.0,
			[]any{0.95, 0.9},
			[]any{0.85},
		},
		{
			param.Descriptor{Name: "i", Int: &param.IntRange{From: -1, To: 10, Step: 3}},
			-1,
			[]any{2, 5, 8, 10},
			[]any{0, 9, 11, -4},
		},
		{
			param.Descriptor{Name: "wide", Int: &param.IntRange{From: math.MinInt64, To: math.MaxInt64, Step: 2}},
			math.MinInt64,
			[]any{math.MaxInt64 - 1, math.MaxInt64, 0},
			[]any{1, -1},
		},
	} {
		x.d.Name = strings.ReplaceAll(x.d.Name, " ", "_")
		if _, err := s.Declare(x.d, x.def); err != nil {
			t.Fatal(err)
		}
		for _, v := range x.good {
			if err := s.Set(param.Parameter{Name: x.d.Name, Value: param.MustValue(v)}); err != nil {
				t.Error(err)
			}
		}
		for _, v := range x.bad {
			if err := s.Set(param.Parameter{Name: x.d.Name, Value: param.MustValue(v)}); !errors.Is(err, param.ErrOutOfRange) {
				t.Errorf("%s = %v: %v, want ErrOutOfRange", x.d.Name, v, err)
			}
		}
	}
}

func TestValidationAndChangeCallbacks(t *testing.T) {
	s := newServer(t, param.Config{})
	a, err := param.Declare(s, param.Descriptor{Name: "a"}, int64(1))
	if err != nil {
		t.Fatal(err)
	}
	b, err := param.Declare(s, param.Descriptor{Name: "b"}, int64(1))
	if err != nil {
		t.Fatal(err)
	}
	tooMuch := errors.New("too much")
	removeCheck := s.OnSet(func(ps []param.Parameter) error {
		for _, p := range ps {
			// It sees the old values, and may read.
			if old, err := s.Get(p.Name); err != nil || old.Any() != int64(1) {
				t.Errorf("validation of %s reads %v, %v", p.Name, old, err)
			}
			if p.Value.Any().(int64) > 10 {
				return tooMuch
			}
		}
		return nil
	})
	var told []string
	removeTold := s.OnChange(func(ps []param.Parameter) {
		for _, p := range ps {
			told = append(told, p.Name+"="+p.Value.String())
		}
		// A change from within a change: b follows a.
		if ps[0].Name == "a" {
			if err := b.Set(7); err != nil {
				t.Error(err)
			}
		}
	})
	if err := a.Set(11); !errors.Is(err, tooMuch) || !errors.Is(err, param.ErrRefused) {
		t.Errorf("set 11: %v", err)
	}
	if a.Get() != 1 || len(told) != 0 {
		t.Errorf("a refused change: a is %d, told %q", a.Get(), told)
	}
	if err := a.Set(5); err != nil {
		t.Fatal(err)
	}
	if a.Get() != 5 || b.Get() != 7 || !slices.Equal(told, []string{"a=5", "b=7"}) {
		t.Errorf("a %d, b %d, told %q", a.Get(), b.Get(), told)
	}
	removeCheck()
	removeTold()
	if err := a.Set(12); err != nil || len(told) != 2 {
		t.Errorf("after removal: %v, told %q", err, told)
	}
	if _, err := param.Get[string](s, "a"); !errors.Is(err, param.ErrWrongType) {
		t.Errorf("an integer read as a string: %v", err)
	}
}

func TestUseSimTimeDrivesTheClock(t *testing.T) {
	refuse := false
	var clock []bool
	s := newServer(t, param.Config{
		Overrides: values(map[string]any{"use_sim_time": true}),
		SimTime: func(on bool) error {
			if refuse {
				return errors.New("no clock")
			}
			clock = append(clock, on)
			return nil
		},
	})
	set := func(on bool) error {
		return s.Set(param.Parameter{Name: param.UseSimTime, Value: param.MustValue(on)})
	}
	if err := set(false); err != nil {
		t.Fatal(err)
	}
	refuse = true
	if err := set(true); !errors.Is(err, param.ErrRefused) {
		t.Errorf("%v", err)
	}
	if on, err := param.Get[bool](s, param.UseSimTime); on || err != nil {
		t.Errorf("use_sim_time is %v, %v", on, err)
	}
	if !slices.Equal(clock, []bool{true, false}) {
		t.Errorf("the clock was told %v", clock)
	}
}

func TestUseSimTimeReachesTheNode(t *testing.T) {
	node := connector()(t, "robot")
	s, err := param.New(node, param.Config{Overrides: values(map[string]any{"use_sim_time": true})})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if !node.Clock().Simulated() {
		t.Error("the node's clock is not simulated")
	}
}

// TestConcurrentSetsAreDeliveredInOrder: the last callback tells the value that stays.
func TestConcurrentSetsAreDeliveredInOrder(t *testing.T) {
	s := newServer(t, param.Config{})
	p, err := param.Declare(s, param.Descriptor{Name: "n"}, int64(0))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var last int64
	n := 0
	s.OnChange(func(ps []param.Parameter) {
		mu.Lock()
		defer mu.Unlock()
		last = ps[0].Value.Any().(int64)
		n++
	})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				if err := p.Set(int64(i*100 + j + 1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	if n != 400 || last != p.Get() {
		t.Errorf("%d callbacks, the last with %d; the value is %d", n, last, p.Get())
	}
}

// TestAtomicSetIsAllOrNothing for random lists of good and bad changes.
func TestAtomicSetIsAllOrNothing(t *testing.T) {
	s := newServer(t, param.Config{})
	names := []string{"a", "b", "c", "d"}
	for _, n := range names {
		if _, err := s.Declare(param.Descriptor{Name: n, Int: &param.IntRange{From: 0, To: 9}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Declare(param.Descriptor{Name: "ro", ReadOnly: true}, 0); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var changes []param.Parameter
		good := true
		want := map[string]param.Value{}
		for _, p := range s.All() {
			want[p.Name] = p.Value
		}
		before := want
		want = map[string]param.Value{}
		for k, v := range before {
			want[k] = v
		}
		for range rapid.IntRange(0, 6).Draw(t, "changes") {
			name := rapid.SampledFrom(append([]string{"ro", "undeclared"}, names...)).Draw(t, "name")
			v := rapid.SampledFrom([]any{0, 5, 9, 10, -1, 3, 2.0, "x", nil}).Draw(t, "value")
			changes = append(changes, param.Parameter{Name: name, Value: param.MustValue(v)})
			i, ok := v.(int)
			good = good && ok && i >= 0 && i <= 9 && slices.Contains(names, name)
			want[name] = param.MustValue(v)
		}
		if !good {
			want = before
		}
		if err := s.Set(changes...); (err == nil) != good {
			t.Fatalf("set %v: %v", changes, err)
		}
		all := s.All()
		if len(all) != len(want) {
			t.Fatalf("parameters %v, want %v", all, want)
		}
		for _, p := range all {
			if !p.Value.Equal(want[p.Name]) {
				t.Fatalf("after %v: %s is %v, want %v", changes, p.Name, p.Value, want[p.Name])
			}
		}
	})
}

func anyValue() *rapid.Generator[param.Value] {
	double := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, 1e6, -1e21, math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1)}))
	text := rapid.OneOf(rapid.StringN(0, 20, -1), rapid.SampledFrom([]string{"", "yes", "1e5", "0x1f", "~", "null", "a: b", "- x", "\"", "é\n\t", "1.0", "#"}))
	return rapid.Custom(func(t *rapid.T) param.Value {
		var v any
		switch rapid.IntRange(0, 8).Draw(t, "type") {
		case 0:
			v = rapid.Bool().Draw(t, "v")
		case 1:
			v = rapid.Int64().Draw(t, "v")
		case 2:
			v = double.Draw(t, "v")
		case 3:
			v = text.Draw(t, "v")
		case 4:
			v = rapid.SliceOf(rapid.Byte()).Draw(t, "v")
		case 5:
			v = rapid.SliceOf(rapid.Bool()).Draw(t, "v")
		case 6:
			v = rapid.SliceOf(rapid.Int64()).Draw(t, "v")
		case 7:
			v = rapid.SliceOf(double).Draw(t, "v")
		case 8:
			v = rapid.SliceOf(text).Draw(t, "v")
		}
		return param.MustValue(v)
	})
}

// TestDumpReloadsToTheSameParameters through the parser of parameter files.
func TestDumpReloadsToTheSameParameters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		node, err := mem.NewBus().NewNode("robot", mem.Options{Namespace: "/fleet", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = node.Close() }()
		s, err := param.New(node, param.Config{})
		if err != nil {
			rt.Fatal(err)
		}
		for _, name := range []string{"a", "a.b", "a.b.c", "g.x", "g.y.z", "plain"} {
			if _, err := s.Declare(param.Descriptor{Name: name}, anyValue().Draw(rt, name)); err != nil {
				rt.Fatal(err)
			}
		}
		data, err := s.Dump()
		if err != nil {
			rt.Fatal(err)
		}
		parsed, err := args.ParseParamsFile("dump.yaml", data)
		if err != nil {
			rt.Fatalf("%v in\n%s", err, data)
		}
		overrides, err := param.Overrides(parsed, "/fleet/robot")
		if err != nil {
			rt.Fatal(err)
		}
		again, err := param.New(node, param.Config{Overrides: overrides})
		if err != nil {
			rt.Fatal(err)
		}
		for _, p := range s.All() {
			d, err := s.Describe(p.Name)
			if err != nil {
				rt.Fatal(err)
			}
			if p.Name == param.UseSimTime {
				continue
			}
			v, err := again.Declare(param.Descriptor{Name: p.Name, Type: d.Type}, emptyOf(d.Type))
			if err != nil || !v.Equal(p.Value) {
				rt.Fatalf("%s: %v came back as %v, %v\n%s", p.Name, p.Value, v, err, data)
			}
		}
		if u := again.UnusedOverrides(); len(u) > 0 {
			rt.Fatalf("unused %q in\n%s", u, data)
		}
	})
}

func emptyOf(t param.Type) any {
	return []any{
		nil, false, 0, 0.0, "", []byte{}, []bool{}, []int64{}, []float64{}, []string{},
	}[t]
}

func TestDumpLooksLikeROS(t *testing.T) {
	s := newServer(t, param.Config{})
	for name, v := range map[string]any{"speed.max": 1.0, "speed.axes": []int{1, 2}, "name": "r1", "debug": true} {
		if _, err := s.Declare(param.Descriptor{Name: name}, v); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Dump()
	if err != nil {
		t.Fatal(err)
	}
	want := `/robot:
  ros__parameters:
    debug: true
    name: "r1"
    speed:
      axes:
        - 1
        - 2
      max: 1.0
    use_sim_time: false
`
	if strings.Join(strings.Fields(string(got)), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("dump:\n%s\nwant:\n%s", got, want)
	}
}
