package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	sdk "github.com/sashabaranov/go-openai"

	"agent_node/pkg/harness/model"
)

// The wire's types, read with more patience than the client library has: a call whose arguments are no text must reach the harness as one
// that is invalid, and not make the whole answer unreadable.
type (
	// body of a whole answer, or one event of a stream.
	wireBody struct {
		Object  looseText       `json:"object"`
		Type    looseText       `json:"type"`
		Error   json.RawMessage `json:"error"`
		Choices []wireChoice    `json:"choices"`
		Usage   *wireUsage      `json:"usage"`
	}
	wireChoice struct {
		Index   int          `json:"index"`
		Message *wireMessage `json:"message"`
		Delta   *wireMessage `json:"delta"`
		Finish  looseText    `json:"finish_reason"`
	}
	wireMessage struct {
		Content  content       `json:"content"`
		Refusal  looseText     `json:"refusal"`
		Calls    []wireCall    `json:"tool_calls"`
		Function *wireFunction `json:"function_call"` // what calls were before there could be several
	}
	wireCall struct {
		Index    *int          `json:"index"`
		ID       looseText     `json:"id"`
		Type     looseText     `json:"type"`
		Function *wireFunction `json:"function"`
	}
	wireFunction struct {
		Name      looseText `json:"name"`
		Arguments looseText `json:"arguments"`
	}
	wireUsage struct {
		Prompt     count        `json:"prompt_tokens"`
		Completion count        `json:"completion_tokens"`
		OfPrompt   *wireDetails `json:"prompt_tokens_details"`
		OfAnswer   *wireDetails `json:"completion_tokens_details"`
	}
	wireDetails struct {
		Cached    count `json:"cached_tokens"`
		Reasoning count `json:"reasoning_tokens"`
	}
)

// looseText is a JSON text as it was written, null and nothing being "". A value of another type stands for itself: arguments that came
// as an object are that object's JSON.
type looseText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *looseText) UnmarshalJSON(raw []byte) error {
	switch {
	case string(raw) == "null":
	case raw[0] == '"':
		*t = looseText(unquote(raw))
	default:
		*t = looseText(raw)
	}
	return nil
}

// content of a message: a text, or the parts of one.
type content struct{ text, refusal string }

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		var t looseText
		err := t.UnmarshalJSON(raw)
		c.text = string(t)
		return err
	}
	var parts []struct{ Text, Refusal looseText }
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += string(p.Text)
		c.refusal += string(p.Refusal)
	}
	return nil
}

// count of tokens. An endpoint that reports a negative number or something else reports none; one that reports an absurd number is taken
// at its word as far as a budget can count.
type count uint64

// UnmarshalJSON implements json.Unmarshaler.
func (n *count) UnmarshalJSON(raw []byte) error {
	const most = 1 << 53
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || !(f > 0) {
		return nil
	}
	*n = count(min(f, most))
	return nil
}

// usage: tokens spent on reasoning are part of the completion's, cached ones part of the prompt's: counted once.
func (u *wireUsage) usage() model.Usage {
	if u == nil {
		return model.Usage{}
	}
	out := model.Usage{InputTokens: uint64(u.Prompt), OutputTokens: uint64(u.Completion)}
	if d := u.OfPrompt; d != nil {
		out.CachedTokens = min(uint64(d.Cached), out.InputTokens)
	}
	if d := u.OfAnswer; d != nil {
		out.ReasoningTokens = min(uint64(d.Reasoning), out.OutputTokens)
	}
	out.Known = out.InputTokens > 0 || out.OutputTokens > 0
	return out
}

// whole reads the body of an answer that came in one piece: one JSON object to its end, or an error.
func whole(body []byte, contentType string, x *exchange) error {
	var b wireBody
	if err := json.Unmarshal(body, &b); err != nil {
		// Nothing, or the beginning of something: the connection was closed too early.
		cut := strings.Contains(err.Error(), "unexpected end of JSON input")
		x.usage = usageAlone(body)
		return &Error{
			Kind: KindBadAnswer, Status: http.StatusOK, Err: err, again: cut,
			Message: fmt.Sprintf("the answer, %d bytes of %.60q, is no JSON of a completion: %v", len(body), contentType, err),
		}
	}
	x.usage = b.Usage.usage()
	if len(b.Choices) == 0 {
		if e := b.failure(body); e != nil {
			return inGoodDress(e)
		}
		return &Error{Kind: KindBadAnswer, Status: http.StatusOK, Message: "the answer has no choices"}
	}
	// Of several choices the one with the lowest index counts, wherever it stands.
	choice := &b.Choices[0]
	for i := range b.Choices {
		if b.Choices[i].Index < choice.Index {
			choice = &b.Choices[i]
		}
	}
	m := choice.Message
	if m == nil {
		m = choice.Delta
	}
	d := draft{finish: string(choice.Finish)}
	if m != nil {
		d.text, d.refusal = m.Content.text, m.Content.refusal+string(m.Refusal)
		for _, c := range m.Calls {
			d.calls = append(d.calls, c.draft())
		}
		if len(m.Calls) == 0 && m.Function != nil {
			d.calls = append(d.calls, (&wireCall{Function: m.Function}).draft())
		}
	}
	x.response = d.response()
	return nil
}

