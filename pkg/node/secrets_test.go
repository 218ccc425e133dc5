package node_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
)

// ears hear all that leaves the node: each message, request and answer on the bus, and the log. What peers themselves say is theirs.
type ears struct {
	mu     sync.Mutex
	heard  bytes.Buffer
	topics map[string]int
}

// Write implements io.Writer, for the log.
func (e *ears) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.topics["the log"]++
	return e.heard.Write(p)
}

func (e *ears) hear(name, from string, m *ros.Message) bool {
	if from != "/agent_node" {
		return true
	}
	text, err := m.MarshalJSON()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.topics[name]++
	fmt.Fprintf(&e.heard, "%s %s %v\n", name, text, err)
	return true
}

// on a bus.
func (e *ears) on(bus *mem.Bus) {
	e.topics = map[string]int{}
	bus.SetHooks(mem.Hooks{
		Deliver:  func(topic, from, _ string, m *ros.Message) bool { return e.hear(topic, from, m) },
		Request:  func(service, from, _ string, m *ros.Message) bool { return e.hear(service, from, m) },
		Response: func(service, from, _ string, m *ros.Message) bool { return e.hear(service, from, m) },
	})
}

// repeating is an endpoint that knows the key and repeats it wherever an answer has a place for a text: one answer for each request.
func repeating(key string) (answers []func(http.ResponseWriter)) {
	says := func(status int, kind string, body any) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Location", "http://"+strings.ToValidUTF8(key, "")+"/")
			w.WriteHeader(status)
			if text, ok := body.(string); ok {
				_, _ = io.WriteString(w, text)
				return
			}
			_ = json.NewEncoder(w).Encode(body)
		}
	}
	fault := map[string]any{"error": map[string]any{"message": "Invalid key: " + key, "type": key, "code": key, "param": key}}
	completion := func(message map[string]any, finish string) any {
		message["role"] = "assistant"
		return map[string]any{"id": key, "model": key, "choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}}
	}
	call := func(id, name string, args any) func(http.ResponseWriter) {
		text, ok := args.(string)
		if !ok {
			b, err := json.Marshal(args)
			if err != nil {
				panic(err)
			}
			text = string(b)
		}
		return says(200, "application/json", completion(map[string]any{
			"content":    "The key is " + key,
			"tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": text}}},
		}, "tool_calls"))
	}
	stop := says(200, "application/json", completion(map[string]any{"content": "It is " + key + "."}, "stop"))
	escaped := ""
	for _, c := range key {
		escaped += fmt.Sprintf(`\u%04x`, c)
	}
	refuse := says(401, "application/json", fault)
	return []func(http.ResponseWriter){
		refuse,
		says(400, "text/html", "<html>"+key),
		says(302, "text/plain", key),
		says(200, "text/"+key, "<html>"+key),
		says(200, "application/json", fault),
		says(200, "application/json", `{"choices":[{"message":{"content":"`+escaped+`"},"finish_reason":"stop"`+key),
		says(200, "application/json", completion(map[string]any{"refusal": "Not with " + key}, "stop")),
		says(200, "application/json", completion(map[string]any{"content": key}, "content_filter")),
		says(200, "application/json", completion(map[string]any{"content": key}, key)), stop, stop, refuse,
		call("a", "navigate_to", map[string]any{"place": key}), call("b", key, map[string]any{key: key}), call(key, "get_battery", map[string]any{}),
		call("c", "get_battery", map[string]any{key: 1}), call("d", "drive", `{"distance_m": `+key), call("e", "drive", `{"distance_m": "`+escaped+`"}`),
		call("f", "declare_criteria", map[string]any{"criteria": []string{"at_place(" + key + ")", "cel: " + key}}),
		call("g", "finish", map[string]any{"answer": "It is " + key, "evidence": []string{key}}),
		call("h", "finish", `{"answer": "It is `+escaped+`"}`), stop, refuse,
	}
}

// A key that is given by the environment or by a file is in nothing that leaves the node, whatever the endpoint repeats of it: traces, the
// log, topics, results, answers of services.
func TestTheKeyLeavesTheNodeToTheEndpointOnly(t *testing.T) {
	for name, key := range map[string]string{"environment": "sk-planted-0123456789", "file": `pl4nt"ed\and<odd>&key/+=`} {
		t.Run(name, func(t *testing.T) {
			answers := repeating(key)
			total, asked, wrong := len(answers), 0, 0
			var mu sync.Mutex
			endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if asked++; r.Header.Get("Authorization") != "Bearer "+key {
					wrong++
				}
				next := answers[0]
				if len(answers) > 1 {
					answers = answers[1:]
				}
				next(w)
			}))
			defer endpoint.Close()
			left := func() int { mu.Lock(); defer mu.Unlock(); return len(answers) }
			params := []string{"model.kind:=openai", "model.name:=m", "model.base_url:=" + endpoint.URL + "/v1", "model.retries:=0"}
			if name == "file" {
				file := filepath.Join(t.TempDir(), "key")
				check(t, os.WriteFile(file, []byte(key+"\n"), 0o600))
				t.Setenv("OPENAI_API_KEY", "another-key-that-is-not-asked-for")
				params = append(params, "model.api_key_file:="+file)
			} else {
				t.Setenv("THE_KEY", key)
				params = append(params, "model.api_key_env:=THE_KEY")
			}
			dir := t.TempDir()
			params = append(params, "trace.dir:="+dir)
			e, bus := &ears{}, mem.NewBus()
			e.on(bus)
			h := newHouseOn(t, bus, slog.New(slog.NewTextHandler(e, &slog.HandlerOptions{Level: slog.LevelDebug})), params...)
			for topic, kind := range map[string]string{"trace": "agent_msgs/msg/TraceEvent", "state": "agent_msgs/msg/AgentState"} {
				_ = must(h.peer.CreateSubscription("/agent_node/"+topic, kind, ros.SensorQoS(), func(ros.Received) {}))(t)
			}
			execute := h.client("execute_task", execute)
			for i := 0; left() > 1; i++ {
				if i > total {
					t.Fatalf("after %d goals %d answers are left", i, left())
				}
				if i == 1 {
					h.call("decompose_task", service, task("go to the kitchen"))
					continue
				}
				h.run(execute, task("how much battery is left?"))
			}
			if wrong > 0 || asked < total-1 {
				t.Errorf("%d of %d requests came without the key", wrong, asked)
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			out := e.heard.String()
			files := 0
			check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					b, err := os.ReadFile(path)
					check(t, err)
					out += string(b)
					files++
				}
				return err
			}))
			if files == 0 || e.topics["/agent_node/trace"] == 0 || e.topics["/agent_node/state"] == 0 || e.topics["the log"] == 0 || e.topics["/agent_node/decompose_task"] == 0 {
				t.Fatalf("%d files; heard %v", files, e.topics)
			}
			quoted, err := json.Marshal(key)
			check(t, err)
			for _, form := range []string{key, strings.Trim(string(quoted), `"`), strings.ReplaceAll(strings.ReplaceAll(key, `\`, `\\`), `"`, `\"`)} {
				if i := strings.Index(out, form); i >= 0 {
					t.Errorf("the key is in: …%.300s", out[max(0, i-200):])
				}
			}
		})
	}
}
