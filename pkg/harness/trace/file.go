package trace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// FileOptions of a file sink.
type FileOptions struct {
	// Dir is made if missing; a session's file is <Dir>/<session>.jsonl.
	Dir string
	// Fsync makes Flush wait for the disk and not only for the operating system.
	Fsync bool
	// Secrets that no record may hold.
	Secrets []string
	// FlushTimeout bounds one acknowledged flush, and one Append that waits for a full queue; 0: 2 s.
	FlushTimeout time.Duration
	// create opens a file for appending; nil: os.OpenFile. Tests break disks with it.
	create func(path string) (file, error)
}

type file interface {
	io.Writer
	Sync() error
	Close() error
}

// NewFiles makes the directory and a sink that writes one file per session.
func NewFiles(opt FileOptions) (Sink, error) {
	if opt.Dir == "" {
		return nil, errors.New("trace: no directory given")
	}
	if err := os.MkdirAll(opt.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if opt.FlushTimeout == 0 {
		opt.FlushTimeout = 2 * time.Second
	}
	if opt.create == nil {
		opt.create = func(path string) (file, error) {
			return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
		}
	}
	return &files{opt}, nil
}

type files struct{ opt FileOptions }

// Open implements Sink.
func (s *files) Open(session string) (Log, error) {
	if !ValidSession(session) {
		return nil, fmt.Errorf("trace: session %q must be 1 to 64 letters, digits, '-' and '_'", session)
	}
	path := filepath.Join(s.opt.Dir, session+".jsonl")
	f, err := s.opt.create(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	l := &fileLog{opt: s.opt, path: path, file: f, chain: newChain(session, s.opt.Secrets), queue: make(chan entry, 256), gone: make(chan struct{})}
	go l.write()
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
	file file

	mu     sync.Mutex
	chain  chain
	closed bool
	queue  chan entry
	gone   chan struct{} // closed when the writer has ended

	errMu sync.Mutex
	err   error // sticks
}

// entry is a line to write, or a flush to acknowledge.
type entry struct {
	line []byte
	ack  chan<- error
}

func (l *fileLog) Name() string { return l.path }

func (l *fileLog) failure() error {
	l.errMu.Lock()
	defer l.errMu.Unlock()
	return l.err
}

// fail keeps the first error and returns it.
func (l *fileLog) fail(err error) error {
	l.keep(err)
	return l.failure()
}

// keep the first error; nil changes nothing.
func (l *fileLog) keep(err error) {
	l.errMu.Lock()
	defer l.errMu.Unlock()
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("trace: %s: %w", l.path, err)
	}
}

// Append implements Log.
func (l *fileLog) Append(e Event) error {
	if err := l.failure(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	line := l.chain.line(make([]byte, 0, len(e.Data)+512), &e)
	return l.enqueue(entry{line: line})
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
		return l.fail(fmt.Errorf("the disk did not take a record within %v", l.opt.FlushTimeout))
	}
}

// Flush implements Log.
func (l *fileLog) Flush(ctx context.Context) error {
	if err := l.failure(); err != nil {
		return err
	}
	ack := make(chan error, 1)
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	err := l.enqueue(entry{ack: ack})
	l.mu.Unlock()
	if err != nil {
		return err
	}
	t := time.NewTimer(l.opt.FlushTimeout)
	defer t.Stop()
	select {
	case err := <-ack:
		return err
	case <-ctx.Done():
		return fmt.Errorf("trace: %s: flush: %w", l.path, context.Cause(ctx))
	case <-t.C:
		return l.fail(fmt.Errorf("flush was not acknowledged within %v", l.opt.FlushTimeout))
	}
}

// Close implements Log.
func (l *fileLog) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.queue)
	}
	l.mu.Unlock()
	t := time.NewTimer(l.opt.FlushTimeout)
	defer t.Stop()
	select {
	case <-l.gone:
		return l.failure()
	case <-t.C:
		return l.fail(fmt.Errorf("close was not done within %v", l.opt.FlushTimeout))
	}
}

// write is the one goroutine that touches the file. It writes through whenever the queue is empty, so that what a
// killed process loses is what it had no time to write at all.
func (l *fileLog) write() {
	defer close(l.gone)
	w := bufio.NewWriterSize(l.file, 64*1024)
	for e := range l.queue {
		if e.line != nil {
			_, err := w.Write(e.line)
			l.keep(err)
		}
		if e.ack != nil || len(l.queue) == 0 {
			l.keep(w.Flush())
		}
		if e.ack != nil {
			if l.opt.Fsync {
				l.keep(l.file.Sync())
			}
			e.ack <- l.failure()
		}
	}
	l.keep(w.Flush())
	if l.opt.Fsync {
		l.keep(l.file.Sync())
	}
	l.keep(l.file.Close())
}
