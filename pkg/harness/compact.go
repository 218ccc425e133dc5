package harness

import "agent_node/pkg/harness/budget"

// Compaction of a session's history: what its requests may grow to. The zero value never compacts.
type Compaction struct {
	// On: the model can go on with a summary of what went before. Models that read the whole history at each step cannot.
	On bool
	// ContextTokens of the model, input and output together; 0: not known. Then only a budget that runs short, and an endpoint that says
	// that its context is full, lead to a compaction.
	ContextTokens uint64
}

const (
	// stepsAhead: so many steps the input tokens that are left have to last, else the history is made shorter. It is early enough to
	// matter: the summary itself has to be read that often.
	stepsAhead = 8
	// fullAt and fillTo are the parts of the context at which the history is made shorter, and to which.
	fullAt, fillTo = 0.8, 0.5
	// leastGain: a compaction that frees less than this part of the history is not worth the prompt cache that it costs.
	leastGain = 0.1
	// growth until a compaction is tried again that was not worth it.
	growth = 1.25
)

// compact the history if the next request would come near the model's context, or if what is left of the input tokens would not last.
// Both are planned together, before the request is reserved.
func (s *session) compact() {
	c := s.cfg.Compaction
	if !c.On {
		return
	}
	size := s.history.Size()
	need := s.likely(size)
	target, why := need, ""
	lower := func(tokens uint64, reason string) {
		if tokens < target {
			target, why = tokens, reason
		}
	}
	if c.ContextTokens > 0 {
		room := c.ContextTokens - min(c.ContextTokens, s.cfg.MaxOutputTokens)
		if float64(need) > fullAt*float64(room) {
			lower(uint64(fillTo*float64(room)), "context")
		}
	}
	if limit := s.account.Limits(); limit.InputTokens > 0 {
		used := s.account.Used(0)
		steps := uint64(stepsAhead)
		if limit.Steps > 0 {
			steps = min(steps, uint64(limit.Steps-min(used.Steps, limit.Steps)))
		}
		left := limit.InputTokens - min(used.InputTokens, limit.InputTokens)
		if steps > 1 && need*steps > left {
			lower(left/steps, "budget")
		}
	}
	if why != "" {
		s.shorten(why, target*size.Weight()/max(need, 1))
	}
}

// likely is what a request counts: by the endpoint's own numbers where there are any, else as ordinary text does.
func (s *session) likely(size budget.Size) uint64 {
	if s.meter.Known() {
		return s.meter.Bound(size)
	}
	return size.Estimate()
}

// shorten the history to a weight of at most target, and say whether that was worth it. What freed nothing is not tried again until there is more
// to free.
func (s *session) shorten(why string, target uint64) bool {
	before := s.history.Size()
	if float64(before.Weight()) < s.futile*growth {
		return false
	}
	c := s.history.Compact(target, s.unmetNow())
	c.Summary = s.h.redact.Text(c.Summary)
	after := before
	if !c.Empty() {
		after = s.history.Without(c)
	}
	if gain := float64(before.Weight()) - float64(after.Weight()); c.Empty() || gain < leastGain*float64(before.Weight()) {
		s.futile = float64(before.Weight())
		return false
	}
	if err := s.history.Apply(c); err != nil {
		panic(err) // it was made for this history
	}
	s.futile = 0
	after = s.history.Size()
	s.meter.Shortened(after, c.Text())
	s.fields.Reset().String("why", why).Uint("bytes_before", before.Bytes).Uint("bytes_after", after.Bytes).
		Uint("messages_before", before.Messages).Uint("messages_after", after.Messages)
	if len(c.Stubs) > 0 {
		s.fields.Strings("stubs", c.Stubs)
	}
	if c.Through > 0 {
		s.fields.Int("through", int64(c.Through)).String("summary", c.Summary)
	}
	s.record(KindCompaction, "")
	return true
}

// unmetNow are the criteria that were not found to hold so far: a summary never loses them.
func (s *session) unmetNow() []string {
	var out []string
	judged := map[string]bool{}
	if !s.stale {
		judged = verdicts(s.verifications)
	}
	add := func(text string) {
		if !judged[text] {
			out = append(out, text)
		}
	}
	for _, c := range s.criteria {
		add(c.Text)
	}
	if len(s.criteria) == 0 {
		for _, c := range s.declared {
			add(c.Text)
		}
	}
	return out
}

// overflowed makes room where the endpoint says that its context is full. Where that is in vain, the sample's error stands.
func (s *session) overflowed() bool {
	if !s.cfg.Compaction.On || !s.shorten("overflow", s.history.Size().Weight()/2) {
		return false
	}
	s.parsed(useError, "the model's context was full; the history was made shorter")
	return true
}
