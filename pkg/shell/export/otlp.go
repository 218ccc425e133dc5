package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"agent_node/pkg/harness/trace"
)

// Span kinds and status codes of OTLP.
const (
	kindInternal = 1
	kindClient   = 3
	statusOK     = 1
	statusError  = 2
)

// otlp is an ExportTraceServiceRequest in OTLP's JSON: ids in hex, 64-bit numbers as text.
type otlp struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   attributed   `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type attributed struct {
	Attributes []attribute `json:"attributes"`
}

type scopeSpans struct {
	Scope struct {
		Name string `json:"name"`
	} `json:"scope"`
	Spans []*span `json:"spans"`
}

type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Events     []spanEvent `json:"events,omitempty"`
	Status     status      `json:"status"`
}

type status struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

type spanEvent struct {
	Time       string      `json:"timeUnixNano"`
	Name       string      `json:"name"`
	Attributes []attribute `json:"attributes,omitempty"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type value struct {
	Text  *string  `json:"stringValue,omitempty"`
	Int   *string  `json:"intValue,omitempty"`
	Float *float64 `json:"doubleValue,omitempty"`
	Bool  *bool    `json:"boolValue,omitempty"`
	List  *list    `json:"arrayValue,omitempty"`
}

type list struct {
	Values []value `json:"values"`
}

func text(k, v string) attribute { return attribute{k, value{Text: &v}} }

func whole(k string, v uint64) attribute {
	s := strconv.FormatUint(v, 10)
	return attribute{k, value{Int: &s}}
}

func flag(k string, v bool) attribute      { return attribute{k, value{Bool: &v}} }
func number(k string, v float64) attribute { return attribute{k, value{Float: &v}} }
func texts(k string, v ...string) attribute {
	l := &list{}
	for i := range v {
		l.Values = append(l.Values, value{Text: &v[i]})
	}
	return attribute{k, value{List: l}}
}

// OTLPOptions of OTLP.
type OTLPOptions struct {
	// Content: arguments, results and texts of the model are in the spans, too. They may hold what should not leave the robot.
	Content bool
}

// OTLP writes a session as spans: one for the session, and below it one for each sample of the model ("chat") and each call of a tool
// ("execute_tool"), with the attributes of OpenTelemetry's conventions for generative AI.
func OTLP(out io.Writer, events []trace.Event, opt OTLPOptions) error {
	if len(events) == 0 {
		return fmt.Errorf("otlp: the trace is empty")
	}
	b := &spans{session: events[0].Session, opt: opt, calls: map[string]*span{}}
	for _, e := range events {
		if err := b.take(e); err != nil {
			return fmt.Errorf("otlp: event %d (%s): %w", e.Seq, e.Kind, err)
		}
	}
	b.close(events[len(events)-1].Time)
	doc := otlp{ResourceSpans: []resourceSpans{{
		Resource:   attributed{[]attribute{text("service.name", "agent_node"), text("service.instance.id", b.session)}},
		ScopeSpans: []scopeSpans{{Spans: b.all}},
	}}}
	doc.ResourceSpans[0].ScopeSpans[0].Scope.Name = "agent_node"
	return json.NewEncoder(out).Encode(doc)
}

// spans are made as the events come.
type spans struct {
	session string
	opt     OTLPOptions
	model   string
	all     []*span
	root    *span
	sample  *span
	calls   map[string]*span
}

// provider of a model by the conventions: what speaks OpenAI's protocol goes by its name, the node's own models by the node's.
func provider(model string) string {
	switch model {
	case "planner", "scripted":
		return "agent_node"
	}
	return "openai"
}

// spanID is stable: the same trace gives the same spans.
func (b *spans) spanID(part string) string {
	sum := sha256.Sum256([]byte(b.session + "\x00" + part))
	return hex.EncodeToString(sum[:8])
}

func (b *spans) traceID() string {
	if id, err := hex.DecodeString(b.session); err == nil && len(id) == 16 {
		return b.session
	}
	sum := sha256.Sum256([]byte(b.session))
	return hex.EncodeToString(sum[:16])
}

func nanos(t time.Time) string { return strconv.FormatInt(clock(t), 10) }

func (b *spans) begin(part, name string, kind int, at time.Time, attributes ...attribute) *span {
	s := &span{TraceID: b.traceID(), SpanID: b.spanID(part), Name: name, Kind: kind, Start: nanos(at), Attributes: attributes}
	if b.root != nil {
		s.Parent = b.root.SpanID
	}
	b.all = append(b.all, s)
	return s
}

func (s *span) end(at time.Time, failed string) {
	s.End = nanos(at)
	if failed != "" {
		s.Status = status{Code: statusError, Message: failed}
		s.Attributes = append(s.Attributes, text("error.type", failed))
		return
	}
	s.Status = status{Code: statusOK}
}

// eventData are the members of all kinds that spans are made from.
type eventData struct {
	Task, Model, System     string
	Step                    uint64
	MaxOutputTokens         uint64 `json:"max_output_tokens"`
	Planned                 bool
	Text, Finish, Error     string
	Input                   uint64 `json:"input_tokens"`
	Output                  uint64 `json:"output_tokens"`
	Cached                  uint64 `json:"cached_tokens"`
	Reasoning               uint64 `json:"reasoning_tokens"`
	Calls                   json.RawMessage
	Tool, Class, Content    string
	Arguments               json.RawMessage
	OK                      bool
	ErrorKind               string `json:"error_kind"`
	Criterion, Evidence     string
	Passed                  bool
	Outcome, Reason, Answer string
	Message                 string
	Usage                   struct {
		Input  uint64  `json:"input_tokens"`
		Output uint64  `json:"output_tokens"`
		Cost   float64 `json:"cost"`
	}
}

