package geometry

import (
	"fmt"
	"math"
	"strconv"
)

// Over is a finding about a value beyond its limit.
func Over(rule, subject string, index int, value, limit float64, unit string) Finding {
	return New(rule, subject, index, value, limit, unit,
		fmt.Sprintf("is %s %s, limit %s %s", Digits(value, limit), unit, Digits(limit, value), unit))
}

// NotFinite is a finding about a NaN or an infinity.
func NotFinite(subject string, index int, value float64, unit string) Finding {
	return New(RuleFinite, subject, index, value, math.MaxFloat64, unit, fmt.Sprintf("is %g, must be a finite number", value))
}

// New is a finding whose message is the rule, the subject, where it is, and what.
func New(rule, subject string, index int, value, limit float64, unit, what string) Finding {
	at := ""
	if index >= 0 {
		at = fmt.Sprintf(" [%d]", index)
	}
	return Finding{
		Rule: rule, Subject: subject, Index: index, Value: value, Limit: limit, Unit: unit,
		Message: fmt.Sprintf("%s: %s%s %s", rule, subject, at, what),
	}
}

// Digits writes a value short, but never so short that it looks the same as what it is compared with.
func Digits(v, other float64) string {
	for _, digits := range []int{4, 6, 9} {
		s := strconv.FormatFloat(v, 'g', digits, 64)
		if s != strconv.FormatFloat(other, 'g', digits, 64) || v == other {
			return s
		}
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
