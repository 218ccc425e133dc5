package physics_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agent_node/sim/arm"
	"agent_node/sim/arm/armtest"
	"agent_node/sim/physics"
	"agent_node/sim/world"
)

// hand is a simulation whose arm a test moves.
type hand struct {
	t testing.TB
	*physics.Sim
}

func armed(t testing.TB, o physics.Options) hand { return hand{t, sim(t, o)} }

// follow leads the arm along points and returns how that ended.
func (h hand) follow(points []arm.Point) error {
	h.t.Helper()
	names := h.World().Arm.Names
	m := h.Arm()
	t, err := arm.NewTrajectory(names, arm.Setpoint{Positions: m.Positions, Velocities: m.Velocities}, points, 0)
	if err != nil {
		return err
	}
	f := arm.NewFollower(names, t, arm.DefaultTolerances())
	for range 6000 {
		m := h.Arm()
		command, done, err := f.Step(arm.Setpoint{Positions: m.Positions, Velocities: m.Velocities}, h.SpeedScaling(), dt)
		if err != nil {
			h.HoldArm()
			return err
		}
		h.CommandArm(command)
		h.Step()
		if done {
			return nil
		}
	}
	h.t.Fatal("the trajectory has no end")
	return nil
}

// to moves tool0, pointing down, to a place in map.
func (h hand) to(x, y, z float64) error {
	h.t.Helper()
	at := h.Truth().Pose.Inverse().Compose(world.Pose{X: x, Y: y})
	q, ok := armtest.Reach(h.World(), armtest.Down(at.X, at.Y, z, 0))
	if !ok {
		h.t.Fatalf("%.3f, %.3f, %.3f is out of reach", at.X, at.Y, z)
	}
	return h.follow(armtest.Move(h.World(), h.Truth().Arm, q))
}

func (h hand) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h hand) wait(d time.Duration) {
	for end := h.Time() + d; h.Time() < end; {
		h.Step()
	}
}

// grip closes or opens the gripper and waits until it is at rest.
func (h hand) grip(position float64) {
	h.CommandGripper(position, 20)
	h.wait(1200 * time.Millisecond)
}

func (h hand) object(name string) physics.ObjectState {
	h.t.Helper()
	for _, o := range h.Objects() {
		if o.Name == name {
			return o
		}
	}
	h.t.Fatalf("there is no %s", name)
	return physics.ObjectState{}
}

// at stands at a place.
func at(t testing.TB, place string, o physics.Options) hand {
	t.Helper()
	p, err := world.Default().Place(place)
	if err != nil {
		t.Fatal(err)
	}
	o.Start = &p.Pose
	return armed(t, o)
}

func TestEverythingWithinReachIsReached(t *testing.T) {
	w := world.Default()
	for _, p := range w.Places {
		spots := [][2]float64{}
		r := p.Surface.Reach
		for _, x := range []float64{r.MinX, (r.MinX + r.MaxX) / 2, r.MaxX} {
			for _, y := range []float64{r.MinY, (r.MinY + r.MaxY) / 2, r.MaxY} {
				spots = append(spots, [2]float64{x, y})
			}
		}
		for _, o := range w.Objects {
			if p.Surface.Box.Contains(o.X, o.Y) {
				spots = append(spots, [2]float64{o.X, o.Y})
			}
		}
		for _, spot := range spots {
			for _, above := range []float64{0, 0.1} {
				for _, yaw := range []float64{0, math.Pi / 2} {
					at := p.Pose.Inverse().Compose(world.Pose{X: spot[0], Y: spot[1]})
					z := p.Surface.Height + 0.025 + above
					if _, ok := armtest.Reach(w, armtest.Down(at.X, at.Y, z, yaw)); !ok {
						t.Errorf("%s: %.3f, %.3f is out of reach at %.3f m, turned by %.2f rad", p.Name, at.X, at.Y, z, yaw)
					}
				}
			}
		}
	}
}

