package physics_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agent_node/sim/physics"
	"agent_node/sim/world"
)

const dt = 0.01

// commands draws velocities as a careless program sends them.
var commands = rapid.Custom(func(t *rapid.T) world.Twist {
	value := rapid.OneOf(
		rapid.Float64Range(-1.5, 1.5),
		rapid.SampledFrom([]float64{0, 0.5, -0.5, 1, -1, 1e9, math.NaN(), math.Inf(1), math.Inf(-1)}),
	)
	return world.Twist{Linear: value.Draw(t, "linear"), Angular: value.Draw(t, "angular")}
})

func sim(t testing.TB, o physics.Options) *physics.Sim {
	t.Helper()
	s, err := physics.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drive holds a command for a time.
func drive(s *physics.Sim, v world.Twist, d time.Duration) {
	for end := s.Time() + d; s.Time() < end; {
		s.Command(v)
		s.Step()
	}
}

func TestLimitsAreNeverExceededAndNothingIsEntered(t *testing.T) {
	w := world.Default()
	l := w.Robot.Limits
	const tiny = 1e-9
	rapid.Check(t, func(t *rapid.T) {
		s, err := physics.New(physics.Options{Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil {
			t.Fatal(err)
		}
		before := s.Truth()
		for range rapid.IntRange(1, 25).Draw(t, "commands") {
			s.SetFaults(physics.Faults{ProtectiveStop: rapid.IntRange(0, 5).Draw(t, "protective stop") == 0})
			s.Command(commands.Draw(t, "command"))
			for range rapid.IntRange(1, 80).Draw(t, "steps") {
				s.Step()
				now := s.Truth()
				v, a := now.Twist, now.Twist.Linear-before.Twist.Linear
				switch {
				case !now.Pose.Finite() || !v.Finite():
					t.Fatalf("not finite: %+v", now)
				case math.Abs(v.Linear) > l.Linear+tiny || math.Abs(v.Angular) > l.Angular+tiny:
					t.Fatalf("too fast: %+v", v)
				case !now.Contact && math.Abs(a) > max(l.LinearAcceleration, l.LinearDeceleration)*dt+tiny:
					t.Fatalf("linear acceleration %.3f m/s^2", a/dt)
				case math.Abs(v.Linear) > math.Abs(before.Twist.Linear)+l.LinearAcceleration*dt+tiny:
					t.Fatalf("gained %.3f m/s^2", a/dt)
				case math.Abs(v.Angular-before.Twist.Angular) > l.AngularAcceleration*dt+tiny:
					t.Fatalf("angular acceleration %.3f rad/s^2", (v.Angular-before.Twist.Angular)/dt)
				case w.Collides(now.Pose):
					t.Fatalf("inside an obstacle: %+v", now.Pose)
				}
				before = now
			}
		}
	})
}

func TestSilenceStopsTheBase(t *testing.T) {
	s := sim(t, physics.Options{})
	drive(s, world.Twist{Linear: 0.5}, time.Second)
	s.Command(world.Twist{Linear: 0.5})
	said := s.Time()
	for s.Truth().Twist.Linear > 0 {
		s.Step()
	}
	if took := s.Time() - said; took < 500*time.Millisecond || took > 1050*time.Millisecond {
		t.Errorf("at rest %v after the last command, want 0.5 s of patience and 0.5 s of braking", took)
	}
}

func TestACommandThatIsNotFiniteStops(t *testing.T) {
	for _, bad := range []world.Twist{{Linear: math.NaN()}, {Linear: 0.5, Angular: math.NaN()}, {Linear: math.Inf(1)}} {
		s := sim(t, physics.Options{})
		drive(s, world.Twist{Linear: 0.4}, time.Second)
		drive(s, bad, time.Second)
		if v := s.Truth().Twist; v != (world.Twist{}) {
			t.Errorf("after %v it moves with %+v", bad, v)
		}
	}
}

func TestProtectiveStopHoldsAndReleases(t *testing.T) {
	s := sim(t, physics.Options{})
	drive(s, world.Twist{Linear: 0.5}, time.Second)
	s.SetFaults(physics.Faults{ProtectiveStop: true})
	drive(s, world.Twist{Linear: 0.5}, 600*time.Millisecond)
	at := s.Truth().Pose
	drive(s, world.Twist{Linear: 0.5}, time.Second)
	if s.Truth().Pose != at || s.SpeedScaling() != 0 {
		t.Errorf("moves under a protective stop, or scaling is %v", s.SpeedScaling())
	}
	s.SetFaults(physics.Faults{})
	drive(s, world.Twist{Linear: 0.5}, time.Second)
	if s.Truth().Twist.Linear != 0.5 || s.SpeedScaling() != 1 {
		t.Errorf("after it %v m/s with scaling %v, want 0.5 and 1", s.Truth().Twist.Linear, s.SpeedScaling())
	}
}

func TestDriftMovesTheBaseAndOdometrySeesIt(t *testing.T) {
	s := sim(t, physics.Options{})
	s.SetFaults(physics.Faults{Drift: 0.1})
	drive(s, world.Twist{}, 3*time.Second)
	if got := s.Truth().Twist.Linear; got != 0.1 {
		t.Errorf("truth %v m/s, want 0.1", got)
	}
	if got := s.Odometry().Twist.Linear; math.Abs(got-0.1) > 0.02 {
		t.Errorf("odometry %v m/s, want about 0.1", got)
	}
}

func TestAWallHoldsTheBase(t *testing.T) {
	start := world.Pose{X: 3.5, Y: 1}
	s := sim(t, physics.Options{Start: &start})
	drive(s, world.Twist{Linear: 0.5}, 2*time.Second)
	held := s.Truth()
	if !held.Contact || held.Twist.Linear != 0 {
		t.Fatalf("not held: %+v", held)
	}
	if gap := s.World().Clearance(held.Pose.X, held.Pose.Y) - s.World().Robot.Radius; gap < 0 || gap > 0.005 {
		t.Errorf("%.4f m from the wall", gap)
	}
	drive(s, world.Twist{Angular: 1}, time.Second)
	if s.Truth().Twist.Angular != 1 {
		t.Error("it cannot turn at the wall")
	}
	drive(s, world.Twist{Angular: -1}, 1200*time.Millisecond)
	drive(s, world.Twist{Linear: -0.5}, 2*time.Second)
	if now := s.Truth(); now.Contact || now.Pose.X > held.Pose.X-0.3 {
		t.Errorf("it does not come off the wall: %+v", now)
	}
}

// story runs a simulation through a fixed course and writes down all it says.
func story(t testing.TB, seed uint64, faults physics.Faults) (told string, truth []physics.Truth) {
	s := sim(t, physics.Options{Seed: seed})
	s.SetFaults(faults)
	var out strings.Builder
	for _, v := range []world.Twist{{Linear: 0.4}, {Linear: 0.3, Angular: 0.8}, {}, {Angular: -1}, {Linear: -0.2}} {
		for range 100 {
			s.Command(v)
			s.Step()
			truth = append(truth, s.Truth())
			fmt.Fprintln(&out, s.Truth(), s.Odometry(), s.MapToOdom(), s.Battery(), s.Wheels())
			if s.Time()%physics.LidarPeriod == 0 {
				fmt.Fprintln(&out, s.Scan())
			}
		}
	}
	return out.String(), truth
}

func TestTheSameSeedTellsTheSameToTheLastBit(t *testing.T) {
	a, _ := story(t, 7, physics.Faults{})
	b, _ := story(t, 7, physics.Faults{})
	c, _ := story(t, 8, physics.Faults{})
	if a != b {
		t.Error("two runs with one seed differ")
	}
	if a == c {
		t.Error("two seeds tell the same")
	}
}

func TestTruthKnowsNothingOfSensorsAndTheirFaults(t *testing.T) {
	_, plain := story(t, 7, physics.Faults{})
	_, other := story(t, 8, physics.Faults{})
	_, lost := story(t, 7, physics.Faults{OdometryLost: true})
	for i := range plain {
		if plain[i] != other[i] || plain[i] != lost[i] {
			t.Fatalf("step %d: %+v, with another seed %+v, with odometry lost %+v", i, plain[i], other[i], lost[i])
		}
	}
}

func TestOdometryLagsDriftsAndStaysWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := world.Pose{X: -1.6, Y: -1.5}
		s, err := physics.New(physics.Options{Seed: rapid.Uint64().Draw(t, "seed"), Start: &start})
		if err != nil {
			t.Fatal(err)
		}
		// It lags while the speed grows.
		for range 20 {
			s.Command(world.Twist{Linear: 0.5})
			s.Step()
		}
		if said, is := s.Odometry().Twist.Linear, s.Truth().Twist.Linear; said > is-0.01 {
			t.Fatalf("odometry says %.3f m/s at once, truth is %.3f", said, is)
		}
		turned := 0.0
		for range rapid.IntRange(1, 12).Draw(t, "pieces") {
			v := world.Twist{Linear: rapid.Float64Range(-0.4, 0.4).Draw(t, "v"), Angular: rapid.Float64Range(-1, 1).Draw(t, "w")}
			drive(s, v, 700*time.Millisecond)
			turned += math.Abs(v.Angular) * 0.7
		}
		drive(s, world.Twist{}, 1500*time.Millisecond)
		truth, said := s.Truth(), start.Compose(s.Odometry().Pose)
		heading := 0.02 + 0.01*turned + 0.01*truth.Driven
		if e := math.Abs(world.WrapAngle(said.Yaw - truth.Pose.Yaw)); e > heading {
			t.Fatalf("heading is off by %.4f rad, bound %.4f", e, heading)
		}
		if e, bound := said.DistanceTo(truth.Pose), 0.02+(0.02+heading)*truth.Driven; e > bound {
			t.Fatalf("position is off by %.4f m, bound %.4f", e, bound)
		}
		if said == truth.Pose {
			t.Fatal("odometry is the truth itself")
		}
	})
}

