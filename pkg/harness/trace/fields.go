package trace

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// Fields builds the JSON object of an event by appending. It exists because a step of the loop records several
// events and reflection would cost more than the rest of the step.
type Fields struct {
	b     []byte
	clock clockText
}

// Reset starts a new object in the same memory.
func (f *Fields) Reset() *Fields { f.b = append(f.b[:0], '{'); return f }

// JSON is the finished object; it is valid until the next Reset.
func (f *Fields) JSON() json.RawMessage {
	if len(f.b) == 0 {
		f.b = append(f.b, '{')
	}
	return append(f.b, '}')
}

func (f *Fields) key(k string) {
	if len(f.b) == 0 {
		f.b = append(f.b, '{')
	}
	if f.b[len(f.b)-1] != '{' {
		f.b = append(f.b, ',')
	}
	f.b = append(f.b, '"')
	f.b = append(f.b, k...) // keys are constants without anything to escape
	f.b = append(f.b, '"', ':')
}

// String adds a text.
func (f *Fields) String(k, v string) *Fields { f.key(k); f.b = AppendString(f.b, v); return f }

// Text adds a text unless it is empty.
func (f *Fields) Text(k, v string) *Fields {
	if v == "" {
		return f
	}
	return f.String(k, v)
}

// Bool adds a boolean.
func (f *Fields) Bool(k string, v bool) *Fields {
	f.key(k)
	f.b = strconv.AppendBool(f.b, v)
	return f
}

// Int adds an integer.
func (f *Fields) Int(k string, v int64) *Fields {
	f.key(k)
	f.b = strconv.AppendInt(f.b, v, 10)
	return f
}

// Uint adds an unsigned integer.
func (f *Fields) Uint(k string, v uint64) *Fields {
	f.key(k)
	f.b = strconv.AppendUint(f.b, v, 10)
	return f
}

// Float adds a number; non-finite ones become the strings "NaN", "Infinity" and "-Infinity".
func (f *Fields) Float(k string, v float64) *Fields {
	f.key(k)
	f.b = appendFloat(f.b, v)
	return f
}

// Time adds an instant (RFC 3339 with nanoseconds); the zero time is left out.
func (f *Fields) Time(k string, v time.Time) *Fields {
	if v.IsZero() {
		return f
	}
	f.key(k)
	f.b = f.clock.append(f.b, v)
	return f
}

// Strings adds a list of texts.
func (f *Fields) Strings(k string, v []string) *Fields {
	f.key(k)
	f.b = append(f.b, '[')
	for i, s := range v {
		if i > 0 {
			f.b = append(f.b, ',')
		}
		f.b = AppendString(f.b, s)
	}
	f.b = append(f.b, ']')
	return f
}

// Raw adds JSON as it is; it must be valid.
func (f *Fields) Raw(k string, v []byte) *Fields {
	f.key(k)
	f.b = append(f.b, v...)
	return f
}

// Any adds whatever Marshal makes of v.
func (f *Fields) Any(k string, v any) *Fields { return f.Raw(k, Marshal(v)) }

// List adds n objects.
func (f *Fields) List(k string, n int, each func(i int, o *Fields)) *Fields {
	f.key(k)
	f.b = append(f.b, '[')
	for i := range n {
		if i > 0 {
			f.b = append(f.b, ',')
		}
		f.b = append(f.b, '{')
		each(i, f)
		f.b = append(f.b, '}')
	}
	f.b = append(f.b, ']')
	return f
}

// Object adds an object.
func (f *Fields) Object(k string, fill func(o *Fields)) *Fields {
	f.key(k)
	f.b = append(f.b, '{')
	fill(f)
	f.b = append(f.b, '}')
	return f
}

func appendFloat(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// ValidText is the text as a record shows it: each byte that is no UTF-8 becomes U+FFFD.
func ValidText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

const hexDigits = "0123456789abcdef"

// AppendString appends a JSON string. Each byte that is no UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				// U+2028 and U+2029 are valid JSON, but end a line for some readers.
				if r == '\u2028' || r == '\u2029' {
					b = append(b, s[from:i]...)
					b = append(b, `\u202`...)
					b = append(b, hexDigits[r&0xf])
					from = i + n
				}
				i += n
				continue
			}
			b = append(b, s[from:i]...)
			b = append(b, "\uFFFD"...)
			i++
			from = i
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
		i++
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}
