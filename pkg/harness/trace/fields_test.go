package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Fields writes JSON that encoding/json reads back as it was.
func TestFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type object struct {
			S    string
			B    bool
			I    int64
			U    uint64
			F    float64
			T    time.Time
			L    []string
			Sub  struct{ X string }
			Subs []struct{ N int64 }
		}
		want := object{
			S: rapid.String().Draw(t, "s"), B: rapid.Bool().Draw(t, "b"), I: rapid.Int64().Draw(t, "i"), U: rapid.Uint64().Draw(t, "u"),
			F: rapid.Float64().Draw(t, "f"), T: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "sec"), rapid.Int64Range(0, 999_999_999).Draw(t, "nsec")).UTC(),
			L: rapid.SliceOf(rapid.String()).Draw(t, "l"),
		}
		want.Sub.X = rapid.String().Draw(t, "x")
		for range rapid.IntRange(0, 3).Draw(t, "subs") {
			want.Subs = append(want.Subs, struct{ N int64 }{rapid.Int64().Draw(t, "n")})
		}
		if math.IsInf(want.F, 0) || math.IsNaN(want.F) {
			want.F = 0
		}
		var f Fields
		b := f.Reset().String("S", want.S).Bool("B", want.B).Int("I", want.I).Uint("U", want.U).Float("F", want.F).Time("T", want.T).Strings("L", want.L).
			Object("Sub", func(o *Fields) { o.String("X", want.Sub.X) }).
			List("Subs", len(want.Subs), func(i int, o *Fields) { o.Int("N", want.Subs[i].N) }).JSON()
		var got object
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if got.L == nil {
			got.L = want.L[:0:0]
		}
		g, w := fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want)
		if len(want.L) == 0 {
			got.L, want.L = nil, nil
			g, w = fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want)
		}
		if len(want.Subs) == 0 {
			got.Subs, want.Subs = nil, nil
			g, w = fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want)
		}
		if g != w {
			t.Fatalf("%s\nread %s\nwant %s", b, g, w)
		}
	})
	var f Fields
	if got := string(f.Reset().JSON()); got != "{}" {
		t.Errorf("empty: %s", got)
	}
	var zero Fields
	if got := string(zero.Text("a", "").Time("t", time.Time{}).Text("b", "x").Any("c", nil).JSON()); got != `{"b":"x","c":null}` {
		t.Errorf("%s", got)
	}
	if got := string(new(Fields).JSON()); got != "{}" {
		t.Errorf("%s", got)
	}
}

func TestNonFiniteNumbersAreText(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	var f Fields
	if got := string(f.Reset().Float("a", nan).Float("b", inf).Float("c", -inf).Float("d", 1e-7).JSON()); got != `{"a":"NaN","b":"Infinity","c":"-Infinity","d":1e-07}` {
		t.Errorf("%s", got)
	}
	type inner struct {
		V float64 `json:"v"`
		W *float64
		h int
	}
	cyclic := map[string]any{"x": nan}
	cyclic["self"] = cyclic
	for want, v := range map[string]any{
		`{"a":["NaN","Infinity",1],"b":{"W":"-Infinity","v":2}}`: map[string]any{"a": []float64{nan, inf, 1}, "b": inner{V: 2, W: func() *float64 { x := -inf; return &x }(), h: 1}},
		`"NaN"`:                    nan,
		`null`:                     nil,
		`{"1":"NaN"}`:              map[int]float64{1: nan},
		`["NaN","AQI="]`:           []any{nan, []byte{1, 2}},
		`["NaN",null]`:             []any{nan, (*int)(nil)},
		`["NaN","broken"]`:         []any{nan, errors.New("broken")},
		`[{"v":1,"W":null},"NaN"]`: []any{inner{V: 1}, nan},
		`["NaN","2026-03-01T09:30:12.345678901Z",[1,2]]`: []any{nan, start, [2]int{1, 2}},
	} {
		got := string(Marshal(v))
		var a, b any
		if err := errors.Join(json.Unmarshal([]byte(got), &a), json.Unmarshal([]byte(want), &b)); err != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("got %s, want %s (%v)", got, want, err)
		}
	}
	for _, v := range []any{cyclic, func() {}, make(chan int), complex(1, 2), panicky{}, map[string]any{"f": func() {}, "x": nan}} {
		if b := Marshal(v); !json.Valid(b) {
			t.Errorf("%T: %s", v, b)
		}
	}
}

type panicky struct{}

func (panicky) MarshalJSON() ([]byte, error) { panic("no") }

func TestRedaction(t *testing.T) {
	r := NewRedactor([]string{"sk-abc", "sk-abcdef", "a\"b\\c", "  padded-key\n", "x", ""})
	for text, want := range map[string]string{
		"key sk-abcdef!": "key [redacted]!", "sk-abc": "[redacted]", `a"b\c`: "[redacted]", `{"k":"a\"b\\c"}`: `{"k":"[redacted]"}`, "padded-key": "[redacted]", "x": "x", "": "",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if r.Holds(text) != got(text, want) {
			t.Errorf("%q: holds %t", text, r.Holds(text))
		}
	}
	// As a text, as a text inside a text, and as encoding/json escapes it.
	once, err := json.Marshal(`<a"b\c>`)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(string(once))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{once, twice} {
		if got := r.JSON(b); strings.Contains(string(got), "b") && !strings.Contains(string(got), "redacted") || !json.Valid(got) {
			t.Errorf("%s becomes %s", b, got)
		}
	}
	// Where taking it out would break the JSON, all goes.
	if got := NewRedactor([]string{`"seq":1`}).JSON([]byte(`{"seq":1}`)); string(got) != `{"redacted":true}` {
		t.Errorf("%s", got)
	}
	var none *Redactor
	if none.Text("a") != "a" || none.Holds("a") || string(none.JSON([]byte("{}"))) != "{}" {
		t.Error("nil redacts")
	}
}

func got(text, want string) bool { return text != want }

func TestValidText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "s"))
		var read string
		if err := json.Unmarshal(AppendString(nil, s), &read); err != nil || read != ValidText(s) {
			t.Fatalf("%q is recorded as %q and is valid as %q: %v", s, read, ValidText(s), err)
		}
	})
}
