package budget

import (
	"fmt"
	"math"
	"time"
)

// Dimension of a budget.
type Dimension string

// Dimensions; "budget_" in front of one is its reason code.
const (
	Steps        Dimension = "steps"
	ToolCalls    Dimension = "tool_calls"
	InputTokens  Dimension = "input_tokens"
	OutputTokens Dimension = "output_tokens"
	WallTime     Dimension = "wall_time"
	Cost         Dimension = "cost"
)

// Exhausted says which dimension ran out: what was used, what the next step might need at worst, and the limit.
type Exhausted struct {
	Dimension Dimension
	Used      string
	Need      string
	Limit     string
	Unit      string
}

// Error implements error.
func (e *Exhausted) Error() string {
	return fmt.Sprintf("budget of %s: %s of %s %s used, the next step might need %s", e.Dimension, e.Used, e.Limit, e.Unit, e.Need)
}

// Account of one goal. It is not safe for concurrent use: the session's goroutine owns it.
type Account struct {
	limits Limits
	prices Prices
	used   Usage
}

// Open starts an account. A cost limit without known prices, and impossible limits and prices, are errors.
func Open(l Limits, p Prices) (*Account, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	if l.Cost > 0 && !p.Known() {
		return nil, fmt.Errorf("budget: max_cost is %v, but the model's prices are unknown (both 0)", l.Cost)
	}
	return &Account{limits: l, prices: p}, nil
}

// Limits of the account.
func (a *Account) Limits() Limits { return a.limits }

// Used so far. elapsed is the wall time since the goal began.
func (a *Account) Used(elapsed time.Duration) Usage {
	u := a.used
	u.WallTime = elapsed
	return u
}

// Reserve asks whether the next step fits at its worst: one step, one tool call, inputBound tokens in, one token or
// more out, and their cost. outputCap is the model's own cap of one answer (over 0). It returns the cap to send: the
// smaller of the model's and what is left, of tokens and of money. Nothing is booked.
func (a *Account) Reserve(inputBound, outputCap uint64, elapsed time.Duration) (uint64, error) {
	l, u := a.limits, a.used
	if l.WallTime > 0 && elapsed >= l.WallTime {
		return 0, a.wallTime(elapsed)
	}
	if l.Steps > 0 && u.Steps >= l.Steps {
		return 0, exhausted(Steps, u.Steps, 1, l.Steps, "samples")
	}
	if l.ToolCalls > 0 && u.ToolCalls >= l.ToolCalls {
		return 0, exhausted(ToolCalls, u.ToolCalls, 1, l.ToolCalls, "calls")
	}
	if l.InputTokens > 0 && add(u.InputTokens, inputBound) > l.InputTokens {
		return 0, exhausted(InputTokens, u.InputTokens, inputBound, l.InputTokens, "tokens")
	}
	limit := outputCap
	if l.OutputTokens > 0 {
		if u.OutputTokens >= l.OutputTokens {
			return 0, exhausted(OutputTokens, u.OutputTokens, 1, l.OutputTokens, "tokens")
		}
		limit = min(limit, l.OutputTokens-u.OutputTokens)
	}
	if l.Cost > 0 {
		left := l.Cost - u.Cost - a.prices.Cost(inputBound, 0)
		one := a.prices.Cost(0, 1)
		if left < 0 || left < one {
			return 0, &Exhausted{
				Dimension: Cost, Used: fmt.Sprintf("%.6g", u.Cost), Need: fmt.Sprintf("%.6g", a.prices.Cost(inputBound, 1)),
				Limit: fmt.Sprintf("%.6g", l.Cost), Unit: "",
			}
		}
		if one > 0 {
			// A hair less than what is left, so that rounding cannot end above the limit.
			if affordable := math.Floor(left / one * (1 - 1e-12)); affordable < float64(limit) {
				limit = max(1, uint64(affordable))
			}
		}
	}
	return limit, nil
}

// Remaining is what is left of each limit, and at least one of what counts, so that a limit never reads as none. A dimension without a
// limit stays at zero.
func (a *Account) Remaining(elapsed time.Duration) Limits {
	l, u := a.limits, a.used
	l.Steps, l.ToolCalls = remaining(l.Steps, u.Steps), remaining(l.ToolCalls, u.ToolCalls)
	l.InputTokens, l.OutputTokens = remaining(l.InputTokens, u.InputTokens), remaining(l.OutputTokens, u.OutputTokens)
	if l.WallTime > 0 {
		l.WallTime = max(l.WallTime-elapsed, 1)
	}
	if l.Cost > 0 {
		l.Cost = max(l.Cost-u.Cost, math.SmallestNonzeroFloat64)
	}
	return l
}

