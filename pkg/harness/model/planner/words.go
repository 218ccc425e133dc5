package planner

import (
	"strconv"
	"strings"
	"unicode"
)

// word is one token of a task: a word, a number or a sign.
type word struct {
	text   string // lower case
	number float64
	isNum  bool
}

// rewrites bring spellings together before the text is cut into words.
func rewrites() *strings.Replacer {
	return strings.NewReplacer(
		"’", "'", "‘", "'", "−", "-", "–", "-", "—", " , ", "“", "\"", "”", "\"", "½", " 0.5 ", "¼", " 0.25 ", "°", " degrees ",
		"don't", "do not", "doesn't", "does not", "what's", "what is", "where's", "where is", "how's", "how is", "i'd", "i would", "you're", "you are",
		"let's", "let us", "can't", "can not", "isn't", "is not", "aren't", "are not", "won't", "will not", "you've", "you have", "it's", "it is",
		"counter-clockwise", "counterclockwise", "counter clockwise", "counterclockwise", "anti-clockwise", "counterclockwise", "anticlockwise", "counterclockwise",
		"about-turn", "about turn", "about-face", "about turn", "u-turn", "about turn", "half-turn", "half turn", "quarter-turn", "quarter turn",
		"whats", "what is", "wheres", "where is", "keep-out", "keepout", "keep out", "keepout", "no-go", "nogo", "->", " then ", "=>", " then ",
	)
}

// cut splits a task into words. Signs stand alone; "0.5m" is a number and a word.
func cut(task string) []word {
	text := rewrites().Replace(strings.ToLower(task))
	var out []word
	r := []rune(text)
	for i := 0; i < len(r); {
		c := r[i]
		switch {
		case unicode.IsSpace(c):
			i++
		case isDigit(c) || (c == '.' || c == '-' || c == '+') && i+1 < len(r) && numberBegins(r, i, out):
			j := numberEnd(r, i)
			f, err := strconv.ParseFloat(strings.TrimPrefix(strings.ReplaceAll(string(r[i:j]), ",", "."), "+"), 64)
			if err != nil {
				out = append(out, word{text: string(r[i:j])})
			} else {
				out = append(out, word{text: string(r[i:j]), number: f, isNum: true})
			}
			i = j
		case unicode.IsLetter(c) || c == '_':
			j := i
			for j < len(r) && (unicode.IsLetter(r[j]) || r[j] == '_' || r[j] == '\'' || r[j] == '-' && j+1 < len(r) && unicode.IsLetter(r[j+1]) && j > i || isDigit(r[j]) && !unitBefore(r[i:j])) {
				j++
			}
			out = append(out, word{text: strings.Trim(string(r[i:j]), "'")})
			i = j
		default:
			out = append(out, word{text: string(c)})
			i++
		}
	}
	return out
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

// unitBefore keeps "x1" apart as "x" and "1".
func unitBefore(r []rune) bool { return len(r) == 1 && (r[0] == 'x' || r[0] == 'y') }

// numberBegins: a sign or point opens a number only where a digit follows and no word or number stands directly before.
func numberBegins(r []rune, i int, _ []word) bool {
	next := r[i+1]
	if r[i] == '.' {
		return isDigit(next) && (i == 0 || !isDigit(r[i-1]))
	}
	if i > 0 && !unicode.IsSpace(r[i-1]) && r[i-1] != '(' && r[i-1] != '=' && r[i-1] != ',' && r[i-1] != ':' {
		return false
	}
	return isDigit(next) || next == '.' && i+2 < len(r) && isDigit(r[i+2])
}

// numberEnd is where the number that begins at i ends; "1e3" counts, "1." at a sentence's end does not.
func numberEnd(r []rune, i int) int {
	j := i
	if r[j] == '-' || r[j] == '+' {
		j++
	}
	for j < len(r) && isDigit(r[j]) {
		j++
	}
	if j+1 < len(r) && r[j] == '.' && isDigit(r[j+1]) {
		for j++; j < len(r) && isDigit(r[j]); {
			j++
		}
	}
	if j+1 < len(r) && r[j] == 'e' && (isDigit(r[j+1]) || (r[j+1] == '-' || r[j+1] == '+') && j+2 < len(r) && isDigit(r[j+2])) {
		for j += 2; j < len(r) && isDigit(r[j]); {
			j++
		}
	}
	return j
}

// spelled numbers.
func spelled(w string) (float64, bool) {
	switch w {
	case "a", "an":
		return 1, true
	case "zero":
		return 0, true
	}
	for i, name := range []string{
		"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
		"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	} {
		if w == name {
			return float64(i + 1), true
		}
	}
	tens := []string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	for i, name := range tens {
		if w == name {
			return float64(10 * (i + 2)), true
		}
		if rest, ok := strings.CutPrefix(w, name+"-"); ok {
			if f, ok := spelled(rest); ok && f < 10 {
				return float64(10*(i+2)) + f, true
			}
		}
	}
	return 0, false
}
