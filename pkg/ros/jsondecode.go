package ros

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Limits bound what decoding a text may cost.
type Limits struct {
	Text   int // longest text, bytes
	Memory int // most memory for the message, bytes, roughly counted
}

// DefaultLimits are 64 MiB of text and 256 MiB of message: more than an image of 16 megapixels.
func DefaultLimits() Limits { return Limits{Text: 64 << 20, Memory: 256 << 20} }

// DecodeJSON reads a message from its JSON form (see AppendJSON), under DefaultLimits.
// Fields that are missing take their interface defaults. Everything else that is not
// exactly as it should be is a *FieldError with the field's path, the expected type, the value and
// the byte offset: an unknown or repeated field, null, a value of another type, a number out
// of range, a fraction where an integer belongs, a wrong array length, a string over its bound,
// invalid UTF-8, a bare NaN, text that is no JSON, text after the message.
// An integer may be written as 2, 2.0 or 2e0; a decimal number becomes the nearest float.
func DecodeJSON(t *Type, data []byte) (*Message, error) {
	return DecodeJSONLimited(t, data, DefaultLimits())
}

// DecodeJSONLimited is DecodeJSON under limits of the caller's own.
func DecodeJSONLimited(t *Type, data []byte, limits Limits) (*Message, error) {
	if len(data) > limits.Text {
		return nil, &FieldError{Message: t.Name, Reason: "text too long", Want: fmt.Sprintf("at most %d bytes", limits.Text), Value: strconv.Itoa(len(data)), Offset: -1}
	}
	d := decoder{data: data, memory: limits.Memory}
	if err := d.spend(t.laidOut().bytes); err != nil {
		err.Message = t.Name
		return nil, err
	}
	m := New(t)
	if err := d.message(m); err != nil {
		return nil, err
	}
	d.space()
	if d.at < len(data) {
		return nil, &FieldError{Message: t.Name, Reason: "text after the message", Value: d.token(), Offset: d.at}
	}
	return m, nil
}

// decoder reads one message. Its errors are relative to the message being read;
// each caller puts its own field's name in front.
type decoder struct {
	data   []byte
	at     int
	memory int // left to spend
	buf    []byte
}

func (d *decoder) spend(n int) *FieldError {
	if d.memory -= n; d.memory < 0 {
		return d.fail("message too large for its memory limit", "")
	}
	return nil
}

func (d *decoder) fail(reason, want string) *FieldError {
	return &FieldError{Reason: reason, Want: want, Value: d.token(), Offset: d.at}
}

