package tf

import "time"

// New makes an empty buffer.
func New(cfg Config) *Buffer { return &Buffer{cfg: cfg, frames: map[string]int32{}} }

// Set adds a dynamic transform; now is the clock's reading (ns), by which a jump back is noticed.
func (b *Buffer) Set(s Stamped, now int64) (Change, error) { return Change{}, nil }

// SetStatic adds a transform that holds at all times.
func (b *Buffer) SetStatic(s Stamped) (Change, error) { return Change{}, nil }

// Advance tells the clock's reading, and whether it had jumped back and dynamic transforms were forgotten.
func (b *Buffer) Advance(now int64) (cleared bool) { return false }

// Lookup answers a query.
func (b *Buffer) Lookup(q Query) (Result, error) { return Result{}, nil }

// Latest is the newest transform that all links of the chain have, not after now and at most maxAge before it.
func (b *Buffer) Latest(target, source string, now int64, maxAge time.Duration) (Result, error) {
	return Result{}, nil
}

// Frames lists the known frames, sorted.
func (b *Buffer) Frames() []string { return nil }
