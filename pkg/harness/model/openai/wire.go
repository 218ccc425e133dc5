package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"agent_node/pkg/harness/model"
)

// exchange is what was seen on the wire of one request.
type exchange struct {
	sent       bool // the transport was asked
	status     int
	retryAfter string
	usage      model.Usage // of an answer, whether or not the rest of it can be read
}

type exchangeKey struct{}

// wire reads whole answers below the client library, which would take the first JSON value of a body for all of it, an error object
// for an answer without choices, and a redirect for a success.
type wire struct {
	next    http.RoundTripper
	maxBody int64
}

// maxErrorBody is how much of an error's page is read, bytes.
const maxErrorBody = 64 << 10

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		x = &exchange{}
	}
	x.sent = true
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	x.status, x.retryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
	var body []byte
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		// The status counts, whatever comes of its page.
		body, _ = io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
	case resp.StatusCode != http.StatusOK:
		return nil, &Error{
			Kind: KindBadAnswer, Status: resp.StatusCode,
			Message: fmt.Sprintf("200 is wanted; the answer leads to %.200q", resp.Header.Get("Location")),
		}
	default:
		if body, err = w.whole(resp, x); err != nil {
			if r.Context().Err() != nil {
				return nil, r.Context().Err()
			}
			return nil, err
		}
	}
	again := *resp
	again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return &again, nil
}

// whole reads a good status' body: one JSON object to its end, or an error.
func (w *wire) whole(resp *http.Response, x *exchange) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, w.maxBody+1))
	switch {
	case int64(len(body)) > w.maxBody:
		return nil, &Error{Kind: KindBadAnswer, Status: resp.StatusCode, Message: fmt.Sprintf("the answer is too large: over %d bytes", w.maxBody)}
	case err != nil:
		return nil, &Error{Kind: KindBadAnswer, Status: resp.StatusCode, Message: fmt.Sprintf("the answer ends early, after %d bytes: %v", len(body), err), Err: err, again: true}
	}
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	var seen struct {
		Error   json.RawMessage   `json:"error"`
		Choices []json.RawMessage `json:"choices"`
		Usage   json.RawMessage   `json:"usage"`
	}
	if err := json.Unmarshal(body, &seen); err != nil {
		// Nothing, or the beginning of something: the connection was closed too early.
		cut := strings.Contains(err.Error(), "unexpected end of JSON input")
		return nil, &Error{
			Kind: KindBadAnswer, Status: resp.StatusCode, Err: err, again: cut,
			Message: fmt.Sprintf("the answer, %d bytes of %.60q, is no JSON of a completion: %v", len(body), resp.Header.Get("Content-Type"), err),
		}
	}
	x.usage = usageOf(seen.Usage)
	if len(seen.Choices) == 0 && len(seen.Error) > 0 && string(seen.Error) != "null" {
		return nil, inGoodDress(seen.Error)
	}
	return body, nil
}

// usageOf reads a usage as far as it goes, for answers whose rest cannot be read.
func usageOf(raw json.RawMessage) model.Usage {
	var u struct {
		Prompt     float64 `json:"prompt_tokens"`
		Completion float64 `json:"completion_tokens"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return model.Usage{}
	}
	const most = 1 << 53
	whole := func(f float64) uint64 { return uint64(max(0, min(f, most))) }
	out := model.Usage{InputTokens: whole(u.Prompt), OutputTokens: whole(u.Completion)}
	out.Known = out.InputTokens > 0 || out.OutputTokens > 0
	return out
}

// inGoodDress is an error that came with a good status. Its code counts as one where it is one.
func inGoodDress(raw json.RawMessage) error {
	e := &Error{Kind: KindBadAnswer, Status: http.StatusOK, Message: "the answer holds an error: " + clip(string(raw), maxMessage)}
	var body struct {
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Message any    `json:"message"`
	}
	var typed *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, &body); err != nil && !errors.As(err, &typed) {
		return e
	}
	status, err := strconv.Atoi(fmt.Sprint(body.Code))
	if err == nil && status >= http.StatusBadRequest && status < 600 {
		e.Kind, e.Status = KindStatus, status
	}
	if overflow(e.Status, fmt.Sprint(body.Code), body.Type, fmt.Sprint(body.Message)) {
		e.Kind = KindContext
	}
	e.again = e.Kind == KindStatus && passes(e.Status) && !hopeless(fmt.Sprint(body.Code), body.Type)
	return e
}
