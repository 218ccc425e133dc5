package typedesc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agent_node/pkg/ros"
)

// Source describes interface types by name: messages, services, actions, and the parts of the
// latter two (pkg/srv/Name_Request, pkg/action/Name_SendGoal and so on). An unknown name is an error
// that wraps ros.ErrUnknownType.
type Source interface {
	Describe(name string) (*Described, error)
}

// Described is what a source knows of a type.
type Described struct {
	Description *Description
	Hash        string
	// Texts are the definition files of the type and of those it refers to, where the source has them.
	Texts []Text
}

// Text is a definition file, as type_description_interfaces/msg/TypeSource has it.
type Text struct {
	TypeName string
	// Encoding is msg, srv, action or idl; implicit for a type that has no file of its own.
	Encoding string
	Contents string
}

// parts are the suffixes of the types that belong to a service or an action, longest first.
var parts = map[string][]string{
	"srv": {"_Request", "_Response", "_Event"},
	"action": {
		"_SendGoal_Request", "_SendGoal_Response", "_SendGoal_Event", "_GetResult_Request", "_GetResult_Response", "_GetResult_Event",
		"_SendGoal", "_GetResult", "_FeedbackMessage", "_Goal", "_Result", "_Feedback",
	},
}

// split takes pkg/kind/Name apart; owner is the type whose file defines it.
func split(name string) (pkg, kind, owner string, err error) {
	p := strings.Split(name, "/")
	if len(p) != 3 || p[0] == "" || p[2] == "" || strings.ContainsAny(name, `\.`) {
		return "", "", "", fmt.Errorf("%w: %q is not of the form package/msg|srv|action/Name", ros.ErrUnknownType, name)
	}
	owner = p[2]
	for _, suffix := range parts[p[1]] {
		if base, ok := strings.CutSuffix(owner, suffix); ok && base != "" {
			owner = base
			break
		}
	}
	return p[0], p[1], owner, nil
}

// FromTypes computes descriptions from run-time types. It has no definition files and no default values.
func FromTypes(types ros.TypeSource) Source { return typesSource{types} }

type typesSource struct{ types ros.TypeSource }

func (s typesSource) Describe(name string) (*Described, error) {
	pkg, kind, owner, err := split(name)
	if err != nil {
		return nil, err
	}
	full := pkg + "/" + kind + "/" + owner
	p := pool{}
	switch kind {
	case "msg":
		t, err := s.types.Message(full)
		if err != nil {
			return nil, err
		}
		p.message(t)
	case "srv", "action":
		info, err := s.types.Message("service_msgs/msg/ServiceEventInfo")
		if err != nil {
			return nil, err
		}
		if kind == "srv" {
			t, err := s.types.Service(full)
			if err != nil {
				return nil, err
			}
			p.service(t, info)
		} else {
			t, err := s.types.Action(full)
			if err != nil {
				return nil, err
			}
			p.action(t, info)
		}
	}
	d := p.describe(name)
	if d == nil {
		return nil, fmt.Errorf("%w: %s", ros.ErrUnknownType, name)
	}
	return &Described{Description: d, Hash: d.Hash()}, nil
}

// FromPrefixes reads the descriptions that rosidl installed in ROS prefixes, in order (those of
// AMENT_PREFIX_PATH, say), with their definition files.
func FromPrefixes(prefixes ...string) Source { return prefixSource(prefixes) }

type prefixSource []string

// installed is the part of a type's installed JSON file that is read.
type installed struct {
	Message struct {
		Main       individualJSON   `json:"type_description"`
		Referenced []individualJSON `json:"referenced_type_descriptions"`
	} `json:"type_description_msg"`
	Hashes []struct {
		Name string `json:"type_name"`
		Hash string `json:"hash_string"`
	} `json:"type_hashes"`
}

type individualJSON struct {
	Name   string `json:"type_name"`
	Fields []struct {
		Name string `json:"name"`
		Type struct {
			ID             uint8  `json:"type_id"`
			Capacity       uint64 `json:"capacity"`
			StringCapacity uint64 `json:"string_capacity"`
			Nested         string `json:"nested_type_name"`
		} `json:"type"`
		Default string `json:"default_value"`
	} `json:"fields"`
}

func (j individualJSON) individual() Individual {
	t := Individual{Name: j.Name}
	for _, f := range j.Fields {
		t.Fields = append(t.Fields, Field{
			Name: f.Name, TypeID: f.Type.ID, Capacity: f.Type.Capacity, StringCapacity: f.Type.StringCapacity,
			Nested: f.Type.Nested, Default: f.Default,
		})
	}
	return t
}

func (s prefixSource) Describe(name string) (*Described, error) {
	pkg, kind, owner, err := split(name)
	if err != nil {
		return nil, err
	}
	path, data, err := s.read(pkg, kind, owner+".json")
	if err != nil {
		return nil, err
	}
	var in installed
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("typedesc: %s: %w", path, err)
	}
	p := pool{in.Message.Main.Name: in.Message.Main.individual()}
	for _, r := range in.Message.Referenced {
		p[r.Name] = r.individual()
	}
	d := p.describe(name)
	if d == nil {
		return nil, fmt.Errorf("%w: %s is not in %s", ros.ErrUnknownType, name, path)
	}
	out := &Described{Description: d, Hash: d.Hash()}
	for _, h := range in.Hashes {
		if h.Name == name && h.Hash != out.Hash {
			return nil, fmt.Errorf("typedesc: %s: its hash of %s is %s, its description's %s", path, name, h.Hash, out.Hash)
		}
	}
	for _, t := range append([]Individual{d.Main}, d.Referenced...) {
		out.Texts = append(out.Texts, s.text(t.Name))
	}
	return out, nil
}

func (s prefixSource) read(pkg, kind, file string) (path string, data []byte, err error) {
	for _, prefix := range s {
		path = filepath.Join(prefix, "share", pkg, kind, file)
		data, err = os.ReadFile(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return path, data, err
		}
	}
	return "", nil, fmt.Errorf("%w: %s/%s/%s is in none of the prefixes %q", ros.ErrUnknownType, pkg, kind, file, []string(s))
}

// text is the definition file of a type.
func (s prefixSource) text(name string) Text {
	pkg, kind, owner, err := split(name)
	if err != nil || name != pkg+"/"+kind+"/"+owner {
		return Text{TypeName: name, Encoding: "implicit"}
	}
	for _, encoding := range []string{kind, "idl"} {
		if _, data, err := s.read(pkg, kind, owner+"."+encoding); err == nil {
			return Text{TypeName: name, Encoding: encoding, Contents: string(data)}
		}
	}
	return Text{TypeName: name, Encoding: "implicit"}
}

// First asks one source after the other until one knows the type.
func First(sources ...Source) Source { return firstSource(sources) }

type firstSource []Source

func (s firstSource) Describe(name string) (*Described, error) {
	err := fmt.Errorf("%w: %s", ros.ErrUnknownType, name)
	for _, source := range s {
		var d *Described
		if d, err = source.Describe(name); err == nil || !errors.Is(err, ros.ErrUnknownType) {
			return d, err
		}
	}
	return nil, err
}
