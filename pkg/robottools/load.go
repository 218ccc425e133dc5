package robottools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"go.yaml.in/yaml/v4"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"agent_node/config"
)

// ProfileError is one fault of a profile, with the place in the file.
type ProfileError struct {
	File    string
	Line    int
	Path    string // such as tools/navigate_to/binding
	Message string
}

// Error is "file:line: path: message".
func (e *ProfileError) Error() string {
	where := e.File
	if e.Line > 0 {
		where += ":" + strconv.Itoa(e.Line)
	}
	if e.Path == "" {
		return where + ": " + e.Message
	}
	return where + ": " + e.Path + ": " + e.Message
}

// source maps paths of the profile to lines of its file.
type source struct {
	file  string
	lines map[string]int
}

// errorf is a ProfileError at the deepest known part of path.
func (s *source) errorf(path, format string, args ...any) *ProfileError {
	e := &ProfileError{File: s.file, Path: path, Message: fmt.Sprintf(format, args...)}
	for p := path; ; {
		if line, ok := s.lines[p]; ok {
			e.Line = line
			return e
		}
		cut := strings.LastIndexByte(p, '/')
		if cut < 0 {
			e.Line = s.lines[""]
			return e
		}
		p = p[:cut]
	}
}

// Open reads the profile that an operator names: a file; a shipped profile by its name alone, such as turtlebot_nav2, where no file is
// called so; or, for an empty name, that of the built-in robot. See Load.
func Open(name string) (*Profile, error) {
	if name == "" {
		return Load("sim_robot.yaml (built in)", config.SimRobot)
	}
	if data, ok := config.Shipped(name); ok {
		if _, err := os.Stat(name); err != nil {
			return Load(name+".yaml (built in)", data)
		}
	}
	p, err := LoadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; the shipped profiles are %s", err, strings.Join(config.Names(), ", "))
	}
	return p, err
}

// Source is the name by which another process, in whatever folder, opens the profile that Open opens here.
func Source(name string) string {
	if name == "" {
		return ""
	}
	if _, ok := config.Shipped(name); ok {
		if _, err := os.Stat(name); err != nil {
			return name
		}
	}
	if file, err := filepath.Abs(name); err == nil {
		return file
	}
	return name
}

// LoadFile reads a profile from a file. See Load.
func LoadFile(file string) (*Profile, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("robottools: profile: %w", err)
	}
	return Load(file, data)
}

// maxProfile bounds a profile's size: what is larger is no profile.
const maxProfile = 4 << 20

// Load reads a profile. All its faults are returned together (errors.Join of
// *ProfileError); types and topics are checked later, against a node.
func Load(file string, data []byte) (*Profile, error) {
	src := &source{file: file, lines: map[string]int{"": 1}}
	if len(data) > maxProfile {
		return nil, src.errorf("", "profile of %d bytes, limit %d bytes", len(data), maxProfile)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, yamlError(src, err)
	}
	if err := src.oneDocument(data); err != nil {
		return nil, err
	}
	if len(root.Content) == 0 {
		return nil, src.errorf("", "the profile is empty")
	}
	var buf bytes.Buffer
	if err := src.toJSON(&buf, root.Content[0], "", 0); err != nil {
		return nil, err
	}
	if err := src.validate(buf.Bytes()); err != nil {
		return nil, err
	}
	p := &Profile{source: src, envs: &envs{}}
	dec := json.NewDecoder(bytes.NewReader(buf.Bytes()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		return nil, src.errorf("", "%v", err)
	}
	p.ToolOrder = keysOf(root.Content[0], "tools")
	return p, p.check()
}

// oneDocument refuses what stands behind the profile: nobody would read it.
func (s *source) oneDocument(data []byte) error {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return yamlError(s, err)
	}
	for n := 0; ; n++ {
		var doc yaml.Node
		err := loader.Load(&doc)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			if _, place, ok := strings.Cut(err.Error(), "at L"); ok { // a loader's way to say where
				line, _, _ := strings.Cut(place, ".")
				if at, bad := strconv.Atoi(line); bad == nil {
					return s.onLine(at, "%s", err.Error())
				}
			}
			return yamlError(s, err)
		case n == 0 || len(doc.Content) == 0 || doc.Content[0].Tag == "!!null":
			continue
		}
		return s.onLine(doc.Content[0].Line, "a second YAML document begins here: a profile is one")
	}
}

// onLine is a fault of the file on a line that is known.
func (s *source) onLine(line int, format string, args ...any) *ProfileError {
	e := s.errorf("", format, args...)
	e.Line = line
	return e
}

