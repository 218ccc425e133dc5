package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// disk is a file that fails, or hangs.
type disk struct {
	mu       sync.Mutex
	left     int // bytes until it is full
	wait     chan struct{}
	noSync   bool
	noShrink bool
	b        bytes.Buffer
}

var errFull = errors.New("no space left on device")

func (d *disk) Write(p []byte) (int, error) {
	if d.wait != nil {
		<-d.wait
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(p) > d.left {
		n := d.left
		d.b.Write(p[:n])
		d.left = 0
		return n, errFull
	}
	d.left -= len(p)
	return d.b.Write(p)
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.noShrink {
		return errors.New("read-only file system")
	}
	d.left += d.b.Len() - int(size)
	d.b.Truncate(int(size))
	return nil
}

func (d *disk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.noSync {
		return errors.New("input/output error")
	}
	return nil
}
func (d *disk) Close() error { return nil }

func (d *disk) Linked() error { return nil }

// free gives the disk room.
func (d *disk) free(bytes int) { d.mu.Lock(); defer d.mu.Unlock(); d.left = bytes }

func (d *disk) bytes() []byte { d.mu.Lock(); defer d.mu.Unlock(); return bytes.Clone(d.b.Bytes()) }

func onDisk(t testing.TB, d *disk) Log {
	t.Helper()
	return onDisks(t, FileOptions{}, func(string) (file, error) { return d, nil })
}

func onDisks(t testing.TB, opt FileOptions, create func(string) (file, error)) Log {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	opt.Dir, opt.create = dir, create
	s, err := NewFiles(opt)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Open("s1")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A full disk is borne for as long as a flush may take; then it is an error, and what was written before is sound but for its torn tail.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{left: 1000}
		l := onDisk(t, d)
		for i := range 20 {
			if err := l.Append(event(i)); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		if err := l.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "not acknowledged within 2s") || !errors.Is(err, errFull) || time.Since(begin) != 2*time.Second {
			t.Errorf("flush: %v after %v", err, time.Since(begin))
		}
		if err := l.Append(event(20)); !errors.Is(err, errFull) {
			t.Errorf("append: %v", err)
		}
		if err := l.Close(); err == nil || !strings.Contains(err.Error(), "could not be written") {
			t.Errorf("close: %v", err)
		}
		rep, err := Verify(bytes.NewReader(d.bytes()))
		if err != nil || !rep.OK() || rep.Events == 0 || rep.Torn == nil {
			t.Errorf("%v %+v", err, rep)
		}
	})
}

// An error that passes costs the record nothing but a line that says so: no event is lost, none is torn.
func TestRecordingResumesAfterAPassingError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{left: 1000}
		l := onDisk(t, d)
		for i := range 20 {
			if err := l.Append(event(i)); err != nil {
				t.Fatal(err)
			}
		}
		time.AfterFunc(time.Second, func() { d.free(1 << 20) })
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Append(event(20)), l.Append(Event{Time: start, Kind: KindEnd}), l.Close()); err != nil {
			t.Fatal(err)
		}
		events, rep, err := Events(bytes.NewReader(d.bytes()))
		if err != nil || rep.Condition() != Intact || len(events) != 23 {
			t.Fatalf("%v %+v, %d events", err, rep, len(events))
		}
		if e := events[20]; e.Kind != KindRecorder || !strings.Contains(string(e.Data), "no space left") || !strings.Contains(string(e.Data), `"for_ns":1`) {
			t.Errorf("the gap is told as %s %s", e.Kind, e.Data)
		}
	})
}

