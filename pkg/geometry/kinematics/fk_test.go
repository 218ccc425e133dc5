package kinematics_test

import (
	"encoding/xml"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"
)

// independent computes with matrices, from the file: nothing of what it is compared with is used.
type independent struct {
	Joints []struct {
		Name   string `xml:"name,attr"`
		Type   string `xml:"type,attr"`
		Parent struct {
			Link string `xml:"link,attr"`
		} `xml:"parent"`
		Child struct {
			Link string `xml:"link,attr"`
		} `xml:"child"`
		Origin struct {
			XYZ string `xml:"xyz,attr"`
			RPY string `xml:"rpy,attr"`
		} `xml:"origin"`
		Axis struct {
			XYZ string `xml:"xyz,attr"`
		} `xml:"axis"`
		Mimic *struct {
			Joint      string  `xml:"joint,attr"`
			Multiplier float64 `xml:"multiplier,attr"`
		} `xml:"mimic"`
	} `xml:"joint"`
}

func readIndependent(t testing.TB, file string) independent {
	t.Helper()
	data, err := os.ReadFile("../testdata/" + file + ".urdf")
	if err != nil {
		t.Fatal(err)
	}
	var r independent
	if err := xml.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func three(s string, def [3]float64) [3]float64 {
	for i, f := range strings.Fields(s) {
		def[i], _ = strconv.ParseFloat(f, 64)
	}
	return def
}

// turn is Rodrigues' formula as a homogeneous matrix.
func turn(axis [3]float64, angle float64) *mat.Dense {
	n := math.Sqrt(axis[0]*axis[0] + axis[1]*axis[1] + axis[2]*axis[2])
	k := mat.NewDense(3, 3, []float64{0, -axis[2] / n, axis[1] / n, axis[2] / n, 0, -axis[0] / n, -axis[1] / n, axis[0] / n, 0})
	var k2 mat.Dense
	k2.Mul(k, k)
	out := mat.NewDense(4, 4, nil)
	for i := range 3 {
		for j := range 3 {
			one := 0.0
			if i == j {
				one = 1
			}
			out.Set(i, j, one+math.Sin(angle)*k.At(i, j)+(1-math.Cos(angle))*k2.At(i, j))
		}
	}
	out.Set(3, 3, 1)
	return out
}

func shift(v [3]float64, by float64) *mat.Dense {
	return mat.NewDense(4, 4, []float64{1, 0, 0, by * v[0], 0, 1, 0, by * v[1], 0, 0, 1, by * v[2], 0, 0, 0, 1})
}

func product(m ...*mat.Dense) *mat.Dense {
	out := m[0]
	for _, n := range m[1:] {
		var p mat.Dense
		p.Mul(out, n)
		out = &p
	}
	return out
}

// pose of a link in a base link's frame, for positions by name.
func (r independent) pose(base, link string, q map[string]float64) *mat.Dense {
	if link == base {
		return shift([3]float64{}, 0)
	}
	for _, j := range r.Joints {
		if j.Child.Link != link {
			continue
		}
		rpy := three(j.Origin.RPY, [3]float64{})
		m := product(r.pose(base, j.Parent.Link, q), shift(three(j.Origin.XYZ, [3]float64{}), 1),
			turn([3]float64{2: 1}, rpy[2]), turn([3]float64{1: 1}, rpy[1]), turn([3]float64{1}, rpy[0]))
		v := q[j.Name]
		if j.Mimic != nil {
			v = j.Mimic.Multiplier * q[j.Mimic.Joint]
		}
		axis := three(j.Axis.XYZ, [3]float64{1})
		switch j.Type {
		case "revolute", "continuous":
			m = product(m, turn(axis, v))
		case "prismatic":
			m = product(m, shift(axis, v))
		}
		return m
	}
	panic("no link " + link)
}

// differs is the largest difference of a transform's matrix from another one.
func differs(t spatial.Transform, m *mat.Dense) float64 {
	d := 0.0
	for k, e := range [4]r3.Vec{{X: 1}, {Y: 1}, {Z: 1}, {}} {
		v := t.Translation
		if k < 3 {
			v = spatial.Rotate(t.Rotation, e)
		}
		d = max(d, math.Abs(v.X-m.At(0, k)), math.Abs(v.Y-m.At(1, k)), math.Abs(v.Z-m.At(2, k)))
	}
	return d
}

func TestForwardKinematicsAgreesWithMatrices(t *testing.T) {
	for _, a := range arms {
		c, ref := chain(t, a.file, a.base, a.tip), readIndependent(t, a.file)
		r := rand.New(rand.NewPCG(1, 1))
		for range 500 {
			q := anywhere(r, c.Joints())
			by := map[string]float64{}
			for i, n := range c.Names() {
				by[n] = q[i]
			}
			got, err := c.FK(q)
			if err != nil {
				t.Fatal(err)
			}
			if d := differs(got, ref.pose(a.base, a.tip, by)); d > 1e-12 {
				t.Fatalf("%s at %v is off by %g", a.file, q, d)
			}
			poses, err := c.Poses(nil, q)
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range c.Links() {
				if d := differs(poses[i], ref.pose(a.base, l, by)); d > 1e-12 {
					t.Fatalf("%s: %s at %v is off by %g", a.file, l, q, d)
				}
			}
		}
	}
}

func TestTreeAgreesWithMatrices(t *testing.T) {
	m, ref := model(t, "sim_robot"), readIndependent(t, "sim_robot")
	joints := []string{"elbow_joint", "finger_joint", "shoulder_pan_joint"} // in an order of their own
	rest := map[string]float64{"wrist_1_joint": 0.3, "left_wheel_joint": -2, "shoulder_lift_joint": -1}
	tree, err := kinematics.NewTree(m, joints, rest)
	if err != nil {
		t.Fatal(err)
	}
	if f := tree.Joints()[1]; f.Upper != 0.08 || !f.Prismatic { // the mimic's bounds agree
		t.Errorf("%+v", f)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var poses []spatial.Transform
	for range 200 {
		q := anywhere(r, tree.Joints())
		by := map[string]float64{}
		for n, v := range rest {
			by[n] = v
		}
		for i, n := range joints {
			by[n] = q[i]
		}
		if poses, err = tree.Poses(poses, q); err != nil {
			t.Fatal(err)
		}
		for _, l := range m.Links {
			frame, in, ok := tree.Link(l.Name)
			if !ok {
				t.Fatal(l.Name)
			}
			if d := differs(poses[frame].Compose(in), ref.pose("base_link", l.Name, by)); d > 1e-12 {
				t.Fatalf("%s at %v is off by %g", l.Name, q, d)
			}
		}
	}
	if _, _, ok := tree.Link("moon"); ok {
		t.Error("the moon is there")
	}
}

func TestJacobianIsTheDerivative(t *testing.T) {
	for _, a := range arms {
		c := chain(t, a.file, a.base, a.tip)
		n := len(c.Joints())
		var jac mat.Dense
		rapid.Check(t, func(t *rapid.T) {
			q := anywhere(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), c.Joints())
			if err := c.Jacobian(&jac, q); err != nil {
				t.Fatal(err)
			}
			const h = 1e-6
			for k := range n {
				lo, hi := append([]float64(nil), q...), append([]float64(nil), q...)
				lo[k], hi[k] = q[k]-h, q[k]+h
				x, err1 := c.FK(lo)
				y, err2 := c.FK(hi)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				v := r3.Scale(1/(2*h), r3.Sub(y.Translation, x.Translation))
				w := r3.Scale(1/(2*h), spatial.RotationVector(quat.Mul(y.Rotation, quat.Conj(x.Rotation))))
				for row, want := range []float64{v.X, v.Y, v.Z, w.X, w.Y, w.Z} {
					if math.Abs(jac.At(row, k)-want) > 1e-8 {
						t.Fatalf("%s: row %d, joint %d: %g, by differences %g", a.file, row, k, jac.At(row, k), want)
					}
				}
			}
		})
	}
}

func TestMimicsMoveAChainWithTheirSource(t *testing.T) {
	c := chain(t, "sim_robot", "gripper_link", "left_finger")
	if n := c.Names(); len(n) != 1 || n[0] != "finger_joint" {
		t.Fatal(n)
	}
	var jac mat.Dense
	if err := c.Jacobian(&jac, []float64{0.02}); err != nil || math.Abs(jac.At(1, 0)-0.5) > 1e-12 {
		t.Errorf("%v, %v: the left finger goes half of the opening's way", mat.Formatted(&jac), err)
	}
	closed, _ := c.FK([]float64{0})
	open, _ := c.FK([]float64{0.08})
	if d := open.Translation.Y - closed.Translation.Y; math.Abs(d-0.04) > 1e-12 {
		t.Errorf("goes %g m", d)
	}
}

func TestModelsThatMakeNoChain(t *testing.T) {
	m := model(t, "sim_robot")
	for _, ends := range [][2]string{{"moon", "tool0"}, {"base_link", "moon"}, {"tool0", "base_link"}, {"left_wheel", "tool0"}, {"base_link", "base_link"}, {"gripper_link", "tool0"}} {
		if c, err := kinematics.NewChain(m, ends[0], ends[1]); c != nil || !errors.Is(err, kinematics.ErrModel) {
			t.Errorf("%v: %v", ends, err)
		}
	}
	if _, err := kinematics.NewChain(nil, "a", "b"); !errors.Is(err, kinematics.ErrModel) {
		t.Error(err)
	}
	for _, tc := range []struct {
		joints []string
		rest   map[string]float64
	}{
		{[]string{"moon"}, nil},
		{[]string{"elbow_joint", "elbow_joint"}, nil},
		{[]string{"tool0_joint"}, nil},
		{[]string{"right_finger_joint"}, nil},
		{nil, map[string]float64{"moon": 1}},
		{[]string{"elbow_joint"}, map[string]float64{"elbow_joint": 1}},
		{nil, map[string]float64{"tool0_joint": 1}},
		{nil, map[string]float64{"right_finger_joint": 0.01}},
		{nil, map[string]float64{"elbow_joint": math.NaN()}},
	} {
		if tree, err := kinematics.NewTree(m, tc.joints, tc.rest); err == nil || !errors.Is(err, kinematics.ErrModel) {
			t.Errorf("%+v: %v, %v", tc, tree, err)
		}
	}
	if _, err := kinematics.NewTree(nil, nil, nil); !errors.Is(err, kinematics.ErrModel) {
		t.Error(err)
	}
}

func TestPositionsThatAreNone(t *testing.T) {
	c := chain(t, "sim_robot", "base_link", "tool0")
	for _, q := range [][]float64{nil, {1}, make([]float64, 7), {0, 0, math.NaN(), 0, 0, 0}, {0, 0, 0, 0, 0, math.Inf(-1)}} {
		var e *kinematics.PositionsError
		if _, err := c.FK(q); !errors.As(err, &e) || err.Error() == "" {
			t.Errorf("%v: %v", q, err)
		}
		if _, err := c.Poses(nil, q); !errors.As(err, &e) {
			t.Errorf("%v: %v", q, err)
		}
		if err := c.Jacobian(&mat.Dense{}, q); !errors.As(err, &e) {
			t.Errorf("%v: %v", q, err)
		}
		if _, err := c.IK(spatial.Identity(), q, kinematics.Options{}); q != nil && !errors.As(err, &e) {
			t.Errorf("%v: %v", q, err)
		}
	}
	if err := c.Jacobian(mat.NewDense(6, 7, nil), make([]float64, 6)); !errors.Is(err, kinematics.ErrOptions) {
		t.Error(err)
	}
}

func TestForwardKinematicsAllocatesNothing(t *testing.T) {
	c := chain(t, "sim_robot", "base_link", "tool0")
	q := []float64{0.1, -1, 1, 0.2, 0.3, 0.4}
	var jac mat.Dense
	poses, err := c.Poses(nil, q)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		_, _ = c.FK(q)
		_ = c.Jacobian(&jac, q)
		poses, _ = c.Poses(poses, q)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkForward(b *testing.B) {
	for _, a := range arms {
		c := chain(b, a.file, a.base, a.tip)
		q := anywhere(rand.New(rand.NewPCG(1, 1)), c.Joints())
		var jac mat.Dense
		b.Run("fk/"+a.file, func(b *testing.B) {
			for b.Loop() {
				_, _ = c.FK(q)
			}
		})
		b.Run("jacobian/"+a.file, func(b *testing.B) {
			for b.Loop() {
				_ = c.Jacobian(&jac, q)
			}
		})
	}
}