func (d *decoder) space() {
	for d.at < len(d.data) {
		switch d.data[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

// peek is the next byte that is not space, 0 at the end.
func (d *decoder) peek() byte {
	d.space()
	if d.at < len(d.data) {
		return d.data[d.at]
	}
	return 0
}

// token is the text of the value at the current place, for errors.
func (d *decoder) token() string {
	if d.at >= len(d.data) {
		return "end of text"
	}
	rest := d.data[d.at:min(len(d.data), d.at+shownBytes+1)]
	switch rest[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	end := 1
	for end < len(rest) {
		c := rest[end]
		if rest[0] == '"' {
			if c == '"' && rest[end-1] != '\\' {
				end++
				break
			}
		} else if c == ',' || c == '}' || c == ']' || c == ':' || c <= ' ' {
			break
		}
		end++
	}
	s := string(rest[:end])
	if !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	return cut(s)
}

// misplaced is the error for a value of another type than wanted. It knows the
// words that people write where JSON has none.
func (d *decoder) misplaced(want string) *FieldError {
	if d.at >= len(d.data) {
		return d.fail("text ends early", want)
	}
	switch c := d.data[d.at]; c {
	case 'n':
		if d.word("null") {
			return d.fail("null", want)
		}
	case 'N', 'I', 'i', '+', '-':
		word := d.token()
		switch word {
		case "NaN", "nan", "Infinity", "-Infinity", "+Infinity", "inf", "-inf", "+inf", "Inf", "-Inf", "+Inf":
			return d.fail(`not JSON (a number that is not finite is the string "NaN", "Infinity" or "-Infinity")`, want)
		}
	case '{', '[', '"', 't', 'f', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return d.fail(reasonType, want)
	}
	if d.data[d.at] == '-' {
		return d.fail(reasonType, want)
	}
	return d.fail("not JSON", want)
}

func (d *decoder) word(w string) bool {
	return d.at+len(w) <= len(d.data) && string(d.data[d.at:d.at+len(w)]) == w
}

func (d *decoder) message(m *Message) *FieldError {
	t := m.Type
	if d.peek() != '{' {
		return d.named(t, d.misplaced(t.Name))
	}
	d.at++
	var seenSmall uint64
	var seenLarge []bool
	if len(t.Fields) > 64 {
		seenLarge = make([]bool, len(t.Fields))
	}
	if d.peek() == '}' {
		d.at++
		return nil
	}
	for next := 0; ; next++ {
		i, err := d.key(t, next)
		if err != nil {
			return err
		}
		if seenLarge != nil {
			if seenLarge[i] {
				return d.repeated(t, i)
			}
			seenLarge[i] = true
		} else {
			if seenSmall&(1<<i) != 0 {
				return d.repeated(t, i)
			}
			seenSmall |= 1 << i
		}
		next = i
		if d.peek() != ':' {
			return d.named(t, d.misplacedPunctuation(":")).in(t, i)
		}
		d.at++
		d.space()
		if err := d.field(m, i); err != nil {
			return err
		}
		switch d.peek() {
		case ',':
			d.at++
			d.space()
		case '}':
			d.at++
			return nil
		default:
			return d.named(t, d.misplacedPunctuation(", or }"))
		}
	}
}

// named puts the type's name on an error that has none yet.
func (d *decoder) named(t *Type, err *FieldError) *FieldError {
	if err.Message == "" {
		err.Message = t.Name
	}
	return err
}

func (e *FieldError) in(t *Type, i int) *FieldError { return e.under(t, t.Fields[i].Name) }

func (d *decoder) misplacedPunctuation(want string) *FieldError {
	if d.at >= len(d.data) {
		return d.fail("text ends early", want)
	}
	return d.fail("not JSON", want)
}

func (d *decoder) repeated(t *Type, i int) *FieldError {
	return &FieldError{Message: t.Name, Path: t.Fields[i].Name, Reason: "repeated field", Offset: d.at}
}

// key reads a field's name and gives its index. Names mostly come in the order of the definition.
func (d *decoder) key(t *Type, next int) (int, *FieldError) {
	if d.peek() != '"' {
		return 0, d.named(t, d.misplacedPunctuation("a field's name in quotes"))
	}
	if next < len(t.Fields) {
		name, rest := t.Fields[next].Name, d.data[d.at+1:]
		if len(rest) > len(name) && rest[len(name)] == '"' && string(rest[:len(name)]) == name {
			d.at += len(name) + 2
			return next, nil
		}
	}
	start := d.at
	raw, err := d.text()
	if err != nil {
		return 0, d.named(t, err)
	}
	i, ok := t.index[string(raw)]
	if !ok {
		return 0, &FieldError{Message: t.Name, Path: cut(string(raw)), Reason: reasonUnknown, Offset: start}
	}
	return i, nil
}

func (d *decoder) field(m *Message, i int) *FieldError {
	t := m.Type
	f := &t.Fields[i]
	if f.Array != Single {
		v, err := d.array(f)
		if err != nil {
			return err.in(t, i)
		}
		m.Values[i] = v
		return nil
	}
	if f.Kind == KindMessage {
		if err := d.message(m.Values[i].(*Message)); err != nil {
			return err.in(t, i)
		}
		return nil
	}
	v, err := d.scalar(f)
	if err != nil {
		return err.in(t, i)
	}
	m.Values[i] = v
	return nil
}
