// Package trace is the append-only record of a session: typed events as JSON lines with a
// hash chain, one writer, an acknowledged flush, a reader and a verifier.
//
// What moves is on disk before it moves. A record that cannot be written ends the session.
package trace
