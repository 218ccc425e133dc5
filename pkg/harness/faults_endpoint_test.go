package harness_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model/openai"
)

// wire answers an adapter's requests with raw HTTP, the last answer for ever, and counts them.
type wire struct {
	raw   []string
	asked []time.Time
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	raw := w.raw[min(len(w.asked), len(w.raw)-1)]
	w.asked = append(w.asked, time.Now())
	return http.ReadResponse(bufio.NewReader(strings.NewReader(raw)), r)
}

// answer in HTTP: a status with its headers, and a body of this length.
func http1(status, headers, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, headers, len(body), body)
}

func jsonOf(body string) string { return http1("200 OK", "Content-Type: application/json\r\n", body) }

// completion with a message and a finish reason.
func completion(message, finish string) string {
	return jsonOf(`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":` + message + `,"finish_reason":"` + finish + `"}],"usage":{"prompt_tokens":100,"completion_tokens":9}}`)
}

const wireDrive = `{"role":"assistant","content":null,"tool_calls":[{"id":"w","type":"function","function":{"name":"navigate_to","arguments":"{\"place\":\"kitchen\"}"}}]}`

// events of a stream; each is a data line.
func stream(events ...string) string {
	return http1("200 OK", "Content-Type: text/event-stream\r\n", "data: "+strings.Join(events, "\n\ndata: ")+"\n\n")
}

const (
	wireHead  = `{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"w","type":"function","function":{"name":"navigate_to","arguments":"{\"place\":"}}]}}]}`
	wireTail  = `{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"kitchen\"}"}}]}}]}`
	wireClose = `{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
)

// endpointFaults are those of an OpenAI-compatible endpoint, through the adapter. requests is how many it may get at most.
func endpointFaults() group {
	done := completion(`{"role":"assistant","content":"done"}`, "stop")
	row := func(name string, streams bool, requests int, f fault, raw ...string) fault {
		w := &wire{raw: raw}
		m, err := openai.New(openai.Config{
			BaseURL: "http://127.0.0.1:1/v1", Model: "m", APIKey: "sk-planted", Stream: streams, Retries: 5, RetryTime: time.Minute,
			Transport: w, Jitter: func() float64 { return 0.5 },
		})
		if err != nil {
			panic(err)
		}
		f.name, f.model = name, m
		f.set = func(r *rig, _ *robot) { r.cfg.Secrets = []string{"sk-planted"} }
		f.what = func(t *testing.T, s *scene) {
			n := len(w.asked)
			if n != requests {
				t.Errorf("%d requests, want %d", n, requests)
			}
			s.count = fmt.Sprintf("; requests: %d", n)
			if strings.Contains(string(s.sink.Bytes("s1"))+s.res.Answer, "planted") {
				t.Error("the key is in the record")
			}
		}
		return f
	}
	failed := func(told string) fault { return fault{end: harness.ReasonModelError, told: told} }
	drove := fault{moved: "navigate_to 1", kinds: "ok", end: harness.ReasonAccepted, told: "kitchen"}
	idle := func(kinds, told string) fault {
		return fault{kinds: kinds, end: harness.ReasonUnverified, told: told}
	}
	errorBody := func(status, headers, message string) string {
		return http1(status, "Content-Type: application/json\r\n"+headers, `{"error":{"message":"`+message+`"}}`)
	}
	return group{"Endpoints", "Through the adapter for OpenAI-compatible endpoints with five retries; the SDK below has none.", []fault{
		row("a sound answer", false, 2, drove, completion(wireDrive, "tool_calls"), done),
		row("a sound stream", true, 2, drove, stream(wireHead, wireTail, wireClose, "[DONE]"), stream(`{"id":"c","choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}]}`, "[DONE]")),
		row("401, which repeats the key", false, 1, failed("401"), errorBody("401 Unauthorized", "", "bad key sk-planted")),
		row("404", false, 1, failed("404"), errorBody("404 Not Found", "", "no such model")),
		row("429 with Retry-After: 0, for ever", false, 6, failed("429"), errorBody("429 Too Many Requests", "Retry-After: 0\r\n", "slow down")),
		row("429 with Retry-After: a day", false, 1, failed("429"), errorBody("429 Too Many Requests", "Retry-After: 86400\r\n", "slow down")),
		row("429, then a sound answer", false, 3, drove, errorBody("429 Too Many Requests", "Retry-After: 3\r\n", "slow down"), completion(wireDrive, "tool_calls"), done),
		row("500, for ever", false, 6, failed("500"), errorBody("500 Internal Server Error", "", "oops")),
		row("a log-in page in HTML for JSON", false, 1, failed("is a page and no completion"), http1("200 OK", "Content-Type: text/html\r\n", "<html><body>Log in</body></html>")),
		row("an empty body", false, 3, failed("0 bytes"), jsonOf("")),
		row("no choices", false, 1, failed("choices"), jsonOf(`{"id":"c","choices":[]}`)),
		row("a body that ends in the middle", false, 3, failed("EOF"), "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n"+`{"id":"c","choices":[{"index":0,"message":`),
		row("a stream cut in the middle of a call", true, 3, failed("stream"), stream(wireHead)),
		row("a stream cut behind a complete call, without its end", true, 3, failed("stream"), stream(wireHead, wireTail)),
		row("a corrupt chunk in the middle of a call", true, 3, failed("stream"), stream(wireHead, `{"id":"c","choices":[{"ind`, wireTail, wireClose, "[DONE]")),
		row("an error object in the middle of a stream", true, 1, failed("overloaded"), stream(wireHead, `{"error":{"message":"overloaded"}}`, wireTail, wireClose, "[DONE]")),
		row("a call that finish_reason length cut", false, 4, idle("", "cut off"), completion(`{"role":"assistant","tool_calls":[{"id":"w","type":"function","function":{"name":"navigate_to","arguments":"{\"pl"}}]}`, "length"), done, done),
		row("arguments as an object", false, 2, drove, completion(strings.Replace(wireDrive, `"{\"place\":\"kitchen\"}"`, `{"place":"kitchen"}`, 1), "tool_calls"), done),
		row("an answer in two choices", false, 2, drove, jsonOf(`{"id":"c","choices":[{"index":1,"message":{"role":"assistant","content":"other"},"finish_reason":"stop"},{"index":0,"message":`+wireDrive+`,"finish_reason":"tool_calls"}]}`), done),
		row("a context that is full", false, 1, failed("context"), errorBody("400 Bad Request", "", "This model's maximum context length is 4096 tokens")),
	}}
}
