package param

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"agent_node/pkg/ros"
)

// UseSimTime is the parameter that every node declares.
const UseSimTime = "use_sim_time"

// Config says how a node's parameters begin.
type Config struct {
	// Overrides are first values by parameter name, from the command line and
	// parameter files. They apply when the parameter is declared. An integer
	// is taken for a double, and an empty list for an empty array of any type.
	Overrides map[string]Value
	// SimTime is told the value of use_sim_time when the server starts and before it
	// changes; its error refuses the change. nil: the node is told, if it is a ros.SimTimeSetter.
	SimTime func(on bool) error
}

// Server holds a node's parameters and serves them. Its methods are safe for
// concurrent use.
type Server struct {
	node      ros.Node
	overrides map[string]Value

	// setting serialises declarations and changes: what validation callbacks see does not
	// change under them. It is taken before mu.
	setting    sync.Mutex
	validators []*validator
	listeners  []*listener
	simTime    func(on bool) error

	mu       sync.RWMutex
	declared map[string]*declared
	unused   map[string]bool

	delivery delivery
	remote   remote
}

type declared struct {
	d Descriptor
	v Value
}

type (
	validator struct{ f func([]Parameter) error }
	listener  struct{ f func([]Parameter) }
)

// New declares use_sim_time and serves ~/get_parameters, ~/set_parameters,
// ~/set_parameters_atomically, ~/list_parameters, ~/describe_parameters and
// ~/get_parameter_types.
func New(node ros.Node, cfg Config) (*Server, error) {
	s := &Server{
		node:      node,
		simTime:   cfg.SimTime,
		overrides: maps.Clone(cfg.Overrides),
		declared:  make(map[string]*declared),
		unused:    make(map[string]bool),
	}
	for name := range cfg.Overrides {
		s.unused[name] = true
	}
	if setter, ok := node.(ros.SimTimeSetter); ok && s.simTime == nil {
		s.simTime = setter.UseSimTime
	}
	if err := s.remote.start(s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	_, err := s.Declare(Descriptor{
		Name:        UseSimTime,
		Description: "Take ROS time from /clock instead of the system's clock.",
	}, false)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close takes the services down. The values stay readable in the process.
func (s *Server) Close() error { return s.remote.stop() }

// Declare adds a parameter. Its value is the override of its name if there is
// one, else def (anything that [ValueOf] takes), and is returned. Validation callbacks
// registered before are asked. A parameter that cannot be declared with its override is not
// declared with its default either: the caller was told something that does not hold.
func (s *Server) Declare(d Descriptor, def any) (Value, error) {
	v, err := ValueOf(def)
	if err != nil {
		return Value{}, &Error{Name: d.Name, Err: ErrWrongType, Detail: err.Error()}
	}
	if err := d.validate(v); err != nil {
		return Value{}, err
	}
	s.setting.Lock()
	defer s.delivery.run()
	defer s.setting.Unlock()
	s.mu.RLock()
	_, exists := s.declared[d.Name]
	s.mu.RUnlock()
	if exists {
		return Value{}, failure(d.Name, ErrAlreadyDeclared, "")
	}
	if o, ok := s.overrides[d.Name]; ok {
		v = o.fit(d.Type)
	}
	// A default that is not set waits for its first value, of the declared type.
	if v.IsSet() {
		if err := d.check(v); err != nil {
			return Value{}, err
		}
	}
	p := Parameter{Name: d.Name, Value: v}
	if err := s.validate([]Parameter{p}); err != nil {
		return Value{}, err
	}
	s.mu.Lock()
	s.declared[d.Name] = &declared{d: d, v: v}
	delete(s.unused, d.Name)
	s.mu.Unlock()
	s.announce(event{added: []Parameter{p}})
	return v, nil
}

// fit converts an override that YAML or a command line wrote as another type.
func (v Value) fit(want Type) Value {
	switch x := v.v.(type) {
	case int64:
		if f := float64(x); want == Double && int64(f) == x {
			return Value{Double, f}
		}
	case []int64:
		if want == DoubleArray {
			out := make([]float64, len(x))
			for i := range x {
				out[i] = float64(x[i])
			}
			return Value{DoubleArray, out}
		}
		if want == ByteArray {
			out := make([]byte, len(x))
			for i := range x {
				if x[i] < 0 || x[i] > 255 {
					return v
				}
				out[i] = byte(x[i])
			}
			return Value{ByteArray, out}
		}
	case []string:
		if len(x) == 0 && want >= ByteArray {
			return emptyArray(want)
		}
	}
	return v
}

func emptyArray(t Type) Value {
	switch t {
	case ByteArray:
		return Value{t, []byte{}}
	case BoolArray:
		return Value{t, []bool{}}
	case IntegerArray:
		return Value{t, []int64{}}
	case DoubleArray:
		return Value{t, []float64{}}
	default:
		return Value{StringArray, []string{}}
	}
}

// Undeclare removes a parameter that is neither read-only nor of a fixed type.
func (s *Server) Undeclare(name string) error {
	return s.Set(Parameter{Name: name})
}

// Get is the parameter's value.
func (s *Server) Get(name string) (Value, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, ok := s.declared[name]
	if !ok {
		return Value{}, failure(name, ErrNotDeclared, "")
	}
	return p.v, nil
}

// Describe is the parameter's descriptor.
func (s *Server) Describe(name string) (Descriptor, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, ok := s.declared[name]
	if !ok {
		return Descriptor{}, failure(name, ErrNotDeclared, "")
	}
	return p.d, nil
}

// All lists every parameter by name.
func (s *Server) All() []Parameter {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Parameter, 0, len(s.declared))
	for _, name := range slices.Sorted(maps.Keys(s.declared)) {
		out = append(out, Parameter{Name: name, Value: s.declared[name].v})
	}
	return out
}

// UnusedOverrides lists the overrides that no declaration has asked for yet: usually typing errors.
func (s *Server) UnusedOverrides() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.unused))
}

