//go:build ros2

package ros2

// #include "shim.h"
import "C"

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"agent_node/pkg/ros"
)

// Types finds the interface types that are installed on this machine, by name, when they are first
// asked for. It is safe for concurrent use and may serve several nodes. It implements [ros.TypeSource].
type Types struct {
	prefixes []string
	live     atomic.Int64 // messages in C memory

	mu       sync.Mutex
	packages map[string]*interfacePackage
	messages map[string]*support
	services map[string]*serviceSupport
	actions  map[string]*ros.ActionType
}

// NewTypes looks below the given prefixes, in their order; with none, below those of AMENT_PREFIX_PATH.
// What the loader finds anyway (LD_LIBRARY_PATH, the binary's RPATH) comes last.
func NewTypes(prefixes ...string) *Types {
	if len(prefixes) == 0 {
		prefixes = prefixesFromEnvironment()
	}
	return &Types{
		prefixes: prefixes,
		packages: map[string]*interfacePackage{},
		messages: map[string]*support{},
		services: map[string]*serviceSupport{},
		actions:  map[string]*ros.ActionType{},
	}
}

// Live is how many messages of these types are in C memory now: the buffers that entities keep.
func (t *Types) Live() int { return int(t.live.Load()) }

// support is a message type with all that is needed to send and receive it.
type support struct {
	types  *Types
	typ    *ros.Type
	layout *layout

	handle unsafe.Pointer // *rosidl_message_type_support_t for rcl; nil until asked for
}

type serviceSupport struct {
	typ               *ros.ServiceType
	request, response *support
	handle            unsafe.Pointer // *rosidl_service_type_support_t
}

// Message finds pkg/msg/Name, and the messages that services and actions are made of (pkg/srv/Name_Request).
func (t *Types) Message(name string) (*ros.Type, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.message(name)
	if err != nil {
		return nil, err
	}
	return s.typ, nil
}

// Service finds pkg/srv/Name, and the services that actions are made of (pkg/action/Name_SendGoal).
func (t *Types) Service(name string) (*ros.ServiceType, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.service(name)
	if err != nil {
		return nil, err
	}
	return s.typ, nil
}

// Action finds pkg/action/Name.
func (t *Types) Action(name string) (*ros.ActionType, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a, ok := t.actions[name]; ok {
		return a, nil
	}
	if parts := strings.Split(name, "/"); len(parts) == 3 && parts[1] != "action" {
		return nil, fmt.Errorf("%w: %s: an action's name is pkg/action/Name", ros.ErrUnknownType, name)
	}
	a := &ros.ActionType{Name: name}
	for _, part := range []struct {
		to     **ros.Type
		suffix string
	}{{&a.Goal, "_Goal"}, {&a.Result, "_Result"}, {&a.Feedback, "_Feedback"}, {&a.FeedbackMessage, "_FeedbackMessage"}} {
		s, err := t.message(name + part.suffix)
		if err != nil {
			return nil, fmt.Errorf("action %s: %w", name, err)
		}
		*part.to = s.typ
	}
	for _, part := range []struct {
		to     **ros.ServiceType
		suffix string
	}{{&a.SendGoal, "_SendGoal"}, {&a.GetResult, "_GetResult"}} {
		s, err := t.service(name + part.suffix)
		if err != nil {
			return nil, fmt.Errorf("action %s: %w", name, err)
		}
		*part.to = s.typ
	}
	t.actions[name] = a
	return a, nil
}

// messageSupport is a message type that rcl can be given.
func (t *Types) messageSupport(name string) (*support, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.message(name)
	if err != nil || s.handle != nil {
		return s, err
	}
	s.handle, err = t.handle("rosidl_typesupport_c", "message", name)
	return s, err
}

func (t *Types) serviceSupport(name string) (*serviceSupport, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.service(name)
	if err != nil || s.handle != nil {
		return s, err
	}
	s.handle, err = t.handle("rosidl_typesupport_c", "service", name)
	return s, err
}

// message is Message under the lock.
func (t *Types) message(name string) (*support, error) {
	if s, ok := t.messages[name]; ok {
		return s, nil
	}
	handle, err := t.handle("rosidl_typesupport_introspection_c", "message", name)
	if err != nil {
		return nil, err
	}
	return t.fromHandle(handle)
}

// service is Service under the lock.
func (t *Types) service(name string) (*serviceSupport, error) {
	if s, ok := t.services[name]; ok {
		return s, nil
	}
	if _, err := t.handle("rosidl_typesupport_introspection_c", "service", name); err != nil {
		return nil, err
	}
	request, err := t.message(name + "_Request")
	if err != nil {
		return nil, err
	}
	response, err := t.message(name + "_Response")
	if err != nil {
		return nil, err
	}
	s := &serviceSupport{
		typ:     &ros.ServiceType{Name: name, Request: request.typ, Response: response.typ},
		request: request, response: response,
	}
	t.services[name] = s
	return s, nil
}

var interfaceName = regexp.MustCompile(`^([a-z][a-z0-9_]*)/(msg|srv|action)/([A-Z][A-Za-z0-9_]*)$`)

// handle is a type support handle of the given library kind, from the function that gives it.
func (t *Types) handle(library, interfaceKind, name string) (unsafe.Pointer, error) {
	parts := interfaceName.FindStringSubmatch(name)
	if parts == nil {
		return nil, fmt.Errorf("%w: %q: want pkg/msg/Name, pkg/srv/Name or pkg/action/Name", ros.ErrUnknownType, name)
	}
	pkg, ok := t.packages[parts[1]]
	if !ok {
		var err error
		if pkg, err = openPackage(t.prefixes, parts[1]); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ros.ErrUnknownType, name, err)
		}
		t.packages[parts[1]] = pkg
	}
	from := pkg.introspection
	if library == "rosidl_typesupport_c" {
		from = pkg.typesupport
	}
	getter := symbol(from, fmt.Sprintf("%s__get_%s_type_support_handle__%s__%s__%s",
		library, interfaceKind, parts[1], parts[2], parts[3]))
	if getter == nil {
		return nil, fmt.Errorf("%w: %s: package %s in %s has no %s of this name",
			ros.ErrUnknownType, name, parts[1], pkg.where, interfaceKind)
	}
	handle := C.an_call_handle(getter)
	if handle == nil {
		return nil, fmt.Errorf("%w: %s: its type support in %s could not be initialised", ros.ErrUnknownType, name, pkg.where)
	}
	return handle, nil
}
