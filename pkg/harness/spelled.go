package harness

import "strings"

// Number words. "one" alone is a pronoun as often as a number, and is left out; in "twenty-one" and "one hundred" it counts.
var (
	units = map[string]float64{
		"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
		"eighteen": 18, "nineteen": 19,
	}
	tens = map[string]float64{
		"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
	}
)

// spelledIn reads the whole numbers that a text spells out, up to thousands: "eighty-seven", "two hundred and five".
func spelledIn(text string) []number {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !(r >= 'a' && r <= 'z') })
	var out []number
	for i := 0; i < len(words); {
		value, n, alone := spelled(words[i:])
		if n == 0 {
			i++
			continue
		}
		if !alone {
			out = append(out, number{text: strings.Join(words[i:i+n], " "), readings: [][]reading{{{value, 0.5}}}})
		}
		i += n
	}
	return out
}

// spelled reads one number from the start of words and says how many it took; alone: it is a bare "one".
func spelled(words []string) (value float64, n int, alone bool) {
	total, part := 0.0, 0.0
	any := false
	for n < len(words) {
		w := words[n]
		u, isUnit := units[w]
		t, isTen := tens[w]
		switch {
		case isUnit && (part == 0 && !any || int(part)%100 == 0 && part >= 100 || int(part)%10 == 0 && int(part)%100 >= 20 && u > 0 && u < 10 || part == 0 && total > 0):
			part += u
		case isTen && (part == 0 || int(part)%100 == 0 && part >= 100):
			part += t
		case w == "hundred" && any && part > 0 && part < 100:
			part *= 100
		case w == "thousand" && any && part > 0 && total == 0:
			total, part = part*1000, 0
		case w == "and" && any && (part >= 100 || total > 0) && n+1 < len(words) && isNumberWord(words[n+1]):
			n++
			continue
		default:
			return total + part, n, n == 1 && words[0] == "one"
		}
		any = true
		n++
	}
	return total + part, n, n == 1 && words[0] == "one"
}

func isNumberWord(w string) bool {
	_, u := units[w]
	_, t := tens[w]
	return u || t
}