// A robot at rest must look like one: this is what a stop is judged by.
func TestOdometryAtRestIsQuietAndAlive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := physics.New(physics.Options{Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil {
			t.Fatal(err)
		}
		drive(s, world.Twist{Linear: 0.5, Angular: 0.5}, time.Second)
		for v := s.Truth().Twist; v != (world.Twist{}); v = s.Truth().Twist {
			s.Command(world.Twist{})
			s.Step()
		}
		drive(s, world.Twist{}, 400*time.Millisecond)
		first, changed := s.Odometry(), false
		for range 50 {
			s.Step()
			o := s.Odometry()
			if math.Abs(o.Twist.Linear) > 0.01 || math.Abs(o.Twist.Angular) > 0.02 {
				t.Fatalf("at rest it says %+v", o.Twist)
			}
			changed = changed || o.Twist != first.Twist
		}
		last := s.Odometry()
		if last.Pose.DistanceTo(first.Pose) > 0.005 || math.Abs(world.WrapAngle(last.Pose.Yaw-first.Pose.Yaw)) > 0.01 {
			t.Fatalf("at rest it moves from %+v to %+v", first.Pose, last.Pose)
		}
		if !changed {
			t.Fatal("at rest its values are frozen")
		}
	})
}

func TestLocalisationCorrectsTheDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := physics.New(physics.Options{Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			drive(s, world.Twist{Linear: 0.3, Angular: 0.6}, 3*time.Second)
			drive(s, world.Twist{}, time.Second)
			e, is := s.Estimate(), s.Truth().Pose
			if e.DistanceTo(is) > 0.05 || math.Abs(world.WrapAngle(e.Yaw-is.Yaw)) > 0.04 {
				t.Fatalf("believes %+v, is %+v", e, is)
			}
		}
		s.SetFaults(physics.Faults{OdometryLost: true})
		kept := s.MapToOdom()
		drive(s, world.Twist{Linear: 0.3, Angular: 0.6}, 3*time.Second)
		if s.MapToOdom() != kept {
			t.Fatal("without odometry it corrects itself all the same")
		}
	})
}

