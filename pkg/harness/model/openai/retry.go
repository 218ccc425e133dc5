package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"agent_node/pkg/harness/model"
)

// Kind of an error.
type Kind string

// Kinds of errors.
const (
	KindRequest   Kind = "bad_request"      // the client library refuses to send this
	KindStatus    Kind = "status"           // the endpoint answered with an error status
	KindNetwork   Kind = "network"          // no answer: connection, DNS, TLS, reset
	KindTimeout   Kind = "timeout"          // the request's time limit
	KindEndpoint  Kind = "endpoint_error"   // an error in place of an answer or of its rest, with a good status
	KindBadAnswer Kind = "bad_answer"       // no JSON, no choices, too large, cut off
	KindContext   Kind = "context_overflow" // the history is longer than the model's context
)

// Error of a request.
type Error struct {
	Kind       Kind
	Status     int // HTTP status, 0 where there was no answer
	Message    string
	RetryAfter string // as the endpoint said it
	Err        error  // what lies below; nil where that might hold secrets

	again bool // the same request may succeed later
}

// Error says what happened; the key is never in it.
func (e *Error) Error() string {
	text := "openai: " + string(e.Kind)
	if e.Status != 0 {
		text += fmt.Sprintf(" %d %s", e.Status, http.StatusText(e.Status))
	}
	text += ": " + e.Message
	if e.RetryAfter != "" {
		text += fmt.Sprintf(" (Retry-After: %s)", clip(e.RetryAfter, 60))
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is finds model.ErrContextOverflow in an error that says so.
func (e *Error) Is(target error) bool {
	return target == model.ErrContextOverflow && e.Kind == KindContext
}

// Causes of a request's end.
var (
	errTimeout  = errors.New("openai: the request's time limit")
	errIdle     = errors.New("openai: the answer stands still")
	errTail     = errors.New("openai: the answer is complete")
	errDeadline = fmt.Errorf("openai: the time for the sample is up: %w", context.DeadlineExceeded)
)

const (
	redacted = "[redacted]"
	// maxMessage bounds what is told of an endpoint's words, bytes.
	maxMessage = 2000
)

// clip shortens a text to so many bytes, and makes it valid UTF-8.
func clip(text string, most int) string {
	if len(text) > most {
		text = text[:most] + " …"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// redact takes the key out of an error's text.
func redact(err error, key string) error {
	if key == "" || !strings.Contains(err.Error(), key) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), key, redacted))
}

// explain makes an *Error of what the client library returned.
func (m *Model) explain(ctx context.Context, err error, x *exchange) error {
	switch cause := context.Cause(ctx); {
	case cause == nil, x.status >= http.StatusBadRequest && (errors.Is(cause, errTimeout) || errors.Is(cause, errIdle)):
	case errors.Is(cause, errTimeout):
		return &Error{Kind: KindTimeout, Status: x.status, Message: fmt.Sprintf("no whole answer within %v", m.cfg.Timeout), Err: context.DeadlineExceeded, again: true}
	case errors.Is(cause, errIdle):
		return &Error{Kind: KindTimeout, Status: x.status, Message: fmt.Sprintf("the answer began and then stood still for %v", m.cfg.Idle), Err: context.DeadlineExceeded, again: true}
	default:
		return fmt.Errorf("openai: %w", cause)
	}
	secret := func(text string) string {
		if m.cfg.APIKey != "" {
			text = strings.ReplaceAll(text, m.cfg.APIKey, redacted)
		}
		return clip(text, maxMessage)
	}
	e := &Error{Status: x.status, Message: secret(err.Error()), RetryAfter: secret(x.retryAfter)}
	var own *Error
	var api *sdk.APIError
	var req *sdk.RequestError
	switch {
	case errors.As(err, &own):
		e.Kind, e.Status, e.Message, e.again = own.Kind, own.Status, secret(own.Message), own.again
	case errors.As(err, &req): // first, since it may wrap the other, empty
		e.Kind, e.Message, e.again = KindStatus, secret(string(req.Body)), passes(e.Status)
		if overflow(e.Status, "", "", string(req.Body)) {
			e.Kind, e.again = KindContext, false
		}
	case errors.As(err, &api):
		e.Kind, e.Message = KindStatus, secret(api.Message)
		if overflow(e.Status, fmt.Sprint(api.Code), api.Type, api.Message) {
			e.Kind = KindContext
		}
		e.again = e.Kind == KindStatus && passes(e.Status) && !hopeless(fmt.Sprint(api.Code), api.Type)
	case !x.sent:
		e.Kind = KindRequest
	case x.status == 0:
		e.Kind, e.again = KindNetwork, comesBack(err)
	default: // the client library stumbled over what it was given
		e.Kind = KindBadAnswer
	}
	return e
}

// comesBack says of a connection that failed whether the next one may do better. Names that do not exist, certificates that are not
// trusted and servers that speak something else stay as they are.
func comesBack(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		header      tls.RecordHeaderError
		alert       tls.AlertError
		dns         *net.DNSError
	)
	switch {
	case errors.As(err, &certificate), errors.As(err, &header), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return false
	case errors.As(err, &dns):
		return !dns.IsNotFound
	}
	return true
}

// overflow tells a full context from other bad requests: servers have no common code for it.
func overflow(status int, code, kind, message string) bool {
	switch status {
	case http.StatusOK, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return false
	}
	if code == "context_length_exceeded" || kind == "exceed_context_size_error" {
		return true
	}
	message = strings.ToLower(message)
	for _, words := range []string{
		"maximum context length", "available context size", "context length exceeded", "context window", "prompt is too long", "input is too long",
		"too many tokens", "reduce the length",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// passes says of a status whether the same request may succeed later.
func passes(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	// Gateways' own: the server behind is down, unreachable, slow or overloaded.
	return status >= 520 && status <= 524 || status == 529
}

// hopeless: waiting pays no bill.
func hopeless(code, kind string) bool {
	return code == "insufficient_quota" || kind == "insufficient_quota" || code == "billing_hard_limit_reached"
}

// Waiting between retries: from half a second, doubled, at most 20 s, jittered.
const (
	firstWait = 500 * time.Millisecond
	mostWait  = 20 * time.Second
	// badAnswers is how often an answer that came and cannot be used is asked for again: it may be the line's fault, and is the endpoint's
	// where it stays.
	badAnswers = 2
)

// again decides on a retry: only where it helps, as often and as long as allowed, inside the sample's deadline.
func (m *Model) again(ctx context.Context, err error, try int, begin, deadline time.Time) (time.Duration, bool) {
	var e *Error
	if ctx.Err() != nil || !errors.As(err, &e) || !e.again || try >= m.cfg.Retries || e.Kind == KindBadAnswer && try >= badAnswers {
		return 0, false
	}
	wait := firstWait << min(try, 10)
	wait = min(wait, mostWait)
	wait = wait/2 + time.Duration(m.jitter()*float64(wait/2))
	if asked, ok := retryAfter(e.RetryAfter, time.Now()); ok {
		wait = max(wait, asked) // zero is no licence to hammer
	}
	end := time.Now().Add(wait)
	if end.Sub(begin) > m.cfg.RetryTime {
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
		const most = 1e9 // s; more would not fit into a duration
		return time.Duration(min(s, most) * float64(time.Second)), s >= 0
	}
	t, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	// A date has whole seconds: what it cut off is waited for, too.
	return max((t.Sub(now) + time.Second - 1).Truncate(time.Second), 0), true
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
