package ros_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/conformance"
)

func TestJSONRoundTrip(t *testing.T) {
	check := func(t interface {
		Fatal(...any)
		Fatalf(string, ...any)
	}, m *ros.Message,
	) {
		text, err := m.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(text) {
			t.Fatalf("no JSON: %s", text)
		}
		back, err := ros.DecodeJSON(m.Type, text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if !ros.Equal(m, back) {
			t.Fatalf("%s became %v", text, back.Map())
		}
		again, err := back.AppendJSON([]byte("x"))
		if err != nil || string(again[1:]) != string(text) {
			t.Fatalf("%s, then %s, %v", text, again, err)
		}
	}
	check(t, ros.New(everyType))
	check(t, conformance.Extreme(everyType))
	rapid.Check(t, func(t *rapid.T) { check(t, draw(t)) })
}

// Fields may come in any order, with any white space, and be left out.
func TestJSONFieldsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t)
		text, err := m.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		var parts map[string]json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil {
			t.Fatal(err)
		}
		keys := make([]string, 0, len(parts))
		for k := range parts {
			keys = append(keys, k)
		}
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		want, kept := m.Clone(), rapid.IntRange(0, len(keys)).Draw(t, "kept")
		defaults := ros.New(everyType)
		var b strings.Builder
		b.WriteString(" {\n")
		for i, k := range keys {
			if i >= kept {
				field := everyType.FieldIndex(k)
				want.Values[field] = defaults.Values[field]
				continue
			}
			if i > 0 {
				b.WriteString(" ,\r\n")
			}
			fmt.Fprintf(&b, "\t%q : %s ", k, parts[k])
		}
		b.WriteString("}\n ")
		back, err := ros.DecodeJSON(everyType, []byte(b.String()))
		if err != nil {
			t.Fatalf("%v in %s", err, b.String())
		}
		if !ros.Equal(back, want) {
			t.Fatalf("%s became %v", b.String(), back.Map())
		}
	})
}

