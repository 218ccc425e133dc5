package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/harness/model"
)

const good = `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":` + used + `}`

// answer of a fake endpoint.
func answer(status int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// asked is what a sample came to, in a bubble whose clock is fake.
type asked struct {
	response model.Response
	err      error
	requests int
	took     time.Duration
	observed []map[string]any
}

// ask in a bubble. The endpoint answers the nth request (from 1) after so long.
func ask(t *testing.T, cfg Config, deadline time.Duration, endpoint func(n int) (*http.Response, time.Duration, error)) (out asked) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := atTransport(t, cfg, func(r *http.Request) (*http.Response, error) {
			out.requests++
			resp, after, err := endpoint(out.requests)
			select {
			case <-time.After(after):
				return resp, err
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})
		q := question()
		begin := time.Now()
		if deadline > 0 {
			q.Deadline = begin.Add(deadline)
		}
		q.Observe = func(kind string, data any) {
			if kind != "model.retry" {
				t.Errorf("observed %s", kind)
			}
			out.observed = append(out.observed, data.(map[string]any))
		}
		out.response, out.err = m.Sample(t.Context(), q)
		out.took = time.Since(begin)
	})
	if len(out.observed) != out.requests-1 {
		t.Errorf("%d requests and %d retries observed", out.requests, len(out.observed))
	}
	return out
}

// patient retries five times within a minute, in the middle of the jitter.
var patient = Config{Retries: 5, RetryTime: time.Minute, Jitter: func() float64 { return 0.5 }}

// TestStatuses: which are asked again, and how they are told.
func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   Kind
		again  bool
	}{
		{400, `{"error":{"message":"bad","type":"invalid_request_error"}}`, KindStatus, false},
		{400, `{"error":{"message":"long","code":"context_length_exceeded"}}`, KindContext, false},
		{400, `{"error":{"code":400,"message":"long","type":"exceed_context_size_error","n_ctx":8192}}`, KindContext, false},
		{400, `{"object":"error","message":"This model's maximum context length is 4096 tokens."}`, KindContext, false},
		{413, `{"error":"Prompt is too long"}`, KindContext, false},
		{500, `{"error":{"message":"a context window broke","type":"server_error"}}`, KindStatus, true},
		{401, `{"error":{"message":"bad key"}}`, KindStatus, false},
		{402, `{}`, KindStatus, false},
		{403, `no`, KindStatus, false},
		{404, `{"error":"model not found"}`, KindStatus, false},
		{408, ``, KindStatus, true},
		{409, `{"error":{"message":"conflict"}}`, KindStatus, true},
		{422, `{"detail":[]}`, KindStatus, false},
		{425, ``, KindStatus, true},
		{429, `{"error":{"message":"slow down","type":"rate_limit_error"}}`, KindStatus, true},
		{429, `{"error":{"message":"pay","code":"insufficient_quota"}}`, KindStatus, false},
		{500, `<html>`, KindStatus, true},
		{501, ``, KindStatus, false},
		{502, `{"error":{"message":["a","b"]}}`, KindStatus, true},
		{503, `{"error":{"message":null}}`, KindStatus, true},
		{504, `[]`, KindStatus, true},
		{522, `<html>`, KindStatus, true},
		{525, ``, KindStatus, false},
		{529, `{"error":{"type":"overloaded_error"}}`, KindStatus, true},
		{400, `{"error":{"message":"Input is too long for requested model."}}`, KindContext, false},
		{204, ``, KindBadAnswer, false},
		{302, ``, KindBadAnswer, false},
	} {
		a := ask(t, patient, 0, func(n int) (*http.Response, time.Duration, error) {
			if n == 1 {
				return answer(c.status, c.body, "Location", "http://elsewhere/"), 0, nil
			}
			return answer(200, good), 0, nil
		})
		want := 1
		if c.again {
			want = 2
		}
		if a.requests != want || (a.err == nil) != c.again {
			t.Errorf("%d %s: %d requests, want %d: %v", c.status, c.body, a.requests, want, a.err)
		}
		var e *Error
		if a.err != nil && (!errors.As(a.err, &e) || e.Kind != c.kind || e.Status != c.status) {
			t.Errorf("%d %s: %v, want a %s", c.status, c.body, a.err, c.kind)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	// The bubble's clock begins at midnight UTC, 2000-01-01.
	const own = 375 * time.Millisecond // the first wait of its own
	for header, want := range map[string]time.Duration{
		"":                              own,
		"3":                             3 * time.Second,
		"2.5":                           2500 * time.Millisecond,
		"0":                             own,
		"-5":                            own,
		"soon":                          own,
		"NaN":                           own,
		"Sat, 01 Jan 2000 00:00:07 GMT": 7 * time.Second,
		"Fri, 31 Dec 1999 00:00:00 GMT": own,
		"61":                            -1, // over RetryTime
		"86400":                         -1,
		"1e300":                         -1,
		"Inf":                           -1,
		"Sun, 02 Jan 2000 00:00:00 GMT": -1,
	} {
		a := ask(t, patient, 0, func(n int) (*http.Response, time.Duration, error) {
			if n == 1 {
				return answer(429, `{"error":{"message":"slow down"}}`, "Retry-After", header), 0, nil
			}
			return answer(200, good), 0, nil
		})
		switch {
		case want < 0:
			if a.requests != 1 || a.err == nil || a.took != 0 || !strings.Contains(a.err.Error(), header) {
				t.Errorf("%q: %d requests in %v: %v", header, a.requests, a.took, a.err)
			}
		case a.requests != 2 || a.err != nil || a.took != want:
			t.Errorf("%q: %d requests in %v, want 2 in %v: %v", header, a.requests, a.took, want, a.err)
		}
	}
}

// TestRetryAfterInMilliseconds: one vendor says it so, beside the whole seconds.
func TestRetryAfterInMilliseconds(t *testing.T) {
	for ms, want := range map[string]time.Duration{"1250": 1250 * time.Millisecond, "soon": 2 * time.Second, "-1": 2 * time.Second, "0": 375 * time.Millisecond, "86400000": 0} {
		a := ask(t, patient, 0, func(n int) (*http.Response, time.Duration, error) {
			if n == 1 {
				return answer(429, `{}`, "Retry-After", "2", "Retry-After-Ms", ms), 0, nil
			}
			return answer(200, good), 0, nil
		})
		if a.took != want || (a.err == nil) != (want > 0) {
			t.Errorf("%s: %v: %v", ms, a.took, a.err)
		}
	}
}

func TestADateIsRoundedUp(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 600e6, time.UTC)
	if d, ok := retryAfter("Thu, 01 Jan 2026 00:00:03 GMT", now); !ok || d != 3*time.Second {
		t.Errorf("%v %v", d, ok)
	}
}

