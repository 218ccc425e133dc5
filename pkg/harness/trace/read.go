package trace

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine bounds one record; a longer one is a problem and ends the reading.
const maxLine = 64 << 20

// Report is what reading and checking a log found.
type Report struct {
	Session string `json:"session"`
	Events  int    `json:"events"` // sound ones
	Lines   int    `json:"lines"`  // whole ones, sound or not
	// Problems: tampering, gaps, foreign lines; none in a sound log.
	Problems []Problem `json:"problems,omitempty"`
	// Torn is the last, unfinished line, which a killed process leaves; nil: none. It is tolerated.
	Torn *TornLine `json:"torn,omitempty"`
	// Complete: the record has its end. A log cut off at a line is otherwise sound.
	Complete bool `json:"complete"`
}

// OK says that nothing was tampered with; a torn tail and a missing end are no tampering that this log could prove.
func (r Report) OK() bool { return len(r.Problems) == 0 }

// Condition of a log.
type Condition string

// Conditions, the worse ones last. Only the first is a whole record.
const (
	Intact   Condition = "intact"
	Unended  Condition = "unended"  // sound as far as it goes, but without its end: cut off at a line, or still being written
	Torn     Condition = "torn"     // its last line is not whole, as a killed process or a full disk leaves it
	Empty    Condition = "empty"    // nothing in it
	Tampered Condition = "tampered" // changed, missing, repeated or foreign lines
)

// Condition says which of them the log is in.
func (r Report) Condition() Condition {
	switch {
	case len(r.Problems) > 0:
		return Tampered
	case r.Torn != nil:
		return Torn
	case r.Events == 0:
		return Empty
	case !r.Complete:
		return Unended
	}
	return Intact
}

// Problem of one line.
type Problem struct {
	Line    int    `json:"line"` // from 1
	Seq     uint64 `json:"seq,omitempty"`
	Message string `json:"message"`
}

// TornLine at the end.
type TornLine struct {
	Line   int   `json:"line"`
	Offset int64 `json:"offset"`
	Bytes  int   `json:"bytes"`
}

// KindEnd is the last event of a session.
const KindEnd = "end"

// Verify reads a log and checks numbers, links and hashes. The error is of the reader only.
func Verify(r io.Reader) (Report, error) { return Read(r, nil) }

// VerifyFile is Verify of a file.
func VerifyFile(path string) (Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return Report{}, fmt.Errorf("trace: %w", err)
	}
	defer f.Close() // only read
	return Verify(f)
}

// Events reads all sound events of a log.
func Events(r io.Reader) ([]Event, Report, error) {
	var all []Event
	rep, err := Read(r, func(e Event) error { all = append(all, e); return nil })
	return all, rep, err
}

// EventsOfFile is Events of a file.
func EventsOfFile(path string) ([]Event, Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Report{}, fmt.Errorf("trace: %w", err)
	}
	defer f.Close() // only read
	return Events(f)
}

// Read checks a log line by line and hands every readable event to each (nil: none). An event whose line is not sound
// is handed on as well; the report says what is wrong with it. An error of each ends the reading and is returned.
func Read(r io.Reader, each func(Event) error) (Report, error) {
	v := verifier{prev: genesis}
	br := bufio.NewReaderSize(r, 64*1024)
	var offset int64
	for n := 1; ; n++ {
		line, err := readLine(br)
		if len(line) == 0 && errors.Is(err, io.EOF) {
			return v.report, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			if errors.Is(err, errLong) {
				v.problem(n, 0, "the line is longer than %d bytes", maxLine)
				return v.report, nil
			}
			return v.report, fmt.Errorf("trace: line %d: %w", n, err)
		}
		last := errors.Is(err, io.EOF)
		var e Event
		if derr := json.Unmarshal(line, &e); derr != nil {
			if last && v.begins(line) {
				v.report.Torn = &TornLine{Line: n, Offset: offset, Bytes: len(line)}
				return v.report, nil
			}
			v.report.Lines = n
			v.problem(n, 0, "no record: %v", derr)
			if last {
				return v.report, nil
			}
			offset += int64(len(line)) + 1
			continue
		}
		v.report.Lines = n
		v.check(n, line, &e)
		if each != nil {
			if err := each(e); err != nil {
				return v.report, err
			}
		}
		if last {
			return v.report, nil
		}
		offset += int64(len(line)) + 1
	}
}

var errLong = errors.New("line too long")

// readLine returns a line without its newline; with io.EOF the last one, which has none.
func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull) && len(line) <= maxLine:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, errLong
		}
		return line, err
	}
}

type verifier struct {
	report Report
	seq    uint64
	prev   string
	any    bool
}

func (v *verifier) problem(line int, seq uint64, format string, args ...any) {
	v.report.Problems = append(v.report.Problems, Problem{Line: line, Seq: seq, Message: fmt.Sprintf(format, args...)})
}

// begins says whether the text is how the next line of this log begins: what a killed process leaves is, what somebody else wrote is
// not.
func (v *verifier) begins(line []byte) bool {
	next := fmt.Appendf(nil, `{"seq":%d,"time":"`, v.seq+1)
	n := min(len(line), len(next))
	return bytes.Equal(line[:n], next[:n])
}

// hashTail is what a line ends with: `,"hash":"`, 64 digits, `"}`.
const hashTail = len(`,"hash":"`) + 2*sha256.Size + len(`"}`)

func (v *verifier) check(n int, line []byte, e *Event) {
	before := len(v.report.Problems)
	if len(line) < hashTail || !bytes.HasPrefix(line[len(line)-hashTail:], []byte(`,"hash":"`)) {
		v.problem(n, e.Seq, "the line does not end with its hash")
	} else {
		body, tail := line[:len(line)-hashTail], line[len(line)-hashTail:]
		sum := sha256.Sum256(body)
		want := hex.EncodeToString(sum[:])
		if got := string(tail[len(`,"hash":"`) : len(tail)-2]); got != want {
			v.problem(n, e.Seq, "the line was changed: its hash is %.12s…, it says %.12s…", want, got)
		}
	}
	if e.Seq != v.seq+1 {
		v.problem(n, e.Seq, "number %d follows %d", e.Seq, v.seq)
	}
	if e.Prev != v.prev {
		v.problem(n, e.Seq, "the link is broken: it follows %.12s…, the line before is %.12s…", e.Prev, v.prev)
	}
	if v.any && e.Session != v.report.Session {
		v.problem(n, e.Seq, "session %q in the log of %q", e.Session, v.report.Session)
	}
	if v.report.Complete {
		v.problem(n, e.Seq, "a record of kind %s behind the end", e.Kind)
	}
	if !v.any {
		v.any, v.report.Session = true, e.Session
	}
	// What follows is checked against what this line claims, so that one change is one problem and not all that follow.
	v.seq, v.prev = e.Seq, e.Hash
	if e.Kind == KindEnd {
		v.report.Complete = true
	}
	if len(v.report.Problems) == before {
		v.report.Events++
	}
}
