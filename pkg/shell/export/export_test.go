package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"agent_node/pkg/harness/trace"
	"agent_node/pkg/shell/export"
)

var start = time.Date(2026, 3, 1, 9, 30, 0, 5, time.UTC)

// session is one with a plan's stage, a sample, a call that fails, one that is refused, and an end.
func session(t *testing.T) []trace.Event {
	t.Helper()
	var m trace.Memory
	l, err := m.Open("0123456789abcdef0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range []trace.Event{
		{Kind: "session", Phase: "assemble", State: "sampling", Data: []byte(`{"task":"my secret task","model":"m1","system":"You direct"}`)},
		{Kind: "request", Phase: "sample", State: "sampling", Data: []byte(`{"step":1,"max_output_tokens":100}`)},
		{Kind: "response", Phase: "parse", State: "sampling", Data: []byte(`{"step":1,"text":"off","finish":"tool_calls","input_tokens":50,"output_tokens":7,"calls":[{"id":"c1","name":"drive"}]}`)},
		{Kind: "parsed", Phase: "dispatch", State: "awaiting_tool", Data: []byte(`{"use":"calls"}`)},
		{Kind: "call", CallID: "c1", Phase: "observe", State: "awaiting_tool", Data: []byte(`{"tool":"drive","class":"skill","arguments":{"distance_m":1}}`)},
		{Kind: "tool.guard", CallID: "c1", Data: []byte(`{"state":"moving"}`)},
		{Kind: "observation", CallID: "c1", Phase: "dispatch", State: "awaiting_tool", Data: []byte(`{"tool":"drive","ok":false,"error_kind":"timeout","content":"too long"}`)},
		{Kind: "observation", CallID: "c2", Phase: "decide", State: "sampling", Data: []byte(`{"tool":"turn","ok":false,"error_kind":"precondition_failed","content":"no"}`)},
		{Kind: "verification", Phase: "decide", State: "sampling", Data: []byte(`{"criterion":"at_place(kitchen)","passed":false,"evidence":"dock"}`)},
		{Kind: "request", Phase: "sample", State: "sampling", Data: []byte(`{"step":2,"planned":true}`)},
		{Kind: "response", Phase: "parse", State: "sampling", Data: []byte(`{"step":2}`)},
		{Kind: "end", Phase: "end", State: "failed", Data: []byte(`{"outcome":"FAILED","reason":"stuck","usage":{"input_tokens":50,"output_tokens":7,"cost":0.5}}`)},
	} {
		e.Time = start.Add(time.Duration(i) * time.Second)
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	events, report, err := trace.Events(bytes.NewReader(m.Bytes("0123456789abcdef0123456789abcdef")))
	if err != nil || report.Condition() != trace.Intact {
		t.Fatal(err, report)
	}
	return events
}

// What the library's own reader finds in an MCAP file is the trace.
func TestMCAP(t *testing.T) {
	events := session(t)
	var out bytes.Buffer
	if err := export.MCAP(&out, events); err != nil {
		t.Fatal(err)
	}
	r, err := mcap.NewReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	it, err := r.Messages()
	if err != nil {
		t.Fatal(err)
	}
	var got []trace.Event
	var states, logs []string
	for {
		schema, channel, m, err := it.NextInto(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var described struct{ Type string }
		if err := json.Unmarshal(schema.Data, &described); err != nil || described.Type != "object" || schema.Encoding != "jsonschema" || channel.MessageEncoding != "json" {
			t.Fatalf("%v: %s %s", err, schema.Encoding, schema.Data)
		}
		switch channel.Topic {
		case export.TopicTrace:
			var e trace.Event
			if err := json.Unmarshal(m.Data, &e); err != nil || uint64(e.Time.UnixNano()) != m.LogTime {
				t.Fatal(err, m.LogTime)
			}
			got = append(got, e)
		case export.TopicLog:
			var l struct {
				Timestamp struct{ Sec, Nsec int64 }
				Level     int
				Message   string
			}
			if err := json.Unmarshal(m.Data, &l); err != nil || l.Timestamp.Nsec != 5 || schema.Name != "foxglove.Log" {
				t.Fatalf("%v: %s", err, m.Data)
			}
			logs = append(logs, l.Message)
			if want := map[int]int{0: 2, 5: 1, 6: 3, 11: 4}[len(logs)-1]; want != 0 && l.Level != want {
				t.Errorf("message %d has level %d, want %d", len(logs), l.Level, want)
			}
		case export.TopicState:
			var s struct{ State, Phase string }
			if err := json.Unmarshal(m.Data, &s); err != nil {
				t.Fatal(err)
			}
			states = append(states, s.State+"/"+s.Phase)
		}
	}
	if len(got) != len(events) || got[4].Hash != events[4].Hash || string(got[4].Data) != string(events[4].Data) {
		t.Errorf("%d of %d events", len(got), len(events))
	}
	if len(states) != len(events)-1 || states[0] != "sampling/assemble" { // a tool's note is no transition
		t.Errorf("states %q", states)
	}
	if len(logs) != len(events) || !strings.Contains(logs[6], "timeout") {
		t.Errorf("log %q", logs)
	}
}

func TestOTLP(t *testing.T) {
	events := session(t)
	export1 := func(content bool) (spans []map[string]any, text string) {
		var out bytes.Buffer
		if err := export.OTLP(&out, events, export.OTLPOptions{Content: content}); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []map[string]any }
			}
		}
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		return doc.ResourceSpans[0].ScopeSpans[0].Spans, out.String()
	}
	spans, text := export1(false)
	names := []string{}
	for _, s := range spans {
		names = append(names, s["name"].(string))
		if s["traceId"] != "0123456789abcdef0123456789abcdef" || len(s["spanId"].(string)) != 16 {
			t.Errorf("ids %v %v", s["traceId"], s["spanId"])
		}
		if s["endTimeUnixNano"].(string) < s["startTimeUnixNano"].(string) {
			t.Errorf("%v ends before it begins", s["name"])
		}
	}
	if !slices.Equal(names, []string{"invoke_agent agent_node", "chat m1", "execute_tool drive"}) {
		t.Errorf("spans %q", names)
	}
	root := spans[0]["spanId"]
	for _, s := range spans[1:] {
		if s["parentSpanId"] != root {
			t.Errorf("%v is below %v", s["name"], s["parentSpanId"])
		}
	}
	for _, want := range []string{
		`{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}}`, `{"key":"gen_ai.usage.input_tokens","value":{"intValue":"50"}}`,
		`{"key":"error.type","value":{"stringValue":"timeout"}}`, `{"key":"agent_node.reason_code","value":{"stringValue":"stuck"}}`,
		`"name":"refused"`, `"name":"verification"`, `"name":"tool.guard"`, `"startTimeUnixNano":"1772357400000000005"`, `"code":2`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if strings.Contains(text, "secret task") || strings.Contains(text, "distance_m") || strings.Contains(text, "too long") {
		t.Error("what was said is in the spans unasked")
	}
	if _, text := export1(true); !strings.Contains(text, "secret task") || !strings.Contains(text, "distance_m") || !strings.Contains(text, "too long") {
		t.Error("what was said is not in the spans although it was asked for")
	}
	events = events[:5] // killed during the call
	if spans, _ := export1(false); len(spans) != 3 || spans[2]["status"].(map[string]any)["message"] != "interrupted" {
		t.Errorf("of a killed process: %v", spans)
	}
	if err := export.OTLP(io.Discard, nil, export.OTLPOptions{}); err == nil {
		t.Error("an empty trace is exported")
	}
	events[1].Data = []byte(`{"step":"one"}`)
	if err := export.OTLP(io.Discard, events, export.OTLPOptions{}); err == nil {
		t.Error("a broken event is exported")
	}
}