func broken(int) (*http.Response, time.Duration, error) {
	return answer(503, `{"error":{"message":"busy"}}`), 0, nil
}

// TestRetriesEnd: by their number, by their time, by the deadline.
func TestRetriesEnd(t *testing.T) {
	waits := []float64{0.375, 0.75, 1.5, 3, 6, 12, 15, 15}
	for name, c := range map[string]struct {
		retries  int
		time     time.Duration
		deadline time.Duration
		requests int
	}{
		"by their number":             {3, time.Hour, 0, 4},
		"none":                        {0, time.Hour, 0, 1},
		"by their time":               {100, 30 * time.Second, 0, 7}, // 0.375 + … + 12 = 23.6 s
		"no time":                     {100, 0, 0, 1},
		"by the deadline":             {100, time.Hour, 5 * time.Second, 4},
		"at the deadline":             {100, time.Hour, 375 * time.Millisecond, 1},
		"by the deadline, in between": {2, time.Hour, 400 * time.Millisecond, 2},
	} {
		cfg := patient
		cfg.Retries, cfg.RetryTime = c.retries, c.time
		a := ask(t, cfg, c.deadline, broken)
		if a.requests != c.requests || a.err == nil {
			t.Errorf("%s: %d requests, want %d: %v", name, a.requests, c.requests, a.err)
		}
		for i, o := range a.observed {
			if o["wait_s"] != waits[i] || o["try"] != i+1 || !strings.Contains(o["error"].(string), "busy") {
				t.Errorf("%s: retry %d is observed as %v", name, i+1, o)
			}
		}
		if c.deadline > 0 && a.took > c.deadline {
			t.Errorf("%s: it took %v", name, a.took)
		}
	}
}

func TestWaitsAreJitteredBetweenHalfAndWhole(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{0: 250 * time.Millisecond, 1: 500 * time.Millisecond} {
		cfg := patient
		cfg.Retries, cfg.Jitter = 1, func() float64 { return jitter }
		if a := ask(t, cfg, 0, broken); a.took != want {
			t.Errorf("jitter %v: %v, want %v", jitter, a.took, want)
		}
	}
	cfg := patient
	cfg.Retries, cfg.Jitter = 1, nil
	if a := ask(t, cfg, 0, broken); a.took < 250*time.Millisecond || a.took >= 500*time.Millisecond {
		t.Errorf("random jitter: %v", a.took)
	}
}

