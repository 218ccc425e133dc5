package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"agent_node/pkg/harness/model"
)

// An endpoint whose error comes in the middle of a stream that began well, behind a call that looks finished: nothing of the stream is
// used, the error says what it is, and the request is made again only where that helps.
func TestErrorInTheMiddleOfAStream(t *testing.T) {
	call := opens(0, "c1", "drive", `{"distance_m":1.5}`)
	for name, c := range map[string]struct {
		event    string
		kind     Kind
		status   int
		requests int32
		overflow bool
	}{
		"a type that passes":          {`data: {"error":{"message":"busy","type":"overloaded_error"}}`, KindEndpoint, 200, 3, false},
		"a code that passes":          {`data: {"error":{"message":"gone","code":503}}`, KindStatus, 503, 3, false},
		"a code as a text":            {`data: {"error":{"message":"slow down","code":"429"}}`, KindStatus, 429, 3, false},
		"a code that stays":           {`data: {"error":{"message":"no such model","code":404}}`, KindStatus, 404, 1, false},
		"a bill that is not paid":     {`data: {"error":{"message":"pay","code":429,"type":"insufficient_quota"}}`, KindStatus, 429, 1, false},
		"neither type nor code":       {`data: {"error":{"message":"failed"}}`, KindEndpoint, 200, 1, false},
		"a text":                      {`data: {"error":"failed"}`, KindEndpoint, 200, 1, false},
		"behind other members":        {`data: {"id":"x","choices":[],"error":{"message":"busy","type":"server_error"}}`, KindEndpoint, 200, 3, false},
		"a full context":              {`data: {"error":{"message":"This model's maximum context length is 4096 tokens","type":"invalid_request_error"}}`, KindContext, 200, 1, true},
		"an object that is an error":  {`data: {"object":"error","message":"engine died","type":"InternalServerError","code":500}`, KindStatus, 500, 3, false},
		"an event that is an error":   {"event: error\ndata: {\"type\":\"error\",\"message\":\"busy\",\"code\":529}", KindStatus, 529, 3, false},
		"an error within one that is": {`data: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, KindEndpoint, 200, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, recovers := range []bool{false, true} {
				var requests atomic.Int32
				m := at(t, Config{
					Stream: true, Retries: 2, RetryTime: time.Minute, Wait: func(context.Context, time.Duration) error { return nil },
				}, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					body := call + c.event + "\n\n" + ended + mark
					if requests.Add(1) > 1 && recovers {
						body = call + ended + booked + mark
					}
					io.WriteString(w, body)
				})
				q := question()
				var told []string
				q.Observe = func(kind string, _ any) { told = append(told, kind) }
				r, err := m.Sample(t.Context(), q)
				if recovers && c.requests > 1 {
					if err != nil || len(r.Calls) != 1 || requests.Load() != 2 || len(told) != 1 {
						t.Errorf("the second try was good, and it is %+v, %v after %d requests", r, err, requests.Load())
					}
					if r.Wasted.OutputTokens == 0 {
						t.Error("what came of the first try was paid for, and is not counted")
					}
					continue
				}
				var e *Error
				if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || requests.Load() != c.requests || len(told) != int(c.requests)-1 {
					t.Errorf("%v after %d requests, want %s %d after %d", err, requests.Load(), c.kind, c.status, c.requests)
				}
				if errors.Is(err, model.ErrContextOverflow) != c.overflow {
					t.Errorf("%v: a full context is %t", err, !c.overflow)
				}
				if len(r.Calls) > 0 || r.Text != "" {
					t.Errorf("of the broken stream is used: %+v", r)
				}
			}
		})
	}
}
