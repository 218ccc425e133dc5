package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "github.com/sashabaranov/go-openai"
)

// Kind of an error.
type Kind string

// Kinds of errors.
const (
	KindStatus    Kind = "status"     // the endpoint answered with an error status
	KindNetwork   Kind = "network"    // no answer: connection, DNS, TLS, reset
	KindTimeout   Kind = "timeout"    // the request's time limit
	KindBadAnswer Kind = "bad_answer" // no JSON, no choices, too large, cut off
	KindContext   Kind = "context_overflow"
)

// Error of a request.
type Error struct {
	Kind       Kind
	Status     int // HTTP status, 0 where there was no answer
	Message    string
	RetryAfter string // as the endpoint said it
	Err        error  // what lies below, with secrets taken out
}

// Error says what happened; the key is never in it.
func (e *Error) Error() string {
	text := "openai: " + string(e.Kind)
	if e.Status != 0 {
		text += fmt.Sprintf(" %d %s", e.Status, http.StatusText(e.Status))
	}
	return text + ": " + e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// errTimeout is the cause of a request's own time limit.
var errTimeout = errors.New("openai: the request's time limit")

const redacted = "[redacted]"

// redact takes the key out of an error's text.
func redact(err error, key string) error {
	if key == "" || !strings.Contains(err.Error(), key) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), key, redacted))
}

// explain makes an *Error of what the client library returned.
func (m *Model) explain(ctx context.Context, err error, x *exchange) error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	message := strings.ToValidUTF8(redact(err, m.cfg.APIKey).Error(), "\uFFFD")
	if len(message) > 2000 {
		message = strings.ToValidUTF8(message[:2000], "") + " …"
	}
	e := &Error{Kind: KindNetwork, Message: message, RetryAfter: x.retryAfter}
	var api *sdk.APIError
	var req *sdk.RequestError
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		e.Kind, e.Err = KindTimeout, context.DeadlineExceeded
		e.Message = fmt.Sprintf("no whole answer within %v", m.cfg.Timeout)
	case ctx.Err() != nil:
		return fmt.Errorf("openai: %w", context.Cause(ctx))
	case errors.As(err, &api):
		e.Kind, e.Status = KindStatus, api.HTTPStatusCode
		if overflow(api) {
			e.Kind = KindContext
		}
	case errors.As(err, &req):
		e.Kind, e.Status = KindStatus, req.HTTPStatusCode
	case x.status == http.StatusOK:
		e.Kind, e.Status = KindBadAnswer, x.status
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			e.Message = "the answer ends early: " + message
		}
	}
	if e.Status == 0 && x.status != 0 {
		e.Status = x.status
	}
	return e
}

// overflow tells a full context from other bad requests.
func overflow(e *sdk.APIError) bool {
	if e.HTTPStatusCode != http.StatusBadRequest && e.HTTPStatusCode != http.StatusRequestEntityTooLarge {
		return false
	}
	code := fmt.Sprint(e.Code)
	return code == "context_length_exceeded" || e.Type == "exceed_context_size_error"
}

// helps says whether the same request may succeed later.
func (e *Error) helps() bool {
	switch e.Kind {
	case KindNetwork, KindTimeout:
		return true
	case KindBadAnswer:
		return e.Status == 0 || e.Status == http.StatusOK && errors.Is(e.Err, io.ErrUnexpectedEOF)
	case KindContext:
		return false
	case KindStatus:
	}
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Waiting between retries: from half a second, doubled, at most 20 s, jittered.
const (
	firstWait = 500 * time.Millisecond
	mostWait  = 20 * time.Second
)

// again decides on a retry: only where it helps, as often and as long as allowed, inside the sample's deadline.
func (m *Model) again(ctx context.Context, err error, try int, begin, deadline time.Time) (time.Duration, bool) {
	var e *Error
	if ctx.Err() != nil || !errors.As(err, &e) || !e.helps() || try >= m.cfg.Retries {
		return 0, false
	}
	wait := firstWait << min(try, 10)
	wait = min(wait, mostWait)
	wait = wait/2 + time.Duration(m.jitter()*float64(wait/2))
	if asked, ok := retryAfter(e.RetryAfter, time.Now()); ok {
		wait = max(wait, asked) // zero is no licence to hammer
	}
	end := time.Now().Add(wait)
	if m.cfg.RetryTime > 0 && end.Sub(begin) > m.cfg.RetryTime {
		return 0, false
	}
	if !deadline.IsZero() && !end.Before(deadline) {
		return 0, false
	}
	return wait, true
}

// retryAfter reads the header: seconds, or an HTTP date.
func retryAfter(text string, now time.Time) (time.Duration, bool) {
	if text == "" {
		return 0, false
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		if !(s >= 0 && s <= 1e6) {
			return 0, false
		}
		return time.Duration(s * float64(time.Second)), true
	}
	t, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return max(t.Sub(now), 0), true
}

func (m *Model) jitter() float64 {
	if m.cfg.Jitter != nil {
		return m.cfg.Jitter()
	}
	return rand.Float64()
}

func (m *Model) wait(ctx context.Context, d time.Duration) error {
	if m.cfg.Wait != nil {
		return m.cfg.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("openai: %w", context.Cause(ctx))
	}
}