// TestNoAnswerIsAskedForAgain: connections fail and requests hang; the limit of one request is not the sample's.
func TestNoAnswerIsAskedForAgain(t *testing.T) {
	cfg := patient
	cfg.Timeout = 10 * time.Second
	refused := errors.New("connection refused")
	a := ask(t, cfg, 0, func(n int) (*http.Response, time.Duration, error) {
		switch n {
		case 1:
			return nil, time.Second, refused
		case 2:
			return nil, time.Hour, nil
		}
		return answer(200, good), time.Second, nil
	})
	if a.err != nil || a.requests != 3 || a.took != (1+0.375e3/1e3+10+0.75+1)*1e9 {
		t.Errorf("%d requests in %v: %v", a.requests, a.took, a.err)
	}
	if !strings.Contains(a.observed[1]["error"].(string), "10s") {
		t.Errorf("observed %v", a.observed)
	}
	cfg.Retries = 0
	hang := func(int) (*http.Response, time.Duration, error) { return nil, time.Hour, nil }
	var e *Error
	if a = ask(t, cfg, 0, hang); !errors.As(a.err, &e) || e.Kind != KindTimeout || !errors.Is(a.err, context.DeadlineExceeded) || a.took != 10*time.Second {
		t.Errorf("%v after %v", a.err, a.took)
	}
	// The deadline of the budget ends a request, too, and nothing comes after it.
	cfg.Retries = 5
	if a = ask(t, cfg, 4*time.Second, hang); a.requests != 1 || a.took != 4*time.Second || !errors.Is(a.err, context.DeadlineExceeded) {
		t.Errorf("%d requests in %v: %v", a.requests, a.took, a.err)
	}
}

// TestACancelEndsEverything: a request under way and a wait between requests.
func TestACancelEndsEverything(t *testing.T) {
	why := errors.New("the person said stop")
	for name, after := range map[string]time.Duration{"in a request": time.Second, "in a wait": 2200 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			m := atTransport(t, patient, func(r *http.Request) (*http.Response, error) {
				requests++
				select {
				case <-time.After(2 * time.Second):
					return answer(503, `{}`), nil
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(after, func() { cancel(why) })
			begin := time.Now()
			_, err := m.Sample(ctx, question())
			if !errors.Is(err, why) || time.Since(begin) != after || requests != 1 {
				t.Errorf("%s: %d requests, %v after %v", name, requests, err, time.Since(begin))
			}
		})
	}
}

// TestTokensOfTriesThatFailedAreCounted, since somebody pays for them.
func TestTokensOfTriesThatFailedAreCounted(t *testing.T) {
	a := ask(t, patient, 0, func(n int) (*http.Response, time.Duration, error) {
		if n == 1 {
			return answer(200, `{"error":{"code":502,"message":"upstream"},"usage":`+used+`}`), 0, nil
		}
		return answer(200, good), 0, nil
	})
	if a.err != nil || a.response.Usage != (model.Usage{InputTokens: 120, OutputTokens: 25, Known: true}) || a.response.Wasted != a.response.Usage {
		t.Errorf("%+v %v", a.response.Usage, a.err)
	}
}

// TestWhatIsWrongForGoodIsNotAskedAgain: a whole answer that cannot be used, and requests that the library does not send.
func TestWhatIsWrongForGoodIsNotAskedAgain(t *testing.T) {
	for _, body := range []string{`{"choices":[]}`, `[]`, `<html>`, `{"choices":7}`, completion(choice(0, `"tool_calls":"x"`, `"stop"`), used)} {
		if a := ask(t, patient, 0, func(int) (*http.Response, time.Duration, error) { return answer(200, body), 0, nil }); a.requests != 1 || a.err == nil {
			t.Errorf("%s: %d requests: %v", body, a.requests, a.err)
		}
	}
	m, err := New(Config{BaseURL: "http://127.0.0.1:1/v1", Model: "text-davinci-003", Retries: 5, RetryTime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err = m.Sample(t.Context(), question()); !errors.As(err, &e) || e.Kind != KindRequest {
		t.Errorf("%v", err)
	}
}

// Over a real connection.

// noWait notes the waits and does not wait.
func noWait(waits *[]time.Duration) func(context.Context, time.Duration) error {
	return func(_ context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return nil
	}
}

func TestCutConnectionsAreAskedAgain(t *testing.T) {
	for name, cut := range map[string]http.HandlerFunc{
		"reset in the body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100000")
			io.WriteString(w, good[:80])
			reset(w)
		},
		"reset before the head": func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				conn.Close()
			}
		},
		"fewer bytes than said": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100000")
			io.WriteString(w, good)
		},
		"chunks without an end": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, good)
			reset(w)
		},
	} {
		var n atomic.Int32
		var waits []time.Duration
		m := at(t, Config{Retries: 2, RetryTime: time.Minute, Wait: noWait(&waits)}, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				cut(w, r)
				return
			}
			says(200, "application/json", good)(w, r)
		})
		r, err := m.Sample(t.Context(), question())
		if err != nil || r.Text != "hi" || n.Load() != 2 || len(waits) != 1 {
			t.Errorf("%s: %+v %v after %d requests", name, r, err, n.Load())
		}
	}
}

