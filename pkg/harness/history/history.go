package history

import (
	"encoding/json"
	"strings"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/trace"
)

// History of one session: only ever appended to. It is not safe for concurrent use.
//
// A request is the system prompt, the tool definitions and all entries. Both are fixed when the session begins and
// entries never change, so each request begins with the bytes of the one before, and prompt caches hit.
// A compaction (Compact, Apply) replaces the oldest of them, is recorded, and begins a new prefix.
type History struct {
	tools    []model.Tool
	messages []model.Message
	size     budget.Size
}

// New begins a history with the system prompt, the task and the tools.
func New(system, task string, tools []model.Tool) *History {
	h := &History{tools: tools}
	for _, t := range tools {
		h.size.Tools++
		h.size.Bytes += uint64(len(t.Name) + len(t.Description) + len(t.Parameters))
	}
	h.append(model.Message{Role: model.RoleSystem, Content: system})
	h.append(model.Message{Role: model.RoleUser, Content: task})
	return h
}

// Assistant appends a model's answer; its calls are the history's from now on. Arguments that are no JSON object would make endpoints refuse every later
// request, so they are shown as a text inside one; the trace keeps what the model really wrote.
func (h *History) Assistant(text string, calls []model.Call) {
	for i, c := range calls {
		calls[i] = model.Call{ID: trace.ValidText(c.ID), Tool: trace.ValidText(c.Tool), Arguments: object(trace.ValidText(c.Arguments))}
	}
	h.append(model.Message{Role: model.RoleAssistant, Content: text, Calls: calls})
}

// Observation appends the result of one call of the last answer, with the images that belong to it.
func (h *History) Observation(callID, name string, ok bool, content string, images ...model.Image) {
	h.append(model.Message{Role: model.RoleTool, CallID: callID, Tool: name, OK: ok, Content: content, Images: images})
}

// Note appends words of the harness.
func (h *History) Note(text string) {
	h.append(model.Message{Role: model.RoleUser, Content: model.HarnessPrefix + text})
}

func (h *History) append(m model.Message) {
	m.Content, m.Tool = trace.ValidText(m.Content), trace.ValidText(m.Tool)
	h.messages = append(h.messages, m)
	h.size.Messages++
	h.size.Bytes += uint64(len(m.Content) + len(m.CallID) + len(m.Tool))
	for _, c := range m.Calls {
		h.size.Bytes += uint64(len(c.ID) + len(c.Tool) + len(c.Arguments))
	}
	for _, i := range m.Images {
		bound, estimate := budget.ImageTokens(i.Width, i.Height)
		h.size.ImageBound += bound
		h.size.ImageEstimate += estimate
	}
}

// Size of the next request.
func (h *History) Size() budget.Size { return h.size }

// Request is self-contained. Its slices are shared with the history and must not be written to.
func (h *History) Request() model.Request {
	n := len(h.messages)
	return model.Request{Messages: h.messages[:n:n], Tools: h.tools}
}

// object returns text if it is a JSON object, else an object that holds it.
func object(text string) string {
	if trimmed := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(trimmed, "{") && json.Valid([]byte(text)) {
		return text
	}
	var f trace.Fields
	return string(f.Reset().String("unusable_arguments", text).JSON())
}
