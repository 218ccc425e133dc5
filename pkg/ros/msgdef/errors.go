package msgdef

import (
	"fmt"

	"agent_node/pkg/ros"
)

// ParseError says where a definition is wrong.
type ParseError struct {
	File   string
	Line   int // from 1, 0 for the whole file
	Reason string
	Err    error // the cause, may be nil
}

func (e *ParseError) Error() string {
	s := e.File
	if e.Line > 0 {
		s = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *ParseError) Unwrap() error { return e.Err }

func unknown(name, why string) error {
	return fmt.Errorf("%w: %s: %s", ros.ErrUnknownType, name, why)
}
