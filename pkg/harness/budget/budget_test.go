package budget_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agent_node/pkg/harness/budget"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEffectiveLimits(t *testing.T) {
	def := budget.Limits{Steps: 50, WallTime: time.Minute, Cost: 1}
	most := budget.Limits{Steps: 100, ToolCalls: 10, Cost: 2}
	for _, x := range []struct{ goal, want budget.Limits }{
		{budget.Limits{}, budget.Limits{Steps: 50, ToolCalls: 10, WallTime: time.Minute, Cost: 1}},
		{budget.Limits{Steps: 7, ToolCalls: 3, InputTokens: 5, OutputTokens: 6, WallTime: time.Hour, Cost: 1.5}, budget.Limits{Steps: 7, ToolCalls: 3, InputTokens: 5, OutputTokens: 6, WallTime: time.Hour, Cost: 1.5}},
		{budget.Limits{Steps: 1000, ToolCalls: 11, Cost: 3}, budget.Limits{Steps: 100, ToolCalls: 10, WallTime: time.Minute, Cost: 2}},
	} {
		if got := budget.Effective(x.goal, def, most); got != x.want {
			t.Errorf("%+v becomes %+v, want %+v", x.goal, got, x.want)
		}
	}
}

func TestImpossibleLimitsAndPrices(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, l := range []budget.Limits{{Cost: nan}, {Cost: inf}, {Cost: -1}, {WallTime: -1}, {Cost: 1}} {
		if _, err := budget.Open(l, budget.Prices{}); err == nil {
			t.Errorf("%+v is accepted", l)
		}
	}
	for _, p := range []budget.Prices{{Input: nan}, {Output: inf}, {Input: -1}} {
		if _, err := budget.Open(budget.Limits{}, p); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
	if err := errors.Join(budget.Defaults().Check(), budget.Maxima().Check()); err != nil {
		t.Error(err)
	}
	if _, err := budget.Open(budget.Limits{Cost: 1}, budget.Prices{Output: 1}); err != nil {
		t.Error(err)
	}
}

func TestExhaustedNamesDimensionUseAndLimit(t *testing.T) {
	for _, x := range []struct {
		limits  budget.Limits
		elapsed time.Duration
		dim     budget.Dimension
	}{
		{budget.Limits{Steps: 1}, 0, budget.Steps},
		{budget.Limits{ToolCalls: 2}, 0, budget.ToolCalls},
		{budget.Limits{InputTokens: 149}, 0, budget.InputTokens},
		{budget.Limits{OutputTokens: 10}, 0, budget.OutputTokens},
		{budget.Limits{WallTime: time.Second}, time.Second, budget.WallTime},
		{budget.Limits{Cost: 0.00021}, 0, budget.Cost},
		{budget.Limits{Steps: 2, ToolCalls: 3, InputTokens: 150, OutputTokens: 11, WallTime: 2 * time.Second, Cost: 1}, time.Second, ""},
	} {
		a, err := budget.Open(x.limits, budget.Prices{Input: 1, Output: 10})
		if err != nil {
			t.Fatal(err)
		}
		a.Sampled(100, 10)
		if err := a.Calls(2); err != nil {
			t.Fatal(err)
		}
		_, err = a.Reserve(50, 100, x.elapsed)
		var e *budget.Exhausted
		switch {
		case x.dim == "" && err != nil:
			t.Errorf("%+v: %v", x.limits, err)
		case x.dim != "" && (!errors.As(err, &e) || e.Dimension != x.dim || !strings.Contains(err.Error(), string(x.dim))):
			t.Errorf("%s: %v", x.dim, err)
		}
	}
}

// What was reserved and kept to never breaks a limit.
func TestReservationHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := budget.Limits{
			Steps: rapid.Uint32Range(0, 20).Draw(t, "steps"), ToolCalls: rapid.Uint32Range(0, 20).Draw(t, "calls"),
			InputTokens: rapid.Uint64Range(0, 5000).Draw(t, "in"), OutputTokens: rapid.Uint64Range(0, 500).Draw(t, "out"),
			WallTime: time.Duration(rapid.IntRange(0, 20).Draw(t, "wall")) * time.Second,
		}
		p := budget.Prices{Input: rapid.Float64Range(0, 100).Draw(t, "pin"), Output: rapid.Float64Range(0, 100).Draw(t, "pout")}
		if p.Known() {
			l.Cost = rapid.Float64Range(0, 0.1).Draw(t, "cost")
		}
		a, err := budget.Open(l, p)
		if err != nil {
			t.Fatal(err)
		}
		elapsed := time.Duration(0)
		for range 50 {
			bound := rapid.Uint64Range(0, 1000).Draw(t, "bound")
			own := rapid.Uint64Range(1, 300).Draw(t, "own")
			limit, err := a.Reserve(bound, own, elapsed)
			if err != nil {
				return
			}
			if limit == 0 || limit > own {
				t.Fatalf("cap %d of %d", limit, own)
			}
			a.Sampled(rapid.Uint64Range(0, bound).Draw(t, "input"), rapid.Uint64Range(0, limit).Draw(t, "output"))
			if err := a.Over(); err != nil {
				t.Fatalf("limits %+v, prices %+v: %v", l, p, err)
			}
			before := a.Used(elapsed)
			if n := rapid.IntRange(0, 4).Draw(t, "n"); a.Calls(n) != nil && a.Used(elapsed) != before {
				t.Fatal("calls that do not fit were counted")
			}
			u := a.Used(elapsed)
			if l.Steps > 0 && u.Steps > l.Steps || l.ToolCalls > 0 && u.ToolCalls > l.ToolCalls || l.WallTime > 0 && u.WallTime > l.WallTime {
				t.Fatalf("%+v exceeds %+v", u, l)
			}
			if _, left := a.Left(elapsed); left < 0 || left > 1 {
				t.Fatalf("left %v", left)
			}
			elapsed += time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond
		}
	})
}

