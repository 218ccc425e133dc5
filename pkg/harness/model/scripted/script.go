package scripted

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"go.yaml.in/yaml/v4"

	"agent_node/pkg/harness/model"
)

// Script is a parsed file.
type Script struct {
	name    string
	entries []entry
}

// entry is one answer, given times times in a row.
type entry struct {
	answer answer
	times  int // 0: for ever
	// templates of the texts that hold any, by where they stand
	texts map[string]*template.Template
}

// answer as the file writes it.
type answer struct {
	Text   string      `json:"text"`
	Calls  []callEntry `json:"calls"`
	Finish string      `json:"finish"`
	Usage  *usage      `json:"usage"`
	Delay  *duration   `json:"delay"`
	Error  string      `json:"error"`
	Repeat bool        `json:"repeat"`
	Times  *int        `json:"times"`
}

type callEntry struct {
	ID        string          `json:"id"`
	Tool      string          `json:"tool"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type usage struct {
	Input  uint64 `json:"input_tokens"`
	Output uint64 `json:"output_tokens"`
	Cached uint64 `json:"cached_tokens"`
}

// duration is a number of seconds or a text like "1.5s".
type duration time.Duration

// UnmarshalJSON implements json.Unmarshaler.
func (d *duration) UnmarshalJSON(b []byte) error {
	var seconds float64
	if err := json.Unmarshal(b, &seconds); err == nil {
		*d = duration(seconds * float64(time.Second))
		return d.check()
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("delay is %s, must be seconds or a text like \"1.5s\"", b)
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("delay: %w", err)
	}
	*d = duration(v)
	return d.check()
}

func (d duration) check() error {
	if d < 0 || time.Duration(d) > 24*time.Hour {
		return fmt.Errorf("delay is %v, must be between 0 and 24 h", time.Duration(d))
	}
	return nil
}

// Load reads a script: YAML (one list) if the file's name ends in .yaml or .yml, else JSON lines.
func Load(path string) (*Script, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	parse := ParseLines
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		parse = ParseYAML
	}
	return parse(path, b)
}

// item is one answer of a file and the line where it begins.
type item struct {
	line int
	raw  []byte
}

// ParseLines reads JSON lines. Empty lines and lines that begin with # or // are skipped. name is for error messages.
func ParseLines(name string, b []byte) (*Script, error) {
	var items []item
	r := bufio.NewReader(bytes.NewReader(b))
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		text := bytes.TrimSpace(line)
		if len(text) > 0 && text[0] != '#' && !bytes.HasPrefix(text, []byte("//")) {
			items = append(items, item{n, text})
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("script %s:%d: %w", name, n, err)
		}
	}
	return build(name, items)
}

// ParseYAML reads a YAML list of answers. name is for error messages.
func ParseYAML(name string, b []byte) (*Script, error) {
	var nodes []yaml.Node
	if err := yaml.Unmarshal(b, &nodes); err != nil {
		return nil, fmt.Errorf("script %s: %w", name, err)
	}
	var items []item
	for i := range nodes {
		var v any
		if err := nodes[i].Decode(&v); err != nil {
			return nil, fmt.Errorf("script %s:%d: %w", name, nodes[i].Line, err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("script %s:%d: %w", name, nodes[i].Line, err)
		}
		items = append(items, item{nodes[i].Line, raw})
	}
	return build(name, items)
}

func build(name string, items []item) (*Script, error) {
	s := &Script{name: name}
	for _, it := range items {
		if err := s.add(it.raw); err != nil {
			return nil, fmt.Errorf("script %s:%d: %w", name, it.line, err)
		}
	}
	if len(s.entries) == 0 {
		return nil, fmt.Errorf("script %s: no answer in it", name)
	}
	return s, nil
}

func (s *Script) add(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var a answer
	if err := d.Decode(&a); err != nil {
		return err
	}
	if d.More() {
		return errors.New("text behind the answer")
	}
	if n := len(s.entries); n > 0 && s.entries[n-1].times == 0 {
		return errors.New("the answer before it repeats for ever, so this one is never given")
	}
	if a.Repeat && a.Text == "" && len(a.Calls) == 0 && a.Error == "" && a.Finish == "" {
		if len(s.entries) == 0 {
			return errors.New("nothing to repeat")
		}
		s.entries[len(s.entries)-1].times = 0
		return nil
	}
	e := entry{answer: a, times: 1, texts: map[string]*template.Template{}}
	if a.Times != nil {
		if *a.Times < 1 || a.Repeat {
			return errors.New("times must be 1 or more, and not beside repeat")
		}
		e.times = *a.Times
	}
	if a.Repeat {
		e.times = 0
	}
	switch f := model.FinishReason(a.Finish); f {
	case "", model.FinishStop, model.FinishToolCalls, model.FinishLength, model.FinishRefusal, model.FinishFilter, model.FinishInfeasible:
	default:
		return fmt.Errorf("finish is %q, must be stop, tool_calls, length, refusal, content_filter or infeasible", f)
	}
	if err := e.compile(); err != nil {
		return err
	}
	s.entries = append(s.entries, e)
	return nil
}

// compile prepares the templates, so that a broken one is found when the file is read.
func (e *entry) compile() error {
	see := func(where, text string) error {
		if !strings.Contains(text, "{{") {
			return nil
		}
		t, err := template.New(where).Option("missingkey=error").Funcs(noFuncs).Parse(text)
		if err != nil {
			return err
		}
		e.texts[where+"\x00"+text] = t
		return nil
	}
	if err := see("text", e.answer.Text); err != nil {
		return err
	}
	for i := range e.answer.Calls {
		c := &e.answer.Calls[i]
		if c.Tool != "" && c.Name != "" {
			return errors.New("a call has tool or name, not both")
		}
		if c.Tool == "" {
			c.Tool = c.Name
		}
		if err := see("id", c.ID); err != nil {
			return err
		}
		if len(c.Arguments) == 0 {
			continue
		}
		var v any
		if err := json.Unmarshal(c.Arguments, &v); err != nil {
			return fmt.Errorf("arguments: %w", err)
		}
		if err := walk(v, func(text string) error { return see("arguments", text) }); err != nil {
			return err
		}
	}
	return nil
}

// walk visits every text of a JSON value.
func walk(v any, visit func(string) error) error {
	switch v := v.(type) {
	case string:
		return visit(v)
	case []any:
		for _, x := range v {
			if err := walk(x, visit); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, x := range v {
			if err := walk(x, visit); err != nil {
				return err
			}
		}
	}
	return nil
}
