package shell

import (
	"encoding/json"
	"fmt"
	"io"

	"agent_node/pkg/harness/trace"
)

// ShowTrace prints a trace for people, or event by event as JSON.
func ShowTrace(file string, asJSON bool, out io.Writer) error {
	if !asJSON {
		_, err := trace.ShowFile(out, file, trace.ShowOptions{})
		return err
	}
	enc := json.NewEncoder(out)
	_, err := trace.ReadFile(file, func(e trace.Event) error { return enc.Encode(e) })
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
