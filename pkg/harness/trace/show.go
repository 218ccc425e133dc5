package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"
	"unicode/utf8"
)

// ShowOptions of Show.
type ShowOptions struct {
	// Full shows all data of every event; else long texts are shortened.
	Full bool
}

// Show writes a log for people, one event a line, and what is wrong with it at the end.
func Show(w io.Writer, r io.Reader, opt ShowOptions) (Report, error) {
	return show(w, opt, func(each func(Event) error) (Report, error) { return Read(r, each) })
}

// ShowFile is Show of all parts of a file's record.
func ShowFile(w io.Writer, file string, opt ShowOptions) (Report, error) {
	return show(w, opt, func(each func(Event) error) (Report, error) { return ReadFile(file, each) })
}

func show(w io.Writer, opt ShowOptions, read func(func(Event) error) (Report, error)) (Report, error) {
	// Every line goes through visible: what a model, a tool or a forger wrote must not steer the reader's terminal.
	line := func(format string, args ...any) error {
		_, err := fmt.Fprintln(w, visible(fmt.Sprintf(format, args...)))
		return err
	}
	var start time.Time
	rep, err := read(func(e Event) error {
		if start.IsZero() {
			start = e.Time
			if err := line("session %s, %s", e.Session, e.Time.Format(time.RFC3339)); err != nil {
				return err
			}
		}
		return line("%s", showEvent(e, start, opt))
	})
	if err != nil {
		return rep, err
	}
	for _, p := range rep.Problems {
		if err := line("PROBLEM %s: %s", At(p.File, p.Line), p.Message); err != nil {
			return rep, err
		}
	}
	if rep.Torn != nil {
		err = line("%s is torn (%d bytes): the process was killed while writing", At(rep.Torn.File, rep.Torn.Line), rep.Torn.Bytes)
	}
	if err == nil && !rep.Complete {
		err = line("no end: the session was cut off, or is still running")
	}
	return rep, err
}

// At says where a line stands; file is "" where there is only one.
func At(file string, line int) string {
	if file == "" {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("%s, line %d", file, line)
}

// Line is an event in one line, with long texts shortened.
func Line(e Event) string { return visible(showEvent(e, e.Time, ShowOptions{})) }

// leading fields are shown first, in this order; the others follow by name.
var leading = []string{
	"task", "outcome", "reason", "step", "next", "text", "answer", "calls", "tool", "arguments", "permission", "ok", "passed", "error_kind", "content",
	"criterion", "evidence", "message", "usage",
}

// bulky fields are left out unless all is wanted: they repeat what other events show, or nobody reads them on a screen.
var bulky = map[string]bool{"system": true, "tools": true, "stack": true, "whole": true}

func showEvent(e Event, start time.Time, opt ShowOptions) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%9.3f %5d %-12s", e.Time.Sub(start).Seconds(), e.Seq, e.Kind)
	if e.Phase != "" || e.State != "" {
		fmt.Fprintf(&b, " [%s/%s]", e.State, e.Phase)
	}
	if e.CallID != "" {
		fmt.Fprintf(&b, " %s", e.CallID)
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal(e.Data, &data); err != nil {
		fmt.Fprintf(&b, " %s", short(string(e.Data), opt))
		return b.String()
	}
	keys := make([]string, 0, len(data))
	for _, k := range leading {
		if _, ok := data[k]; ok {
			keys = append(keys, k)
		}
	}
	first := len(keys)
	for k := range data {
		if !contains(leading, k) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys[first:])
	for _, k := range keys {
		if bulky[k] && !opt.Full {
			continue
		}
		fmt.Fprintf(&b, " %s=%s", k, short(showValue(data[k]), opt))
	}
	return b.String()
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// showValue shows plain texts without quotes where nothing is lost by that.
func showValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if s != "" && !strings.ContainsAny(s, " =\"\n\t") {
			return s
		}
		return fmt.Sprintf("%q", s)
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) == nil {
		return compact.String()
	}
	return string(raw)
}

const shownBytes = 240

func short(s string, opt ShowOptions) string {
	if opt.Full || len(s) <= shownBytes {
		return s
	}
	end := shownBytes
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:end], len(s))
}

// visible replaces what Visible does not let through.
func visible(s string) string { return strings.Map(Visible, s) }

// Visible is the rune, or '·' in place of one that could steer a terminal: a control character or one that changes the direction of writing.
func Visible(r rune) rune {
	if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
		return '·'
	}
	return r
}
