package harness

import "fmt"

// Outcome class of a result; the values are agent_msgs/action/ExecuteTask's.
type Outcome uint8

// Outcomes.
const (
	Done            Outcome = 1
	Unverified      Outcome = 2
	Failed          Outcome = 3
	BudgetExhausted Outcome = 4
	Interrupted     Outcome = 5
)

// String is the contract's name.
func (o Outcome) String() string {
	switch o {
	case Done:
		return "DONE"
	case Unverified:
		return "UNVERIFIED"
	case Failed:
		return "FAILED"
	case BudgetExhausted:
		return "BUDGET_EXHAUSTED"
	case Interrupted:
		return "INTERRUPTED"
	}
	return "INVALID"
}

// Reason code of a result. The strings are the contract's.
type Reason string

// Reason codes.
const (
	ReasonAccepted           Reason = "accepted"
	ReasonUnverified         Reason = "unverified"
	ReasonDryRun             Reason = "dry_run"
	ReasonToolMissing        Reason = "tool_missing"
	ReasonValidationRepeated Reason = "validation_repeated"
	ReasonPermissionDenied   Reason = "permission_denied"
	ReasonStuck              Reason = "stuck"
	ReasonModelError         Reason = "model_error"
	ReasonDependencyLost     Reason = "dependency_lost"
	ReasonActuatorFault      Reason = "actuator_fault"
	ReasonInfeasible         Reason = "infeasible"
	ReasonBadRequest         Reason = "bad_request"
	ReasonBudgetSteps        Reason = "budget_steps"
	ReasonBudgetToolCalls    Reason = "budget_tool_calls"
	ReasonBudgetInputTokens  Reason = "budget_input_tokens"
	ReasonBudgetOutputTokens Reason = "budget_output_tokens"
	ReasonBudgetWallTime     Reason = "budget_wall_time"
	ReasonBudgetCost         Reason = "budget_cost"
	ReasonCanceled           Reason = "canceled"
	ReasonOperatorStop       Reason = "operator_stop"
	ReasonEmergencyStop      Reason = "emergency_stop"
	ReasonPreempted          Reason = "preempted"
	ReasonClientLost         Reason = "client_lost"
	ReasonUpstreamTimeout    Reason = "upstream_timeout"
	ReasonWatchdog           Reason = "watchdog"
	ReasonShutdown           Reason = "shutdown"
)

// Outcome that a reason code belongs to; 0 for a code that is none.
func (r Reason) Outcome() Outcome {
	switch r {
	case ReasonAccepted:
		return Done
	case ReasonUnverified, ReasonDryRun:
		return Unverified
	case ReasonToolMissing, ReasonValidationRepeated, ReasonPermissionDenied, ReasonStuck, ReasonModelError,
		ReasonDependencyLost, ReasonActuatorFault, ReasonInfeasible, ReasonBadRequest:
		return Failed
	case ReasonBudgetSteps, ReasonBudgetToolCalls, ReasonBudgetInputTokens, ReasonBudgetOutputTokens,
		ReasonBudgetWallTime, ReasonBudgetCost:
		return BudgetExhausted
	case ReasonCanceled, ReasonOperatorStop, ReasonEmergencyStop, ReasonPreempted, ReasonClientLost,
		ReasonUpstreamTimeout, ReasonWatchdog, ReasonShutdown:
		return Interrupted
	}
	return 0
}

// Interrupt is the cause with which a session's context is ended.
type Interrupt struct {
	Reason  Reason
	Message string
}

// Error implements error.
func (i Interrupt) Error() string {
	if i.Message == "" {
		return string(i.Reason)
	}
	return fmt.Sprintf("%s: %s", i.Reason, i.Message)
}
