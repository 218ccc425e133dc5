package guard

// Pair is a state and an event of the table, as transitions name them.
type Pair struct {
	From  State
	Event string
}

// ChangingRules are the pairs whose rule changes the state.
func ChangingRules() (pairs []Pair) {
	for _, r := range rules {
		for _, s := range r.from {
			if s != r.to {
				pairs = append(pairs, Pair{s, r.on.String()})
			}
		}
	}
	return pairs
}

// States are all states.
func States() (all []State) {
	for s := range State(len(stateInfo)) {
		all = append(all, s)
	}
	return all
}