// Set changes all of the parameters or, with an error, none. A value that is not
// set removes a parameter whose typing is dynamic. Validation callbacks have the last
// word; change callbacks see the changes of all calls one after another, usually before Set returns.
func (s *Server) Set(changes ...Parameter) error {
	if len(changes) == 0 {
		return nil
	}
	s.setting.Lock()
	defer s.delivery.run()
	defer s.setting.Unlock()
	if err := s.checkAll(changes); err != nil {
		return err
	}
	if err := s.validate(changes); err != nil {
		return err
	}
	var e event
	s.mu.Lock()
	for _, c := range changes {
		p, ok := s.declared[c.Name]
		switch {
		case !ok: // removed by an earlier entry of the same list
		case !c.Value.IsSet():
			delete(s.declared, c.Name)
			e.removed = append(e.removed, Parameter{Name: c.Name, Value: p.v})
		default:
			p.v = c.Value
			e.changed = append(e.changed, c)
		}
	}
	s.mu.Unlock()
	s.announce(e)
	return nil
}

// checkAll is called with setting held.
func (s *Server) checkAll(changes []Parameter) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, c := range changes {
		p, ok := s.declared[c.Name]
		if !ok {
			return failure(c.Name, ErrNotDeclared, "it cannot be set to %s", c.Value)
		}
		if p.d.ReadOnly {
			return failure(c.Name, ErrReadOnly, "it keeps %s", p.v)
		}
		if err := p.d.check(c.Value); err != nil {
			return err
		}
	}
	return nil
}

// validate asks the callbacks; it is called with setting held, and mu not. The clock comes last:
// what it switches, no other callback can refuse any more.
func (s *Server) validate(changes []Parameter) error {
	for _, v := range s.validators {
		if err := refusal(changes, v.f(slices.Clone(changes))); err != nil {
			return err
		}
	}
	if s.simTime == nil {
		return nil
	}
	for _, p := range changes {
		if on, ok := p.Value.v.(bool); ok && p.Name == UseSimTime {
			return refusal(changes, s.simTime(on))
		}
	}
	return nil
}

// refusal names the parameters of a change that a callback refused.
func refusal(changes []Parameter, err error) error {
	var typed *Error
	if err == nil || errors.As(err, &typed) {
		return err
	}
	names := make([]string, len(changes))
	for i := range changes {
		names[i] = changes[i].Name
	}
	return &Error{Name: strings.Join(names, "', '"), Err: fmt.Errorf("%w: %w", ErrRefused, err)}
}

// OnSet registers a validation callback: an error refuses the whole change. It
// may read parameters, which have their old values, but must not set any. The
// returned function unregisters it.
func (s *Server) OnSet(f func(changes []Parameter) error) (remove func()) {
	v := &validator{f}
	s.setting.Lock()
	defer s.setting.Unlock()
	s.validators = append(s.validators, v)
	return func() {
		s.setting.Lock()
		defer s.setting.Unlock()
		s.validators = slices.DeleteFunc(s.validators, func(x *validator) bool { return x == v })
	}
}

// OnChange registers a callback for declared and changed parameters (removed ones have no value
// set). It is called one change after another, and may read and set parameters. The returned function
// unregisters it.
func (s *Server) OnChange(f func(changes []Parameter)) (remove func()) {
	l := &listener{f}
	s.setting.Lock()
	defer s.setting.Unlock()
	s.listeners = append(s.listeners, l)
	return func() {
		s.setting.Lock()
		defer s.setting.Unlock()
		s.listeners = slices.DeleteFunc(s.listeners, func(x *listener) bool { return x == l })
	}
}
