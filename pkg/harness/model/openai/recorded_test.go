package openai

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/harness/model"
)

// faults are answers of faulty endpoints; recorded ones those of a llama.cpp server with small models.
var (
	//go:embed testdata/faults.jsonl
	faults []byte
	//go:embed testdata/recorded.jsonl
	recorded []byte
)

// recording is one line of them. want is what it must be read as, in one line.
type recording struct {
	ID, Behaviour, Want string
	HTTP                struct {
		Status  int
		Headers map[string]string
		Body    any // a text, or a list of texts and of {"b64": …}
		End     string
	}
}

func recordings(t testing.TB, data []byte) []recording {
	t.Helper()
	var out []recording
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var r recording
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if len(out) < 20 {
		t.Fatalf("%d recordings", len(out))
	}
	return out
}

func (c recording) body(authorization string) []byte {
	parts, ok := c.HTTP.Body.([]any)
	if !ok {
		parts = []any{c.HTTP.Body}
	}
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, p...)
		case map[string]any:
			raw, err := base64.StdEncoding.DecodeString(p["b64"].(string))
			if err != nil {
				panic(err)
			}
			out = append(out, raw...)
		}
	}
	return bytes.ReplaceAll(out, []byte("{{echo_authorization}}"), []byte(authorization))
}

// serve answers as the recording says, byte for byte.
func (c recording) serve(w http.ResponseWriter, r *http.Request) {
	for k, v := range c.HTTP.Headers {
		if strings.Contains(v, "{{http_date(+3)}}") {
			v = time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat)
		}
		w.Header().Set(k, v)
	}
	if c.HTTP.End == "reset" {
		w.Header().Set("Content-Length", "100000")
	}
	w.WriteHeader(c.HTTP.Status)
	w.Write(c.body(r.Header.Get("Authorization")))
	if c.HTTP.End == "reset" {
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

// TestRecordedAnswers: each becomes what its line says, whole or not at all, and no call is repaired.
func TestRecordedAnswers(t *testing.T) {
	for _, c := range append(recordings(t, faults), recordings(t, recorded)...) {
		t.Run(c.ID, func(t *testing.T) {
			m := at(t, Config{}, c.serve)
			r, err := m.Sample(t.Context(), question())
			if got := read(r, err); got != c.Want {
				t.Errorf("%s is read as\n%s, want\n%s (%v)", c.Behaviour, got, c.Want, err)
			}
			if err != nil && strings.Contains(err.Error(), key) {
				t.Errorf("the key is in %v", err)
			}
			written := argumentsIn(c.body(""))
			for _, call := range r.Calls {
				if call.Arguments != "" && !slices.Contains(written, call.Arguments) {
					t.Errorf("nobody wrote the arguments %s", call.Arguments)
				}
			}
		})
	}
}

// argumentsIn lists every text named arguments in a body.
func argumentsIn(body []byte) []string {
	var all any
	if json.Unmarshal(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), &all) != nil {
		return nil
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if text, ok := v["arguments"].(string); ok {
				out = append(out, text)
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(all)
	return out
}

// TestUsageOfRecordedAnswers: what an endpoint reports is booked once, also where the answer is of no use.
func TestUsageOfRecordedAnswers(t *testing.T) {
	for _, c := range recordings(t, recorded) {
		var raw struct {
			Usage struct {
				Prompt     uint64 `json:"prompt_tokens"`
				Completion uint64 `json:"completion_tokens"`
			}
		}
		json.Unmarshal(c.body(""), &raw)
		r, _ := at(t, Config{}, c.serve).Sample(t.Context(), question())
		if r.Usage.InputTokens != raw.Usage.Prompt || r.Usage.OutputTokens != raw.Usage.Completion || r.Usage.Known != (raw.Usage.Prompt > 0) {
			t.Errorf("%s: usage %+v, the endpoint said %+v", c.ID, r.Usage, raw.Usage)
		}
	}
}

// FuzzAnswer: whatever an endpoint sends with whatever status, it is read as an answer or a typed error, and its calls are what it wrote.
func FuzzAnswer(f *testing.F) {
	for _, c := range append(recordings(f, faults), recordings(f, recorded)...) {
		f.Add(c.HTTP.Status, c.body(key))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		m := atTransport(t, Config{}, func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body))}, nil
		})
		r, err := m.Sample(t.Context(), question())
		var e *Error
		switch {
		case err != nil && !errors.As(err, &e):
			t.Errorf("an error without a type: %v", err)
		case err != nil && strings.Contains(err.Error(), key):
			t.Errorf("the key is in %v", err)
		case err == nil && status != http.StatusOK:
			t.Errorf("status %d is read as an answer", status)
		case err == nil && !json.Valid(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))):
			t.Errorf("no JSON is read as an answer: %+v", r)
		case err != nil && len(r.Calls) > 0:
			t.Errorf("calls of a failed answer: %+v", r.Calls)
		}
	})
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
