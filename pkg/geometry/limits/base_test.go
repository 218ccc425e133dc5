package limits_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"
)

var base = limits.Base{Forward: 0.6, Backward: 0.3, Angular: 1.2, Accel: 1, Decel: 2, AngularAccel: 3, AngularDecel: 3}

func twist(x, y, z, ax, ay, az float64) spatial.Twist {
	return spatial.Twist{Linear: r3.Vec{X: x, Y: y, Z: z}, Angular: r3.Vec{X: ax, Y: ay, Z: az}}
}

func rules(f []geometry.Finding) string {
	var names []string
	for _, x := range f {
		names = append(names, x.Rule+"/"+x.Subject)
	}
	return strings.Join(names, " ")
}

func TestCheckTwist(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	omni := base
	omni.Lateral = 0.2
	for _, tc := range []struct {
		name string
		b    limits.Base
		t    spatial.Twist
		want string
	}{
		{"at rest", base, twist(0, 0, 0, 0, 0, 0), ""},
		{"exactly at the limits", base, twist(0.6, 0, 0, 0, 0, -1.2), ""},
		{"exactly at the limit backwards", base, twist(-0.3, 0, 0, 0, 0, 0), ""},
		{"negative zeros", base, twist(math.Copysign(0, -1), math.Copysign(0, -1), 0, 0, 0, 0), ""},
		{"one step of float64 over", base, twist(math.Nextafter(0.6, 1), 0, 0, 0, 0, 0), "linear velocity/linear.x"},
		{"backwards has a limit of its own", base, twist(-0.4, 0, 0, 0, 0, 0), "linear velocity/linear.x"},
		{"turning left", base, twist(0, 0, 0, 0, 0, 1.3), "angular velocity/angular.z"},
		{"turning right", base, twist(0, 0, 0, 0, 0, -1.3), "angular velocity/angular.z"},
		{"sideways without such wheels", base, twist(0, 1e-9, 0, 0, 0, 0), "linear.y/linear.y"},
		{"sideways with them", omni, twist(0, -0.2, 0, 0, 0, 0), ""},
		{"too fast sideways", omni, twist(0, -0.3, 0, 0, 0, 0), "linear velocity/linear.y"},
		{"flying", base, twist(0, 0, 0.1, 0, 0, 0), "linear.z/linear.z"},
		{"rolling", base, twist(0.05, 0, 0, 0.4, 0, 0), "angular.x/angular.x"},
		{"pitching", base, twist(0, 0, 0, 0, -0.4, 0), "angular.y/angular.y"},
		{"everything at once", base, twist(9, 9, 9, 9, 9, 9), "linear velocity/linear.x linear.y/linear.y angular velocity/angular.z linear.z/linear.z angular.x/angular.x angular.y/angular.y"},
		{"NaN passes no limit", base, twist(nan, 0, 0, 0, 0, 0), "finite/linear.x"},
		{"NaN where zero belongs", base, twist(0, 0, 0, 0, nan, 0), "finite/angular.y"},
		{"infinities", base, twist(-inf, 0, inf, 0, 0, inf), "finite/linear.x finite/linear.z finite/angular.z"},
		{"largest double", base, twist(math.MaxFloat64, 0, 0, 0, 0, math.MaxFloat64), "linear velocity/linear.x angular velocity/angular.z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.b.CheckTwist(tc.t, nil)
			if rules(got) != tc.want {
				t.Errorf("got %q, want %q", rules(got), tc.want)
			}
			for _, f := range got {
				if f.Unit == "" || f.Message == "" || f.Index != -1 {
					t.Errorf("finding lacks something: %+v", f)
				}
			}
		})
	}
}

func TestFindingsHaveValueAndLimit(t *testing.T) {
	f := base.CheckTwist(twist(-0.4, 0, 0, 0, 0, -2), nil)
	if f[0].Value != -0.4 || f[0].Limit != -0.3 || f[0].Unit != "m/s" || f[1].Value != -2 || f[1].Limit != -1.2 || f[1].Unit != "rad/s" {
		t.Errorf("%+v", f)
	}
}

