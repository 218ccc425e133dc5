package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/history"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/trace"
)

// sampleGrace is how long a model may take to notice that its context has ended.
const sampleGrace = 2 * time.Second

// warnings: the model is told when less than these shares of its budget are left.
var warnings = [...]float64{0.1, 0.25}

// assemble the next request and reserve its worst case.
func (s *session) assemble() *ending {
	s.sync()
	if e := s.broken(); e != nil {
		return e
	}
	s.now()
	s.welcome()
	s.warn()
	s.compact()
	size := s.history.Size()
	bound := s.meter.Bound(size)
	own := s.cfg.MaxOutputTokens
	outCap, err := s.account.Reserve(bound, own, s.elapsed())
	if err != nil {
		return exhausted(err)
	}
	s.step++
	s.outCap, s.capBy = outCap, ""
	if outCap < own {
		s.capBy = budget.Cost
		if l, u := s.account.Limits(), s.usage(); l.OutputTokens > 0 && l.OutputTokens-u.OutputTokens == outCap {
			s.capBy = budget.OutputTokens
		}
	}
	s.fields.Reset().
		Uint("step", uint64(s.step)).
		Uint("messages", size.Messages).
		Uint("bytes", size.Bytes).
		Uint("reserved_input_tokens", bound).
		Uint("max_output_tokens", outCap)
	s.fire(KindRequest, "", PhaseSample, nil)
	return nil
}

// exhausted turns what the account refused into an ending.
func exhausted(err error) *ending {
	var x *budget.Exhausted
	if errors.As(err, &x) {
		return endOf(Reason("budget_"+string(x.Dimension)), "%v", x)
	}
	return endOf(ReasonBadRequest, "%v", err)
}

// warn tells the model once when little is left. Being part of the history, it leaves the prefix as it was.
func (s *session) warn() {
	elapsed := s.elapsed()
	dim, left := s.account.Left(elapsed)
	for _, share := range warnings {
		if left <= share && s.told > share {
			s.told = share
			s.tell(fmt.Sprintf("Little is left of the budget of %s: %s. Finish soon.", dim, history.Left(s.account.Limits(), s.account.Used(elapsed))))
			return
		}
	}
}

// tell appends words of the harness to the history.
func (s *session) tell(text string) {
	text = s.h.redact.Text(trace.ValidText(text))
	s.history.Note(text)
	s.fields.Reset().String("text", text)
	s.record(KindNote, "")
}

// sample asks the model and books what it used.
func (s *session) sample() (model.Response, error) {
	r := s.history.Request()
	r.MaxOutputTokens = s.outCap
	r.Deadline = s.rawTime(earlier(s.wallEnd, s.goal.Deadline))
	r.Observe = s.observed
	size := s.history.Size()
	r.Afford = s.afford(s.meter.Bound(size), s.outCap)
	asked := s.last
	response, err := s.askModel(s.ctx, KindResponse, r)
	s.now()
	if err != nil {
		response.Text, response.Calls = "", nil // nothing of a failed answer is used
	}
	s.shown(&response)
	input, output := s.count(size, response, err)
	s.book(response, input, output)
	s.fields.Reset().Uint("step", uint64(s.step))
	s.answerFields(&response, err, asked)
	s.fire(KindResponse, "", PhaseParse, nil)
	return response, err
}

// book what a sample used.
func (s *session) book(r model.Response, input, output uint64) {
	paid := r.Wasted.Plus(model.Usage{InputTokens: input, OutputTokens: output})
	s.account.Sampled(paid.InputTokens, paid.OutputTokens)
}

// answerFields writes what came of a sample that was asked for then.
func (s *session) answerFields(response *model.Response, err error, asked time.Time) {
	s.fields.Text("text", response.Text)
	s.callsField(response.Calls)
	s.fields.Text("finish", string(response.Finish)).
		Bool("usage_known", response.Usage.Known).
		Uint("input_tokens", response.Usage.InputTokens).
		Uint("output_tokens", response.Usage.OutputTokens).
		Uint("cached_tokens", response.Usage.CachedTokens)
	if response.Usage.ReasoningTokens > 0 {
		s.fields.Uint("reasoning_tokens", response.Usage.ReasoningTokens)
	}
	if w := response.Wasted; w.InputTokens > 0 || w.OutputTokens > 0 {
		s.fields.Uint("wasted_input_tokens", w.InputTokens).Uint("wasted_output_tokens", w.OutputTokens)
	}
	s.fields.Int("took_ns", int64(s.last.Sub(asked)))
	if err != nil {
		s.errorFields(err)
	}
}