func TestJSONForm(t *testing.T) {
	m := ros.New(ros.NewType("test/msg/Form", []ros.Field{
		{Name: "big", Kind: ros.KindUint64},
		{Name: "low", Kind: ros.KindInt64},
		{Name: "f32", Kind: ros.KindFloat32},
		{Name: "f64", Kind: ros.KindFloat64, Array: ros.UnboundedSequence},
		{Name: "data", Kind: ros.KindUint8, Array: ros.UnboundedSequence},
		{Name: "text", Kind: ros.KindString},
		{Name: "none", Kind: ros.KindMessage, Array: ros.UnboundedSequence, Type: pointType},
		{Name: "yes", Kind: ros.KindBool},
	}, nil)).With("big", uint64(math.MaxUint64)).With("low", int64(math.MinInt64)).With("f32", float32(0.1)).
		With("f64", []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1, 0.1, 1e21, 1e-7, math.Copysign(0, -1), 123456789}).
		With("data", []byte{0, 255}).With("text", "a\"\\/\n\x00<ä🤖\u2028").With("yes", true)
	want := `{"big":18446744073709551615,"low":-9223372036854775808,"f32":0.1,` +
		`"f64":["NaN","Infinity","-Infinity",1,0.1,1e+21,1e-07,-0,123456789],"data":[0,255],"text":"a\"\\/\n\u0000<ä🤖` + "\u2028" + `","none":[],"yes":true}`
	if got, err := m.AppendJSON(nil); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestDecodeJSONErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		path   string
		reason string // its beginning
		want   string // the expected type
		at     string // the text where it is wrong; empty: the end
	}{
		{`{"answr": 1}`, "answr", "unknown field", "", `"answr"`},
		{`{"pose": {"posn": {}}}`, "pose.posn", "unknown field", "", `"posn"`},
		{`{"answer": 1, "answer": 2}`, "answer", "repeated field", "", `: 2`},
		{`{"answer": null}`, "answer", "null", "int16", `null`},
		{`{"pose": null}`, "pose", "null", "test/msg/Pose", `null`},
		{`{"poses": null}`, "poses", "null", "test/msg/Pose[]", `null`},
		{`{"poses": [null]}`, "poses[0]", "null", "test/msg/Pose", `null`},
		{`null`, "", "null", "test/msg/Every", `null`},
		{`{"uint8_value": 300}`, "uint8_value", "out of range", "uint8", `300`},
		{`{"uint8_value": -1}`, "uint8_value", "out of range", "uint8", `-1`},
		{`{"int8_value": 128}`, "int8_value", "out of range", "int8", `128`},
		{`{"int8_value": -129}`, "int8_value", "out of range", "int8", `-129`},
		{`{"uint64_value": 18446744073709551616}`, "uint64_value", "out of range", "uint64", `18446744073709551616`},
		{`{"int64_value": 9223372036854775808}`, "int64_value", "out of range", "int64", `9223372036854775808`},
		{`{"int64_value": 1e999999999999999999999}`, "int64_value", "out of range", "int64", `1e9`},
		{`{"int64_value": 1e-999999999999999999999}`, "int64_value", "not an integer", "int64", `1e-9`},
		{`{"uint8_value": 1.5}`, "uint8_value", "not an integer", "uint8", `1.5`},
		{`{"uint8_value": "1"}`, "uint8_value", "wrong type", "uint8", `"1"`},
		{`{"uint8_value": "NaN"}`, "uint8_value", "wrong type", "uint8", `"NaN"`},
		{`{"uint8_value": true}`, "uint8_value", "wrong type", "uint8", `true`},
		{`{"uint8_value": [1]}`, "uint8_value", "wrong type", "uint8", `[1]`},
		{`{"bool_value": 1}`, "bool_value", "wrong type", "bool", `1}`},
		{`{"bool_value": "true"}`, "bool_value", "wrong type", "bool", `"true"`},
		{`{"string_value": 1}`, "string_value", "wrong type", "string", `1}`},
		{`{"pose": []}`, "pose", "wrong type", "test/msg/Pose", `[]`},
		{`{"poses": {}}`, "poses", "wrong type", "test/msg/Pose[]", `{}`},
		{`{"uint8_list": "AQI="}`, "uint8_list", "wrong type", "uint8[]", `"AQI="`},
		{`{"float64_value": NaN}`, "float64_value", "not JSON (a number that is not finite", "float64", `NaN`},
		{`{"float64_value": -Infinity}`, "float64_value", "not JSON (a number that is not finite", "float64", `-Inf`},
		{`{"pose": {"position": {"x": Infinity}}}`, "pose.position.x", "not JSON (a number that is not finite", "float64", `Infinity`},
		{`{"float64_list": [1, nan]}`, "float64_list[1]", "not JSON", "float64", `nan`},
		{`{"float64_value": "nan"}`, "float64_value", "wrong type", "float64", `"nan"`},
		{`{"float64_value": 1e309}`, "float64_value", "out of range", "float64", `1e309`},
		{`{"float32_value": 1e39}`, "float32_value", "out of range", "float32", `1e39`},
		{`{"float32_list": [1, -3.5e38]}`, "float32_list[1]", "out of range", "float32", `-3.5e38`},
		{`{"float64_value": 01}`, "float64_value", "not JSON (a leading zero)", "float64", `01`},
		{`{"float64_value": 1.}`, "float64_value", "not JSON (no digit after the point)", "float64", `1.`},
		{`{"float64_value": .5}`, "float64_value", "not JSON", "float64", `.5`},
		{`{"float64_value": +1}`, "float64_value", "not JSON", "float64", `+1`},
		{`{"float64_value": 1e}`, "float64_value", "not JSON (no digit in the exponent)", "float64", `1e`},
		{`{"float64_value": 0x1}`, "", "not JSON", ", or }", `x1`},
		{`{"float64_three": [1, 2]}`, "float64_three", "wrong array length", "float64[3]", `[1, 2]`},
		{`{"float64_three": [1, 2, 3, 4, 5]}`, "float64_three", "wrong array length", "float64[3]", `, 5]`},
		{`{"float64_few": [1, 2, 3, 4]}`, "float64_few", "wrong array length", "float64[<=3]", `]`},
		{`{"two_poses": []}`, "two_poses", "wrong array length", "test/msg/Pose[2]", `[]`},
		{`{"few_poses": [{},{},{}]}`, "few_poses", "wrong array length", "test/msg/Pose[<=2]", `]`},
		{`{"pose": {"covariance": [1]}}`, "pose.covariance", "wrong array length", "float64[3]", `[1]`},
		{`{"poses": [{}, {"position": {"y": {}}}]}`, "poses[1].position.y", "wrong type", "float64", `{}}`},
		{`{"short": "fünf"}`, "short", "string too long", "string<=4", `"fünf"`},
		{`{"wshort": "🤖🤖."}`, "wshort", "string too long", "wstring<=4", `"🤖`},
		{`{"shorts": ["a", "longer"]}`, "shorts[1]", "string too long", "string<=4", `"longer"`},
		{"{\"string_value\": \"a\xffb\"}", "string_value", "invalid UTF-8", "string", "\xff"},
		{"{\"string_value\": \"a\\n\xc3(\"}", "string_value", "invalid UTF-8", "string", "\xc3"},
		{"{\"string_value\": \"\xed\xa0\x80\"}", "string_value", "invalid UTF-8", "string", "\xed"},
		{`{"string_value": "\ud800"}`, "string_value", "half a surrogate pair", "string", `\ud800`},
		{`{"string_value": "\ud800\u0041"}`, "string_value", "half a surrogate pair", "string", `\ud800`},
		{`{"string_value": "\udc00"}`, "string_value", "half a surrogate pair", "string", `\udc00`},
		{`{"string_value": "\x"}`, "string_value", "not JSON (an invalid escape", "string", `\x`},
		{`{"string_value": "\u12g4"}`, "string_value", "not JSON (an invalid escape", "string", `\u12g4`},
		{"{\"string_value\": \"a\nb\"}", "string_value", "not JSON (a control character", "string", "\nb"},
		{"{\"string_value\": \"\\t\x00\"}", "string_value", "not JSON (a control character", "string", "\x00"},
		{`{"string_value": "abc`, "string_value", "text ends early", "string", ""},
		{`{"string_value": "abc\`, "string_value", "not JSON (an invalid escape", "string", `\`},
		{`{} {}`, "", "text after the message", "", `{}`},
		{`{},`, "", "text after the message", "", `,`},
		{``, "", "text ends early", "test/msg/Every", ""},
		{`{`, "", "text ends early", "a field's name in quotes", ""},
		{`{"answer"`, "answer", "text ends early", ":", ""},
		{`{"answer":`, "answer", "text ends early", "int16", ""},
		{`{"answer":1`, "", "text ends early", ", or }", ""},
		{`{"answer":1,}`, "", "not JSON", "a field's name in quotes", `}`},
		{`{"uint8_list":[1,]}`, "uint8_list[1]", "not JSON", "uint8", `]`},
		{`{"uint8_list":[1 2]}`, "uint8_list", "not JSON", ", or ]", `2]`},
		{`{"uint8_list":[1`, "uint8_list", "text ends early", ", or ]", ""},
		{`{'answer':1}`, "", "not JSON", "a field's name in quotes", `'answer`},
		{`{answer:1}`, "", "not JSON", "a field's name in quotes", `answer`},
		{`[]`, "", "wrong type", "test/msg/Every", `[]`},
		{"\ufeff{}", "", "not JSON", "test/msg/Every", "\ufeff"},
	} {
		_, err := ros.DecodeJSON(everyType, []byte(c.text))
		var fe *ros.FieldError
		if !errors.As(err, &fe) || !errors.Is(err, ros.ErrInvalidMessage) {
			t.Errorf("%s: error %v", c.text, err)
			continue
		}
		offset := len(c.text)
		if c.at != "" {
			offset = strings.LastIndex(c.text, c.at)
			if i := strings.Index(c.text, ":"); i >= 0 && !strings.Contains(c.at, `"`) && fe.Reason != "repeated field" {
				// Values are looked for behind the first colon.
				if j := strings.Index(c.text[i:], c.at); j >= 0 {
					offset = i + j
				}
			}
		}
		if fe.Path != c.path || !strings.HasPrefix(fe.Reason, c.reason) || fe.Want != c.want || fe.Offset != offset || fe.Message != everyType.Name {
			t.Errorf("%s:\n%v\n(%s, path %q, want %q, offset %d); expected path %q, reason %q, want %q, offset %d", c.text, err, fe.Message, fe.Path, fe.Want, fe.Offset, c.path, c.reason, c.want, offset)
		}
	}
}

func TestDecodeJSONAccepts(t *testing.T) {
	for text, check := range map[string]struct {
		path string
		want any
	}{
		`{"uint8_value": 2.0}`:                               {"uint8_value", uint8(2)},
		`{"uint8_value": 2e0}`:                               {"uint8_value", uint8(2)},
		`{"uint8_value": 25.50e1}`:                           {"uint8_value", uint8(255)},
		`{"int16_value": -1.5E+2}`:                           {"int16_value", int16(-150)},
		`{"uint8_value": -0}`:                                {"uint8_value", uint8(0)},
		`{"uint8_value": 0.000e999999999999999999999}`:       {"uint8_value", uint8(0)},
		`{"uint64_value": 18446744073709551615}`:             {"uint64_value", uint64(math.MaxUint64)},
		`{"uint64_value": 1844674407370955161.5e1}`:          {"uint64_value", uint64(math.MaxUint64)},
		`{"int64_value": -9223372036854775808}`:              {"int64_value", int64(math.MinInt64)},
		`{"float64_value": "Infinity"}`:                      {"float64_value", math.Inf(1)},
		`{"float32_value": "-Infinity"}`:                     {"float32_value", float32(math.Inf(-1))},
		`{"float64_value": 9007199254740993}`:                {"float64_value", 9007199254740992.0},
		`{"float32_value": 16777217}`:                        {"float32_value", float32(16777216)},
		`{"float32_value": 3.4028234663852886e38}`:           {"float32_value", float32(math.MaxFloat32)},
		`{"float64_value": 1e-400}`:                          {"float64_value", 0.0},
		`{"string_value": "\u0041\ud83e\udd16\/\b\f\u00e4"}`: {"string_value", "A🤖/\b\fä"},
		`{"\u0061nswer": 7}`:                                 {"answer", int16(7)},
		`{}`:                                                 {"answer", int16(42)},
	} {
		m, err := ros.DecodeJSON(everyType, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := m.Get(check.path); err != nil || got != check.want {
			t.Errorf("%s: %v (%T), want %v", text, got, got, check.want)
		}
	}
	m, err := ros.DecodeJSON(everyType, []byte(`{"float64_list": ["NaN", -0]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Floats("float64_list"); !math.IsNaN(got[0]) || !math.Signbit(got[1]) {
		t.Errorf("got %v", got)
	}
}

func TestEncodeRefusesInvalidUTF8(t *testing.T) {
	m := ros.New(everyType)
	m.Msgs("two_poses")[1].With("name", "a\xff")
	var fe *ros.FieldError
	if _, err := m.AppendJSON(nil); !errors.As(err, &fe) || fe.Path != "two_poses[1].name" || fe.Reason != "invalid UTF-8" {
		t.Errorf("error %v", err)
	}
	m = ros.New(everyType).With("string_list", []string{"ok", "\xff"})
	if _, err := m.AppendJSON(nil); !errors.As(err, &fe) || fe.Path != "string_list[1]" {
		t.Errorf("error %v", err)
	}
}

func TestDecodeJSONLimits(t *testing.T) {
	limits := ros.Limits{Text: 100_000, Memory: 50_000}
	var fe *ros.FieldError
	if _, err := ros.DecodeJSONLimited(everyType, make([]byte, 100_001), limits); !errors.As(err, &fe) || fe.Reason != "text too long" {
		t.Errorf("a long text: %v", err)
	}
	// A short text must not become a large message: each {} is a pose.
	text := `{"poses": [` + strings.Repeat("{},", 10_000) + `{}]}`
	if _, err := ros.DecodeJSONLimited(everyType, []byte(text), limits); !errors.As(err, &fe) || !strings.HasPrefix(fe.Reason, "message too large") || !strings.HasPrefix(fe.Path, "poses[") {
		t.Errorf("a large message: %v", err)
	}
	if _, err := ros.DecodeJSONLimited(everyType, []byte(text), ros.Limits{Text: 100_000, Memory: 5_000_000}); err != nil {
		t.Errorf("the same within its limit: %v", err)
	}
	deep := ros.NewType("test/msg/Level0", []ros.Field{{Name: "x", Kind: ros.KindBool}}, nil)
	for i := range ros.MaxNesting - 1 {
		deep = ros.NewType(fmt.Sprintf("test/msg/Level%d", i+1), []ros.Field{{Name: "d", Kind: ros.KindMessage, Type: deep}}, nil)
	}
	m := ros.New(deep)
	b, err := m.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := ros.DecodeJSON(deep, b); err != nil || !ros.Equal(m, back) {
		t.Errorf("a deep message: %v", err)
	}
}

// FuzzDecodeJSON: the decoder never panics, takes nothing that is not JSON, and
// what it takes survives the way there and back.
func FuzzDecodeJSON(f *testing.F) {
	// Small seeds, one for each field: large ones make the fuzzer slow.
	var fields map[string]json.RawMessage
	text, err := conformance.Extreme(everyType).AppendJSON(nil)
	if err != nil {
		f.Fatal(err)
	}
	if err := json.Unmarshal(text, &fields); err != nil {
		f.Fatal(err)
	}
	for name, value := range fields {
		if len(value) < 500 {
			f.Add(fmt.Appendf(nil, "{%q:%s}", name, value))
		}
	}
	for _, s := range []string{`{}`, `{"answer": 1.0e1, "float64_list": ["NaN", 1e5, -0.5]}`, `{"string_value":"\ud83e\udd16\n"}`, `{"poses":[{"covariance":[1,2,3]}]}`, `{"float32_value": 1e-46}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ros.DecodeJSONLimited(everyType, text, ros.Limits{Text: 1 << 20, Memory: 16 << 20})
		if err != nil {
			var fe *ros.FieldError
			if !errors.As(err, &fe) || fe.Offset > len(text) || fe.Reason == "" || fe.Message == "" {
				t.Fatalf("untyped or unplaced error %#v", err)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("took %q, which is no JSON", text)
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		encoded, err := m.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ros.DecodeJSON(everyType, encoded)
		if err != nil {
			t.Fatalf("%v in %s", err, encoded)
		}
		if !ros.Equal(m, back) {
			t.Fatalf("%s became %v", encoded, back.Map())
		}
		fromMap, err := ros.FromMap(everyType, m.Map())
		if err != nil {
			t.Fatal(err)
		}
		if !ros.Equal(m, fromMap) {
			t.Fatalf("%v became %v", m.Map(), fromMap.Map())
		}
	})
}
