package ros

import (
	"encoding/json"
	"math"
	"math/bits"
	"reflect"
	"strconv"
)

// number is a number of any Go type, held without loss.
type number struct {
	form byte // 'i', 'u' or 'f'
	i    int64
	u    uint64
	f    float64
}

// numberOf takes any Go number, named types included, and json.Number.
func numberOf(v any) (number, bool) {
	switch x := v.(type) {
	case float64:
		return number{form: 'f', f: x}, true
	case float32:
		return number{form: 'f', f: float64(x)}, true
	case int:
		return number{form: 'i', i: int64(x)}, true
	case int64:
		return number{form: 'i', i: x}, true
	case uint64:
		return number{form: 'u', u: x}, true
	case json.Number:
		return parseNumber(string(x))
	case nil:
		return number{}, false
	}
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return number{form: 'i', i: r.Int()}, true
	case r.CanUint():
		return number{form: 'u', u: r.Uint()}, true
	case r.CanFloat():
		return number{form: 'f', f: r.Float()}, true
	}
	return number{}, false
}

func parseNumber(s string) (number, bool) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return number{form: 'i', i: i}, true
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return number{form: 'u', u: u}, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return number{}, false
	}
	return number{form: 'f', f: f}, true
}

// Reasons of a refused number.
const (
	reasonType      = "wrong type"
	reasonRange     = "out of range"
	reasonFraction  = "not an integer"
	reasonPrecision = "not exactly representable"
	reasonNonFinite = "not finite"
)

// signed is the number as an integer of the given width; the reason is empty when it fits.
func (n number) signed(width int) (int64, string) {
	v := n.i
	switch n.form {
	case 'u':
		if n.u > math.MaxInt64 {
			return 0, reasonRange
		}
		v = int64(n.u)
	case 'f':
		if reason := integral(n.f); reason != "" {
			return 0, reason
		}
		if n.f < -(1<<63) || n.f >= 1<<63 {
			return 0, reasonRange
		}
		v = int64(n.f)
	}
	if limit := int64(1) << (width - 1); width < 64 && (v < -limit || v >= limit) {
		return 0, reasonRange
	}
	return v, ""
}

// unsigned is the number as an unsigned integer of the given width.
func (n number) unsigned(width int) (uint64, string) {
	v := n.u
	switch n.form {
	case 'i':
		if n.i < 0 {
			return 0, reasonRange
		}
		v = uint64(n.i)
	case 'f':
		if reason := integral(n.f); reason != "" {
			return 0, reason
		}
		if n.f < 0 || n.f >= 1<<64 {
			return 0, reasonRange
		}
		v = uint64(n.f)
	}
	if width < 64 && v >= uint64(1)<<width {
		return 0, reasonRange
	}
	return v, ""
}

func integral(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return reasonNonFinite
	case f != math.Trunc(f):
		return reasonFraction
	}
	return ""
}

// float64 is the number as a float64; an integer must be held exactly.
func (n number) float64() (float64, string) { return n.float(53) }

// float32 is the number as a float32. A float64 is rounded to the nearest
// float32 (0.1 has no exact form in either); an integer must be held exactly.
func (n number) float32() (float32, string) {
	f, reason := n.float(24)
	if reason != "" {
		return 0, reason
	}
	r := float32(f)
	if math.IsInf(float64(r), 0) && !math.IsInf(f, 0) {
		return 0, reasonRange
	}
	return r, ""
}

func (n number) float(mantissa int) (float64, string) {
	switch n.form {
	case 'i':
		magnitude := uint64(n.i)
		if n.i < 0 {
			magnitude = -magnitude
		}
		if significant(magnitude) > mantissa {
			return 0, reasonPrecision
		}
		return float64(n.i), ""
	case 'u':
		if significant(n.u) > mantissa {
			return 0, reasonPrecision
		}
		return float64(n.u), ""
	}
	return n.f, ""
}

// significant is how many bits of mantissa an integer needs.
func significant(u uint64) int { return bits.Len64(u) - bits.TrailingZeros64(u|1<<63) }
