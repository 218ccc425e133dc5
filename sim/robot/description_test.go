package robot_test

import (
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"agent_node/sim/robot"
	"agent_node/sim/world"
)

// urdfText is the description as another program reads it.
type urdfText struct {
	Links  []urdfLink  `xml:"link"`
	Joints []urdfJoint `xml:"joint"`
}

type urdfLink struct {
	Name     string `xml:"name,attr"`
	Inertial *struct {
		Mass struct {
			Value float64 `xml:"value,attr"`
		} `xml:"mass"`
		Inertia struct {
			XX float64 `xml:"ixx,attr"`
			YY float64 `xml:"iyy,attr"`
			ZZ float64 `xml:"izz,attr"`
		} `xml:"inertia"`
	} `xml:"inertial"`
	Visual    []struct{} `xml:"visual"`
	Collision []struct{} `xml:"collision"`
}

type urdfJoint struct {
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
	Limit *struct {
		Lower    float64 `xml:"lower,attr"`
		Upper    float64 `xml:"upper,attr"`
		Effort   float64 `xml:"effort,attr"`
		Velocity float64 `xml:"velocity,attr"`
	} `xml:"limit"`
	Mimic *struct {
		Joint      string  `xml:"joint,attr"`
		Multiplier float64 `xml:"multiplier,attr"`
	} `xml:"mimic"`
}

func description(t *testing.T) (*world.World, urdfText) {
	t.Helper()
	w := world.Default()
	text, err := robot.Description(w)
	if err != nil {
		t.Fatal(err)
	}
	var u urdfText
	if err := xml.Unmarshal([]byte(text), &u); err != nil {
		t.Fatal(err)
	}
	return w, u
}

func TestDescriptionIsAWholeURDF(t *testing.T) {
	w, u := description(t)
	joints := map[string]urdfJoint{}
	seen := map[string]bool{"base_link": true}
	for _, j := range u.Joints {
		if _, twice := joints[j.Name]; twice || seen[j.Child.Link] || !seen[j.Parent.Link] {
			t.Errorf("%s ties %s to %s: no tree", j.Name, j.Child.Link, j.Parent.Link)
		}
		joints[j.Name], seen[j.Child.Link] = j, true
	}
	for _, l := range u.Links {
		if !seen[l.Name] {
			t.Errorf("%s hangs on nothing", l.Name)
		}
		if l.Name == "tool0" {
			continue // a frame and nothing else
		}
		if l.Inertial == nil || len(l.Collision) == 0 || len(l.Visual) == 0 {
			t.Errorf("%s: no inertia or no shape", l.Name)
			continue
		}
		m, i := l.Inertial.Mass.Value, l.Inertial.Inertia
		if m <= 0 || i.XX <= 0 || i.XX+i.YY < i.ZZ || i.YY+i.ZZ < i.XX || i.ZZ+i.XX < i.YY {
			t.Errorf("%s: no body has the mass %v and the moments %+v", l.Name, m, i)
		}
	}
	if len(u.Links) != len(w.Body) || len(u.Joints) != len(w.Body)-1 {
		t.Errorf("%d links and %d joints, the body has %d", len(u.Links), len(u.Joints), len(w.Body))
	}
	for i, name := range w.Arm.Names {
		j, l := joints[name], w.Arm.Limits[i]
		if j.Type != "revolute" || j.Limit == nil || j.Limit.Lower != l.Lower || j.Limit.Upper != l.Upper || j.Limit.Velocity != l.Velocity || j.Limit.Effort <= 0 {
			t.Errorf("%s: %+v, its limits are %+v", name, j.Limit, l)
		}
	}
	if f := joints["finger_joint"]; f.Type != "prismatic" || f.Limit.Lower != 0 || f.Limit.Upper != 0.08 {
		t.Errorf("the finger is %+v", f)
	}
	if f := joints["right_finger_joint"]; f.Mimic == nil || f.Mimic.Joint != "finger_joint" || f.Mimic.Multiplier != 0.5 {
		t.Errorf("the other finger is %+v", f)
	}
}

// What the text says and what the simulation reckons with are the same, in any pose.
func TestDescriptionAgreesWithTheSimulationsKinematics(t *testing.T) {
	w, u := description(t)
	random := rand.New(rand.NewPCG(1, 2))
	vec := func(text string) (v world.Vec) {
		if text != "" {
			if _, err := fmt.Sscan(text, &v.X, &v.Y, &v.Z); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
		return v
	}
	for range 50 {
		q := world.Positions{"finger_joint": 0.08 * random.Float64()}
		for _, name := range w.Arm.Names {
			q[name] = 6 * (random.Float64() - 0.5)
		}
		frames := map[string]world.Transform{"base_link": world.Identity()}
		for _, j := range u.Joints {
			rpy, axis, at := vec(j.Origin.RPY), vec(j.Axis.XYZ), q[j.Name]
			if j.Mimic != nil {
				at = j.Mimic.Multiplier * q[j.Mimic.Joint]
			}
			x := world.Transform{R: world.RPY(rpy.X, rpy.Y, rpy.Z), P: vec(j.Origin.XYZ)}
			if j.Type == "prismatic" {
				x = x.Mul(world.Transform{R: world.Identity().R, P: axis.Scale(at)})
			} else if j.Type != "fixed" {
				x = x.Mul(world.Transform{R: world.About(axis, at)})
			}
			frames[j.Child.Link] = frames[j.Parent.Link].Mul(x)
		}
		for i, f := range w.Body.Frames(q) {
			other := frames[w.Body[i].Name]
			if d := f.P.Sub(other.P).Norm(); d > 1e-9 || math.Abs(f.R[0][0]-other.R[0][0])+math.Abs(f.R[1][2]-other.R[1][2]) > 1e-9 {
				t.Fatalf("%s: %.2g m apart", w.Body[i].Name, d)
			}
		}
	}
}
