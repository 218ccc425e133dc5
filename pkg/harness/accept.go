package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/harness/criteria"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
)

const (
	// verifyLimit bounds a check whose tool names no limit.
	verifyLimit = 10 * time.Second
	// maxDeclared criteria of a model.
	maxDeclared = 32
	// maxSaid bounds what is repeated of a skill's word that did not hold, bytes.
	maxSaid = 1000
)

// verdict of one final answer.
type verdict struct {
	passed bool
	words  string  // for the model: what failed, and what it may do now
	failed string  // for a person: what failed
	end    *ending // nil: the model goes on
}

// finish is the model's final answer as a call. Later calls of the same answer do not begin.
func (s *session) finish(b *batch, c *call) tool.Result {
	var args struct {
		Answer   string   `json:"answer"`
		Evidence []string `json:"evidence"`
	}
	err := json.Unmarshal(c.arguments, &args)
	b.finished = "not carried out: finish came before it in the same answer"
	s.judge(c.id, args.Answer, args.Evidence)
	v := s.verdict
	s.fields.Reset().Bool("passed", v.passed).Int("round", int64(s.rounds)).String("message", v.words)
	s.fire(KindVerdict, c.id, PhaseObserve, nil)
	r := tool.Result{OK: v.passed, Content: v.words, Source: "harness"}
	if !v.passed {
		r.ErrorKind = tool.PostconditionFailed
	}
	if err != nil { // the schema lets nothing through that does not fit
		r = tool.Result{ErrorKind: tool.InvalidArguments, Content: err.Error(), Source: "harness"}
	}
	return r
}

