package ros

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

func (d *decoder) scalar(f *Field) (any, *FieldError) {
	switch f.Kind {
	case KindBool:
		return boxed(d.bool(f.Kind))
	case KindByte, KindChar, KindUint8:
		return boxed(unsignedOf[uint8](d, f.Kind, 8))
	case KindInt8:
		return boxed(signedOf[int8](d, f.Kind, 8))
	case KindInt16:
		return boxed(signedOf[int16](d, f.Kind, 16))
	case KindUint16:
		return boxed(unsignedOf[uint16](d, f.Kind, 16))
	case KindInt32:
		return boxed(signedOf[int32](d, f.Kind, 32))
	case KindUint32:
		return boxed(unsignedOf[uint32](d, f.Kind, 32))
	case KindInt64:
		return boxed(signedOf[int64](d, f.Kind, 64))
	case KindUint64:
		return boxed(unsignedOf[uint64](d, f.Kind, 64))
	case KindFloat32:
		x, err := d.float(f.Kind, 32)
		return float32(x), err
	case KindFloat64:
		return boxed(d.float(f.Kind, 64))
	case KindString, KindWString:
		return boxed(d.string(f))
	case KindInvalid, KindMessage:
	}
	return nil, d.fail("field without a kind", "")
}

func boxed[T any](v T, err *FieldError) (any, *FieldError) { return v, err }

func (d *decoder) bool(k Kind) (bool, *FieldError) {
	switch {
	case d.word("true"):
		d.at += len("true")
		return true, nil
	case d.word("false"):
		d.at += len("false")
		return false, nil
	}
	return false, d.misplaced(k.String())
}

// short reads the usual integer: a few digits, then the end of the value. end is 0 for anything else.
func (d *decoder) short() (u uint64, end int) {
	i := d.at
	for i < len(d.data) && d.data[i]-'0' <= 9 && i < d.at+18 {
		u = u*10 + uint64(d.data[i]-'0')
		i++
	}
	if i == d.at || i == len(d.data) || d.data[d.at] == '0' && i > d.at+1 {
		return 0, 0
	}
	switch d.data[i] {
	case ',', ']', '}', ' ', '\n', '\r', '\t':
		return u, i
	}
	return 0, 0
}

func signedOf[T int8 | int16 | int32 | int64](d *decoder, k Kind, width int) (T, *FieldError) {
	limit := uint64(1) << (width - 1)
	if u, end := d.short(); end > 0 && u < limit {
		d.at = end
		return T(u), nil
	}
	n, err := d.integer(k)
	if err != nil {
		return 0, err
	}
	magnitude := n.magnitude
	switch {
	case n.reason != "":
	case n.negative && magnitude <= limit:
		d.at = n.end
		return T(-magnitude), nil
	case !n.negative && magnitude < limit:
		d.at = n.end
		return T(magnitude), nil
	default:
		n.reason = reasonRange
	}
	return 0, d.fail(n.reason, k.String())
}

func unsignedOf[T uint8 | uint16 | uint32 | uint64](d *decoder, k Kind, width int) (T, *FieldError) {
	most := uint64(math.MaxUint64) >> (64 - width)
	if u, end := d.short(); end > 0 && u <= most {
		d.at = end
		return T(u), nil
	}
	n, err := d.integer(k)
	if err != nil {
		return 0, err
	}
	switch {
	case n.reason != "":
	case n.negative && n.magnitude > 0, n.magnitude > most:
		n.reason = reasonRange
	default:
		d.at = n.end
		return T(n.magnitude), nil
	}
	return 0, d.fail(n.reason, k.String())
}

// integerText is an integer as read: the decoder moves to end only when it fits.
type integerText struct {
	negative  bool
	magnitude uint64
	end       int
	reason    string
}

// integer reads a number without loss. Plain digits are the usual case; a
// fraction or exponent is worked out on the digits, so that 1e0 and 1.0 are 1,
// 1.5 is none, and 1e999999999 costs nothing.
func (d *decoder) integer(k Kind) (integerText, *FieldError) {
	end, plain, err := d.number(k)
	if err != nil {
		return integerText{}, err
	}
	n := integerText{end: end}
	text := d.data[d.at:end]
	if text[0] == '-' {
		n.negative, text = true, text[1:]
	}
	if plain {
		n.magnitude, n.reason = digits(text)
		return n, nil
	}
	n.magnitude, n.reason = scaledInteger(text)
	return n, nil
}

