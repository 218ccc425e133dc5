package harness

import (
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// Graces: how long a call may go on after its end before it is abandoned.
const (
	readGrace  = time.Second
	skillGrace = time.Second // beyond the stop reserve
)

// dispatch carries out the calls of one answer in their order. Every booked call gets exactly one observation, also when
// the session ends in the middle.
func (s *session) dispatch() *ending {
	b := s.batch
	for b.next < len(b.calls) && b.halted == nil {
		if b.halted = s.broken(); b.halted != nil {
			break
		}
		s.perform(b, &b.calls[b.next])
	}
	for b.next < len(b.calls) {
		s.refuse(b, &b.calls[b.next], tool.Canceled, "not begun: "+b.halted.message)
	}
	s.stuck.step(b.halted == nil)
	s.batch = nil
	return b.halted
}

// perform one call to its observation.
func (s *session) perform(b *batch, c *call) {
	s.now()
	skill := c.known && c.spec.Class == tool.Skill
	switch {
	case b.finished != "":
		s.refuse(b, c, tool.Canceled, b.finished)
		return
	case c.refused != "":
		s.refuse(b, c, c.refused, c.why)
		if skill {
			s.block(b, c, c.refused)
		}
		return
	case skill && b.blocked != "":
		s.refuse(b, c, tool.PreconditionFailed, b.blocked)
		return
	}
	moves := skill && !s.goal.DryRun
	if moves {
		if e := s.tooLate(); e != nil {
			s.refuse(b, c, tool.Canceled, "not begun: "+e.message)
			b.halted = e
			return
		}
	}
	permission, why := s.h.judge.Decide(c.spec, c.arguments)
	if permission != policy.Deny && (moves || !skill) { // a dry run sends nothing
		if wait, rate, ok := s.h.limiter.Take(c.tool, s.last); !ok {
			s.refuse(b, c, tool.PreconditionFailed, fmt.Sprintf("%s may be called at the rate of %s only; the next call may begin in %.1f s", c.tool, rate, wait.Seconds()))
			s.block(b, c, tool.PreconditionFailed)
			return
		}
	}
	switch permission {
	case policy.Allow:
	case policy.Ask:
		// A dry run does nothing that a person would have to approve, unless the tool is no skill.
		if (moves || !skill) && !s.approve(b, c, why) {
			return
		}
	case policy.Deny:
		s.refuse(b, c, tool.PermissionDenied, fmt.Sprintf("%s is denied (%s)", c.tool, why))
		s.block(b, c, tool.PermissionDenied)
		return
	default:
		s.refuse(b, c, tool.PermissionDenied, fmt.Sprintf("%s has the unknown permission %q", c.tool, permission))
		s.block(b, c, tool.PermissionDenied)
		return
	}
	s.carryOut(b, c)
}

// block keeps the later skills of the same answer from beginning: the model chose them for a world in which this one
// had worked.
func (s *session) block(b *batch, c *call, kind tool.ErrorKind) {
	if b.blocked == "" && (!c.known || c.spec.Class == tool.Skill) {
		b.blocked = fmt.Sprintf("not carried out, because skill %s (call %s) of the same answer failed before it: %s", c.tool, c.id, kind)
	}
}

// tooLate says whether a skill may no longer begin: cancel and stop would not fit into the time that is left.
func (s *session) tooLate() *ending {
	if s.motion.IsZero() {
		return nil
	}
	left := s.motion.Sub(s.last)
	if left > 0 {
		return nil
	}
	reserve := s.h.cfg.StopReserve
	if s.motion.Add(reserve).Equal(s.goal.Deadline) {
		return endOf(ReasonUpstreamTimeout, "%v until the goal's deadline, and stopping a motion is given %v: no skill begins", left+reserve, reserve)
	}
	return endOf(ReasonBudgetWallTime, "%v of the wall-time budget are left, and stopping a motion is given %v: no skill begins", left+reserve, reserve)
}

// carryOut a permitted call and observe it.
func (s *session) carryOut(b *batch, c *call) {
	control := c.spec.Class == tool.Control
	to := PhaseObserve
	if control && c.tool == tool.Finish {
		to = PhaseAccept
	}
	skill := c.spec.Class == tool.Skill && !s.goal.DryRun
	start := s.last
	s.fields.Reset().
		String("tool", c.tool).
		String("class", c.spec.Class.String()).
		Raw("arguments", c.arguments)
	if s.goal.DryRun {
		s.fields.Bool("dry_run", true)
	}
	if skill {
		s.fields.Time("deadline", s.motion)
	}
	var begun *Step // for the observer: the call under way
	if s.obs != nil {
		begun = &Step{
			Index: uint32(len(s.steps) + 1), CallID: c.id, Tool: c.tool, Class: c.spec.Class, Source: c.spec.Source,
			Arguments: string(c.arguments), Start: start,
		}
	}
	s.fire(KindCall, c.id, to, begun)
	if control {
		s.control(b, c, start)
		return
	}
	if skill {
		if err := s.flush(); err != nil {
			b.halted = s.broken()
			s.observe(b, c, tool.Result{ErrorKind: tool.Canceled, Content: "not begun: the record could not be made safe first: " + err.Error(), Source: "harness"}, start)
			return
		}
		s.begun, s.stale = true, true
	}
	result, how := s.invoke(c)
	if skill && how != tool.Returned {
		s.stopAfter(b, c, how)
	}
	if skill {
		result = s.settled(b, c, result)
	}
	s.observe(b, c, result, start)
}

// invoke the tool itself.
func (s *session) invoke(c *call) (tool.Result, tool.Ending) {
	tc := tool.Call{ID: c.id, Session: s.goal.Session, Arguments: c.arguments, Note: s.noter(c.id)}
	how := tool.Invocation{
		After: s.after, Go: s.apart, TimeLimit: c.spec.TimeLimit, Grace: readGrace, DryRun: s.goal.DryRun, Late: s.late,
	}
	if c.spec.Class == tool.Skill && !s.goal.DryRun {
		// A skill's own time limit is kept by the skill, which knows when it is paused. Here it is bounded by what is
		// left of the goal's time.
		tc.Deadline = s.motion
		how.TimeLimit, how.Grace = 0, s.h.cfg.StopReserve+skillGrace
		return tool.Invoke(s.moving, c.impl, c.spec, tc, how)
	}
	return tool.Invoke(s.ctx, c.impl, c.spec, tc, how)
}

// noter is what a tool records with, under its call.
func (s *session) noter(id string) func(string, any) {
	return func(kind string, data any) { s.note(KindTool+Kind(kind), id, data) }
}

// stopAfter stops everything when a skill is out of control.
func (s *session) stopAfter(b *batch, c *call, how tool.Ending) {
	why := "panicked"
	if how == tool.Abandoned {
		why = "did not return"
	}
	err := s.stopAll(fmt.Sprintf("skill %s %s", c.tool, why))
	s.fields.Reset().String("message", fmt.Sprintf("skill %s %s; everything was stopped", c.tool, why)).Text("error", text(err))
	s.record(KindStop, c.id)
	if err != nil {
		b.halted = endOf(ReasonActuatorFault, "skill %s %s, and stopping failed: %v", c.tool, why, err)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// refuse gives a call that was not carried out its observation.
func (s *session) refuse(b *batch, c *call, kind tool.ErrorKind, why string) {
	s.observe(b, c, tool.Result{ErrorKind: kind, Content: why, Source: "harness"}, s.last)
}

// observe records the one result of a call, shows it to the model and keeps it as a step.
func (s *session) observe(b *batch, c *call, r tool.Result, start time.Time) {
	end := s.now()
	whole := s.h.redact.Text(r.Content)
	content, cut := tool.Cut(whole, s.h.cfg.MaxResultBytes, "the whole is in the trace under this call")
	if cut {
		s.fields.Reset().String("whole", whole)
		s.record(KindWhole, c.id)
	}
	step := Step{
		Index: uint32(len(s.steps) + 1), CallID: c.id, Tool: s.h.redact.Text(trace.ValidText(c.tool)), Class: c.spec.Class, Source: r.Source,
		Arguments: s.h.redact.Text(trace.ValidText(c.given)),
		OK:        r.OK, ErrorKind: r.ErrorKind, Content: content, Start: start, End: end,
	}
	s.ids[c.id] = len(s.steps)
	s.steps = append(s.steps, step)
	b.next++
	to := PhaseDispatch
	switch {
	case s.phase == PhaseStop:
		to = PhaseStop
	case b.next == len(b.calls):
		to = PhaseDecide
	}
	s.fields.Reset().
		Uint("index", uint64(step.Index)).
		String("tool", c.tool).
		String("class", c.spec.Class.String()).
		Text("source", r.Source).
		Bool("ok", r.OK).
		Text("error_kind", string(r.ErrorKind)).
		String("content", content)
	if c.spec.Class == tool.Verify {
		s.fields.Bool("passed", r.Passed)
	}
	if len(r.Postconditions) > 0 {
		s.fields.Strings("postconditions", r.Postconditions)
	}
	s.fields.Text("interrupt", r.Interrupt)
	if r.DependencyLost {
		s.fields.Bool("dependency_lost", true)
	}
	s.fields.Time("start", start).Time("end", end)
	s.fire(KindObservation, c.id, to, &s.steps[len(s.steps)-1])
	s.history.Observation(c.id, c.tool, r.OK, Shown(c.spec.Class, r.OK, r.ErrorKind, r.Passed, content))
	s.weigh(b, c, r)
}

// weigh draws the conclusions of a result: what it says about the session's progress, and whether it ends it.
func (s *session) weigh(b *batch, c *call, r tool.Result) {
	s.passed = r.Passed
	s.stuck.call(c, r)
	if !r.OK {
		s.block(b, c, r.ErrorKind)
	}
	s.refused = s.refused && c.spec.Class == tool.Control
	s.denied = r.ErrorKind == tool.PermissionDenied || s.denied && c.spec.Class == tool.Control
	switch {
	case r.DependencyLost:
		s.lost, s.gone = s.lost+1, true
	case c.spec.Class != tool.Control:
		s.lost, s.gone = 0, false
	}
	if b.halted != nil {
		return
	}
	if r.Interrupt != "" {
		reason := Reason(r.Interrupt)
		switch reason.Outcome() {
		case Failed, Interrupted:
		case Done, Unverified, BudgetExhausted:
			reason = ReasonActuatorFault
		default:
			reason = ReasonActuatorFault
		}
		b.halted = endOf(reason, "%s: %s", c.tool, s.h.redact.Text(r.Content))
		return
	}
	if s.lost >= dependencyLimit {
		b.halted = endOf(ReasonDependencyLost, "%d calls in a row found what they depend on gone; the last: %s: %s", s.lost, c.tool, s.h.redact.Text(r.Content))
		return
	}
	if c.spec.Class == tool.Skill && !r.OK && !s.goal.DryRun && !r.ErrorKind.NeverRan() && !s.motion.IsZero() && !s.last.Before(s.motion) {
		var i Interrupt
		if errors.As(s.over, &i) {
			b.halted = endOf(i.Reason, "%s", i.Message)
		}
	}
}

// dependencyLimit: so many calls in a row whose dependency was gone end the session.
const dependencyLimit = 3

// Shown is an observation as the model reads it: a failure begins with its kind, a verdict is said in words.
func Shown(class tool.Class, ok bool, kind tool.ErrorKind, passed bool, content string) string {
	switch {
	case !ok:
		return string(kind) + ": " + content
	case class != tool.Verify:
		return content
	case len(content) > 0 && content[0] == '{':
		// Readers of JSON get JSON: the verdict becomes a member.
		if v, err := tool.ParseStrict([]byte(content)); err == nil {
			if object, isObject := v.(map[string]any); isObject {
				if _, said := object["passed"]; said {
					return content
				}
				var f trace.Fields
				return string(f.Reset().Bool("passed", passed).Raw("observed", []byte(content)).JSON())
			}
		}
	}
	if passed {
		return "passed: " + content
	}
	return "not passed: " + content
}
