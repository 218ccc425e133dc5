package tool

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth of nested arrays and objects in arguments.
const maxDepth = 64

// SyntaxError says where text stops being the strict JSON that arguments must be.
type SyntaxError struct {
	Offset  int // bytes from the start of the text
	Message string
}

// Error names the offset.
func (e *SyntaxError) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Message) }

// ParseStrict reads one JSON value and nothing behind it. Beyond RFC 8259 it refuses what readers disagree about:
// duplicate keys, invalid UTF-8, lone surrogates, numbers outside float64, more than 64 levels. Nothing is repaired.
// Objects become map[string]any, integers that fit int64, all other numbers float64. Errors are *SyntaxError.
func ParseStrict(text []byte) (any, error) {
	p := parser{text: text}
	p.space()
	if p.pos == len(text) {
		return nil, p.fail(p.pos, "empty text is no JSON value")
	}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(text) {
		return nil, p.fail(p.pos, "%s behind the value", p.what(p.pos))
	}
	return v, nil
}

// parser is a plain recursive-descent reader. encoding/json is not enough here: it keeps the last of two
// equal keys, replaces invalid UTF-8 and gives no offset for a bare NaN in every case.
type parser struct {
	text []byte
	pos  int
}

func (p *parser) fail(at int, format string, args ...any) error {
	return &SyntaxError{Offset: at, Message: fmt.Sprintf(format, args...)}
}

// what describes the text at an offset, for error messages.
func (p *parser) what(at int) string {
	if at >= len(p.text) {
		return "the end of the text"
	}
	r, n := utf8.DecodeRune(p.text[at:])
	if r == utf8.RuneError && n == 1 {
		return fmt.Sprintf("byte 0x%02x", p.text[at])
	}
	end := at
	for end < len(p.text) && end-at < 12 && isWord(p.text[end]) {
		end++
	}
	if end > at {
		return strconv.Quote(string(p.text[at:end]))
	}
	return strconv.QuoteRune(r)
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '+' || c == '.'
}

func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (any, error) {
	if p.pos >= len(p.text) {
		return nil, p.fail(p.pos, "the text ends where a value belongs")
	}
	switch c := p.text[p.pos]; {
	case c == '{':
		return p.object(depth + 1)
	case c == '[':
		return p.array(depth + 1)
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, l := range [...]struct {
		word  string
		value any
	}{{"true", true}, {"false", false}, {"null", nil}} {
		if end := p.pos + len(l.word); end <= len(p.text) && string(p.text[p.pos:end]) == l.word && (end == len(p.text) || !isWord(p.text[end])) {
			p.pos = end
			return l.value, nil
		}
	}
	what := p.what(p.pos)
	if word := strings.Trim(what, `"`); word == "NaN" || word == "Infinity" || word == "nan" || word == "inf" {
		return nil, p.fail(p.pos, "%s is no JSON number", what)
	}
	return nil, p.fail(p.pos, "%s where a value belongs", what)
}

func (p *parser) object(depth int) (any, error) {
	if depth > maxDepth {
		return nil, p.fail(p.pos, "more than %d levels", maxDepth)
	}
	p.pos++ // {
	obj := make(map[string]any, 4)
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == '}' {
		p.pos++
		return obj, nil
	}
	for {
		p.space()
		if p.pos >= len(p.text) || p.text[p.pos] != '"' {
			return nil, p.fail(p.pos, "%s where a key belongs", p.what(p.pos))
		}
		at := p.pos
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		if _, twice := obj[key]; twice {
			return nil, p.fail(at, "duplicate key %q", key)
		}
		p.space()
		if p.pos >= len(p.text) || p.text[p.pos] != ':' {
			return nil, p.fail(p.pos, "%s where ':' belongs", p.what(p.pos))
		}
		p.pos++
		p.space()
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		obj[key] = v
		p.space()
		switch {
		case p.pos < len(p.text) && p.text[p.pos] == ',':
			p.pos++
		case p.pos < len(p.text) && p.text[p.pos] == '}':
			p.pos++
			return obj, nil
		default:
			return nil, p.fail(p.pos, "%s where ',' or '}' belongs", p.what(p.pos))
		}
	}
}

func (p *parser) array(depth int) (any, error) {
	if depth > maxDepth {
		return nil, p.fail(p.pos, "more than %d levels", maxDepth)
	}
	p.pos++ // [
	list := []any{}
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == ']' {
		p.pos++
		return list, nil
	}
	for {
		p.space()
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		p.space()
		switch {
		case p.pos < len(p.text) && p.text[p.pos] == ',':
			p.pos++
		case p.pos < len(p.text) && p.text[p.pos] == ']':
			p.pos++
			return list, nil
		default:
			return nil, p.fail(p.pos, "%s where ',' or ']' belongs", p.what(p.pos))
		}
	}
}

// string reads a string whose opening quote is at pos.
func (p *parser) string() (string, error) {
	open := p.pos
	p.pos++
	from := p.pos
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case c == '"':
			s := string(p.text[from:p.pos])
			p.pos++
			return s, nil
		case c == '\\':
			return p.escaped(open, from)
		case c < 0x20:
			return "", p.fail(p.pos, "control character 0x%02x in a string", c)
		case c < utf8.RuneSelf:
			p.pos++
		default:
			r, n := utf8.DecodeRune(p.text[p.pos:])
			if r == utf8.RuneError && n == 1 {
				return "", p.fail(p.pos, "byte 0x%02x is no UTF-8", c)
			}
			p.pos += n
		}
	}
	return "", p.fail(open, "the string is not closed")
}

