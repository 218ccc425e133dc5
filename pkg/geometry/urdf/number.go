package urdf

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// parseNumber reads a plain decimal number: no NaN, no infinity, no hexadecimal, nothing over spatial.MaxExtent.
func parseNumber(s string) (float64, bool) {
	for _, c := range s {
		if (c < '0' || c > '9') && !strings.ContainsRune("+-.eE", c) {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && math.Abs(v) <= spatial.MaxExtent
}

// number is an attribute; without it, def.
func (e *element) number(name string, def float64) (float64, error) {
	s, ok := e.attr(name)
	if !ok {
		return def, nil
	}
	v, ok := parseNumber(strings.TrimSpace(s))
	if !ok {
		return 0, e.errorf(ErrNumber, "%s is %q, must be a number of at most %g", name, clip(s), spatial.MaxExtent)
	}
	return v, nil
}

// positive is an attribute that must be there and over 0.
func (e *element) positive(name string) (float64, error) {
	if _, ok := e.attr(name); !ok {
		return 0, e.errorf(ErrElement, "has no attribute %s", name)
	}
	v, err := e.number(name, 0)
	if err == nil && !(v > 0) {
		err = e.errorf(ErrNumber, "%s is %g, must be over 0", name, v)
	}
	return v, err
}

// notNegative is an attribute of 0 or more; without it, 0.
func (e *element) notNegative(name string) (float64, error) {
	v, err := e.number(name, 0)
	if err == nil && !(v >= 0) {
		err = e.errorf(ErrNumber, "%s is %g, must not be negative", name, v)
	}
	return v, err
}

// vector is an attribute of three numbers; without it, def.
func (e *element) vector(name string, def r3.Vec) (r3.Vec, error) {
	s, ok := e.attr(name)
	if !ok {
		return def, nil
	}
	fields := strings.Fields(s)
	if len(fields) != 3 {
		return r3.Vec{}, e.errorf(ErrNumber, "%s is %q, must be three numbers", name, clip(s))
	}
	var v [3]float64
	for i, f := range fields {
		if v[i], ok = parseNumber(f); !ok {
			return r3.Vec{}, e.errorf(ErrNumber, "%s is %q, must be three numbers of at most %g", name, clip(s), spatial.MaxExtent)
		}
	}
	return r3.Vec{X: v[0], Y: v[1], Z: v[2]}, nil
}

// origin is the element's <origin>; without it, the identity.
func (e *element) origin() (spatial.Transform, error) {
	o, err := e.only("origin")
	if err != nil || o == nil {
		return spatial.Identity(), err
	}
	xyz, err := o.vector("xyz", r3.Vec{})
	if err != nil {
		return spatial.Transform{}, err
	}
	rpy, err := o.vector("rpy", r3.Vec{})
	if err != nil {
		return spatial.Transform{}, err
	}
	return spatial.Transform{Translation: xyz, Rotation: spatial.FromRPY(rpy.X, rpy.Y, rpy.Z)}, nil
}

// clip keeps what is quoted in an error short.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}
