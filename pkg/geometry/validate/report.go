package validate

import "agent_node/pkg/geometry"

// Note says what a command was read as where that is not what it literally says.
type Note struct {
	Subject string // field path
	Message string
}

// Report on one command.
type Report struct {
	Findings []geometry.Finding
	Notes    []Note
	// Nearest is a valid command close to a refused one; nil where none was found or there is no sensible one.
	Nearest Command
}

// Valid reports whether nothing speaks against the command.
func (r Report) Valid() bool { return len(r.Findings) == 0 }

// Err is nil or a *geometry.Refusal with the findings.
func (r Report) Err() error {
	if r.Valid() {
		return nil
	}
	return &geometry.Refusal{Findings: r.Findings}
}