// usageAlone reads the usage of an answer whose rest cannot be read: it is paid for all the same.
func usageAlone(body []byte) model.Usage {
	var b struct {
		Usage *wireUsage `json:"usage"`
	}
	if json.Unmarshal(body, &b) != nil {
		return model.Usage{}
	}
	return b.Usage.usage()
}

// failure is the error that an object holds or, where it calls itself one, is; nil: none.
func (b *wireBody) failure(whole []byte) json.RawMessage {
	switch {
	case len(b.Error) > 0 && string(b.Error) != "null":
		return b.Error
	case len(b.Choices) == 0 && (b.Object == "error" || b.Type == "error"):
		return whole
	}
	return nil
}

// draft is a message as far as it has come.
type draft struct {
	text, refusal, finish string
	calls                 []*draftCall
}

type draftCall struct {
	index    int // -1: none was given
	id, name string
	kind     string
	args     []byte
}

func (c *wireCall) draft() *draftCall {
	d := &draftCall{index: -1, id: string(c.ID), kind: string(c.Type)}
	if c.Index != nil {
		d.index = *c.Index
	}
	if c.Function != nil {
		d.name, d.args = string(c.Function.Name), []byte(c.Function.Arguments)
	}
	return d
}

// response is what a complete draft says. What ended it is passed on even where it is unknown: the harness carries out nothing of such an
// answer.
func (d *draft) response() model.Response {
	out := model.Response{Text: valid(d.text)}
	if d.refusal != "" {
		out.Text, out.Finish = valid(d.refusal), model.FinishRefusal
		return out
	}
	for _, c := range d.calls {
		call := model.Call{ID: valid(c.id), Tool: valid(c.name), Arguments: string(pair(c.args))}
		if c.kind != string(sdk.ToolTypeFunction) && c.kind != "" {
			call.Tool, call.Arguments = "", "" // another kind of call: nothing here can carry it out
		}
		out.Calls = append(out.Calls, call)
	}
	switch d.finish {
	case string(sdk.FinishReasonLength), "max_tokens", "model_length":
		out.Finish = model.FinishLength
	case string(sdk.FinishReasonContentFilter):
		out.Finish = model.FinishFilter
	case string(sdk.FinishReasonStop), string(sdk.FinishReasonToolCalls), string(sdk.FinishReasonFunctionCall):
		out.Finish = model.FinishStop // servers say stop for calls, too
		if len(out.Calls) > 0 {
			out.Finish = model.FinishToolCalls
		}
	default:
		out.Finish = model.FinishReason("unknown: " + clip(d.finish, 40))
	}
	return out
}

// unquote reads a JSON string literal that a JSON reader has accepted. What is no Unicode in it stays recognisable instead of becoming a
// replacement character: arguments with such a place in them are then refused, and halves of a character that a stream has split can
// be joined. Half a surrogate pair becomes the three bytes that UTF-8 would have for it, which are not valid UTF-8.
func unquote(raw []byte) string {
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			n, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
			if err != nil {
				panic(err) // the reader that accepted this has checked the digits
			}
			i += 4
			if utf16.IsSurrogate(rune(n)) {
				out = append(out, 0xe0|byte(n>>12), 0x80|byte(n>>6&0x3f), 0x80|byte(n&0x3f))
				continue
			}
			out = utf8.AppendRune(out, rune(n))
		default:
			out = append(out, c)
		}
	}
	return string(pair(out))
}

// pair joins halves of surrogate pairs that stand side by side, as unquote writes them.
func pair(text []byte) []byte {
	if bytes.IndexByte(text, 0xed) < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		high, low := half(text[i:]), rune(0)
		if high != 0 {
			low = half(text[i+3:])
		}
		if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
			out = utf8.AppendRune(out, r)
			i += 6
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out
}

// half is the surrogate that text begins with; 0: none.
func half(text []byte) rune {
	if len(text) < 3 || text[0] != 0xed || text[1] < 0xa0 || text[1] > 0xbf || text[2] < 0x80 || text[2] > 0xbf {
		return 0
	}
	return 0xd000 | rune(text[1]&0x3f)<<6 | rune(text[2]&0x3f)
}

// valid makes a text that is shown to people and models valid UTF-8.
func valid(text string) string { return strings.ToValidUTF8(string(pair([]byte(text))), "\uFFFD") }

// inGoodDress is an error that came with a good status. Its code counts as one where it is one.
func inGoodDress(raw json.RawMessage) *Error {
	e := &Error{Kind: KindEndpoint, Status: http.StatusOK, Message: "the answer holds an error: " + clip(string(raw), maxMessage)}
	var body struct {
		Code, Type, Message looseText
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return e
	}
	code, kind := string(body.Code), string(body.Type)
	status, err := strconv.Atoi(code)
	if err == nil && status >= http.StatusBadRequest && status < 600 {
		e.Kind, e.Status = KindStatus, status
		e.again = passes(status) && !hopeless(code, kind)
	} else {
		e.again = passing(code) || passing(kind)
	}
	if overflow(e.Status, code, kind, string(body.Message)) {
		e.Kind, e.again = KindContext, false
	}
	return e
}

// passing says of an error that came without a status whether the same request may succeed later.
func passing(word string) bool {
	switch word {
	case "server_error", "internal_error", "internal_server_error", "api_error", "overloaded", "overloaded_error", "rate_limit_error",
		"rate_limit_exceeded", "service_unavailable", "timeout", "timeout_error", "upstream_error", "provider_unavailable":
		return true
	}
	return false
}