// shown makes of an answer what the record shows of it, so that the loop goes on with the same: valid text, and no secrets. Arguments stay
// as they are but for secrets, since what is no UTF-8 is an error in them.
func (s *session) shown(r *model.Response) {
	r.Text = s.h.redact.Text(trace.ValidText(r.Text))
	for i := range r.Calls {
		c := &r.Calls[i]
		c.ID, c.Tool, c.Arguments = s.h.redact.Text(trace.ValidText(c.ID)), s.h.redact.Text(trace.ValidText(c.Tool)), s.h.redact.Text(c.Arguments)
	}
}

// askModel asks the model, or takes what it answered by the record, of which an event of that kind tells.
func (s *session) askModel(ctx context.Context, kind Kind, r model.Request) (model.Response, error) {
	if s.script != nil {
		var was recordedResponse
		if s.expect(kind, &was) {
			return was.response()
		}
	}
	q := s.question
	if q == nil {
		q = newQuestion(s.cfg.Model)
		s.question = q
	}
	q.request = r
	response, usable, err := q.do(ctx, s.cfg.Clock, s.relay, s.apart, sampleGrace)
	if !usable {
		s.question = nil // it is the model's for ever
	}
	return response, err
}

// question is what asking a model needs while it is under way; the samples of a session use it one after another.
type question struct {
	*guard[model.Response]
	request model.Request
}

func newQuestion(m model.Model) *question {
	q := &question{}
	q.guard = newGuard("the model", func(ctx context.Context) (model.Response, error) { return m.Sample(ctx, q.request) })
	return q
}

// errorFields writes what is decided on by an error of the model.
func (s *session) errorFields(err error) {
	s.fields.String("error", err.Error())
	if errors.Is(err, model.ErrContextOverflow) {
		s.fields.Bool("context_overflow", true)
	}
	var x *budget.Exhausted
	if errors.As(err, &x) {
		s.fields.Any("exhausted", x)
	}
}

// afford decides on what a model adapter asks more than once: each try is reserved at its worst like a step of its own, beside what the
// ones before it used. It may be called by the sample's goroutine after the session has given that up, so it works on a copy.
func (s *session) afford(bound, own uint64) func(model.Usage) (uint64, error) {
	account, elapsed := *s.account, s.elapsed()
	return func(wasted model.Usage) (uint64, error) {
		then := account.After(wasted.InputTokens, wasted.OutputTokens)
		return then.Reserve(bound, own, elapsed)
	}
}

// callsField writes the calls of an answer as they were made.
func (s *session) callsField(calls []model.Call) {
	if len(calls) == 0 {
		return
	}
	s.fields.List("calls", len(calls), func(i int, o *trace.Fields) {
		c := &calls[i]
		o.String("id", c.ID).String("name", c.Tool).String("arguments", c.Arguments)
		if !utf8.ValidString(c.Arguments) {
			o.Any("arguments_raw", []byte(c.Arguments))
		}
	})
}

// modelNote records what a model adapter tells about its retries and the like.
func (s *session) modelNote(kind string, data any) {
	s.note(KindModel, "", map[string]any{"kind": kind, "data": trace.Marshal(data)})
}

// count returns the tokens to book: the endpoint's own numbers or the adapter's, else an estimate. A failed request whose usage nobody
// counted is not guessed at.
func (s *session) count(size budget.Size, r model.Response, err error) (input, output uint64) {
	if u := r.Usage; u.Known && u.InputTokens > 0 && err == nil {
		s.meter.Counted(size, u.InputTokens)
	}
	return tokensOf(size, r, err)
}

func tokensOf(size budget.Size, r model.Response, err error) (input, output uint64) {
	if u := r.Usage; u.InputTokens > 0 || u.OutputTokens > 0 {
		return u.InputTokens, u.OutputTokens
	}
	if err != nil {
		return 0, 0
	}
	n := len(r.Text)
	for _, c := range r.Calls {
		n += len(c.ID) + len(c.Tool) + len(c.Arguments)
	}
	return size.Estimate(), budget.EstimateText(n)
}

