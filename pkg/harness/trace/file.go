package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// Defaults of FileOptions.
const (
	DefaultMaxBytes     = 64 << 20
	DefaultFlushTimeout = 2 * time.Second
)

// FileOptions of a file sink.
type FileOptions struct {
	// Dir is made if missing, for each session anew; a session's file is <Dir>/<session>.jsonl, its parts <session>.2.jsonl and so on, and what is too large
	// for it stands in <session>.files/.
	Dir string
	// MaxBytes of one file: a record that would not fit begins the next part. 0: DefaultMaxBytes; negative: no limit.
	MaxBytes int64
	// Fsync makes Flush wait for the disk and not only for the operating system.
	Fsync bool
	// Secrets that no record may hold.
	Secrets []string
	// FlushTimeout bounds one acknowledged flush, one Append that waits for a full queue, and how long a disk's error is borne
	// before Append fails with it; 0: DefaultFlushTimeout.
	FlushTimeout time.Duration
	// create makes a file for appending; nil: os.OpenFile. Tests break disks with it.
	create func(path string) (file, error)
}

type file interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
	// Linked is nil while the file still stands under its name: what is written into one that was removed goes nowhere.
	Linked() error
}

// diskFile is a file of the operating system.
type diskFile struct {
	*os.File
	path string
}

func (f diskFile) Linked() error {
	there, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the record was removed while it was written: %w", err)
	}
	if err != nil {
		return err
	}
	own, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(there, own) {
		return fmt.Errorf("the record was replaced while it was written: %s is another file", f.path)
	}
	return nil
}

// NewFiles makes the directory and a sink that writes files per session.
func NewFiles(opt FileOptions) (Sink, error) {
	if opt.Dir == "" {
		return nil, errors.New("trace: no directory given")
	}
	if err := os.MkdirAll(opt.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if opt.FlushTimeout == 0 {
		opt.FlushTimeout = DefaultFlushTimeout
	}
	if opt.MaxBytes == 0 {
		opt.MaxBytes = DefaultMaxBytes
	}
	if opt.create == nil {
		opt.create = func(path string) (file, error) {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
			if err != nil {
				return nil, err
			}
			// Until it is closed, by the process's end at the latest; a file system that knows no locks has none.
			_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			return diskFile{f, path}, nil
		}
	}
	return &files{opt}, nil
}

// Writing says that a living process writes this record. False also where it cannot be known: the file system has no locks.
func Writing(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // lets go of the lock, too
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

type files struct{ opt FileOptions }

// Open implements Sink.
func (s *files) Open(session string) (Log, error) {
	if !ValidSession(session) {
		return nil, fmt.Errorf("trace: session %q must be 1 to 64 letters, digits, '-' and '_'", session)
	}
	// Made at the start; whatever tidies up may have taken it away since.
	if err := os.MkdirAll(s.opt.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	path := partPath(s.opt.Dir, session, 1)
	f, err := s.opt.create(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	l := &fileLog{
		opt: s.opt, path: path, side: sideFiles{dir: s.opt.Dir, session: session, fsync: s.opt.Fsync, redact: NewRedactor(s.opt.Secrets)},
		chain: newChain(session, s.opt.Secrets), queue: make(chan entry, 256), gone: make(chan struct{}),
	}
	w := &writer{opt: s.opt, session: session, disk: &l.disk, file: f, part: 1, most: s.opt.MaxBytes}
	go func() {
		defer close(l.gone)
		w.run(l.queue)
	}()
	if s.opt.Fsync {
		// The directory's entry must be on the disk as well, or the file is lost with the power.
		if err := syncDir(s.opt.Dir); err != nil {
			return nil, errors.Join(fmt.Errorf("trace: %w", err), l.Close())
		}
	}
	return l, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// fileLog: Append numbers, links and encodes under a lock and hands the line to the one goroutine that writes.
type fileLog struct {
	opt  FileOptions
	path string
	side sideFiles
	disk condition

	mu     sync.Mutex
	chain  chain
	closed bool
	queue  chan entry
	gone   chan struct{} // closed when the writer has ended
}

// entry is a line to write, or a flush to acknowledge.
type entry struct {
	line []byte
	ack  chan<- error
}

// Name implements Log.
func (l *fileLog) Name() string { return l.path }

// named says which record an error is of.
func (l *fileLog) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("trace: %s: %w", l.path, err)
}

// Append implements Log.
func (l *fileLog) Append(e Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if err := l.disk.lost(); err != nil {
		return l.named(err)
	}
	if gap := l.disk.takeGap(); gap != nil {
		var f Fields
		f.Reset().String("error", gap.err.Error()).Int("for_ns", int64(gap.took))
		line := l.chain.line(nil, &Event{Time: e.Time, Kind: KindRecorder, Data: f.JSON()})
		if err := l.enqueue(entry{line: line}); err != nil {
			return l.named(err)
		}
	}
	if err := l.enqueue(entry{line: l.chain.line(make([]byte, 0, len(e.Data)+512), &e)}); err != nil {
		return l.named(err)
	}
	// It is kept all the same and written as soon as that works; but nobody should rely on it any longer.
	return l.named(l.disk.failing(l.opt.FlushTimeout))
}

// enqueue is called with mu held, so that the queue has the chain's order.
func (l *fileLog) enqueue(e entry) error {
	select {
	case l.queue <- e:
		return nil
	default:
	}
	t := time.NewTimer(l.opt.FlushTimeout)
	defer t.Stop()
	select {
	case l.queue <- e:
		return nil
	case <-t.C:
		return l.disk.lose(fmt.Errorf("the disk did not take a record within %v", l.opt.FlushTimeout))
	}
}

// Flush implements Log.
func (l *fileLog) Flush(ctx context.Context) error {
	ack := make(chan error, 1)
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	err := l.disk.lost()
	if err == nil {
		err = l.enqueue(entry{ack: ack})
	}
	l.mu.Unlock()
	if err != nil {
		return l.named(err)
	}
	t := time.NewTimer(l.opt.FlushTimeout)
	defer t.Stop()
	select {
	case err := <-ack:
		return l.named(err)
	case <-ctx.Done():
		return fmt.Errorf("trace: %s: flush: %w", l.path, context.Cause(ctx))
	case <-t.C:
		err := fmt.Errorf("flush was not acknowledged within %v", l.opt.FlushTimeout)
		if why := l.disk.failing(0); why != nil {
			err = fmt.Errorf("%w: %w", err, why)
		}
		return l.named(err)
	}
}

// Keep implements Log.
func (l *fileLog) Keep(name string, content []byte) (string, error) {
	return l.side.keep(name, content)
}

// Close implements Log.
func (l *fileLog) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.queue)
	}
	l.mu.Unlock()
	t := time.NewTimer(2 * l.opt.FlushTimeout) // the writer itself gives up after one
	defer t.Stop()
	select {
	case <-l.gone:
		return l.named(l.disk.failing(0))
	case <-t.C:
		return l.named(fmt.Errorf("close was not done within %v", 2*l.opt.FlushTimeout))
	}
}