// From the carry pose straight lines in joint space lead over every spot within reach, down to it, and back.
func TestTheWayFromCarryToEverySpotIsFree(t *testing.T) {
	for _, p := range world.Default().Places {
		r := p.Surface.Reach
		for _, x := range []float64{r.MinX, r.MaxX} {
			for _, y := range []float64{r.MinY, r.MaxY} {
				h := at(t, p.Name, physics.Options{})
				carry := arm.Values(h.World().Arm.Carry)
				h.must(h.to(x, y, p.Surface.Height+0.125))
				h.must(h.to(x, y, p.Surface.Height+0.025))
				h.must(h.to(x, y, p.Surface.Height+0.125))
				h.must(h.follow(armtest.Move(h.World(), h.Truth().Arm, carry)))
			}
		}
	}
}

func TestInCarryTheArmHasRoomToTurn(t *testing.T) {
	h := armed(t, physics.Options{})
	for _, angle := range []float64{0.9, -1.9, 0} {
		q := arm.Values(h.World().Arm.Carry)
		q[0] = angle
		if err := h.follow(armtest.Move(h.World(), h.Truth().Arm, q)); err != nil {
			t.Errorf("to %.1f rad: %v", angle, err)
		}
	}
}

// The whole way of an object: fetched, carried through the flat, put down elsewhere.
func TestAnObjectIsFetchedCarriedAndPutDown(t *testing.T) {
	h := at(t, "table", physics.Options{Seed: 3})
	cube := h.object("red cube")
	h.must(h.to(cube.X, cube.Y, cube.Z+0.1))
	h.must(h.to(cube.X, cube.Y, cube.Z))
	h.grip(0)
	if now := h.Truth(); now.Held != "red cube" || math.Abs(now.Width-cube.Size) > 1e-9 || h.Gripper().Effort != 20 {
		t.Fatalf("the gripper is %+v with %q", h.Gripper(), now.Held)
	}
	h.must(h.to(cube.X, cube.Y, cube.Z+0.1))
	if got := h.object("red cube"); math.Abs(got.Z-cube.Z-0.1) > 0.01 || !got.Held {
		t.Errorf("lifted by 0.1 m it is %+v", got)
	}
	h.must(h.follow(armtest.Move(h.World(), h.Truth().Arm, h.World().Arm.Carry)))
	if seen := names(h.Detections()); seen["red cube"] == 0 {
		t.Error("the camera does not see what is held")
	}
	kitchen, err := h.World().Place("kitchen")
	h.must(err)
	h.must(h.Teleport(kitchen.Pose))
	h.wait(100 * time.Millisecond)
	x, y := kitchen.Surface.Reach.Center()
	h.must(h.to(x, y, 0.535))
	h.must(h.to(x, y, 0.427))
	h.grip(0.08)
	got := h.object("red cube")
	if math.Hypot(got.X-x, got.Y-y) > 0.01 || math.Abs(got.Z-0.425) > 1e-9 || got.Held || h.Truth().Held != "" {
		t.Errorf("put down it is %+v", got)
	}
	if h.Truth().ArmContact || h.Truth().Contact {
		t.Error("something was touched")
	}
	h.must(h.to(x, y, 0.535))
	h.must(h.follow(armtest.Move(h.World(), h.Truth().Arm, h.World().Arm.Carry)))
	if stays := h.object("red cube"); stays != got {
		t.Errorf("left alone it goes from %+v to %+v", got, stays)
	}
}

func names(d physics.Detections) map[string]float64 {
	out := map[string]float64{}
	for _, s := range d.Seen {
		out[s.Name] = s.Distance
	}
	return out
}

func TestOnlyWhatIsWithinTwoCentimetresIsGrasped(t *testing.T) {
	for _, c := range []struct {
		off     float64
		grasped bool
	}{{0, true}, {0.017, true}, {0.023, false}, {0.05, false}} {
		h := at(t, "table", physics.Options{})
		cube := h.object("red cube")
		h.must(h.to(cube.X+c.off, cube.Y, cube.Z+0.1))
		h.must(h.to(cube.X+c.off, cube.Y, cube.Z))
		h.grip(0)
		if got := h.Truth().Held == "red cube"; got != c.grasped {
			t.Errorf("%.3f m off: grasped is %v", c.off, got)
		}
		if want := map[bool]float64{true: cube.Size}[c.grasped]; math.Abs(h.Truth().Width-want) > 1e-9 {
			t.Errorf("%.3f m off: the opening is %.4f m, want %.4f m", c.off, h.Truth().Width, want)
		}
	}
}

