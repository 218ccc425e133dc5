package arm_test

import (
	"errors"
	"math"
	"testing"

	"agent_node/sim/arm"
	"agent_node/sim/world"
)

const dt = 0.01

// ideal is an arm that does at once what it is told, but for what a test makes it do.
type ideal struct {
	f    *arm.Follower
	is   arm.Setpoint
	time float64
	off  arm.Values // it stands beside where it should by this
}

func follow(t *testing.T, tolerances arm.Tolerances, points ...arm.Point) *ideal {
	t.Helper()
	tr, err := arm.NewTrajectory(names, arm.Setpoint{}, points, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &ideal{f: arm.NewFollower(names, tr, tolerances)}
}

func (i *ideal) step(scaling float64) (done bool, err error) {
	measured := i.is
	for j := range measured.Positions {
		measured.Positions[j] += i.off[j]
	}
	i.is, done, err = i.f.Step(measured, scaling, dt)
	i.time += dt
	return done, err
}

// run lets it go on until it is over, for a minute at most.
func (i *ideal) run(t *testing.T) error {
	t.Helper()
	for i.time < 60 {
		if done, err := i.step(1); done || err != nil {
			return err
		}
	}
	t.Fatal("it has no end")
	return nil
}

func wantCode(t *testing.T, what string, err error, want arm.Code) {
	t.Helper()
	var e *arm.Error
	got := arm.Successful
	if errors.As(err, &e) {
		got = e.Code
	}
	if got != want {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

var twoSeconds = arm.Point{Time: 2, Positions: all(1), HasVelocities: true}

func TestFollowerArrivesInTime(t *testing.T) {
	i := follow(t, arm.DefaultTolerances(), twoSeconds)
	wantCode(t, "followed", i.run(t), arm.Successful)
	if math.Abs(i.time-2) > 0.05 || i.is.Positions != all(1) {
		t.Errorf("after %.2f s it is at %v", i.time, i.is.Positions)
	}
}

func TestTolerances(t *testing.T) {
	none := arm.DefaultTolerances()
	for j := range none.Path {
		none.Path[j].Set(-1, -1)
		none.Goal[j].Set(-1, -1)
	}
	tight, patient := none, none
	tight.Path[3].Set(0.001, 0)
	patient.Goal[3].Set(0.001, 0)
	patient.GoalTime = 3
	endless := patient
	endless.GoalTime = -1
	for name, c := range map[string]struct {
		tolerances arm.Tolerances
		off        float64
		code       arm.Code
		from, to   float64 // s, when it is over
	}{
		"off beyond the path's":                {arm.DefaultTolerances(), 0.25, arm.PathToleranceViolated, 0, 0.05},
		"off beyond the goal's":                {arm.DefaultTolerances(), 0.05, arm.GoalToleranceViolated, 2.95, 3.1},
		"off within them":                      {arm.DefaultTolerances(), 0.015, arm.Successful, 1.9, 2.1},
		"no tolerance, no violation":           {none, 1, arm.Successful, 1.9, 2.1},
		"one joint's own on the path":          {tight, 0.002, arm.PathToleranceViolated, 0, 0.05},
		"one joint's own at the goal, and its": {patient, 0.002, arm.GoalToleranceViolated, 4.9, 5.1},
		"not a number is beyond all":           {arm.DefaultTolerances(), math.NaN(), arm.PathToleranceViolated, 0, 0.05},
	} {
		i := follow(t, c.tolerances, twoSeconds)
		i.off[3] = c.off
		wantCode(t, name, i.run(t), c.code)
		if i.time < c.from || i.time > c.to {
			t.Errorf("%s: over after %.2f s, want %.2f to %.2f s", name, i.time, c.from, c.to)
		}
	}
	i := follow(t, endless, twoSeconds)
	i.off[3] = 0.002
	for range 3000 {
		if done, err := i.step(1); done || err != nil {
			t.Fatalf("without a time limit it is over: %v", err)
		}
	}
	i.off[3] = 0
	wantCode(t, "there at last", i.run(t), arm.Successful)
}

// Stopped, it comes to rest where the trajectory leads, with no more deceleration than joints have.
func TestStopStaysOnThePathAndWithinTheLimits(t *testing.T) {
	limits := world.Default().Arm.Limits
	fast := arm.Point{Time: 1.2, Positions: arm.Values{0.9, 0.9, 0.9, 1.4, 1.4, 1.4}, HasVelocities: true}
	i := follow(t, arm.DefaultTolerances(), fast)
	for i.time < 0.6 {
		if _, err := i.step(1); err != nil {
			t.Fatal(err)
		}
	}
	i.f.Stop()
	before := i.is
	for range 100 {
		if done, err := i.step(1); done || err != nil {
			t.Fatalf("stopped, it is over: %v", err)
		}
		for j, l := range limits {
			if a := math.Abs(i.is.Velocities[j]-before.Velocities[j]) / dt; a > 1.1*l.Acceleration {
				t.Fatalf("joint %d brakes with %.2f rad/s^2, it has %.2f", j, a, l.Acceleration)
			}
			// All joints have come equally far.
			if d := i.is.Positions[j]/fast.Positions[j] - i.is.Positions[0]/fast.Positions[0]; math.Abs(d) > 1e-9 {
				t.Fatal("it leaves the path")
			}
		}
		before = i.is
	}
	if i.is.Velocities != (arm.Values{}) {
		t.Errorf("it moves with %v", i.is.Velocities)
	}
}

func TestScalingHoldsTheTrajectoryAndReleasesIt(t *testing.T) {
	i := follow(t, arm.DefaultTolerances(), twoSeconds)
	for range 100 {
		if _, err := i.step(1); err != nil {
			t.Fatal(err)
		}
	}
	for range 500 {
		if done, err := i.step(0); done || err != nil {
			t.Fatalf("held, it is over: %v", err)
		}
	}
	if i.is.Velocities != (arm.Values{}) || i.is.Positions[0] > 0.9 {
		t.Errorf("held, it is at %v with %v", i.is.Positions[0], i.is.Velocities)
	}
	wantCode(t, "released", i.run(t), arm.Successful)
	if i.time < 6.5 || i.time > 7.5 {
		t.Errorf("over after %.2f s", i.time)
	}
}

func TestGrip(t *testing.T) {
	g := world.Default().Gripper
	for _, bad := range [][2]float64{{math.NaN(), 1}, {0, math.Inf(1)}, {math.Inf(-1), 1}, {0, math.NaN()}, {0, -1}} {
		if _, err := arm.NewGrip(g, bad[0], bad[1]); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	for name, c := range map[string]struct{ asked, want float64 }{
		"none asked for": {0, g.Effort}, "some": {12, 12}, "more than there is": {500, g.Effort},
	} {
		grip, err := arm.NewGrip(g, 0, c.asked)
		if err != nil || grip.Effort() != c.want {
			t.Errorf("%s: %v N, want %v N (%v)", name, grip.Effort(), c.want, err)
		}
	}
	// reports what it says after so much time of standing at a width.
	after := func(width, velocity, scaling, seconds float64) (s arm.GripState) {
		grip, err := arm.NewGrip(g, 0.02, 10)
		if err != nil {
			t.Fatal(err)
		}
		for now := 0.0; now < seconds; now += dt {
			if s = grip.Step(width, velocity, scaling, dt); s.Over() {
				break
			}
		}
		return s
	}
	for name, c := range map[string]struct {
		width, velocity, scaling, seconds float64
		want                              arm.GripState
	}{
		"there":                        {0.0205, 0, 1, 1, arm.GripState{Reached: true}},
		"there, but it moves":          {0.0205, 0.01, 1, 1, arm.GripState{}},
		"something is in the way":      {0.05, 0, 1, 1, arm.GripState{Stalled: true}},
		"not for long":                 {0.05, 0, 1, 0.2, arm.GripState{}},
		"on its way":                   {0.05, -0.1, 1, 1, arm.GripState{}},
		"held by a protective stop":    {0.05, 0, 0, 9, arm.GripState{}},
		"wider than it should be open": {0.01, 0, 1, 1, arm.GripState{Stalled: true}},
	} {
		if got := after(c.width, c.velocity, c.scaling, c.seconds); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