// What an answer is.
const (
	useCalls    = "calls"
	useAnswer   = "answer"
	useUnusable = "unusable"
	useError    = "error"
)

// unusableLimit: so many unusable answers in a row are a model error.
const unusableLimit = 3

// parse decides what an answer is.
func (s *session) parse(r model.Response, err error) *ending {
	if err != nil {
		if errors.Is(err, model.ErrContextOverflow) && s.overflowed() {
			return nil
		}
		s.parsed(useError, err.Error())
		if e := s.broken(); e != nil {
			return e
		}
		return s.modelFailed(err)
	}
	if err := s.account.Over(); err != nil {
		s.parsed(useUnusable, err.Error())
		return exhausted(err)
	}
	text := strings.TrimSpace(r.Text)
	switch r.Finish {
	case model.FinishRefusal:
		s.parsed(useError, "refusal")
		return endOf(ReasonModelError, "the model declines: %s", text)
	case model.FinishFilter:
		s.parsed(useError, "content filter")
		return endOf(ReasonModelError, "the model's endpoint filtered its answer: %s", text)
	case model.FinishInfeasible:
		s.parsed(useAnswer, "infeasible")
		return s.gaveUp(text)
	case model.FinishLength:
		if s.capBy != "" {
			s.parsed(useUnusable, "cut off by the budget")
			return endOf(Reason("budget_"+string(s.capBy)), "the answer was cut off at the %d output tokens that the budget of %s left", s.outCap, s.capBy)
		}
		return s.unusableAnswer(r, fmt.Sprintf("Your answer was cut off at %d tokens. Nothing of it was carried out. Write a shorter one.", s.outCap))
	case model.FinishStop, model.FinishToolCalls:
	default:
		return s.unusableAnswer(r, fmt.Sprintf("Your answer ended for an unknown reason (%q), so it may be incomplete. Nothing of it was carried out.", r.Finish))
	}
	switch {
	case len(r.Calls) > 0:
		s.unusable = 0
		return s.accepted(r, false)
	case text == "":
		return s.unusableAnswer(r, "Your answer was empty. Call a tool, or end with finish.")
	}
	s.unusable = 0
	s.history.Assistant(r.Text, nil)
	s.fields.Reset().String("use", useAnswer)
	s.fire(KindParsed, "", PhaseAccept, nil)
	s.judge("", text, nil)
	v := s.verdict
	if v.end == nil {
		s.tell(v.words)
	}
	s.fields.Reset().Bool("passed", v.passed).Int("round", int64(s.rounds)).String("message", v.words)
	s.fire(KindVerdict, "", PhaseDecide, nil)
	return nil
}

// modelFailed ends a session whose sample failed: by the budget where that allowed no further try, else as the model's error.
func (s *session) modelFailed(err error) *ending {
	var x *budget.Exhausted
	if errors.As(err, &x) {
		return endOf(Reason("budget_"+string(x.Dimension)), "%s: %v", s.cfg.Model.Name(), err)
	}
	return endOf(ReasonModelError, "%s: %v", s.cfg.Model.Name(), err)
}

// parsed records an answer that leads to no call and no acceptance.
func (s *session) parsed(use, why string) {
	s.fields.Reset().String("use", use).String("message", why)
	s.fire(KindParsed, "", PhaseDecide, nil)
}

// unusableAnswer goes back to the model; too many in a row are a model error. Its calls are never carried out, and the
// history keeps its words only.
func (s *session) unusableAnswer(r model.Response, why string) *ending {
	s.parsed(useUnusable, why)
	s.unusable++
	if s.unusable >= unusableLimit {
		return endOf(ReasonModelError, "%d unusable answers in a row; the last: %s", s.unusable, why)
	}
	s.history.Assistant(wordsOf(r.Text), nil)
	s.tell(why)
	return nil
}

// gaveUp ends a session whose model says that the task cannot be done, by what really stood in the way.
func (s *session) gaveUp(text string) *ending {
	switch {
	case s.gone:
		return endOf(ReasonDependencyLost, "%s", text)
	case s.denied:
		return endOf(ReasonPermissionDenied, "%s", text)
	case s.refused: // the deed was done, and acceptance did not find what was to come of it
		return endOf(s.refusedAs(), "%s", text)
	}
	return endOf(ReasonInfeasible, "%s", text)
}
