package harness

import (
	"fmt"
	"slices"
	"time"

	"agent_node/pkg/harness/tool"
)

// Graces: how long a call may go on after its end before it is abandoned.
const (
	readGrace  = time.Second
	skillGrace = time.Second // beyond the stop reserve
)

// carryOut the calls of a group that were admitted, left of them, at the same time. Each has its result afterwards.
func (s *session) carryOut(b *batch, group []call, left int) {
	skill := false
	for i := range group {
		c := &group[i]
		if c.done {
			continue
		}
		s.sync()
		switch { // where it was interrupted in between
		case s.interrupted != nil:
			c.refuse(tool.Canceled, "not begun: "+s.interrupted.message)
		case b.finished != "":
			c.refuse(tool.Canceled, b.finished)
		}
		if c.done {
			left--
			continue
		}
		s.begin(c, i)
		skill = skill || c.spec.Class == tool.Skill
	}
	skill = skill && !s.goal.DryRun
	if skill {
		if err := s.flush(); err != nil {
			b.halted = s.broken()
			for i := range group {
				if c := &group[i]; !c.done {
					c.refuse(tool.Canceled, "not begun: the record could not be made safe first: "+err.Error())
				}
			}
			return
		}
		s.begun, s.stale = true, true
	}
	if left == 1 {
		s.runAlone(b, group)
	} else {
		s.runTogether(b, group)
	}
	if !skill {
		return
	}
	for i := range group { // once all have come to rest
		if c := &group[i]; c.ran {
			c.result = s.settled(b, c, c.result)
		}
	}
}

// begin records that a call is carried out; at is its place in the group.
func (s *session) begin(c *call, at int) {
	c.start = s.last
	to := PhaseObserve
	if c.spec.Class == tool.Control && c.tool == tool.Finish {
		to = PhaseAccept
	}
	s.fields.Reset().
		String("tool", c.tool).
		String("class", c.spec.Class.String()).
		Raw("arguments", c.arguments)
	if s.goal.DryRun {
		s.fields.Bool("dry_run", true)
	} else if c.spec.Class == tool.Skill {
		s.fields.Time("deadline", s.motion)
	}
	var begun *Step // for the observer: the call under way
	if s.obs != nil {
		begun = &Step{
			Index: uint32(len(s.steps) + 1 + at), CallID: c.id, Tool: c.tool, Class: c.spec.Class, Source: c.spec.Source,
			Arguments: string(c.arguments), Start: c.start,
		}
	}
	s.fire(KindCall, c.id, to, begun)
	c.script = s.script
	s.carried = s.carried || s.script == nil && c.spec.Class != tool.Control
}

// runAlone runs the one call of a group that is left.
func (s *session) runAlone(b *batch, group []call) {
	for i := range group {
		c := &group[i]
		if c.done {
			continue
		}
		if c.spec.Class == tool.Control {
			c.end(s.control(b, c))
			return
		}
		r, how := s.outcome(c, true)
		s.returned(b, c, r, how)
		return
	}
}

// outcome of a call: the tool's, or by the record. A call of which the record does not say how it ended was interrupted: it is not
// carried out again by itself.
func (s *session) outcome(c *call, alone bool) (tool.Result, tool.Ending) {
	if c.script == nil {
		return s.invoke(c, alone)
	}
	if was := c.script.results[c.id]; was != nil {
		c.unknown = was.Ending == endingUnknown
		return was.result()
	}
	if !c.script.resume {
		panic(recordOver{})
	}
	c.unknown = true
	return tool.Result{
		ErrorKind: tool.Canceled, Source: "harness",
		Content: "interrupted: the process ended while this call was under way, so that what it did is not known. It was not carried out again.",
	}, tool.Returned
}

// runTogether runs several calls at the same time and waits for all of them. One that gets out of control stops the others at once.
func (s *session) runTogether(b *batch, group []call) {
	if s.script != nil {
		s.replayTogether(b, group)
		return
	}
	type outcome struct {
		c   *call
		r   tool.Result
		how tool.Ending
	}
	results := make(chan outcome, len(group))
	left := 0
	for i := range group {
		if c := &group[i]; !c.done {
			left++
			s.apart(func() {
				r, how := s.outcome(c, false)
				results <- outcome{c, r, how}
			})
		}
	}
	for range left {
		o := <-results
		s.now()
		o.c.finished = s.last
		s.returned(b, o.c, o.r, o.how)
	}
}

// replayTogether takes the results of a group by the record; those that made everything stop come in the order in which they did.
func (s *session) replayTogether(b *batch, group []call) {
	take := func(c *call) {
		r, how := s.outcome(c, false)
		s.returned(b, c, r, how)
	}
	for e := s.peek(); e != nil && Kind(e.Kind) == KindStop; e = s.peek() {
		i := slices.IndexFunc(group, func(c call) bool { return c.id == e.CallID && !c.done })
		if i < 0 {
			break
		}
		take(&group[i])
	}
	for i := range group {
		if c := &group[i]; !c.done {
			take(c)
		}
	}
	s.now()
	for i := range group {
		c := &group[i]
		if was := c.script.result(c.id); was != nil && c.ran {
			c.finished = was.End
		}
	}
}

// returned takes the result of a call that ran.
func (s *session) returned(b *batch, c *call, r tool.Result, how tool.Ending) {
	c.ran, c.how = true, how
	r.Content, c.fitted = s.fit(c, s.h.redact.Text(r.Content)), true
	c.end(r)
	if how != tool.Returned && c.spec.Class == tool.Skill && !s.goal.DryRun {
		s.stopAfter(b, c, how)
	}
}

// invoke the tool itself. A call that is not alone is invoked in other goroutines, and changes nothing of the session.
func (s *session) invoke(c *call, alone bool) (tool.Result, tool.Ending) {
	tc := tool.Call{ID: c.id, Session: s.goal.Session, Arguments: c.arguments, Left: c.left, Note: s.noter(c.id)}
	how := tool.Invocation{
		After: s.after, Go: s.apart, TimeLimit: c.spec.TimeLimit, Grace: readGrace, DryRun: s.goal.DryRun, Late: s.late,
	}
	if alone {
		how.Flights = &s.flights
		if s.relay != nil {
			how.Lender = s.relay
		}
	}
	if c.spec.Class == tool.Skill && !s.goal.DryRun {
		// A skill's own time limit is kept by the skill, which knows when it is paused. Here it is bounded by what is
		// left of the goal's time.
		tc.Deadline = s.rawTime(s.motion)
		// Past it, the guard may hold what moves for as long as a server needs to end its goal: the reserve once more.
		how.TimeLimit, how.Grace = 0, 2*s.cfg.StopReserve+skillGrace
		return tool.Invoke(s.moving, c.impl, c.spec, tc, how)
	}
	return tool.Invoke(s.ctx, c.impl, c.spec, tc, how)
}

// noter is what a tool records with, under its call.
func (s *session) noter(id string) func(string, any) {
	return func(kind string, data any) { s.note(KindTool+Kind(kind), id, data) }
}

// stopAfter stops everything when a skill is out of control; its actuators' leases are taken back by that.
func (s *session) stopAfter(b *batch, c *call, how tool.Ending) {
	why := "panicked"
	if how == tool.Abandoned {
		why = "did not return"
	}
	var was struct{ Error string }
	var err error
	if s.next(KindStop, c.id, &was) {
		err = errorOf(was.Error)
	} else {
		err = s.stopAll(fmt.Sprintf("skill %s %s", c.tool, why))
	}
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
