package openai

import (
	"context"
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
	// Retries of one sample; RetryTime bounds them all together.
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
		return nil, fmt.Errorf("openai: base URL %q: http://HOST/v1 or https://HOST/v1 is wanted", cfg.BaseURL)
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
	c.HTTPClient = &http.Client{Transport: &wire{next: cfg.Transport, maxBody: cfg.MaxBody}}
	return &Model{cfg: cfg, client: sdk.NewClientWithConfig(c)}, nil
}

// Name implements model.Model.
func (m *Model) Name() string { return m.cfg.Model }

// Sample implements model.Model.
func (m *Model) Sample(ctx context.Context, r model.Request) (model.Response, error) {
	req := request(m.cfg.Model, r)
	begin := time.Now()
	for try := 0; ; try++ {
		resp, err := m.once(ctx, req)
		if err == nil {
			return resp, nil
		}
		wait, again := m.again(ctx, err, try, begin, r.Deadline)
		if !again {
			return resp, err
		}
		if r.Observe != nil {
			r.Observe("model.retry", map[string]any{"try": try + 1, "wait_s": wait.Seconds(), "error": err.Error()})
		}
		if err := m.wait(ctx, wait); err != nil {
			return resp, err
		}
	}
}

// once makes one request.
func (m *Model) once(ctx context.Context, req sdk.ChatCompletionRequest) (model.Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.cfg.Timeout, errTimeout)
	defer cancel()
	exchange := &exchange{}
	answer, err := m.client.CreateChatCompletion(context.WithValue(ctx, exchangeKey{}, exchange), req)
	if err != nil {
		return model.Response{}, m.explain(ctx, err, exchange)
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
				ID: c.ID, Type: sdk.ToolTypeFunction, Function: sdk.FunctionCall{Name: c.Tool, Arguments: c.Arguments},
			})
		}
		out.Messages = append(out.Messages, w)
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters,
		}})
	}
	if r.MaxOutputTokens > 0 {
		// max_tokens is what every compatible server knows; the newer name is not.
		out.MaxTokens = int(min(r.MaxOutputTokens, math.MaxInt32))
	}
	return out
}

// response reads an answer. No choice is an error; several: the one with the lowest index counts.
func response(a sdk.ChatCompletionResponse) (model.Response, error) {
	out := model.Response{Usage: usage(a.Usage)}
	if len(a.Choices) == 0 {
		return out, &Error{Kind: KindBadAnswer, Message: "the answer has no choices"}
	}
	choice := a.Choices[0]
	for _, c := range a.Choices {
		if c.Index < choice.Index {
			choice = c
		}
	}
	out.Text = strings.ToValidUTF8(choice.Message.Content, "\uFFFD")
	if choice.Message.Refusal != "" {
		out.Text, out.Finish = strings.ToValidUTF8(choice.Message.Refusal, "\uFFFD"), model.FinishRefusal
		return out, nil
	}
	for _, c := range choice.Message.ToolCalls {
		out.Calls = append(out.Calls, model.Call{ID: c.ID, Tool: c.Function.Name, Arguments: c.Function.Arguments})
	}
	switch choice.FinishReason {
	case sdk.FinishReasonLength:
		out.Finish = model.FinishLength
	case sdk.FinishReasonContentFilter:
		out.Finish = model.FinishFilter
	case sdk.FinishReasonStop, sdk.FinishReasonToolCalls, sdk.FinishReasonFunctionCall, sdk.FinishReasonNull:
		out.Finish = model.FinishStop
		if len(out.Calls) > 0 {
			out.Finish = model.FinishToolCalls
		}
	default:
		return out, &Error{Kind: KindBadAnswer, Message: fmt.Sprintf("unknown finish_reason %.40q", string(choice.FinishReason))}
	}
	return out, nil
}

// usage: tokens spent on reasoning are part of the completion's, cached ones part of the prompt's: counted once.
func usage(u sdk.Usage) model.Usage {
	out := model.Usage{Known: u.TotalTokens > 0 || u.PromptTokens > 0 || u.CompletionTokens > 0}
	out.InputTokens, out.OutputTokens = count(u.PromptTokens), count(u.CompletionTokens)
	if d := u.PromptTokensDetails; d != nil {
		out.CachedTokens = min(count(d.CachedTokens), out.InputTokens)
	}
	return out
}

// count: an endpoint that reports a negative number reports none.
func count(n int) uint64 {
	if n < 0 {
		return 0
	}
	return uint64(n)
}