// yamlError keeps the parser's own line.
func yamlError(src *source, err error) error {
	e := src.errorf("", "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	for _, word := range strings.FieldsFunc(err.Error(), func(r rune) bool { return r < '0' || r > '9' }) {
		if n, convErr := strconv.Atoi(word); convErr == nil && strings.Contains(err.Error(), "line "+word) {
			e.Line = n
			break
		}
	}
	return e
}

// keysOf lists a mapping's keys in file order.
func keysOf(n *yaml.Node, key string) []string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != key {
			continue
		}
		m := n.Content[i+1]
		if m.Kind == yaml.AliasNode {
			m = m.Alias
		}
		var keys []string
		for j := 0; j+1 < len(m.Content); j += 2 {
			keys = append(keys, m.Content[j].Value)
		}
		return keys
	}
	return nil
}

// maxDepth bounds nesting, aliases included.
const maxDepth = 64

// toJSON writes the node as JSON in file order and notes the line of every path.
func (s *source) toJSON(b *bytes.Buffer, n *yaml.Node, path string, depth int) error {
	if depth > maxDepth {
		return s.errorf(path, "nested deeper than %d", maxDepth)
	}
	if _, seen := s.lines[path]; !seen || path == "" {
		s.lines[path] = n.Line
	}
	if b.Len() > maxProfile {
		return s.errorf(path, "aliases expand the profile over %d bytes", maxProfile)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return s.toJSON(b, n.Alias, path, depth+1)
	case yaml.MappingNode:
		return s.mapping(b, n, path, depth)
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := s.toJSON(b, c, join(path, strconv.Itoa(i)), depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case yaml.ScalarNode:
		var v any
		if err := n.Decode(&v); err != nil {
			return s.errorf(path, "%v", err)
		}
		if err := magnitude(v); err != nil && !strings.Contains(path, "/parameters/") {
			return s.errorf(path, "%v", err)
		}
		data, err := json.Marshal(v)
		if err != nil {
			return s.errorf(path, "%v is not a value that a profile can hold", n.Value)
		}
		b.Write(data)
		return nil
	default:
		return s.errorf(path, "unexpected YAML node")
	}
}

func (s *source) mapping(b *bytes.Buffer, n *yaml.Node, path string, depth int) error {
	seen := map[string]bool{}
	b.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		p := join(path, k.Value)
		if k.Kind != yaml.ScalarNode || k.Value == "<<" {
			return s.errorf(path, "line %d: keys are plain words", k.Line)
		}
		s.lines[p] = k.Line
		if seen[k.Value] {
			return s.errorf(p, "%q stands twice", k.Value)
		}
		seen[k.Value] = true
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(k.Value)
		if err != nil {
			return s.errorf(p, "%v", err)
		}
		b.Write(name)
		b.WriteByte(':')
		if err := s.toJSON(b, n.Content[i+1], p, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// schemaURL names the schema for its compiler. A bare name would be looked for in the working folder, which may be gone.
const schemaURL = "mem:///profile.schema.json"

// validate holds the profile against the schema and names every violation with its line.
func (s *source) validate(data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.ProfileSchema))
	if err != nil {
		return fmt.Errorf("robottools: profile.schema.json: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaURL, doc); err != nil {
		return fmt.Errorf("robottools: profile.schema.json: %w", err)
	}
	sch, err := c.Compile(schemaURL)
	if err != nil {
		return fmt.Errorf("robottools: profile.schema.json: %w", err)
	}
	inst, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return s.errorf("", "%v", err)
	}
	var v *jsonschema.ValidationError
	if err := sch.Validate(inst); errors.As(err, &v) {
		var all []error
		s.collect(v, &all)
		return errors.Join(all...)
	} else if err != nil {
		return s.errorf("", "%v", err)
	}
	return nil
}

// collect turns the leaves of a validation error into located ones.
func (s *source) collect(v *jsonschema.ValidationError, out *[]error) {
	if len(v.Causes) > 0 {
		for _, c := range v.Causes {
			s.collect(c, out)
		}
		return
	}
	path := strings.Join(v.InstanceLocation, "/")
	if extra, ok := v.ErrorKind.(*kind.AdditionalProperties); ok {
		for _, name := range extra.Properties {
			*out = append(*out, s.errorf(join(path, name), "unknown field %q", name))
		}
		return
	}
	*out = append(*out, s.errorf(path, "%s", v.ErrorKind.LocalizedString(message.NewPrinter(language.English))))
}
