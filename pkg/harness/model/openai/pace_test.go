package openai

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
)

// paced is a body whose pieces come one after the other, each after a pause; then it ends, or hangs until its request is over.
type paced struct {
	ctx    context.Context
	pause  time.Duration
	pieces []string
	hangs  bool
	fails  error
}

// Read implements io.Reader.
func (p *paced) Read(b []byte) (int, error) {
	wait := p.pause
	if len(p.pieces) == 0 {
		switch {
		case p.fails != nil:
			return 0, p.fails
		case !p.hangs:
			return 0, io.EOF
		}
		wait = 1000 * time.Hour
	}
	select {
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	case <-time.After(wait):
	}
	n := copy(b, p.pieces[0])
	if p.pieces[0] = p.pieces[0][n:]; p.pieces[0] == "" {
		p.pieces = p.pieces[1:]
	}
	return n, nil
}

// sampled is what one request without retries came to, in a bubble.
type sampled struct {
	text string
	took time.Duration
	r    model.Response
	err  error
}

func bodyComes(t *testing.T, status int, cfg Config, b paced) (out sampled) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := atTransport(t, cfg, func(r *http.Request) (*http.Response, error) {
			b.ctx = r.Context()
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(&b)}, nil
		})
		begin := time.Now()
		q := question()
		q.Deadline = begin.Add(45 * time.Second)
		out.r, out.err = m.Sample(t.Context(), q)
		out.text, out.took = read(out.r, out.err), time.Since(begin)
	})
	return out
}

// TestSilence: an answer may be slow, and may not stand still.
func TestSilence(t *testing.T) {
	call := opens(0, "c1", "drive", `{}`)
	const called = `tool_calls c1:drive({})`
	cfg := Config{Stream: true, Timeout: 30 * time.Second, Idle: 5 * time.Second}
	for name, c := range map[string]struct {
		body paced
		want string
		took time.Duration
	}{
		"steady":                             {paced{pause: 4 * time.Second, pieces: []string{call, ": wait\n", booked, ended}}, called, 16 * time.Second},
		"silent before anything":             {paced{hangs: true}, "error timeout 200 again", 5 * time.Second},
		"silent in the middle":               {paced{pause: time.Second, pieces: []string{call, call[:20]}, hangs: true}, "error timeout 200 again", 7 * time.Second},
		"silent in the middle of JSON":       {paced{pause: time.Second, pieces: []string{good[:50]}, hangs: true}, "error timeout 200 again", 6 * time.Second},
		"silent behind the answer":           {paced{pause: time.Second, pieces: []string{call, ended}, hangs: true}, called, 5 * time.Second},
		"words without end":                  {paced{pause: time.Second, pieces: strings.SplitAfter(strings.Repeat(": wait\n", 100), "\n")}, "error timeout 200 again", 30 * time.Second},
		"words without end behind an answer": {paced{pause: time.Second, pieces: append([]string{call, ended}, strings.SplitAfter(strings.Repeat(": wait\n", 100), "\n")...)}, called, 5 * time.Second},
		"cut behind the answer":              {paced{pieces: []string{call, ended}, fails: io.ErrUnexpectedEOF}, called, 0},
		"cut before its end":                 {paced{pieces: []string{call}, fails: io.ErrUnexpectedEOF}, cutOff, 0},
		"nothing behind the end mark counts": {paced{pause: time.Second, pieces: []string{call, ended, mark}, hangs: true}, called, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if got := bodyComes(t, 200, cfg, c.body); got.text != c.want || got.took != c.took {
				t.Errorf("%s after %v, want %s after %v (%v)", got.text, got.took, c.want, c.took, got.err)
			}
		})
	}
	// The sample's own end comes first, and an answer that was complete then is not used either.
	if got := bodyComes(t, 200, Config{Timeout: time.Hour, Idle: time.Hour}, paced{hangs: true}); !errors.Is(got.err, context.DeadlineExceeded) || got.took != 45*time.Second {
		t.Errorf("%v after %v", got.err, got.took)
	}
	late := paced{pause: 44 * time.Second, pieces: []string{call + ended}, hangs: true}
	if got := bodyComes(t, 200, Config{Timeout: time.Hour, Idle: time.Hour}, late); got.err == nil || len(got.r.Calls) > 0 || got.took != 45*time.Second {
		t.Errorf("%v after %v", got.text, got.took)
	}
	// A status counts, though its page never ends.
	if got := bodyComes(t, 401, cfg, paced{pieces: []string{`{"error":`}, hangs: true}); got.text != "error status 401" || got.took != 5*time.Second {
		t.Errorf("%s after %v", got.text, got.took)
	}
}

