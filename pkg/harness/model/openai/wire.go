package openai

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// exchange is what was seen on the wire of one request.
type exchange struct {
	status     int
	retryAfter string
	sent       bool // the request reached the endpoint
	at         time.Time
}

type exchangeKey struct{}

// wire watches raw responses below the client library: status, Retry-After, content type and size.
type wire struct {
	next    http.RoundTripper
	maxBody int64
}

var errTooLarge = errors.New("the answer is too large")

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if x, ok := r.Context().Value(exchangeKey{}).(*exchange); ok {
		x.status, x.retryAfter, x.sent, x.at = resp.StatusCode, resp.Header.Get("Retry-After"), true, time.Now()
	}
	resp.Body = &bounded{ReadCloser: resp.Body, left: w.maxBody, limit: w.maxBody}
	if resp.StatusCode == http.StatusOK {
		kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		if err != nil || kind != "application/json" {
			return nil, errors.Join(
				&Error{Kind: KindBadAnswer, Status: resp.StatusCode, Message: fmt.Sprintf("the answer is %.60q, not application/json", resp.Header.Get("Content-Type"))},
				resp.Body.Close())
		}
	}
	return resp, nil
}

// bounded fails a body that is longer than the limit.
type bounded struct {
	io.ReadCloser
	left, limit int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// One byte more tells a body of exactly the limit from a longer one.
		var one [1]byte
		if n, err := b.ReadCloser.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, &Error{Kind: KindBadAnswer, Message: fmt.Sprintf("%v: over %d bytes", errTooLarge, b.limit)}
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
