package world

import "math"

// Inertia is a link's mass, its centre and its tensor about that centre along the link's axes, kg m^2.
type Inertia struct {
	Mass                         float64
	Center                       Vec
	IXX, IYY, IZZ, IXY, IXZ, IYZ float64
}

// Inertia spreads the link's mass evenly over its solids.
func (l Link) Inertia() Inertia {
	total := 0.0
	for _, s := range l.Solids {
		total += s.volume()
	}
	if l.Mass == 0 || total == 0 {
		return Inertia{}
	}
	in := Inertia{Mass: l.Mass}
	for _, s := range l.Solids {
		in.Center = in.Center.Add(s.Center().Scale(s.volume() / total))
	}
	for _, s := range l.Solids {
		in.add(s, l.Mass*s.volume()/total)
	}
	return in
}

// add adds a solid of the mass.
func (in *Inertia) add(s Solid, mass float64) {
	d := s.Center().Sub(in.Center)
	xx, yy, zz := mass*(d.Y*d.Y+d.Z*d.Z), mass*(d.X*d.X+d.Z*d.Z), mass*(d.X*d.X+d.Y*d.Y)
	in.IXY -= mass * d.X * d.Y
	in.IXZ -= mass * d.X * d.Z
	in.IYZ -= mass * d.Y * d.Z
	size := s.B.Sub(s.A)
	switch s.Kind {
	case Cuboid:
		xx += mass * (size.Y*size.Y + size.Z*size.Z) / 12
		yy += mass * (size.X*size.X + size.Z*size.Z) / 12
		zz += mass * (size.X*size.X + size.Y*size.Y) / 12
	case Sphere:
		i := 0.4 * mass * s.Radius * s.Radius
		xx, yy, zz = xx+i, yy+i, zz+i
	case Capsule, Cylinder:
		// A capsule counts as a cylinder of its whole length: its ends weigh little.
		long, axis := size.Norm(), s.axis()
		if s.Kind == Capsule {
			long += 4.0 / 3 * s.Radius
		}
		along, across := mass*s.Radius*s.Radius/2, mass*(3*s.Radius*s.Radius+long*long)/12
		turn := along - across // the tensor is across times the unit matrix plus this along the axis
		xx += across + turn*axis.X*axis.X
		yy += across + turn*axis.Y*axis.Y
		zz += across + turn*axis.Z*axis.Z
		in.IXY += turn * axis.X * axis.Y
		in.IXZ += turn * axis.X * axis.Z
		in.IYZ += turn * axis.Y * axis.Z
	}
	in.IXX, in.IYY, in.IZZ = in.IXX+xx, in.IYY+yy, in.IZZ+zz
}

// Center is the middle of the solid.
func (s Solid) Center() Vec {
	if s.Kind == Sphere {
		return s.A
	}
	return s.A.Add(s.B).Scale(0.5)
}

func (s Solid) volume() float64 {
	ball, disc, size := 4.0/3*math.Pi*s.Radius*s.Radius*s.Radius, math.Pi*s.Radius*s.Radius, s.B.Sub(s.A)
	switch s.Kind {
	case Cuboid:
		return size.X * size.Y * size.Z
	case Sphere:
		return ball
	case Capsule:
		return ball + disc*size.Norm()
	case Cylinder:
		return disc * size.Norm()
	}
	return 0
}

// axis is the direction of a cylinder's or capsule's axis.
func (s Solid) axis() Vec {
	d := s.B.Sub(s.A)
	return d.Scale(1 / d.Norm())
}

// Density of the objects, which are of light wood, kg/m^3.
const Density = 600

// Mass of the object, kg. Where things are carried and not pushed about it does not matter.
func (o Object) Mass() float64 {
	cube := o.Size * o.Size * o.Size * Density
	if o.Shape == Ball {
		return cube * math.Pi / 6
	}
	return cube
}
