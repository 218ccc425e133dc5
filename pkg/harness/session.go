package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/criteria"
	"agent_node/pkg/harness/history"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// ending is why a session ends. The functions of the loop return one to end it, nil to go on.
type ending struct {
	reason  Reason
	message string
}

func endOf(r Reason, format string, args ...any) *ending {
	return &ending{r, fmt.Sprintf(format, args...)}
}

// session is one goal's run. Its goroutine owns every field; only note may be called from others.
type session struct {
	h    *Harness
	cfg  *Config // the harness's; of a session that goes on from a record, its own
	goal Goal
	obs  Observer
	log  trace.Log

	relay    *relay // to the model's and the tools' code, one after another; nil: a replay, which has none
	workers  *workers
	question *question                               // to the model, for all samples one after another
	flights  tool.Flights                            // for all calls one after another
	apart    func(func())                            // runs somebody else's code in another goroutine
	after    func(time.Duration, func()) func() bool // the clock's AfterFunc
	late     func(tool.Call, tool.Result)            // records what an abandoned call observed in the end
	observed func(string, any)                       // records what a model adapter tells
	ctx      context.Context
	safe     context.Context // ctx without its end: for what must go on when ctx ends
	cancel   context.CancelCauseFunc
	moving   context.Context // ctx, ended when a motion must be over: the context of skills
	halt     context.CancelCauseFunc
	timers   []func() bool // stop what ends these two in time
	raw      time.Time     // a reading of the clock,
	anchor   time.Time     // and the wall time that it stands for
	start    time.Time     // this and what follows count from the anchor
	last     time.Time     // newest reading of the clock
	waited   time.Duration // for people, where that does not count
	wallEnd  time.Time     // end of the wall-time budget; zero: none
	motion   time.Time     // when a motion must be over, the stop reserve kept; zero: never
	over     error         // the Interrupt with which a motion ends then

	phase  Phase
	asking bool // a person is asked
	step   uint32
	fields trace.Fields

	account  *budget.Account
	meter    budget.Meter
	history  *history.History
	unsummed int              // summaries of the model in a row that could not be used
	futile   float64          // size of the history at which it could not be made shorter, bytes
	told     float64          // the share of the budget that the model was last told is left
	outCap   uint64           // cap of the current sample
	capBy    budget.Dimension // what set that cap, where it is less than the model's own

	allowed  map[string]bool // nil: all
	steps    []Step
	seen     int            // steps that are recorded
	ids      map[string]int // call id -> index in steps, or -1 while it has no observation
	batch    *batch
	spent    *batch // the memory of the next one; nil: none
	restless bool   // rest could not be measured for as long as there was time
	begun    bool   // a skill was begun: something may have moved
	ran      bool   // a skill ran
	stuck    stuck
	unusable int  // unusable answers in a row
	lost     int  // lost dependencies in a row
	denied   bool // the last call was, and no other followed
	refused  bool // acceptance refused the last answer, and no call followed
	gone     bool // the last failed call had lost its dependency

	criteria      []criteria.Criterion // of the caller
	declared      []criteria.Criterion // by the model
	understood    understanding        // of the task, by the harness
	claims        claims
	rounds        int
	verdict       *verdict
	verifications []Verification // of the last judgement
	stale         bool           // a skill began since
	gates         []Verification // of a plan's stages
	overlong      string         // what of the goal was too much and has been cut, so that it is refused

	traceErr    error
	interrupted *ending                   // what ended the session from outside, once that was noticed
	cutAt       atomic.Pointer[time.Time] // when its motions were to end, on the clock
	script      *script                   // what a record says of everything outside; nil: it is live
	self        string                    // what approvals are bound to: the session's name; where it goes by a record, that one's
	resumes     string                    // the session that it goes on with
	claimed     bool                      // it has claimed that session's record,
	spentBy     uint64                    // when it had used so many tokens,
	carried     bool                      // and has carried out a call since
	resumed     bool                      // the model is to be told that the session goes on
	cut         string                    // the call that was canceled as its process ended
}

