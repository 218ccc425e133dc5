package openai

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync/atomic"

	sdk "github.com/sashabaranov/go-openai"

	"agent_node/pkg/harness/model"
)

// dialect is what an endpoint turned out not to know. It is learnt from its refusals and kept.
type dialect struct {
	noStreams       atomic.Bool // streams
	noStreamOptions atomic.Bool // the usage at a stream's end
	newerLimit      atomic.Bool // max_tokens; max_completion_tokens it knows
}

// adapt says whether the same question in other words may be answered: an endpoint refused a part of the request by name that it can
// do without. Each part is left out once, so this ends.
func (m *Model) adapt(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.Kind != KindStatus {
		return false
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
	default:
		return false
	}
	says := strings.ToLower(e.Message)
	streams := m.cfg.Stream && !m.noStreams.Load()
	for _, part := range []struct {
		left    *atomic.Bool
		refused bool
	}{
		{&m.noStreamOptions, streams && strings.Contains(says, "stream_options")},
		{&m.newerLimit, strings.Contains(says, "max_completion_tokens") && strings.Contains(says, "max_tokens") && strings.Contains(says, "instead")},
		{&m.noStreams, streams && strings.Contains(says, "stream")},
	} {
		if part.refused && part.left.CompareAndSwap(false, true) {
			return true
		}
	}
	return false
}

// request is the wire form of a request.
func (m *Model) request(r model.Request) sdk.ChatCompletionRequest {
	out := sdk.ChatCompletionRequest{Model: m.cfg.Model}
	if m.cfg.Stream && !m.noStreams.Load() {
		out.Stream = true
		if !m.noStreamOptions.Load() {
			out.StreamOptions = &sdk.StreamOptions{IncludeUsage: true}
		}
	}
	out.Messages = messages(r.Messages)
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: parameters(t.Parameters),
		}})
	}
	if r.MaxOutputTokens > 0 {
		m.limit(&out, int(min(r.MaxOutputTokens, math.MaxInt32)))
	}
	return out
}

// limit caps the answer by the name that every compatible server knows, max_tokens, but for the models that know only the newer one.
func (m *Model) limit(r *sdk.ChatCompletionRequest, tokens int) {
	r.MaxTokens = tokens //nolint:staticcheck // deprecated at one vendor, and the only name that others know
	if m.newerLimit.Load() || errors.Is(sdk.NewReasoningValidator().Validate(*r), sdk.ErrReasoningModelMaxTokensDeprecated) {
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
