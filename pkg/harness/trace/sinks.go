package trace

import "time"

// FileOptions of a file sink.
type FileOptions struct {
	// Dir is made if missing; a session's file is <Dir>/<session>.jsonl.
	Dir string
	// Fsync makes Flush wait for the disk and not only for the operating system.
	Fsync bool
	// Secrets that no record may hold.
	Secrets []string
	// FlushTimeout bounds one acknowledged flush; 0: 2 s.
	FlushTimeout time.Duration
}
