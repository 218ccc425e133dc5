package planner

import (
	"strings"
	"unicode/utf8"
)

// meant asks whether one of the names was meant by what was written, where they differ by a slip or two; "" where none is near, or
// what was written is one of them.
func meant(written string, names []string) string {
	best, nearest := nearness(written), []string(nil)
	for _, name := range names {
		switch d := slips(written, strings.ToLower(name)); {
		case d == 0 || d > best:
		case d < best:
			best, nearest = d, []string{name}
		default:
			nearest = append(nearest, name)
		}
	}
	if len(nearest) == 0 {
		return ""
	}
	return " Is the " + strings.Join(nearest, " or the ") + " meant?"
}

// nearness is how many slips a word may have and still be taken for another.
func nearness(word string) int {
	switch n := utf8.RuneCountInString(word); {
	case n < 3:
		return 0
	case n < 5:
		return 1
	default:
		return 2
	}
}

// slips are the letters that are wrong, missing, too many, or swapped with their neighbour, at least.
func slips(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		now := make([]int, len(y)+1)
		now[0] = i + 1
		for j := range y {
			wrong := 1
			if x[i] == y[j] {
				wrong = 0
			}
			now[j+1] = min(last[j]+wrong, last[j+1]+1, now[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last = last, now
	}
	return last[len(y)]
}
