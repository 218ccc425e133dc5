package openai

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
)

// exchange is one request and what was seen of its answer on the wire.
type exchange struct {
	// stop ends the request for a reason; silence after the head, and after the answer is complete, do.
	stop context.CancelCauseFunc

	sent       bool // the transport was asked
	asked      int  // bytes of the request
	status     int
	retryAfter string
	response   model.Response // the answer
	usage      model.Usage    // of an answer, whether or not the rest of it can be read
	came       int            // bytes of a stream's texts and arguments
}

type exchangeKey struct{}

// spent is what a request that failed used: what the endpoint says, else, where it worked on the request, an estimate. An error that came
// instead of an answer costs nothing.
func (x *exchange) spent(ctx context.Context, err error) model.Usage {
	var e *Error
	instead := errors.As(err, &e) && (e.Kind == KindStatus || e.Kind == KindEndpoint || e.Kind == KindContext) && x.came == 0
	working := x.status == http.StatusOK || x.status == 0 && context.Cause(ctx) != nil
	if x.usage.Known || !x.sent || !working || instead {
		return x.usage
	}
	u := model.Usage{InputTokens: budget.EstimateText(x.asked)}
	if x.came > 0 {
		u.OutputTokens = budget.EstimateText(x.came)
	}
	return u
}

// wire reads answers below the client library, which would take the first JSON value of a body for all of it, an error object for an answer
// without choices, a redirect for a success, and a page of HTML for a stream without events.
type wire struct {
	next    http.RoundTripper
	maxBody int64
	idle    time.Duration
}

const (
	// maxErrorBody is how much of an error's page is read, bytes.
	maxErrorBody = 64 << 10
	// tail is how long the rest of a stream (usage, end mark) is waited for once its answer is complete.
	tail = 3 * time.Second
)

// RoundTrip implements http.RoundTripper. The answer itself goes into the exchange; the client library gets an empty one.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("openai: a request without an exchange")
	}
	x.sent, x.asked = true, int(max(r.ContentLength, 0))
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	x.status, x.retryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
	if ms, err := strconv.ParseFloat(resp.Header.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		x.retryAfter = strconv.FormatFloat(ms/1e3, 'f', -1, 64) // what one vendor says beside it, more exactly
	}
	body := []byte("{}")
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		// The status counts, whatever comes of its page.
		body, _ = io.ReadAll(io.LimitReader(w.watched(resp.Body, x), maxErrorBody))
	case resp.StatusCode != http.StatusOK:
		return nil, &Error{
			Kind: KindBadAnswer, Status: resp.StatusCode,
			Message: fmt.Sprintf("200 is wanted; the answer leads to %.200q", resp.Header.Get("Location")),
		}
	default:
		err = w.answer(r.Context(), resp, x)
	}
	if err != nil {
		return nil, err
	}
	again := *resp
	again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return &again, nil
}

// answer reads a good status' body, as what its first bytes say it is.
func (w *wire) answer(ctx context.Context, resp *http.Response, x *exchange) error {
	limited := &limitedReader{r: w.watched(resp.Body, x), left: w.maxBody}
	in := bufio.NewReader(limited)
	contentType := resp.Header.Get("Content-Type")
	first, err := opening(in)
	if err == nil {
		switch {
		case first == '<':
			page, _ := in.Peek(min(in.Buffered(), 200))
			return &Error{Kind: KindBadAnswer, Status: resp.StatusCode, Message: fmt.Sprintf("the answer, %.60q, is a page and no completion: %.200q", contentType, page)}
		case first == '{', first == '[':
			var body []byte
			if body, err = io.ReadAll(in); err == nil {
				return whole(body, contentType, x)
			}
		case events(in, contentType):
			return w.events(ctx, in, limited, x)
		default:
			var body []byte
			if body, err = io.ReadAll(in); err == nil {
				return whole(body, contentType, x)
			}
		}
	}
	if errors.Is(err, io.EOF) {
		return whole(nil, contentType, x)
	}
	return limited.explain(err)
}

// events reads a stream.
func (w *wire) events(ctx context.Context, in *bufio.Reader, limited *limitedReader, x *exchange) error {
	s := &stream{into: &assembler{}}
	ending := false
	err := s.read(in, func(complete bool) {
		if complete && !ending {
			ending = true
			timer := time.AfterFunc(tail, func() { x.stop(errTail) })
			context.AfterFunc(ctx, func() { timer.Stop() })
		}
	})
	x.usage, x.came = s.into.usage, s.into.seen
	var bad *Error
	switch {
	case errors.As(err, &bad):
		return bad
	case err != nil && !s.into.complete():
		return limited.explain(err)
	case err != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), errTail):
		return err // whoever ended the sample does not want its answer
	}
	x.response, err = s.into.response()
	return err
}

// events says whether a body is a stream of them: it says so, or begins like one.
func events(in *bufio.Reader, contentType string) bool {
	for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
		for n := 1; ; n++ {
			got, err := in.Peek(n)
			if err != nil || got[n-1] != field[n-1] {
				break
			}
			if n == len(field) {
				return true
			}
		}
	}
	return strings.HasPrefix(contentType, "text/event-stream")
}

// opening skips a byte-order mark and white space, and peeks at what follows.
func opening(in *bufio.Reader) (byte, error) {
	if mark, err := in.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	for {
		c, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, in.UnreadByte()
		}
	}
}

// watched is a body whose silence ends the request.
func (w *wire) watched(body io.Reader, x *exchange) io.Reader {
	if w.idle <= 0 {
		return body
	}
	return &watchedReader{r: body, idle: w.idle, stop: func() { x.stop(errIdle) }}
}

type watchedReader struct {
	r    io.Reader
	idle time.Duration
	stop func()
}

// Read implements io.Reader.
func (w *watchedReader) Read(p []byte) (int, error) {
	timer := time.AfterFunc(w.idle, w.stop)
	defer timer.Stop()
	return w.r.Read(p)
}

// limitedReader ends a body that is too large with an error.
type limitedReader struct {
	r    io.Reader
	left int64
	read int64
	over bool
}

var errTooLarge = errors.New("too large")

// Read implements io.Reader.
func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		// It may end exactly here.
		n, err := l.r.Read(p[:min(len(p), 1)])
		if n > 0 {
			l.over = true
			return 0, errTooLarge
		}
		return 0, err
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	l.read += int64(n)
	return n, err
}

// explain why a body could not be read to its end.
func (l *limitedReader) explain(err error) error {
	if l.over {
		return &Error{Kind: KindBadAnswer, Status: http.StatusOK, Message: fmt.Sprintf("the answer is too large: over %d bytes", l.read)}
	}
	return &Error{Kind: KindBadAnswer, Status: http.StatusOK, Message: fmt.Sprintf("the answer ends early, after %d bytes: %v", l.read, err), Err: err, again: true}
}
