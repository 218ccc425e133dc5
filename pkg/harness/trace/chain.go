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

// clockText writes times of one log: within a second only the fraction changes.
type clockText struct {
	second int64
	text   []byte // "2006-01-02T15:04:05 with its opening quote
}

// append writes RFC 3339 in UTC with nine digits of a second.
func (k *clockText) append(b []byte, t time.Time) []byte {
	if s := t.Unix(); k.text == nil || s != k.second {
		k.second = s
		k.text = t.UTC().AppendFormat(append(k.text[:0], '"'), "2006-01-02T15:04:05")
	}
	b = append(b, k.text...)
	b = append(b, '.')
	n := t.Nanosecond()
	for unit := 100_000_000; unit > 0; unit /= 10 {
		b = append(b, byte('0'+n/unit%10))
	}
	return append(b, 'Z', '"')
}
