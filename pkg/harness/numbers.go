package harness

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// number of an answer. It stands when an observed number, or its percentage, rounds to it at its precision.
type number struct {
	text     string
	readings [][]reading // it stands when all of one of its readings stand
	token    string      // the word that it is part of: "tool0"; "": none
}

// reading is one value and half a unit of its last digit.
type reading struct {
	value, half float64
}

// Numbers as people and models write them: 1,234.5 and -0.5e3 and 87%.
var (
	written = regexp.MustCompile(`[-+]?\d+(?:,\d{3})*(?:[.,]\d+)?(?:[eE][-+]?\d+)?|[-+]?\.\d+`)
	grouped = regexp.MustCompile(`^[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$`)
	plain   = regexp.MustCompile(`[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?`)
)

// numbersIn reads an answer.
func numbersIn(text string) []number {
	text = strings.ReplaceAll(text, "\u2212", "-") // the typographer's minus
	text = foldDigits(text)
	var out []number
	for _, at := range written.FindAllStringIndex(text, -1) {
		from, to := at[0], at[1]
		s := text[from:to]
		// A hyphen behind a word or a digit joins ("3-5", "sensor-2"); it is no sign.
		if (s[0] == '-' || s[0] == '+') && from > 0 && isNameByte(text[from-1]) {
			from, s = from+1, s[1:]
		}
		n := number{text: s}
		if from > 0 && isLetterByte(text[from-1]) {
			n.token = wordAround(text, from, to)
		}
		n.readings = readings(s)
		out = append(out, n)
	}
	return append(out, spelledIn(text)...)
}

// readings of a written number. A comma may group thousands, be a decimal comma, or separate two numbers.
func readings(s string) [][]reading {
	if !strings.Contains(s, ",") {
		return [][]reading{{read(s)}}
	}
	var out [][]reading
	if grouped.MatchString(s) {
		out = append(out, []reading{read(strings.ReplaceAll(s, ",", ""))})
	}
	if strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
		out = append(out, []reading{read(strings.Replace(s, ",", ".", 1))})
	}
	var parts []reading
	for _, p := range strings.Split(s, ",") {
		parts = append(parts, read(p))
	}
	return append(out, parts)
}

// read a number without commas, and its precision.
func read(s string) reading {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return reading{math.NaN(), 0} // out of range: it stands nowhere
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	digits := 0
	if _, fraction, ok := strings.Cut(mantissa, "."); ok {
		digits = len(fraction)
	}
	e := 0
	if exponent != "" {
		if e, err = strconv.Atoi(exponent); err != nil {
			return reading{math.NaN(), 0}
		}
	}
	return reading{v, 0.5 * math.Pow(10, float64(e-digits))}
}

// observed numbers and words of the cited observations and the task.
type observed struct {
	values []float64
	texts  []string
}

func observedIn(sources []string) observed {
	o := observed{}
	for _, s := range sources {
		s = foldDigits(strings.ReplaceAll(s, "\u2212", "-"))
		o.texts = append(o.texts, s)
		for _, at := range plain.FindAllStringIndex(s, -1) {
			t := s[at[0]:at[1]]
			if (t[0] == '-' || t[0] == '+') && at[0] > 0 && isNameByte(s[at[0]-1]) {
				t = t[1:]
			}
			if v, err := strconv.ParseFloat(t, 64); err == nil {
				o.values = append(o.values, v)
			}
		}
		for _, n := range spelledIn(s) {
			o.values = append(o.values, n.readings[0][0].value)
		}
	}
	return o
}

// holds says whether a number of an answer stands.
func (o observed) holds(n number) bool {
	if n.token != "" {
		for _, t := range o.texts {
			if containsWord(t, n.token) {
				return true
			}
		}
	}
	for _, parts := range n.readings {
		all := true
		for _, r := range parts {
			all = all && o.stands(r)
		}
		if all {
			return true
		}
	}
	return false
}

func (o observed) stands(r reading) bool {
	for _, v := range o.values {
		for _, x := range [...]float64{v, v * 100} {
			// The slack is for binary fractions: 0.285 is a little less than 0.285.
			if math.Abs(x-r.value) <= r.half+1e-9*math.Max(1, math.Abs(x))*math.Min(1, r.half) {
				return true
			}
		}
	}
	return false
}

// foldDigits turns the digits of other scripts into ASCII: a number stays one in any script.
func foldDigits(s string) string {
	ascii := true
	for i := range len(s) {
		if s[i] >= 0x80 {
			ascii = false
			break
		}
	}
	if ascii {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.IsDigit(r) {
			return r
		}
		// Decimal digits stand in runs of ten that begin with their zero.
		zero := r
		for n := 0; n < 9 && unicode.IsDigit(zero-1); n++ {
			zero--
		}
		return '0' + (r-zero)%10
	}, s)
}

func isLetterByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func isNameByte(c byte) bool { return isLetterByte(c) || c >= '0' && c <= '9' }

// wordAround is the whole word that holds text[from:to].
func wordAround(text string, from, to int) string {
	for from > 0 && isNameByte(text[from-1]) {
		from--
	}
	for to < len(text) && isNameByte(text[to]) {
		to++
	}
	return text[from:to]
}

func containsWord(text, word string) bool {
	for i := 0; ; {
		at := strings.Index(text[i:], word)
		if at < 0 {
			return false
		}
		at += i
		end := at + len(word)
		if (at == 0 || !isNameByte(text[at-1])) && (end == len(text) || !isNameByte(text[end])) {
			return true
		}
		i = at + 1
	}
}
