package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"agent_node/pkg/harness/model"
)

// Config of an endpoint.
type Config struct {
	BaseURL string // such as http://127.0.0.1:8080/v1
	Model   string
	APIKey  string // empty: none is sent
	// Timeout of one request (120 s).
	Timeout time.Duration
	// Retries of one sample. A retry that would begin later than RetryTime after the sample began is not made.
	Retries   int
	RetryTime time.Duration
	// MaxBody bounds an answer, bytes (16 MiB).
	MaxBody int64
	// Transport; nil: http.DefaultTransport's settings. For tests.
	Transport http.RoundTripper
	// Wait sleeps between retries; nil: a timer. For tests.
	Wait func(ctx context.Context, d time.Duration) error
	// Jitter yields a number in [0,1); nil: random.
	Jitter func() float64
}

// Defaults of Config.
const (
	defaultTimeout = 120 * time.Second
	defaultMaxBody = 16 << 20
)

// Model is an endpoint. It is safe for concurrent use.
type Model struct {
	cfg    Config
	client *sdk.Client
}

// New checks the configuration; nothing is sent.
func New(cfg Config) (*Model, error) {
	u, err := url.Parse(cfg.BaseURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("openai: base URL: %w", redact(err, cfg.APIKey))
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("openai: base URL %q: http://HOST/v1 or https://HOST/v1 is wanted", u.Redacted())
	case cfg.Model == "":
		return nil, errors.New("openai: no model name is given")
	case cfg.Retries < 0, cfg.RetryTime < 0, cfg.Timeout < 0:
		return nil, errors.New("openai: retries, retry time and timeout must not be negative")
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.MaxBody == 0 {
		cfg.MaxBody = defaultMaxBody
	}
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	c := sdk.DefaultConfig(cfg.APIKey)
	c.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	c.HTTPClient = &http.Client{
		Transport: &wire{next: cfg.Transport, maxBody: cfg.MaxBody},
		// What the task says and the key stay at the endpoint that was named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Model{cfg: cfg, client: sdk.NewClientWithConfig(c)}, nil
}

// Name implements model.Model.
func (m *Model) Name() string { return m.cfg.Model }

// Sample implements model.Model. Its errors are of type *Error, but for those of ctx and of the deadline.
func (m *Model) Sample(ctx context.Context, r model.Request) (model.Response, error) {
	req := request(m.cfg.Model, r)
	begin := time.Now()
	var spent model.Usage // by tries that failed
	for try := 0; ; try++ {
		resp, err := m.once(ctx, req, r.Deadline)
		resp.Usage = sum(spent, resp.Usage)
		if err == nil {
			return resp, nil
		}
		wait, again := m.again(ctx, err, try, begin, r.Deadline)
		if !again {
			return resp, err
		}
		spent = resp.Usage
		if r.Observe != nil {
			r.Observe("model.retry", map[string]any{"try": try + 1, "wait_s": wait.Seconds(), "error": err.Error()})
		}
		if stopped := m.wait(ctx, wait); stopped != nil {
			return resp, errors.Join(stopped, err)
		}
	}
}

// sum of two usages. The sum is known where a part is.
func sum(a, b model.Usage) model.Usage {
	return model.Usage{
		InputTokens: a.InputTokens + b.InputTokens, OutputTokens: a.OutputTokens + b.OutputTokens,
		CachedTokens: a.CachedTokens + b.CachedTokens, Known: a.Known || b.Known,
	}
}

// once makes one request.
func (m *Model) once(ctx context.Context, req sdk.ChatCompletionRequest, deadline time.Time) (model.Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.cfg.Timeout, errTimeout)
	defer cancel()
	if !deadline.IsZero() {
		var done context.CancelFunc
		ctx, done = context.WithDeadlineCause(ctx, deadline, errDeadline)
		defer done()
	}
	x := &exchange{}
	answer, err := m.client.CreateChatCompletion(context.WithValue(ctx, exchangeKey{}, x), req)
	if err != nil {
		return model.Response{Usage: x.usage}, m.explain(ctx, err, x)
	}
	return response(answer)
}

// request is the wire form of a request.
func request(name string, r model.Request) sdk.ChatCompletionRequest {
	out := sdk.ChatCompletionRequest{Model: name}
	for _, m := range r.Messages {
		w := sdk.ChatCompletionMessage{Role: string(m.Role), Content: m.Content}
		if m.Role == model.RoleTool {
			w.ToolCallID = m.CallID
		}
		for _, c := range m.Calls {
			w.ToolCalls = append(w.ToolCalls, sdk.ToolCall{
				ID: c.ID, Type: sdk.ToolTypeFunction, Function: sdk.FunctionCall{Name: wireName(c.Tool), Arguments: c.Arguments},
			})
		}
		if w.Content == "" && len(w.ToolCalls) == 0 {
			// The client library leaves out a content that is empty, and servers refuse a message that has none.
			w.Content = "(empty)"
		}
		out.Messages = append(out.Messages, w)
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: parameters(t.Parameters),
		}})
	}
	if r.MaxOutputTokens > 0 {
		limit(&out, int(min(r.MaxOutputTokens, math.MaxInt32)))
	}
	return out
}

