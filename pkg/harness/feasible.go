package harness

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/workflow"
)

// predict says of each step, in the order of execution, whether it would be accepted in the state that the steps before it
// leave behind. Behind a step that is refused, or whose outcome cannot be told, nothing is known.
//
// Predicting is arithmetic, seconds of it for an arm: only half of the processors do it at a time, so that however many ask,
// what measures and stops the robot is not kept waiting.
func (d *decomposition) predict() *ending {
	select {
	case d.h.predictions <- struct{}{}:
		defer func() { <-d.h.predictions }()
	case <-d.ctx.Done():
		return d.broken()
	}
	p := d.plan
	var state any
	known := true
	refused := ""
	for _, i := range workflow.Order(*p) {
		step := &p.Steps[i]
		step.Feasibility, step.Findings = workflow.Unknown, nil
		if e := d.broken(); e != nil {
			return e
		}
		if !known {
			continue
		}
		answer, ok := d.predicted(*step, state)
		switch {
		case !ok || answer.Unknown:
			known = false
		case answer.Refused:
			step.Feasibility, step.Findings = workflow.Refused, answer.Findings
			refused, known = step.ID, false
		default:
			step.Feasibility = workflow.Feasible
			if answer.State != nil {
				state = answer.State
			}
		}
	}
	if e := d.broken(); e != nil {
		return e
	}
	d.now()
	d.fields.Reset().Any("plan", p)
	d.record(KindPlan, "")
	if refused != "" {
		return endOf(ReasonAccepted, "The plan is sound, but its step %s would be refused.", refused)
	}
	return endOf(ReasonAccepted, "The plan is sound.")
}

var errPrediction = errors.New("the prediction takes too long")

// predicted asks a step's tool what the call would do; false where it cannot say.
func (d *decomposition) predicted(step workflow.Step, state any) (tool.Prediction, bool) {
	impl, found := d.cfg.Tools.Get(step.Tool)
	p, can := impl.(tool.Predictor)
	if step.Agent() || !found || !can {
		return tool.Prediction{}, false
	}
	arguments := step.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	clock := d.cfg.Clock
	ctx, done := within(d.ctx, clock, predictLimit, errPrediction)
	defer done()
	answer, err := guarded(ctx, clock, d.apart, readGrace, step.Tool, func(ctx context.Context) (tool.Prediction, error) {
		return p.Predict(ctx, tool.Call{
			ID: step.ID, Session: d.goal.Session, Arguments: arguments, Deadline: d.rawTime(d.wallEnd), Note: func(string, any) {},
		}, state), nil
	})
	if err != nil {
		d.note(KindFault, step.ID, map[string]any{"message": err.Error()})
		return tool.Prediction{}, false
	}
	return answer, true
}

// readings are what the query tools that need no arguments say now, so that a plan can begin with the world as it is. What
// cannot be read in time is left out.
func (d *decomposition) readings() map[string]json.RawMessage {
	clock := d.cfg.Clock
	end := clock.Now().Add(readLimit)
	var mu sync.Mutex
	var all sync.WaitGroup
	out := map[string]json.RawMessage{}
	for _, x := range d.h.definitions {
		table := d.cfg.Tools
		permission, _ := d.cfg.Policy.Decide(x.spec)
		if x.spec.Class != tool.Query || permission != policy.Allow || !d.permitted(&x.spec) {
			continue
		}
		arguments, err := table.Validate(x.spec.Name, []byte("{}"))
		if err != nil {
			continue // it needs to be asked something
		}
		impl, _ := table.Get(x.spec.Name)
		all.Go(func() {
			ctx, done := until(d.ctx, clock, end, context.DeadlineExceeded)
			defer done()
			r, _ := tool.Invoke(ctx, impl, &x.spec, tool.Call{
				ID: "read_" + x.spec.Name, Session: d.goal.Session, Arguments: arguments, Note: func(string, any) {},
			}, tool.Invocation{After: d.after, Grace: 100 * time.Millisecond})
			if !r.OK || len(r.Content) > readBytes {
				return
			}
			content := json.RawMessage(r.Content)
			if !json.Valid(content) {
				if content, err = json.Marshal(r.Content); err != nil {
					return
				}
			}
			mu.Lock()
			out[x.spec.Name] = content
			mu.Unlock()
		})
	}
	all.Wait()
	d.now()
	return out
}
