package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// genesis is what the first line names as the hash before it.
const genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// chain numbers and links the lines of one log.
type chain struct {
	session string
	middle  []byte // `,"session":"…","kind":`
	clock   clockText
	seq     uint64
	prev    [2 * sha256.Size]byte
	redact  *Redactor
}

func newChain(session string, secrets []string) chain {
	c := chain{session: session}
	c.middle = append(AppendString([]byte(`,"session":`), session), `,"kind":`...)
	copy(c.prev[:], genesis)
	if len(secrets) > 0 {
		c.redact = NewRedactor(secrets)
	}
	return c
}

// line appends the event's line, newline included, to b.
func (c *chain) line(b []byte, e *Event) []byte {
	from := len(b)
	c.seq++
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, c.seq, 10)
	b = append(b, `,"time":`...)
	b = c.clock.append(b, e.Time)
	b = append(b, c.middle...)
	b = AppendString(b, e.Kind)
	for _, opt := range [...]struct{ key, value string }{
		{`,"call_id":`, e.CallID}, {`,"phase":`, e.Phase}, {`,"state":`, e.State},
	} {
		if opt.value != "" {
			b = append(b, opt.key...)
			b = AppendString(b, opt.value)
		}
	}
	b = append(b, `,"data":`...)
	data := []byte(e.Data)
	if len(data) == 0 {
		data = []byte("{}")
	}
	b = append(b, c.redact.JSON(data)...)
	b = append(b, `,"prev":"`...)
	b = append(b, c.prev[:]...)
	b = append(b, '"')
	sum := sha256.Sum256(b[from:])
	hex.Encode(c.prev[:], sum[:])
	b = append(b, `,"hash":"`...)
	b = append(b, c.prev[:]...)
	return append(b, '"', '}', '\n')
}

// clockText writes times of one log: the day is the same for long.
type clockText struct {
	day  int64
	text []byte // "2006-01-02T with its opening quote
}

// append writes RFC 3339 in UTC with nine digits of a second.
func (k *clockText) append(b []byte, t time.Time) []byte {
	const perDay = 24 * 60 * 60
	s := t.Unix()
	day := s / perDay
	if s -= day * perDay; s < 0 { // before 1970
		s, day = s+perDay, day-1
	}
	if k.text == nil || day != k.day {
		k.day, k.text = day, t.UTC().AppendFormat(append(k.text[:0], '"'), "2006-01-02T")
	}
	b = append(b, k.text...)
	b = append(b,
		byte('0'+s/36000), byte('0'+s/3600%10), ':', byte('0'+s/600%6), byte('0'+s/60%10), ':', byte('0'+s/10%6), byte('0'+s%10), '.')
	digits := [...]byte{'0', '0', '0', '0', '0', '0', '0', '0', '0', 'Z', '"'}
	for i, n := 8, uint32(t.Nanosecond()); n > 0; i, n = i-1, n/10 {
		digits[i] = byte('0' + n%10)
	}
	return append(b, digits[:]...)
}
