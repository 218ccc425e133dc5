package tf_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/tf"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"
)

const sec = int64(time.Second)

// t0 is some time well after zero.
const t0 = 1000 * sec

func at(x, yaw float64) spatial.Transform { return spatial.Pose2{X: x, Yaw: yaw}.Pose().Transform() }

func set(t *testing.T, b *tf.Buffer, parent, child string, stamp int64, tr spatial.Transform) tf.Change {
	t.Helper()
	ch, err := b.Set(tf.Stamped{Parent: parent, Child: child, Stamp: stamp, Transform: tr}, stamp)
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func static(t *testing.T, b *tf.Buffer, parent, child string, tr spatial.Transform) tf.Change {
	t.Helper()
	ch, err := b.SetStatic(tf.Stamped{Parent: parent, Child: child, Transform: tr})
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func near(a, b spatial.Transform) bool {
	return r3.Norm(r3.Sub(a.Translation, b.Translation)) < 1e-9 && spatial.Angle(a.Rotation, b.Rotation) < 1e-9
}

func TestLookupGoesUpAndDownTheTree(t *testing.T) {
	b := tf.New(tf.Config{})
	static(t, b, "map", "odom", at(10, math.Pi/2))
	set(t, b, "odom", "base_link", t0, at(1, 0))
	static(t, b, "base_link", "laser", at(0.2, math.Pi))
	static(t, b, "map", "dock", at(10, 0))
	for _, tc := range []struct {
		target, source string
		x, y, yaw      float64
	}{
		{"map", "base_link", 10, 1, math.Pi / 2},
		{"map", "laser", 10, 1.2, -math.Pi / 2},
		{"laser", "base_link", 0.2, 0, math.Pi},
		{"dock", "base_link", 0, 1, math.Pi / 2},
		{"base_link", "dock", -1, 0, -math.Pi / 2},
		{"odom", "odom", 0, 0, 0},
	} {
		r, err := b.Lookup(tf.Query{Target: tc.target, Source: tc.source, At: t0, MaxAge: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if want := (spatial.Pose2{X: tc.x, Y: tc.y, Yaw: tc.yaw}).Pose().Transform(); !near(r.Transform, want) {
			t.Errorf("%s in %s: %+v, want %+v", tc.source, tc.target, r.Transform.Planar(), want.Planar())
		}
	}
}

func TestLookupInterpolates(t *testing.T) {
	b := tf.New(tf.Config{})
	set(t, b, "odom", "base", t0, at(0, 0))
	set(t, b, "odom", "base", t0+sec, at(2, 1))
	r, err := b.Lookup(tf.Query{Target: "odom", Source: "base", At: t0 + sec/4, MaxAge: time.Second})
	if err != nil || !near(r.Transform, at(0.5, 0.25)) || r.Stamp != t0+sec/4 || r.Static {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNothingIsExtrapolatedAndNothingOldIsUsed(t *testing.T) {
	b := tf.New(tf.Config{})
	set(t, b, "odom", "base", t0, at(0, 0))
	set(t, b, "odom", "base", t0+4*sec, at(4, 0))
	set(t, b, "odom", "base", t0+4*sec+sec/10, at(4, 0))
	const newest = t0 + 4*sec + sec/10
	q := func(at int64, age, tolerance time.Duration) error {
		_, err := b.Lookup(tf.Query{Target: "odom", Source: "base", At: at, MaxAge: age, Tolerance: tolerance})
		return err
	}
	var out *tf.ExtrapolationError
	var old *tf.TooOldError
	if err := q(newest+1, time.Second, 0); !errors.As(err, &out) || !out.Future() || out.Newest != newest || out.Frame != "base" || out.Parent != "odom" {
		t.Errorf("after the newest: %v", err)
	}
	if err := q(t0-1, time.Second, time.Hour); !errors.As(err, &out) || out.Future() || out.Oldest != t0 {
		t.Errorf("before the oldest: %v", err)
	}
	if err := q(t0+2*sec, time.Second, 0); !errors.As(err, &old) || old.Age != 2*time.Second || old.Limit != time.Second {
		t.Errorf("in a gap of 4 s: %v", err)
	}
	if err := q(newest+2*sec, time.Second, time.Hour); !errors.As(err, &old) || old.Age != 2*time.Second {
		t.Errorf("tolerance does not outdo the maximum age: %v", err)
	}
	if err := q(0, time.Second, 0); !errors.Is(err, tf.ErrNoTime) {
		t.Errorf("time 0 is not latest: %v", err)
	}
	if err := q(newest, 0, 0); !errors.Is(err, tf.ErrNoMaxAge) {
		t.Errorf("no maximum age: %v", err)
	}
	r, err := b.Lookup(tf.Query{Target: "odom", Source: "base", At: newest + sec/2, MaxAge: time.Second, Tolerance: time.Second})
	if err != nil || r.Stamp != newest {
		t.Errorf("within tolerance the newest is used and said: %+v, %v", r, err)
	}
}

func TestLatestIsTheNewestCommonTimeNotLatestAtAnyAge(t *testing.T) {
	b := tf.New(tf.Config{})
	set(t, b, "map", "odom", t0, at(0, 0))
	for i := int64(0); i <= 20; i++ {
		set(t, b, "odom", "base", t0+i*sec/10, at(float64(i), 0))
		if i == 10 {
			set(t, b, "map", "odom", t0+sec, at(1, 0))
		}
	}
	r, err := b.Latest("map", "base", t0+sec+sec/2, time.Second)
	if err != nil || r.Stamp != t0+sec || !near(r.Transform, at(11, 0)) {
		t.Errorf("%+v, %v", r, err)
	}
	var old *tf.TooOldError
	if _, err := b.Latest("map", "base", t0+3*sec, time.Second); !errors.As(err, &old) || old.Frame != "odom" || old.Parent != "map" || old.Age != 2*time.Second || old.Limit != time.Second {
		t.Errorf("the slow link is too old: %v", err)
	}
	if _, err := b.Latest("odom", "base", 0, time.Second); !errors.Is(err, tf.ErrNoTime) {
		t.Errorf("no clock: %v", err)
	}
	// A stamp ahead of the clock does not make the answer one for the future.
	r, err = b.Latest("map", "odom", t0+sec/2, time.Second)
	if err != nil || r.Stamp != t0+sec/2 || !near(r.Transform, at(0.5, 0)) {
		t.Errorf("stamped ahead: %+v, %v", r, err)
	}
}

func TestStaticTransformsHoldAlways(t *testing.T) {
	b := tf.New(tf.Config{})
	static(t, b, "base", "laser", at(1, 0))
	for _, now := range []int64{1, t0, math.MaxInt64} {
		if r, err := b.Latest("base", "laser", now, time.Nanosecond); err != nil || !r.Static || !near(r.Transform, at(1, 0)) {
			t.Errorf("at %d: %+v, %v", now, r, err)
		}
	}
	static(t, b, "base", "laser", at(2, 0))
	if r, _ := b.Latest("base", "laser", t0, time.Second); !near(r.Transform, at(2, 0)) {
		t.Error("a new static transform does not replace the old one")
	}
}

func TestUnknownAndUnconnectedFrames(t *testing.T) {
	b := tf.New(tf.Config{})
	static(t, b, "map", "odom", at(0, 0))
	static(t, b, "world", "camera", at(0, 0))
	var unknown *tf.UnknownFrameError
	if _, err := b.Latest("map", "base", t0, time.Second); !errors.As(err, &unknown) || unknown.Frame != "base" {
		t.Errorf("unknown: %v", err)
	}
	var apart *tf.NotConnectedError
	if _, err := b.Latest("odom", "camera", t0, time.Second); !errors.As(err, &apart) || apart.TargetRoot != "map" || apart.SourceRoot != "world" {
		t.Errorf("unconnected: %v", err)
	}
	var name *tf.FrameNameError
	for _, bad := range []string{"", "/map"} {
		if _, err := b.Latest(bad, "odom", t0, time.Second); !errors.As(err, &name) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if got := b.Frames(); !slices.Equal(got, []string{"camera", "map", "odom", "world"}) {
		t.Errorf("frames %v", got)
	}
}

func TestRefusedTransformsChangeNothing(t *testing.T) {
	id := spatial.Identity()
	bad := func(f func(*tf.Stamped)) tf.Stamped {
		s := tf.Stamped{Parent: "map", Child: "x", Stamp: t0, Transform: id}
		f(&s)
		return s
	}
	for _, tc := range []struct {
		name string
		s    tf.Stamped
		as   any
		is   error
	}{
		{"infinite translation", bad(func(s *tf.Stamped) { s.Transform.Translation.X = math.Inf(1) }), new(*tf.TransformError), tf.ErrNotFinite},
		{"NaN translation", bad(func(s *tf.Stamped) { s.Transform.Translation.Z = math.NaN() }), new(*tf.TransformError), tf.ErrNotFinite},
		{"zero quaternion", bad(func(s *tf.Stamped) { s.Transform.Rotation = quat.Number{} }), new(*tf.TransformError), spatial.ErrZeroNorm},
		{"NaN quaternion", bad(func(s *tf.Stamped) { s.Transform.Rotation.Real = math.NaN() }), new(*tf.TransformError), spatial.ErrNotFinite},
		{"no unit quaternion", bad(func(s *tf.Stamped) { s.Transform.Rotation.Real = 2 }), new(*spatial.QuaternionError), spatial.ErrNotUnit},
		{"its own parent", bad(func(s *tf.Stamped) { s.Child = "map" }), nil, tf.ErrRoot},
		{"leading slash", bad(func(s *tf.Stamped) { s.Child = "/x" }), new(*tf.FrameNameError), nil},
		{"no name", bad(func(s *tf.Stamped) { s.Parent = "" }), new(*tf.FrameNameError), nil},
		{"stamp zero", bad(func(s *tf.Stamped) { s.Stamp = 0 }), nil, tf.ErrBadStamp},
		{"stamp negative", bad(func(s *tf.Stamped) { s.Stamp = -5 }), nil, tf.ErrBadStamp},
		{"stamp far ahead", bad(func(s *tf.Stamped) { s.Stamp = t0 + 6*sec }), new(*tf.AheadError), nil},
		{"a cycle", bad(func(s *tf.Stamped) { s.Parent, s.Child = "base", "map" }), new(*tf.CycleError), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := tf.New(tf.Config{})
			static(t, b, "map", "odom", at(1, 0))
			static(t, b, "odom", "base", at(1, 0))
			_, err := b.Set(tc.s, t0)
			if err == nil || tc.as != nil && !errors.As(err, tc.as) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Fatalf("err %v", err)
			}
			if got := b.Frames(); len(got) != 3 {
				t.Errorf("frames %v", got)
			}
			if r, err := b.Latest("map", "base", t0, time.Second); err != nil || !near(r.Transform, at(2, 0)) {
				t.Errorf("the rest of the tree: %+v, %v", r, err)
			}
		})
	}
}

func TestRoundedQuaternionIsNormalisedAndSaid(t *testing.T) {
	b := tf.New(tf.Config{})
	tr := spatial.Transform{Rotation: quat.Number{Real: 0.924, Kmag: 0.383}}
	if ch := static(t, b, "map", "x", tr); !ch.Normalised {
		t.Error("not said")
	}
	r, err := b.Latest("map", "x", t0, time.Second)
	if err != nil || math.Abs(spatial.Norm(r.Transform.Rotation)-1) > 1e-15 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestReparentingForgetsTheHistoryAndIsReported(t *testing.T) {
	b := tf.New(tf.Config{})
	static(t, b, "world", "map", at(0, 0))
	static(t, b, "world", "lift", at(100, 0))
	set(t, b, "map", "base", t0, at(1, 0))
	if ch := set(t, b, "lift", "base", t0+sec, at(2, 0)); ch.Reparented != "map" {
		t.Errorf("reported %+v", ch)
	}
	if r, err := b.Latest("world", "base", t0+sec, time.Second); err != nil || !near(r.Transform, at(102, 0)) {
		t.Errorf("%+v, %v", r, err)
	}
	// What was measured under the old parent says nothing under the new one.
	var out *tf.ExtrapolationError
	if _, err := b.Lookup(tf.Query{Target: "world", Source: "base", At: t0 + sec/2, MaxAge: time.Hour}); !errors.As(err, &out) {
		t.Errorf("before the change: %v", err)
	}
	// A frame may move below what was its own child only once that is no cycle.
	if ch := set(t, b, "map", "base", t0+2*sec, at(3, 0)); ch.Reparented != "lift" {
		t.Errorf("and back: %+v", ch)
	}
}

func TestKindChangeIsReported(t *testing.T) {
	b := tf.New(tf.Config{})
	static(t, b, "map", "odom", at(1, 0))
	if ch := set(t, b, "map", "odom", t0, at(2, 0)); !ch.Kind {
		t.Error("static to dynamic is not reported")
	}
	var old *tf.TooOldError
	if _, err := b.Latest("map", "odom", t0+10*sec, time.Second); !errors.As(err, &old) {
		t.Errorf("it still counts as static: %v", err)
	}
	if ch := static(t, b, "map", "odom", at(3, 0)); !ch.Kind {
		t.Error("dynamic to static is not reported")
	}
}

func TestClockJumpBackClearsDynamicTransforms(t *testing.T) {
	b := tf.New(tf.Config{})
	static(t, b, "base", "laser", at(0.2, 0))
	set(t, b, "odom", "base", t0, at(1, 0))
	if b.Advance(t0 - sec) {
		t.Error("1 s may be callers overtaking each other, and is no jump")
	}
	if !b.Advance(t0 - 2*sec) {
		t.Error("a jump by 2 s is not noticed")
	}
	var apart *tf.NotConnectedError
	if _, err := b.Latest("odom", "base", t0-2*sec, time.Hour); !errors.As(err, &apart) {
		t.Errorf("old life: %v", err)
	}
	if _, err := b.Latest("base", "laser", t0-2*sec, time.Second); err != nil {
		t.Errorf("static transforms stay: %v", err)
	}
	// The new life starts at once, though its stamps are older than what had been there.
	set(t, b, "odom", "base", t0-2*sec+1, at(5, 0))
	if r, err := b.Latest("odom", "base", t0-2*sec+1, time.Second); err != nil || !near(r.Transform, at(5, 0)) {
		t.Errorf("%+v, %v", r, err)
	}
	// The same is noticed by a transform that arrives.
	ch, err := b.Set(tf.Stamped{Parent: "odom", Child: "base", Stamp: 5 * sec, Transform: at(6, 0)}, 5*sec)
	if err != nil || !ch.Cleared || ch.Reparented != "" {
		t.Errorf("%+v, %v", ch, err)
	}
}

func TestOneStampAheadDoesNotMakeTheOthersOld(t *testing.T) {
	b := tf.New(tf.Config{})
	set(t, b, "odom", "base", t0, at(1, 0))
	var ahead *tf.AheadError
	if _, err := b.Set(tf.Stamped{Parent: "odom", Child: "base", Stamp: t0 + 3600*sec, Transform: at(9, 0)}, t0); !errors.As(err, &ahead) || ahead.Ahead != time.Hour || ahead.Limit != 5*time.Second {
		t.Fatalf("%v", err)
	}
	set(t, b, "odom", "base", t0+sec, at(2, 0))
	if r, err := b.Latest("odom", "base", t0+sec, time.Second); err != nil || !near(r.Transform, at(2, 0)) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestOutOfOrderRepeatedAndAncientSamples(t *testing.T) {
	b := tf.New(tf.Config{Keep: 10 * time.Second})
	for _, i := range []int64{0, 4, 2, 3, 1} {
		if _, err := b.Set(tf.Stamped{Parent: "o", Child: "b", Stamp: t0 + i*sec, Transform: at(float64(i), 0)}, t0+4*sec); err != nil {
			t.Fatal(err)
		}
	}
	for i := int64(0); i < 4; i++ {
		r, err := b.Lookup(tf.Query{Target: "o", Source: "b", At: t0 + i*sec + sec/2, MaxAge: time.Second})
		if err != nil || !near(r.Transform, at(float64(i)+0.5, 0)) {
			t.Errorf("%d: %+v, %v", i, r, err)
		}
	}
	ch, err := b.Set(tf.Stamped{Parent: "o", Child: "b", Stamp: t0 + 2*sec, Transform: at(77, 0)}, t0+4*sec)
	if err != nil || !ch.Repeated {
		t.Errorf("repeated stamp: %+v, %v", ch, err)
	}
	if r, _ := b.Lookup(tf.Query{Target: "o", Source: "b", At: t0 + 2*sec, MaxAge: time.Second}); !near(r.Transform, at(2, 0)) {
		t.Error("the repetition replaced the first")
	}
	var old *tf.TooOldError
	if _, err := b.Set(tf.Stamped{Parent: "o", Child: "b", Stamp: t0 - 7*sec, Transform: at(0, 0)}, t0+4*sec); !errors.As(err, &old) || old.Age != 11*time.Second {
		t.Errorf("older than the history: %v", err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	b := tf.New(tf.Config{Keep: time.Second, MaxSamples: 50, MaxFrames: 4})
	for i := range int64(5000) {
		set(t, b, "o", "b", t0+i*sec/1000, at(float64(i), 0))
	}
	var out *tf.ExtrapolationError
	_, err := b.Lookup(tf.Query{Target: "o", Source: "b", At: t0, MaxAge: time.Hour})
	if !errors.As(err, &out) || out.Newest-out.Oldest != 49*sec/1000 {
		t.Errorf("kept %v", err)
	}
	static(t, b, "o", "c", at(0, 0))
	static(t, b, "o", "d", at(0, 0))
	for i := range 3 {
		if _, err := b.SetStatic(tf.Stamped{Parent: "o", Child: fmt.Sprint("e", i), Transform: at(0, 0)}); !errors.Is(err, tf.ErrFull) {
			t.Errorf("a fifth frame: %v", err)
		}
	}
}

func TestBufferIsSafeForConcurrentUse(t *testing.T) {
	b := tf.New(tf.Config{})
	set(t, b, "odom", "base", t0-1, at(0, 0))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range int64(500) {
				now := t0 + i*sec/1000
				if _, err := b.Set(tf.Stamped{Parent: "odom", Child: "base", Stamp: now + int64(w), Transform: at(float64(i), 0)}, now); err != nil {
					t.Error(err)
					return
				}
				if _, err := b.Latest("odom", "base", now, time.Second); err != nil {
					t.Error(err)
					return
				}
				b.Frames()
			}
		})
	}
	wg.Wait()
}

// TestRandomTrees: against products of the same transforms computed along the way.
func TestRandomTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := tf.New(tf.Config{})
		n := rapid.IntRange(2, 12).Draw(t, "n")
		world := []spatial.Transform{spatial.Identity()} // of frame i in frame 0
		for i := 1; i < n; i++ {
			parent := rapid.IntRange(0, i-1).Draw(t, "parent")
			c := rapid.Float64Range(-2, 2)
			tr := spatial.Pose2{X: c.Draw(t, "x"), Y: c.Draw(t, "y"), Yaw: c.Draw(t, "yaw")}.Pose().Transform()
			s := tf.Stamped{Parent: fmt.Sprint("f", parent), Child: fmt.Sprint("f", i), Stamp: t0, Transform: tr}
			var err error
			if rapid.Bool().Draw(t, "static") {
				_, err = b.SetStatic(s)
			} else {
				_, err = b.Set(s, t0)
			}
			if err != nil {
				t.Fatal(err)
			}
			world = append(world, world[parent].Compose(tr))
		}
		i, j := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
		r, err := b.Latest(fmt.Sprint("f", i), fmt.Sprint("f", j), t0, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if want := world[i].Inverse().Compose(world[j]); !near(r.Transform, want) {
			t.Fatalf("%+v, want %+v", r.Transform, want)
		}
		// Linking the root below any frame closes a cycle.
		var cycle *tf.CycleError
		k := rapid.IntRange(1, n-1).Draw(t, "k")
		if _, err := b.SetStatic(tf.Stamped{Parent: fmt.Sprint("f", k), Child: "f0", Transform: spatial.Identity()}); !errors.As(err, &cycle) {
			t.Fatalf("cycle: %v", err)
		}
	})
}

func BenchmarkLatest(b *testing.B) {
	buf := tf.New(tf.Config{})
	_, _ = buf.SetStatic(tf.Stamped{Parent: "map", Child: "odom", Transform: at(1, 1)})
	for i := range int64(500) {
		_, _ = buf.Set(tf.Stamped{Parent: "odom", Child: "base_link", Stamp: t0 + i*sec/50, Transform: at(float64(i), 0)}, t0+i*sec/50)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := buf.Latest("map", "base_link", t0+499*sec/50, time.Second); err != nil {
			b.Fatal(err)
		}
	}
}
