package textcalls

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
)

const thinkOpen, thinkClose, fence = "<think>", "</think>", "```"

// read takes an answer apart: what it says, without its thoughts, and the calls in it, in their order.
func read(answer string) (text string, calls []model.Call) {
	// Templates that open a model's thoughts themselves leave only their end in the answer.
	if end := strings.Index(answer, thinkClose); end >= 0 {
		if begin := strings.Index(answer, thinkOpen); begin < 0 || begin > end {
			answer = answer[end+len(thinkClose):]
		}
	}
	var said strings.Builder
	fenced := false
	for answer != "" {
		mark, at := first(answer, thinkOpen, callOpen, fence)
		said.WriteString(answer[:at])
		answer = answer[at+len(mark):]
		switch mark {
		case fence:
			fenced = !fenced
			said.WriteString(fence)
		case thinkOpen:
			_, answer, _ = strings.Cut(answer, thinkClose) // thoughts without an end are all that is left
		case callOpen:
			body, rest, closed := strings.Cut(answer, callClose)
			answer = rest
			switch {
			case !closed:
				calls = append(calls, unreadable("it has no end"))
			case fenced:
				calls = append(calls, unreadable("it stands in a code fence"))
			default:
				calls = append(calls, call(body))
			}
		}
	}
	return strings.TrimSpace(said.String()), calls
}

// first finds which of the marks comes first, and where; none: "" at the end.
func first(text string, marks ...string) (mark string, at int) {
	at = len(text)
	for _, m := range marks {
		if i := strings.Index(text, m); i >= 0 && i < at {
			mark, at = m, i
		}
	}
	return mark, at
}

// call reads one block. Its arguments are passed on as they were written, whatever they are.
func call(body string) model.Call {
	if strings.ContainsRune(body, utf8.RuneError) {
		return unreadable("it holds characters that are none")
	}
	v, err := tool.ParseStrict([]byte(body))
	if err != nil {
		return unreadable(err.Error())
	}
	object, ok := v.(map[string]any)
	if !ok {
		return unreadable("it is no JSON object")
	}
	for k := range object {
		switch k {
		case "id", "name", "arguments":
		default:
			return unreadable(fmt.Sprintf("it has a member %q", k))
		}
	}
	name, named := object["name"].(string)
	id, identified := object["id"].(string)
	if _, has := object["id"]; !named || has && !identified {
		return unreadable("its name and id must be texts")
	}
	var raw struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal([]byte(body), &raw); err != nil {
		return unreadable(err.Error())
	}
	return model.Call{ID: id, Tool: name, Arguments: string(raw.Arguments)}
}

// unreadable is a call that no tool answers to: the model reads why in what it was called.
func unreadable(why string) model.Call {
	return model.Call{Tool: "unreadable tool_call: " + why}
}
