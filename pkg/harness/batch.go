package harness

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// batch is the calls of one answer, in order.
type batch struct {
	calls   []call
	planned bool // of a plan
	next    int  // first call without an observation
	// blocked: why no skill of this answer may begin (any more); "": they may.
	blocked string
	// finished: why no further call of this answer begins; "": they may.
	finished string
	halted   *ending // what a call's result ends the session with
}

// call is one call of the model on its way.
type call struct {
	id        string
	tool      string
	given     string // arguments as the model wrote them
	arguments json.RawMessage
	impl      tool.Tool
	spec      *tool.Spec
	known     bool
	refused   tool.ErrorKind // "": it passed the checks of its form
	why       string

	start    time.Time   // zero: it never began
	finished time.Time   // of its run, where it ran beside others
	script   *script     // that it began by
	result   tool.Result // once it is done
	done     bool
	ran      bool // a tool was called
	how      tool.Ending
	said     *string // what a skill said that was overruled
	fitted   bool    // the result's content has its final form
	unknown  bool    // the process ended while it was under way
	left     budget.Limits
}

// refuse a call: it is not carried out.
func (c *call) refuse(kind tool.ErrorKind, why string) {
	c.end(tool.Result{ErrorKind: kind, Content: why, Source: "harness"})
}

// end gives a call its result.
func (c *call) end(r tool.Result) { c.result, c.done = r, true }

// accepted takes the calls of a complete answer: each gets an id of its own, is booked and checked for its form. All
// are checked before the first begins.
func (s *session) accepted(r model.Response, planned bool) *ending {
	if err := s.account.Calls(len(r.Calls)); err != nil {
		s.parsed(useUnusable, err.Error())
		return exhausted(err)
	}
	b := s.newBatch(len(r.Calls), planned)
	named := make([]model.Call, len(r.Calls))
	left := s.account.Remaining(s.elapsed())
	for i := range r.Calls {
		c := &b.calls[i]
		s.form(c, &r.Calls[i], i)
		c.left = left
		named[i] = model.Call{ID: c.id, Tool: r.Calls[i].Tool, Arguments: r.Calls[i].Arguments}
		if c.refused != "" && c.refused != tool.DuplicateCall && (!c.known || c.spec.Class == tool.Skill) && b.blocked == "" {
			b.blocked = fmt.Sprintf("not carried out, because call %s of the same answer is invalid (%s)", c.id, c.refused)
		}
	}
	s.batch = b
	s.history.Assistant(r.Text, named)
	s.fields.Reset().String("use", useCalls).List("calls", len(b.calls), func(i int, o *trace.Fields) {
		c := &b.calls[i]
		o.String("call_id", c.id).String("check", checked(c)).Text("message", c.why)
	})
	s.fire(KindParsed, "", PhaseDispatch, nil)
	return nil
}

// newBatch of n calls. What the one before was made of is used again, but for a plan's: its stages are looked at afterwards.
func (s *session) newBatch(n int, planned bool) *batch {
	b := s.spent
	if s.spent = nil; b == nil {
		b = &batch{}
	}
	calls := b.calls
	if cap(calls) < n {
		calls = make([]call, n)
	}
	calls = calls[:n]
	clear(calls)
	*b = batch{calls: calls, planned: planned}
	return b
}

func checked(c *call) string {
	if c.refused == "" {
		return "ok"
	}
	return string(c.refused)
}

// form checks what can be known without doing anything: id, tool, arguments.
func (s *session) form(c *call, m *model.Call, i int) {
	c.tool, c.given = m.Tool, m.Arguments
	refuse := func(kind tool.ErrorKind, format string, args ...any) {
		c.refused, c.why = kind, fmt.Sprintf(format, args...)
	}
	c.id = m.ID
	_, used := s.ids[m.ID]
	if m.ID == "" || used || !usableID(m.ID) || s.h.redact.Holds(m.ID) {
		c.id = s.freshID(i)
	}
	s.ids[c.id] = -1
	table := s.cfg.Tools
	if c.impl, c.spec = table.Lookup(c.tool); c.spec != nil {
		c.known = true
	} else {
		c.spec = &tool.Spec{}
	}
	switch {
	case m.ID != "" && used:
		refuse(tool.DuplicateCall, "the id %q was used before in this session; it is never carried out twice. This call was given the id %s; send it again with a fresh id if you mean it.", clip(m.ID), c.id)
	case !c.known:
		refuse(tool.UnknownTool, "no tool is called %q. The tools are: %s.", clip(c.tool), s.names())
	case !s.permitted(c.spec):
		refuse(tool.PermissionDenied, "%s is not among the tools that this goal allows: %s.", c.tool, s.names())
	case strings.Contains(c.given, trace.Redacted):
		refuse(tool.InvalidArguments, "the arguments hold a secret")
	default:
		valid, err := table.Validate(c.tool, []byte(c.given))
		if err != nil {
			refuse(tool.InvalidArguments, "%v", err)
			return
		}
		c.arguments = valid
	}
}

// usableID keeps ids that could not be shown, sent back or cited as they are out of the record.
func usableID(id string) bool {
	if len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		if c <= 0x20 || c >= 0x7f {
			return false
		}
	}
	return true
}

// freshID names the i-th call of this step: call_<step>_<i>, unless the model took that name.
func (s *session) freshID(i int) string {
	b := append(make([]byte, 0, 16), "call_"...)
	b = strconv.AppendUint(b, uint64(s.step), 10)
	b = strconv.AppendInt(append(b, '_'), int64(i+1), 10)
	id := string(b)
	for n := 2; ; n++ {
		if _, used := s.ids[id]; !used {
			return id
		}
		id = fmt.Sprintf("call_%d_%d_%d", s.step, i+1, n)
	}
}

// names of the tools that the goal may use.
func (s *session) names() string {
	var names []string
	for _, d := range s.h.definitions {
		if s.permitted(&d.spec) {
			names = append(names, d.spec.Name)
		}
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

func clip(text string) string {
	short, _ := tool.Cut(text, 80, "shortened")
	return short
}