func TestLidarSeesTheWorld(t *testing.T) {
	start := world.Pose{X: 2.25, Y: 0.5, Yaw: 0.3}
	s := sim(t, physics.Options{Seed: 3, Start: &start})
	noEcho, beams := 0, 0
	for range 20 {
		drive(s, world.Twist{}, physics.LidarPeriod)
		scan := s.Scan()
		if len(scan.Ranges) != physics.LidarBeams || scan.Time != s.Time() {
			t.Fatalf("%d beams, taken at %v, now is %v", len(scan.Ranges), scan.Time, s.Time())
		}
		for i, r := range scan.Ranges {
			is := s.World().Ray(start.X, start.Y, start.Yaw+scan.AngleMin+float64(i)*scan.AngleStep)
			beams++
			switch {
			case math.IsInf(r, 1):
				noEcho++
			case r < physics.LidarRangeMin || r > physics.LidarRangeMax || math.Abs(r-is) > 0.05:
				t.Fatalf("beam %d says %.3f m, there is something at %.3f m", i, r, is)
			case is > physics.LidarRangeMax+0.05:
				t.Fatalf("beam %d has an echo from %.3f m", i, is)
			}
		}
	}
	if noEcho == 0 || noEcho > beams/10 {
		t.Errorf("%d of %d beams without echo", noEcho, beams)
	}
}

