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
	"path/filepath"
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
	File    string `json:"file,omitempty"` // where a record has several
	Line    int    `json:"line"`           // from 1
	Seq     uint64 `json:"seq,omitempty"`
	Message string `json:"message"`
}

// TornLine at the end.
type TornLine struct {
	File   string `json:"file,omitempty"` // where a record has several
	Line   int    `json:"line"`
	Offset int64  `json:"offset"`
	Bytes  int    `json:"bytes"`
}

// Kinds that this package itself knows.
const (
	KindEnd      = "end"      // the last event of a session
	KindWhole    = "whole"    // what was too large for a line: file, bytes and sha256 of a side file
	KindRecorder = "recorder" // the disk did not take records for a while, and does again: error, for_ns
)

// Verify reads a log and checks numbers, links and hashes. The error is of the reader only.
func Verify(r io.Reader) (Report, error) { return Read(r, nil) }

// Events reads all sound events of a log.
func Events(r io.Reader) ([]Event, Report, error) {
	var all []Event
	rep, err := Read(r, func(e Event) error { all = append(all, e); return nil })
	return all, rep, err
}

// read one part; last: none follows, so that its last line may be torn.
func (v *verifier) read(r io.Reader, last bool, each func(line int, e Event) error) error {
	br := bufio.NewReaderSize(r, 64*1024)
	var offset int64
	for n := 1; ; n++ {
		line, err := readLine(br)
		if len(line) == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			if errors.Is(err, errLong) {
				v.problem(n, 0, "the line is longer than %d bytes", maxLine)
				return nil
			}
			return fmt.Errorf("trace: line %d: %w", n, err)
		}
		end := errors.Is(err, io.EOF)
		var e Event
		if derr := json.Unmarshal(line, &e); derr != nil {
			if end && last && v.begins(line) {
				v.report.Torn = &TornLine{File: v.file, Line: n, Offset: offset, Bytes: len(line)}
				return nil
			}
			v.report.Lines++
			v.problem(n, 0, "no record: %v", derr)
			if end {
				return nil
			}
			offset += int64(len(line)) + 1
			continue
		}
		v.report.Lines++
		v.check(n, line, &e)
		if err := each(n, e); err != nil {
			return err
		}
		if end {
			return nil
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
	file   string // the part that is read; "": there is only one
	seq    uint64
	prev   string
	any    bool
}

func (v *verifier) problem(line int, seq uint64, format string, args ...any) {
	v.report.Problems = append(v.report.Problems, Problem{File: v.file, Line: line, Seq: seq, Message: fmt.Sprintf(format, args...)})
}

// begins says whether the text is how the next line of this log begins: what a killed process leaves is, what somebody else wrote is
// not.
func (v *verifier) begins(line []byte) bool {
	next := fmt.Appendf(nil, `{"seq":%d,"time":"`, v.seq+1)
	n := min(len(line), len(next))
	return bytes.Equal(line[:n], next[:n])
}

// sideFile checks the file that an event names.
func (v *verifier) sideFile(line int, dir string, e Event) {
	var d struct {
		File   string `json:"file"`
		Bytes  int64  `json:"bytes"`
		SHA256 string `json:"sha256"`
	}
	if json.Unmarshal(e.Data, &d) != nil || d.File == "" {
		return
	}
	if !filepath.IsLocal(filepath.FromSlash(d.File)) {
		v.problem(line, e.Seq, "the side file %q is outside the record's folder", d.File)
		return
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(d.File)))
	if err != nil {
		v.problem(line, e.Seq, "the side file is missing: %v", err)
		return
	}
	defer f.Close() // only read
	h := sha256.New()
	n, err := io.Copy(h, f)
	switch {
	case err != nil:
		v.problem(line, e.Seq, "the side file %s cannot be read: %v", d.File, err)
	case n != d.Bytes || hex.EncodeToString(h.Sum(nil)) != d.SHA256:
		v.problem(line, e.Seq, "the side file %s was changed: it has %d bytes, %d were written", d.File, n, d.Bytes)
	}
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
