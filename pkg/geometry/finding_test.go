package geometry_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"agent_node/pkg/geometry"

	"pgregory.net/rapid"
)

func TestFindingJSONHasTheMessagesFieldsAndStringsForWhatJSONLacks(t *testing.T) {
	f := geometry.Finding{Rule: "finite", Subject: "linear.x", Index: -1, Value: math.Inf(-1), Limit: math.NaN(), Unit: "m/s", Message: "m"}
	got, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"rule":"finite","subject":"linear.x","index":-1,"value":"-Infinity","limit":"NaN","unit":"m/s","message":"m"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, _ := json.Marshal([]*geometry.Finding{{Value: 1.5, Limit: math.Inf(1)}}); !strings.Contains(string(got), `"value":1.5,"limit":"Infinity"`) {
		t.Errorf("behind a pointer: %s", got)
	}
}

func TestFindingJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := geometry.Finding{
			Rule: rapid.String().Draw(t, "rule"), Subject: rapid.String().Draw(t, "subject"), Index: rapid.Int().Draw(t, "index"),
			Value: rapid.Float64().Draw(t, "value"), Limit: rapid.SampledFrom([]float64{0, math.NaN(), math.Inf(1), math.Inf(-1), 1e308}).Draw(t, "limit"),
			Unit: "m", Message: rapid.String().Draw(t, "message"),
		}
		data, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var g geometry.Finding
		if err := json.Unmarshal(data, &g); err != nil {
			t.Fatal(err)
		}
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if !same(f.Value, g.Value) || !same(f.Limit, g.Limit) {
			t.Fatalf("%v became %v", f, g)
		}
		f.Value, f.Limit, g.Value, g.Limit = 0, 0, 0, 0
		if f != g {
			t.Fatalf("%v became %v", f, g)
		}
	})
}

func TestNumberRefusesWhatIsNoNumber(t *testing.T) {
	for _, s := range []string{`"nan"`, `"1"`, `null`, `true`, `"+Infinity"`, `{}`, `1e999`} {
		var n geometry.Number
		if err := json.Unmarshal([]byte(s), &n); err == nil {
			t.Errorf("%s was read as %v", s, float64(n))
		}
	}
}

func TestFindingSaysWhatWhereValueLimitUnit(t *testing.T) {
	f := geometry.Over(geometry.RuleLinearVelocity, "linear.x", 3, 0.63, 0.6, "m/s")
	for _, part := range []string{"linear velocity", "linear.x", "[3]", "0.63", "0.6 ", "m/s"} {
		if !strings.Contains(f.String(), part) {
			t.Errorf("%q lacks %q", f, part)
		}
	}
	// A value a hair over its limit does not look like the limit.
	f = geometry.Over(geometry.RuleLinearVelocity, "linear.x", -1, 0.6000001, 0.6, "m/s")
	if strings.Contains(f.Message, "is 0.6 m/s") {
		t.Errorf("%q hides the difference", f)
	}
	if bare := (geometry.Finding{Rule: "r", Subject: "s", Value: 2, Limit: 1, Unit: "m"}); bare.String() != "r: s is 2 m, limit 1 m" {
		t.Errorf("without a message: %q", bare)
	}
}

func TestRefusalCarriesItsFindings(t *testing.T) {
	var err error = &geometry.Refusal{Findings: []geometry.Finding{geometry.NotFinite("x", -1, math.NaN(), "m"), geometry.Over("range", "y", -1, 2, 1, "m")}}
	var r *geometry.Refusal
	if !errors.As(err, &r) || len(r.Findings) != 2 || !strings.Contains(err.Error(), "finite: x") || !strings.Contains(err.Error(), "range: y") {
		t.Errorf("%v", err)
	}
}
