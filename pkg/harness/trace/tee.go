package trace

// Tee returns a sink that also shows every event to seen, after it was appended. seen gets the session's name in the
// event, but no number and no hash; it is called by whoever appends, must not block, and must not keep Data.
func Tee(s Sink, seen func(Event)) Sink { return tee{s, seen} }

type tee struct {
	Sink
	seen func(Event)
}

// Open implements Sink.
func (t tee) Open(session string) (Log, error) {
	l, err := t.Sink.Open(session)
	if err != nil {
		return nil, err
	}
	return teeLog{l, session, t.seen}, nil
}

// Claim implements Claimer where the sink does.
func (t tee) Claim(of, by string) error {
	if c, ok := t.Sink.(Claimer); ok {
		return c.Claim(of, by)
	}
	return nil
}

// Release implements Claimer where the sink does.
func (t tee) Release(of, by string) error {
	if c, ok := t.Sink.(Claimer); ok {
		return c.Release(of, by)
	}
	return nil
}

type teeLog struct {
	Log
	session string
	seen    func(Event)
}

// Append implements Log.
func (l teeLog) Append(e Event) error {
	err := l.Log.Append(e)
	e.Session = l.session
	l.seen(e)
	return err
}
