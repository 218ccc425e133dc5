package shell_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent_node/pkg/harness/trace"
	"agent_node/pkg/shell"
)

// recorded is a whole record of five events.
func recorded(t *testing.T) []byte {
	t.Helper()
	var m trace.Memory
	l, err := m.Open("s1")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"session", "request", "response", "stopping", trace.KindEnd} {
		if err := l.Append(trace.Event{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	return m.Bytes("s1")
}

// A record that nobody changed passes, also one without its end, and what is wrong is named with its place.
func TestVerifyTrace(t *testing.T) {
	whole := recorded(t)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for name, x := range map[string]struct {
		b    []byte
		want trace.Condition
		says string
	}{
		"whole":            {whole, trace.Intact, "5 events"},
		"empty":            {nil, trace.Empty, "line 1: nothing is there"},
		"torn":             {whole[:len(whole)-20], trace.Torn, "line 5 is torn: "},
		"torn at once":     {whole[:20], trace.Torn, "line 1 is torn: 20 bytes without their end, at offset 0"},
		"cut at a line":    {bytes.Join(lines[:3], nil), trace.Unended, "behind line 3: no end"},
		"a byte changed":   {bytes.Replace(whole, []byte(`"kind":"response"`), []byte(`"kind":"Response"`), 1), trace.Tampered, "line 3: the line was changed"},
		"a line left out":  {bytes.Join([][]byte{lines[0], lines[2], lines[3], lines[4]}, nil), trace.Tampered, "line 2: number 3 follows 1"},
		"no trace at all":  {[]byte("hello\nworld\n"), trace.Tampered, "line 1: no record"},
		"torn and changed": {append(bytes.Replace(whole[:len(whole)-len(lines[4])], []byte("request"), []byte("Request"), 1), lines[4][:50]...), trace.Tampered, "line 5 is torn"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "s1.jsonl")
			if err := os.WriteFile(file, x.b, 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err := shell.VerifyTrace(file, false, &out)
			sound := x.want == trace.Intact || x.want == trace.Unended
			if (err == nil) != sound || !strings.Contains(out.String(), string(x.want)) || !strings.Contains(out.String(), x.says) {
				t.Errorf("error %v; printed:\n%s", err, &out)
			}
			out.Reset()
			var report struct{ Condition trace.Condition }
			if jerr := shell.VerifyTrace(file, true, &out); (jerr == nil) != (err == nil) {
				t.Errorf("as JSON the error is %v", jerr)
			}
			if err := json.Unmarshal(out.Bytes(), &report); err != nil || report.Condition != x.want {
				t.Errorf("%v: %s", err, &out)
			}
		})
	}
	if err := shell.VerifyTrace(filepath.Join(t.TempDir(), "missing"), false, &bytes.Buffer{}); err == nil {
		t.Error("a missing file passes")
	}
}

// A file of another kind is no trace with many faults.
func TestShowTellsATraceFromAnotherFile(t *testing.T) {
	for text, fails := range map[string]bool{"# A page\nof text\n": true, string(recorded(t)): false, "": false} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := shell.ShowTrace(file, false, false, &out)
		if (err != nil) != fails || fails && out.Len() > 0 {
			t.Errorf("%.10q: %v, printed %q", text, err, &out)
		}
	}
}
