package shell

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"agent_node/pkg/harness/trace"
)

// ShowTrace prints a trace for people, or event by event as JSON.
func ShowTrace(file string, asJSON bool, out io.Writer) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if !asJSON {
		_, err = trace.Show(out, f, trace.ShowOptions{})
		return err
	}
	enc := json.NewEncoder(out)
	_, err = trace.Read(f, func(e trace.Event) error { return enc.Encode(e) })
	return err
}

// VerifyTrace checks a trace's hash chain and says what is wrong.
func VerifyTrace(file string, asJSON bool, out io.Writer) error {
	report, err := trace.VerifyFile(file)
	if err != nil {
		return err
	}
	if asJSON {
		if err := json.NewEncoder(out).Encode(report); err != nil {
			return err
		}
	} else {
		printReport(out, file, report)
	}
	if !report.OK() {
		return fmt.Errorf("%s: the trace is not intact", file)
	}
	return nil
}

// printReport says what the check found, for people.
func printReport(out io.Writer, file string, r trace.Report) {
	verdict := "intact"
	if !r.OK() {
		verdict = "NOT intact"
	}
	fmt.Fprintf(out, "%s: %s: session %s, %d events", file, verdict, r.Session, r.Events)
	if !r.Complete {
		fmt.Fprint(out, ", without its end")
	}
	fmt.Fprintln(out)
	for _, p := range r.Problems {
		fmt.Fprintf(out, "  line %d: %s\n", p.Line, p.Message)
	}
	if r.Torn != nil {
		fmt.Fprintf(out, "  line %d is torn: %d bytes at offset %d\n", r.Torn.Line, r.Torn.Bytes, r.Torn.Offset)
	}
}
