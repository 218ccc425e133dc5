package budget

import (
	"fmt"
	"math"
	"time"
)

// Limits of one goal. A zero field means: the default of the node, and where that is zero too, no limit.
type Limits struct {
	Steps        uint32        `json:"max_steps,omitempty"`
	ToolCalls    uint32        `json:"max_tool_calls,omitempty"`
	InputTokens  uint64        `json:"max_input_tokens,omitempty"`
	OutputTokens uint64        `json:"max_output_tokens,omitempty"`
	WallTime     time.Duration `json:"max_wall_time_ns,omitempty"`
	Cost         float64       `json:"max_cost,omitempty"` // in the currency of Prices
}

// Usage is what a goal has used so far.
type Usage struct {
	Steps        uint32        `json:"steps"`
	ToolCalls    uint32        `json:"tool_calls"`
	InputTokens  uint64        `json:"input_tokens"`
	OutputTokens uint64        `json:"output_tokens"`
	WallTime     time.Duration `json:"wall_time_ns"`
	Cost         float64       `json:"cost"`
}

// Prices per million tokens. Both zero: unknown, and then a cost limit is refused.
type Prices struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// Known says whether a cost can be computed.
func (p Prices) Known() bool { return p.Input > 0 || p.Output > 0 }

// Cost of that many tokens.
func (p Prices) Cost(input, output uint64) float64 {
	return (float64(input)*p.Input + float64(output)*p.Output) / 1e6
}

// Check says which price is impossible.
func (p Prices) Check() error {
	for _, x := range []struct {
		name  string
		value float64
	}{{"input", p.Input}, {"output", p.Output}} {
		if !(x.value >= 0) || math.IsInf(x.value, 0) {
			return fmt.Errorf("budget: price of %s tokens is %v per million, must be finite and not negative", x.name, x.value)
		}
	}
	return nil
}

// Defaults are the limits of a goal that names none: 50 steps, 100 tool calls, 2,000,000 input
// tokens, 100,000 output tokens, 10 minutes, and no limit of cost.
func Defaults() Limits {
	return Limits{Steps: 50, ToolCalls: 100, InputTokens: 2_000_000, OutputTokens: 100_000, WallTime: 10 * time.Minute}
}

// Maxima are the most that a goal gets unless the node says otherwise: 1,000 steps, 2,000 tool calls,
// 50,000,000 input tokens, 2,000,000 output tokens, 4 hours, and no limit of cost.
func Maxima() Limits {
	return Limits{Steps: 1000, ToolCalls: 2000, InputTokens: 50_000_000, OutputTokens: 2_000_000, WallTime: 4 * time.Hour}
}

// Check says which limit is impossible.
func (l Limits) Check() error {
	if l.WallTime < 0 {
		return fmt.Errorf("budget: max_wall_time is %v, must not be negative", l.WallTime)
	}
	if !(l.Cost >= 0) || math.IsInf(l.Cost, 0) {
		return fmt.Errorf("budget: max_cost is %v, must be finite and not negative", l.Cost)
	}
	return nil
}

// Effective limits of a goal: its own, else the defaults, and never above the maxima.
func Effective(goal, defaults, maxima Limits) Limits {
	return Limits{
		Steps:        effective(goal.Steps, defaults.Steps, maxima.Steps),
		ToolCalls:    effective(goal.ToolCalls, defaults.ToolCalls, maxima.ToolCalls),
		InputTokens:  effective(goal.InputTokens, defaults.InputTokens, maxima.InputTokens),
		OutputTokens: effective(goal.OutputTokens, defaults.OutputTokens, maxima.OutputTokens),
		WallTime:     effective(goal.WallTime, defaults.WallTime, maxima.WallTime),
		Cost:         effective(goal.Cost, defaults.Cost, maxima.Cost),
	}
}

// effective treats zero as "not said" on every level.
func effective[T uint32 | uint64 | time.Duration | float64](goal, def, most T) T {
	v := goal
	if v == 0 {
		v = def
	}
	if most > 0 && (v == 0 || v > most) {
		v = most
	}
	return v
}
