package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Memory is a sink that keeps its logs in memory: for tests, benchmarks and nodes without a trace directory.
// The zero value is ready; it is safe for concurrent use.
type Memory struct {
	// Secrets that no record may hold.
	Secrets []string

	mu     sync.Mutex
	logs   map[string]*memoryLog
	claims map[string]string
}

// Claim implements Claimer.
func (m *Memory) Claim(of, by string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if before, claimed := m.claims[of]; claimed {
		return fmt.Errorf("%w: session %s goes on with %s", ErrClaimed, before, of)
	}
	if m.claims == nil {
		m.claims = map[string]string{}
	}
	m.claims[of] = by
	return nil
}

// Release implements Claimer.
func (m *Memory) Release(of, by string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if has, claimed := m.claims[of]; claimed && has != by {
		return fmt.Errorf("%w: session %s goes on with %s, not %s", ErrClaimed, has, of, by)
	}
	delete(m.claims, of)
	return nil
}

// Open implements Sink.
func (m *Memory) Open(session string) (Log, error) {
	if !ValidSession(session) {
		return nil, fmt.Errorf("trace: session %q must be 1 to 64 letters, digits, '-' and '_'", session)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, twice := m.logs[session]; twice {
		return nil, fmt.Errorf("trace: session %s has a log already", session)
	}
	if m.logs == nil {
		m.logs = map[string]*memoryLog{}
	}
	l := &memoryLog{chain: newChain(session, m.Secrets)}
	m.logs[session] = l
	return l, nil
}

// Bytes of a session's log, as a file would hold them; nil for an unknown session.
func (m *Memory) Bytes(session string) []byte {
	m.mu.Lock()
	l := m.logs[session]
	m.mu.Unlock()
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Join(append(slices.Clone(l.full), l.chunk), nil)
}

// Kept is what a session's log keeps at a place that Keep named; nil: nothing.
func (m *Memory) Kept(session, where string) []byte {
	m.mu.Lock()
	l := m.logs[session]
	m.mu.Unlock()
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept[where]
}

// Forget drops a session's log.
func (m *Memory) Forget(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.logs, session)
}

// chunkSize bounds what a growing log copies: chunks are never moved.
const chunkSize = 64 * 1024

// ErrClosed is what a closed log answers.
var ErrClosed = errors.New("trace: the log is closed")

type memoryLog struct {
	mu     sync.Mutex
	chain  chain
	full   [][]byte
	chunk  []byte
	kept   map[string][]byte
	closed bool
}

func (l *memoryLog) Append(e Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if cap(l.chunk)-len(l.chunk) < len(e.Data)+1024 {
		if len(l.chunk) > 0 {
			l.full = append(l.full, l.chunk)
		}
		// Sessions are often short: chunks begin small and grow to their full size.
		size := min(chunkSize, 4096<<min(len(l.full), 4))
		l.chunk = make([]byte, 0, max(size, len(e.Data)+2048))
	}
	l.chunk = l.chain.line(l.chunk, &e)
	return nil
}

// Keep implements Log.
func (l *memoryLog) Keep(name string, content []byte) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return "", ErrClosed
	}
	if l.kept == nil {
		l.kept = map[string][]byte{}
	}
	base := sideDir(l.chain.session) + "/" + sideName(name)
	where := base + ".txt"
	for n := 2; l.kept[where] != nil; n++ {
		where = fmt.Sprintf("%s.%d.txt", base, n)
	}
	l.kept[where] = []byte(l.chain.redact.Text(string(content)))
	return where, nil
}

func (l *memoryLog) Flush(context.Context) error { return nil }
func (l *memoryLog) Name() string                { return "memory:" + l.chain.session }

func (l *memoryLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}
