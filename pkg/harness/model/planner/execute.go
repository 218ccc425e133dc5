package planner

import (
	"fmt"
	"strings"

	"agent_node/pkg/harness/model"
)

// observation is one earlier call and what came of it.
type observation struct {
	id, tool, content string
	ok                bool
	kind              string // error kind of a failure, as far as the content tells it
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
			out = append(out, observation{id: c.ID, tool: c.Tool, content: r.Content, ok: r.OK, kind: errorKind(r.Content)})
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
	seen     []observation
	at       int
	want     *next
	evidence []string
	told     []string
	did      []string
	last     *call
}

// stop unwinds to decide; it never leaves this file.
type stop struct{}

// decide is the next step of a program, given everything observed so far.
func decide(p program, seen []observation) (n next) {
	r := &runner{seen: seen}
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

// do asks for one call until it succeeds, and gives up where asking again cannot help.
func (r *runner) do(tool string, args map[string]any) observation {
	for try := 1; ; try++ {
		if r.at == len(r.seen) {
			r.emit(next{tool: tool, args: args})
		}
		o := r.seen[r.at]
		r.at++
		if o.tool != tool {
			r.giveUp("The history holds a call of %s where %s was asked for.", o.tool, tool)
		}
		if o.ok {
			return o
		}
		if !helps(o.kind) {
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
			r.do(x.tool, x.args)
			r.did = append(r.did, x.says)
			r.last = &x
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

// finish answers; where acceptance refused that, the last motion is done again if that is harmless, else it is given up.
func (r *runner) finish() {
	answer := strings.Join(r.told, " ")
	if len(r.did) > 0 {
		answer = strings.TrimSpace(answer + " Done: " + strings.Join(r.did, "; ") + ".")
	} else if answer == "" || len(r.told) > 0 && strings.HasPrefix(r.told[len(r.told)-1], "It ") {
		answer = strings.TrimSpace(answer + " Nothing was moved.")
	}
	args := map[string]any{"answer": answer}
	if len(r.evidence) > 0 {
		args["evidence"] = r.evidence
	}
	for {
		if r.at == len(r.seen) {
			r.emit(next{tool: "finish", args: args})
		}
		o := r.seen[r.at]
		r.at++
		if o.ok {
			r.emit(next{text: answer}) // accepted already
		}
		if r.last == nil || !r.last.absolute {
			r.giveUp("The result was not accepted: %s", o.content)
		}
		r.do(r.last.tool, r.last.args)
	}
}
