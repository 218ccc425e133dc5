package trace

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// retryAfter is the pause between two tries of a disk that fails.
	retryAfter = 50 * time.Millisecond
	// writeBytes is how much is gathered before it is written, while more is coming.
	writeBytes = 64 << 10
	// maxPending is how much a record may grow while the disk fails.
	maxPending = 16 << 20
)

// condition of the disk, shared between the writer and those who append.
type condition struct {
	mu    sync.Mutex
	err   error     // of the newest try; nil: it worked
	since time.Time // of the first failure in a row
	final bool      // records were lost: nothing can be added any more
	gap   *gap      // a failure that is over and was not told yet
}

// gap is a time in which nothing could be written.
type gap struct {
	err  error
	took time.Duration
}

func (c *condition) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.final {
		return
	}
	if c.err == nil {
		c.since = time.Now()
	}
	c.err = err
}

func (c *condition) worked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil && !c.final {
		c.gap = &gap{c.err, time.Since(c.since)}
		c.err = nil
	}
}

// lose says that records are lost; the first loss sticks.
func (c *condition) lose(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.final {
		if c.err != nil {
			err = fmt.Errorf("%w: %w", err, c.err)
		}
		c.final, c.err = true, err
	}
	return c.err
}

// lost is nil as long as nothing is.
func (c *condition) lost() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.final {
		return c.err
	}
	return nil
}

// failing for that long or longer; nil: not.
func (c *condition) failing(atLeast time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || !c.final && time.Since(c.since) < atLeast {
		return nil
	}
	return c.err
}

func (c *condition) takeGap() *gap {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.gap
	c.gap = nil
	return g
}

// writer is the one goroutine that touches the files. It writes through whenever the queue is empty, so that what a killed process loses is
// what it had no time to write at all. What a disk does not take is kept and tried again: a passing error costs a record nothing.
type writer struct {
	opt     FileOptions
	session string
	disk    *condition
	file    file
	part    int
	most    int64  // bytes of a part; not over 0: no limit
	size    int64  // of the file, whole lines only
	torn    bool   // the file may hold more than size: the beginning of a line
	pending []byte // whole lines that are to be written
	acks    []chan<- error
}

func (w *writer) run(queue <-chan entry) {
	retry := time.NewTimer(retryAfter)
	defer retry.Stop()
	for open := true; open; {
		var e entry
		select {
		case e, open = <-queue:
			if open {
				w.take(e)
			}
			if len(queue) > 0 && len(w.pending) < writeBytes {
				continue
			}
		case <-retry.C:
		}
		w.try()
		retry.Reset(retryAfter)
		if w.idle() {
			retry.Stop() // nothing to try
		}
	}
	w.finish()
}

// take one entry.
func (w *writer) take(e entry) {
	if e.ack != nil {
		w.acks = append(w.acks, e.ack)
		return
	}
	if w.most > 0 && w.size+int64(len(w.pending)) > 0 && w.size+int64(len(w.pending)+len(e.line)) > w.most {
		w.rotate()
	}
	if len(w.pending)+len(e.line) > maxPending {
		_ = w.disk.lose(fmt.Errorf("%d bytes could not be written", len(w.pending))) // those who append hear of it
		return
	}
	w.pending = append(w.pending, e.line...)
}

// idle: there is nothing to write and nobody to tell.
func (w *writer) idle() bool { return len(w.pending) == 0 && len(w.acks) == 0 }

// try to write everything, and tell those who wait.
func (w *writer) try() {
	if w.idle() || w.disk.lost() != nil {
		w.tell(w.disk.lost())
		return
	}
	err := w.write()
	if err == nil && len(w.acks) > 0 && w.opt.Fsync {
		if serr := w.file.Sync(); serr != nil {
			// What a disk forgot cannot be written once more: the system drops what it could not sync.
			w.tell(w.disk.lose(serr))
			return
		}
	}
	if err != nil {
		w.disk.failed(err)
		return
	}
	if len(w.acks) > 0 {
		// Somebody relies on the record: it has to be where a reader finds it. What a removed file took cannot be written anew.
		if err := w.file.Linked(); err != nil {
			w.tell(w.disk.lose(err))
			return
		}
	}
	w.disk.worked()
	w.tell(nil)
}

func (w *writer) tell(err error) {
	for _, ack := range w.acks {
		ack <- err
	}
	w.acks = w.acks[:0]
}

// write what is pending behind the whole lines of the file; the beginning of a line that an error left there goes first.
func (w *writer) write() error {
	if w.torn {
		if err := w.file.Truncate(w.size); err != nil {
			return err
		}
		w.torn = false
	}
	if len(w.pending) == 0 {
		return nil
	}
	n, err := w.file.Write(w.pending)
	if err != nil {
		w.torn = n > 0
		return err
	}
	w.size += int64(len(w.pending))
	w.pending = w.pending[:0]
	if cap(w.pending) > 4*writeBytes {
		w.pending = nil
	}
	return nil
}

// rotate to the next part. Where that fails, the part that there is goes on and may grow to twice the size.
func (w *writer) rotate() {
	if err := w.write(); err != nil {
		w.disk.failed(err)
		return
	}
	most := w.most
	w.most = 2 * most
	f, err := w.opt.create(partPath(w.opt.Dir, w.session, w.part+1))
	if err == nil && w.opt.Fsync {
		err = errors.Join(w.file.Sync(), syncDir(w.opt.Dir))
	}
	if err == nil {
		err = w.file.Close()
	}
	if err != nil {
		w.disk.failed(err)
		return
	}
	w.file, w.part, w.size, w.most = f, w.part+1, 0, most
}

// finish writes what is left, for as long as a flush may take, and closes the file.
func (w *writer) finish() {
	for end := time.Now().Add(w.opt.FlushTimeout); !w.idle() && w.disk.lost() == nil && time.Now().Before(end); {
		w.try()
		if !w.idle() {
			time.Sleep(retryAfter)
		}
	}
	w.tell(ErrClosed)
	if len(w.pending) > 0 {
		_ = w.disk.lose(fmt.Errorf("%d bytes could not be written", len(w.pending)))
	}
	if w.opt.Fsync && w.disk.lost() == nil {
		if err := w.file.Sync(); err != nil {
			_ = w.disk.lose(err)
		}
	}
	if err := w.file.Close(); err != nil {
		_ = w.disk.lose(err)
	}
}
