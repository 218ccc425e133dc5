package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	sdk "github.com/sashabaranov/go-openai"
	"pgregory.net/rapid"

	"agent_node/pkg/harness/model"
)

// event of a stream: one choice with an index, a delta's fields and a finish reason.
func event(index int, delta, finish string) string {
	return fmt.Sprintf(`data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":%d,"delta":{%s},"finish_reason":%s}]}`+"\n\n", index, delta, finish)
}

// part of a call: its entry in a delta.
func part(fields string) string { return event(0, `"tool_calls":[{`+fields+`}]`, `null`) }

const (
	ended  = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"
	stop   = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	booked = `data: {"choices":[],"usage":` + used + `}` + "\n\n"
	mark   = "data: [DONE]\n\n"
)

func opens(index int, id, name, args string) string {
	return part(fmt.Sprintf(`"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%q}`, index, id, name, args))
}

func more(index int, args string) string {
	return part(fmt.Sprintf(`"index":%d,"function":{"arguments":%q}`, index, args))
}

func TestStreams(t *testing.T) {
	call := opens(0, "c1", "drive", `{"distance_m":`) + more(0, `1.5}`)
	const called = `tool_calls c1:drive({"distance_m":1.5})`
	for name, c := range map[string]struct{ body, want string }{
		"a call":                         {call + ended + booked + mark, called},
		"without an end mark":            {call + ended, called},
		"without the last line's end":    {call + strings.TrimSpace(ended), called},
		"the finish reason with the end": {opens(0, "c1", "drive", `{"distance_m":1.5`) + event(0, `"tool_calls":[{"index":0,"function":{"arguments":"}"}}]`, `"tool_calls"`) + mark, called},
		"without a finish reason":        {call + mark, cutOff},
		"cut in the arguments":           {opens(0, "c1", "drive", `{"distance_m":1`), cutOff},
		"an end that was none":           {opens(0, "c1", "drive", `{"distance_m":1}`) + stop + more(0, `0}`), cutOff},
		"an end and then the rest":       {opens(0, "c1", "drive", `{"distance_m":`) + stop + more(0, `1.5}`) + ended, called},
		"cut off, whatever comes after":  {call + event(0, ``, `"length"`) + ended + mark, `length c1:drive({"distance_m":1.5})`},
		"filtered":                       {call + event(0, ``, `"content_filter"`) + mark, `content_filter c1:drive({"distance_m":1.5})`},
		"an unknown end":                 {call + event(0, ``, `"tired"`) + mark, `unknown: tired c1:drive({"distance_m":1.5})`},
		"an error in the middle":         {call + `data: {"choices":[],"error":{"code":502,"message":"gone"}}` + "\n\n" + ended + mark, "error status 502 again"},
		"an error as its last word":      {call + ended + `data: {"error":{"message":"gone","type":"server_error"}}` + "\n\n", "error endpoint_error 200 again"},
		"an event called error":          {call + "event: error\ndata: {\"message\":\"gone\",\"code\":400}\n\n" + ended, "error status 400"},
		"an event called otherwise":      {"event: message\n" + call + "event: completion\n" + ended, called},
		"a corrupt event":                {opens(0, "c1", "drive", `{"distance_m":1`) + "data: {\"choices\":[{\"in\n\n" + more(0, `}`) + ended + mark, cutOff},
		"an event of another kind":       {call + "data: 7\n\n" + ended, cutOff},
		"no empty lines":                 {strings.ReplaceAll(call+ended+booked+mark, "\n\n", "\n"), called},
		"an event in two data fields":    {strings.Replace(call, `"choices"`, "\ndata: \"choices\"", 1) + ended, called},
		"400 comments in a row":          {strings.Repeat(": wait\n", 400) + call + strings.Repeat("\n", 400) + ended, called},
		"ids and waiting times":          {"id: 7\nretry: 1000\n" + call + "unknown\n" + ended, called},
		"a byte-order mark":              {"\xef\xbb\xbf" + call + ended + mark, called},
		"words behind the end mark":      {call + ended + mark + "data: {\n\n", called},
		"a null for choices":             {`data: {"choices":null}` + "\n\n" + call + `data: {"choices":[{"index":0,"delta":null}]}` + "\n\n" + ended, called},
		"a whole message":                {`data: {"choices":[{"index":0,"message":{"content":"Hi."},"finish_reason":"stop"}]}` + "\n\n", `stop "Hi."`},
		"a page":                         {"<!doctype html><p>Log in", refused},
		"a list":                         {"[]", refused},
		"nothing":                        {"", cutOff},
		"only comments":                  {": hello\n\n", cutOff},
		"only the end mark":              {mark, cutOff},
		"only a usage":                   {booked + mark, refused},
		"a refusal in parts":             {event(0, `"refusal":"I wi"`, `null`) + event(0, `"refusal":"ll not."`, `null`) + stop, `refusal "I will not."`},
		"two choices":                    {event(1, `"content":"b"`, `null`) + event(0, `"content":"a"`, `null`) + event(1, ``, `"stop"`) + stop, `stop "a"`},
		"two choices, the first not ended": {
			event(1, `"content":"b"`, `"stop"`) + event(0, `"content":"a"`, `null`), cutOff,
		},
		"half a character in each of two events": {event(0, `"content":"\ud83d"`, `null`) + event(0, `"content":"\ude00 \ude00"`, `null`) + stop, `stop "😀 ` + "\uFFFD" + `"`},
		"a character split in its bytes":         {event(0, "\"content\":\"\xf0\x9f\"", `null`) + event(0, "\"content\":\"\x98\x80\"", `null`) + stop, `stop "😀"`},
		"an object for arguments":                {part(`"index":0,"id":"c1","function":{"name":"drive","arguments":{"distance_m":1.5}}`) + ended, called},
		"the name in every part":                 {opens(0, "c1", "drive", `{"distance_m":`) + opens(0, "c1", "drive", `1.5}`) + ended, called},
		"the id and the name later":              {part(`"index":0,"id":"c1","type":"function"`) + part(`"index":0,"function":{"name":"drive"}`) + more(0, `{"distance_m":1.5}`) + ended, called},
		"the id after the name":                  {part(`"index":0,"function":{"name":"drive","arguments":""}`) + part(`"index":0,"id":"c1"`) + more(0, `{"distance_m":1.5}`) + ended, called},
		"everything twice":                       {opens(0, "c1", "drive", `{}`) + opens(0, "c1", "drive", `{}`) + ended, `tool_calls c1:drive({}{})`},
		"no index, one call":                     {part(`"id":"c1","function":{"name":"drive","arguments":"{\"distance_m\":"}`) + part(`"function":{"arguments":"1.5}"}`) + ended, called},
		"no index, its id in every part":         {part(`"id":"c1","function":{"name":"drive","arguments":"{\"distance_m\":"}`) + part(`"id":"c1","function":{"arguments":"1.5}"}`) + ended, called},
		"no index, two calls, a part of one": {
			part(`"id":"c1","function":{"name":"drive","arguments":"{}"}`) + part(`"id":"c2","function":{"name":"turn","arguments":"{"}`) + part(`"function":{"arguments":"}"}`) + ended,
			`tool_calls c1:drive({}) c2:turn({) :(})`,
		},
		"two calls under one index": {
			opens(0, "c1", "turn", `{"angle_rad":0.3}`) + opens(0, "c2", "drive", `{"distance_m":`) + more(0, `1.5}`) + ended,
			`tool_calls c1:turn({"angle_rad":0.3}) c2:drive({"distance_m":1.5})`,
		},
		"two calls under one index without ids": {
			part(`"index":0,"function":{"name":"turn","arguments":"{}"}`) + part(`"index":0,"function":{"name":"drive","arguments":"{"}`) + more(0, `}`) + ended,
			`tool_calls :turn({}) :drive({})`,
		},
		"the same call twice under one index without ids": {
			part(`"index":0,"function":{"name":"turn","arguments":"{}"}`) + part(`"index":0,"function":{"name":"turn","arguments":"{}"}`) + ended,
			`tool_calls :turn({}{})`,
		},
		"two names for one call":    {part(`"index":0,"function":{"name":"turn"}`) + part(`"index":0,"function":{"name":"drive","arguments":"{}"}`) + ended, cutOff},
		"one id under two indices":  {opens(0, "c1", "turn", `{}`) + opens(1, "c1", "drive", `{}`) + ended, `tool_calls c1:turn({}) c1:drive({})`},
		"the rest elsewhere":        {opens(0, "c1", "drive", `{"distance_m":`) + more(1, `1.5}`) + ended, `tool_calls c1:drive({"distance_m":) :(1.5})`},
		"a part before its call":    {more(0, `}`) + opens(1, "c1", "drive", `{`) + ended, `tool_calls :(}) c1:drive({)`},
		"another kind of call":      {part(`"index":0,"id":"c1","type":"custom","function":{"name":"drive","arguments":"{}"}`) + ended, `tool_calls c1:()`},
		"a call of the older kind":  {event(0, `"function_call":{"name":"drive","arguments":"{"}`, `null`) + event(0, `"function_call":{"arguments":"}"}`, `"function_call"`), `tool_calls :drive({})`},
		"calls of both kinds":       {event(0, `"function_call":{"name":"turn","arguments":"{}"}`, `null`) + call + ended, called},
		"a text beside the call":    {event(0, `"content":"Off."`, `null`) + call + ended, called},
		"a role in the middle":      {event(0, `"content":"a"`, `null`) + event(0, `"role":"tool","content":"b"`, `null`) + stop, `stop "ab"`},
		"a usage in every event":    {strings.ReplaceAll(call, `"choices"`, `"usage":`+used+`,"choices"`) + ended, called},
		"the end within the events": {call + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":` + used + `}` + "\n\n" + mark, called},
	} {
		t.Run(name, func(t *testing.T) {
			for form, body := range map[string]string{"LF": c.body, "CRLF": strings.ReplaceAll(c.body, "\n", "\r\n"), "CR": strings.ReplaceAll(c.body, "\n", "\r")} {
				r, err := given(t, Config{Stream: true}, 200, "text/event-stream; charset=utf-8", strings.NewReader(body))
				if got := read(r, err); got != c.want {
					t.Errorf("%s: read as %s, want %s (%v)", form, got, c.want, err)
				}
				if known := strings.Contains(body, `"usage"`) && !strings.Contains(c.want, "again"); known && r.Usage != (model.Usage{InputTokens: 120, OutputTokens: 25, Known: true}) {
					t.Errorf("%s: usage %+v", form, r.Usage)
				}
			}
		})
	}
}

// conversation is what a model says, and a stream that says it.
type conversation struct {
	text  string
	calls []model.Call
	parts []string // the events, in an order that servers may choose
}

// drawn conversation: its texts and arguments are cut anywhere, between bytes of a character too, and the parts of its calls are shuffled
// as far as each call's own order allows.
func drawn(t *rapid.T) conversation {
	c := conversation{text: rapid.StringN(0, 30, -1).Draw(t, "text")}
	var queues [][]string
	for _, p := range cut(t, c.text) {
		if len(queues) == 0 {
			queues = [][]string{nil}
		}
		queues[0] = append(queues[0], event(0, `"content":`+quoted(p), `null`))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
		args, err := json.Marshal(map[string]any{"place": rapid.StringN(0, 12, -1).Draw(t, "place"), "distance_m": rapid.Float64Range(-1e3, 1e3).Draw(t, "distance")})
		if err != nil {
			t.Fatal(err)
		}
		call := model.Call{ID: fmt.Sprintf("c%d", i), Tool: rapid.SampledFrom([]string{"drive", "turn", "navigate_to"}).Draw(t, "tool"), Arguments: string(args)}
		c.calls = append(c.calls, call)
		var q []string
		for n, p := range cut(t, call.Arguments) {
			if n == 0 {
				q = append(q, opens(i, call.ID, call.Tool, ""))
			}
			q = append(q, part(fmt.Sprintf(`"index":%d,"function":{"arguments":%s}`, i, quoted(p))))
		}
		queues = append(queues, q)
	}
	for len(queues) > 0 {
		i := rapid.IntRange(0, len(queues)-1).Draw(t, "next")
		if len(queues[i]) == 0 || len(c.calls) > 1 && i > 0 && !opened(queues[:i]) {
			queues = slices.DeleteFunc(queues, func(q []string) bool { return len(q) == 0 })
			if len(queues) > 0 {
				c.parts, queues[0] = append(c.parts, queues[0][0]), queues[0][1:]
			}
			continue
		}
		c.parts, queues[i] = append(c.parts, queues[i][0]), queues[i][1:]
	}
	return c
}

// opened: each of these has begun, so that calls appear in their order.
func opened(queues [][]string) bool {
	for _, q := range queues {
		if len(q) > 0 && strings.Contains(q[0], `"id":"c`) {
			return false
		}
	}
	return true
}

// cut a text into one to four pieces.
func cut(t *rapid.T, text string) []string {
	out := []string{text}
	for range rapid.IntRange(0, 3).Draw(t, "cuts") {
		last := out[len(out)-1]
		at := rapid.IntRange(0, len(last)).Draw(t, "at")
		out = append(out[:len(out)-1], last[:at], last[at:])
	}
	return out
}

// quoted is a JSON text whose bytes stay as they are, also where they are half a character.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.Write([]byte{'\\', c})
		case c < 0x20:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// However an answer is cut into deltas, events and reads, it is the same answer; and whatever is missing at its end, nothing of it is used.
func TestAnySplitIsTheSameAnswer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawn(rt)
		events := strings.Join(c.parts, "")
		whole := events + ended + booked + mark
		var in io.Reader = strings.NewReader(whole)
		switch rapid.IntRange(0, 2).Draw(rt, "reads") {
		case 0:
			in = iotest.OneByteReader(in)
		case 1:
			in = iotest.HalfReader(in)
		}
		r, err := given(t, Config{Stream: true}, 200, "text/event-stream", in)
		if err != nil || !slices.Equal(r.Calls, c.calls) || r.Text != c.text || r.Usage.InputTokens != 120 {
			rt.Fatalf("%q\nis read as %+v, %v, want %+v %q", whole, r, err, c.calls, c.text)
		}
		short := whole[:rapid.IntRange(0, len(events)+len(ended)-4).Draw(rt, "short")]
		for _, end := range []string{"", mark} {
			r, err = given(t, Config{Stream: true}, 200, "text/event-stream", strings.NewReader(short+end))
			var e *Error
			if !errors.As(err, &e) || e.Kind != KindBadAnswer || len(r.Calls) > 0 || r.Text != "" {
				rt.Fatalf("%q is cut and read as %+v, %v", short+end, r, err)
			}
		}
	})
}