// TestWhatFailedTriesCost: what the endpoint reports, else an estimate where it worked on the request, else nothing.
func TestWhatFailedTriesCost(t *testing.T) {
	cfg := Config{Timeout: 10 * time.Second}
	call := opens(0, "c1", "drive", strings.Repeat("x", 300))
	asked := func(u model.Usage) bool { return !u.Known && u.InputTokens > 50 && u.InputTokens < 500 }
	for name, c := range map[string]struct {
		status int
		body   paced
		right  func(model.Usage) bool
	}{
		"a stream that was cut":     {200, paced{pieces: []string{call}}, func(u model.Usage) bool { return asked(u) && u.OutputTokens == budget.EstimateText(305) }},
		"cut behind its usage":      {200, paced{pieces: []string{call, booked}}, func(u model.Usage) bool { return u == model.Usage{InputTokens: 120, OutputTokens: 25, Known: true} }},
		"silence":                   {200, paced{hangs: true}, func(u model.Usage) bool { return asked(u) && u.OutputTokens == 0 }},
		"an error with status 200":  {200, paced{pieces: []string{`{"error":{"code":502}}`}}, func(u model.Usage) bool { return u == model.Usage{} }},
		"an error in a stream":      {200, paced{pieces: []string{call, `data: {"error":{"code":502}}` + "\n\n"}}, func(u model.Usage) bool { return asked(u) && u.OutputTokens == budget.EstimateText(305) }},
		"a status":                  {503, paced{pieces: []string{"{}"}}, func(u model.Usage) bool { return u == model.Usage{} }},
		"a page instead of answers": {200, paced{pieces: []string{"<html>"}}, asked},
	} {
		if got := bodyComes(t, c.status, cfg, c.body); got.err == nil || !c.right(got.r.Usage) {
			t.Errorf("%s: usage %+v (%v)", name, got.r.Usage, got.err)
		}
	}
	var r model.Response
	synctest.Test(t, func(t *testing.T) {
		m := atTransport(t, cfg, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		r, _ = m.Sample(t.Context(), question())
	})
	if !asked(r.Usage) {
		t.Errorf("no answer at all: usage %+v", r.Usage)
	}
	r, _ = atTransport(t, cfg, func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }).Sample(t.Context(), question())
	if r.Usage != (model.Usage{}) {
		t.Errorf("no connection: usage %+v", r.Usage)
	}
}

// TestATryMustBeAfforded: what failed is told, the next answer's cap is what the budget says, and its refusal ends the sample.
func TestATryMustBeAfforded(t *testing.T) {
	var caps []string
	var told []model.Usage
	m := atTransport(t, Config{Retries: 5, RetryTime: time.Hour, Wait: noWait(new([]time.Duration))}, func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		_, rest, _ := strings.Cut(string(body), `"max_tokens":`)
		caps = append(caps, rest[:strings.IndexAny(rest, ",}")])
		return answer(200, `{"error":{"code":502,"message":"upstream"},"usage":`+used+`}`), nil
	})
	q := question()
	q.MaxOutputTokens = 500
	poor := &budget.Exhausted{Dimension: budget.Cost}
	q.Afford = func(wasted model.Usage) (uint64, error) {
		told = append(told, wasted)
		if len(told) == 3 {
			return 0, poor
		}
		return 500 - wasted.OutputTokens, nil
	}
	r, err := m.Sample(t.Context(), q)
	var x *budget.Exhausted
	var e *Error
	if !errors.As(err, &x) || !errors.As(err, &e) || e.Status != 502 {
		t.Errorf("ended by %v", err)
	}
	if fmt.Sprint(caps) != "[500 475 450]" || len(told) != 3 || told[2].InputTokens != 360 || r.Wasted != told[2] || r.Usage != (model.Usage{}) {
		t.Errorf("caps %v, told %+v, wasted %+v, usage %+v", caps, told, r.Wasted, r.Usage)
	}
}