// limit caps the answer by the name that every compatible server knows, max_tokens, but for the models that know only the newer one.
func limit(r *sdk.ChatCompletionRequest, tokens int) {
	r.MaxTokens = tokens //nolint:staticcheck // deprecated at one vendor, and the only name that others know
	if errors.Is(sdk.NewReasoningValidator().Validate(*r), sdk.ErrReasoningModelMaxTokensDeprecated) {
		r.MaxTokens, r.MaxCompletionTokens = 0, tokens //nolint:staticcheck // as above
	}
}

// parameters of a tool that takes none.
func parameters(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return schema
}

// wireName is a tool's name in the history. A model may have called anything, and endpoints refuse a history with other names
// than these for ever.
func wireName(name string) string {
	ok := len(name) > 0 && len(name) <= 64
	for _, c := range []byte(name) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-')
	}
	if !ok {
		return "no_such_tool"
	}
	return name
}

// response reads an answer. No choice is an error; several: the one with the lowest index counts. What ended it is passed on
// even where it is unknown: the harness carries out nothing of such an answer.
func response(a sdk.ChatCompletionResponse) (model.Response, error) {
	out := model.Response{Usage: usage(a.Usage)}
	if len(a.Choices) == 0 {
		return out, &Error{Kind: KindBadAnswer, Status: http.StatusOK, Message: "the answer has no choices"}
	}
	choice := a.Choices[0]
	for _, c := range a.Choices {
		if c.Index < choice.Index {
			choice = c
		}
	}
	out.Text = text(choice.Message)
	if refusal := choice.Message.Refusal; refusal != "" {
		out.Text, out.Finish = refusal, model.FinishRefusal
		return out, nil
	}
	for _, c := range choice.Message.ToolCalls {
		call := model.Call{ID: c.ID, Tool: c.Function.Name, Arguments: c.Function.Arguments}
		if c.Type != sdk.ToolTypeFunction && c.Type != "" {
			call.Tool, call.Arguments = "", "" // another kind of call: nothing here can carry it out
		}
		out.Calls = append(out.Calls, call)
	}
	switch choice.FinishReason {
	case sdk.FinishReasonLength:
		out.Finish = model.FinishLength
	case sdk.FinishReasonContentFilter:
		out.Finish = model.FinishFilter
	case sdk.FinishReasonStop, sdk.FinishReasonToolCalls, sdk.FinishReasonFunctionCall:
		out.Finish = model.FinishStop // servers say stop for calls, too
		if len(out.Calls) > 0 {
			out.Finish = model.FinishToolCalls
		}
	default:
		out.Finish = model.FinishReason("unknown: " + clip(string(choice.FinishReason), 40))
	}
	return out, nil
}

// text of a message: one text, or the parts of one.
func text(m sdk.ChatCompletionMessage) string {
	out := m.Content
	for _, p := range m.MultiContent {
		out += p.Text
	}
	return out
}

// usage: tokens spent on reasoning are part of the completion's, cached ones part of the prompt's: counted once.
func usage(u sdk.Usage) model.Usage {
	out := model.Usage{InputTokens: count(u.PromptTokens), OutputTokens: count(u.CompletionTokens)}
	if d := u.PromptTokensDetails; d != nil {
		out.CachedTokens = min(count(d.CachedTokens), out.InputTokens)
	}
	out.Known = out.InputTokens > 0 || out.OutputTokens > 0
	return out
}

// count: an endpoint that reports a negative number reports none.
func count(n int) uint64 { return uint64(max(n, 0)) }
