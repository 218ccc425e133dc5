package planner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agent_node/pkg/harness/model"
)

// Planner implements model.Model. It has no state: the same request always gets the same answer.
type Planner struct{}

// New makes a planner.
func New() *Planner { return &Planner{} }

// Name implements model.Model.
func (*Planner) Name() string { return "planner" }

// maxTask bounds a task's text, bytes: nobody writes a longer one, and reading stays cheap.
const maxTask = 4096

// Sample implements model.Model. Its usage counts bytes of the request and of the calls, four to a token.
func (p *Planner) Sample(ctx context.Context, r model.Request) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, fmt.Errorf("planner: %w", context.Cause(ctx))
	}
	out := answer(r)
	out.Usage = usage(r, out)
	return out, nil
}

// answer picks the next step.
func answer(r model.Request) model.Response {
	task, err := taskOf(r.Messages)
	if err != nil {
		return infeasible(err.Error())
	}
	w := know(r.Tools)
	prog, err := parse(task, w)
	if err != nil {
		return infeasible(err.Error())
	}
	if wantsPlan(r.Tools) {
		return propose(r, task, prog, w)
	}
	seen := observations(r.Messages)
	n := decide(prog, w, seen)
	switch {
	case n.gaveUp:
		return infeasible(n.text)
	case n.tool == "":
		return model.Response{Text: n.text, Finish: model.FinishStop}
	}
	return model.Response{
		Calls:  []model.Call{{ID: fmt.Sprintf("plan_%d", len(seen)+1), Tool: n.tool, Arguments: arguments(n.args)}},
		Finish: model.FinishToolCalls,
	}
}

func infeasible(text string) model.Response {
	return model.Response{Text: text, Finish: model.FinishInfeasible}
}

var errNoTask = errors.New("there is no task in the request")

// taskOf is the first message of a user.
func taskOf(messages []model.Message) (string, error) {
	for _, m := range messages {
		if m.Role == model.RoleUser && !strings.HasPrefix(m.Content, model.HarnessPrefix) {
			if len(m.Content) > maxTask {
				return "", fmt.Errorf("the task has %d bytes, the limit is %d bytes", len(m.Content), maxTask)
			}
			return m.Content, nil
		}
	}
	return "", errNoTask
}

// usage estimates tokens as the contract says: input those of the request, output those of the calls.
func usage(r model.Request, out model.Response) model.Usage {
	in := 0
	for _, m := range r.Messages {
		in += len(m.Content)
		for _, c := range m.Calls {
			in += len(c.Tool) + len(c.Arguments)
		}
	}
	for _, t := range r.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	made := len(out.Text)
	for _, c := range out.Calls {
		made += len(c.Tool) + len(c.Arguments)
	}
	return model.Usage{InputTokens: tokens(in), OutputTokens: tokens(made), Known: true}
}

// tokens of so many bytes, rounded up.
func tokens(bytes int) uint64 { return uint64((bytes + 3) / 4) }