// Absurd numbers saturate; none wraps around to a small one.
func TestAccountsSaturate(t *testing.T) {
	a, err := budget.Open(budget.Limits{InputTokens: 1000, OutputTokens: 1000, Cost: 1}, budget.Prices{Input: 1, Output: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		a.Sampled(math.MaxUint64, math.MaxUint64)
	}
	u := a.Used(0)
	if u.InputTokens != math.MaxUint64 || u.OutputTokens != math.MaxUint64 || a.Over() == nil {
		t.Fatalf("%+v", u)
	}
	if _, err := a.Reserve(math.MaxUint64, 1, 0); err == nil {
		t.Fatal("there is something left")
	}
	b, err := budget.Open(budget.Limits{InputTokens: 1000}, budget.Prices{})
	if err != nil {
		t.Fatal(err)
	}
	b.Sampled(1, 1)
	if _, err := b.Reserve(math.MaxUint64, 1, 0); err == nil {
		t.Fatal("an overflowing bound fits")
	}
}

func TestOver(t *testing.T) {
	for dim, l := range map[budget.Dimension]budget.Limits{budget.InputTokens: {InputTokens: 9}, budget.OutputTokens: {OutputTokens: 9}, budget.Cost: {Cost: 1e-9}} {
		a, err := budget.Open(l, budget.Prices{Input: 1})
		if err != nil {
			t.Fatal(err)
		}
		a.Sampled(10, 10)
		var e *budget.Exhausted
		if err := a.Over(); !errors.As(err, &e) || e.Dimension != dim {
			t.Errorf("%s: %v", dim, err)
		}
	}
}

func TestLeft(t *testing.T) {
	a, err := budget.Open(budget.Limits{Steps: 10, ToolCalls: 4, WallTime: 10 * time.Second}, budget.Prices{})
	if err != nil {
		t.Fatal(err)
	}
	if d, left := a.Left(0); d != "" || left != 1 {
		t.Errorf("%s %v", d, left)
	}
	if err := a.Calls(3); err != nil {
		t.Fatal(err)
	}
	if d, left := a.Left(time.Second); d != budget.ToolCalls || left != 0.25 {
		t.Errorf("%s %v", d, left)
	}
	if d, left := a.Left(time.Hour); d != budget.WallTime || left != 0 {
		t.Errorf("%s %v", d, left)
	}
	if l := a.Limits(); l.Steps != 10 {
		t.Errorf("%+v", l)
	}
}

// A meter's bound is never below what the parts allow, and gets tight once an endpoint has counted.
func TestMeter(t *testing.T) {
	var m budget.Meter
	s := budget.Size{Bytes: 9000, Messages: 10, Tools: 5}
	if m.Bound(s) != s.Bound() || s.Bound() < s.Bytes || s.Estimate() >= s.Bound() {
		t.Fatalf("bound %d, estimate %d", m.Bound(s), s.Estimate())
	}
	m.Counted(s, 2500)
	grown := budget.Size{Bytes: 9100, Messages: 12, Tools: 5}
	if got := m.Bound(grown); got < 2600 || got > 2800 {
		t.Errorf("bound %d of a request that grew by 100 bytes", got)
	}
	if other := (budget.Size{Bytes: 8000, Messages: 9, Tools: 5}); m.Bound(other) != other.Bound() {
		t.Error("a smaller request is bounded by a larger one's count")
	}
	if budget.EstimateText(0) == 0 {
		t.Error("an empty answer costs nothing")
	}
}

func TestAfterLeavesTheAccountAlone(t *testing.T) {
	a, err := budget.Open(budget.Limits{InputTokens: 100, Cost: 1}, budget.Prices{Input: 1000})
	if err != nil {
		t.Fatal(err)
	}
	b := a.After(90, math.MaxUint64)
	if u := b.Used(0); u.Steps != 0 || u.InputTokens != 90 || u.OutputTokens != math.MaxUint64 || u.Cost != 0.09 {
		t.Errorf("%+v", u)
	}
	if _, err := b.Reserve(20, 1, 0); err == nil {
		t.Error("20 of the 10 tokens left are reserved")
	}
	if a.Used(0) != (budget.Usage{}) {
		t.Errorf("the account itself: %+v", a.Used(0))
	}
}

// Pictures are bounded by the dearest count in use, and what an endpoint has counted is known from then on.
func TestImageTokens(t *testing.T) {
	for _, c := range []struct {
		w, h            int
		bound, estimate uint64
	}{{512, 512, 8500, 350}, {512, 384, 8500, 263}, {513, 1, 14167, 1}, {0, -3, 8500, 1}, {1024, 1024, 25501, 1399}} {
		if b, e := budget.ImageTokens(c.w, c.h); b != c.bound || e != c.estimate {
			t.Errorf("%d x %d: %d, ordinarily %d", c.w, c.h, b, e)
		}
	}
	var m budget.Meter
	b, e := budget.ImageTokens(512, 512)
	s := budget.Size{Bytes: 100, Messages: 1, ImageBound: b, ImageEstimate: e}
	if s.Bound() < b+100 || s.Estimate() < e || s.Estimate() > e+100 {
		t.Errorf("bound %d, estimate %d", s.Bound(), s.Estimate())
	}
	m.Counted(s, 400)
	grown := s
	grown.ImageBound += b
	if got := m.Bound(grown); got < 400+b || got > 500+b {
		t.Errorf("bound %d of a request that grew by a picture", got)
	}
	without := s
	without.ImageBound = 0
	if m.Bound(without) != without.Bound() {
		t.Error("a request without the picture is bounded by one with it")
	}
}

// What is left may be handed on: it is never more than what there was, and a limit never reads as none.
func TestRemainingIsALimitWhereThereWasOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := budget.Limits{
			Steps: rapid.Uint32().Draw(t, "steps"), ToolCalls: rapid.Uint32Range(0, 3).Draw(t, "calls"),
			InputTokens: rapid.Uint64().Draw(t, "input"), OutputTokens: rapid.Uint64Range(0, 5).Draw(t, "output"),
			WallTime: time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "wall")), Cost: rapid.Float64Range(0, 10).Draw(t, "cost"),
		}
		a, err := budget.Open(l, budget.Prices{Input: 1, Output: 2})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 5).Draw(t, "samples") {
			a.Sampled(rapid.Uint64().Draw(t, "in"), rapid.Uint64Range(0, 9).Draw(t, "out"))
		}
		elapsed := time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "elapsed"))
		left, used := a.Remaining(elapsed), a.Used(elapsed)
		check := func(what string, limit, used, left float64) {
			switch {
			case limit == 0 && left != 0:
				t.Fatalf("%s: no limit, and %v are left", what, left)
			case limit > 0 && !(left > 0 && left <= limit):
				t.Fatalf("%s: %v are left of %v", what, left, limit)
			case limit > used && left > (limit-used)*(1+1e-9):
				t.Fatalf("%s: %v are left of %v, though %v are used", what, left, limit, used)
			}
		}
		check("steps", float64(l.Steps), float64(used.Steps), float64(left.Steps))
		check("calls", float64(l.ToolCalls), float64(used.ToolCalls), float64(left.ToolCalls))
		check("input", float64(l.InputTokens), float64(used.InputTokens), float64(left.InputTokens))
		check("output", float64(l.OutputTokens), float64(used.OutputTokens), float64(left.OutputTokens))
		check("time", l.WallTime.Seconds(), elapsed.Seconds(), left.WallTime.Seconds())
		check("cost", l.Cost, used.Cost, left.Cost)
	})
}
