package msgdef_test

import (
	"errors"
	"io/fs"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/msgdef"
)

// files is a tree of definitions by file name.
func files(m map[string]string) *msgdef.Source {
	tree := fstest.MapFS{}
	for name, text := range m {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return msgdef.NewSource(msgdef.Tree{FS: tree})
}

func one(t *testing.T, text string) *ros.Type {
	t.Helper()
	typ, err := files(map[string]string{"p/msg/T.msg": text, "p/msg/Other.msg": "", "q/msg/Far.msg": "bool b"}).Message("p/msg/T")
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func TestFields(t *testing.T) {
	for text, want := range map[string]struct {
		typ      string
		byDefaut any
	}{
		"bool x":                          {"bool", nil},
		"byte x":                          {"byte", nil},
		"char x":                          {"char", nil},
		"wstring<=5 x":                    {"wstring<=5", nil},
		"string<=10[<=3] x":               {"string<=10[<=3]", nil},
		"float64[3] x":                    {"float64[3]", nil},
		"Other x":                         {"p/msg/Other", nil},
		"p/Other[] x":                     {"p/msg/Other[]", nil},
		"q/Far[<=2] x":                    {"q/msg/Far[<=2]", nil},
		"  int8\t x\t -5 # five":          {"int8", int8(-5)},
		"int8 x # = 5":                    {"int8", nil},
		"int8 x#comment":                  {"int8", nil},
		"uint8 x 0xff":                    {"uint8", uint8(255)},
		"int32 x 010":                     {"int32", int32(10)},
		"int64 x -9223372036854775808":    {"int64", int64(math.MinInt64)},
		"uint64 x 18446744073709551615":   {"uint64", uint64(math.MaxUint64)},
		"uint16 x +7":                     {"uint16", uint16(7)},
		"float32 x 0.1":                   {"float32", float32(0.1)},
		"float64 x 1e300":                 {"float64", 1e300},
		"float64 x inf":                   {"float64", math.Inf(1)},
		"bool x True":                     {"bool", true},
		"bool x 0":                        {"bool", false},
		`string x "a # b"`:                {"string", "a # b"},
		`string x "say \"hi\"" # quoted`:  {"string", `say "hi"`},
		`string x 'it\'s'`:                {"string", "it's"},
		`string x it's bare # and`:        {"string", "it's bare"},
		`string x ""`:                     {"string", ""},
		`wstring<=4 x "fünf"`:             {"wstring<=4", "fünf"},
		"uint8[3] x [1, 2, 3]":            {"uint8[3]", []uint8{1, 2, 3}},
		"bool[<=2] x [true]":              {"bool[<=2]", []bool{true}},
		"int16[] x []":                    {"int16[]", []int16{}},
		`string[] x ["a, b", 'c', d] # e`: {"string[]", []string{"a, b", "c", "d"}},
		`string[] x ["#1", "#2"]`:         {"string[]", []string{"#1", "#2"}},
		"float64[] x [1.5 , -inf]":        {"float64[]", []float64{1.5, math.Inf(-1)}},
	} {
		typ := one(t, text)
		if len(typ.Fields) != 1 {
			t.Errorf("%s: %d fields", text, len(typ.Fields))
			continue
		}
		f := typ.Fields[0]
		if f.Name != "x" || f.TypeString() != want.typ || !reflect.DeepEqual(f.Default, want.byDefaut) {
			t.Errorf("%s: %s %s = %#v, want %s = %#v", text, f.TypeString(), f.Name, f.Default, want.typ, want.byDefaut)
		}
		if err := ros.New(typ).Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestConstants(t *testing.T) {
	typ := one(t, strings.Join([]string{
		"int8 A=-5", "uint16 B_2 = 7 # seven", "string C=\"quoted # text\"", "string D = bare text # comment", "float64 E =1.5", "bool F=true",
		"string G='x=y'", "char H= 100", "byte I=50", "int32 field",
	}, "\r\n"))
	want := []ros.Constant{
		{Name: "A", Kind: ros.KindInt8, Value: int8(-5), Text: "-5"},
		{Name: "B_2", Kind: ros.KindUint16, Value: uint16(7), Text: "7"},
		{Name: "C", Kind: ros.KindString, Value: "quoted # text", Text: `"quoted # text"`},
		{Name: "D", Kind: ros.KindString, Value: "bare text", Text: "bare text"},
		{Name: "E", Kind: ros.KindFloat64, Value: 1.5, Text: "1.5"},
		{Name: "F", Kind: ros.KindBool, Value: true, Text: "true"},
		{Name: "G", Kind: ros.KindString, Value: "x=y", Text: "'x=y'"},
		{Name: "H", Kind: ros.KindChar, Value: uint8(100), Text: "100"},
		{Name: "I", Kind: ros.KindByte, Value: uint8(50), Text: "50"},
	}
	if !reflect.DeepEqual(typ.Constants, want) {
		t.Errorf("got %+v\nwant %+v", typ.Constants, want)
	}
	if len(typ.Fields) != 1 || typ.Fields[0].Name != "field" {
		t.Errorf("fields %+v", typ.Fields)
	}
}

func TestDefinitionErrors(t *testing.T) {
	for text, want := range map[string]string{
		"int8":                           "want a name",
		"int8 7up":                       "want a name",
		"int9 x":                         `unknown type "int9"`,
		"p/msg/Other x":                  "unknown type",
		"Nothing x":                      "p/msg/Nothing: no definition found",
		"nowhere/Nothing x":              "nowhere/msg/Nothing: no definition found",
		"int8 X":                         "no field name",
		"int8 a__b":                      "no field name",
		"int8 a_":                        "no field name",
		"int8 a-b":                       "want a space after the name a",
		"int8 a=1":                       "no constant name",
		"int8 A__B=1":                    "no constant name",
		"int8[] A=1":                     "no primitive",
		"Other A=1":                      "no primitive",
		"int8 A=":                        "not an integer",
		"int8 A=200":                     "not an integer in range",
		"uint8 A=-1":                     "not an integer in range",
		"int8 A=1.5":                     "not an integer",
		"int8 a x":                       "not an integer",
		"bool a yes":                     "want true or false",
		"float32 a 1e39":                 "not a number in range",
		"float64 a x":                    "not a number",
		`string a "open`:                 "a quote that does not end",
		`string a "x" y`:                 "text after the closing quote",
		"string<=2 a abc":                "3 long, more than 2",
		"string<=0 a":                    "string bound",
		"string<=x a":                    "string bound",
		"int8<=3 a":                      "only strings have a bound",
		"int8[0] a":                      "array size",
		"int8[-1] a":                     "array size",
		"int8[<=0] a":                    "array size",
		"int8[3 a":                       "[ without ]",
		"int8[3]x a":                     "[ without ]",
		"int8[99999999999] a":            "array size",
		"int8[16777217] a":               "more than 16777216 elements",
		"float64[16777216] a\nint8 b":    "more than 16777216 values",
		"int8[2] a [1]":                  "1 elements for 2",
		"int8[<=1] a [1,2]":              "2 elements for at most 1",
		"int8[] a 1":                     "want a default in [ ]",
		`string[] a ["x]`:                "a quote that does not end",
		"int8[] a [1,]":                  "element 1",
		"Other a 1":                      "a message has no default",
		"int8 a\nint8 a":                 "already defined in line 1",
		"int8 a\nint8 A=1\nint8 A=2":     "already defined in line 2",
		"T a":                            "p/msg/T contains itself",
		"Loop a":                         "contains itself",
		"---":                            "unknown type",
		"int8 a\n" + "\n\n# c\nint16 a ": "already defined",
	} {
		source := files(map[string]string{"p/msg/T.msg": text, "p/msg/Other.msg": "", "p/msg/Loop.msg": "T t"})
		_, err := source.Message("p/msg/T")
		var pe *msgdef.ParseError
		if !errors.As(err, &pe) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
			continue
		}
		line := strings.Count(strings.TrimRight(text, " "), "\n") + 1
		if pe.File != "p/msg/T.msg" || pe.Line != line && text != "T a" {
			t.Errorf("%q: the error is placed at %s:%d, want line %d", text, pe.File, pe.Line, line)
		}
		// The source works on, and says the same again.
		if _, again := source.Message("p/msg/T"); again == nil || again.Error() != err.Error() {
			t.Errorf("%q: then %v", text, again)
		}
		if _, err := source.Message("p/msg/Other"); err != nil {
			t.Errorf("%q: another type: %v", text, err)
		}
	}
}

func TestSections(t *testing.T) {
	source := files(map[string]string{
		"p/srv/None.srv": "---", "p/srv/Two.srv": "int8 a\n---\nint8 a\n", "p/srv/Much.srv": "---\n---", "p/srv/Little.srv": "int8 a",
		"p/action/Some.action": "int8 a\n---\n----\nint8 a", "p/action/Little.action": "---",
	})
	for _, name := range []string{"p/srv/None", "p/srv/Two"} {
		if s, err := source.Service(name); err != nil || s.Request.Name != name+"_Request" || s.Response.Name != name+"_Response" {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if a, err := source.Action("p/action/Some"); errors.Is(err, ros.ErrUnknownType) {
		// unique_identifier_msgs is not in this tree, and says so.
		if !strings.Contains(err.Error(), "unique_identifier_msgs") {
			t.Error(err)
		}
	} else {
		t.Errorf("%+v, %v", a, err)
	}
	for name, want := range map[string]string{"p/srv/Much": "more than 1 lines of ---", "p/srv/Little": "0 lines of ---, want 1", "p/action/Little": "1 lines of ---, want 2"} {
		_, errS := source.Service(name)
		_, errA := source.Action(name)
		if !strings.Contains(errS.Error()+errA.Error(), want) {
			t.Errorf("%s: %v, %v", name, errS, errA)
		}
	}
}

func TestHeaderShortName(t *testing.T) {
	source := files(map[string]string{"std_msgs/msg/Header.msg": "string frame_id", "p/msg/Old.msg": "Header header", "q/msg/Header.msg": "bool own", "q/msg/New.msg": "Header header"})
	for name, want := range map[string]string{"p/msg/Old": "std_msgs/msg/Header", "q/msg/New": "q/msg/Header"} {
		typ, err := source.Message(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := typ.Fields[0].Type.Name; got != want {
			t.Errorf("the header of %s is %s, want %s", name, got, want)
		}
	}
}

func TestNesting(t *testing.T) {
	tree := map[string]string{"p/msg/L0.msg": "bool x"}
	name := func(i int) string { return "L" + strings.Repeat("x", i) }
	tree["p/msg/L.msg"] = "bool x"
	for i := 1; i < ros.MaxNesting+2; i++ {
		tree["p/msg/"+name(i)+".msg"] = name(i-1) + " d"
	}
	source := files(tree)
	if _, err := source.Message("p/msg/" + name(ros.MaxNesting+1)); err == nil || !strings.Contains(err.Error(), "nested deeper than 64") {
		t.Errorf("too deep: %v", err)
	}
	if typ, err := source.Message("p/msg/" + name(ros.MaxNesting-1)); err != nil {
		t.Errorf("deep: %v", err)
	} else if err := ros.New(typ).Validate(); err != nil {
		t.Error(err)
	}
	// A type found before and then nested once more is as deep.
	if typ, err := source.Message("p/msg/" + name(ros.MaxNesting+1)); err == nil {
		t.Errorf("too deep, in two steps: %v", typ.Name)
	}
}

func TestTreesInOrder(t *testing.T) {
	mine := fstest.MapFS{"msg/T.msg": {Data: []byte("bool mine")}}
	share := fstest.MapFS{"p/msg/T.msg": {Data: []byte("bool theirs")}, "q/msg/T.msg": {Data: []byte("bool theirs")}}
	source := msgdef.NewSource(msgdef.Tree{FS: mine, Package: "p"}, msgdef.Tree{FS: share})
	for name, want := range map[string]string{"p/msg/T": "mine", "q/msg/T": "theirs"} {
		typ, err := source.Message(name)
		if err != nil {
			t.Fatal(err)
		}
		if typ.Fields[0].Name != want {
			t.Errorf("%s is %s", name, typ.Fields[0].Name)
		}
	}
	broken := msgdef.NewSource(msgdef.Tree{FS: brokenFS{}})
	_, err := broken.Message("p/msg/T")
	var pe *msgdef.ParseError
	if !errors.As(err, &pe) || !errors.Is(err, fs.ErrPermission) || errors.Is(err, ros.ErrUnknownType) {
		t.Errorf("a tree that cannot be read: %v", err)
	}
}

type brokenFS struct{}

func (brokenFS) Open(string) (fs.File, error) { return nil, fs.ErrPermission }

// FuzzParse: a definition never makes the parser panic, and what it takes makes valid messages.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"int8 a 5\nstring<=3[<=2] b ['x', \"y#\"] # c\nuint8 A=0x1f\nOther[] o\nq/Far[3] f", "float64[36] covariance", "wstring w \"ä\"",
		"---\nint8 a\n---", "T t", "string S= 'it\\'s'", "bool[<=2] b [true, 0]", "Header h", "int8[99999] a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		source := files(map[string]string{
			"p/msg/T.msg": text, "p/srv/T.srv": text, "p/action/T.action": text, "p/msg/Other.msg": "T[2] t", "q/msg/Far.msg": "bool b",
			"unique_identifier_msgs/msg/UUID.msg": "uint8[16] uuid", "builtin_interfaces/msg/Time.msg": "int32 sec",
		})
		check := func(typ *ros.Type, err error) {
			if err != nil {
				var pe *msgdef.ParseError
				if !errors.As(err, &pe) || pe.File == "" {
					t.Fatalf("untyped error %v", err)
				}
				return
			}
			if err := ros.New(typ).Validate(); err != nil {
				t.Fatalf("%q makes an invalid message: %v", text, err)
			}
		}
		check(source.Message("p/msg/T"))
		if s, err := source.Service("p/srv/T"); err != nil {
			check(nil, err)
		} else {
			check(s.Request, nil)
			check(s.Response, nil)
		}
		if a, err := source.Action("p/action/T"); err != nil {
			check(nil, err)
		} else {
			check(a.SendGoal.Request, nil)
			check(a.GetResult.Response, nil)
			check(a.FeedbackMessage, nil)
		}
	})
}
