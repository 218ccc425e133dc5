package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/harness/model"
)

// reply is an HTTP answer as the files in testdata hold it: parts of a body are texts, {"b64": …} and {"repeat": [text, n]}.
type reply struct {
	Status  int
	Headers map[string]string
	Body    any
	Chunks  any // of a body in chunked coding
	End     string
}

func (r reply) body(authorization string) []byte {
	all := r.Body
	if r.Chunks != nil {
		all = r.Chunks
	}
	parts, ok := all.([]any)
	if !ok {
		parts = []any{all}
	}
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, p...)
		case map[string]any:
			if text, ok := p["b64"].(string); ok {
				raw, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					panic(err)
				}
				out = append(out, raw...)
			}
			if again, ok := p["repeat"].([]any); ok {
				out = append(out, strings.Repeat(again[0].(string), int(again[1].(float64)))...)
			}
		}
	}
	return bytes.ReplaceAll(out, []byte("{{echo_authorization}}"), []byte(authorization))
}

// serve the reply, byte for byte.
func (r reply) serve(w http.ResponseWriter, req *http.Request) {
	for k, v := range r.Headers {
		if strings.Contains(v, "{{http_date(+3)}}") {
			v = time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat)
		}
		w.Header().Set(k, v)
	}
	if r.End == "reset" && r.Chunks == nil {
		w.Header().Set("Content-Length", "100000")
	}
	w.WriteHeader(r.Status)
	w.Write(r.body(req.Header.Get("Authorization")))
	if r.End == "reset" {
		reset(w)
	}
}

// reset ends a connection with RST.
func reset(w http.ResponseWriter) {
	http.NewResponseController(w).Flush()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// read is an answer in one line.
func read(r model.Response, err error) string {
	var e *Error
	if errors.As(err, &e) {
		out := fmt.Sprintf("error %s %d", e.Kind, e.Status)
		if e.again {
			out += " again"
		}
		return out
	}
	if err != nil {
		return "untyped error " + err.Error()
	}
	out := string(r.Finish)
	for _, c := range r.Calls {
		out += fmt.Sprintf(" %s:%s(%s)", c.ID, c.Tool, c.Arguments)
	}
	if len(r.Calls) == 0 {
		out += fmt.Sprintf(" %.60q", r.Text)
	}
	return out
}

// says is an endpoint that gives one answer.
func says(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// at is a model at an endpoint on loopback.
func at(t testing.TB, cfg Config, handler http.HandlerFunc) *Model {
	t.Helper()
	server := httptest.NewServer(handler)
	transport := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	cfg.Transport, cfg.BaseURL = transport, server.URL+"/v1"
	return made(t, cfg)
}

// atTransport is a model whose endpoint is a function.
func atTransport(t testing.TB, cfg Config, answer func(*http.Request) (*http.Response, error)) *Model {
	t.Helper()
	cfg.Transport, cfg.BaseURL = roundTrip(answer), "http://endpoint/v1"
	return made(t, cfg)
}

// given is what a model at an endpoint that sends these bytes makes of them.
func given(t testing.TB, cfg Config, status int, kind string, body io.Reader) (model.Response, error) {
	t.Helper()
	m := atTransport(t, cfg, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(body)}, nil
	})
	return m.Sample(t.Context(), question())
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

const key = "sk-planted-4711"

func made(t testing.TB, cfg Config) *Model {
	t.Helper()
	cfg.Model, cfg.APIKey = "test-model", key
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func question() model.Request {
	return model.Request{
		Messages: []model.Message{{Role: model.RoleSystem, Content: "You control a robot."}, {Role: model.RoleUser, Content: "drive half a metre"}},
		Tools:    []model.Tool{{Name: "drive", Parameters: json.RawMessage(`{"type":"object","properties":{"distance_m":{"type":"number"}}}`)}},
	}
}