func TestNoLimitIsNoLicence(t *testing.T) {
	for name, change := range map[string]func(*limits.Base){
		"Forward":      func(b *limits.Base) { b.Forward = 0 },
		"Angular":      func(b *limits.Base) { b.Angular = 0 },
		"Decel":        func(b *limits.Base) { b.Decel = 0 },
		"AngularDecel": func(b *limits.Base) { b.AngularDecel = math.NaN() },
		"Backward":     func(b *limits.Base) { b.Backward = -1 },
		"Lateral":      func(b *limits.Base) { b.Lateral = math.Inf(1) },
		"Accel":        func(b *limits.Base) { b.Accel = math.NaN() },
		"MaxDistance":  func(b *limits.Base) { b.MaxDistance = -1 },
	} {
		b := base
		change(&b)
		if err := b.Check(); !errors.Is(err, limits.ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := base.Check(); err != nil {
		t.Error(err)
	}
}

func TestClampIsWithinLimitsAndOnTheSameCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-5, 5)
		b := base
		b.Lateral = rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "lateral")
		in := twist(v.Draw(t, "x"), v.Draw(t, "y"), v.Draw(t, "z"), v.Draw(t, "ax"), v.Draw(t, "ay"), v.Draw(t, "az"))
		got, ok := b.Clamp(in)
		if ok == got.IsZero() {
			t.Fatalf("ok %v for %v", ok, got)
		}
		if f := b.CheckTwist(got, nil); len(f) > 0 {
			t.Fatalf("%v", f)
		}
		if d := got.Linear.X*in.Angular.Z - got.Angular.Z*in.Linear.X; math.Abs(d) > 1e-9 {
			t.Fatalf("another curve: %v from %v", got, in)
		}
		if again, _ := b.Clamp(got); r3.Norm(r3.Sub(again.Linear, got.Linear)) > 1e-15 {
			t.Fatalf("clamping twice: %v, %v", got, again)
		}
	})
	for _, bad := range []spatial.Twist{twist(math.NaN(), 0, 0, 0, 0, 0), twist(0, 0, 0, math.Inf(1), 0, 0), twist(0, 1, 1, 1, 0, 0)} {
		if got, ok := base.Clamp(bad); ok {
			t.Errorf("%v was clamped to %v", bad, got)
		}
	}
	if got, ok := base.Clamp(twist(math.MaxFloat64, 0, 0, 0, 0, math.MaxFloat64)); !ok || !(got.Linear.X > 0.59) || !(got.Angular.Z > 0.59) {
		t.Errorf("largest doubles: %v", got)
	}
}

func TestCheckStep(t *testing.T) {
	const dt = 100 * time.Millisecond
	for _, tc := range []struct {
		name       string
		prev, next spatial.Twist
		dt         time.Duration
		want       string
	}{
		{"as fast as allowed", twist(0, 0, 0, 0, 0, 0), twist(0.1, 0, 0, 0, 0, 0.3), dt, ""},
		{"faster", twist(0, 0, 0, 0, 0, 0), twist(0.11, 0, 0, 0, 0, 0), dt, "acceleration/linear.x"},
		{"braking may be harder", twist(0.5, 0, 0, 0, 0, 0), twist(0.3, 0, 0, 0, 0, 0), dt, ""},
		{"but not that hard", twist(0.5, 0, 0, 0, 0, 0), twist(0.2, 0, 0, 0, 0, 0), dt, "acceleration/linear.x"},
		{"unless it is a stop", twist(0.5, 0, 0, 0, 0, 1), twist(0, 0, 0, 0, 0, 0), dt, ""},
		{"through zero is accelerating", twist(0.1, 0, 0, 0, 0, 0), twist(-0.05, 0, 0, 0, 0, 0), dt, "acceleration/linear.x"},
		{"turning", twist(0, 0, 0, 0, 0, 0), twist(0, 0, 0, 0, 0, 0.4), dt, "acceleration/angular.z"},
		{"NaN before", twist(math.NaN(), 0, 0, 0, 0, 0), twist(0.1, 0, 0, 0, 0, 0), dt, "acceleration/linear.x"},
		{"no time between", twist(0.1, 0, 0, 0, 0, 0), twist(0.1, 0, 0, 0, 0, 0), 0, "time order/stamp"},
		{"backwards in time", twist(0.1, 0, 0, 0, 0, 0), twist(0.1, 0, 0, 0, 0, 0), -dt, "time order/stamp"},
	} {
		if got := rules(base.CheckStep(tc.prev, tc.next, tc.dt, nil)); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestRampPassesItsOwnCheckAndArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1, 1)
		prev, _ := base.Clamp(twist(v.Draw(t, "px"), 0, 0, 0, 0, v.Draw(t, "pw")))
		want := twist(v.Draw(t, "x"), 0, 0, 0, 0, v.Draw(t, "w"))
		goal, _ := base.Clamp(want)
		const dt = 50 * time.Millisecond
		for i := 0; ; i++ {
			next := base.Ramp(prev, want, dt)
			if f := append(base.CheckStep(prev, next, dt, nil), base.CheckTwist(next, nil)...); len(f) > 0 {
				t.Fatalf("%v -> %v: %v", prev, next, f)
			}
			if next == goal {
				return
			}
			if i > 200 {
				t.Fatalf("never arrives: at %v, goal %v", next, goal)
			}
			prev = next
		}
	})
}

func TestStopping(t *testing.T) {
	if d := base.StoppingDistance(-0.6, 500*time.Millisecond); math.Abs(d-(0.3+0.09)) > 1e-12 {
		t.Errorf("distance %g", d)
	}
	if a := base.StoppingAngle(1.2, 0); math.Abs(a-0.24) > 1e-12 {
		t.Errorf("angle %g", a)
	}
}

func BenchmarkCheckTwist(b *testing.B) {
	t := twist(0.5, 0, 0, 0, 0, 1)
	buf := make([]geometry.Finding, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		if len(base.CheckTwist(t, buf)) > 0 {
			b.Fatal("refused")
		}
	}
}