func newSession(h *Harness, g Goal, o Observer) *session {
	s := &session{
		h: h, cfg: &h.cfg, goal: g, obs: o, phase: PhaseIdle, ids: map[string]int{}, told: 1, workers: newWorkers(),
		safe: context.Background(),
	}
	s.apart, s.after, s.observed = s.workers.run, h.cfg.Clock.AfterFunc, s.modelNote
	s.self = g.Session
	s.goal.Task = h.redact.Text(trace.ValidText(g.Task))
	if g.Plan != nil {
		p := g.Plan.Canonical()
		s.goal.Plan = &p
	}
	s.goal, s.overlong = bound(s.goal)
	s.drop(h.cfg.Clock.Now())
	s.start = s.last
	if !g.Deadline.IsZero() {
		s.goal.Deadline = s.anchor.Add(g.Deadline.Sub(s.raw))
	}
	s.late = func(c tool.Call, r tool.Result) { s.note(KindLate, c.ID, r) }
	return s
}

// run is the session from its first to its last event.
func (s *session) run(ctx context.Context) (r Result) {
	var release context.CancelFunc = func() {}
	defer func() { release() }()
	e := func() (e *ending) {
		defer func() {
			if p := recover(); p != nil {
				e = s.thrown(p)
			}
		}()
		if e := s.open(ctx, &release); e != nil {
			return e
		}
		if s.goal.Plan != nil {
			return s.runPlan()
		}
		return s.loop()
	}()
	return s.end(e)
}

// thrown turns a panic of the loop into an ending: an internal error, or where a session's record cannot be followed any further.
func (s *session) thrown(p any) *ending {
	d, differs := p.(*Difference)
	switch {
	case s.script != nil && !s.script.resume:
		panic(p) // the replay's
	case s.script != nil && differs:
		s.script = nil
		if b := s.batch; b != nil && len(s.steps) > s.seen { // its observation is what differs: it has none yet
			s.steps = s.steps[:s.seen]
			b.next--
			b.calls[b.next].done = false
		}
		s.now()
		s.arm()
		return endOf(ReasonBadRequest, "the session cannot go on, since today's loop would not have come here: %v", d)
	}
	return s.internal(p)
}