// declare adds the model's criteria, all or none, and only before its first skill: afterwards it could fit them to
// what happened.
func (s *session) declare(c *call) tool.Result {
	fail := func(kind tool.ErrorKind, format string, args ...any) tool.Result {
		return tool.Result{ErrorKind: kind, Content: fmt.Sprintf(format, args...), Source: "harness"}
	}
	var args struct {
		Criteria []string `json:"criteria"`
	}
	if err := json.Unmarshal(c.arguments, &args); err != nil {
		return fail(tool.InvalidArguments, "%v", err)
	}
	if s.begun {
		return fail(tool.PreconditionFailed, "criteria can be declared only before the first skill")
	}
	var (
		added []criteria.Criterion
		errs  []error
	)
	for _, text := range args.Criteria {
		x, err := criteria.Parse(text, s.cfg.Tools, s.cfg.Criteria)
		if err == nil && x.Kind == criteria.ByPerson && s.cfg.Approver == nil {
			err = fmt.Errorf("criterion %q: %w", x.Text, errNobody)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !has(s.declared, x) && !has(added, x) {
			added = append(added, x)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fail(tool.InvalidArguments, "none was added: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if len(s.declared)+len(added) > maxDeclared {
		return fail(tool.InvalidArguments, "none was added: %d criteria are declared already, the limit is %d", len(s.declared), maxDeclared)
	}
	s.declared = append(s.declared, added...)
	return tool.Result{OK: true, Content: fmt.Sprintf("%d criteria are declared", len(s.declared)), Source: "harness"}
}

func has(list []criteria.Criterion, c criteria.Criterion) bool {
	for _, x := range list {
		if x.Text == c.Text {
			return true
		}
	}
	return false
}

// judge a final answer. The verdict is for decide.
func (s *session) judge(callID, answer string, evidence []string) {
	v := &verdict{}
	s.verdict = v
	if s.goal.DryRun {
		v.words = "a dry run proves nothing"
		v.end = endOf(ReasonDryRun, "Nothing was sent: a dry run. The answer would have been: %s", s.h.redact.Text(answer))
		return
	}
	rest, err := s.rest(callID)
	if err != nil {
		v.words = "rest was not measured: " + err.Error()
		if v.end = s.broken(); v.end == nil {
			v.end = endOf(ReasonActuatorFault, "rest was not measured before acceptance: %v", err)
		}
		return
	}
	found, empty := s.verifyAll(callID, rest, answer, evidence)
	if e := s.broken(); e != nil {
		v.words, v.end = e.message, e
		return
	}
	s.verifications, s.stale = found, false
	var failed []string
	for _, f := range found {
		if !f.Passed {
			failed = append(failed, fmt.Sprintf("%s: %s", f.Criterion, f.Evidence))
		}
	}
	if empty != "" {
		failed = append(failed, empty)
	}
	if len(failed) == 0 {
		v.passed, v.words = true, "accepted"
		v.end = endOf(ReasonAccepted, "%s", s.h.redact.Text(answer))
		return
	}
	what := strings.Join(failed, "; ")
	s.rounds++
	s.refused = true
	v.failed, v.words = what, "Not accepted: "+what
	if s.rounds <= s.cfg.AcceptanceRounds {
		v.words += ". Go on with the task, or end with what can be shown to be true."
		return
	}
	v.end = endOf(s.refusedAs(), "Not verified: %s. The model's answer was: %s", what, s.h.redact.Text(answer))
}

// refusedAs is the reason code when the last round of acceptance has failed.
func (s *session) refusedAs() Reason {
	if s.denied && !s.ran && len(s.criteria) == 0 {
		return ReasonPermissionDenied // refused, and no other way was found
	}
	return ReasonUnverified
}

// verifyAll checks everything that acceptance depends on. empty says why not enough stands for the answer.
func (s *session) verifyAll(callID string, rest time.Time, answer string, evidence []string) (found []Verification, empty string) {
	var set []criteria.Criterion
	switch {
	case len(s.criteria) > 0:
		set = s.criteria
	default:
		set, found = s.standing()
	}
	if !s.ran {
		v, vacuous := s.evidence(answer, evidence)
		if !vacuous || len(s.criteria) == 0 {
			found = append(found, v)
			s.verified(callID, v)
		}
		if len(evidence) == 0 && len(s.criteria) == 0 {
			empty = "no skill ran, no criteria were given, and the answer cites no observation: nothing shows that it is true"
		}
	}
	if len(set) == 0 && len(found) == 0 {
		empty = "no criteria were given or declared, and no skill that ran has postconditions: nothing shows that the task is done"
	}
	k := s.checker(callID, rest)
	var people []int // people are asked last, and only if everything else holds
	for _, c := range set {
		if c.Kind == criteria.ByPerson {
			people = append(people, len(found))
			found = append(found, Verification{Criterion: c.Text, Evidence: "not asked, since something else failed"})
			continue
		}
		v := k.judge(c)
		if first, held := s.claims.heldBehind(c.Text); held && k.blind && len(s.criteria) == 0 {
			first.Evidence = fmt.Sprintf("held at rest behind its skill: %s; it cannot be seen again from here (%s)", first.Evidence, v.Evidence)
			v = first
		}
		found = append(found, v)
	}
	for n, i := range people {
		open := people[n:]
		for j, v := range found {
			if !v.Passed && !slices.Contains(open, j) {
				return found, empty
			}
		}
		if empty != "" || s.ended() != nil {
			return found, empty
		}
		for _, c := range set {
			if c.Text == found[i].Criterion {
				found[i] = s.askJudge(callID, c)
				break
			}
		}
	}
	return found, empty
}

// checker runs criteria against the world at rest. Each query is read once.
type checker struct {
	s      *session
	callID string // the call that it is done for; "": none
	rest   time.Time
	read   map[string]tool.Result
	// blind: the last criterion could not be judged from here and now (its source has nothing fresh); it was not found to fail.
	blind bool
}

func (s *session) checker(callID string, rest time.Time) *checker {
	return &checker{s: s, callID: callID, rest: rest, read: map[string]tool.Result{}}
}

// judge one criterion by its tools, and record the verdict.
func (k *checker) judge(c criteria.Criterion) Verification {
	v := Verification{Criterion: c.Text}
	k.blind = false
	switch c.Kind {
	case criteria.ByTool:
		r := k.call(c.Tool, c.Arguments)
		k.blind = !r.OK && r.ErrorKind == tool.StaleState
		v.Passed = r.OK && r.Passed
		v.Evidence = r.Content
		if !r.OK {
			v.Evidence = fmt.Sprintf("%s: %s", r.ErrorKind, r.Content)
		}
	case criteria.ByCEL:
		v.Passed, v.Evidence = k.evaluate(c.Expression)
	case criteria.ByPerson:
		v.Evidence = "a person judges, and was not asked"
	}
	k.s.verified(k.callID, v)
	return v
}

func (s *session) verified(callID string, v Verification) {
	s.fields.Reset().String("criterion", v.Criterion).Bool("passed", v.Passed).String("evidence", v.Evidence)
	s.record(KindVerification, callID)
}

// call a tool for the harness itself: free of the budget, of the goal's list and of the history.
func (k *checker) call(name string, arguments json.RawMessage) tool.Result {
	s := k.s
	impl, spec := s.cfg.Tools.Lookup(name)
	if spec == nil {
		return tool.Result{ErrorKind: tool.UnknownTool, Content: name + " is not in the table"}
	}
	limit := spec.TimeLimit
	if limit == 0 {
		limit = verifyLimit
	}
	var was recordedCheck
	var r tool.Result
	if s.expect(KindCheck, &was) {
		r = was.result()
	} else {
		id := "verify:" + name
		r, _ = tool.Invoke(s.ctx, impl, spec, tool.Call{
			ID: id, Session: s.goal.Session, Arguments: arguments, NotBefore: k.rest, Note: s.noter(id),
		}, tool.Invocation{
			After: s.after, Go: s.apart, TimeLimit: limit, Grace: readGrace,
			Late: s.late,
		})
		r.Content, _ = tool.Cut(s.h.redact.Text(r.Content), s.cfg.MaxResultBytes, "the rest is not kept")
	}
	s.now()
	s.checked(k.callID, name, arguments, r, false)
	return r
}

// recordedCheck is what a tool observed for the harness itself, as it was recorded.
type recordedCheck struct {
	OK        bool           `json:"ok"`
	ErrorKind tool.ErrorKind `json:"error_kind"`
	Content   string         `json:"content"`
	Source    string         `json:"source"`
	Passed    bool           `json:"passed"`
	Rehearsal bool           `json:"rehearsal"`
}

func (c recordedCheck) result() tool.Result {
	return tool.Result{OK: c.OK, ErrorKind: c.ErrorKind, Content: c.Content, Source: c.Source, Passed: c.Passed}
}

// checked records what a tool observed for the harness itself; rehearsal: it was only tried whether a skill would be refused.
func (s *session) checked(callID, name string, arguments json.RawMessage, r tool.Result, rehearsal bool) {
	s.fields.Reset().String("tool", name).Raw("arguments", arguments).Text("source", r.Source).Bool("ok", r.OK).
		Text("error_kind", string(r.ErrorKind)).String("content", r.Content).Bool("passed", r.Passed)
	if rehearsal {
		s.fields.Bool("rehearsal", true)
	}
	s.record(KindCheck, callID)
}

// evaluate a CEL expression over what its query tools observe.
func (k *checker) evaluate(x criteria.Expression) (bool, string) {
	results := map[string]string{}
	var seen []string
	for _, name := range x.Reads() {
		r, ok := k.read[name]
		if !ok {
			r = k.call(name, json.RawMessage("{}"))
			k.read[name] = r
		}
		if !r.OK {
			return false, fmt.Sprintf("%s: %s: %s", name, r.ErrorKind, r.Content)
		}
		results[name] = r.Content
		short, _ := tool.Cut(r.Content, 300, "shortened")
		seen = append(seen, name+" = "+short)
	}
	passed, err := x.Eval(results)
	if err != nil {
		return false, fmt.Sprintf("%v; %s", err, strings.Join(seen, ", "))
	}
	return passed, strings.Join(seen, ", ")
}

// askJudge lets a person decide a criterion.
func (s *session) askJudge(callID string, c criteria.Criterion) Verification {
	v := Verification{Criterion: c.Text}
	digest := policy.Digest(s.self, fmt.Sprintf("accept_%d_%d", s.step, s.rounds), "person", []byte(c.Question))
	answer, err := s.ask(policy.Request{ID: policy.RequestID("accept", digest), Question: c.Question, Digest: digest}, callID)
	switch {
	case err != nil:
		v.Evidence = err.Error()
	default:
		v.Passed = answer.Approved
		v.Evidence = "a person answered " + map[bool]string{true: "yes", false: "no"}[answer.Approved]
		if said := strings.TrimSpace(answer.Text); said != "" {
			v.Evidence += ": " + s.h.redact.Text(said)
		}
	}
	s.verified(callID, v)
	return v
}

// settled judges a skill at rest: its postconditions are checked right behind it, so that a later skill may undo them
// and the earlier one still stands.
func (s *session) settled(b *batch, c *call, r tool.Result) tool.Result {
	if r.NeverRan() {
		return r
	}
	s.ran = true
	post, err := s.postconditions(r.Postconditions)
	switch {
	case !r.OK:
		s.claims.failed(c, post, fmt.Sprintf("%s: %s", r.ErrorKind, r.Content))
		return r
	case r.Interrupt != "":
		s.claims.failed(c, post, r.Interrupt)
		return r
	case len(r.Postconditions) == 0:
		s.claims.succeeded(c, nil, nil)
		return r
	}
	fail := func(kind tool.ErrorKind, why string) tool.Result {
		said, _ := tool.Cut(r.Content, maxSaid, "shortened")
		c.said, c.fitted = &said, false
		r.OK, r.ErrorKind = false, kind
		r.Content = fmt.Sprintf("the skill said that it succeeded (%s), but %s", said, why)
		s.claims.failed(c, post, r.Content)
		return r
	}
	if err != nil {
		return fail(tool.PostconditionFailed, "its postconditions are malformed: "+err.Error())
	}
	rest, err := s.rest(c.id)
	if err != nil {
		if s.ended() != nil {
			return fail(tool.Canceled, "the session ended before its postconditions were checked")
		}
		b.halted = endOf(ReasonActuatorFault, "rest was not measured behind %s: %v", c.tool, err)
		return fail(tool.NotAtRest, "rest was not measured: "+err.Error())
	}
	k := s.checker(c.id, rest)
	var (
		found  []Verification
		failed []string
	)
	for _, p := range post {
		if p.Kind == criteria.ByPerson {
			continue // a person is asked once, at the end
		}
		v := k.judge(p)
		found = append(found, v)
		if !v.Passed {
			failed = append(failed, fmt.Sprintf("%s: %s", v.Criterion, v.Evidence))
		}
	}
	switch {
	case len(failed) == 0:
		s.claims.succeeded(c, post, found)
		return r
	case s.ended() != nil:
		return fail(tool.Canceled, "the session ended while its postconditions were checked")
	}
	return fail(tool.PostconditionFailed, "at rest this does not hold: "+strings.Join(failed, "; "))
}

// postconditions of a skill; one that cannot be parsed is an error of the profile, and never holds.
func (s *session) postconditions(texts []string) (list []criteria.Criterion, err error) {
	for _, text := range texts {
		c, perr := criteria.Parse(text, s.cfg.Tools, s.cfg.Criteria)
		if perr != nil {
			err = errors.Join(err, perr)
			continue
		}
		list = append(list, c)
	}
	return list, err
}