func TestAHugeBodyIsCutOff(t *testing.T) {
	for _, status := range []int{200, 500} {
		var sent atomic.Int64
		m := at(t, Config{MaxBody: 1 << 20}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			part := bytes.Repeat([]byte("x"), 64<<10)
			for range 50 << 20 / len(part) {
				n, err := w.Write(part)
				sent.Add(int64(n))
				if err != nil {
					return
				}
			}
		})
		_, err := m.Sample(t.Context(), question())
		var e *Error
		if !errors.As(err, &e) || e.Status != status || len(err.Error()) > 3000 {
			t.Fatalf("%v", err)
		}
		if status == 200 && (e.Kind != KindBadAnswer || e.again || !strings.Contains(err.Error(), "1048576 bytes")) || status == 500 && e.Kind != KindStatus {
			t.Errorf("%v", err)
		}
		if sent.Load() > 40<<20 {
			t.Errorf("%d bytes were taken", sent.Load())
		}
	}
}

// TestABodyThatHangs ends by the limit of the request, though its head came.
func TestABodyThatHangs(t *testing.T) {
	m := at(t, Config{Timeout: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.Copy(io.Discard, r.Body) // else the server does not see the connection's end
		io.WriteString(w, good[:40])
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	_, err := m.Sample(t.Context(), question())
	var e *Error
	if !errors.As(err, &e) || e.Kind != KindTimeout {
		t.Errorf("%v", err)
	}
}

// TestNothingIsSentElsewhere: a redirect is no answer, and the key does not follow it.
func TestNothingIsSentElsewhere(t *testing.T) {
	var paths []string
	m := at(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		http.Redirect(w, r, "/elsewhere?key="+key, http.StatusTemporaryRedirect)
	})
	_, err := m.Sample(t.Context(), question())
	if err == nil || strings.Contains(err.Error(), key) || !slices.Equal(paths, []string{"/v1/chat/completions"}) {
		t.Errorf("%v %v", paths, err)
	}
}

// TestTheKeyIsInNoError, wherever an endpoint repeats it.
func TestTheKeyIsInNoError(t *testing.T) {
	long := strings.Repeat("x", maxMessage-5) + key
	for name, c := range map[string]http.HandlerFunc{
		"in an error's message":     says(401, "application/json", `{"error":{"message":"no: `+key+`"}}`),
		"in an error's code":        says(401, "application/json", `{"error":{"message":"no","code":"`+key+`"}}`),
		"in a page":                 says(503, "text/html", "<html>"+key),
		"in a page, at its end":     says(503, "text/html", long),
		"in an error in good dress": says(200, "application/json", `{"error":"`+key+`"}`),
		"in the content type":       says(200, "text/"+key, "<html>"),
		"in Retry-After": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", key)
			says(429, "application/json", `{}`)(w, r)
		},
	} {
		var waits []time.Duration
		q := question()
		q.Observe = func(_ string, data any) {
			if text := data.(map[string]any)["error"].(string); strings.Contains(text, key[:8]) {
				t.Errorf("%s: observed %s", name, text)
			}
		}
		_, err := at(t, Config{Retries: 1, RetryTime: time.Minute, Wait: noWait(&waits)}, c).Sample(t.Context(), q)
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), key[:8]) {
				t.Errorf("%s: %v", name, e)
			}
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