func (b *spans) take(e trace.Event) error {
	var d eventData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	if b.root == nil {
		b.model = d.Model
		b.root = b.begin("session", "invoke_agent agent_node", kindInternal, e.Time,
			text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", "agent_node"), text("gen_ai.conversation.id", b.session),
			text("gen_ai.provider.name", provider(d.Model)), text("gen_ai.request.model", d.Model))
		if b.opt.Content {
			b.root.Attributes = append(b.root.Attributes, text("gen_ai.input.messages", messages("user", d.Task)), text("gen_ai.system_instructions", d.System))
		}
		return nil
	}
	switch e.Kind {
	case "request":
		if !d.Planned {
			b.sample = b.begin(fmt.Sprintf("sample %d", e.Seq), "chat "+b.model, kindClient, e.Time,
				text("gen_ai.operation.name", "chat"), text("gen_ai.provider.name", provider(b.model)), text("gen_ai.request.model", b.model), whole("gen_ai.request.max_tokens", d.MaxOutputTokens),
				whole("agent_node.step", d.Step))
		}
	case "response":
		b.answered(e, &d)
	case "call":
		s := b.begin("call "+e.CallID, "execute_tool "+d.Tool, kindInternal, e.Time,
			text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", d.Tool), text("gen_ai.tool.call.id", e.CallID),
			text("gen_ai.tool.type", "function"), text("agent_node.tool.class", d.Class))
		if b.opt.Content {
			s.Attributes = append(s.Attributes, text("gen_ai.tool.call.arguments", string(d.Arguments)))
		}
		b.calls[e.CallID] = s
	case "observation":
		b.observed(e, &d)
	case trace.KindEnd:
		b.root.Attributes = append(b.root.Attributes, text("agent_node.outcome", d.Outcome), text("agent_node.reason_code", d.Reason),
			whole("gen_ai.usage.input_tokens", d.Usage.Input), whole("gen_ai.usage.output_tokens", d.Usage.Output), number("agent_node.usage.cost", d.Usage.Cost))
		failed := ""
		if d.Outcome != "DONE" {
			failed = d.Reason
		}
		b.root.end(e.Time, failed)
	default:
		b.note(e, &d)
	}
	return nil
}

// answered ends the span of a sample.
func (b *spans) answered(e trace.Event, d *eventData) {
	s := b.sample
	if s == nil {
		return // a plan's stage: no model was asked
	}
	b.sample = nil
	s.Attributes = append(s.Attributes, texts("gen_ai.response.finish_reasons", d.Finish), whole("gen_ai.usage.input_tokens", d.Input),
		whole("gen_ai.usage.output_tokens", d.Output), whole("gen_ai.usage.cache_read.input_tokens", d.Cached), whole("gen_ai.usage.reasoning.output_tokens", d.Reasoning))
	failed := ""
	if d.Error != "" {
		failed = "model_error"
	}
	if b.opt.Content {
		s.Attributes = append(s.Attributes, text("gen_ai.output.messages", messages("assistant", d.Text)))
		if len(d.Calls) > 0 {
			s.Attributes = append(s.Attributes, text("agent_node.calls", string(d.Calls)))
		}
	}
	s.end(e.Time, failed)
}

// observed ends the span of a call; one that was refused has none, and becomes an event of the session.
func (b *spans) observed(e trace.Event, d *eventData) {
	s := b.calls[e.CallID]
	delete(b.calls, e.CallID)
	if s == nil {
		b.root.Events = append(b.root.Events, spanEvent{nanos(e.Time), "refused", []attribute{
			text("gen_ai.tool.name", d.Tool), text("gen_ai.tool.call.id", e.CallID), text("error.type", d.ErrorKind),
		}})
		return
	}
	if b.opt.Content {
		s.Attributes = append(s.Attributes, text("gen_ai.tool.call.result", d.Content))
	}
	s.end(e.Time, d.ErrorKind)
}

// note makes an event of the session's span, or of a call's.
func (b *spans) note(e trace.Event, d *eventData) {
	switch e.Kind {
	case "decision", "parsed", "check", "settle", "whole", "images":
		return // nothing that a span would not say
	}
	ev := spanEvent{Time: nanos(e.Time), Name: e.Kind}
	if e.Kind == "verification" {
		ev.Attributes = []attribute{text("agent_node.criterion", d.Criterion), flag("agent_node.passed", d.Passed)}
	}
	if d.Message != "" && b.opt.Content {
		ev.Attributes = append(ev.Attributes, text("message", d.Message))
	}
	to := b.root
	if s := b.calls[e.CallID]; s != nil {
		to = s
	}
	to.Events = append(to.Events, ev)
}

// close ends what the trace leaves open: its process was killed.
func (b *spans) close(at time.Time) {
	for _, s := range b.all {
		if s.End == "" {
			s.end(at, "interrupted")
		}
	}
}

// messages in the form of the conventions.
func messages(role, content string) string {
	return string(trace.Marshal([]map[string]any{{"role": role, "parts": []map[string]string{{"type": "text", "content": content}}}}))
}
