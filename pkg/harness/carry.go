package harness

import (
	"fmt"
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
		if c := &group[i]; !c.done {
			s.begin(c, i)
			skill = skill || c.spec.Class == tool.Skill
		}
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
		s.runTogether(b, group, left)
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
		r, how := s.invoke(c)
		s.returned(b, c, r, how)
		return
	}
}

// runTogether runs several calls at the same time and waits for all of them. One that gets out of control stops the others at once.
func (s *session) runTogether(b *batch, group []call, left int) {
	type outcome struct {
		c   *call
		r   tool.Result
		how tool.Ending
	}
	results := make(chan outcome, left)
	for i := range group {
		if c := &group[i]; !c.done {
			s.apart(func() {
				r, how := s.invoke(c)
				results <- outcome{c, r, how}
			})
		}
	}
	for range left {
		o := <-results
		s.now()
		s.returned(b, o.c, o.r, o.how)
		o.c.finished = s.last
	}
}

// returned takes the result of a call that ran.
func (s *session) returned(b *batch, c *call, r tool.Result, how tool.Ending) {
	c.end(r)
	c.ran, c.how = true, how
	if how != tool.Returned && c.spec.Class == tool.Skill && !s.goal.DryRun {
		s.stopAfter(b, c, how)
	}
}

// invoke the tool itself. It is called in other goroutines, too, and changes nothing of the session.
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

// stopAfter stops everything when a skill is out of control; its actuators' leases are taken back by that.
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
