package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 3, 1, 9, 30, 12, 345678901, time.UTC)

func event(i int) Event {
	var f Fields
	return Event{
		Time: start.Add(time.Duration(i) * time.Millisecond), Kind: "observation", CallID: fmt.Sprintf("call_%d", i), Phase: "observe", State: "awaiting_tool",
		Data: f.Reset().Int("i", int64(i)).String("content", "ä\n\u2028\"\\").JSON(),
	}
}

// written is a log of n events and an end.
func written(t testing.TB, n int) []byte {
	t.Helper()
	m := &Memory{}
	l, err := m.Open("s1")
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := l.Append(event(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Append(Event{Time: start, Kind: KindEnd}), l.Flush(t.Context()), l.Close()); err != nil {
		t.Fatal(err)
	}
	return m.Bytes("s1")
}

func TestRecordIsReadAsWritten(t *testing.T) {
	b := written(t, 300)
	ev, rep, err := Events(bytes.NewReader(b))
	if err != nil || !rep.OK() || !rep.Complete || rep.Torn != nil || rep.Session != "s1" || rep.Events != 301 {
		t.Fatalf("%v %+v", err, rep)
	}
	for i, e := range ev[:300] {
		want := event(i)
		if e.Seq != uint64(i+1) || !e.Time.Equal(want.Time) || e.Kind != want.Kind || e.CallID != want.CallID || e.Phase != want.Phase || e.State != want.State {
			t.Fatalf("event %d is %+v", i, e)
		}
		var d struct {
			I       int
			Content string
		}
		if err := json.Unmarshal(e.Data, &d); err != nil || d.I != i || d.Content != "ä\n\u2028\"\\" {
			t.Fatalf("data %s: %v", e.Data, err)
		}
	}
	if bytes.Count(b, []byte("\n")) != 301 || bytes.Contains(b, []byte("\u2028")) {
		t.Fatal("a line is no line")
	}
}

// Any changed byte is noticed.
func TestTamperingIsNoticed(t *testing.T) {
	b := written(t, 5)
	rapid.Check(t, func(t *rapid.T) {
		c := bytes.Clone(b)
		at := rapid.IntRange(0, len(c)-2).Draw(t, "at") // the last newline alone may be missing
		by := rapid.Byte().Draw(t, "by")
		if c[at] == by {
			t.Skip("unchanged")
		}
		c[at] = by
		rep, err := Verify(bytes.NewReader(c))
		if err == nil && rep.OK() && rep.Torn == nil {
			t.Fatalf("byte %d changed from %q to %q: %+v", at, b[at], by, rep)
		}
	})
}

func TestGapsAndStrangers(t *testing.T) {
	b := written(t, 5)
	lines := bytes.SplitAfter(b, []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(i ...int) []byte {
		var b []byte
		for _, x := range i {
			b = append(b, lines[x]...)
		}
		return b
	}
	other := func() []byte {
		m := &Memory{}
		l, err := m.Open("s2")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Append(event(0)); err != nil {
			t.Fatal(err)
		}
		return m.Bytes("s2")
	}()
	for name, x := range map[string]struct {
		b     []byte
		words string
	}{
		"a line is missing":                {join(0, 1, 3, 4, 5), "number 4 follows 2"},
		"the first line is missing":        {join(1, 2, 3, 4, 5), "number 2 follows 0"},
		"two lines change places":          {join(0, 2, 1, 3, 4, 5), "number 3 follows 1"},
		"a line comes twice":               {join(0, 1, 1, 2, 3, 4, 5), "number 2 follows 2"},
		"a line of another session":        {append(join(0, 1), other...), `session "s2" in the log of "s1"`},
		"a line that is no record":         {append(append(join(0), "hello\n"...), join(1, 2, 3, 4, 5)...), "no record"},
		"text of somebody else at the end": {append(join(0, 1), "{\"seq\":4,\"ti"...), "no record"},
		"something behind the end":         {join(0, 1, 2, 3, 4, 5, 5), "behind the end"},
		"a record without its hash":        {append(join(0), `{"seq":2,"time":"2026-03-01T09:30:12Z","session":"s1","kind":"x","data":{},"prev":""}`+"\n"...), "does not end with its hash"},
		"a content changed in a space":     {bytes.Replace(join(0, 1, 2, 3, 4, 5), []byte(`"i":2`), []byte(`"i": 2`), 1), "was changed"},
	} {
		rep, err := Verify(bytes.NewReader(x.b))
		if err != nil || rep.OK() || !strings.Contains(fmt.Sprint(rep.Problems), x.words) {
			t.Errorf("%s: %v %+v", name, err, rep)
		}
	}
	rep, err := Verify(bytes.NewReader(join(0, 1, 2)))
	if err != nil || !rep.OK() || rep.Complete {
		t.Errorf("cut at a line: %v %+v", err, rep)
	}
	if rep, err := Verify(bytes.NewReader(nil)); err != nil || !rep.OK() || rep.Complete || rep.Events != 0 {
		t.Errorf("empty: %v %+v", err, rep)
	}
	for name, x := range map[string]struct {
		b    []byte
		want Condition
	}{
		"whole": {join(0, 1, 2, 3, 4, 5), Intact}, "cut at a line": {join(0, 1, 2), Unended}, "empty": {nil, Empty},
		"torn": {b[:len(b)-30], Torn}, "torn in its first line": {b[:30], Torn}, "changed": {join(0, 2, 3), Tampered},
		"torn and changed": {append(join(0, 2), lines[3][:40]...), Tampered},
	} {
		if rep, err := Verify(bytes.NewReader(x.b)); err != nil || rep.Condition() != x.want {
			t.Errorf("%s: %v, it is %s, want %s", name, err, rep.Condition(), x.want)
		}
	}
}

// Wherever a killed process stopped, the rest is read and the torn line reported.
func TestTornLastLineIsToleratedAndReported(t *testing.T) {
	b := written(t, 3)
	for cut := range b {
		rep, err := Verify(bytes.NewReader(b[:cut]))
		whole := bytes.Count(b[:cut], []byte("\n"))
		last := cut - 1 - bytes.LastIndexByte(b[:cut], '\n')
		complete := cut == len(b)-1 // all but the newline
		if err != nil || !rep.OK() {
			t.Fatalf("cut at %d: %v %+v", cut, err, rep)
		}
		nextLineWhole := b[cut] == '\n' // a whole line without its newline is read as a line
		switch {
		case last == 0 || nextLineWhole:
			if rep.Torn != nil || nextLineWhole && rep.Events != whole+1 || complete != rep.Complete {
				t.Fatalf("cut at %d: %+v", cut, rep)
			}
		case rep.Torn == nil || rep.Torn.Bytes != last || rep.Torn.Line != whole+1 || int(rep.Torn.Offset) != cut-last || rep.Events != whole:
			t.Fatalf("cut at %d: %+v %+v", cut, rep, rep.Torn)
		}
	}
}

func FuzzReader(f *testing.F) {
	b := written(f, 2)
	f.Add(b)
	f.Add(b[:len(b)-7])
	f.Add([]byte("{}\n{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var out bytes.Buffer
		if _, err := Show(&out, bytes.NewReader(b), ShowOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, r := range out.String() {
			if r < 0x20 && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 {
				t.Fatalf("control character %U on the screen: %q", r, out.String())
			}
		}
	})
}

func TestShow(t *testing.T) {
	m := &Memory{}
	l, err := m.Open("s1")
	if err != nil {
		t.Fatal(err)
	}
	var f Fields
	for _, e := range []Event{
		{Time: start, Kind: "session", Phase: "assemble", State: "sampling", Data: f.Reset().String("system", "long prompt").String("task", "go there").JSON()},
	} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []Event{
		{Time: start.Add(1500 * time.Millisecond), Kind: "call", CallID: "c1", Data: f.Reset().String("tool", "drive").Raw("arguments", []byte(`{"d": 1}`)).JSON()},
		{Time: start.Add(2 * time.Second), Kind: "observation", CallID: "c1", Data: new(Fields).Reset().String("content", strings.Repeat("ä", 200)+"\x1b[31m").Bool("ok", true).JSON()},
	} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if _, err := Show(&out, bytes.NewReader(append(m.Bytes("s1"), `{"seq":`...)), ShowOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"session s1, 2026-03-01T09:30:12Z\n", `    0.000     1 session      [sampling/assemble] task="go there"`, `    1.500     2 call         c1 tool=drive arguments={"d":1}`,
		"ok=true content=ääää", "… (4", "line 4 is torn (7 bytes)", "no end: the session was cut off",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "long prompt") {
		t.Error("bulky data is shown")
	}
	out.Reset()
	if _, err := Show(&out, bytes.NewReader(m.Bytes("s1")), ShowOptions{Full: true}); err != nil || !strings.Contains(out.String(), "long prompt") || !strings.Contains(out.String(), "·[31m") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestFilesAreWrittenAndFlushed(t *testing.T) {
	for _, fsync := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "a", "b")
		s, err := NewFiles(FileOptions{Dir: dir, Fsync: fsync, Secrets: []string{"sk-secret"}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.Open("s1")
		if err != nil {
			t.Fatal(err)
		}
		if l.Name() != filepath.Join(dir, "s1.jsonl") {
			t.Errorf("name %s", l.Name())
		}
		for i := range 50 {
			if err := l.Append(event(i)); err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 {
				if err := l.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if rep, err := VerifyFile(l.Name()); err != nil || rep.Events != i+1 {
					t.Fatalf("behind the flush of event %d: %v %+v", i+1, err, rep)
				}
			}
		}
		if err := errors.Join(l.Append(Event{Time: start, Kind: KindEnd, Data: json.RawMessage(`{"key":"my sk-secret!"}`)}), l.Close(), l.Close()); err != nil {
			t.Fatal(err)
		}
		ev, rep, err := EventsOfFile(l.Name())
		if err != nil || !rep.OK() || !rep.Complete || len(ev) != 51 || string(ev[50].Data) != `{"key":"my [redacted]!"}` {
			t.Fatalf("%v %+v %s", err, rep, ev[50].Data)
		}
		if err := errors.Join(l.Append(event(1))); !errors.Is(err, ErrClosed) {
			t.Errorf("append to a closed log: %v", err)
		}
		if err := l.Flush(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("flush of a closed log: %v", err)
		}
		if _, err := s.Open("s1"); !errors.Is(err, os.ErrExist) {
			t.Errorf("a session's second log: %v", err)
		}
	}
}

func TestSessionNamesAreNoPaths(t *testing.T) {
	s, err := NewFiles(FileOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "../x", "a/b", "a.b", "ä", strings.Repeat("a", 65), "a\x00"} {
		if _, err := s.Open(name); err == nil {
			t.Errorf("session %q has a file", name)
		}
		if _, err := (&Memory{}).Open(name); err == nil {
			t.Errorf("session %q has a log", name)
		}
	}
	m := &Memory{}
	for _, ok := range []bool{true, false} {
		if _, err := m.Open("s"); (err == nil) != ok {
			t.Errorf("open: %v", err)
		}
	}
	if m.Bytes("other") != nil {
		t.Error("bytes of an unknown session")
	}
	m.Forget("s")
	if _, err := m.Open("s"); err != nil {
		t.Error(err)
	}
}

func TestNoDirectory(t *testing.T) {
	if _, err := NewFiles(FileOptions{}); err == nil {
		t.Error("no directory is accepted")
	}
	taken := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFiles(FileOptions{Dir: filepath.Join(taken, "x")}); err == nil {
		t.Error("a directory inside a file is accepted")
	}
	if _, err := VerifyFile(filepath.Join(taken, "x")); err == nil {
		t.Error("a file that is not there was verified")
	}
	if _, _, err := EventsOfFile(filepath.Join(taken, "x")); err == nil {
		t.Error("a file that is not there was read")
	}
}

// Many goroutines, one order.
func TestConcurrentAppend(t *testing.T) {
	s, err := NewFiles(FileOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Open("s1")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				if err := l.Append(event(g*100 + i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := VerifyFile(l.Name()); err != nil || !rep.OK() || rep.Events != 800 {
		t.Fatalf("%v %+v", err, rep)
	}
}

func TestTee(t *testing.T) {
	var seen []Event
	m := &Memory{}
	s := Tee(m, func(e Event) { seen = append(seen, e) })
	l, err := s.Open("s1")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Append(event(0)), l.Flush(t.Context()), l.Close()); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Session != "s1" || seen[0].CallID != "call_0" || l.Name() != "memory:s1" {
		t.Fatalf("seen %+v", seen)
	}
	if _, err := s.Open("s1"); err == nil {
		t.Error("opened twice")
	}
}
