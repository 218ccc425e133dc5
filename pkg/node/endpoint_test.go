package node_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agent_node/config"
	"agent_node/pkg/ros"
)

// chat is an endpoint that answers with these texts, one after the other, the last for ever. asked are the requests' bodies.
type chat struct {
	mu    sync.Mutex
	texts []string
	asked []string
}

func newChat(t *testing.T, texts ...string) (*chat, []string) {
	t.Helper()
	c := &chat{texts: texts}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked = append(c.asked, string(body))
		text := c.texts[0]
		if len(c.texts) > 1 {
			c.texts = c.texts[1:]
		}
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "data:") {
			quoted, _ := json.Marshal(text)
			text = fmt.Sprintf(`{"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, quoted)
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return c, []string{"model.kind:=openai", "model.name:=m", "model.base_url:=" + server.URL + "/v1", "model.max_output_tokens:=777"}
}

func (c *chat) requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.asked...)
}

// called is a whole answer with one call.
func called(id, name, args string) string {
	quoted, _ := json.Marshal(args)
	return fmt.Sprintf(`{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, id, name, quoted)
}

// An endpoint that knows no tools is asked without, and the calls that its model writes are carried out, refused and cited like any other.
func TestATextOnlyModelCallsTools(t *testing.T) {
	block := func(text string) string { return "<think>hm</think>\n<tool_call>\n" + text + "\n</tool_call>" }
	c, params := newChat(t,
		block(`{"name": "drive", "arguments": {"distance_m": "far"}}`),
		"<tool_call>drive on</tool_call>",
		block(`{"name": "get_battery", "arguments": {}}`),
		block(`{"name": "finish", "arguments": {"answer": "I looked.", "evidence": ["call_3_1"]}}`))
	h := newHouse(t, append(params, "model.tool_calls:=text")...)
	out := h.run(h.client("execute_task", execute), task("how much battery is left?")).Result
	var kinds []string
	for _, s := range out.Msgs("completed_steps") {
		kinds = append(kinds, s.Str("tool")+" "+s.Str("error_kind"))
	}
	want := "drive invalid_arguments, unreadable tool_call: offset 0: \"drive\" where a value belongs unknown_tool, get_battery , finish "
	if got := strings.Join(kinds, ", "); got != want || out.Str("reason_code") != "accepted" {
		t.Errorf("%s: %s\n%s, want\n%s", out.Str("reason_code"), out.Str("answer"), got, want)
	}
	asked := c.requests()
	for i, body := range asked {
		if strings.Contains(body, `"tools":`) || strings.Contains(body, `"tool_calls":`) || strings.Contains(body, `"role":"tool"`) || !strings.Contains(body, `\"name\":\"get_battery\"`) || !strings.Contains(body, `"max_tokens":777`) {
			t.Errorf("request %d: %s", i+1, body)
		}
	}
	if len(asked) != 4 || !strings.Contains(asked[3], `tool_response\u003e\n{\"call_id\":\"call_3_1\",\"name\":\"get_battery\"`) {
		t.Errorf("%d requests, the last %s", len(asked), asked[len(asked)-1])
	}
}

// What the camera sees goes to a model that sees, and only then; the record holds it.
func TestPicturesReachTheEndpoint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "profile.yaml")
	tools := "\ntools:\n  look:\n    class: query\n    description: Looks through the camera.\n    binding: {topic: {name: /camera, type: sensor_msgs/msg/Image, max_age: 60}}\n"
	check(t, os.WriteFile(file, bytes.Replace(config.SimRobot, []byte("\ntools:\n"), []byte(tools), 1), 0o600))
	for _, sees := range []bool{true, false} {
		c, params := newChat(t, called("c1", "look", "{}"), called("c2", "finish", `{"answer":"A wall.","evidence":["c1"]}`))
		dir := t.TempDir()
		h := newHouse(t, append(params, "profile:="+file, fmt.Sprintf("model.images:=%t", sees), "trace.dir:="+dir)...)
		p := must(h.peer.CreatePublisher("/camera", "sensor_msgs/msg/Image", ros.LatchedQoS()))(t)
		m := ros.New(must(h.peer.Types().Message("sensor_msgs/msg/Image"))(t))
		m.With("width", uint32(64)).With("height", uint32(48)).With("step", uint32(64)).With("encoding", "mono8").With("data", make([]byte, 64*48))
		m.SetStamp("header.stamp", h.peer.Clock().Now())
		check(t, p.Publish(m))
		out := h.run(h.client("execute_task", execute), task("what do you see?")).Result
		if out.Str("reason_code") != "accepted" || len(c.requests()) != 2 {
			t.Fatalf("%s: %s", out.Str("reason_code"), out.Str("answer"))
		}
		record := must(os.ReadFile(out.Str("trace")))(t)
		shown := strings.Contains(c.requests()[1], `{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,/9j/`)
		if shown != sees || strings.Contains(string(record), `"media_type":"image/jpeg"`) != sees || strings.Contains(c.requests()[1], "this model is shown none") == sees {
			t.Errorf("model.images %t: the request is %.3000s", sees, c.requests()[1])
		}
	}
}
