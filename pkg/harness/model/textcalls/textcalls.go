package textcalls

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"agent_node/pkg/harness/model"
)

// Model speaks the text protocol over another. It is safe for concurrent use if that is.
type Model struct{ inner model.Model }

// New wraps a model that is asked without tools.
func New(inner model.Model) *Model { return &Model{inner} }

// Name implements model.Model.
func (m *Model) Name() string { return m.inner.Name() }

// Sample implements model.Model. Errors are those of the model underneath.
func (m *Model) Sample(ctx context.Context, r model.Request) (model.Response, error) {
	out, err := m.inner.Sample(ctx, written(r))
	if err != nil || len(out.Calls) > 0 {
		return out, err // calls that a server found by itself are calls; its text was read by it
	}
	switch out.Finish {
	case model.FinishRefusal, model.FinishFilter, model.FinishInfeasible:
		return out, nil
	case model.FinishStop, model.FinishToolCalls, model.FinishLength:
	default: // unknown: passed on with its calls, of which the harness carries out none
	}
	out.Text, out.Calls = read(out.Text)
	if out.Finish == model.FinishStop && len(out.Calls) > 0 {
		out.Finish = model.FinishToolCalls
	}
	return out, nil
}

// Marks of the protocol.
const (
	callOpen, callClose     = "<tool_call>", "</tool_call>"
	resultOpen, resultClose = "<tool_response>", "</tool_response>"
)

// instructions precede the tools, one JSON object a line.
const instructions = `

How to call a tool
You have no other way to call a tool than to write a block of exactly this form, one for each call:
` + callOpen + `
{"name": "NAME", "arguments": {"ARGUMENT": VALUE}}
` + callClose + `
It holds one JSON object and nothing else: no code fence, no comment, all required arguments. Then stop and wait: the observations come as ` + resultOpen + ` blocks, which you never write yourself. An answer without a block is your final answer.
The tools, each with the JSON schema of its arguments:
`

// written is a request without tools that says the same in text. It is a function of r alone, and a longer history begins with what a
// shorter one was written as: messages of one role that follow each other are one, since templates of models without tools often refuse
// two in a row, and an answer lies between any two requests.
func written(r model.Request) model.Request {
	in := r.Messages
	r.Messages = make([]model.Message, 0, len(in)+1)
	system := ""
	if len(in) > 0 && in[0].Role == model.RoleSystem {
		system, in = in[0].Content, in[1:]
	}
	if len(r.Tools) > 0 {
		system += instructions
		for _, t := range r.Tools {
			system += line(struct {
				Name        string          `json:"name"`
				Description string          `json:"description,omitempty"`
				Parameters  json.RawMessage `json:"parameters,omitempty"`
			}{t.Name, t.Description, t.Parameters}) + "\n"
		}
	}
	if system != "" {
		r.Messages = append(r.Messages, model.Message{Role: model.RoleSystem, Content: system})
	}
	for _, m := range in {
		said := model.Message{Role: m.Role, Content: m.Content, Images: m.Images}
		switch m.Role {
		case model.RoleAssistant:
			said.Content = answered(m)
		case model.RoleTool:
			said.Role = model.RoleUser
			said.Content = resultOpen + "\n" + line(struct {
				CallID  string `json:"call_id"`
				Name    string `json:"name"`
				Content string `json:"content"`
			}{m.CallID, m.Tool, m.Content}) + "\n" + resultClose
		case model.RoleSystem, model.RoleUser:
		}
		if last := len(r.Messages) - 1; last >= 0 && r.Messages[last].Role == said.Role {
			r.Messages[last].Content += "\n\n" + said.Content
			r.Messages[last].Images = slices.Concat(r.Messages[last].Images, said.Images)
			continue
		}
		r.Messages = append(r.Messages, said)
	}
	r.Tools = nil
	return r
}

// answered is an earlier answer with its calls, in the form in which they are to be written. The ids are the harness's, so that they can
// be cited.
func answered(m model.Message) string {
	parts := make([]string, 0, len(m.Calls)+1)
	if m.Content != "" {
		parts = append(parts, m.Content)
	}
	for _, c := range m.Calls {
		args := json.RawMessage(c.Arguments)
		if !json.Valid(args) {
			args = json.RawMessage(line(c.Arguments))
		}
		parts = append(parts, callOpen+"\n"+line(struct {
			ID        string          `json:"id,omitempty"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}{c.ID, c.Tool, args})+"\n"+callClose)
	}
	return strings.Join(parts, "\n")
}

// line is a value as JSON on one line. It holds no angle bracket, so that what a tool observed cannot end the block that it stands in.
func line(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts, and JSON that was checked
	}
	return string(b)
}