// Whatever fails and recovers, and however large the parts are: what was acknowledged is there, nothing is torn or twice, and the order is kept.
func TestLawsOfFailingDisks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubble{t}, func(rt *rapid.T) {
			var disks []*disk
			rooms := rapid.SliceOfN(rapid.SampledFrom([]int{-1, 0, 10, 300, 1000, 1 << 20}), 8, 8).Draw(rt, "rooms")
			made := 0
			l := onDisks(t, FileOptions{MaxBytes: rapid.SampledFrom([]int64{-1, 1, 700, 2000}).Draw(rt, "part")}, func(string) (file, error) {
				room := rooms[made%len(rooms)]
				made++
				if room < 0 && len(disks) > 0 {
					return nil, errFull
				}
				d := &disk{left: max(room, 0)}
				disks = append(disks, d)
				return d, nil
			})
			written, safe := 0, 0
			for range rapid.IntRange(1, 30).Draw(rt, "deeds") {
				switch rapid.SampledFrom([]string{"append", "append", "append", "flush", "wait", "mend", "fill"}).Draw(rt, "deed") {
				case "append":
					_ = l.Append(event(written)) // with an error it is recorded all the same, later
					written++
				case "flush":
					if l.Flush(context.Background()) == nil {
						safe = written
					}
				case "wait":
					time.Sleep(time.Second)
				case "mend":
					synctest.Wait()
					for _, d := range disks {
						d.free(1 << 20)
					}
				case "fill":
					synctest.Wait()
					for _, d := range disks {
						d.free(0)
					}
				}
			}
			closed := l.Close()
			if closed == nil {
				safe = written
			}
			synctest.Wait()
			var all []byte
			for i, d := range disks {
				b := d.bytes()
				if i < len(disks)-1 && len(b) > 0 && b[len(b)-1] != '\n' {
					rt.Fatalf("part %d of %d is torn", i+1, len(disks))
				}
				all = append(all, b...)
			}
			events, rep, err := Events(bytes.NewReader(all))
			if err != nil || !rep.OK() || closed == nil && rep.Torn != nil {
				rt.Fatalf("%v %+v", err, rep)
			}
			next := 0
			for _, e := range events {
				if e.Kind == KindRecorder {
					continue
				}
				var got struct{ I int }
				if err := json.Unmarshal(e.Data, &got); err != nil || got.I != next {
					rt.Fatalf("%v: event %d follows %d: %s", err, got.I, next, e.Data)
				}
				next++
			}
			if next < safe {
				rt.Fatalf("%d events were acknowledged, %d are there", safe, next)
			}
		})
	})
}

// bubble is a test inside a synctest bubble, where Deadline may not be asked for.
type bubble struct{ *testing.T }

func (bubble) Deadline() (time.Time, bool) { return time.Time{}, false }

// What a disk forgot at a sync cannot be written once more, so that the record claims nothing any more.
func TestFailedSyncSticks(t *testing.T) {
	d := &disk{left: 1 << 20, noSync: true}
	l := onDisks(t, FileOptions{Fsync: true}, func(string) (file, error) { return d, nil })
	if err := l.Append(event(0)); err != nil {
		t.Fatal(err)
	}
	if err := l.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("flush: %v", err)
	}
	d.mu.Lock()
	d.noSync = false
	d.mu.Unlock()
	for _, err := range []error{l.Append(event(1)), l.Flush(t.Context()), l.Close()} {
		if err == nil || !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("afterwards: %v", err)
		}
	}
}

// A torn line that cannot be taken back is never written behind.
func TestNothingIsWrittenBehindATornLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{left: 1000, noShrink: true}
		l := onDisk(t, d)
		for i := range 20 {
			if err := l.Append(event(i)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		d.free(1 << 20)
		if err := l.Close(); err == nil {
			t.Error("closed without an error")
		}
		if rep, err := Verify(bytes.NewReader(d.bytes())); err != nil || rep.Condition() != Torn {
			t.Errorf("%v %+v", err, rep)
		}
	})
}