func TestFingersThatAreTooFarClosedGraspNothing(t *testing.T) {
	h := at(t, "table", physics.Options{})
	cube := h.object("red cube")
	h.grip(0.04)
	h.must(h.to(cube.X, cube.Y, cube.Z+0.1))
	h.must(h.to(cube.X, cube.Y, cube.Z))
	h.grip(0)
	if h.Truth().Held != "" || h.object("red cube") != cube {
		t.Errorf("it holds %q", h.Truth().Held)
	}
}

func TestAGripperThatShouldFailDoes(t *testing.T) {
	h := at(t, "table", physics.Options{})
	h.SetFaults(physics.Faults{GripperEmpty: true})
	cube := h.object("red cube")
	h.must(h.to(cube.X, cube.Y, cube.Z+0.1))
	h.must(h.to(cube.X, cube.Y, cube.Z))
	h.grip(0)
	if h.Truth().Held != "" || h.Gripper().Width > 0.001 {
		t.Errorf("it holds %q", h.Truth().Held)
	}
	h.grip(0.08)
	h.SetFaults(physics.Faults{})
	h.grip(0)
	if h.Truth().Held != "red cube" {
		t.Fatal("without the fault it does not grasp")
	}
	h.must(h.to(cube.X, cube.Y, cube.Z+0.1))
	h.must(h.follow(armtest.Move(h.World(), h.Truth().Arm, h.World().Arm.Carry)))
	h.SetFaults(physics.Faults{GripperSlip: true})
	h.wait(time.Second)
	if h.Truth().Held == "" {
		t.Error("it slips at rest")
	}
	drive(h.Sim, world.Twist{Linear: -0.3}, 2*time.Second)
	h.wait(time.Second)
	got := h.object("red cube")
	away := math.Hypot(got.X-h.Truth().Pose.X, got.Y-h.Truth().Pose.Y)
	if h.Truth().Held != "" || got.Z != got.Size/2 || away < h.World().Robot.Radius {
		t.Errorf("dropped while driving it is %+v, %.3f m from the robot", got, away)
	}
}

func TestWhatIsLetGoInTheAirFallsOntoWhatIsBelow(t *testing.T) {
	for name, c := range map[string]struct{ x, y, z, want float64 }{
		"over the table":  {2.80, -1.60, 0.60, 0.425},
		"over the floor":  {2.50, -1.55, 0.60, 0.025},
		"over a cube":     {2.80, -1.45, 0.60, 0.475},
		"beside the edge": {2.64, -1.60, 0.60, 0.025},
	} {
		h := at(t, "table", physics.Options{})
		thing := h.object("blue cube").Object
		thing.X, thing.Y, thing.Z = c.x, c.y, c.z
		h.must(h.PutObject(thing))
		h.wait(50 * time.Millisecond)
		if !h.object("blue cube").Falling {
			t.Errorf("%s: it hangs in the air", name)
		}
		h.wait(time.Second)
		if got := h.object("blue cube"); math.Abs(got.Z-c.want) > 1e-9 || got.Falling {
			t.Errorf("%s: it lies at %.3f m, want %.3f m", name, got.Z, c.want)
		}
	}
}