// internal turns a panic of the loop into an ending.
func (s *session) internal(p any) *ending {
	s.cfg.Logger.Error("internal error", "session", s.goal.Session, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	s.note(KindFault, "", map[string]any{"message": fmt.Sprint(p), "stack": string(debug.Stack())})
	return endOf(ReasonDependencyLost, "internal error of the harness: %v", p)
}

// open checks the goal and writes the first event.
func (s *session) open(ctx context.Context, release *context.CancelFunc) *ending {
	if e := s.takeUp(); e != nil {
		return e
	}
	cfg := s.cfg
	s.ctx, s.safe = ctx, context.WithoutCancel(ctx)
	sink := cfg.Trace
	if sink == nil {
		sink = &trace.Memory{}
	}
	if !trace.ValidSession(s.goal.Session) {
		return endOf(ReasonBadRequest, "session %q must be 1 to 64 letters, digits, '-' and '_'", s.goal.Session)
	}
	log, err := sink.Open(s.goal.Session)
	if err != nil {
		return endOf(ReasonDependencyLost, "the record cannot be opened, and nothing is done without it: %v", err)
	}
	s.log = log

	limits := s.goal.Budget
	if s.script == nil {
		limits = budget.Effective(s.goal.Budget, cfg.Defaults, cfg.Maxima)
	}
	bad := s.check(limits)
	if s.account == nil { // the goal is refused; it still has an account, for the result
		s.account, _ = budget.Open(budget.Limits{}, budget.Prices{})
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.moving, s.halt = context.WithCancelCause(s.ctx)
	unnote := s.noteEnd()
	unwatch := s.watch()
	*release = func() { s.disarm(); unwatch(); unnote(); s.halt(nil); s.cancel(nil) }
	s.deadlines()
	s.arm()

	tools := s.tools()
	system := s.system(history.Prompt{
		Facts: cfg.Facts, Criteria: s.goal.Criteria, Limits: limits, DryRun: s.goal.DryRun, Tools: tools,
	})
	s.history = history.New(system, s.goal.Task, tools)
	s.fields.Reset().
		Int("version", recordVersion).
		String("task", s.goal.Task).
		Strings("criteria", s.goal.Criteria).
		Strings("allowed_tools", s.goal.AllowedTools).
		Bool("dry_run", s.goal.DryRun).
		Time("deadline", s.goal.Deadline).
		Any("limits", limits).
		Any("prices", cfg.Prices).
		String("model", cfg.Model.Name()).
		Uint("max_output_tokens", cfg.MaxOutputTokens).
		Int("acceptance_rounds", int64(cfg.AcceptanceRounds)).
		Int("stop_reserve_ns", int64(cfg.StopReserve)).
		Int("max_result_bytes", int64(cfg.MaxResultBytes)).
		Bool("wait_free", cfg.WaitFree).
		Bool("compaction", cfg.Compaction.On).
		Bool("model_summaries", cfg.Compaction.ByModel).
		Uint("context_tokens", cfg.Compaction.ContextTokens).
		Bool("approver", cfg.Approver != nil).
		Bool("settles", cfg.Settle != nil).
		Raw("policy", s.h.policyJSON).
		Text("facts", cfg.Facts).
		String("system", system).
		Raw("tools", s.toolsJSON()).
		Raw("table", s.h.tableJSON)
	if s.allowed != nil {
		s.fields.Raw("others", s.othersJSON())
	}
	if s.goal.Plan != nil {
		s.fields.Any("plan", s.goal.Plan)
	}
	s.fields.Text("overlong", s.overlong)
	if u := s.understood; len(u.Criteria)+len(u.Moves) > 0 {
		s.fields.Any("understood", u)
	}
	if s.resumes != "" {
		s.fields.String("resumes", s.resumes).String("identity", s.self)
	}
	s.fire(KindSession, "", PhaseAssemble, nil)
	cfg.Logger.Info("session begins", "session", s.goal.Session, "task", Echo(s.h.redact.Text(s.goal.Task)))
	return bad
}

// watch the contexts of what the session lends its goroutine to.
func (s *session) watch() (stop func()) {
	if s.relay == nil {
		return func() {}
	}
	one, two := context.AfterFunc(s.ctx, s.relay.Look), context.AfterFunc(s.moving, s.relay.Look)
	return func() { one(); two() }
}

// system prompt of the session or of a stage. What a record says stays as it was: a newer prompt decides nothing about it.
func (s *session) system(p history.Prompt) string {
	today := s.h.redact.Text(trace.ValidText(history.System(p)))
	if s.script == nil {
		return today
	}
	var was struct{ System string }
	if e := s.peek(); e != nil && json.Unmarshal(e.Data, &was) == nil && was.System != "" && was.System != today {
		s.script.notes = append(s.script.notes, fmt.Sprintf("event %d: the system prompt of today differs from the recorded one, which was used", e.Seq))
		return was.System
	}
	return today
}

// check says what is wrong with a goal, and keeps what it parsed.
func (s *session) check(limits budget.Limits) *ending {
	cfg := s.cfg
	if strings.TrimSpace(s.goal.Task) == "" && s.goal.Plan == nil {
		return endOf(ReasonBadRequest, "the goal has neither task nor plan")
	}
	if err := s.goal.Budget.Check(); err != nil {
		return endOf(ReasonBadRequest, "%v", err)
	}
	account, err := budget.Open(limits, cfg.Prices)
	if err != nil {
		return endOf(ReasonBadRequest, "%v", err)
	}
	s.account = account
	if s.overlong != "" {
		return endOf(ReasonBadRequest, "%s", s.overlong)
	}
	var errs []error
	if len(s.goal.AllowedTools) > 0 {
		s.allowed = map[string]bool{}
		for _, name := range s.goal.AllowedTools {
			if _, ok := cfg.Tools.Get(name); !ok {
				errs = append(errs, fmt.Errorf("allowed tool %q is not in the table", clip(name)))
			}
			s.allowed[name] = true
		}
	}
	for _, text := range s.goal.Criteria {
		c, err := criteria.Parse(text, cfg.Tools, cfg.Criteria)
		if err == nil && c.Kind == criteria.ByPerson && cfg.Approver == nil {
			err = fmt.Errorf("criterion %q: nobody can be asked here", c.Text)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !has(s.criteria, c) { // equal ones are judged once
			s.criteria = append(s.criteria, c)
		}
	}
	if s.goal.Plan != nil {
		errs = append(errs, s.checkPlan())
	}
	s.understand()
	if err := errors.Join(errs...); err != nil {
		text, _ := tool.Cut(strings.ReplaceAll(err.Error(), "\n", "; "), maxReasons, "the rest is not told")
		return endOf(ReasonBadRequest, "%s", text)
	}
	return nil
}

// maxReasons bounds what is told of a bad request, bytes.
const maxReasons = 16 << 10

// tools that the model is shown: those that the goal allows, and the built-in ones.
func (s *session) tools() []model.Tool {
	if s.allowed == nil {
		return s.h.all
	}
	var out []model.Tool
	for _, d := range s.h.definitions {
		if s.permitted(&d.spec) {
			out = append(out, d.seen)
		}
	}
	return out
}

// toolsJSON is tools as the record shows them, othersJSON are those that the goal does not allow.
func (s *session) toolsJSON() []byte  { return s.definitions(true) }
func (s *session) othersJSON() []byte { return s.definitions(false) }

func (s *session) definitions(permitted bool) []byte {
	b := []byte{'['}
	for _, d := range s.h.definitions {
		if s.permitted(&d.spec) == permitted {
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(b, d.json...)
		}
	}
	return append(b, ']')
}

// permitted by the goal's list of allowed tools.
func (s *session) permitted(spec *tool.Spec) bool {
	return s.allowed == nil || spec.Class == tool.Control || s.allowed[spec.Name]
}

// loop runs step after step until something ends the session.
func (s *session) loop() *ending {
	for {
		if e := s.assemble(); e != nil {
			return e
		}
		response, err := s.sample()
		if e := s.parse(response, err); e != nil {
			return e
		}
		if s.phase == PhaseDispatch {
			if e := s.dispatch(); e != nil {
				return e
			}
		}
		if e := s.decide(); e != nil {
			return e
		}
	}
}

// decide whether the session goes on.
func (s *session) decide() *ending {
	if e := s.broken(); e != nil {
		return e
	}
	if v := s.verdict; v != nil {
		s.verdict = nil
		if v.end != nil {
			return v.end
		}
	}
	if e := s.stuck.end(); e != nil {
		return e
	}
	s.fields.Reset().Uint("step", uint64(s.step)).String("next", "assemble").Int("elapsed_ns", int64(s.elapsed()))
	s.fire(KindDecision, "", PhaseAssemble, nil)
	return nil
}

// broken says whether the session was interrupted or can no longer be recorded.
func (s *session) broken() *ending { return s.ended() }

// ended notices what ends the session from outside: an interrupt, its time, a record that cannot be written. It is an event, so that a
// replay notices it at the same place.
func (s *session) ended() *ending {
	if s.interrupted != nil {
		return s.interrupted
	}
	var e *ending
	switch {
	case s.script != nil:
		var d struct{ Reason, Message string }
		if !s.next(KindInterrupt, "", &d) {
			return nil
		}
		e = &ending{Reason(d.Reason), d.Message}
	case s.traceErr != nil:
		e = endOf(ReasonDependencyLost, "the record cannot be written, and nothing is done without it: %v", s.traceErr)
	case s.ctx.Err() != nil:
		e = interruption(s.ctx)
	default:
		return nil
	}
	s.interrupt(e)
	return e
}

// interrupt the session: what is under way ends by itself, nothing begins.
func (s *session) interrupt(e *ending) {
	s.interrupted = e
	var f trace.Fields // an event may be under construction in s.fields
	s.write(KindInterrupt, "", s.state(), f.Reset().String("reason", string(e.reason)).String("message", e.message).JSON())
}

// interruption reads the cause with which a context was ended.
func interruption(ctx context.Context) *ending {
	cause := context.Cause(ctx)
	var i Interrupt
	switch {
	case errors.As(cause, &i):
		switch i.Reason.Outcome() {
		case Failed, BudgetExhausted, Interrupted:
			return endOf(i.Reason, "%s", message(i))
		case Done, Unverified: // no interrupt can make a success
		}
		return endOf(ReasonCanceled, "%s", message(i))
	case errors.Is(cause, context.DeadlineExceeded):
		return endOf(ReasonUpstreamTimeout, "the caller's deadline is over")
	}
	return endOf(ReasonCanceled, "%v", cause)
}

func message(i Interrupt) string {
	if i.Message != "" {
		return i.Message
	}
	return string(i.Reason)
}
