package param

// Go lists the Go types that parameters have.
type Go interface {
	bool | int64 | float64 | string | []byte | []bool | []int64 | []float64 | []string
}

// Of is a declared parameter of Go type T.
type Of[T Go] struct {
	s    *Server
	name string
	def  T
}

// Declare declares a parameter whose type is T's, for good, and returns a handle for reading it.
func Declare[T Go](s *Server, d Descriptor, def T) (*Of[T], error) {
	d.DynamicTyping = false
	d.Type = NotSet
	if _, err := s.Declare(d, def); err != nil {
		return nil, err
	}
	return &Of[T]{s: s, name: d.Name, def: def}, nil
}

// Name is the parameter's name.
func (p *Of[T]) Name() string { return p.name }

// Get is the value now.
func (p *Of[T]) Get() T {
	v, err := Get[T](p.s, p.name)
	if err != nil {
		// A parameter of a fixed type is never removed nor changes its type.
		return p.def
	}
	return v
}

// Set changes the value, as [Server.Set] does.
func (p *Of[T]) Set(v T) error {
	return p.s.Set(Parameter{Name: p.name, Value: MustValue(v)})
}

// Get reads a parameter as Go type T.
func Get[T Go](s *Server, name string) (T, error) {
	var zero T
	v, err := s.Get(name)
	if err != nil {
		return zero, err
	}
	x, ok := v.Any().(T)
	if !ok {
		return zero, failure(name, ErrWrongType, "it is a %s, %s, and was read as a %s", v.t, v, MustValue(zero).t)
	}
	return x, nil
}
