package model_test

import (
	"math"
	"testing"

	"go.uber.org/goleak"

	"agent_node/pkg/harness/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Usages add up and never wrap around; the sum is known where each part that counted anything is.
func TestUsagesAddUp(t *testing.T) {
	known := model.Usage{InputTokens: 10, OutputTokens: 4, CachedTokens: 3, ReasoningTokens: 2, Known: true}
	guessed := known
	guessed.Known = false
	twice := model.Usage{InputTokens: 20, OutputTokens: 8, CachedTokens: 6, ReasoningTokens: 4}
	for _, x := range []struct {
		a, b  model.Usage
		known bool
	}{{known, known, true}, {known, guessed, false}, {guessed, known, false}, {guessed, guessed, false}} {
		want := twice
		want.Known = x.known
		if got := x.a.Plus(x.b); got != want {
			t.Errorf("%+v and %+v are %+v", x.a, x.b, got)
		}
	}
	for _, u := range []model.Usage{{}, known, guessed} {
		if u.Plus(model.Usage{}) != u || (model.Usage{}).Plus(u) != u {
			t.Errorf("%+v and nothing are %+v", u, u.Plus(model.Usage{}))
		}
	}
	most := model.Usage{InputTokens: math.MaxUint64, OutputTokens: math.MaxUint64 - 1}
	if got := most.Plus(known); got.InputTokens != math.MaxUint64 || got.OutputTokens != math.MaxUint64 {
		t.Errorf("%+v", got)
	}
}
