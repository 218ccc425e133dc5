package planner

import (
	"errors"
	"fmt"
	"strings"

	"agent_node/pkg/harness/model"
)

// observation is one earlier call and what came of it.
type observation struct {
	id, tool, content string
	ok                bool
	kind              string // error kind of a failure, as far as the content tells it
	begun             bool   // something of a failed call was sent, whatever its kind says
}

// observations pairs the history's calls with their results, in call order.
func observations(messages []model.Message) []observation {
	results := map[string]model.Message{}
	for _, m := range messages {
		if m.Role == model.RoleTool {
			results[m.CallID] = m
		}
	}
	var out []observation
	for _, m := range messages {
		for _, c := range m.Calls {
			r, ok := results[c.ID]
			if !ok {
				continue
			}
			kind := errorKind(r.Content)
			out = append(out, observation{
				id: c.ID, tool: c.Tool, content: r.Content, ok: r.OK, kind: kind,
				begun: strings.HasPrefix(r.Content, kind+": "+model.UnderWay),
			})
		}
	}
	return out
}

// errorKind is the contract's kind with which a failure's content begins.
func errorKind(content string) string {
	kind, _, _ := strings.Cut(content, ":")
	return strings.TrimSpace(kind)
}

// helps lists the failures after which the same call may succeed.
func helps(kind string) bool {
	switch kind {
	case "server_failed", "server_rejected", "server_unavailable", "timeout", "stale_state", "not_at_rest", "tool_error":
		return true
	}
	return false
}

// unmoved is the failure after which certainly nothing has moved, unless it had begun: half a metre ahead may be asked for again.
const unmoved = "server_rejected"

// tries is how often one call is asked for.
const tries = 3

// next is what the planner wants: a call, or an end.
type next struct {
	tool   string
	args   map[string]any
	text   string
	gaveUp bool
}

// runner replays a program over what was observed and stops at the first thing not yet done.
type runner struct {
	world    *world
	seen     []observation
	at       int
	want     *next
	evidence []string
	told     []string
	did      []string
	starts   map[int]spot // poses that were noted
	last     instruction  // what may be done again where the result is not accepted; nil: nothing
}

// stop unwinds to decide; it never leaves this file.
type stop struct{}

// decide is the next step of a program, given everything observed so far.
func decide(p program, w *world, seen []observation) (n next) {
	r := &runner{world: w, seen: seen, starts: map[int]spot{}}
	defer func() {
		if x := recover(); x != nil {
			if _, ok := x.(stop); !ok {
				panic(x)
			}
			n = *r.want
		}
	}()
	r.run(p)
	r.finish()
	return *r.want
}

func (r *runner) emit(n next) {
	r.want = &n
	panic(stop{})
}

func (r *runner) giveUp(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(r.did) > 0 {
		text += " Done before: " + strings.Join(r.did, "; ") + "."
	}
	r.emit(next{text: text, gaveUp: true})
}

// do asks for one call until it succeeds, and gives up where asking again cannot help. The call ends in the same state however often it
// is begun.
func (r *runner) do(tool string, args map[string]any) observation { return r.ask(tool, args, true) }

// canceled is the kind of a call that was cut off. A model sees it where its session was interrupted and goes on now.
const canceled = "canceled"

// ask is do; a call that cannot be begun again (half a metre ahead) is not, where it may have come some way: how far is not known.
func (r *runner) ask(tool string, args map[string]any, again bool) observation {
	helped := false
	for try := 1; ; try++ {
		o := r.attempt(tool, args)
		if o.tool != tool {
			r.giveUp("The history holds a call of %s where %s was asked for.", o.tool, tool)
		}
		if o.ok {
			return o
		}
		if fix, ok := r.remedy(o); ok && !helped {
			helped = true
			r.do(fix.tool, fix.args)
			continue
		}
		if (!again || !helps(o.kind) && o.kind != canceled) && (o.kind != unmoved || o.begun) {
			r.giveUp("%s cannot be done: %s", tool, o.content)
		}
		if try == tries {
			r.giveUp("%s failed %d times, the last time: %s", tool, tries, o.content)
		}
	}
}

func (r *runner) run(p program) {
	for _, i := range p {
		switch x := i.(type) {
		case call:
			r.ask(x.tool, x.args, x.absolute || x.tool == "wait")
			r.did = append(r.did, x.says)
			r.last = nil
			if x.absolute {
				r.last = x
			}
		case question:
			o := r.do(x.tool, x.args)
			r.evidence = append(r.evidence, o.id)
			r.told = append(r.told, x.tell(o.content))
		case fetch:
			r.fetch(x)
		case pickUp:
			r.pickUp(x)
		case putDown:
			r.do("navigate_to", map[string]any{"place": x.place})
			r.do("place", map[string]any{"place": x.place})
			r.did = append(r.did, fmt.Sprintf("put the %s down at the %s", x.object, x.place))
			r.last = nil
		case approach:
			r.approach(x)
		case clear:
			r.clear(x)
		case putHeld:
			r.putHeld(x)
		case remember:
			r.remember(x)
		case comeBack:
			at := r.starts[x.slot]
			r.do("navigate_to", map[string]any{"x": at.x, "y": at.y, "yaw": at.yaw})
			r.did = append(r.did, "returned to where I started")
			r.last = nil
		case branch:
			o := r.do(x.ask.tool, x.ask.args)
			r.evidence = append(r.evidence, o.id)
			holds, err := x.holds(o.content)
			if err != nil {
				r.giveUp("Whether %s cannot be told: %v.", x.condition, err)
			}
			if holds {
				r.told = append(r.told, "It holds that "+x.condition+".")
				r.run(x.then)
			} else {
				r.told = append(r.told, "It does not hold that "+x.condition+".")
				r.run(x.els)
			}
		}
	}
}

// remember notes where the robot stands.
func (r *runner) remember(x remember) {
	o := r.do("get_pose", nil)
	px, errX := field(o.content, "x")
	y, errY := field(o.content, "y")
	yaw, errYaw := field(o.content, "yaw")
	if err := errors.Join(errX, errY, errYaw); err != nil {
		r.giveUp("Where I start from cannot be told, so that I could not come back: %v.", err)
	}
	r.starts[x.slot] = spot{px, y, yaw}
}

// finish answers. Where acceptance refuses that, what was done last is done again if that is harmless, and then it answers
// again: what the answer is worth is not the planner's to say.
func (r *runner) finish() {
	args := map[string]any{"answer": r.answer()}
	if len(r.evidence) > 0 {
		args["evidence"] = r.evidence
	}
	for {
		if o := r.attempt("finish", args); o.ok {
			r.emit(next{text: r.answer()}) // accepted already
		}
		did, told := r.did, r.told
		switch x := r.last.(type) {
		case call:
			r.do(x.tool, x.args)
		case fetch:
			r.fetch(x)
		}
		r.did, r.told = did, told // the answer is the same
	}
}

// answer is what was told and done.
func (r *runner) answer() string {
	answer := strings.Join(r.told, " ")
	if len(r.did) > 0 {
		return strings.TrimSpace(answer + " Done: " + strings.Join(r.did, "; ") + ".")
	}
	if answer == "" || len(r.told) > 0 && strings.HasPrefix(r.told[len(r.told)-1], "It ") {
		answer = strings.TrimSpace(answer + " Nothing was moved.")
	}
	return answer
}
