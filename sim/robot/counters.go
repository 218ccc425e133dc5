package robot

// counters count what arrived from outside: goals, and commands other than zero. It is
// counted on arrival, whatever becomes of it: they are there to prove that nothing came.
type counters struct {
	names  []string
	counts []uint64
}

func (c *counters) byName() map[string]uint64 {
	m := make(map[string]uint64, len(c.names))
	for i, n := range c.names {
		m[n] = c.counts[i]
	}
	return m
}

// count notes an arrival.
func (r *Robot) count(counter int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counters.counts[counter]++
}

// addCounter makes a counter at 0 and returns its number. Every counter is made before
// time passes.
func (r *Robot) addCounter(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counters.names = append(r.counters.names, name)
	r.counters.counts = append(r.counters.counts, 0)
	return len(r.counters.names) - 1
}
