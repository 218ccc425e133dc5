package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// genesis is what the first line names as the hash before it.
const genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// chain numbers and links the lines of one log.
type chain struct {
	session string
	seq     uint64
	prev    [2 * sha256.Size]byte
	redact  *Redactor
}

func newChain(session string, secrets []string) chain {
	c := chain{session: session}
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
	b = appendTime(b, e.Time)
	b = append(b, `,"session":`...)
	b = AppendString(b, c.session)
	b = append(b, `,"kind":`...)
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
