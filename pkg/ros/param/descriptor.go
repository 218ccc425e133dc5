package param

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Errors that the package's typed errors wrap.
var (
	ErrNotDeclared     = errors.New("param: not declared")
	ErrAlreadyDeclared = errors.New("param: already declared")
	ErrInvalidName     = errors.New("param: invalid name")
	ErrWrongType       = errors.New("param: wrong type")
	ErrOutOfRange      = errors.New("param: out of range")
	ErrReadOnly        = errors.New("param: read-only")
	ErrRefused         = errors.New("param: refused")
)

// Error says which parameter could not be declared, read or set, and why.
type Error struct {
	Name string
	// Err is one of the package's sentinel errors, or what a validation callback returned.
	Err error
	// Detail has the value, the limit and the like.
	Detail string
}

func (e *Error) Error() string {
	s := "parameter '" + e.Name + "': " + strings.TrimPrefix(e.Err.Error(), "param: ")
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func failure(name string, err error, format string, args ...any) *Error {
	return &Error{Name: name, Err: err, Detail: fmt.Sprintf(format, args...)}
}

// FloatRange limits a double or each element of a double array. From and To
// are inclusive; with a Step other than 0 only From + n*Step, and To, are allowed.
type FloatRange struct{ From, To, Step float64 }

// IntRange limits an integer or each element of an integer array, as FloatRange does.
type IntRange struct {
	From, To int64
	Step     uint64
}

// Descriptor describes a parameter.
type Descriptor struct {
	Name        string
	Description string
	// Constraints tells in words what the ranges cannot.
	Constraints string
	// Type is taken from the default value where it is NotSet.
	Type Type
	// ReadOnly parameters get their value when they are declared, and keep it.
	ReadOnly bool
	// DynamicTyping lets the type change when a value is set.
	DynamicTyping bool
	Float         *FloatRange
	Int           *IntRange
	// Later says when a change takes effect that does not at once ("takes effect at the next configure"): it is told beside the
	// constraints, and to whoever sets it.
	Later string
}

// Parameter is a name with its value.
type Parameter struct {
	Name  string
	Value Value
}

// check tells whether the value may be given to the described parameter.
func (d *Descriptor) check(v Value) error {
	if v.t != d.Type && !d.DynamicTyping {
		if v.t == NotSet {
			return failure(d.Name, ErrWrongType, "a %s parameter cannot be left without a value", d.Type)
		}
		return failure(d.Name, ErrWrongType, "it is a %s, and cannot become the %s %s", d.Type, v.t, v)
	}
	switch x := v.v.(type) {
	case int64:
		return d.checkInt(x)
	case []int64:
		for _, e := range x {
			if err := d.checkInt(e); err != nil {
				return err
			}
		}
	case float64:
		return d.checkFloat(x)
	case []float64:
		for _, e := range x {
			if err := d.checkFloat(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Descriptor) checkInt(v int64) error {
	r := d.Int
	if r == nil || v == r.To {
		return nil
	}
	if v < r.From || v > r.To {
		return failure(d.Name, ErrOutOfRange, "%d is not within [%d, %d]", v, r.From, r.To)
	}
	// The distance is taken unsigned: it may exceed the largest int64.
	if r.Step > 0 && (uint64(v)-uint64(r.From))%r.Step != 0 {
		return failure(d.Name, ErrOutOfRange, "%d is no multiple of the step %d counted from %d", v, r.Step, r.From)
	}
	return nil
}

func (d *Descriptor) checkFloat(v float64) error {
	r := d.Float
	if r == nil || near(v, r.To) || near(v, r.From) {
		return nil
	}
	// Written so that NaN is refused.
	if !(v >= r.From && v <= r.To) {
		return failure(d.Name, ErrOutOfRange, "%s is not within [%s, %s]", formatDouble(v), formatDouble(r.From), formatDouble(r.To))
	}
	if r.Step > 0 {
		n := math.Round((v - r.From) / r.Step)
		if !near(v, r.From+n*r.Step) {
			return failure(d.Name, ErrOutOfRange, "%s is no multiple of the step %s counted from %s",
				formatDouble(v), formatDouble(r.Step), formatDouble(r.From))
		}
	}
	return nil
}

// near allows for the rounding of a value that was typed in decimal.
func near(a, b float64) bool {
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return a == b
	}
	const ulps = 100
	return math.Abs(a-b) <= ulps*math.Max(math.Abs(a), math.Abs(b))*0x1p-52
}

func (d *Descriptor) validate(def Value) error {
	if err := checkName(d.Name); err != nil {
		return err
	}
	if d.Type == NotSet {
		d.Type = def.t
	}
	if d.Type == NotSet && !d.DynamicTyping {
		return failure(d.Name, ErrWrongType, "neither a type nor a default value is given, and its typing is not dynamic")
	}
	if d.Type > StringArray {
		return failure(d.Name, ErrWrongType, "there is no parameter %s", d.Type)
	}
	if d.Float != nil && d.Int != nil {
		return failure(d.Name, ErrWrongType, "it has a range of doubles and one of integers")
	}
	if r := d.Float; r != nil && (!(r.From <= r.To) || !(r.Step >= 0)) {
		return failure(d.Name, ErrOutOfRange, "its range [%v, %v] with step %v is empty or its step is negative", r.From, r.To, r.Step)
	}
	if r := d.Int; r != nil && r.From > r.To {
		return failure(d.Name, ErrOutOfRange, "its range [%d, %d] is empty", r.From, r.To)
	}
	return nil
}

// checkName refuses what would not survive a parameter file or a command line.
func checkName(name string) error {
	if name == "" {
		return failure(name, ErrInvalidName, "it is empty")
	}
	for i, r := range name {
		if r <= ' ' || r == 0x7f {
			return failure(name, ErrInvalidName, "character %q at byte %d", r, i)
		}
	}
	if name[0] == '.' || name[len(name)-1] == '.' {
		return failure(name, ErrInvalidName, "a group's name before or after a dot is empty")
	}
	for i := 1; i < len(name); i++ {
		if name[i] == '.' && name[i-1] == '.' {
			return failure(name, ErrInvalidName, "an empty group name at byte %d", i)
		}
	}
	return nil
}