func TestAnObjectIsMovedAndTakenAwayByHand(t *testing.T) {
	h := at(t, "table", physics.Options{})
	cube := h.object("red cube")
	h.must(h.to(cube.X, cube.Y, cube.Z+0.1))
	h.must(h.to(cube.X, cube.Y, cube.Z))
	h.grip(0)
	to := cube.Object
	to.X, to.Y = 1.4, 2.0
	h.must(h.PutObject(to))
	h.wait(time.Second)
	if got := h.object("red cube"); got.Held || got.X != 1.4 || h.Truth().Held != "" || h.Truth().Width != 0 {
		t.Errorf("out of the fingers it is %+v, the opening is %.3f m", got, h.Truth().Width)
	}
	h.must(h.TakeObject("red cube"))
	h.wait(time.Second)
	if !h.object("red cube").Gone {
		t.Error("it is still there")
	}
	if err := h.TakeObject("teapot"); err == nil {
		t.Error("a teapot was taken")
	}
	for _, bad := range []world.Object{
		{Name: "red cube", Size: 0.05, X: 2.80, Y: -1.6, Z: 0.2},
		{Name: "red cube", Size: 0.05, X: 9, Z: 1},
		{Name: "red cube", Size: 0.05, X: math.NaN(), Z: 1},
		{Name: "red cube", Size: 0.05, X: 1, Z: -1},
		{Name: "teapot", Size: 0.05, X: 1, Z: 1},
	} {
		if err := h.PutObject(bad); err == nil {
			t.Errorf("put at %+v", bad)
		}
	}
	h.must(h.PutObject(to))
	if h.object("red cube").Gone {
		t.Error("put back it is still gone")
	}
}

func TestFurnitureHoldsTheArm(t *testing.T) {
	h := at(t, "table", physics.Options{})
	h.must(h.to(2.75, -1.6, 0.5))
	err := h.to(2.75, -1.6, 0.3) // into the table
	if code := codeOf(err); code != arm.PathToleranceViolated {
		t.Errorf("into the table: %v", err)
	}
	low := h.World().Body.Index("left_finger")
	if !h.Truth().ArmContact && low < 0 {
		t.Error("nothing was touched")
	}
	h.wait(time.Second)
	if h.Truth().ArmVelocity != (arm.Values{}) {
		t.Error("it moves on")
	}
	h.must(h.to(2.75, -1.6, 0.5))
	if h.Truth().ArmContact {
		t.Error("the contact stays")
	}
}

