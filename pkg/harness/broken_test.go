package harness_test

import (
	"context"
	"errors"

	"agent_node/pkg/harness/trace"
)

// brokenSink opens nothing.
type brokenSink struct{}

func (brokenSink) Open(string) (trace.Log, error) { return nil, errors.New("read-only disk") }

// failingSink fails from the n-th event on.
type failingSink struct {
	trace.Sink
	after int
	flush bool // it is the flush that fails
}

func (s failingSink) Open(session string) (trace.Log, error) {
	l, err := s.Sink.Open(session)
	return &failingLog{Log: l, left: s.after, flush: s.flush}, err
}

type failingLog struct {
	trace.Log
	left  int
	flush bool
}

func (l *failingLog) Append(e trace.Event) error {
	l.left--
	if l.left < 0 && !l.flush {
		return errors.New("no space left on device")
	}
	return l.Log.Append(e)
}

func (l *failingLog) Flush(ctx context.Context) error {
	if l.left < 0 {
		return errors.New("no space left on device")
	}
	return l.Log.Flush(ctx)
}

// keepless keeps nothing beside its records.
type keepless struct{ trace.Sink }

func (k keepless) Open(session string) (trace.Log, error) {
	l, err := k.Sink.Open(session)
	return keeplessLog{l}, err
}

type keeplessLog struct{ trace.Log }

func (keeplessLog) Keep(string, []byte) (string, error) { return "", errors.New("read-only disk") }