func digits(text []byte) (uint64, string) {
	var u uint64
	for _, c := range text {
		digit := uint64(c - '0')
		if u > (math.MaxUint64-digit)/10 {
			return 0, reasonRange
		}
		u = u*10 + digit
	}
	return u, ""
}

// scaledInteger is the value of digits with a fraction or an exponent.
func scaledInteger(text []byte) (uint64, string) {
	var mantissa []byte
	exponent, fraction := 0, false
	for i, c := range text {
		switch {
		case c == '.':
			fraction = true
		case c == 'e' || c == 'E':
			e, err := strconv.Atoi(string(text[i+1:]))
			if err != nil { // beyond int: the sign says which way
				e = math.MaxInt32
				if text[i+1] == '-' {
					e = -math.MaxInt32
				}
			}
			exponent += min(max(e, -math.MaxInt32), math.MaxInt32)
		default:
			if fraction {
				exponent--
			}
			mantissa = append(mantissa, c)
		}
		if c == 'e' || c == 'E' {
			break
		}
	}
	for len(mantissa) > 0 && mantissa[0] == '0' {
		mantissa = mantissa[1:]
	}
	for len(mantissa) > 0 && mantissa[len(mantissa)-1] == '0' {
		mantissa, exponent = mantissa[:len(mantissa)-1], exponent+1
	}
	switch {
	case len(mantissa) == 0:
		return 0, ""
	case exponent < 0:
		return 0, reasonFraction
	case len(mantissa)+exponent > 20:
		return 0, reasonRange
	}
	for range exponent {
		mantissa = append(mantissa, '0')
	}
	return digits(mantissa)
}

