package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
)

// askGrace is how long an approver may take to notice that its context has ended.
const askGrace = 2 * time.Second

// errNobody: no approver is configured.
var errNobody = errors.New("nobody can be asked here")

// ask a person and wait in state awaiting_user. Anything but an answer to exactly this request is an error.
func (s *session) ask(r policy.Request, callID string) (policy.Answer, error) {
	if s.cfg.Approver == nil {
		return policy.Answer{}, errNobody
	}
	limit := s.cfg.Policy.Timeout
	if limit == 0 {
		limit = policy.DefaultTimeout
	}
	s.sync()
	r.Session = s.goal.Session
	r.Expires = s.now().Add(limit)
	s.asking = true
	s.fields.Reset().String("request_id", r.ID).String("question", r.Question).Text("tool", r.Tool).Text("digest", r.Digest).Time("expires", r.Expires)
	s.fire(KindAsked, callID, s.phase, nil)
	waited := s.waiting()
	answer, err := s.answerTo(r, limit)
	if err == nil && answer.RequestID != r.ID {
		err = fmt.Errorf("the answer is to %q, asked was %q", clip(answer.RequestID), r.ID)
	}
	if err != nil {
		answer = policy.Answer{}
	}
	s.asking = false
	s.now()
	waited()
	s.fields.Reset().String("request_id", r.ID).Bool("approved", answer.Approved).Text("text", answer.Text).Text("error", text(err))
	s.fire(KindAnswered, callID, s.phase, nil)
	return answer, err
}

// answerTo a question: a person's, or by the record.
func (s *session) answerTo(r policy.Request, limit time.Duration) (policy.Answer, error) {
	var was recordedAnswer
	if s.expect(KindAnswered, &was) {
		return was.answer()
	}
	expired := errors.New("no answer before " + r.Expires.Format(time.RFC3339))
	ctx, done := within(s.ctx, s.cfg.Clock, limit, expired)
	defer done()
	answer, err := guarded(ctx, s.cfg.Clock, s.apart, askGrace, "the approver", func(ctx context.Context) (policy.Answer, error) {
		return s.cfg.Approver.Ask(ctx, r)
	})
	if ctx.Err() != nil { // an answer that came with or behind the end counts for nothing
		answer, err = policy.Answer{}, context.Cause(ctx)
	}
	return answer, err
}

// approve asks a person for one call with exactly its arguments. A call without an approval is refused here.
func (s *session) approve(b *batch, c *call, why string) {
	deny := func(kind tool.ErrorKind, format string, args ...any) {
		c.refuse(kind, fmt.Sprintf(format, args...))
		s.block(b, c, kind)
	}
	// Nobody is bothered with what would be refused anyway.
	if r, tried := s.rehearse(c); tried && !r.OK {
		c.end(r)
		s.block(b, c, r.ErrorKind)
		return
	}
	digest := policy.Digest(s.self, c.id, c.tool, c.arguments)
	answer, err := s.ask(policy.Request{
		ID:       policy.RequestID(c.id, digest),
		Question: fmt.Sprintf("May %s be called with %s?", c.tool, clip(string(c.arguments))),
		CallID:   c.id, Tool: c.tool, Class: c.spec.Class, Arguments: append(json.RawMessage(nil), c.arguments...), Digest: digest,
	}, c.id)
	if e := s.broken(); e != nil {
		deny(tool.Canceled, "not begun: %s", e.message)
		return
	}
	switch {
	case err != nil:
		deny(tool.PermissionDenied, "%s needs a person's approval (%s), and there is none: %v", c.tool, why, err)
		return
	case !answer.Approved:
		words := "without giving a reason"
		if answer.Text != "" {
			words = "and said: " + s.h.redact.Text(answer.Text)
		}
		deny(tool.PermissionDenied, "a person refused %s %s", c.tool, words)
		return
	}
	// Validated afresh: time has passed. The tool itself checks the state of the world again when it is called.
	if _, err := s.cfg.Tools.Validate(c.tool, c.arguments); err != nil {
		deny(tool.InvalidArguments, "%v", err)
		return
	}
	if policy.Digest(s.self, c.id, c.tool, c.arguments) != digest {
		deny(tool.PermissionDenied, "the arguments of %s changed behind the approval", c.tool)
		return
	}
	if c.spec.Class == tool.Skill {
		if e := s.tooLate(); e != nil {
			c.refuse(tool.Canceled, "not begun: "+e.message)
			b.halted = e
		}
	}
}

// dryRunLimit bounds the check before a person is asked.
const dryRunLimit = 10 * time.Second

// rehearse tries whether a skill would be refused, where it can tell without doing anything.
func (s *session) rehearse(c *call) (r tool.Result, tried bool) {
	var was recordedCheck
	s.sync()
	_, can := c.impl.(tool.DryRunner)
	switch {
	case c.spec.Class != tool.Skill:
		return r, false
	case s.next(KindCheck, c.id, &was) && was.Rehearsal:
		r = was.result()
	case s.script != nil || !can:
		return r, false
	default:
		r, _ = tool.Invoke(s.ctx, c.impl, c.spec, tool.Call{
			ID: c.id, Session: s.goal.Session, Arguments: c.arguments, Note: s.noter(c.id),
		}, tool.Invocation{After: s.after, Go: s.apart, TimeLimit: dryRunLimit, Grace: readGrace, DryRun: true})
		r.Postconditions, r.Content = nil, s.h.redact.Text(r.Content)
	}
	s.now()
	s.checked(c.id, c.tool, c.arguments, r, true)
	return r, true
}

// control carries out the built-in tools.
func (s *session) control(b *batch, c *call) tool.Result {
	switch c.tool {
	case tool.Finish:
		return s.finish(b, c)
	case tool.AskPerson:
		return s.askPerson(c)
	case tool.DeclareCriteria:
		return s.declare(c)
	}
	return tool.Result{ErrorKind: tool.Failed, Content: "the harness does not know this control tool", Source: "harness"}
}

func (s *session) askPerson(c *call) tool.Result {
	var args struct {
		Question string `json:"question"`
	}
	if err := json.Unmarshal(c.arguments, &args); err != nil {
		return tool.Result{ErrorKind: tool.InvalidArguments, Content: err.Error(), Source: "harness"}
	}
	digest := policy.Digest(s.self, c.id, c.tool, c.arguments)
	answer, err := s.ask(policy.Request{ID: policy.RequestID(c.id, digest), Question: args.Question, Digest: digest, CallID: c.id}, c.id)
	switch {
	case errors.Is(err, errNobody):
		return tool.Result{ErrorKind: tool.ServerUnavailable, Content: err.Error(), Source: "person"}
	case err != nil && s.ended() != nil:
		return tool.Result{ErrorKind: tool.Canceled, Content: err.Error(), Source: "person"}
	case err != nil:
		return tool.Result{ErrorKind: tool.Timeout, Content: err.Error(), Source: "person"}
	}
	said := strings.TrimSpace(answer.Text)
	if said == "" {
		said = "no"
		if answer.Approved {
			said = "yes"
		}
	}
	return tool.Result{OK: true, Content: said, Source: "person"}
}