func remaining[T uint32 | uint64](limit, used T) T {
	switch {
	case limit == 0:
		return 0
	case used >= limit:
		return 1
	}
	return limit - used
}

// StagesLeft is how many stages of a plan, each a step and a call, fit into the limits.
func (a *Account) StagesLeft() int {
	left := math.MaxInt
	if l := a.limits.Steps; l > 0 {
		left = min(left, int(l-min(a.used.Steps, l)))
	}
	if l := a.limits.ToolCalls; l > 0 {
		left = min(left, int(l-min(a.used.ToolCalls, l)))
	}
	return left
}

// Sampled books one step and its tokens; sums saturate.
func (a *Account) Sampled(input, output uint64) {
	a.used.Steps = uint32(min(uint64(a.used.Steps)+1, math.MaxUint32))
	a.used.InputTokens = add(a.used.InputTokens, input)
	a.used.OutputTokens = add(a.used.OutputTokens, output)
	a.used.Cost = a.prices.Cost(a.used.InputTokens, a.used.OutputTokens)
}

// After is the account as it will stand once so many tokens more are booked; the account itself stays as it is.
func (a *Account) After(input, output uint64) Account {
	b := *a
	b.used.InputTokens = add(b.used.InputTokens, input)
	b.used.OutputTokens = add(b.used.OutputTokens, output)
	b.used.Cost = b.prices.Cost(b.used.InputTokens, b.used.OutputTokens)
	return b
}

// Over says which token or cost limit the last answer broke, whatever cap it was given; nil: none.
func (a *Account) Over() error {
	l, u := a.limits, a.used
	switch {
	case l.InputTokens > 0 && u.InputTokens > l.InputTokens:
		return exhausted(InputTokens, u.InputTokens, 0, l.InputTokens, "tokens")
	case l.OutputTokens > 0 && u.OutputTokens > l.OutputTokens:
		return exhausted(OutputTokens, u.OutputTokens, 0, l.OutputTokens, "tokens")
	case l.Cost > 0 && !(u.Cost <= l.Cost):
		return &Exhausted{Dimension: Cost, Used: fmt.Sprintf("%.6g", u.Cost), Need: "0", Limit: fmt.Sprintf("%.6g", l.Cost)}
	}
	return nil
}

// Calls books the calls of one answer, all or none.
func (a *Account) Calls(n int) error {
	if a.limits.ToolCalls > 0 && uint64(a.used.ToolCalls)+uint64(n) > uint64(a.limits.ToolCalls) {
		return exhausted(ToolCalls, a.used.ToolCalls, uint32(min(n, math.MaxUint32)), a.limits.ToolCalls, "calls")
	}
	a.used.ToolCalls = uint32(min(uint64(a.used.ToolCalls)+uint64(n), math.MaxUint32))
	return nil
}

// wallTime says that the wall time has run out.
func (a *Account) wallTime(elapsed time.Duration) error {
	return &Exhausted{Dimension: WallTime, Used: elapsed.String(), Need: "more", Limit: a.limits.WallTime.String()}
}

// Left is the smallest share of any limit that is left, and its dimension: 1 is all, 0 is nothing.
func (a *Account) Left(elapsed time.Duration) (Dimension, float64) {
	dim, least := Dimension(""), 1.0
	see := func(d Dimension, used, limit float64) {
		if limit > 0 {
			if share := max(0, 1-used/limit); share < least {
				dim, least = d, share
			}
		}
	}
	l, u := a.limits, a.used
	see(Steps, float64(u.Steps), float64(l.Steps))
	see(ToolCalls, float64(u.ToolCalls), float64(l.ToolCalls))
	see(InputTokens, float64(u.InputTokens), float64(l.InputTokens))
	see(OutputTokens, float64(u.OutputTokens), float64(l.OutputTokens))
	see(WallTime, elapsed.Seconds(), l.WallTime.Seconds())
	see(Cost, u.Cost, l.Cost)
	return dim, least
}

func exhausted[T uint32 | uint64](d Dimension, used, need, limit T, unit string) error {
	return &Exhausted{Dimension: d, Used: fmt.Sprint(used), Need: fmt.Sprint(need), Limit: fmt.Sprint(limit), Unit: unit}
}

// add saturates: a usage of 2^64-1 must not wrap around to a small number.
func add(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
