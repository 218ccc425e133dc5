package node

import (
	"fmt"
	"strings"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/ros"
)

// request is what a client asks for by a goal, whichever action it came by.
type request struct {
	told // by which types it is told about

	goal          harness.Goal // without session, deadline and record
	resumes       bool         // an earlier session is to go on
	earlier       string       // its id
	clientTimeout time.Duration
	deadline      ros.Time
}

// toExecute reads a goal of agent_msgs/action/ExecuteTask.
func (t *types) toExecute(m *ros.Message) request {
	return request{
		told: t.execute,
		goal: harness.Goal{
			Task: m.Str("task"), Plan: planOf(m.Msg("plan")), Criteria: texts(m, "success_criteria"), Budget: budgetOf(m.Msg("budget")),
			AllowedTools: texts(m, "allowed_tools"), DryRun: m.Bool("dry_run"),
		},
		clientTimeout: m.Duration("client_timeout"), deadline: m.Stamp("deadline"),
	}
}

// toResume reads a goal of agent_msgs/action/ResumeTask.
func (t *types) toResume(m *ros.Message) request {
	return request{
		told: t.resume, resumes: true, earlier: m.Str("session"),
		clientTimeout: m.Duration("client_timeout"), deadline: m.Stamp("deadline"),
	}
}

// bad tells what is no request, as far as messages can say it: a negative time. The harness refuses the rest.
func (r request) bad() error {
	if r.deadline < 0 {
		return fmt.Errorf("deadline is %d ns, must not be negative", r.deadline)
	}
	if r.clientTimeout < 0 {
		return fmt.Errorf("client_timeout is %v, must not be negative", r.clientTimeout)
	}
	return nil
}

// planned are the criteria of the request's plan.
func (r request) planned() []string {
	if r.goal.Plan == nil {
		return nil
	}
	return r.goal.Plan.SuccessCriteria
}

// inWords is the task: its own, else its plan's.
func (r request) inWords() string {
	if text := r.goal.Task; strings.TrimSpace(text) != "" {
		return harness.Echo(text)
	}
	switch plan := r.goal.Plan; {
	case r.resumes:
		return "session " + harness.Echo(r.earlier) + " goes on"
	case plan != nil && strings.TrimSpace(plan.Task) != "":
		return harness.Echo(plan.Task)
	case plan != nil && len(plan.Steps) > 0:
		return "the plan is executed"
	}
	return "no task was given"
}
