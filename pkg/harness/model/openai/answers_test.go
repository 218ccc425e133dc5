package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"agent_node/pkg/harness/model"
)

// completion is a whole answer with these choices and this usage.
func completion(choices, usage string) string {
	return fmt.Sprintf(`{"id":"x","object":"chat.completion","model":"m","choices":[%s],"usage":%s}`, choices, usage)
}

const (
	used  = `{"prompt_tokens":120,"completion_tokens":25,"total_tokens":145}`
	drive = `{"id":"c1","type":"function","function":{"name":"drive","arguments":"{\"distance_m\":0.5}"}}`
)

// choice with an index, a message's fields and a finish reason.
func choice(index int, message, finish string) string {
	return fmt.Sprintf(`{"index":%d,"message":{"role":"assistant",%s},"finish_reason":%s}`, index, message, finish)
}

func TestWholeAnswers(t *testing.T) {
	called := `"content":null,"tool_calls":[` + drive + `]`
	for name, c := range map[string]struct{ choices, want string }{
		"text":                           {choice(0, `"content":"Hello."`, `"stop"`), `stop "Hello."`},
		"text in parts":                  {choice(0, `"content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo."}]`, `"stop"`), `stop "Hello."`},
		"empty text":                     {choice(0, `"content":""`, `"stop"`), `stop ""`},
		"no text":                        {choice(0, `"content":null`, `"stop"`), `stop ""`},
		"a call":                         {choice(0, called, `"tool_calls"`), `tool_calls c1:drive({"distance_m":0.5})`},
		"a call that stops":              {choice(0, called, `"stop"`), `tool_calls c1:drive({"distance_m":0.5})`},
		"two calls":                      {choice(0, `"tool_calls":[`+drive+`,{"id":"c2","type":"function","function":{"name":"wait","arguments":"{}"}}]`, `"tool_calls"`), `tool_calls c1:drive({"distance_m":0.5}) c2:wait({})`},
		"index 0 comes last":             {choice(2, `"content":"c"`, `"stop"`) + "," + choice(1, called, `"tool_calls"`) + "," + choice(0, `"content":"a"`, `"stop"`), `stop "a"`},
		"a cut call":                     {choice(0, `"tool_calls":[{"id":"c1","type":"function","function":{"name":"drive","arguments":"{\""}}]`, `"length"`), `length c1:drive({")`},
		"a refusal":                      {choice(0, `"content":null,"refusal":"I will not."`, `"stop"`), `refusal "I will not."`},
		"a refusal and a call":           {choice(0, `"refusal":"I will not.","tool_calls":[`+drive+`]`, `"tool_calls"`), `refusal "I will not."`},
		"filtered":                       {choice(0, `"content":""`, `"content_filter"`), `content_filter ""`},
		"filtered with a call":           {choice(0, called, `"content_filter"`), `content_filter c1:drive({"distance_m":0.5})`},
		"an unknown end":                 {choice(0, called, `"tired"`), `unknown: tired c1:drive({"distance_m":0.5})`},
		"no end":                         {choice(0, called, `null`), `unknown:  c1:drive({"distance_m":0.5})`},
		"an object for arguments":        {choice(0, `"tool_calls":[{"id":"c1","type":"function","function":{"name":"drive","arguments":{"distance_m":0.5}}}]`, `"tool_calls"`), `tool_calls c1:drive({"distance_m":0.5})`},
		"a number for arguments":         {choice(0, `"tool_calls":[{"id":"c1","type":"function","function":{"name":"drive","arguments":0.5}}]`, `"tool_calls"`), `tool_calls c1:drive(0.5)`},
		"no arguments":                   {choice(0, `"tool_calls":[{"id":"c1","type":"function","function":{"name":"drive","arguments":null}}]`, `"tool_calls"`), `tool_calls c1:drive()`},
		"a number for an id":             {choice(0, `"tool_calls":[{"id":7,"type":"function","function":{"name":"drive","arguments":"{}"}}]`, `"tool_calls"`), `tool_calls 7:drive({})`},
		"no function":                    {choice(0, `"tool_calls":[{"id":"c1","type":"function"}]`, `"tool_calls"`), `tool_calls c1:()`},
		"a call of the older kind":       {choice(0, `"content":null,"function_call":{"name":"drive","arguments":"{}"}`, `"function_call"`), `tool_calls :drive({})`},
		"half a character in arguments":  {choice(0, `"tool_calls":[{"id":"c1","type":"function","function":{"name":"drive","arguments":"{\"place\":\"\ud83d\"}"}}]`, `"tool_calls"`), "tool_calls c1:drive({\"place\":\"\xed\xa0\xbd\"})"},
		"no UTF-8 in arguments":          {choice(0, `"tool_calls":[{"id":"c1","type":"function","function":{"name":"drive","arguments":"{\"place\":\"`+"\xff"+`\"}"}}]`, `"tool_calls"`), "tool_calls c1:drive({\"place\":\"\xff\"})"},
		"a whole character in arguments": {choice(0, `"tool_calls":[{"id":"c1","type":"function","function":{"name":"drive","arguments":"{\"place\":\"\ud83d\ude00\u00e4\t\b\f\n\r\/\"}"}}]`, `"tool_calls"`), "tool_calls c1:drive({\"place\":\"😀ä\t\b\f\n\r/\"})"},
		"no UTF-8 in the text":           {choice(0, `"content":"a`+"\xff"+`b"`, `"stop"`), "stop \"a\uFFFDb\""},
		"cut by another name":            {choice(0, called, `"max_tokens"`), `length c1:drive({"distance_m":0.5})`},
		"a refusal among the parts":      {choice(0, `"content":[{"type":"refusal","refusal":"No."}]`, `"stop"`), `refusal "No."`},
		"a text for a list":              {choice(0, `"tool_calls":"drive"`, `"tool_calls"`), `error bad_answer 200`},
		"no message":                     {`{"index":0,"finish_reason":"stop"}`, `stop ""`},
		"a choice that is nothing":       {`null`, `unknown:  ""`},
		"no choices":                     {``, `error bad_answer 200`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := at(t, Config{Retries: 3}, says(200, "application/json", completion(c.choices, used))).Sample(t.Context(), question())
			if got := read(r, err); got != c.want {
				t.Errorf("read as %s, want %s (%v)", got, c.want, err)
			}
			if r.Usage.InputTokens != 120 || r.Usage.OutputTokens != 25 || !r.Usage.Known {
				t.Errorf("usage %+v", r.Usage)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for usage, want := range map[string]model.Usage{
		used: {InputTokens: 120, OutputTokens: 25, Known: true},
		`{"prompt_tokens":120,"completion_tokens":25,"total_tokens":145,"prompt_tokens_details":{"cached_tokens":100},"completion_tokens_details":{"reasoning_tokens":20}}`: {InputTokens: 120, OutputTokens: 25, CachedTokens: 100, ReasoningTokens: 20, Known: true},
		`{"prompt_tokens":18446744073709551616,"completion_tokens":1e400}`:                                                                                                  {InputTokens: 1 << 53, OutputTokens: 1 << 53, Known: true},
		`{"prompt_tokens":"many","completion_tokens":2.9,"completion_tokens_details":{"reasoning_tokens":900}}`:                                                             {OutputTokens: 2, ReasoningTokens: 2, Known: true},
		`{"prompt_tokens":120,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":900}}`:                                                                         {InputTokens: 120, CachedTokens: 120, Known: true},
		`{"prompt_tokens":-5,"completion_tokens":-1}`:                                                                                                                       {},
		`{"prompt_tokens":0,"completion_tokens":0}`:                                                                                                                         {},
		`{}`:   {},
		`null`: {},
	} {
		r, err := at(t, Config{}, says(200, "application/json", completion(choice(0, `"content":"hi"`, `"stop"`), usage))).Sample(t.Context(), question())
		if err != nil || r.Usage != want {
			t.Errorf("%s is %+v, want %+v (%v)", usage, r.Usage, want, err)
		}
	}
}

// TestWhatIsNoAnswer: bodies that no completion is in.
func TestWhatIsNoAnswer(t *testing.T) {
	whole := completion(choice(0, `"content":"hi"`, `"stop"`), used)
	for name, c := range map[string]struct {
		kind, body, want string
	}{
		"a log-in page":                        {"text/html", "<html><body>Log in</body></html>", "error bad_answer 200"},
		"a page that says it is JSON":          {"application/json", "<html>", "error bad_answer 200"},
		"nothing":                              {"application/json", "", "error bad_answer 200 again"},
		"half of it":                           {"application/json", whole[:len(whole)/2], "error bad_answer 200 again"},
		"two of it":                            {"application/json", whole + whole, "error bad_answer 200"},
		"a list":                               {"application/json", "[]", "error bad_answer 200"},
		"an empty object":                      {"application/json", "{}", "error bad_answer 200"},
		"an error in good dress":               {"application/json", `{"error":{"code":503,"message":"busy"}}`, "error status 503 again"},
		"an error without a code":              {"application/json", `{"error":"no"}`, "error endpoint_error 200"},
		"a full context in good dress":         {"application/json", `{"error":{"code":400,"type":"exceed_context_size_error","message":"long"}}`, "error context_overflow 400"},
		"a stream without an answer":           {"text/event-stream", "data: {}\n\ndata: [DONE]\n\n", "error bad_answer 200 again"},
		"words":                                {"application/json", "data base error", "error bad_answer 200"},
		"an error that may pass":               {"application/json", `{"error":{"type":"overloaded_error","message":"busy"}}`, "error endpoint_error 200 again"},
		"an object that calls itself an error": {"application/json", `{"object":"error","message":"no","type":"BadRequestError","code":400}`, "error status 400"},
		"a quota that is used up":              {"application/json", `{"error":{"code":429,"type":"insufficient_quota"}}`, "error status 429"},
		"white space before it":                {"application/json", "\n\n \r\n\t" + whole, `stop "hi"`},
		"JSON that calls itself text":          {"text/plain", whole, `stop "hi"`},
	} {
		r, err := at(t, Config{}, says(200, c.kind, c.body)).Sample(t.Context(), question())
		if got := read(r, err); got != c.want {
			t.Errorf("%s: read as %s, want %s (%v)", name, got, c.want, err)
		}
	}
}

// TestTheRequest: what a server needs is there, and nothing that servers refuse.
func TestTheRequest(t *testing.T) {
	var got map[string]any
	var head http.Header
	m := at(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		head = r.Header
		json.NewDecoder(r.Body).Decode(&got)
		says(200, "application/json", completion(choice(0, `"content":"hi"`, `"stop"`), used))(w, r)
	})
	q := question()
	q.MaxOutputTokens = 1 << 40
	q.Tools = append(q.Tools, model.Tool{Name: "stop_here"})
	q.Messages = append(q.Messages,
		model.Message{Role: model.RoleAssistant, Calls: []model.Call{{ID: "c1", Tool: "drive", Arguments: "{}"}, {ID: "c2", Tool: "", Arguments: "{}"}, {ID: "c3", Tool: "a b", Arguments: "{}"}}},
		model.Message{Role: model.RoleTool, CallID: "c1", Tool: "drive"},
		model.Message{Role: model.RoleTool, CallID: "c2", Content: "unknown_tool"},
		model.Message{Role: model.RoleTool, CallID: "c3", Content: "unknown_tool"},
		model.Message{Role: model.RoleAssistant})
	if _, err := m.Sample(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if head.Get("Authorization") != "Bearer "+key {
		t.Error("the key was not sent")
	}
	if got["model"] != "test-model" || got["max_tokens"] != float64(1<<31-1) || got["stream"] != false {
		t.Errorf("%v", got)
	}
	text, _ := json.Marshal(got["messages"])
	want := `[{"content":"You control a robot.","role":"system"},{"content":"drive half a metre","role":"user"},` +
		`{"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"drive"},"id":"c1","type":"function"},` +
		`{"function":{"arguments":"{}","name":"no_such_tool"},"id":"c2","type":"function"},{"function":{"arguments":"{}","name":"no_such_tool"},"id":"c3","type":"function"}]},` +
		`{"content":"(empty)","role":"tool","tool_call_id":"c1"},{"content":"unknown_tool","role":"tool","tool_call_id":"c2"},{"content":"unknown_tool","role":"tool","tool_call_id":"c3"},` +
		`{"content":"(empty)","role":"assistant"}]`
	if string(text) != want {
		t.Errorf("messages\n%s, want\n%s", text, want)
	}
	tools, _ := json.Marshal(got["tools"])
	if !strings.Contains(string(tools), `"name":"stop_here","parameters":{"properties":{},"type":"object"}`) {
		t.Errorf("tools %s", tools)
	}
}

// TestModelsWithAnotherNameForTheLimit: some know max_completion_tokens only.
func TestModelsWithAnotherNameForTheLimit(t *testing.T) {
	for name, want := range map[string]string{"gpt-4o": "max_tokens", "qwen3": "max_tokens", "gpt-5": "max_completion_tokens", "o3-mini": "max_completion_tokens"} {
		data, err := json.Marshal((&Model{cfg: Config{Model: name}}).request(model.Request{MaxOutputTokens: 100}))
		if err != nil || strings.Count(string(data), ":100") != 1 || !strings.Contains(string(data), `"`+want+`":100`) {
			t.Errorf("%s: %s %v", name, data, err)
		}
	}
}

func TestConfigurationsThatCannotWork(t *testing.T) {
	for name, c := range map[string]Config{
		"no URL":          {Model: "m"},
		"no host":         {Model: "m", BaseURL: "http:///v1"},
		"another scheme":  {Model: "m", BaseURL: "file:///etc"},
		"broken":          {Model: "m", BaseURL: "http://[::1", APIKey: "::1"},
		"no model":        {BaseURL: "http://localhost/v1"},
		"fewer than none": {Model: "m", BaseURL: "http://localhost/v1", Retries: -1},
		"with a password": {Model: "m", BaseURL: "ftp://user:hunter2@localhost/v1"},
	} {
		_, err := New(c)
		if err == nil || strings.Contains(err.Error(), "hunter2") || c.APIKey != "" && strings.Contains(err.Error(), c.APIKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPicturesInARequest: as parts of a user's message behind the results of an answer, or of the message that has them.
func TestPicturesInARequest(t *testing.T) {
	jpeg, png := model.Image{MediaType: "image/jpeg", Data: []byte{0xff, 0xd8}}, model.Image{MediaType: "image/png", Data: []byte{0x89}}
	history := []model.Message{
		{Role: model.RoleUser, Content: "what is this?", Images: []model.Image{png}},
		{Role: model.RoleAssistant, Calls: []model.Call{{ID: "c1", Tool: "look", Arguments: "{}"}, {ID: "c2", Tool: "look", Arguments: "{}"}, {ID: "c3", Tool: "drive", Arguments: "{}"}}},
		{Role: model.RoleTool, CallID: "c1", Content: "a", Images: []model.Image{jpeg, png}},
		{Role: model.RoleTool, CallID: "c2", Content: "b", Images: []model.Image{jpeg}},
		{Role: model.RoleTool, CallID: "c3", Content: "c"},
		{Role: model.RoleUser, Content: "[harness] Hurry."},
		{Role: model.RoleAssistant, Content: "A cat."},
		{Role: model.RoleTool, CallID: "c4", Content: "d", Images: []model.Image{jpeg}},
	}
	const j, p = `{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,/9g="}}`, `{"type":"image_url","image_url":{"url":"data:image/png;base64,iQ=="}}`
	saw := func(id string) string { return `{"type":"text","text":"[harness] What call ` + id + ` saw:"}` }
	want := []string{
		`{"role":"user","content":[{"type":"text","text":"what is this?"},` + p + `]}`, "", `{"role":"tool","content":"a","tool_call_id":"c1"}`, `{"role":"tool","content":"b","tool_call_id":"c2"}`,
		`{"role":"tool","content":"c","tool_call_id":"c3"}`, `{"role":"user","content":[` + saw("c1") + `,` + j + `,` + p + `,` + saw("c2") + `,` + j + `]}`, `{"role":"user","content":"[harness] Hurry."}`,
		`{"role":"assistant","content":"A cat."}`, `{"role":"tool","content":"d","tool_call_id":"c4"}`, `{"role":"user","content":[` + saw("c4") + `,` + j + `]}`,
	}
	got := messages(history)
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i, m := range got {
		text, err := json.Marshal(m)
		if err != nil || want[i] != "" && string(text) != want[i] {
			t.Errorf("message %d is %s, want %s (%v)", i, text, want[i], err)
		}
	}
	// Each request begins with the messages of the one before: what is shown behind an answer's results stays there.
	if short := messages(history[:6]); !reflect.DeepEqual(short, got[:7]) {
		t.Errorf("an earlier request was\n%+v", short)
	}
}
