package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/trace"
	"agent_node/pkg/shell/export"
)

// ShowTrace prints a trace for people, or event by event as JSON.
func ShowTrace(file string, full, asJSON bool, out io.Writer) error {
	if err := isTrace(file); err != nil {
		return err
	}
	if !asJSON {
		_, err := trace.ShowFile(out, file, trace.ShowOptions{Full: full})
		return err
	}
	enc := json.NewEncoder(out)
	_, err := trace.ReadFile(file, func(e trace.Event) error { return enc.Encode(e) })
	return err
}

// isTrace tells a trace, be it torn or forged, from a file of another kind.
func isTrace(file string) error {
	report, err := trace.ReadFile(file, func(trace.Event) error { return nil })
	if err == nil && report.Events == 0 && report.Lines > 0 && report.Torn == nil {
		return fmt.Errorf("%s: no line of it is an event of a trace", file)
	}
	return err
}

// VerifyTrace checks a trace's hash chain and says what is wrong, and where. Only a whole record that nobody changed is no error.
func VerifyTrace(file string, asJSON bool, out io.Writer) error {
	report, err := trace.VerifyFile(file)
	if err != nil {
		return err
	}
	condition := report.Condition()
	if asJSON {
		if err := json.NewEncoder(out).Encode(struct {
			Condition trace.Condition `json:"condition"`
			trace.Report
		}{condition, report}); err != nil {
			return err
		}
	} else {
		printReport(out, file, report)
	}
	// A session that is still running, or whose process was killed, left a sound record as far as it goes.
	if condition != trace.Intact && condition != trace.Unended {
		return fmt.Errorf("%s: the trace is %s, not intact", file, condition)
	}
	return nil
}

// printReport says what the check found, for people.
func printReport(out io.Writer, file string, r trace.Report) {
	fmt.Fprintf(out, "%s: %s: session %s, %d events\n", file, r.Condition(), r.Session, r.Events)
	for _, p := range r.Problems {
		fmt.Fprintf(out, "  %s: %s\n", trace.At(p.File, p.Line), p.Message)
	}
	switch {
	case r.Torn != nil:
		fmt.Fprintf(out, "  %s is torn: %d bytes without their end, at offset %d; the %d lines before it are whole\n", trace.At(r.Torn.File, r.Torn.Line), r.Torn.Bytes, r.Torn.Offset, r.Lines)
	case r.Events == 0 && r.OK():
		fmt.Fprintln(out, "  line 1: nothing is there")
	case !r.Complete:
		fmt.Fprintf(out, "  behind line %d: no end; the session was cut off there, or is still running\n", r.Lines)
	}
}

// soundEvents of a record: one that was changed proves nothing.
func soundEvents(file string) ([]trace.Event, error) {
	events, report, err := trace.EventsOfFile(file)
	if err != nil {
		return nil, err
	}
	if !report.OK() {
		p := report.Problems[0]
		return nil, fmt.Errorf("%s: the trace was changed: %s: %s", file, trace.At(p.File, p.Line), p.Message)
	}
	if len(events) == 0 {
		return nil, fmt.Errorf("%s: the trace is empty", file)
	}
	return events, nil
}

// ReplayTrace runs today's loop on a record and says where it first differs, which is an error.
func ReplayTrace(file string, asJSON bool, out io.Writer) error {
	events, err := soundEvents(file)
	if err != nil {
		return err
	}
	report, err := harness.Replay(events)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if asJSON {
		if err := json.NewEncoder(out).Encode(report); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(out, "%s: session %s: %d of %d events of the loop are the same today\n", file, report.Session, report.Same, report.Events)
		for _, n := range report.Notes {
			fmt.Fprintln(out, "  "+n)
		}
		if report.Difference == nil && !report.Complete {
			fmt.Fprintln(out, "  the record ends there, without the session's end")
		}
	}
	if report.Difference != nil {
		return fmt.Errorf("%s: %w", file, report.Difference)
	}
	return nil
}

// Resumable reads a record and returns the id of its session, if that can go on.
func Resumable(file string) (session string, err error) {
	events, err := soundEvents(file)
	if err != nil {
		return "", err
	}
	r, err := harness.ReadRecord(events)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if err := r.Resumable(); err != nil {
		return "", fmt.Errorf("%s: session %s: %w", file, r.Session, err)
	}
	return r.Session, nil
}

// ExportTrace writes a record into a new file of another format: "mcap", "otlp", or "auto" by the file's name.
func ExportTrace(file, to, format string, content bool, out io.Writer) (err error) {
	if format == "auto" {
		switch strings.ToLower(filepath.Ext(to)) {
		case ".mcap":
			format = "mcap"
		case ".json":
			format = "otlp"
		default:
			return fmt.Errorf("%s: the name ends neither in .mcap nor in .json: say --format", to)
		}
	}
	events, err := soundEvents(file)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(to)) // half a file is none
		}
	}()
	switch format {
	case "mcap":
		err = export.MCAP(f, events)
	case "otlp":
		err = export.OTLP(f, events, export.OTLPOptions{Content: content})
	default:
		err = fmt.Errorf("format %q is unknown: mcap or otlp", format)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	fmt.Fprintf(out, "%s: %d events as %s\n", to, len(events), format)
	return nil
}
