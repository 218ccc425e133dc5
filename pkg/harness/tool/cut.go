package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Cut brings text to valid UTF-8 of at most max bytes plus a note. Invalid bytes become U+FFFD; a cut lies between
// runes. The note says how much there was, and where the whole is.
func Cut(text string, max int, where string) (short string, cut bool) {
	whole := len(text)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if len(text) <= max {
		return text, false
	}
	end := max
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s … [cut: the first %d of %d bytes; %s]", text[:end], end, whole, where), true
}
