package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/history"
	"agent_node/pkg/harness/model"
)

// Compaction of a session's history: what its requests may grow to. The zero value never compacts.
type Compaction struct {
	// On: the model can go on with a summary of what went before. Models that read the whole history at each step cannot.
	On bool
	// ByModel: where the budget allows it, the model sums up what is taken away. What the rule keeps is kept all the same, and the rule's
	// summary stands where the model's cannot be had.
	ByModel bool
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
	// summaryTokens caps what the model may say in summing up.
	summaryTokens = 1024
	// summaryTime is how long the model may take for it.
	summaryTime = time.Minute
	// mostUnsummed: after so many summaries in a row that could not be used the model is not asked for any more.
	mostUnsummed = 2
)

// summaryWords ask the model to sum up.
const summaryWords = "What stands above has to make room. Sum up for yourself what you will need of it to finish the task: what was tried and what came of it, " +
	"what you found out and where (name the ids of the calls), what you meant to do next. At most 300 words, no tool call. " +
	"The criteria that do not hold yet, the newest result of each tool and the last answers are kept without you."

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
		s.shorten(why, target*size.Weight()/max(need, 1), stepsAhead*target)
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
// ahead are the input tokens that the next steps will need; 0: not known.
func (s *session) shorten(why string, target, ahead uint64) bool {
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
	c = s.retold(why, c, ahead)
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

// retold asks the model to sum up what a compaction takes away, where that is affordable and worth while. Whatever comes of it, the
// compaction that is returned loses nothing that the one by rule keeps.
func (s *session) retold(why string, c history.Compaction, ahead uint64) history.Compaction {
	// Where input tokens run short or the context is full already, one more request of that size is the wrong way.
	if !s.cfg.Compaction.ByModel || why != "context" || c.Through == 0 || s.unsummed >= mostUnsummed {
		return c
	}
	size := s.history.Size()
	size.Bytes += uint64(len(summaryWords))
	size.Messages++
	bound, most := s.meter.Bound(size), min(summaryTokens, s.cfg.MaxOutputTokens)
	if !s.affordsSummary(bound, ahead) {
		return c
	}
	r := s.history.Summarizing(c.Through, summaryWords)
	r.MaxOutputTokens = most
	r.Deadline = s.rawTime(earlier(s.wallEnd, s.goal.Deadline))
	r.Observe, r.Afford = s.observed, s.afford(bound, most)
	s.fields.Reset().Int("through", int64(c.Through)).Uint("reserved_input_tokens", bound).Uint("max_output_tokens", most).String("words", summaryWords)
	s.record(KindSummarize, "")
	asked := s.last
	response, err := s.askInTime(r)
	s.now()
	if err != nil {
		response.Text, response.Calls = "", nil
	}
	s.shown(&response)
	input, output := tokensOf(size, response, err)
	s.book(response, input, output)
	used := err == nil && response.Finish == model.FinishStop && len(response.Calls) == 0 && strings.TrimSpace(response.Text) != ""
	s.fields.Reset().Bool("used", used)
	s.answerFields(&response, err, asked)
	s.record(KindSummary, "")
	if !used {
		s.unsummed++
		return c
	}
	s.unsummed = 0
	again := s.history.Retold(c, s.unmetNow(), response.Text)
	again.Summary = s.h.redact.Text(again.Summary)
	before, after := s.history.Size().Weight(), s.history.Without(again).Weight()
	if float64(before)-float64(after) < leastGain*float64(before) {
		return c
	}
	return again
}

// askInTime asks for a summary, which is not waited for as long as for a step: there is one by rule.
func (s *session) askInTime(r model.Request) (model.Response, error) {
	if s.script != nil || s.relay == nil {
		return s.askModel(s.ctx, KindSummary, r)
	}
	ctx, done := within(s.ctx, s.cfg.Clock, summaryTime, fmt.Errorf("no summary within %v", summaryTime))
	defer done()
	defer context.AfterFunc(ctx, s.relay.Look)()
	return s.askModel(ctx, KindSummary, r)
}

// affordsSummary says whether a summary by the model, at its worst, leaves enough of every dimension for the steps that it is made for.
func (s *session) affordsSummary(bound, ahead uint64) bool {
	elapsed := s.elapsed()
	most, err := s.account.Reserve(bound, summaryTokens, elapsed)
	if err != nil || most < summaryTokens {
		return false
	}
	if l := s.account.Limits().Steps; l > 0 && uint64(l) <= uint64(s.account.Used(elapsed).Steps)+1+stepsAhead {
		return false
	}
	then := s.account.After(bound, summaryTokens)
	most, err = then.Reserve(ahead, stepsAhead*summaryTokens, elapsed)
	return err == nil && most == stepsAhead*summaryTokens
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
	if !s.cfg.Compaction.On || !s.shorten("overflow", s.history.Size().Weight()/2, 0) {
		return false
	}
	s.parsed(useError, "the model's context was full; the history was made shorter")
	return true
}
