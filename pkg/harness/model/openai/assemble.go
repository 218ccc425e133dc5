package openai

import (
	"fmt"
	"net/http"

	"agent_node/pkg/harness/model"
)

// assembler puts an answer together from the events of a stream. It joins only what says that it belongs together; what is left over
// becomes a call without a name, which the harness refuses.
type assembler struct {
	choices map[int]*assembly
	usage   model.Usage
	seen    int // bytes of texts and arguments, for an estimate where no usage comes
}

// assembly is one choice.
type assembly struct {
	draft
	function *draftCall // of function_call; it counts only where there are no tool_calls
	cut      string     // a finish reason that no later one takes back
}

// add an event.
func (a *assembler) add(b *wireBody) error {
	if u := b.Usage.usage(); u.Known {
		a.usage = u // of all so far: servers repeat it, so the last one counts
	}
	for i := range b.Choices {
		c := &b.Choices[i]
		if a.choices == nil {
			a.choices = map[int]*assembly{}
		}
		to := a.choices[c.Index]
		if to == nil {
			to = &assembly{}
			a.choices[c.Index] = to
		}
		m := c.Delta
		if m == nil {
			m = c.Message
		}
		if m != nil {
			if err := to.add(m); err != nil {
				return err
			}
			a.seen += m.size()
		}
		to.end(string(c.Finish))
	}
	return nil
}

// size in bytes of what a delta adds.
func (m *wireMessage) size() int {
	n := len(m.Content.text) + len(m.Content.refusal) + len(m.Refusal)
	for _, c := range m.Calls {
		if c.Function != nil {
			n += len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	if m.Function != nil {
		n += len(m.Function.Name) + len(m.Function.Arguments)
	}
	return n
}

// end notes a finish reason.
func (a *assembly) end(finish string) {
	switch finish {
	case "":
		return
	case "stop", "tool_calls", "function_call":
	default:
		if a.cut == "" {
			a.cut = finish
		}
	}
	a.finish = finish
}

func (a *assembly) add(m *wireMessage) error {
	if m.size() > 0 || len(m.Calls) > 0 {
		a.finish = "" // it was not the end
	}
	a.text += m.Content.text
	a.refusal += m.Content.refusal + string(m.Refusal)
	for i := range m.Calls {
		if err := a.call(&m.Calls[i]); err != nil {
			return err
		}
	}
	if f := m.Function; f != nil {
		if a.function == nil {
			a.function = &draftCall{index: -1}
		}
		if a.function.name == "" {
			a.function.name = string(f.Name)
		}
		a.function.args = append(a.function.args, f.Arguments...)
	}
	return nil
}

// call takes a part of a call, or a whole one.
func (a *assembly) call(w *wireCall) error {
	part := w.draft()
	c, err := a.of(part)
	if err != nil {
		return err
	}
	if c == nil {
		a.calls = append(a.calls, part)
		return nil
	}
	if c.id == "" {
		c.id = part.id
	}
	if c.name == "" {
		c.name = part.name
	}
	if part.kind != "" {
		c.kind = part.kind
	}
	c.args = append(c.args, part.args...)
	return nil
}

// of finds the call that a part belongs to; nil: it begins one.
func (a *assembly) of(part *draftCall) (*draftCall, error) {
	c := a.candidate(part)
	switch {
	case c == nil, part.name == "", c.name == "", part.name == c.name:
		return c, nil
	case len(c.args) > 0:
		return nil, nil // another call of a server that gives all of them the same index
	}
	return nil, &Error{
		Kind: KindBadAnswer, Status: http.StatusOK, again: true,
		Message: fmt.Sprintf("the stream names one call %q and then %q, so nobody can tell where its arguments belong", clip(c.name, 60), clip(part.name, 60)),
	}
}

// candidate is the newest call with the part's index and id as far as it says any.
func (a *assembly) candidate(part *draftCall) *draftCall {
	if part.id == "" && part.index < 0 {
		if part.name != "" || len(a.calls) != 1 {
			return nil // which of several is meant cannot be known
		}
		return a.calls[0]
	}
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		if part.index >= 0 && c.index >= 0 && part.index != c.index {
			continue
		}
		if part.id != "" && c.id != "" && part.id != c.id {
			continue
		}
		if (part.index < 0 || c.index < 0) && part.id != c.id {
			continue // they share nothing
		}
		return c
	}
	return nil
}

// first is the choice that counts: the one with the lowest index. nil: there is none.
func (a *assembler) first() *assembly {
	var out *assembly
	lowest := 0
	for i, c := range a.choices {
		if out == nil || i < lowest {
			out, lowest = c, i
		}
	}
	return out
}

// complete: the choice that counts has ended, and said why.
func (a *assembler) complete() bool {
	c := a.first()
	return c != nil && c.finish != ""
}

// response of a stream that has ended.
func (a *assembler) response() (model.Response, error) {
	c := a.first()
	switch {
	case c == nil && a.usage.Known:
		return model.Response{}, &Error{Kind: KindBadAnswer, Status: http.StatusOK, Message: "the answer has no choices"}
	case c == nil:
		return model.Response{}, &Error{Kind: KindBadAnswer, Status: http.StatusOK, Message: "the stream ends without an answer", again: true}
	case c.finish == "":
		return model.Response{}, &Error{
			Kind: KindBadAnswer, Status: http.StatusOK, again: true,
			Message: "the stream ends without a finish_reason, so more may have been to come; nothing of it is used",
		}
	case c.cut != "":
		c.finish = c.cut
	}
	if len(c.calls) == 0 && c.function != nil {
		c.calls = append(c.calls, c.function)
	}
	return c.response(), nil
}
