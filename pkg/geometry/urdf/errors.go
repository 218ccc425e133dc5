package urdf

import (
	"errors"
	"fmt"
)

// Reasons why a description is refused. Every error of Parse is an *Error that wraps one of them.
var (
	ErrSyntax    = errors.New("not well-formed XML")
	ErrElement   = errors.New("element missing, repeated or unknown")
	ErrNumber    = errors.New("bad number")
	ErrName      = errors.New("bad name")
	ErrTree      = errors.New("links and joints are no tree")
	ErrJointType = errors.New("joint type not supported")
	ErrTooLarge  = errors.New("too large")
)

// Error says where a description goes wrong, and how.
type Error struct {
	Line   int    // from 1; 0: the file as a whole
	Where  string // such as `joint "elbow_joint"`; may be empty
	What   string
	Reason error
}

// Error has the line first.
func (e *Error) Error() string {
	where := e.Where
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("urdf: line %d: %s%v: %s", e.Line, where, e.Reason, e.What)
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Reason }
