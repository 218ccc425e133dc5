package openai

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"agent_node/pkg/harness/model"
)

// FuzzStream: whatever comes as a stream is an answer that said why it ended, or a typed error without any call; and no argument is
// longer than what came.
func FuzzStream(f *testing.F) {
	for _, c := range lines[fault](f, faults) {
		if body := string(c.HTTP.body(key)); len(body) < 1<<16 && strings.HasPrefix(body, "data:") {
			f.Add([]byte(body))
		}
		if c.Stream != nil {
			f.Add(c.Stream.body(key))
		}
	}
	f.Add([]byte(opens(0, "c1", "drive", `{"distance_m":1`) + "event: error\n: x\n\ndata: {}{}\n" + ended))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := onTheWire(t, "text/event-stream", bytes.NewReader(body))
		checkRead(t, r, err, body)
		again, err2 := onTheWire(t, "application/json", iotest.OneByteReader(bytes.NewReader(body)))
		if events := strings.HasPrefix(strings.TrimLeft(string(body), "\xef\xbb\xbf \t\r\n"), "data:"); events && (read(r, err) != read(again, err2)) {
			t.Errorf("read as %s, and byte by byte as %s", read(r, err), read(again, err2))
		}
	})
}

// FuzzAnswer: whatever comes in one piece is an answer that said why it ended, or a typed error without any call.
func FuzzAnswer(f *testing.F) {
	for _, c := range lines[fault](f, faults) {
		if body := c.HTTP.body(key); len(body) < 1<<16 {
			f.Add(bytes.ReplaceAll(body, []byte(key), []byte("x")))
		}
	}
	for _, c := range lines[recording](f, recorded) {
		f.Add([]byte(c.Raw))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := onTheWire(t, "application/json", bytes.NewReader(body))
		checkRead(t, r, err, body)
	})
}

// FuzzError: whatever status comes with whatever page, it is a typed error; and the key is not in it.
func FuzzError(f *testing.F) {
	for _, c := range lines[fault](f, faults) {
		if c.HTTP.Status != http.StatusOK {
			f.Add(c.HTTP.Status, "3", c.HTTP.body(key))
		}
	}
	f.Fuzz(func(t *testing.T, status int, retryAfter string, body []byte) {
		if status == http.StatusOK {
			return
		}
		m := atTransport(t, Config{}, func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {retryAfter}}, Body: io.NopCloser(bytes.NewReader(body))}, nil
		})
		r, err := m.Sample(t.Context(), question())
		checkRead(t, r, err, body)
		if err == nil {
			t.Errorf("status %d is read as an answer", status)
		}
	})
}

// onTheWire reads an answer without the client around it.
func onTheWire(t *testing.T, kind string, body io.Reader) (model.Response, error) {
	x := &exchange{stop: func(error) {}}
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}}
	resp.Body = io.NopCloser(body)
	err := (&wire{maxBody: 1 << 20}).answer(t.Context(), resp, x)
	return x.response, err
}

func checkRead(t *testing.T, r model.Response, err error, body []byte) {
	t.Helper()
	var e *Error
	switch {
	case err != nil && !errors.As(err, &e):
		t.Errorf("an error without a type: %v", err)
	case err != nil && strings.Contains(err.Error(), key):
		t.Errorf("the key is in %v", err)
	case err != nil && (len(r.Calls) > 0 || r.Text != ""):
		t.Errorf("%+v of a failed answer", r)
	case err == nil && r.Finish == "":
		t.Errorf("an answer without an end: %+v", r)
	}
	length := len(r.Text)
	for _, c := range r.Calls {
		length += len(c.Arguments)
	}
	if length > 3*len(body) { // a byte that is no UTF-8 is shown as three
		t.Errorf("%d bytes of texts and arguments in an answer of %d bytes", length, len(body))
	}
}
