package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/criteria"
	"agent_node/pkg/harness/history"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
	"agent_node/pkg/harness/workflow"
)

// checkPlan refuses a plan that is not sound, before anything moves, and takes its success criteria where the caller has none.
func (s *session) checkPlan() error {
	p := s.goal.Plan
	err := workflow.Check(*p, workflow.Rules{
		Table: s.cfg.Tools, Eval: s.cfg.Criteria, Allowed: s.goal.AllowedTools,
	})
	if err != nil {
		return err
	}
	if len(s.goal.Criteria) > 0 {
		return nil
	}
	for _, text := range p.SuccessCriteria {
		c, err := criteria.Parse(text, s.cfg.Tools, s.cfg.Criteria)
		if err != nil {
			return err // cannot be: Check parsed it
		}
		if !has(s.criteria, c) {
			s.criteria = append(s.criteria, c)
		}
	}
	return nil
}

// runPlan executes exactly the plan, stage by stage: nothing is added, left out or changed on the way. Stages next to each other that
// are free and may run together do.
func (s *session) runPlan() *ending {
	p := *s.goal.Plan
	order := workflow.Order(p)
	done := map[string]bool{}
	for len(order) > 0 {
		n := s.wave(p, order, done)
		stages := make([]workflow.Step, n)
		for k, i := range order[:n] {
			stages[k] = p.Steps[i]
		}
		var e *ending
		if stages[0].Agent() {
			e = s.agentStage(stages[0], p.Steps, order)
		} else {
			e = s.callStages(stages)
		}
		for _, stage := range stages {
			if e == nil {
				e = s.gate(stage)
			}
			done[stage.ID] = true
		}
		if e != nil {
			return e
		}
		if e := s.decide(); e != nil {
			return e
		}
		order = order[n:]
	}
	return s.planDone(p)
}

// wave is how many of the next stages run together: calls whose dependencies are met, under the rules for the calls of one answer. Each
// is a step of the budget.
func (s *session) wave(p workflow.Plan, order []int, done map[string]bool) int {
	var calls []call
	for _, i := range order {
		stage := p.Steps[i]
		met := !slices.ContainsFunc(stage.DependsOn, func(id string) bool { return !done[id] })
		_, spec := s.cfg.Tools.Lookup(stage.Tool)
		if stage.Agent() || spec == nil || !met || len(calls) >= s.account.StagesLeft() {
			break
		}
		calls = append(calls, call{spec: spec, known: true})
	}
	if len(calls) < 2 {
		return 1
	}
	return s.together(&batch{calls: calls})
}

// planDone is the acceptance of the whole plan.
func (s *session) planDone(p workflow.Plan) *ending {
	if e := s.stageRequest(); e != nil {
		return e
	}
	s.fields.Reset().Uint("step", uint64(s.step)).Text("text", "every stage was executed").String("finish", string(model.FinishStop))
	s.fire(KindResponse, "", PhaseParse, nil)
	s.fields.Reset().String("use", useAnswer)
	s.fire(KindParsed, "", PhaseAccept, nil)
	var evidence []string
	for _, step := range s.steps {
		if step.OK && step.Class != tool.Control {
			evidence = append(evidence, step.CallID)
		}
	}
	s.judge("", s.planAnswer(), evidence)
	v := s.verdict
	s.fields.Reset().Bool("passed", v.passed).Int("round", int64(s.rounds)).String("message", v.words)
	s.fire(KindVerdict, "", PhaseDecide, nil)
	if v.end != nil {
		return v.end
	}
	return endOf(ReasonUnverified, "the plan was executed, but this does not hold: %s", v.failed)
}

// planAnswer is what was read, where a plan only reads. It names no stage, and cuts nothing: a number in a name, or in a word about
// what was left out, would stand in no observation.
func (s *session) planAnswer() string {
	answer := "Every stage of the plan was executed."
	if s.ran {
		return answer
	}
	for _, step := range s.steps {
		if step.OK && len(step.Content) <= answerBytes && (step.Class == tool.Query || step.Class == tool.Verify) {
			answer += " " + step.Tool + ": " + step.Content
		}
	}
	return answer
}

// answerBytes is how long an observation may be to be part of a plan's answer.
const answerBytes = 1000

// stageRequest is the assemble phase of what no model is asked for.
func (s *session) stageRequest() *ending {
	if e := s.broken(); e != nil {
		return e
	}
	s.fields.Reset().Uint("step", uint64(s.step)).Bool("planned", true)
	s.fire(KindRequest, "", PhaseSample, nil)
	return nil
}

