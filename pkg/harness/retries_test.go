package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
)

// stubborn is a model that asks its endpoint so often within one sample, as far as it may; each try before the last is wasted.
func stubborn(tries int, wasted, good model.Usage) (m modelFunc, caps *[]uint64) {
	caps = &[]uint64{}
	return func(_ context.Context, r model.Request) (model.Response, error) {
		out := finish("done")
		for range tries - 1 {
			out.Wasted = out.Wasted.Plus(wasted)
			most, err := r.Afford(out.Wasted)
			if err != nil {
				return model.Response{Wasted: out.Wasted}, fmt.Errorf("no further try: %w", err)
			}
			*caps = append(*caps, most)
		}
		out.Usage = good
		return out, nil
	}, caps
}

// What tries cost that led to nothing is paid for, whether or not the sample succeeds, and none is begun that might exceed the budget.
func TestTriesAreReservedAndPaidFor(t *testing.T) {
	used := model.Usage{InputTokens: 3000, OutputTokens: 100, Known: true}
	for _, x := range []struct {
		name   string
		limits budget.Limits
		prices budget.Prices
		reason harness.Reason
		tries  int // that were afforded
	}{
		{"enough of everything", budget.Limits{}, budget.Prices{}, harness.ReasonUnverified, 3},
		{"too few input tokens", budget.Limits{InputTokens: 9_500}, budget.Prices{}, harness.ReasonBudgetInputTokens, 2},
		{"too few output tokens", budget.Limits{OutputTokens: 150}, budget.Prices{}, harness.ReasonBudgetOutputTokens, 1},
		{"too little money", budget.Limits{Cost: 0.12}, budget.Prices{Input: 10, Output: 30}, harness.ReasonBudgetCost, 2},
	} {
		t.Run(x.name, func(t *testing.T) {
			m, caps := stubborn(4, used, used)
			r := newRig(t, m)
			r.cfg.Prices, r.goal.Budget, r.cfg.AcceptanceRounds = x.prices, x.limits, -1
			res := r.run()
			if res.Reason != x.reason || len(*caps) != x.tries {
				t.Fatalf("%s after %d further tries, want %s after %d: %s", res.Reason, len(*caps), x.reason, x.tries, res.Answer)
			}
			samples := uint64(x.tries + 1)
			if res.Usage.InputTokens != samples*3000 || res.Usage.OutputTokens != samples*100 || res.Usage.Steps != 1 {
				t.Errorf("usage %+v for %d tries", res.Usage, samples)
			}
			if want := x.prices.Cost(samples*3000, samples*100); res.Usage.Cost != want {
				t.Errorf("cost %v, want %v", res.Usage.Cost, want)
			}
			for i, most := range *caps {
				if l := x.limits.OutputTokens; most == 0 || most > harness.DefaultMaxOutputTokens || l > 0 && most > l-uint64(i+1)*100 {
					t.Errorf("try %d may write %d tokens", i+2, most)
				}
			}
			if data := responseOf(r); !strings.Contains(data, fmt.Sprintf(`"wasted_input_tokens":%d`, uint64(x.tries+min(1, 3-x.tries))*3000)) {
				t.Errorf("the record says %s", data)
			}
		})
	}
}

// A sample that fails without having been counted costs nothing, one that the adapter estimated costs that.
func TestFailedSamplesArePaidForAsFarAsTheyAreKnown(t *testing.T) {
	for _, u := range []model.Usage{{}, {InputTokens: 700, OutputTokens: 30}, {InputTokens: 700, OutputTokens: 30, Known: true}} {
		r := newRig(t, modelFunc(func(context.Context, model.Request) (model.Response, error) {
			return model.Response{Usage: u, Wasted: u}, errors.New("broken")
		}))
		res := r.run()
		want(t, res, harness.ReasonModelError)
		if res.Usage.InputTokens != 2*u.InputTokens || res.Usage.OutputTokens != 2*u.OutputTokens {
			t.Errorf("%+v is booked as %+v", u, res.Usage)
		}
	}
}

// responseOf is what the record holds of the first sample's answer.
func responseOf(r *rig) string {
	for _, e := range r.events() {
		if e.Kind == string(harness.KindResponse) {
			return string(e.Data)
		}
	}
	return ""
}