// TestConnectionsThatNeverWork are not tried again: names that do not exist, certificates nobody trusts, servers that speak something else.
func TestConnectionsThatNeverWork(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		requests int
	}{
		"no such name":           {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "endpoint", IsNotFound: true}}, 1},
		"a resolver that is out": {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "server misbehaving", Name: "endpoint", IsTemporary: true}}, 3},
		"an unknown authority":   {x509.UnknownAuthorityError{}, 3}, // only as part of a handshake, below
		"plain HTTP":             {http.ErrSchemeMismatch, 1},
		"refused":                {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, 3},
	} {
		n := 0
		m := atTransport(t, Config{Retries: 2, RetryTime: time.Hour, Wait: noWait(new([]time.Duration))}, func(*http.Request) (*http.Response, error) {
			n++
			return nil, c.err
		})
		_, err := m.Sample(t.Context(), question())
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindNetwork || n != c.requests || !strings.Contains(err.Error(), c.err.Error()) {
			t.Errorf("%s: %d requests, want %d: %v", name, n, c.requests, err)
		}
	}
	secure := httptest.NewUnstartedServer(says(200, "application/json", good))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of what is tried here
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(says(200, "application/json", good))
	defer plain.Close()
	for name, url := range map[string]string{"an unknown authority": secure.URL, "no TLS": "https" + strings.TrimPrefix(plain.URL, "http"), "TLS unasked": "http" + strings.TrimPrefix(secure.URL, "https")} {
		var waits []time.Duration
		transport := &http.Transport{DisableKeepAlives: true}
		m, err := New(Config{BaseURL: url + "/v1", Model: "m", Retries: 2, RetryTime: time.Hour, Wait: noWait(&waits), Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := m.Sample(t.Context(), question()); err == nil || len(waits) > 0 {
			t.Errorf("%s: %+v %v after %d retries", name, r, err, len(waits))
		}
		transport.CloseIdleConnections()
	}
}

// TestAnEndpointsDialect: what an endpoint refuses by name and can do without is left out, from then on, and nothing is asked twice for it.
func TestAnEndpointsDialect(t *testing.T) {
	var asked []string
	knows := map[string]bool{}
	m := atTransport(t, Config{Stream: true, Retries: 0}, func(r *http.Request) (*http.Response, error) {
		data, _ := io.ReadAll(r.Body)
		text := string(data)
		asked = append(asked, text)
		for _, c := range []struct{ has, says string }{
			{`"stream_options"`, `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error"}}`},
			{`"max_tokens"`, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`},
			{`"stream":true`, `{"error":"streaming with tools is not supported"}`},
		} {
			if strings.Contains(text, c.has) && !knows[c.has] {
				return answer(400, c.says), nil
			}
		}
		return answer(200, good), nil
	})
	q := question()
	q.MaxOutputTokens = 100
	var kinds []string
	q.Observe = func(kind string, _ any) { kinds = append(kinds, kind) }
	for range 2 {
		if _, err := m.Sample(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(kinds) != "[model.adapted model.adapted model.adapted]" || len(asked) != 5 {
		t.Errorf("%v, %d requests", kinds, len(asked))
	}
	if last := asked[4]; strings.Contains(last, "stream_options") || strings.Contains(last, `"max_tokens"`) || !strings.Contains(last, `"max_completion_tokens":100`) || strings.Contains(last, `"stream":true`) {
		t.Errorf("asked %s", last)
	}
	// An endpoint that refuses on, whatever is left out, is not asked on.
	n := 0
	m = atTransport(t, Config{Stream: true}, func(*http.Request) (*http.Response, error) {
		n++
		return answer(400, `{"error":"stream, stream_options, max_tokens: use max_completion_tokens instead"}`), nil
	})
	if _, err := m.Sample(t.Context(), q); err == nil || n != 4 {
		t.Errorf("%d requests: %v", n, err)
	}
}

// TestAFullContextIsToldApart by the error's own name.
func TestAFullContextIsToldApart(t *testing.T) {
	for body, full := range map[string]bool{
		`{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (4096 tokens)","type":"exceed_context_size_error"}}`: true,
		`{"error":{"message":"bad","type":"invalid_request_error"}}`:                                                                                   false,
	} {
		_, err := at(t, Config{}, says(400, "application/json", body)).Sample(t.Context(), question())
		if err == nil || errors.Is(err, model.ErrContextOverflow) != full {
			t.Errorf("%s: %v", body, err)
		}
	}
}
