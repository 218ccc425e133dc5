package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// stream reads server-sent events into an assembler. Each data field is one JSON value or more; everything else of the format (comments,
// ids, waiting times) says nothing about an answer. Lines end with LF, CRLF or CR, and the last one may have no end.
type stream struct {
	into    *assembler
	data    []byte // of the event under way
	failing bool   // the event calls itself an error
	done    bool   // its end mark came
}

// done is the end mark.
var endMark = []byte("[DONE]")

// read to the end mark or the end of the body. more is told when bytes have come, and whether the answer itself is complete, so that it
// can bound the silence that follows.
func (s *stream) read(r *bufio.Reader, more func(complete bool)) error {
	for !s.done {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			// A line may end with CR alone, too; in JSON there is none.
			for _, part := range bytes.Split(bytes.TrimRight(line, "\r\n"), []byte("\r")) {
				if bad := s.line(part); bad != nil {
					return bad
				}
			}
			more(s.into.complete())
		}
		switch {
		case errors.Is(err, io.EOF):
			return s.dispatch()
		case err != nil:
			return err
		}
	}
	return nil
}

// line takes one line without its end.
func (s *stream) line(line []byte) error {
	if s.done {
		return nil
	}
	if len(line) == 0 {
		return s.dispatch()
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		s.failing = string(bytes.TrimSpace(value)) == "error"
	case "data":
		if bytes.Equal(bytes.TrimSpace(value), endMark) {
			s.done = true
			return s.dispatch()
		}
		s.data = append(append(s.data, value...), '\n')
	}
	return nil
}

// dispatch the event under way. Not every server sends the empty line that ends one, so its data may hold several values.
func (s *stream) dispatch() error {
	data, failing := bytes.TrimSpace(s.data), s.failing
	s.data, s.failing = nil, false
	for len(data) > 0 {
		dec := json.NewDecoder(bytes.NewReader(data))
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return unreadable(data, err)
		}
		data = bytes.TrimSpace(data[dec.InputOffset():])
		if failing {
			return inGoodDress(raw)
		}
		var b wireBody
		if err := json.Unmarshal(raw, &b); err != nil {
			return unreadable(raw, err)
		}
		if e := b.failure(raw); e != nil {
			return inGoodDress(e)
		}
		if err := s.into.add(&b); err != nil {
			return err
		}
	}
	return nil
}

// unreadable is an event that cannot be read: what it held may have been the middle of a number, so nothing of its stream counts.
func unreadable(data []byte, err error) *Error {
	return &Error{Kind: KindBadAnswer, Status: http.StatusOK, Err: err, again: true, Message: fmt.Sprintf("the stream holds an event that is no JSON of a completion, %.80q: %v", data, err)}
}
