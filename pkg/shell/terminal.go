package shell

import (
	"io"
	"os"
	"strings"

	"agent_node/pkg/harness/trace"
)

// IsTerminal tells a file at which somebody may sit from a pipe, a file and /dev/null.
func IsTerminal(f *os.File) bool {
	is, err := f.Stat()
	if err != nil || is.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(is, null)
}

// Screen is f, where no text that a model or a robot wrote can steer the terminal if f is one.
func Screen(f *os.File) io.Writer {
	if !IsTerminal(f) {
		return f // programs read bytes as they are
	}
	return Plain{f}
}

// Plain writes what can be printed; what could steer the terminal comes out as by trace.Visible. Each Write is a whole text.
type Plain struct{ W io.Writer }

// Write implements io.Writer.
func (p Plain) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.W, strings.Map(printable, string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

func printable(r rune) rune {
	if r == '\n' || r == '\t' {
		return r
	}
	return trace.Visible(r)
}