// escaped goes on with a string from its first backslash.
func (p *parser) escaped(open, from int) (string, error) {
	var b strings.Builder
	b.Write(p.text[from:p.pos])
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case c == '"':
			p.pos++
			return b.String(), nil
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		case c < 0x20:
			return "", p.fail(p.pos, "control character 0x%02x in a string", c)
		default:
			r, n := utf8.DecodeRune(p.text[p.pos:])
			if r == utf8.RuneError && n == 1 {
				return "", p.fail(p.pos, "byte 0x%02x is no UTF-8", c)
			}
			b.Write(p.text[p.pos : p.pos+n])
			p.pos += n
		}
	}
	return "", p.fail(open, "the string is not closed")
}

// escape reads one escape sequence; two for a surrogate pair.
func (p *parser) escape() (rune, error) {
	at := p.pos
	p.pos++
	if p.pos >= len(p.text) {
		return 0, p.fail(at, "the text ends in an escape sequence")
	}
	c := p.text[p.pos]
	p.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, err := p.hex4(at)
		if err != nil {
			return 0, err
		}
		if !utf16.IsSurrogate(r) {
			return r, nil
		}
		if p.pos+1 < len(p.text) && p.text[p.pos] == '\\' && p.text[p.pos+1] == 'u' {
			p.pos += 2
			low, err := p.hex4(at)
			if err != nil {
				return 0, err
			}
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				return full, nil
			}
		}
		return 0, p.fail(at, "a lone surrogate is no character")
	}
	return 0, p.fail(at, "unknown escape sequence")
}

func (p *parser) hex4(at int) (rune, error) {
	if p.pos+4 > len(p.text) {
		return 0, p.fail(at, "the text ends in an escape sequence")
	}
	n, err := strconv.ParseUint(string(p.text[p.pos:p.pos+4]), 16, 16)
	if err != nil {
		return 0, p.fail(at, "four hexadecimal digits belong behind \\u")
	}
	p.pos += 4
	return rune(n), nil
}

func (p *parser) number() (any, error) {
	n, f, integer, err := p.scalar()
	switch {
	case err != nil:
		return nil, err
	case integer:
		return n, nil
	}
	return f, nil
}

// scalar reads a number: n where it is an integer that fits int64, else f.
func (p *parser) scalar() (n int64, f float64, integer bool, err error) {
	from := p.pos
	if p.text[p.pos] == '-' {
		p.pos++
	}
	whole := p.digits()
	switch {
	case whole == 0:
		return 0, 0, false, p.fail(from, "%s is no JSON number", p.what(from))
	case whole > 1 && p.text[p.pos-whole] == '0':
		return 0, 0, false, p.fail(from, "%s has a leading zero", p.what(from))
	}
	integer = true
	if p.pos < len(p.text) && p.text[p.pos] == '.' {
		integer = false
		p.pos++
		if p.digits() == 0 {
			return 0, 0, false, p.fail(from, "digits belong behind the point of %s", p.what(from))
		}
	}
	if p.pos < len(p.text) && (p.text[p.pos] == 'e' || p.text[p.pos] == 'E') {
		integer = false
		p.pos++
		if p.pos < len(p.text) && (p.text[p.pos] == '+' || p.text[p.pos] == '-') {
			p.pos++
		}
		if p.digits() == 0 {
			return 0, 0, false, p.fail(from, "digits belong in the exponent of %s", p.what(from))
		}
	}
	if p.pos < len(p.text) && isWord(p.text[p.pos]) {
		return 0, 0, false, p.fail(from, "%s is no JSON number", p.what(from))
	}
	text := p.text[from:p.pos]
	if integer && string(text) != "-0" {
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return n, 0, true, nil
		}
	}
	f, err = strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(f, 0) {
		if errors.Is(err, strconv.ErrRange) || math.IsInf(f, 0) {
			return 0, 0, false, p.fail(from, "%s is outside the range of float64", p.what(from))
		}
		return 0, 0, false, p.fail(from, "%s is no JSON number", p.what(from))
	}
	return 0, f, false, nil
}

func (p *parser) digits() int {
	from := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	return p.pos - from
}