func codeOf(err error) arm.Code {
	if e := (*arm.Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return arm.Successful
}

func TestTheArmDoesNotPassThroughTheRobot(t *testing.T) {
	h := armed(t, physics.Options{})
	q := h.World().Arm.Carry
	q[1], q[2], q[3] = 0.4, 1.2, -1.5 // down into the base
	if err := h.follow(armtest.Move(h.World(), h.Truth().Arm, q)); codeOf(err) != arm.PathToleranceViolated {
		t.Errorf("into the base: %v", err)
	}
}

// An arm that sticks out holds the base where it bumps into something, forward and turning.
func TestTheArmsReachHoldsTheBase(t *testing.T) {
	start := world.Pose{X: 2.0, Y: -1.6}
	h := armed(t, physics.Options{Start: &start})
	h.must(h.to(2.5, -1.6, 0.30))
	drive(h.Sim, world.Twist{Linear: 0.3}, 2*time.Second)
	if now := h.Truth(); !now.Contact || now.Pose.X > 2.3 {
		t.Errorf("with the arm out it drives to %+v, contact %v", now.Pose, now.Contact)
	}
	h.must(h.Teleport(world.Pose{X: 2.4, Y: -0.9, Yaw: 0}))
	drive(h.Sim, world.Twist{Angular: -0.8}, 3*time.Second)
	if now := h.Truth(); !now.Contact || now.Pose.Yaw < -1.2 {
		t.Errorf("with the arm out it turns to %+v, contact %v", now.Pose, now.Contact)
	}
}

// Whatever is asked of the drives, they keep to the joints' limits and stop.
func TestJointsKeepTheirLimits(t *testing.T) {
	w := world.Default()
	rapid.Check(t, func(t *rapid.T) {
		s, err := physics.New(physics.Options{Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil {
			t.Fatal(err)
		}
		value := rapid.OneOf(rapid.Float64Range(-4, 4), rapid.SampledFrom([]float64{0, 1e9, math.NaN(), math.Inf(1)}))
		before := s.Truth()
		check := func() {
			now := s.Truth()
			for j, l := range w.Arm.Limits {
				q, v := now.Arm[j], now.ArmVelocity[j]
				change := math.Abs(v - before.ArmVelocity[j])
				atStop := q == l.Lower || q == l.Upper
				switch {
				case !(q >= l.Lower && q <= l.Upper):
					t.Fatalf("joint %d is at %v", j, q)
				case !(math.Abs(v) <= l.Velocity+1e-9):
					t.Fatalf("joint %d moves with %v rad/s", j, v)
				case change > l.Acceleration*dt+1e-9 && !atStop && !now.ArmContact:
					t.Fatalf("joint %d changes by %v rad/s^2", j, change/dt)
				}
			}
			before = now
		}
		for range rapid.IntRange(1, 20).Draw(t, "commands") {
			var p arm.Setpoint
			for j := range p.Positions {
				p.Positions[j], p.Velocities[j] = value.Draw(t, "position"), value.Draw(t, "velocity")
			}
			for range rapid.IntRange(1, 60).Draw(t, "steps") {
				s.CommandArm(p)
				s.Step()
				check()
			}
		}
		s.HoldArm()
		for range 60 {
			s.Step()
			check()
		}
		if v := s.Truth().ArmVelocity; v != (arm.Values{}) {
			t.Fatalf("held, it moves with %v", v)
		}
	})
}

func TestTheArmFollowsALittleLateAndArrives(t *testing.T) {
	h := armed(t, physics.Options{Seed: 4})
	to := h.World().Arm.Carry
	to[0], to[1] = 1.0, -1.7
	points := armtest.Move(h.World(), h.Truth().Arm, to)
	names := h.World().Arm.Names
	m := h.Arm()
	tr, err := arm.NewTrajectory(names, arm.Setpoint{Positions: m.Positions}, points, 0)
	h.must(err)
	worst, lag := 0.0, 0.0
	for now := 0.0; now < points[0].Time+0.5; now += dt {
		want := tr.At(now)
		h.CommandArm(want)
		h.Step()
		worst = max(worst, math.Abs(want.Positions[0]-h.Truth().Arm[0]))
		lag = max(lag, want.Positions[0]-h.Truth().Arm[0])
	}
	if worst > 0.03 || lag < 0.005 {
		t.Errorf("off by %.4f rad, behind by %.4f rad", worst, lag)
	}
	for j := range to {
		if d := math.Abs(h.Truth().Arm[j] - to[j]); d > 1e-4 {
			t.Errorf("%s ends %.5f rad off", names[j], d)
		}
	}
}

func TestEncodersAreNearlyExact(t *testing.T) {
	h := armed(t, physics.Options{Seed: 9})
	values := map[float64]bool{}
	for range 200 {
		h.Step()
		m := h.Arm()
		for j := range m.Positions {
			if d := math.Abs(m.Positions[j] - h.Truth().Arm[j]); d > 1e-4 || math.Abs(m.Velocities[j]) > 0.003 {
				t.Fatalf("joint %d is off by %v rad and says %v rad/s at rest", j, d, m.Velocities[j])
			}
		}
		values[m.Positions[0]] = true
	}
	if len(values) < 100 {
		t.Error("at rest its values are frozen")
	}
}

func TestStopsHoldArmAndGripper(t *testing.T) {
	to := world.Default().Arm.Carry
	to[0] = 2.5
	h := armed(t, physics.Options{})
	points := armtest.Move(h.World(), h.Truth().Arm, to)
	m := h.Arm()
	tr, err := arm.NewTrajectory(h.World().Arm.Names, arm.Setpoint{Positions: m.Positions}, points, 0)
	h.must(err)
	h.CommandGripper(0, 10)
	for now := 0.0; now < 1.0; now += dt {
		if now > 0.5 {
			h.SetFaults(physics.Faults{EmergencyStop: true})
		}
		h.CommandArm(tr.At(now))
		h.Step()
	}
	width := h.Truth().Width
	h.wait(500 * time.Millisecond)
	if now := h.Truth(); now.ArmVelocity != (arm.Values{}) || now.Width != width || width < 0.01 {
		t.Errorf("after an emergency stop: %+v", now)
	}
	h.SetFaults(physics.Faults{})
	h.wait(time.Second)
	if now := h.Truth(); now.ArmVelocity != (arm.Values{}) || now.Width != width {
		t.Error("it goes on by itself")
	}
}
