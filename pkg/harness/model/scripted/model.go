package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"

	"agent_node/pkg/harness/model"
)

// Model answers from a script. It is safe for concurrent use.
type Model struct {
	script *Script
}

// New makes a model of a script.
func New(s *Script) *Model { return &Model{script: s} }

// Name implements model.Model.
func (m *Model) Name() string { return "scripted" }

// ErrOver is wrapped by the error of a script that has no further answer.
var ErrOver = errors.New("the script is over")

// Sample implements model.Model.
func (m *Model) Sample(ctx context.Context, r model.Request) (model.Response, error) {
	n := 0
	for i := range r.Messages {
		if r.Messages[i].Role == model.RoleAssistant {
			n++
		}
	}
	e := m.script.at(n)
	if e == nil {
		return model.Response{}, fmt.Errorf("script %s: %w after %d answers", m.script.name, ErrOver, n)
	}
	if e.answer.Delay != nil {
		t := time.NewTimer(time.Duration(*e.answer.Delay))
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return model.Response{}, fmt.Errorf("script %s: %w", m.script.name, context.Cause(ctx))
		}
	}
	out, err := e.fill(r)
	if err != nil {
		return model.Response{}, fmt.Errorf("script %s: answer %d: %w", m.script.name, n+1, err)
	}
	if e.answer.Error != "" {
		return model.Response{Usage: out.Usage}, errors.New(e.answer.Error)
	}
	return out, nil
}

// at is the entry of the n-th answer, from 0; nil: the script is over.
func (s *Script) at(n int) *entry {
	for i := range s.entries {
		e := &s.entries[i]
		if e.times == 0 || n < e.times {
			return e
		}
		n -= e.times
	}
	return nil
}

// fill makes the response of an entry, its templates filled from the request.
func (e *entry) fill(r model.Request) (model.Response, error) {
	a := e.answer
	out := model.Response{Finish: model.FinishReason(a.Finish)}
	if out.Finish == "" {
		out.Finish = model.FinishStop
		if len(a.Calls) > 0 {
			out.Finish = model.FinishToolCalls
		}
	}
	if a.Usage != nil {
		out.Usage = model.Usage{InputTokens: a.Usage.Input, OutputTokens: a.Usage.Output, CachedTokens: a.Usage.Cached, Known: true}
	}
	funcs := funcsOf(r)
	var err error
	if out.Text, err = e.text("text", a.Text, funcs); err != nil {
		return out, err
	}
	for _, c := range a.Calls {
		id, err := e.text("id", c.ID, funcs)
		if err != nil {
			return out, err
		}
		arguments, err := e.arguments(c.Arguments, funcs)
		if err != nil {
			return out, err
		}
		out.Calls = append(out.Calls, model.Call{ID: id, Tool: c.Tool, Arguments: arguments})
	}
	return out, nil
}

// text fills one text.
func (e *entry) text(where, text string, funcs template.FuncMap) (string, error) {
	t := e.texts[where+"\x00"+text]
	if t == nil {
		return text, nil
	}
	t, err := t.Clone()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Funcs(funcs).Execute(&b, nil); err != nil {
		return "", err
	}
	return b.String(), nil
}

// arguments of a call: an object is written as JSON, a text stands as it is, whatever it is.
func (e *entry) arguments(raw json.RawMessage, funcs template.FuncMap) (string, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "{}", nil
	case raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", err
		}
		return e.text("arguments", text, funcs)
	case !bytes.Contains(raw, []byte("{{")):
		return string(raw), nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	v, err := e.substitute(v, funcs)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

func (e *entry) substitute(v any, funcs template.FuncMap) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return e.text("arguments", v, funcs)
	case []any:
		for i := range v {
			if v[i], err = e.substitute(v[i], funcs); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = e.substitute(v[k], funcs); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// noFuncs lets templates be parsed before there is a request.
var noFuncs = funcsOf(model.Request{})

// funcsOf a request: what templates can say.
//
//	id TOOL             the id of the newest call of that tool that succeeded
//	content TOOL        what it observed
//	field TOOL NAME     a member of what it observed, which must be a JSON object; deeper with more names
//	task                the task
func funcsOf(r model.Request) template.FuncMap {
	newest := func(name string) (*model.Message, error) {
		for i := len(r.Messages) - 1; i >= 0; i-- {
			if m := &r.Messages[i]; m.Role == model.RoleTool && m.Tool == name && m.OK {
				return m, nil
			}
		}
		return nil, fmt.Errorf("no call of %s has succeeded", name)
	}
	return template.FuncMap{
		"id": func(name string) (string, error) {
			m, err := newest(name)
			if err != nil {
				return "", err
			}
			return m.CallID, nil
		},
		"content": func(name string) (string, error) {
			m, err := newest(name)
			if err != nil {
				return "", err
			}
			return m.Content, nil
		},
		"field": func(name string, path ...string) (string, error) {
			m, err := newest(name)
			if err != nil {
				return "", err
			}
			return field(m.Content, path)
		},
		"task": func() string {
			for i := range r.Messages {
				if r.Messages[i].Role == model.RoleUser {
					return r.Messages[i].Content
				}
			}
			return ""
		},
	}
}

func field(content string, path []string) (string, error) {
	d := json.NewDecoder(strings.NewReader(content))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("the observation is no JSON: %w", err)
	}
	for _, name := range path {
		object, ok := v.(map[string]any)
		if !ok {
			return "", fmt.Errorf("no member %q: not an object", name)
		}
		if v, ok = object[name]; !ok {
			return "", fmt.Errorf("no member %q", name)
		}
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}
