package digest

import (
	"math"
	"reflect"
	"strings"

	"agent_node/pkg/ros"
)

// length of an array of values, 0 of anything else.
func length(v any) int {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice {
		return r.Len()
	}
	return 0
}

// at gives an element of an array of numbers or bools as float64; nil for arrays of others.
func at(v any) func(i int) float64 {
	switch x := v.(type) {
	case []float64:
		return func(i int) float64 { return x[i] }
	case []float32:
		return func(i int) float64 { return float64(x[i]) }
	case []int8:
		return func(i int) float64 { return float64(x[i]) }
	case []uint8:
		return func(i int) float64 { return float64(x[i]) }
	case []int16:
		return func(i int) float64 { return float64(x[i]) }
	case []uint16:
		return func(i int) float64 { return float64(x[i]) }
	case []int32:
		return func(i int) float64 { return float64(x[i]) }
	case []uint32:
		return func(i int) float64 { return float64(x[i]) }
	case []int64:
		return func(i int) float64 { return float64(x[i]) }
	case []uint64:
		return func(i int) float64 { return float64(x[i]) }
	case []bool:
		return func(i int) float64 {
			if x[i] {
				return 1
			}
			return 0
		}
	}
	return nil
}

// firstShown elements of an array that is told by statistics.
const firstShown = 3

// statistics of an array.
func (w *writer) statistics(f *ros.Field, v any) any {
	n, of := length(v), at(v)
	element, _, _ := strings.Cut(f.TypeString(), "[")
	out := map[string]any{"shape": []int64{int64(n)}, "of": element}
	if of == nil {
		return out
	}
	s := sum(n, of)
	s.into(out)
	if side := int(math.Round(math.Sqrt(float64(n)))); f.Array == ros.FixedArray && side*side == n && strings.Contains(f.Name, "covariance") {
		diagonal := make([]float64, side)
		for i := range diagonal {
			diagonal[i] = short(of(i * (side + 1)))
		}
		out["shape"], out["diagonal"] = []int64{int64(side), int64(side)}, diagonal
		return out
	}
	if w.elements > 0 {
		first := make([]float64, min(n, firstShown))
		for i := range first {
			first[i] = short(of(i))
		}
		out["first"] = first
	}
	return out
}

// stats of numbers; those that are not finite are counted and left out.
type stats struct {
	count, finite   int
	min, max        float64
	mean, deviation float64
	minAt           int
}

func sum(n int, of func(int) float64) stats {
	s := stats{count: n, min: math.Inf(1), max: math.Inf(-1)}
	m2 := 0.0
	for i := range n {
		x := of(i)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		s.finite++
		if x < s.min {
			s.min, s.minAt = x, i
		}
		s.max = math.Max(s.max, x)
		d := x - s.mean
		s.mean += d / float64(s.finite)
		m2 += d * (x - s.mean)
	}
	if s.finite > 0 {
		s.deviation = math.Sqrt(m2 / float64(s.finite))
	}
	return s
}

func (s stats) into(out map[string]any) {
	if s.finite < s.count {
		out["finite"] = int64(s.finite)
	}
	if s.finite > 0 {
		out["min"], out["max"], out["mean"], out["deviation"] = short(s.min), short(s.max), short(s.mean), short(s.deviation)
	}
}

// short is a number with six digits.
func short(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
	if math.IsInf(scale, 0) || scale == 0 {
		return v
	}
	return math.Round(v*scale) / scale
}