// A record that grows beyond all bounds while nothing can be written is given up, and says so.
func TestPendingRecordsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := onDisk(t, &disk{})
		big := Event{Time: start, Kind: "x", Data: json.RawMessage(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`)}
		var err error
		for range 40 {
			err = l.Append(big)
			synctest.Wait()
		}
		if err == nil || !strings.Contains(err.Error(), "could not be written") {
			t.Errorf("append: %v", err)
		}
		if err := l.Close(); err == nil {
			t.Error("closed without an error")
		}
	})
}

// Parts are one record: their lines are one chain, any of them names it, and one that is missing is a gap.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	s, err := NewFiles(FileOptions{Dir: dir, MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Open("s1")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := l.Append(event(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Append(Event{Time: start, Kind: KindEnd}), l.Close()); err != nil {
		t.Fatal(err)
	}
	parts, err := Parts(l.Name())
	if err != nil || len(parts) < 3 || parts[0] != l.Name() || parts[1] != filepath.Join(dir, "s1.2.jsonl") {
		t.Fatalf("%v %q", err, parts)
	}
	for _, p := range parts {
		if info, err := os.Stat(p); err != nil || info.Size() > 1000 {
			t.Errorf("%v: %s has %d bytes", err, p, info.Size())
		}
		events, rep, err := EventsOfFile(p)
		if err != nil || rep.Condition() != Intact || len(events) != 31 {
			t.Errorf("by %s: %v %+v", p, err, rep)
		}
	}
	var out bytes.Buffer
	if rep, err := ShowFile(&out, parts[1], ShowOptions{}); err != nil || rep.Events != 31 {
		t.Errorf("%v %+v", err, rep)
	}
	last := parts[len(parts)-1]
	whole, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(last, whole[:len(whole)-5])
	if rep, err := VerifyFile(l.Name()); err != nil || rep.Condition() != Torn || rep.Torn.File != filepath.Base(last) || rep.Torn.Line > 10 {
		t.Errorf("torn: %v %+v %+v", err, rep, rep.Torn)
	}
	write(last, whole)
	middle, err := os.ReadFile(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	write(parts[1], middle[:len(middle)-5])
	if rep, err := VerifyFile(l.Name()); err != nil || rep.Condition() != Tampered || rep.Problems[0].File != "s1.2.jsonl" {
		t.Errorf("torn in the middle: %v %+v", err, rep)
	}
	write(parts[1], nil)
	if rep, err := VerifyFile(l.Name()); err != nil || rep.Condition() != Tampered || rep.Problems[0].File != "s1.3.jsonl" {
		t.Errorf("without the middle: %v %+v", err, rep)
	}
	if _, err := Parts(filepath.Join(dir, "other.jsonl")); err == nil {
		t.Error("a missing record has parts")
	}
	if p, err := Parts(filepath.Join(dir, "s1.3.jsonl")); err != nil || len(p) != len(parts) {
		t.Errorf("%v %q", err, p)
	}
	stray := filepath.Join(dir, "copy of a trace.json")
	write(stray, whole)
	if p, err := Parts(stray); err != nil || len(p) != 1 {
		t.Errorf("%v %q", err, p)
	}
}

// What is kept beside a record is as safe from change as the record.
func TestSideFiles(t *testing.T) {
	dir := t.TempDir()
	s, err := NewFiles(FileOptions{Dir: dir, Fsync: true, Secrets: []string{"sk-secret"}})
	if err != nil {
		t.Fatal(err)
	}
	m := &Memory{Secrets: []string{"sk-secret"}}
	for _, sink := range []Sink{s, m} {
		l, err := sink.Open("s1")
		if err != nil {
			t.Fatal(err)
		}
		places := map[string]string{}
		for _, name := range []string{"call_1_1", "call_1_1", "../../x", "a b", "a_b", "", strings.Repeat("long", 100)} {
			content := fmt.Sprintf("%s, %d places, sk-secret \xff", name, len(places))
			where, err := l.Keep(name, []byte(content))
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := places[where]; twice || !filepath.IsLocal(where) || !strings.HasPrefix(where, "s1.files/") {
				t.Errorf("%q is kept in %q", name, where)
			}
			places[where] = strings.ReplaceAll(content, "sk-secret", redacted)
		}
		for where, content := range places {
			got := m.Kept("s1", where)
			if sink == s {
				if got, err = os.ReadFile(filepath.Join(dir, where)); err != nil {
					t.Fatal(err)
				}
			}
			if string(got) != content {
				t.Errorf("%s holds %q, want %q", where, got, content)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if m.Kept("other", "x") != nil {
		t.Error("an unknown session keeps something")
	}
	whole := func(l Log, file string) error {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		return l.Append(Event{Time: start, Kind: KindWhole, Data: WholeData(file, b)})
	}
	l, err := s.Open("s2")
	if err != nil {
		t.Fatal(err)
	}
	where, err := l.Keep("c", []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(whole(l, where), l.Append(Event{Time: start, Kind: KindEnd}), l.Close()); err != nil {
		t.Fatal(err)
	}
	check := func(name string, want Condition) {
		t.Helper()
		if rep, err := VerifyFile(l.Name()); err != nil || rep.Condition() != want {
			t.Errorf("%s: %v %+v", name, err, rep)
		}
	}
	check("as written", Intact)
	if err := os.WriteFile(filepath.Join(dir, where), []byte("Content"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("changed", Tampered)
	if err := os.Remove(filepath.Join(dir, where)); err != nil {
		t.Fatal(err)
	}
	check("missing", Tampered)
	outside, err := s.Open("s3")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(outside.Append(Event{Time: start, Kind: KindWhole, Data: WholeData("../x", nil)}), outside.Append(Event{Time: start, Kind: KindEnd}), outside.Close()); err != nil {
		t.Fatal(err)
	}
	if rep, err := VerifyFile(outside.Name()); err != nil || rep.Condition() != Tampered {
		t.Errorf("outside the folder: %v %+v", err, rep)
	}
}

// A disk that hangs costs bounded time.
func TestHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{left: 1 << 30, wait: make(chan struct{})}
		l := onDisk(t, d)
		begin := time.Now()
		if err := l.Append(event(0)); err != nil {
			t.Fatal(err)
		}
		if err := l.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "not acknowledged within 2s") {
			t.Fatalf("flush: %v", err)
		}
		if time.Since(begin) != 2*time.Second {
			t.Errorf("took %v", time.Since(begin))
		}
		begin = time.Now()
		if err := l.Close(); err == nil || time.Since(begin) != 4*time.Second {
			t.Errorf("closed with %v after %v", err, time.Since(begin))
		}
		close(d.wait)
		synctest.Wait()
	})
	synctest.Test(t, func(t *testing.T) { // the queue fills up
		d := &disk{left: 1 << 30, wait: make(chan struct{})}
		l := onDisk(t, d)
		var err error
		for i := 0; i < 1000 && err == nil; i++ {
			err = l.Append(event(i))
		}
		if err == nil || !strings.Contains(err.Error(), "did not take a record within 2s") {
			t.Fatalf("append: %v", err)
		}
		close(d.wait)
		_ = l.Close() // says the same again
		synctest.Wait()
	})
	synctest.Test(t, func(t *testing.T) { // the caller has less patience
		d := &disk{left: 1 << 30, wait: make(chan struct{})}
		l := onDisk(t, d)
		if err := l.Append(event(0)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := l.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("flush: %v", err)
		}
		close(d.wait)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Nobody is told that a record is safe that was removed or replaced while it was written; the folder is made again for the next session.
func TestRemovedRecords(t *testing.T) {
	for name, remove := range map[string]func(t *testing.T, dir, file string){
		"the folder": func(t *testing.T, dir, _ string) { must(t, os.RemoveAll(dir)) },
		"the file":   func(t *testing.T, _, file string) { must(t, os.Remove(file)) },
		"replaced": func(t *testing.T, _, file string) {
			must(t, os.Rename(file, file+".old"))
			must(t, os.WriteFile(file, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "below", "traces")
			s, err := NewFiles(FileOptions{Dir: dir})
			must(t, err)
			l, err := s.Open("one")
			must(t, err)
			must(t, l.Append(event(0)))
			must(t, l.Flush(t.Context()))
			remove(t, dir, l.Name())
			_ = l.Append(event(1)) // it may not know yet
			if err := l.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "while it was written") {
				t.Errorf("flush: %v", err)
			}
			if err := l.Append(event(2)); err == nil {
				t.Error("a lost record takes more")
			}
			_ = l.Close() // what is lost was said
			next, err := s.Open("two")
			must(t, err)
			must(t, next.Append(event(0)))
			must(t, next.Flush(t.Context()))
			must(t, next.Close())
			if rep, err := VerifyFile(next.Name()); err != nil || len(rep.Problems) > 0 {
				t.Errorf("the next record: %v %+v", err, rep)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