// number finds the end of the number at the current place by JSON's grammar.
// plain means digits only.
func (d *decoder) number(k Kind) (end int, plain bool, err *FieldError) {
	data, i := d.data, d.at
	if i < len(data) && data[i] == '-' {
		i++
	}
	first := i
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	if i == first {
		return 0, false, d.misplaced(k.String())
	}
	if data[first] == '0' && i > first+1 {
		return 0, false, d.fail("not JSON (a leading zero)", k.String())
	}
	plain = true
	if i < len(data) && data[i] == '.' {
		plain = false
		i++
		from := i
		for i < len(data) && data[i]-'0' <= 9 {
			i++
		}
		if i == from {
			return 0, false, d.fail("not JSON (no digit after the point)", k.String())
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		plain = false
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from := i
		for i < len(data) && data[i]-'0' <= 9 {
			i++
		}
		if i == from {
			return 0, false, d.fail("not JSON (no digit in the exponent)", k.String())
		}
	}
	return i, plain, nil
}

func (d *decoder) float(k Kind, width int) (float64, *FieldError) {
	if d.at < len(d.data) && d.data[d.at] == '"' {
		for _, s := range [...]struct {
			text  string
			value float64
		}{
			{`"` + textNaN + `"`, math.NaN()},
			{`"` + textPosInf + `"`, math.Inf(1)},
			{`"` + textNegInf + `"`, math.Inf(-1)},
		} {
			if d.word(s.text) {
				d.at += len(s.text)
				return s.value, nil
			}
		}
		return 0, d.misplaced(k.String())
	}
	end, plain, err := d.number(k)
	if err != nil {
		return 0, err
	}
	if text := d.data[d.at:end]; plain && len(text) <= 7 {
		// Up to seven characters are exact in either width.
		negative := text[0] == '-'
		if negative {
			text = text[1:]
		}
		u, _ := digits(text)
		d.at = end
		if negative {
			return math.Copysign(float64(u), -1), nil
		}
		return float64(u), nil
	}
	f, parseErr := strconv.ParseFloat(string(d.data[d.at:end]), width)
	if parseErr != nil {
		return 0, d.fail(reasonRange, k.String())
	}
	d.at = end
	return f, nil
}

func (d *decoder) string(f *Field) (string, *FieldError) {
	if d.at >= len(d.data) || d.data[d.at] != '"' {
		return "", d.misplaced(f.TypeString())
	}
	start := d.at
	text, err := d.text()
	if err != nil {
		err.Want = f.TypeString()
		return "", err
	}
	if err := d.spend(len(text)); err != nil {
		return "", err
	}
	s := string(text)
	if f.StringBound > 0 && !f.stringFits(s) {
		d.at = start
		return "", d.fail(reasonBound, f.TypeString())
	}
	return s, nil
}

// text reads a quoted string. The result is valid until the next call.
func (d *decoder) text() ([]byte, *FieldError) {
	d.at++
	start, ascii := d.at, true
	for i := d.at; i < len(d.data); i++ {
		switch c := d.data[i]; {
		case c == '"':
			text := d.data[start:i]
			if !ascii && !utf8.Valid(text) {
				return nil, d.badUTF8(start, text)
			}
			d.at = i + 1
			return text, nil
		case c == '\\':
			return d.escapedText(start, i)
		case c < ' ':
			d.at = i
			return nil, &FieldError{Reason: "not JSON (a control character in a string)", Value: strconv.Quote(string(rune(c))), Offset: i}
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	d.at = len(d.data)
	return nil, d.fail("text ends early", "")
}

func (d *decoder) badUTF8(start int, text []byte) *FieldError {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return &FieldError{Reason: reasonUTF8, Value: strconv.Quote(string(text[i : i+1])), Offset: start + i}
		}
		i += n
	}
	return &FieldError{Reason: reasonUTF8, Offset: start}
}

// escapedText goes on reading a string from its first escape.
func (d *decoder) escapedText(start, i int) ([]byte, *FieldError) {
	d.buf = append(d.buf[:0], d.data[start:i]...)
	plain := start // where the bytes began that are checked as UTF-8 at the end
	check := func(end int) *FieldError {
		if text := d.data[plain:end]; !utf8.Valid(text) {
			return d.badUTF8(plain, text)
		}
		return nil
	}
	for i < len(d.data) {
		c := d.data[i]
		switch {
		case c == '"':
			if err := check(i); err != nil {
				return nil, err
			}
			d.at = i + 1
			return d.buf, nil
		case c < ' ':
			return nil, &FieldError{Reason: "not JSON (a control character in a string)", Value: strconv.Quote(string(rune(c))), Offset: i}
		case c != '\\':
			d.buf = append(d.buf, c)
			i++
			continue
		}
		if err := check(i); err != nil {
			return nil, err
		}
		n, err := d.escape(i)
		if err != nil {
			return nil, err
		}
		i += n
		plain = i
	}
	d.at = len(d.data)
	return nil, d.fail("text ends early", "")
}

// escape decodes the escape at i and says how long it is.
func (d *decoder) escape(i int) (int, *FieldError) {
	bad := &FieldError{Reason: "not JSON (an invalid escape in a string)", Value: strconv.Quote(string(d.data[i:min(len(d.data), i+6)])), Offset: i}
	if i+1 >= len(d.data) {
		return 0, bad
	}
	switch c := d.data[i+1]; c {
	case '"', '\\', '/':
		d.buf = append(d.buf, c)
	case 'b':
		d.buf = append(d.buf, '\b')
	case 'f':
		d.buf = append(d.buf, '\f')
	case 'n':
		d.buf = append(d.buf, '\n')
	case 'r':
		d.buf = append(d.buf, '\r')
	case 't':
		d.buf = append(d.buf, '\t')
	case 'u':
		r, ok := d.hex4(i)
		if !ok {
			return 0, bad
		}
		if !utf16.IsSurrogate(r) {
			d.buf = utf8.AppendRune(d.buf, r)
			return 6, nil
		}
		low, ok := d.hex4(i + 6)
		if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
			d.buf = utf8.AppendRune(d.buf, pair)
			return 12, nil
		}
		bad.Reason = "half a surrogate pair"
		return 0, bad
	default:
		return 0, bad
	}
	return 2, nil
}

func (d *decoder) hex4(i int) (rune, bool) {
	if i+6 > len(d.data) || d.data[i] != '\\' || d.data[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range d.data[i+2 : i+6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
