package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agent_node/pkg/harness/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// simple is a tool of a spec and a function.
type simple struct {
	spec tool.Spec
	do   func(context.Context, tool.Call) tool.Result
}

func (s simple) Spec() tool.Spec { return s.spec }
func (s simple) Call(ctx context.Context, c tool.Call) tool.Result {
	return s.do(ctx, c)
}

func named(name string, class tool.Class, schema string) simple {
	return simple{spec: tool.Spec{Name: name, Class: class, Parameters: json.RawMessage(schema)}}
}

func table(t testing.TB, schema string) *tool.Table {
	t.Helper()
	tab, err := tool.NewTable(named("t", tool.Query, schema))
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestStrictJSON(t *testing.T) {
	for _, x := range []struct {
		text   string
		offset int // -1: valid
		words  string
	}{
		{`{"a":1,"b":[true,null,"x"],"c":{"d":-0.5e3}}`, -1, ""},
		{" \t\r\n{} ", -1, ""},
		{`"\u00e4\ud83e\udd16\n"`, -1, ""},
		{`0`, -1, ""},
		{`-0`, -1, ""},
		{`9223372036854775808`, -1, ""},
		{``, 0, "empty"},
		{`  `, 2, "empty"},
		{`{"a":NaN}`, 5, "NaN"},
		{`{"a":Infinity}`, 5, "Infinity"},
		{`{"a":-Infinity}`, 5, "-Infinity"},
		{`NaN`, 0, "NaN"},
		{`{"a":1,"a":2}`, 7, "duplicate key"},
		{`{"a":{"b":1,"b":1}}`, 12, "duplicate key"},
		{`{"a":1,"\u0061":2}`, 7, "duplicate key"},
		{`{"a":1}{"a":1}`, 7, "behind the value"},
		{`{"a":1} x`, 8, "behind the value"},
		{`1 2`, 2, "behind"},
		{`{"a":1`, 6, "the end of the text"},
		{`{"a":1,}`, 7, "where a key belongs"},
		{`[1,]`, 3, "where a value belongs"},
		{`{a:1}`, 1, "where a key belongs"},
		{`{"a" 1}`, 5, "':'"},
		{`[1 2]`, 3, "','"},
		{`{"a":1 "b":2}`, 7, "','"},
		{`01`, 0, "leading zero"},
		{`1.`, 0, "digits"},
		{`.5`, 0, "where a value"},
		{`1e`, 0, "digits"},
		{`+1`, 0, "where a value"},
		{`-`, 0, "no JSON number"},
		{`1x`, 0, "no JSON number"},
		{`1e999`, 0, "range"},
		{`-1e999`, 0, "range"},
		{`1` + strings.Repeat("0", 400), 0, "range"},
		{"\"\xff\"", 1, "UTF-8"},
		{"\"\\n\xff\"", 3, "UTF-8"},
		{"\"a\nb\"", 2, "control"},
		{"\"\\na\nb\"", 4, "control"},
		{`"abc`, 0, "not closed"},
		{`"ab\n`, 0, "not closed"},
		{`"\ud800"`, 1, "surrogate"},
		{`"\ud800\u0041"`, 1, "surrogate"},
		{`"\udc00"`, 1, "surrogate"},
		{`"\x"`, 1, "escape"},
		{`"\u12g4"`, 1, "hexadecimal"},
		{`"\u12`, 1, "escape"},
		{`"\`, 1, "escape"},
		{`tru`, 0, "where a value"},
		{`truex`, 0, "where a value"},
		{`nulls`, 0, "where a value"},
		{"```json\n{}\n```", 0, "where a value"},
		{"\ufeff{}", 0, "where a value"},
		{strings.Repeat("[", 100), 64, "levels"},
		{strings.Repeat(`{"a":`, 100), 320, "levels"},
	} {
		_, err := tool.ParseStrict([]byte(x.text))
		var se *tool.SyntaxError
		switch {
		case x.offset < 0 && err != nil:
			t.Errorf("%.40q: %v", x.text, err)
		case x.offset >= 0 && !errors.As(err, &se):
			t.Errorf("%.40q: error %v", x.text, err)
		case x.offset >= 0 && (se.Offset != x.offset || !strings.Contains(err.Error(), x.words)):
			t.Errorf("%.40q: %v, want offset %d and %q", x.text, err, x.offset, x.words)
		}
	}
}

// What the strict reader accepts, encoding/json reads the same; what encoding/json refuses, it refuses.
func FuzzStrictJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"\u00e4",{"b":null}]}`, `{"a":1,"a":2}`, `NaN`, `"\ud800"`, "\"\xff\"", `1e400`, `[[[`, `{"x":-0}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := tool.ParseStrict(b)
		if err != nil {
			var se *tool.SyntaxError
			if !errors.As(err, &se) || se.Offset < 0 || se.Offset > len(b) {
				t.Fatalf("%q: %v", b, err)
			}
			return
		}
		if !json.Valid(b) {
			t.Fatalf("%q is accepted and no JSON", b)
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		var x, y any
		if err := errors.Join(json.Unmarshal(b, &x), json.Unmarshal(again, &y)); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		bx, errX := json.Marshal(x)
		by, errY := json.Marshal(y)
		if errX != nil || errY != nil || string(bx) != string(by) {
			t.Fatalf("%q reads as %s, encoding/json reads %s", b, by, bx)
		}
	})
}

const moveSchema = `{"type":"object","properties":{
	"x":{"type":"number","minimum":-5,"maximum":5},"n":{"type":"integer","minimum":0},
	"frame":{"type":"string","enum":["map","odom"]},"fast":{"type":"boolean","default":true}},
	"required":["x","frame"]}`

func TestValidationNamesEveryViolationWithItsPath(t *testing.T) {
	tab := table(t, moveSchema)
	for _, x := range []struct {
		arguments string
		paths     string // of the violations; "": valid
		words     string
	}{
		{`{"x":1.5,"frame":"map"}`, "", ""},
		{` {"x":5,"frame":"odom","n":3.0,"fast":false} `, "", ""},
		{`{"x":-5.0,"frame":"map"}`, "", ""},
		{`{"x":5.0000001,"frame":"map"}`, "/x", "maximum"},
		{`{"x":"1.5","frame":"map"}`, "/x", "want number"},
		{`{"x":"NaN","frame":"map"}`, "/x", "want number"},
		{`{"x":9,"n":-1.5,"frame":"base","fast":"yes"}`, "/fast /frame /n /x", ""},
		{`{"frame":"map"}`, "/", "missing property 'x'"},
		{`{}`, "/", "missing properties 'frame', 'x'"},
		{`{"x":1,"frame":"map","speed":3}`, "/", "additional properties 'speed' not allowed"},
		{`[]`, "/", "an array"},
		{`null`, "/", "null"},
		{`"{}"`, "/", "a string"},
		{`3`, "/", "a number"},
		{`true`, "/", "a boolean"},
		{``, "/ /", "empty text is no JSON object"},
		{`{"x":NaN,"frame":"map"}`, "/", "offset 5"},
	} {
		got, err := tab.Validate("t", []byte(x.arguments))
		var ie *tool.InvalidError
		if x.paths == "" {
			if err != nil || string(got) != strings.TrimSpace(x.arguments) {
				t.Errorf("%s: %s %v", x.arguments, got, err)
			}
			continue
		}
		if !errors.As(err, &ie) {
			t.Errorf("%s: %v", x.arguments, err)
			continue
		}
		var paths []string
		for _, v := range ie.Violations {
			if v.Path == "" {
				v.Path = "/"
			}
			paths = append(paths, v.Path)
		}
		if strings.Join(paths, " ") != x.paths || !strings.Contains(err.Error(), x.words) {
			t.Errorf("%s: %v, want %s with %q", x.arguments, err, x.paths, x.words)
		}
	}
	if _, err := tab.Validate("u", []byte(`{}`)); !errors.Is(err, tool.ErrUnknown) {
		t.Errorf("an unknown tool: %v", err)
	}
}

// Either a place or a pose: alternatives keep unknown properties out as well.
func TestAlternatives(t *testing.T) {
	tab := table(t, `{"type":"object",
		"oneOf":[{"properties":{"place":{"type":"string"}},"required":["place"]},
		         {"properties":{"x":{"type":"number"},"y":{"type":"number"}},"required":["x","y"]}]}`)
	for arguments, ok := range map[string]bool{
		`{"place":"kitchen"}`: true, `{"x":1,"y":2}`: true, `{"place":"kitchen","x":1,"y":2}`: false, `{"x":1}`: false,
		`{"place":"kitchen","speed":1}`: false, `{}`: false,
	} {
		if _, err := tab.Validate("t", []byte(arguments)); (err == nil) != ok {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	if got := strings.Join(tab.Properties("t"), " "); got != "place x y" {
		t.Errorf("properties %q", got)
	}
}

// The quick check never accepts what the library refuses.
func TestQuickCheckNeverAcceptsMore(t *testing.T) {
	quick := table(t, moveSchema)
	// The same schema with a keyword that judges nothing here but is not known to the quick check.
	full := table(t, strings.Replace(moveSchema, `{"type":"object",`, `{"type":"object","minProperties":0,`, 1))
	value := rapid.SampledFrom([]string{
		`1`, `-5`, `5`, `5.0000000001`, `4.999`, `-5e0`, `0.5e1`, `1e308`, `9007199254740993`, `-9223372036854775808`, `"map"`, `"odom"`, `"x"`, `true`, `null`, `[]`, `{}`, `0`, `-0`, `1.0`,
	})
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		for _, key := range []string{"x", "n", "frame", "fast", "other"} {
			if rapid.IntRange(0, 3).Draw(t, "has "+key) > 0 && key != "other" || key == "other" && rapid.IntRange(0, 9).Draw(t, "other") == 0 {
				parts = append(parts, `"`+key+`":`+value.Draw(t, key))
			}
		}
		arguments := []byte("{" + strings.Join(parts, ",") + "}")
		_, a := quick.Validate("t", arguments)
		_, b := full.Validate("t", arguments)
		if (a == nil) != (b == nil) {
			t.Fatalf("%s: quick %v, full %v", arguments, a, b)
		}
	})
}

func TestTableRefusesWhatIsMalformed(t *testing.T) {
	good := named("good", tool.Query, "")
	for name, x := range map[string]struct {
		tools []tool.Tool
		words string
	}{
		"a name twice":          {[]tool.Tool{good, good}, "taken"},
		"a built-in name":       {[]tool.Tool{named("finish", tool.Query, "")}, "taken"},
		"an empty name":         {[]tool.Tool{named("", tool.Query, "")}, "name"},
		"a name with a blank":   {[]tool.Tool{named("a b", tool.Query, "")}, "name"},
		"a long name":           {[]tool.Tool{named(strings.Repeat("a", 65), tool.Query, "")}, "name"},
		"an unknown class":      {[]tool.Tool{named("t", 9, "")}, "class"},
		"a control tool":        {[]tool.Tool{named("t", tool.Control, "")}, "control"},
		"nil":                   {[]tool.Tool{nil}, "nil"},
		"a negative time limit": {[]tool.Tool{simple{spec: tool.Spec{Name: "t", Class: tool.Query, TimeLimit: -1}}}, "time limit"},
		"no object":             {[]tool.Tool{named("t", tool.Query, `{"type":"array"}`)}, "object"},
		"no JSON":               {[]tool.Tool{named("t", tool.Query, `{"type":"object"`)}, "schema"},
		"a duplicate key":       {[]tool.Tool{named("t", tool.Query, `{"type":"object","type":"object"}`)}, "duplicate"},
		"no schema":             {[]tool.Tool{named("t", tool.Query, `{"type":"object","properties":{"x":{"type":"nummer"}}}`)}, "schema"},
		"a foreign reference":   {[]tool.Tool{named("t", tool.Query, `{"type":"object","properties":{"x":{"$ref":"file:///etc/passwd"}}}`)}, "another document"},
	} {
		if _, err := tool.NewTable(x.tools...); err == nil || !strings.Contains(err.Error(), x.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := tool.NewTable(named("", tool.Query, ""), named("t", 9, ""))
	if err == nil || !strings.Contains(err.Error(), "class 9") || !strings.Contains(err.Error(), `name ""`) {
		t.Errorf("not all errors are reported: %v", err)
	}
}

func TestTable(t *testing.T) {
	tab, err := tool.NewTable(named("b", tool.Query, ""), named("a", tool.Skill, `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}},"required":["a"]}`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range tab.Specs() {
		names = append(names, s.Name+":"+s.Class.String())
	}
	if got := strings.Join(names, " "); got != "finish:control ask_person:control declare_criteria:control b:query a:skill" {
		t.Errorf("specs %s", got)
	}
	if got := strings.Join(tab.Properties("a"), " "); got != "z a" {
		t.Errorf("properties %q: the order of the text is lost", got)
	}
	if got := strings.Join(tab.Required("a"), " "); got != "a" {
		t.Errorf("required %q", got)
	}
	if _, ok := tab.Get("A"); ok || tab.Properties("A") != nil || tab.Required("A") != nil {
		t.Error("names are not exact")
	}
	if x, ok := tab.Get("finish"); !ok || x.Call(t.Context(), tool.Call{}).OK {
		t.Error("a built-in tool acts by itself")
	}
	if _, err := tab.Validate("b", []byte(`{"x":1}`)); err == nil {
		t.Error("a tool without arguments takes one")
	}
}

func TestInvoke(t *testing.T) {
	for name, x := range map[string]struct {
		do     func(context.Context, tool.Call) tool.Result
		want   tool.Result
		ending tool.Ending
		took   time.Duration
	}{
		"returns": {
			func(context.Context, tool.Call) tool.Result { return tool.Result{OK: true, Content: "x"} },
			tool.Result{OK: true, Content: "x", Source: "src"},
			tool.Returned, 0,
		},
		"fails without a kind": {
			func(context.Context, tool.Call) tool.Result { return tool.Result{Content: "x"} },
			tool.Result{ErrorKind: tool.Failed, Content: "x", Source: "src"},
			tool.Returned, 0,
		},
		"contradicts itself": {func(context.Context, tool.Call) tool.Result {
			return tool.Result{OK: true, Passed: true, ErrorKind: tool.StaleState, Source: "mine"}
		}, tool.Result{ErrorKind: tool.StaleState, Source: "mine"}, tool.Returned, 0},
		"invents a kind": {
			func(context.Context, tool.Call) tool.Result { return tool.Result{ErrorKind: "odd", Content: "x"} },
			tool.Result{ErrorKind: tool.Failed, Content: "odd: x", Source: "src"},
			tool.Returned, 0,
		},
		"panics": {
			func(context.Context, tool.Call) tool.Result { panic("boom") },
			tool.Result{ErrorKind: tool.Failed, Content: "t panicked: boom", Source: "src"},
			tool.Panicked, 0,
		},
		"ends its goroutine": {
			func(context.Context, tool.Call) tool.Result { runtime.Goexit(); return tool.Result{OK: true} },
			tool.Result{ErrorKind: tool.Failed, Content: "the tool ended its goroutine without a result", Source: "src"},
			tool.Panicked, 0,
		},
		"obeys its limit": {
			func(ctx context.Context, _ tool.Call) tool.Result { <-ctx.Done(); return tool.Result{Content: "late"} },
			tool.Result{ErrorKind: tool.Timeout, Content: "late", Source: "src"},
			tool.Returned, 5 * time.Second,
		},
		"hangs": {
			func(context.Context, tool.Call) tool.Result { time.Sleep(time.Minute); return tool.Result{OK: true} },
			tool.Result{ErrorKind: tool.Timeout, Content: "t did not return within 2s of its end (time limit of 5s); it is abandoned and what it observes later is ignored", Source: "src"},
			tool.Abandoned, 7 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := simple{spec: tool.Spec{Name: "t", Source: "src"}, do: x.do}
				notes, late := 0, 0
				start := time.Now()
				got, ending := tool.Invoke(t.Context(), s, &s.spec, tool.Call{Note: func(string, any) { notes++ }}, tool.Invocation{
					TimeLimit: 5 * time.Second, Grace: 2 * time.Second, Late: func(tool.Call, tool.Result) { late++ },
				})
				if got.OK != x.want.OK || got.ErrorKind != x.want.ErrorKind || got.Content != x.want.Content || got.Source != x.want.Source || got.Passed != x.want.Passed ||
					ending != x.ending || time.Since(start) != x.took {
					t.Errorf("got %+v, %v after %v", got, ending, time.Since(start))
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if (late == 1) != (ending == tool.Abandoned) {
					t.Errorf("%d late results", late)
				}
				if name == "panics" && notes != 1 {
					t.Error("the panic was not noted")
				}
			})
		})
	}
}

// A call whose context has ended, and not its own limit, is canceled and not timed out.
func TestAbandonedByItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("budget")
		parent, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		s := simple{spec: tool.Spec{Name: "t", Class: tool.Skill}, do: func(ctx context.Context, _ tool.Call) tool.Result {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), cause) {
				t.Errorf("ended by %v", context.Cause(ctx))
			}
			time.Sleep(time.Hour)
			return tool.Result{}
		}}
		got, ending := tool.Invoke(parent, s, &s.spec, tool.Call{}, tool.Invocation{Grace: time.Second})
		if got.ErrorKind != tool.Canceled || ending != tool.Abandoned {
			t.Errorf("got %+v, %v", got, ending)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		limit := rapid.IntRange(0, 40).Draw(t, "limit")
		got, cut := tool.Cut(text, limit, "whole elsewhere")
		valid := strings.ToValidUTF8(text, "\uFFFD")
		if !cut {
			if got != valid || len(valid) > limit {
				t.Fatalf("%q uncut is %q", text, got)
			}
			return
		}
		head, note, ok := strings.Cut(got, " … [cut: ")
		for !strings.HasPrefix(valid, head) && ok { // the text itself may hold the mark
			t.Skip("the mark is in the text")
		}
		if !ok || len(head) > limit || len(head) < limit-3 || !strings.HasSuffix(note, "whole elsewhere]") || strings.ToValidUTF8(got, "") != got {
			t.Fatalf("%q cut at %d is %q", text, limit, got)
		}
	})
}

func TestKinds(t *testing.T) {
	if tool.ErrorKind("odd").Known() || tool.ErrorKind("").Known() || !tool.Timeout.Known() {
		t.Error("kinds are wrongly known")
	}
	for _, k := range []tool.ErrorKind{tool.Timeout, tool.Canceled, tool.ServerFailed, tool.NotAtRest, tool.StaleState, tool.Failed, tool.PostconditionFailed} {
		if k.NeverRan() {
			t.Errorf("%s is taken for a refusal", k)
		}
	}
	if tool.Class(7).String() != "invalid" || tool.Verify.String() != "verify" {
		t.Error("class names")
	}
}
