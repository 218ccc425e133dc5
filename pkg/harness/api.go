package harness

// The functions and types of this room that others build on (signatures fixed for its callers):
//
//	type Outcome uint8 // Done=1 Unverified=2 Failed=3 BudgetExhausted=4 Interrupted=5 (agent_msgs/action/ExecuteTask)
//	type Reason string // the contract's reason codes, a constant each
//	type State uint8   // Idle=1 Sampling=2 AwaitingTool=3 AwaitingUser=4 Unverified=5 Done=6 Failed=7
//	type Phase string  // assemble sample parse dispatch observe decide (and "stop", "accept")
//	type Config struct {
//		Model    model.Model
//		Tools    *tool.Table            // tool.NewTable(tools ...tool.Tool) (*Table, error): compiles schemas, adds the built-in ones
//		Policy   policy.Policy          // per class, per tool: allow | ask | deny
//		Approver policy.Approver        // interface: Ask(ctx, policy.Request) (policy.Answer, error)
//		Criteria criteria.Evaluator     // cel: over query tools' results
//		Trace    trace.Sink
//		Settle   func(ctx context.Context) (time.Time, error) // guard.Quiesce: nil error only at measured rest, with when; called before acceptance and before every terminal result
//		Stop     func(ctx context.Context, reason string) error // guard.StopAll; ctx is never the session's
//		Facts    string                 // robot facts for the system prompt
//		Limits   budget.Limits defaults and maxima, prices
//		AcceptanceRounds int; StopReserve time.Duration; Clock (fake in tests); Logger *slog.Logger
//	}
//	func New(Config) (*Harness, error)
//	type Goal struct {
//		Session, Task string; Criteria []string; Budget budget.Limits; AllowedTools []string; DryRun bool; Deadline time.Time
//	}
//	func (h *Harness) Run(ctx context.Context, g Goal, o Observer) Result
//	    // ctx is ended with a cause: context.WithCancelCause(…)(harness.Interrupt{Reason: ReasonCanceled, Message: …})
//	    // one goroutine owns the session; Run returns when the result is final and (Settle) at rest. It never panics.
//	type Observer interface{ Progress(Progress) } // every transition and phase: State, Phase, Step number, LastStep, Usage
//	type Step struct { Index; CallID; Tool; Class; Source; Arguments; OK; ErrorKind; Content; Start; End time.Time }
//	type Verification struct { Criterion string; Passed bool; Evidence string }
//	type Result struct { Outcome; Reason; Answer string; Steps []Step; UnmetGoals []string; Verifications []Verification; Usage; Trace string }
