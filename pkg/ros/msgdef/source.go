package msgdef

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"agent_node/msgs"
	"agent_node/pkg/ros"
	"agent_node/sim/interfaces"
)

//go:embed std
var std embed.FS

//go:embed ros1
var ros1 embed.FS

// Tree is a file tree with definitions.
type Tree struct {
	FS fs.FS
	// Package is the package whose folders msg, srv and action are the tree's roots;
	// empty where the tree has a folder for each package, as <prefix>/share has.
	Package string
	// ROS1 says that the definitions are of ROS 1: time, duration and Header are primitives, and names are freer.
	ROS1 bool
}

// Source finds types in trees; the first tree that has a definition counts. It
// implements ros.TypeSource and is safe for concurrent use.
type Source struct {
	trees []Tree

	mu       sync.Mutex
	messages map[string]*ros.Type
	services map[string]*ros.ServiceType
	actions  map[string]*ros.ActionType
	pending  map[string]bool // messages being resolved, to see a cycle
	extents  map[*ros.Type]extent
}

// extent is how large a type is: values in a new message, and levels of nesting below it.
type extent struct{ values, levels int }

var _ ros.TypeSource = (*Source)(nil)

// NewSource makes a source over trees.
func NewSource(trees ...Tree) *Source {
	return &Source{
		trees:    trees,
		messages: make(map[string]*ros.Type),
		services: make(map[string]*ros.ServiceType),
		actions:  make(map[string]*ros.ActionType),
		pending:  make(map[string]bool),
		extents:  make(map[*ros.Type]extent),
	}
}

// EmbeddedTrees are the trees that Embedded reads.
func EmbeddedTrees() []Tree {
	common, err := fs.Sub(std, "std")
	if err != nil {
		panic(err) // the folder's name is a valid path
	}
	return []Tree{{FS: common}, {FS: msgs.FS, Package: "agent_msgs"}, {FS: interfaces.FS}}
}

// ROS1Trees are the trees with the usual packages as ROS 1 defines them, and behind them, in ROS 2's form, what ROS 1
// has no package for: agent_msgs and what the rooms of this house speak by (actions, parameters, lifecycle).
func ROS1Trees() []Tree {
	own, err := fs.Sub(ros1, "ros1")
	if err != nil {
		panic(err) // the folder's name is a valid path
	}
	trees := []Tree{{FS: own, ROS1: true}, {FS: msgs.FS, Package: "agent_msgs"}}
	for _, p := range []string{
		"action_msgs", "builtin_interfaces", "lifecycle_msgs", "rcl_interfaces", "service_msgs",
		"type_description_interfaces", "unique_identifier_msgs",
	} {
		sub, err := fs.Sub(std, "std/"+p)
		if err != nil {
			panic(err) // as above
		}
		trees = append(trees, Tree{FS: sub, Package: p})
	}
	return trees
}

// Embedded is a new source over the definitions that need no ROS. Types of two sources
// are different pointers: make one and share it.
func Embedded() *Source { return NewSource(EmbeddedTrees()...) }

// Message finds a message type, those inside of services and actions
// (pkg/srv/Name_Request, pkg/action/Name_Goal, …) included.
func (s *Source) Message(name string) (*ros.Type, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.message(name)
}

// Service finds a service type, the two of an action included.
func (s *Source) Service(name string) (*ros.ServiceType, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.service(name)
}

// Action finds an action type.
func (s *Source) Action(name string) (*ros.ActionType, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.action(name)
}

// splitName cuts pkg/kind/Name.
func splitName(full string) (pkg, kind, name string, err error) {
	parts := strings.Split(full, "/")
	if len(parts) != 3 || !packageName.MatchString(parts[0]) || parts[2] == "" {
		return "", "", "", unknown(full, "want package/msg/Name, package/srv/Name or package/action/Name")
	}
	return parts[0], parts[1], parts[2], nil
}

// read gives the text of a definition, the file's name for errors, and how to read it.
func (s *Source) read(pkg, kind, name string) (text, file string, d dialect, err error) {
	file = pkg + "/" + kind + "/" + name + "." + kind
	full := pkg + "/" + kind + "/" + name
	named := false
	for _, t := range s.trees {
		d = dialect{ros1: t.ROS1}
		if !d.message(name) {
			continue
		}
		named = true
		path := file
		if t.Package != "" {
			if t.Package != pkg {
				continue
			}
			path = strings.TrimPrefix(file, pkg+"/")
		}
		data, err := fs.ReadFile(t.FS, path)
		switch {
		case err == nil:
			return string(data), file, d, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", "", d, &ParseError{File: file, Err: err}
		}
	}
	if !named {
		return "", "", d, unknown(full, "no type is named so")
	}
	return "", "", d, unknown(full, "no definition found")
}

func (s *Source) message(full string) (*ros.Type, error) {
	if t, ok := s.messages[full]; ok {
		return t, nil
	}
	pkg, kind, name, err := splitName(full)
	if err != nil {
		return nil, err
	}
	base, _, inner := strings.Cut(name, "_")
	switch {
	case kind == "msg":
		return s.messageFile(pkg, name)
	case kind == "srv" && inner:
		_, err = s.service(pkg + "/srv/" + base)
	case kind == "action" && inner:
		_, err = s.action(pkg + "/action/" + base)
	default:
		return nil, unknown(full, "not a message")
	}
	if err != nil {
		return nil, err
	}
	if t, ok := s.messages[full]; ok {
		return t, nil
	}
	return nil, unknown(full, "no such part of "+base)
}

func (s *Source) messageFile(pkg, name string) (*ros.Type, error) {
	full := pkg + "/msg/" + name
	text, file, d, err := s.read(pkg, "msg", name)
	if err != nil {
		return nil, err
	}
	sections, err := parse(file, pkg, text, 1, d)
	if err != nil {
		return nil, err
	}
	if s.pending[full] {
		return nil, &ParseError{File: file, Reason: full + " contains itself"}
	}
	s.pending[full] = true
	defer delete(s.pending, full)
	return s.build(full, file, pkg, sections[0])
}

// build makes and keeps the type of a section.
func (s *Source) build(full, file, pkg string, sec section) (*ros.Type, error) {
	fields := make([]ros.Field, len(sec.fields))
	var size extent
	for i := range sec.fields {
		f := &sec.fields[i]
		fail := func(reason string, err error) error {
			return &ParseError{File: file, Line: f.line, Reason: reason, Err: err}
		}
		fields[i] = f.Field
		values := 1
		if f.nested != "" {
			nested, err := s.message(f.nested)
			if f.nested == pkg+"/msg/Header" && errors.Is(err, ros.ErrUnknownType) {
				nested, err = s.message("std_msgs/msg/Header") // the old short name
			}
			if err != nil {
				return nil, fail("", err)
			}
			fields[i].Type = nested
			values += s.extents[nested].values
			size.levels = max(size.levels, 1+s.extents[nested].levels)
		}
		if f.Array == ros.FixedArray {
			values *= f.Size // neither factor is above maxArray
		}
		if size.values += values; size.values > maxArray {
			return nil, fail(fmt.Sprintf("%s has more than %d values", full, maxArray), nil)
		}
		if size.levels > ros.MaxNesting {
			return nil, fail(fmt.Sprintf("%s is nested deeper than %d", full, ros.MaxNesting), nil)
		}
	}
	t := ros.NewType(full, fields, sec.constants)
	s.messages[full], s.extents[t] = t, size
	return t, nil
}
