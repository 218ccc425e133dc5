package harness

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersStandOrDoNot(t *testing.T) {
	for _, x := range []struct {
		answer   string
		observed string
		want     bool
	}{
		{"87 %", `{"percent":87.4}`, true},
		{"87.4 percent", `{"percent":87.4}`, true},
		{"87.5 percent", `{"percent":87.45}`, true},
		{"88 %", `{"percent":87.4}`, false},
		{"87.40 %", `{"percent":87.4}`, true},
		{"87.41 %", `{"percent":87.4}`, false},
		{"87 %", `{"percentage":0.874}`, true},
		{"0.87", `{"percentage":0.874}`, true},
		{"0.9", `{"percentage":0.874}`, true},
		{"eighty-seven percent", `{"percentage":0.874}`, true},
		{"ninety percent", `{"percentage":0.874}`, false},
		{"1,234.5 m", `1234.5`, true},
		{"1,234.5 m", `1 and 234.5`, true}, // two numbers, both observed
		{"1.234 m", `1234`, false},
		{"-0.5 m", `{"x":-0.5}`, true},
		{"0.5 m", `{"x":-0.5}`, false},
		{"−0.5 m", `{"x":-0.5}`, true},
		{"3-5 m", `3 and 5`, true},
		{"1.2e3", `{"x":1234}`, true},
		{"1.2e3", `{"x":1260}`, false},
		{"1e999", `{"x":5}`, false},
		{"at tool0", `{"frame":"tool0"}`, true},
		{"at tool0", `{"frame":"tool1"}`, false},
		{"it is at 55%and rising", `{"percent":55}`, true},
		{"is55", `{"percent":54}`, false},
		{"no number at all", ``, true},
		{"one of them", ``, true},
		{"one hundred percent", `{"percent":100}`, true},
		{"one hundred and five", `{"n":105}`, true},
		{"two thousand three hundred", `{"n":2300}`, true},
		{"twenty-one", `{"n":21}`, true},
		{"twenty one", `{"n":22}`, false},
		{"٤٢", `{"n":42}`, true}, // Arabic-Indic digits
		{"٤٣", `{"n":42}`, false},
		{"8７ %", `{"percent":87}`, true}, // a full-width digit
		{"version 2 at (1,2)", `[1,2]`, true},
		{"2,5 m", `{"x":2.5}`, true}, // a decimal comma
		{"100", `{"x":1}`, true},     // the percentage of 1
		{"0", `{"x":0.4}`, true},
	} {
		o := observedIn([]string{x.observed})
		got := true
		for _, n := range numbersIn(x.answer) {
			got = got && o.holds(n)
		}
		if got != x.want {
			t.Errorf("%q on %q: %t, want %t (%+v)", x.answer, x.observed, got, x.want, numbersIn(x.answer))
		}
	}
}

// A law: an observed number stands at any precision it is rounded to, and a number more than a unit of its last digit
// away from everything observed does not.
func TestRoundedNumberStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e6, 1e6).Draw(t, "v")
		digits := rapid.IntRange(0, 6).Draw(t, "digits")
		o := observedIn([]string{fmt.Sprintf(`{"x":%v}`, v)})
		for _, text := range []string{fmt.Sprintf("about %.*f m", digits, v), fmt.Sprintf("%.*f%%", digits, v*100)} {
			for _, n := range numbersIn(text) {
				if !o.holds(n) {
					t.Fatalf("%q does not stand on %v", text, v)
				}
			}
		}
		far := v*2 + 1e7
		for _, n := range numbersIn(fmt.Sprintf("%.*f", digits, far)) {
			if o.holds(n) {
				t.Fatalf("%v stands on %v", far, v)
			}
		}
	})
}

func FuzzNumbers(f *testing.F) {
	f.Add("87 % of 1,234.5e2 m", `{"x":-1e308}`)
	f.Add("one hundred and one thousand twenty", "zwei")
	f.Fuzz(func(t *testing.T, answer, seen string) {
		o := observedIn([]string{seen})
		for _, n := range numbersIn(answer) {
			o.holds(n)
			if len(n.readings) == 0 || n.text == "" {
				t.Fatalf("%q: %+v", answer, n)
			}
		}
	})
}
