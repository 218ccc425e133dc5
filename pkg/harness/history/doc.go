// Package history is the append-only conversation of a session and the assembly of
// self-contained requests from it.
package history
