package world_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"agent_node/sim/world"
)

var (
	number  = rapid.Float64Range(-1, 1)
	vectors = rapid.Custom(func(t *rapid.T) world.Vec {
		return world.Vec{X: number.Draw(t, "x"), Y: number.Draw(t, "y"), Z: number.Draw(t, "z")}
	})
	rods = rapid.Custom(func(t *rapid.T) world.Rod {
		return world.Rod{A: vectors.Draw(t, "a"), B: vectors.Draw(t, "b"), Radius: rapid.Float64Range(0, 0.2).Draw(t, "radius")}
	})
	rotations = rapid.Custom(func(t *rapid.T) world.Rotation {
		a := rapid.Float64Range(-4, 4)
		return world.RPY(a.Draw(t, "roll"), a.Draw(t, "pitch"), a.Draw(t, "yaw"))
	})
)

// along is a point of a rod's line.
func along(r world.Rod, f float64) world.Vec { return r.A.Add(r.B.Sub(r.A).Scale(f)) }

func TestRodsAreAsFarApartAsTheirNearestPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, s := rods.Draw(t, "r"), rods.Draw(t, "s")
		const n = 60
		tried := math.Inf(1)
		for i := range n + 1 {
			for j := range n + 1 {
				tried = min(tried, along(r, float64(i)/n).Sub(along(s, float64(j)/n)).Norm())
			}
		}
		tried -= r.Radius + s.Radius
		step := (r.B.Sub(r.A).Norm() + s.B.Sub(s.A).Norm()) / n
		// Of rods all but parallel, at an angle of 1e-8, it is good to about as much.
		const exact = 1e-7
		if d := r.Distance(s); d > tried+exact || d < tried-step || math.Abs(d-s.Distance(r)) > exact {
			t.Fatalf("%v apart, other way round %v, by trying %v", d, s.Distance(r), tried)
		}
	})
}

func TestDepthInAnObstacle(t *testing.T) {
	o := world.Obstacle{Box: world.Box{MinX: -0.3, MinY: -0.2, MaxX: 0.4, MaxY: 0.5}, Height: 0.4}
	outside := func(p world.Vec) float64 { return math.Hypot(o.Box.Distance(p.X, p.Y), max(p.Z-o.Height, 0)) }
	rapid.Check(t, func(t *rapid.T) {
		r := rods.Draw(t, "rod")
		tried := math.Inf(1)
		for i := range 501 {
			tried = min(tried, outside(along(r, float64(i)/500)))
		}
		want := max(0, r.Radius-tried)
		length := r.B.Sub(r.A).Norm()
		if d := o.Depth(r); d < want-1e-5*length || d > want+length/500 {
			t.Fatalf("%v deep, by trying %v", d, want)
		}
	})
}

func TestObstaclesHideWhatIsBehindThem(t *testing.T) {
	o := world.Obstacle{Box: world.Box{MinX: -0.3, MinY: -0.2, MaxX: 0.4, MaxY: 0.5}, Height: 0.4}
	rapid.Check(t, func(t *rapid.T) {
		r := rods.Draw(t, "sight")
		crossed := false
		for i := range 2001 {
			p := along(r, float64(i)/2000)
			crossed = crossed || o.Box.Contains(p.X, p.Y) && p.Z >= 0 && p.Z <= o.Height
		}
		// By trying points, one that only scrapes a corner may be missed.
		if hides := o.Hides(r.A, r.B); crossed && !hides {
			t.Fatal("it is seen through the obstacle")
		} else if hides && !crossed && o.Depth(world.Rod{A: r.A, B: r.B, Radius: 0.01}) == 0 && min(r.A.Z, r.B.Z) > 0 {
			t.Fatal("nothing is in the way")
		}
	})
}

// The core of a solid lies within it: what touches the core touches the solid.
func TestCoresLieWithinTheirSolids(t *testing.T) {
	w := world.Default()
	for _, l := range w.Body {
		for _, s := range l.Solids {
			c := s.Core()
			if c.Radius <= 0 {
				t.Errorf("%s: the core of %+v is nothing", l.Name, s)
			}
			for i := range 11 {
				p := along(c, float64(i)/10)
				if room := inside(s, p); room < c.Radius-1e-9 {
					t.Errorf("%s: %v m to the surface, the core's radius is %v m", l.Name, room, c.Radius)
				}
			}
		}
	}
}

// inside is how far a point within a solid is from its surface.
func inside(s world.Solid, p world.Vec) float64 {
	if s.Kind == world.Cuboid {
		a, b := p.Sub(s.A), s.B.Sub(p)
		return min(a.X, a.Y, a.Z, b.X, b.Y, b.Z)
	}
	axis := s.B.Sub(s.A)
	long := axis.Norm()
	if long == 0 {
		return s.Radius - p.Sub(s.A).Norm()
	}
	at := p.Sub(s.A).Dot(axis) / long
	off := p.Sub(s.A).Sub(axis.Scale(at / long)).Norm()
	if s.Kind == world.Cylinder {
		return min(s.Radius-off, at, long-at)
	}
	return s.Radius - math.Hypot(off, max(-at, 0, at-long))
}

