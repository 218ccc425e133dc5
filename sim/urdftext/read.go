package urdftext

import (
	"encoding/xml"
	"errors"
	"fmt"
)

// ErrTree says that links and joints are no tree.
var ErrTree = errors.New("urdftext: links and joints are no tree")

// Robot is what a file says: links and joints in the order in which they stand.
type Robot struct {
	Name      string     `xml:"name,attr"`
	Materials []Material `xml:"material"`
	Links     []Link     `xml:"link"`
	Joints    []Joint    `xml:"joint"`
}

// Material is a colour by its name.
type Material struct {
	Name  string `xml:"name,attr"`
	Color struct {
		RGBA string `xml:"rgba,attr"`
	} `xml:"color"`
}

// Link is a part of the robot.
type Link struct {
	Name       string    `xml:"name,attr"`
	Inertial   *Inertial `xml:"inertial"` // nil: a frame without a body
	Visuals    []Shape   `xml:"visual"`
	Collisions []Shape   `xml:"collision"`
}

// Origin is a pose in a link's frame: m, and roll, pitch, yaw about the fixed axes, rad.
type Origin struct {
	XYZ string `xml:"xyz,attr"`
	RPY string `xml:"rpy,attr"`
}

// Inertial is a mass in kg, its centre, and the tensor about that centre, kg m^2.
type Inertial struct {
	Origin Origin `xml:"origin"`
	Mass   struct {
		Value string `xml:"value,attr"`
	} `xml:"mass"`
	Inertia struct {
		XX string `xml:"ixx,attr"`
		XY string `xml:"ixy,attr"`
		XZ string `xml:"ixz,attr"`
		YY string `xml:"iyy,attr"`
		YZ string `xml:"iyz,attr"`
		ZZ string `xml:"izz,attr"`
	} `xml:"inertia"`
}

// Shape is a box, a cylinder along z, or a sphere, in a link's frame.
type Shape struct {
	Origin   Origin `xml:"origin"`
	Geometry struct {
		Box *struct {
			Size string `xml:"size,attr"` // m, whole lengths
		} `xml:"box"`
		Cylinder *struct {
			Radius string `xml:"radius,attr"` // m
			Length string `xml:"length,attr"` // m
		} `xml:"cylinder"`
		Sphere *struct {
			Radius string `xml:"radius,attr"` // m
		} `xml:"sphere"`
	} `xml:"geometry"`
	Material struct {
		Name string `xml:"name,attr"`
	} `xml:"material"`
}

// Joint ties a link to its parent.
type Joint struct {
	Name   string `xml:"name,attr"`
	Type   string `xml:"type,attr"` // fixed, revolute, continuous or prismatic
	Parent struct {
		Link string `xml:"link,attr"`
	} `xml:"parent"`
	Child struct {
		Link string `xml:"link,attr"`
	} `xml:"child"`
	Origin Origin `xml:"origin"`
	Axis   struct {
		XYZ string `xml:"xyz,attr"`
	} `xml:"axis"`
	Limit *struct {
		Lower    string `xml:"lower,attr"` // rad or m; empty where it is continuous
		Upper    string `xml:"upper,attr"`
		Effort   string `xml:"effort,attr"`   // Nm or N
		Velocity string `xml:"velocity,attr"` // rad/s or m/s
	} `xml:"limit"`
	Mimic *struct {
		Joint      string `xml:"joint,attr"`
		Multiplier string `xml:"multiplier,attr"`
	} `xml:"mimic"`
}

// Read reads a URDF. Links come after their parents; a file in which they do not is an [ErrTree].
func Read(text string) (*Robot, error) {
	var r Robot
	if err := xml.Unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("urdftext: %w", err)
	}
	if len(r.Links) == 0 {
		return nil, fmt.Errorf("%w: there is no link", ErrTree)
	}
	seen := map[string]bool{}
	for i, l := range r.Links {
		j := r.Above(l.Name)
		if seen[l.Name] || (i == 0) != (j == nil) || j != nil && !seen[j.Parent.Link] {
			return nil, fmt.Errorf("%w: link %q has no parent before it, or is there twice", ErrTree, l.Name)
		}
		seen[l.Name] = true
	}
	if len(r.Joints) != len(r.Links)-1 {
		return nil, fmt.Errorf("%w: %d links and %d joints", ErrTree, len(r.Links), len(r.Joints))
	}
	return &r, nil
}

// Above is the joint that a link hangs on, nil for the root.
func (r *Robot) Above(link string) *Joint {
	for i := range r.Joints {
		if r.Joints[i].Child.Link == link {
			return &r.Joints[i]
		}
	}
	return nil
}

// Below are the links that hang on a link, in their order.
func (r *Robot) Below(link string) []Link {
	var out []Link
	for _, l := range r.Links {
		if j := r.Above(l.Name); j != nil && j.Parent.Link == link {
			out = append(out, l)
		}
	}
	return out
}

// Color is a material's colour, white where there is none of that name.
func (r *Robot) Color(material string) string {
	for _, m := range r.Materials {
		if m.Name == material {
			return m.Color.RGBA
		}
	}
	return "1 1 1 1"
}
