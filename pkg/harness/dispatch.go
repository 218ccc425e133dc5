package harness

import (
	"fmt"
	"slices"
	"time"

	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
)

// dispatch carries out the calls of one answer in their order; what may run together does. Every booked call gets exactly one
// observation, in the calls' order, also when the session ends in the middle.
func (s *session) dispatch() *ending {
	b := s.batch
	for b.next < len(b.calls) && b.halted == nil {
		s.sync()
		if b.halted = s.broken(); b.halted != nil {
			break
		}
		s.perform(b, b.calls[b.next:b.next+s.together(b)])
	}
	s.callOff(b, "not begun: ")
	halted := b.halted
	s.batch = nil
	if !b.planned { // a plan is carried out as it stands, and what it reads may well be the same twice
		s.stuck.step(halted == nil)
		s.spent = b
	}
	return halted
}

// callOff gives every call that is left its observation.
func (s *session) callOff(b *batch, why string) {
	for b.next < len(b.calls) {
		c := &b.calls[b.next]
		if !c.done {
			c.refuse(tool.Canceled, why+b.halted.message)
		}
		s.observe(b, c)
	}
}

// mostTogether bounds how many calls run at once.
const mostTogether = 16

// together is how many of the next calls run at once: what only reads, and skills whose actuators may move at the same time. What
// changes nothing does not run beside what moves: the model wants to know the world before or behind it.
func (s *session) together(b *batch) int {
	left := b.calls[b.next:]
	first := &left[0]
	if s.goal.DryRun || !first.sound() || b.finished != "" || first.spec.Class == tool.Control {
		return 1
	}
	n := 1
	for ; n < min(len(left), mostTogether); n++ {
		c := &left[n]
		if !c.sound() || reads(c.spec) != reads(first.spec) || c.spec.Class == tool.Control {
			break
		}
		if !reads(c.spec) && !beside(c.spec, left[:n]) {
			break
		}
	}
	return n
}

// sound says that the call passed the checks of its form.
func (c *call) sound() bool { return c.known && c.refused == "" }

func reads(s *tool.Spec) bool { return s.Class == tool.Query || s.Class == tool.Verify }

// beside says whether a skill may run while all of the others do: each of its actuators beside each of theirs.
func beside(s *tool.Spec, others []call) bool {
	for i := range others {
		for _, a := range s.Actuators {
			if !slices.Contains(others[i].spec.Alongside, a) {
				return false
			}
		}
	}
	return len(s.Actuators) > 0
}

// perform calls that run together, to their observations. All are admitted before the first begins.
func (s *session) perform(b *batch, group []call) {
	for i := range group {
		c := &group[i]
		if b.halted != nil {
			break
		}
		s.admit(b, c)
	}
	left := 0
	for i := range group {
		if c := &group[i]; b.halted != nil && !c.done { // what ends the session keeps all of them from beginning
			c.refuse(tool.Canceled, "not begun: "+b.halted.message)
		} else if !c.done {
			left++
		}
	}
	if left > 0 {
		s.carryOut(b, group, left)
	}
	for i := range group {
		s.observe(b, &group[i])
	}
}

// admit decides whether a call may be carried out. What is refused has its kind afterwards.
func (s *session) admit(b *batch, c *call) {
	skill := c.known && c.spec.Class == tool.Skill
	switch {
	case b.finished != "":
		c.refuse(tool.Canceled, b.finished)
		return
	case c.refused != "":
		c.refuse(c.refused, c.why)
		if skill {
			s.block(b, c, c.refused)
		}
		return
	case skill && b.blocked != "":
		c.refuse(tool.PreconditionFailed, b.blocked)
		return
	}
	deny := func(kind tool.ErrorKind, format string, args ...any) {
		c.refuse(kind, fmt.Sprintf(format, args...))
		s.block(b, c, kind)
	}
	moves := skill && !s.goal.DryRun
	if moves {
		if e := s.tooLate(); e != nil {
			c.refuse(tool.Canceled, "not begun: "+e.message)
			b.halted = e
			return
		}
	}
	permission, why := s.h.judge.Decide(*c.spec, c.arguments)
	if permission != policy.Deny && (moves || !skill) { // a dry run sends nothing
		if wait, rate, ok := s.inTime(c); !ok {
			deny(tool.PreconditionFailed, "%s may be called at the rate of %s only; the next call may begin in %.1f s", c.tool, rate, wait.Seconds())
			return
		}
	}
	switch permission {
	case policy.Allow:
	case policy.Ask:
		// A dry run does nothing that a person would have to approve, unless the tool is no skill.
		if moves || !skill {
			s.approve(b, c, why)
		}
	case policy.Deny:
		deny(tool.PermissionDenied, "%s is denied (%s)", c.tool, why)
	default:
		deny(tool.PermissionDenied, "%s has the unknown permission %q", c.tool, permission)
	}
}

// inTime says whether the rate of the call's tool lets it begin, and else how long it would have to wait.
func (s *session) inTime(c *call) (wait time.Duration, rate policy.Rate, ok bool) {
	if s.script != nil {
		var was struct {
			Wait int64 `json:"wait_ns"`
		}
		if !s.next(KindLimited, c.id, &was) {
			return 0, rate, true
		}
		wait, rate = time.Duration(was.Wait), s.cfg.Policy.Rates[c.tool]
	} else if wait, rate, ok = s.h.limiter.Take(c.tool, s.rawTime(s.last)); ok {
		return 0, rate, true
	}
	s.fields.Reset().Int("wait_ns", int64(wait))
	s.record(KindLimited, c.id)
	return wait, rate, false
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
	reserve := s.cfg.StopReserve
	if s.motion.Add(reserve).Equal(s.goal.Deadline) {
		return endOf(ReasonUpstreamTimeout, "%v until the goal's deadline, and stopping a motion is given %v: no skill begins", left+reserve, reserve)
	}
	return endOf(ReasonBudgetWallTime, "%v of the wall-time budget are left, and stopping a motion is given %v: no skill begins", left+reserve, reserve)
}