func TestBatteryDrainsWithTimeAndMotionAndChargesAtTheDock(t *testing.T) {
	lost := func(start world.Pose, v world.Twist) float64 {
		s := sim(t, physics.Options{Start: &start})
		before := s.Truth().Charge
		drive(s, v, 4*time.Second)
		return before - s.Truth().Charge
	}
	w := world.Default()
	away := world.Pose{X: 1.5, Y: 0}
	idle, driving, docked := lost(away, world.Twist{}), lost(away, world.Twist{Linear: 0.3}), lost(w.Start(), world.Twist{})
	if !(driving > idle && idle > 0 && docked < 0) {
		t.Errorf("lost %.4f %% idle, %.4f %% driving, %.4f %% at the dock", idle, driving, docked)
	}
	s := sim(t, physics.Options{})
	for _, charge := range []float64{0, 100} {
		if err := s.SetCharge(charge); err != nil {
			t.Fatal(err)
		}
		drive(s, world.Twist{Angular: 1}, time.Second)
		drive(s, world.Twist{}, 2*time.Second)
		if c := s.Truth().Charge; !(c >= 0 && c <= 100) {
			t.Errorf("charge is %v %%", c)
		}
	}
	for _, charge := range []float64{-1, 101, math.NaN()} {
		if err := s.SetCharge(charge); err == nil {
			t.Errorf("a charge of %v %% is taken", charge)
		}
	}
}

func TestTeleportNeedsRoom(t *testing.T) {
	s := sim(t, physics.Options{})
	to := world.Pose{X: 1.5, Y: -0.5, Yaw: 1}
	if err := s.Teleport(to); err != nil {
		t.Fatal(err)
	}
	if s.Truth().Pose != to || s.Estimate().DistanceTo(to) > 1e-9 {
		t.Errorf("is at %+v, believes %+v", s.Truth().Pose, s.Estimate())
	}
	for _, bad := range []world.Pose{{X: -0.6, Y: 2}, {X: 9}, {X: math.NaN()}} {
		if err := s.Teleport(bad); err == nil {
			t.Errorf("it was put down at %+v", bad)
		}
		if _, err := physics.New(physics.Options{Start: &bad}); err == nil {
			t.Errorf("it starts at %+v", bad)
		}
	}
	if s.Truth().Pose != to {
		t.Error("a refused teleport moved it")
	}
}

func BenchmarkStep(b *testing.B) {
	s := sim(b, physics.Options{})
	for b.Loop() {
		s.Command(world.Twist{Linear: 0.3, Angular: 0.8})
		s.Step()
	}
}
