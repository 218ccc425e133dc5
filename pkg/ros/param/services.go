package param

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"agent_node/pkg/ros"
)

const separator = "."

// remote is the server's face to other processes.
type remote struct {
	events   ros.Publisher
	services []ros.Service
}

// eventQoS is rmw's profile for parameter events.
func eventQoS() ros.QoS { return ros.QoS{Depth: 1000} }

func (r *remote) start(s *Server) error {
	var err error
	r.events, err = s.node.CreatePublisher("/parameter_events", "rcl_interfaces/msg/ParameterEvent", eventQoS())
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name, typeName string
		serve          func(s *Server, request, response *ros.Message) error
	}{
		{"get_parameters", "GetParameters", (*Server).serveGet},
		{"get_parameter_types", "GetParameterTypes", (*Server).serveTypes},
		{"set_parameters", "SetParameters", (*Server).serveSet},
		{"set_parameters_atomically", "SetParametersAtomically", (*Server).serveSetAtomically},
		{"describe_parameters", "DescribeParameters", (*Server).serveDescribe},
		{"list_parameters", "ListParameters", (*Server).serveList},
	} {
		t, err := s.node.Types().Service("rcl_interfaces/srv/" + x.typeName)
		if err != nil {
			return err
		}
		srv, err := s.node.CreateService("~/"+x.name, t.Name, func(_ context.Context, request *ros.Message) (*ros.Message, error) {
			response := ros.New(t.Response)
			return response, x.serve(s, request, response)
		})
		if err != nil {
			return err
		}
		r.services = append(r.services, srv)
	}
	return nil
}

func (r *remote) stop() error {
	var errs []error
	for _, s := range r.services {
		errs = append(errs, s.Close())
	}
	if r.events != nil {
		errs = append(errs, r.events.Close())
	}
	return errors.Join(errs...)
}

// publish is called with setting held.
func (r *remote) publish(s *Server, e event) {
	m, err := ros.FromMap(r.events.Type(), map[string]any{
		"stamp": s.node.Clock().Now(), "node": path.Join(s.node.Namespace(), s.node.Name()),
		"new_parameters": fieldsOf(e.added), "changed_parameters": fieldsOf(e.changed), "deleted_parameters": fieldsOf(e.removed),
	})
	if err == nil {
		err = r.events.Publish(m)
	}
	if err != nil && !errors.Is(err, ros.ErrClosed) {
		s.node.Logger().Warn("parameter event not published", "error", err)
	}
}

// As in rclcpp and rclpy, one unknown name makes an answer without any value:
// ROS tools read that as "not set".
func (s *Server) serveGet(request, response *ros.Message) error {
	names := request.Strs("names")
	values := make([]any, 0, len(names))
	for _, name := range names {
		v, err := s.Get(name)
		if err != nil {
			return nil //nolint:nilerr // the empty answer says it
		}
		values = append(values, v.fields())
	}
	return response.Set("values", values)
}

func (s *Server) serveTypes(request, response *ros.Message) error {
	names := request.Strs("names")
	types := make([]uint8, 0, len(names))
	for _, name := range names {
		v, err := s.Get(name)
		if err != nil {
			return nil //nolint:nilerr // the empty answer says it
		}
		types = append(types, uint8(v.t))
	}
	return response.Set("types", types)
}

func (s *Server) serveDescribe(request, response *ros.Message) error {
	names := request.Strs("names")
	out := make([]any, 0, len(names))
	for _, name := range names {
		d, err := s.Describe(name)
		if err != nil {
			return nil //nolint:nilerr // the empty answer says it
		}
		out = append(out, d.fields())
	}
	return response.Set("descriptors", out)
}

func (s *Server) serveSet(request, response *ros.Message) error {
	ms := request.Msgs("parameters")
	results := make([]any, len(ms))
	for i := range ms {
		ps, err := parametersOf(ms[i : i+1])
		if err == nil {
			err = s.Set(ps...)
		}
		results[i] = resultFields(err, s.later(ps))
	}
	return response.Set("results", results)
}

func (s *Server) serveSetAtomically(request, response *ros.Message) error {
	ps, err := parametersOf(request.Msgs("parameters"))
	if err == nil {
		err = s.Set(ps...)
	}
	return response.Set("result", resultFields(err, s.later(ps)))
}

// later says which of the parameters take effect later, and when.
func (s *Server) later(ps []Parameter) string {
	var texts []string
	for _, p := range ps {
		if d, err := s.Describe(p.Name); err == nil && d.Later != "" {
			texts = append(texts, p.Name+" "+d.Later)
		}
	}
	return strings.Join(texts, "; ")
}

func resultFields(err error, later string) map[string]any {
	if err == nil {
		return map[string]any{"successful": true, "reason": later}
	}
	return map[string]any{"successful": false, "reason": err.Error()}
}

func (s *Server) serveList(request, response *ros.Message) error {
	names, prefixes := s.List(request.Strs("prefixes"), request.Uint("depth"))
	return response.Set("result", map[string]any{"names": names, "prefixes": prefixes})
}

// List is the names of the parameters that are one of the prefixes or lie below
// one, all of them where no prefix is given; depth limits how many groups deep below
// the prefix a name may lie (1: directly below it), 0 is no limit. groups are the groups that the
// listed parameters are in.
func (s *Server) List(prefixes []string, depth uint64) (names, groups []string) {
	shallow := func(name string) bool {
		return depth == 0 || uint64(strings.Count(name, separator)) < depth
	}
	listed := func(name string) bool {
		if len(prefixes) == 0 {
			return shallow(name)
		}
		return slices.ContainsFunc(prefixes, func(prefix string) bool {
			rest, below := strings.CutPrefix(name, prefix+separator)
			return name == prefix || below && shallow(rest)
		})
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(s.declared)) {
		if !listed(name) {
			continue
		}
		names = append(names, name)
		if i := strings.LastIndex(name, separator); i >= 0 && !slices.Contains(groups, name[:i]) {
			groups = append(groups, name[:i])
		}
	}
	return names, groups
}
