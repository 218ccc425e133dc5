package trace

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Event is one record. Data is a JSON object; docs/trace.md lists the kinds and their data.
type Event struct {
	Seq     uint64    `json:"seq"` // from 1, given by the log
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Kind    string    `json:"kind"`
	CallID  string    `json:"call_id,omitempty"`
	// Phase and State of the session after this event; empty where it does not concern them.
	Phase string          `json:"phase,omitempty"`
	State string          `json:"state,omitempty"`
	Data  json.RawMessage `json:"data"`
	Prev  string          `json:"prev"` // hash of the line before; 64 zeros in the first
	Hash  string          `json:"hash"` // SHA-256 of this line up to and without `,"hash":`
}

// Sink opens one log per session.
type Sink interface {
	// Open begins the log of a session; a session has one log only, so a second Open of the same is an error.
	Open(session string) (Log, error)
}

// Claimer is a sink that remembers which session goes on with which record: each record is gone on with once, since nothing of it may be
// carried out twice.
type Claimer interface {
	// Claim a record for a session. An error that wraps ErrClaimed says that it was claimed before, and by whom.
	Claim(of, by string) error
	// Release a claim, so that the record can be claimed again: the session that had it ended before it carried anything out. A record that
	// is not claimed by that session is left as it is, which is an error that wraps ErrClaimed where another has it.
	Release(of, by string) error
}

// ErrClaimed is wrapped where a session goes on with a record already.
var ErrClaimed = errors.New("trace: the record is claimed")

// Log is the record of one session. It is safe for concurrent use; the order of Append is the order of the record.
type Log interface {
	// Append adds an event (Seq, Session, Prev and Hash are the log's). It keeps nothing of e. With an error the event may
	// still be recorded later: a disk's error may pass.
	Append(e Event) error
	// Flush returns when everything appended before is with the operating system (with Fsync: on the disk).
	Flush(ctx context.Context) error
	// Keep stores what is too large for an event beside the record, and says where: a name to be put into an event. name is
	// a hint, such as a call's id; two contents never share a place.
	Keep(name string, content []byte) (where string, err error)
	// Name of the log, for people: a file's path.
	Name() string
	// Close flushes and ends the log.
	Close() error
}

// ValidSession says whether a session's name can be a file's: 1 to 64 letters, digits, '-' and '_'.
func ValidSession(name string) bool {
	if len(name) == 0 || len(name) > 64 {
		return false
	}
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}
