package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const plainSchema = `{"type":"object","properties":{
	"x":{"type":"number","minimum":-10,"exclusiveMaximum":10},"n":{"type":"integer","exclusiveMinimum":0,"maximum":9},
	"frame":{"type":"string","enum":["map","odom"]},"name":{"type":"string"},"open":{"type":"boolean"}},
	"required":["x","frame"],"additionalProperties":false}`

// The quick check says "certainly valid" only of what the strict reader reads and the library accepts, whatever the text, and it does say
// so of ordinary arguments.
func TestQuickCheckIsNeverKinderThanTheLibrary(t *testing.T) {
	s, err := compileSchema(json.RawMessage(plainSchema))
	if err != nil || s.flat == nil {
		t.Fatalf("no quick check: %v", err)
	}
	quick := 0
	rapid.Check(t, func(rt *rapid.T) {
		space := rapid.SampledFrom([]string{"", "", " ", "\n\t"})
		value := rapid.SampledFrom([]string{
			"0", "1", "-1.5", "9", "10", "-10", "9.0", "1e1", "-0", "01", "1.", "1e999", "9007199254740993", "+1", "--1", "NaN", "true", "false", "truex", "null",
			`"map"`, `"odom"`, `"m"`, `"a b"`, `"\u006dap"`, `"ä"`, "\"\x01\"", "\"\xff\"", `"open`, `{}`, `[1]`, "",
		})
		key := rapid.SampledFrom([]string{`"x"`, `"x"`, `"frame"`, `"frame"`, `"n"`, `"name"`, `"open"`, `"other"`, `"\u0078"`, `x`})
		colon := rapid.SampledFrom([]string{":", ":", ":", ":", ":", " : ", "", ","})
		comma := rapid.SampledFrom([]string{",", ",", ",", ",", " , ", "", ",,"})
		var b strings.Builder
		b.WriteString(space.Draw(rt, "before") + "{")
		fields := rapid.IntRange(0, 5).Draw(rt, "members")
		for i := range fields {
			if i > 0 {
				b.WriteString(comma.Draw(rt, "comma"))
			}
			b.WriteString(space.Draw(rt, "space") + key.Draw(rt, "key") + colon.Draw(rt, "colon") + value.Draw(rt, "value") + space.Draw(rt, "space"))
		}
		b.WriteString(rapid.SampledFrom([]string{"}", "}", "}", "} ", "", ",}", "}}", "} x"}).Draw(rt, "end"))
		text := b.String()
		if !s.flat.certainlyValid([]byte(text)) {
			return
		}
		quick++
		v, err := ParseStrict([]byte(text))
		if err == nil {
			err = s.compiled.Validate(v)
		}
		if err != nil {
			rt.Fatalf("%q is said to be certainly valid: %v", text, err)
		}
	})
	for _, text := range []string{
		`{"x":1.5,"frame":"map"}`, ` { "frame" : "odom" , "x" : -9 } `, `{"x":0,"frame":"map","n":3,"name":"the red cube","open":true}`, `{"open":false,"x":1e0,"frame":"map"}`,
	} {
		if !s.flat.certainlyValid([]byte(text)) {
			t.Errorf("%q is left to the library", text)
		}
	}
	for _, text := range []string{
		``, `[]`, `{"x":1.5}`, `{"x":1.5,"frame":"map"`, `{"x":1.5,"frame":"map"}}`, `{"x":1.5 "frame":"map"}`, `{"x":1.5,"frame":"map","x":1}`, `{"x" 1.5,"frame":"map"}`,
		`{"x":-10,"frame":"map"}`, `{"x":1,"frame":"map","open":1}`, `{"x":"1","frame":"map"}`, `{"x":1,"frame":"map","n":1.0}`, `{"x":1,"frame":"map\"}`, `{"x":1,"frame`,
	} {
		if s.flat.certainlyValid([]byte(text)) {
			t.Errorf("%q is said to be certainly valid", text)
		}
	}
	t.Logf("%d texts were certainly valid", quick)
}

// Schemas that say more than the quick check understands have none.
func TestOnlyPlainSchemasAreCheckedQuickly(t *testing.T) {
	many := make([]string, mostFlat+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"p%d":{"type":"number"}`, i)
	}
	for name, text := range map[string]string{
		"a keyword":                `{"type":"object","minProperties":1}`,
		"open":                     `{"type":"object","properties":{},"additionalProperties":true}`,
		"a list":                   `{"type":"object","properties":{"x":{"type":"array"}}}`,
		"a pattern":                `{"type":"object","properties":{"x":{"type":"string","pattern":"a"}}}`,
		"numbers to choose from":   `{"type":"object","properties":{"x":{"type":"number","enum":[1,2]}}}`,
		"required, not described":  `{"type":"object","properties":{"x":{"type":"number"}},"required":["y"]}`,
		"a property that is true":  `{"type":"object","properties":{"x":true}}`,
		"more properties than 64":  `{"type":"object","properties":{` + strings.Join(many, ",") + `}}`,
		"a text or null to choose": `{"type":"object","properties":{"x":{"type":"string","enum":["a",null]}}}`,
	} {
		s, err := compileSchema(json.RawMessage(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if s.flat != nil {
			t.Errorf("%s is checked quickly", name)
		}
	}
}
