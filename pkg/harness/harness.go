package harness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/criteria"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// Harness runs sessions. It is safe for concurrent use; sessions share nothing but the configuration.
type Harness struct {
	cfg         Config
	judge       *policy.Judge
	limiter     *policy.Limiter
	redact      *trace.Redactor
	definitions []definition
	all         []model.Tool // of all definitions
	tableJSON   []byte       // of all tools, for the record
	policyJSON  []byte
	predictions chan struct{} // a place for each plan whose steps are being predicted
}

// definition is a tool as the model sees it, with its spec.
type definition struct {
	spec tool.Spec
	seen model.Tool
	json []byte // of seen, for the record
}

// New checks the configuration and fills in its defaults.
func New(cfg Config) (*Harness, error) {
	var errs []error
	if cfg.Model == nil {
		errs = append(errs, errors.New("no model"))
	}
	if cfg.Tools == nil {
		errs = append(errs, errors.New("no tool table"))
	}
	errs = append(errs, cfg.Prices.Check(), cfg.Defaults.Check(), cfg.Maxima.Check())
	var judge *policy.Judge
	if cfg.Tools != nil {
		var err error
		judge, err = policy.NewJudge(cfg.Policy, cfg.Tools)
		errs = append(errs, err)
	}
	for _, x := range []struct {
		name  string
		value int64
	}{{"stop reserve", int64(cfg.StopReserve)}, {"most bytes of a result", int64(cfg.MaxResultBytes)}} {
		if x.value < 0 {
			errs = append(errs, fmt.Errorf("%s is %d, must not be negative", x.name, x.value))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	if err := fillIn(&cfg); err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	h := &Harness{cfg: cfg, judge: judge, limiter: policy.NewLimiter(cfg.Policy), redact: trace.NewRedactor(cfg.Secrets), predictions: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	var recorded []recordedTool
	for _, s := range cfg.Tools.Specs() {
		seen := model.Tool{Name: s.Name, Description: s.Description, Class: s.Class.String(), Parameters: s.Parameters}
		h.definitions = append(h.definitions, definition{s, seen, trace.Marshal(seen)})
		h.all = append(h.all, seen)
		recorded = append(recorded, recordTool(s))
	}
	h.tableJSON, h.policyJSON = trace.Marshal(recorded), trace.Marshal(recordPolicy(cfg.Policy))
	return h, nil
}

func fillIn(cfg *Config) error {
	if cfg.Criteria == nil {
		cel, err := criteria.NewCEL(cfg.Tools.Specs())
		if err != nil {
			return err
		}
		cfg.Criteria = cel
	}
	if cfg.Defaults == (budget.Limits{}) {
		cfg.Defaults = budget.Defaults()
	}
	if cfg.Maxima == (budget.Limits{}) {
		cfg.Maxima = budget.Maxima()
	}
	if cfg.MaxOutputTokens == 0 {
		cfg.MaxOutputTokens = DefaultMaxOutputTokens
	}
	if cfg.AcceptanceRounds == 0 {
		cfg.AcceptanceRounds = DefaultAcceptanceRounds
	}
	cfg.AcceptanceRounds = max(cfg.AcceptanceRounds, 0)
	if cfg.StopReserve == 0 {
		cfg.StopReserve = DefaultStopReserve
	}
	if cfg.MaxResultBytes == 0 {
		cfg.MaxResultBytes = DefaultMaxResultBytes
	}
	if cfg.Clock == nil {
		cfg.Clock = systemClock{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Run works on one goal. ctx is ended with a cause of type Interrupt:
//
//	ctx, cancel := context.WithCancelCause(parent)
//	cancel(harness.Interrupt{Reason: harness.ReasonCanceled, Message: "by the client"})
//
// (any other cause counts as canceled). Run returns when the result is final and
// rest is measured, or says that it is not; it never panics. o may be nil.
func (h *Harness) Run(ctx context.Context, g Goal, o Observer) Result {
	s := newSession(h, g, o)
	defer s.close()
	s.relay = newRelay(s.after)
	var r Result
	s.relay.run(func() { r = s.run(ctx) })
	return r
}