// The client library's own reader, where nothing is wrong with a stream, finds the same.
func TestTheClientLibraryReadsGoodStreamsAlike(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawn(rt)
		body := strings.ToValidUTF8(strings.Join(c.parts, ""), "?") + ended + booked + mark
		ours, err := given(t, Config{Stream: true}, 200, "text/event-stream", strings.NewReader(body))
		if err != nil {
			rt.Fatal(err)
		}
		cfg := sdk.DefaultConfig("")
		cfg.HTTPClient = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
		})}
		s, err := sdk.NewClientWithConfig(cfg).CreateChatCompletionStream(t.Context(), sdk.ChatCompletionRequest{Model: "m", Stream: true})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		var text string
		var calls []model.Call
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			for _, choice := range chunk.Choices {
				text += choice.Delta.Content
				for _, p := range choice.Delta.ToolCalls {
					for len(calls) <= *p.Index {
						calls = append(calls, model.Call{})
					}
					calls[*p.Index].ID += p.ID
					calls[*p.Index].Tool += p.Function.Name
					calls[*p.Index].Arguments += p.Function.Arguments
				}
			}
		}
		if text != ours.Text || !slices.Equal(calls, ours.Calls) {
			rt.Fatalf("%+v %q, the client library: %+v %q", ours.Calls, ours.Text, calls, text)
		}
	})
}

// What the client library alone makes of these: an empty success, a healthy model given up, a call of two. Here each is what it is.
func TestWhatTheClientLibraryCannotSee(t *testing.T) {
	for name, body := range map[string]string{
		"a page":                 "<!doctype html><html><body>Log in</body></html>",
		"no end":                 opens(0, "c1", "drive", `{"distance_m":0.5}`),
		"an error in the middle": opens(0, "c1", "drive", `{"distance_m":0.5}`) + `data: {"id":"x","error":{"message":"gone"}}` + "\n\n",
		"a last line's loss":     opens(0, "c1", "drive", `{"distance_m":0.5}`) + strings.TrimSpace(ended),
		"a corrupt event":        opens(0, "c1", "drive", `{"distance_m":1`) + "data: {\n\n" + more(0, `}`) + ended,
	} {
		r, err := given(t, Config{Stream: true}, 200, "text/event-stream", strings.NewReader(body))
		if name == "a last line's loss" {
			if err != nil || len(r.Calls) != 1 {
				t.Errorf("%s: %+v %v", name, r, err)
			}
			continue
		}
		if err == nil || len(r.Calls) > 0 {
			t.Errorf("%s is read as %+v", name, r)
		}
	}
}
