package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// observe records the one result of a call, shows it to the model and keeps it as a step.
func (s *session) observe(b *batch, c *call) {
	s.sync()
	r, end := c.result, c.finished
	if end.IsZero() {
		end = s.now()
	}
	if c.start.IsZero() { // it never began
		c.start = end
	}
	content := r.Content
	if !c.fitted {
		content = s.fit(c, s.h.redact.Text(content))
	}
	if s.script != nil && c.ran && s.script.results[c.id] != nil {
		content = s.script.results[c.id].Content
	}
	r.Content = content
	images, note := s.pictures(c, r.Images)
	content += note
	step := Step{
		Index: uint32(len(s.steps) + 1), CallID: c.id, Tool: s.h.redact.Text(trace.ValidText(c.tool)), Class: c.spec.Class, Source: r.Source,
		Arguments: s.h.redact.Text(trace.ValidText(c.given)),
		OK:        r.OK, ErrorKind: r.ErrorKind, Content: content, Start: c.start, End: end,
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
	case s.phase == PhaseObserve && b.calls[b.next].ran:
		to = PhaseObserve // it ran at the same time
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
	if c.said != nil {
		s.fields.String("said", *c.said)
	}
	switch {
	case c.unknown:
		s.fields.String("ending", endingUnknown)
	case c.how != tool.Returned:
		s.fields.String("ending", endingName(c.how))
	}
	s.fields.Text("interrupt", r.Interrupt)
	if r.Begun {
		s.fields.Bool("begun", true)
	}
	if r.DependencyLost {
		s.fields.Bool("dependency_lost", true)
	}
	s.fields.Time("start", c.start).Time("end", end)
	s.fire(KindObservation, c.id, to, &s.steps[len(s.steps)-1])
	s.seen = len(s.steps)
	s.history.Observation(c.id, c.tool, r.OK, Shown(c.spec.Class, r.OK, r.ErrorKind, r.Passed, content), images...)
	s.weigh(b, c, r)
}

// fit brings what was observed into the form that the model and the record get: valid UTF-8 of a bounded length. What that changes is
// kept whole beside the record, and a note says where.
func (s *session) fit(c *call, whole string) string {
	if s.script != nil {
		var kept json.RawMessage
		if s.next(KindWhole, c.id, &kept) {
			s.write(KindWhole, c.id, s.state(), kept)
			if !c.ran {
				return s.script.results[c.id].Content
			}
		}
		if c.ran {
			return whole // as it was recorded
		}
	}
	id := c.id
	most := s.cfg.MaxResultBytes
	if utf8.ValidString(whole) && len(whole) <= most {
		return whole
	}
	where, err := s.log.Keep(id, []byte(whole))
	if err == nil {
		s.write(KindWhole, id, s.state(), trace.WholeData(where, []byte(whole)))
		where = "the whole is in " + where
	} else {
		where = "the whole could not be kept"
		s.note(KindFault, id, map[string]any{"message": "the whole of an observation could not be kept", "error": err.Error()})
	}
	short, cut := tool.Cut(whole, most, where)
	if !cut {
		short = fmt.Sprintf("%s [%d bytes that are not all text: what is no UTF-8 is shown as U+FFFD; %s]", short, len(whole), where)
	}
	return short
}

// pictures records what a call saw and returns it as the model is shown it; a model that is shown none is told so.
func (s *session) pictures(c *call, taken []tool.Image) (shown []model.Image, note string) {
	if s.script != nil {
		var was struct{ Images []model.Image }
		if s.next(KindImages, c.id, &was) {
			shown = was.Images
			s.fields.Reset().Any("images", shown)
			s.record(KindImages, c.id)
			return shown, ""
		}
	}
	if len(taken) == 0 {
		return nil, ""
	}
	if !s.cfg.Images {
		return nil, " [a picture was taken, and this model is shown none]"
	}
	for _, i := range taken {
		shown = append(shown, model.Image(i))
	}
	s.fields.Reset().Any("images", shown)
	s.record(KindImages, c.id)
	return shown, ""
}

// weigh draws the conclusions of a result: what it says about the session's progress, and whether it ends it.
func (s *session) weigh(b *batch, c *call, r tool.Result) {
	if !b.planned {
		s.stuck.call(c, r)
	}
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
		b.halted = endOf(reason, "%s: %s", c.tool, r.Content)
		return
	}
	if s.lost >= dependencyLimit {
		b.halted = endOf(ReasonDependencyLost, "%d calls in a row found what they depend on gone; the last: %s: %s", s.lost, c.tool, r.Content)
		return
	}
	if c.spec.Class == tool.Skill && !r.OK && !s.goal.DryRun && !r.NeverRan() && !s.motion.IsZero() && !s.last.Before(s.motion) {
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