// callStages carries out calls of the plan that run together.
func (s *session) callStages(stages []workflow.Step) *ending {
	for _, stage := range stages {
		s.fields.Reset().String("stage", stage.ID).String("tool", stage.Tool)
		s.record(KindStage, "")
	}
	if _, err := s.account.Reserve(0, 1, s.elapsed()); err != nil {
		return stageEnd(stages[0], exhausted(err))
	}
	s.step += uint32(len(stages))
	if e := s.stageRequest(); e != nil {
		return e
	}
	r := model.Response{Finish: model.FinishToolCalls}
	for _, stage := range stages {
		s.account.Sampled(0, 0)
		args := string(stage.Arguments)
		if args == "" {
			args = "{}"
		}
		r.Calls = append(r.Calls, model.Call{ID: stage.ID, Tool: stage.Tool, Arguments: args})
	}
	s.fields.Reset().Uint("step", uint64(s.step))
	s.callsField(r.Calls)
	s.fields.String("finish", string(r.Finish))
	s.fire(KindResponse, "", PhaseParse, nil)
	if e := s.accepted(r, true); e != nil {
		return e
	}
	b := s.batch
	e := s.dispatch()
	s.sync()
	if again := s.again(stages, b); e == nil && len(again) > 0 {
		if e := s.decide(); e != nil {
			return e
		}
		return s.callStages(again)
	}
	var failed *ending
	if e == nil || len(stages) > 1 {
		failed = s.stagesFailed(stages, b)
	}
	if e == nil && failed != nil {
		e = s.broken() // what was interrupted has not failed by itself
	}
	switch {
	case e != nil && len(stages) == 1:
		return stageEnd(stages[0], e)
	case e != nil && failed != nil:
		return endOf(e.reason, "%s; %s", e.message, failed.message)
	case e != nil:
		return e
	}
	return failed
}

// again are the stages of a wave that have to be carried out once more, under other ids: they were under way when their process ended, and
// lead to the same however often they run. All others of the wave must have succeeded.
func (s *session) again(stages []workflow.Step, b *batch) []workflow.Step {
	var out []workflow.Step
	for i, stage := range stages {
		c := &b.calls[i]
		switch {
		case (c.unknown || c.id == s.cut) && (reads(c.spec) || c.spec.Repeatable):
			stage.ID = s.freshName(stage.ID)
			out = append(out, stage)
		case !c.result.OK || c.spec.Class == tool.Verify && !c.result.Passed:
			return nil
		}
	}
	return out
}

// freshName of a stage's call that is made once more.
func (s *session) freshName(id string) string {
	for n := 2; ; n++ {
		name := fmt.Sprintf("%s_again_%d", id, n)
		if _, used := s.ids[name]; !used {
			return name
		}
	}
}

// stagesFailed names every stage of a wave that failed; the first one's reason is the plan's.
func (s *session) stagesFailed(stages []workflow.Step, b *batch) *ending {
	var reason Reason
	var words []string
	for i, stage := range stages {
		r := &b.calls[i].result
		step := s.steps[len(s.steps)-len(stages)+i]
		why := ReasonUnverified
		switch {
		case r.OK && (step.Class != tool.Verify || r.Passed):
			continue
		case r.OK:
			words = append(words, fmt.Sprintf("stage %s: %s does not hold: %s", stage.ID, stage.Tool, step.Content))
		default:
			why = s.stageReason(r.ErrorKind)
			words = append(words, fmt.Sprintf("stage %s failed: %s: %s: %s", stage.ID, stage.Tool, r.ErrorKind, step.Content))
		}
		if reason == "" {
			reason = why
		}
	}
	if reason == "" {
		return nil
	}
	return endOf(reason, "%s", strings.Join(words, "; "))
}

// stageEnd names the stage in which a session ended.
func stageEnd(stage workflow.Step, e *ending) *ending {
	return endOf(e.reason, "stage %s: %s", stage.ID, e.message)
}

// stageReason is the reason code of a stage that failed.
func (s *session) stageReason(kind tool.ErrorKind) Reason {
	switch kind {
	case tool.UnknownTool:
		return ReasonToolMissing
	case tool.PermissionDenied:
		return ReasonPermissionDenied
	case tool.InvalidArguments:
		return ReasonBadRequest
	case tool.ServerUnavailable:
		return ReasonDependencyLost
	case tool.NotAtRest:
		return ReasonActuatorFault
	case tool.StaleState:
		if s.gone {
			return ReasonDependencyLost
		}
	case tool.GeometryRefused, tool.GuardRefused, tool.Timeout, tool.Canceled, tool.ServerRejected, tool.ServerFailed, tool.Failed,
		tool.DuplicateCall, tool.PreconditionFailed, tool.PostconditionFailed:
	}
	return ReasonInfeasible
}