func TestRotationsAndTransforms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, v := rotations.Draw(t, "r"), vectors.Draw(t, "v")
		x, y, z, w := r.Quaternion()
		if n := x*x + y*y + z*z + w*w; math.Abs(n-1) > 1e-12 || w < 0 {
			t.Fatalf("the quaternion's norm is %v, w is %v", n, w)
		}
		axis := world.Vec{X: x, Y: y, Z: z}
		if s := axis.Norm(); s > 1e-6 {
			back := world.About(axis.Scale(1/s), 2*math.Atan2(s, w))
			if d := back.Apply(v).Sub(r.Apply(v)).Norm(); d > 1e-9 {
				t.Fatalf("the quaternion turns %v m elsewhere", d)
			}
		}
		a := world.Transform{R: r, P: vectors.Draw(t, "p")}
		b := world.Transform{R: rotations.Draw(t, "s"), P: vectors.Draw(t, "q")}
		if d := a.Mul(b).Apply(v).Sub(a.Apply(b.Apply(v))).Norm(); d > 1e-12 {
			t.Fatalf("one after the other: %v m off", d)
		}
		if d := a.Inverse().Apply(a.Apply(v)).Sub(v).Norm(); d > 1e-12 {
			t.Fatalf("there and back: %v m off", d)
		}
	})
}

func TestCarryPoseIsWithinTheFootprint(t *testing.T) {
	w := world.Default()
	frames := w.Body.Frames(w.Positions(world.Posture{Arm: w.Arm.Carry, Width: w.Gripper.Open}))
	for i, l := range w.Body {
		for _, s := range l.Solids {
			for _, p := range corners(s) {
				at := frames[i].Apply(p)
				r := math.Hypot(at.X, at.Y)
				if s.Kind == world.Capsule {
					r += s.Radius
				}
				if r > w.Robot.Radius+1e-9 {
					t.Errorf("%s sticks out by %.3f m", l.Name, r-w.Robot.Radius)
				}
			}
		}
	}
	tool := frames[w.Body.Index("tool0")]
	if tool.R.Column(2).Z > -0.999999 {
		t.Error("the tool does not point down")
	}
	for j, l := range w.Arm.Limits {
		if q := w.Arm.Carry[j]; q <= l.Lower || q >= l.Upper {
			t.Errorf("%s is at %v, beyond its limits", w.Arm.Names[j], q)
		}
	}
}

// corners are points of a solid's surface that reach out farthest; of a capsule the ends of its line.
func corners(s world.Solid) (out []world.Vec) {
	switch s.Kind {
	case world.Cuboid:
		for _, x := range []float64{s.A.X, s.B.X} {
			for _, y := range []float64{s.A.Y, s.B.Y} {
				for _, z := range []float64{s.A.Z, s.B.Z} {
					out = append(out, world.Vec{X: x, Y: y, Z: z})
				}
			}
		}
	case world.Cylinder:
		axis := s.B.Sub(s.A).Scale(1 / s.B.Sub(s.A).Norm())
		side := axis.Cross(world.Vec{X: axis.Y, Y: axis.Z, Z: axis.X})
		side = side.Scale(s.Radius / side.Norm())
		for i := range 64 {
			rim := world.About(axis, 2*math.Pi*float64(i)/64).Apply(side)
			out = append(out, s.A.Add(rim), s.B.Add(rim))
		}
	default:
		out = []world.Vec{s.A, s.B}
	}
	return out
}

func TestRandomWorldsAreFair(t *testing.T) {
	w := world.Default()
	used := map[string]bool{}
	for seed := range uint64(200) {
		p := w.RandomPose(rand.New(rand.NewPCG(seed, 1)))
		if room := min(w.Clearance(p.X, p.Y), w.ZoneDistance(p.X, p.Y)) - w.Robot.Radius; room < 0.15 || !p.Finite() {
			t.Fatalf("seed %d: %.3f m around the robot", seed, room)
		}
		s := w.Scatter(rand.New(rand.NewPCG(seed, 2)))
		for i, o := range s.Objects {
			if err := s.Room(o); err != nil {
				t.Fatal(err)
			}
			lies := ""
			for _, place := range s.Places {
				if place.Surface.Reach.Contains(o.X, o.Y) && math.Abs(o.Z-o.Size/2-place.Surface.Height) < 1e-9 {
					lies = place.Name
				}
			}
			if lies == "" {
				t.Fatalf("seed %d: the %s lies out of reach", seed, o.Name)
			}
			used[o.Name+" "+lies] = true
			for _, other := range s.Objects[:i] {
				if math.Hypot(o.X-other.X, o.Y-other.Y) < 0.12 {
					t.Fatalf("seed %d: %s and %s touch", seed, o.Name, other.Name)
				}
			}
		}
	}
	if len(used) != len(w.Objects)*len(w.Places) {
		t.Errorf("in 200 worlds only %d of the %d combinations", len(used), len(w.Objects)*len(w.Places))
	}
	if w.Objects[0] != world.Default().Objects[0] {
		t.Error("the world itself was changed")
	}
}
