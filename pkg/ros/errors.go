package ros

import "errors"

// Sentinel errors; what is returned wraps them and says more.
var (
	ErrUnknownType    = errors.New("ros: unknown interface type")
	ErrNotReady       = errors.New("ros: no server")
	ErrClosed         = errors.New("ros: closed")
	ErrInvalidName    = errors.New("ros: invalid name")
	ErrInvalidMessage = errors.New("ros: invalid message")
	ErrRejected       = errors.New("ros: rejected by the server")
)