// gate holds a stage's acceptance at rest. A world that does not fit makes it fail; nothing is improvised.
func (s *session) gate(stage workflow.Step) *ending {
	if len(stage.Acceptance) == 0 || s.goal.DryRun {
		return nil
	}
	rest, err := s.rest("")
	if err != nil {
		if e := s.broken(); e != nil {
			return e
		}
		return endOf(ReasonActuatorFault, "rest was not measured behind stage %s: %v", stage.ID, err)
	}
	k := s.checker("", rest)
	var judged []criteria.Criterion
	for _, text := range stage.Acceptance {
		c, err := criteria.Parse(text, s.cfg.Tools, s.cfg.Criteria)
		if err != nil {
			return endOf(ReasonBadRequest, "stage %s: %v", stage.ID, err)
		}
		if has(judged, c) {
			continue
		}
		judged = append(judged, c)
		var v Verification
		if c.Kind == criteria.ByPerson {
			v = s.askJudge("", c)
		} else {
			v = k.judge(c)
		}
		s.gates = append(s.gates, v)
		if e := s.broken(); e != nil {
			return e
		}
		if !v.Passed {
			return endOf(ReasonUnverified, "the gate of stage %s does not hold: %s: %s", stage.ID, v.Criterion, v.Evidence)
		}
	}
	return nil
}

// errShare ends an agent stage that has used up its share.
var errShare = errors.New("the stage's share of the steps is used up")

// agentStage lets the model work on one stage, with a history of its own and a share of the steps that are left: an equal part for
// each agent stage still to come, beside one step for each other stage.
func (s *session) agentStage(stage workflow.Step, steps []workflow.Step, left []int) *ending {
	share, err := s.share(steps, left)
	if err != nil {
		return exhausted(err)
	}
	outer := s.suspend()
	defer s.resume(outer)
	system := s.system(history.Prompt{
		Facts: s.cfg.Facts, Criteria: stage.Acceptance, Limits: s.account.Limits(), DryRun: s.goal.DryRun, Tools: s.tools(),
	})
	s.history = history.New(system, s.h.redact.Text(trace.ValidText(stage.Description)), s.tools())
	s.fields.Reset().String("stage", stage.ID).String("task", stage.Description).String("system", system).Uint("share", uint64(share))
	s.record(KindStage, "")
	s.criteria, s.declared, s.claims, s.rounds, s.ran = nil, nil, claims{}, 0, false
	s.stuck = stuck{} // a stage goes round in circles by itself
	for _, text := range stage.Acceptance {
		c, err := criteria.Parse(text, s.cfg.Tools, s.cfg.Criteria)
		if err != nil {
			return endOf(ReasonBadRequest, "stage %s: %v", stage.ID, err)
		}
		if !has(s.criteria, c) {
			s.criteria = append(s.criteria, c)
		}
	}
	for end := s.step + share; s.step < end; {
		if e := s.assemble(); e != nil {
			return stageEnd(stage, e)
		}
		response, err := s.sample()
		if e := s.parse(response, err); e != nil {
			return stageEnd(stage, e)
		}
		if s.phase == PhaseDispatch {
			if e := s.dispatch(); e != nil {
				return stageEnd(stage, e)
			}
		}
		if v := s.verdict; v != nil && v.end != nil {
			s.verdict = nil
			if v.end.reason == ReasonAccepted {
				return nil
			}
			return stageEnd(stage, v.end)
		}
		if e := s.decide(); e != nil {
			return stageEnd(stage, e)
		}
	}
	return endOf(ReasonBudgetSteps, "stage %s: %v (%d steps)", stage.ID, errShare, share)
}

// share of the steps for the agent stage that is next.
func (s *session) share(steps []workflow.Step, left []int) (uint32, error) {
	agents, calls := uint32(0), uint32(0)
	for _, i := range left {
		if steps[i].Agent() {
			agents++
		} else {
			calls++
		}
	}
	limit := s.account.Limits().Steps
	if limit == 0 {
		limit = budget.Maxima().Steps
	}
	used := s.usage().Steps
	if used+calls+agents > limit {
		return 0, &budget.Exhausted{
			Dimension: budget.Steps, Used: fmt.Sprint(used), Need: fmt.Sprint(calls + agents), Limit: fmt.Sprint(limit), Unit: "samples",
		}
	}
	return (limit - used - calls) / agents, nil
}

// suspended is what belongs to the plan while an agent stage has a loop of its own.
type suspended struct {
	history  *history.History
	criteria []criteria.Criterion
	declared []criteria.Criterion
	claims   claims
	rounds   int
	ran      bool
}

func (s *session) suspend() suspended {
	return suspended{s.history, s.criteria, s.declared, s.claims, s.rounds, s.ran}
}

// resume takes the plan up again; what the stage claimed about the world goes on being checked, and what was judged at its end was its
// gate.
func (s *session) resume(o suspended) {
	stage := s.claims
	s.gates = append(s.gates, s.verifications...)
	s.verifications = nil
	s.history, s.criteria, s.declared, s.rounds = o.history, o.criteria, o.declared, o.rounds
	s.claims = o.claims
	s.claims.active = append(s.claims.active, stage.active...)
	s.claims.past = append(s.claims.past, stage.past...)
	s.ran = s.ran || o.ran
}
