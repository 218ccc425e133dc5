package harness

import (
	"context"
	"log/slog"
	"time"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/criteria"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
	"agent_node/pkg/harness/workflow"
)

// Defaults of Config.
const (
	DefaultAcceptanceRounds = 2
	DefaultStopReserve      = 7 * time.Second // 4 s to cancel, 3 s to stop
	DefaultMaxOutputTokens  = 4096
	DefaultMaxResultBytes   = 16 * 1024
)

// Config of a harness. Model and Tools are needed; all else has a safe default.
type Config struct {
	Model model.Model
	Tools *tool.Table
	// Policy's zero value allows what reads and asks for every skill.
	Policy policy.Policy
	// Approver reaches a person; nil: nobody can be asked, so what asks is denied.
	Approver policy.Approver
	// WaitFree: the time in which a person is waited for does not count as wall time.
	WaitFree bool
	// Criteria evaluates cel: criteria; nil: criteria.NewCEL over the query tools of Tools.
	Criteria criteria.Evaluator
	// Trace records sessions; nil: in memory, given up when the session ends.
	Trace trace.Sink
	// Settle returns when every actuator is measured at rest, with the time of that measurement on the sources' own
	// clock (what Call.NotBefore is compared with). It is called before acceptance and before every terminal result.
	// nil: nothing here moves.
	Settle func(ctx context.Context) (time.Time, error)
	// Stop stops everything. It is called on every way out that is no final answer, and when a skill panicked or hung.
	// Its ctx is never the session's. nil: nothing here moves.
	Stop func(ctx context.Context, reason string) error
	// Understand says, independently of any model, what a task leaves behind: criteria that must hold at its end, and tools whose actuators
	// must have been moved by skills that succeeded. It counts where the goal has neither criteria nor a plan. nil: no task is understood.
	Understand func(task string, tools []model.Tool) (criteria, moves []string)
	// Facts about the robot, for the system prompt.
	Facts string
	// Defaults and Maxima of a goal's budget; zero values: budget.Defaults() and budget.Maxima().
	Defaults, Maxima budget.Limits
	Prices           budget.Prices
	// MaxOutputTokens is the model's own cap of one answer; 0: DefaultMaxOutputTokens.
	MaxOutputTokens uint64
	// AcceptanceRounds is how often a refused final answer goes back to the model; 0: DefaultAcceptanceRounds, negative: never.
	AcceptanceRounds int
	// StopReserve is kept of the wall time for cancel and stop; 0: DefaultStopReserve.
	StopReserve time.Duration
	// Standstill tells that time stands for what rest is measured by, so that it cannot be measured: what is interrupted then is not waited
	// for beyond the stop reserve, counted from the interrupt. nil: it never does.
	Standstill func() bool
	// Compaction of histories that grow too long.
	Compaction Compaction
	// Images: the model is shown the pictures that tools take.
	Images bool
	// MaxResultBytes cuts what a tool observed; 0: DefaultMaxResultBytes.
	MaxResultBytes int
	// Secrets (API keys) that must reach no trace, no result and no log.
	Secrets []string
	// Clock; nil: the system's.
	Clock Clock
	// Logger; nil: none.
	Logger *slog.Logger
}

// Clock is where time comes from.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in a goroutine of its own after d; stop prevents that and says whether it did.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Goal is one task.
type Goal struct {
	// Session names the session and its trace: 1 to 64 letters, digits, '-' and '_'.
	Session string
	Task    string
	// Plan, when given, is executed exactly; it needs no task.
	Plan *workflow.Plan
	// Criteria of the caller; empty: the plan's, else those of the skills that ran, what is understood of the task, and those that the
	// model declared.
	Criteria []string
	// Budget: zero fields take the node's defaults; all are cut to its maxima.
	Budget budget.Limits
	// AllowedTools: empty: all that the policy permits.
	AllowedTools []string
	// DryRun validates and publishes nothing; it ends as dry_run.
	DryRun bool
	// Resume goes on with a session that another process left, or that was interrupted: what it did is not done again, what it used counts.
	// Everything else of the goal but Session and Deadline is then the record's.
	Resume *Record
	// Deadline on Config.Clock; zero: none. Reaching it is upstream_timeout.
	Deadline time.Time
}

// Observer sees a session's progress. It is called by the session's goroutine and must not block; what it gets is a copy.
type Observer interface{ Progress(Progress) }

// Progress is reported at every transition.
type Progress struct {
	Session string
	State   State
	Phase   Phase
	// Step is the number of the current step, from 1.
	Step uint32
	// LastStep is the newest observed call; nil: none yet.
	LastStep *Step
	Usage    budget.Usage
}

// Step is one call that has an observation.
type Step struct {
	Index     uint32         `json:"index"` // from 1
	CallID    string         `json:"call_id"`
	Tool      string         `json:"tool"`
	Class     tool.Class     `json:"tool_class"`
	Source    string         `json:"source"`
	Arguments string         `json:"arguments"` // as the model wrote them: maybe no JSON
	OK        bool           `json:"ok"`
	ErrorKind tool.ErrorKind `json:"error_kind,omitempty"`
	Content   string         `json:"content"`
	Start     time.Time      `json:"start"`
	End       time.Time      `json:"end"`
}

// Verification is one criterion that was checked.
type Verification struct {
	Criterion string `json:"criterion"`
	Passed    bool   `json:"passed"`
	Evidence  string `json:"evidence"`
}

// Result of a session.
type Result struct {
	Outcome Outcome
	Reason  Reason
	Answer  string
	Steps   []Step
	// UnmetGoals: each criterion not passed; where none is known, the task's text; empty only when done.
	UnmetGoals    []string
	Verifications []Verification
	Usage         budget.Usage
	// Trace is the name of the record.
	Trace string
	// RestMeasured: rest was measured before this result (else the reason is actuator_fault).
	RestMeasured bool
}
