package planner

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agent_node/pkg/harness/model"
)

var (
	//go:embed testdata/errands.jsonl
	errandWordings []byte
	//go:embed testdata/wordings.jsonl
	wordings []byte
	//go:embed testdata/speech.jsonl
	speech []byte
)

// TestErrands: each wording becomes exactly its program, or is refused. A task that is read otherwise would be a wrong motion.
// errands.jsonl is about objects; wordings.jsonl says everything in three ways; speech.jsonl is how people talk, with the twins that
// mean something else in nearly the same words.
func TestErrands(t *testing.T) {
	for name, data := range map[string][]byte{"errands": errandWordings, "wordings": wordings, "speech": speech} {
		n := 0
		for sc := bufio.NewScanner(bytes.NewReader(data)); sc.Scan(); n++ {
			var c struct {
				Task, Program, Says string
				Refuse              bool
			}
			if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			p, err := parse(c.Task, know(handler()))
			switch {
			case c.Refuse && err == nil:
				t.Errorf("%q is not refused: %s", c.Task, p)
			case c.Refuse && !strings.Contains(err.Error(), c.Says):
				t.Errorf("%q is refused: %v; want %s", c.Task, err, c.Says)
			case !c.Refuse && err != nil:
				t.Errorf("%q is refused: %v", c.Task, err)
			case !c.Refuse && p.String() != c.Program:
				t.Errorf("%q is %s, want %s", c.Task, p, c.Program)
			}
		}
		if n < 100 {
			t.Errorf("%s: %d wordings, wanted 100 or more", name, n)
		}
	}
}

// flat is what truly happens to objects in a small flat.
type flat struct {
	at     map[string]string // by object
	record map[string]string // where it is said to be, if that is elsewhere
	// sees: what lies where the robot stands is seen. Without it objects are on record only.
	sees bool
	// looks: it says of each object whether it is in view.
	looks bool
	// unfolded: the arm is out of its pose, and driving is refused until it is moved.
	unfolded bool
	held     string
	here     string
	// fails says what goes wrong with the nth call (from 0); "": nothing.
	fails func(n int, c model.Call) string
}

func (f *flat) call(n int, c model.Call) (bool, string) {
	var args struct{ Object, Place string }
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil {
		return false, "invalid_arguments: " + err.Error()
	}
	if f.fails != nil {
		if why := f.fails(n, c); why != "" {
			return false, why
		}
	}
	switch c.Tool {
	case "list_objects":
		all := map[string]any{}
		for o, p := range f.at {
			seen := f.sees && p == f.here && p != ""
			if r, elsewhere := f.record[o]; elsewhere && !seen {
				p = r
			}
			e := map[string]any{"place": p, "seen": seen, "held": o == f.held, "age_s": 0.1}
			if f.looks {
				e["in_view"] = seen
			}
			all[o] = e
		}
		data, err := json.Marshal(all)
		return err == nil, string(data)
	case "move_arm":
		f.unfolded = false
	case "navigate_to":
		if f.unfolded {
			return false, `precondition_failed: navigate_to: interlock: the arm is out: first call move_arm {"named":"carry"} (rule: false)`
		}
		f.here = args.Place
	case "pick":
		if f.held != "" || f.at[args.Object] != f.here {
			return false, "precondition_failed: the object is not seen here"
		}
		f.held = args.Object
	case "place":
		if f.held == "" {
			return false, "precondition_failed: nothing is held"
		}
		f.at[f.held], f.held = args.Place, ""
	}
	return true, "{}"
}

// errand plays a task in a flat. It returns the tools that were called and how it ended.
func errand(t *testing.T, task string, f *flat) (tools []string, end string, finish model.FinishReason) {
	t.Helper()
	calls, last := askWith(t, armed(), task, f.call)
	for _, c := range calls {
		text := c.Tool
		var args struct{ Object, Place, Answer string }
		json.Unmarshal([]byte(c.Arguments), &args)
		if args.Object+args.Place != "" {
			text += "(" + args.Object + args.Place + ")"
		}
		if c.Tool == "finish" {
			end = args.Answer
			continue
		}
		tools = append(tools, text)
	}
	return tools, end + last.Text, last.Finish
}

func TestObjectsAreFetchedFromWhereTheyAre(t *testing.T) {
	home := func() map[string]string {
		return map[string]string{"red cube": "table", "blue cube": "table", "green ball": "office"}
	}
	once := func(n int, why string) func(int, model.Call) string {
		return func(i int, _ model.Call) string {
			if i == n {
				return why
			}
			return ""
		}
	}
	for name, c := range map[string]struct {
		task  string
		flat  flat
		want  []string
		says  string
		gives bool // it gives up
	}{
		"found at its place": {
			task: "take the red cube to the kitchen", flat: flat{at: home()},
			want: []string{"list_objects", "navigate_to(table)", "pick(red cube)", "navigate_to(kitchen)", "place(kitchen)"},
			says: "brought the red cube to the kitchen",
		},
		"there already": {
			task: "take the green ball to the office unless it is already there", flat: flat{at: home()},
			want: []string{"list_objects"}, says: "By my record the green ball is at the office already; I have not seen it.",
		},
		"there already, to be seen": {
			task: "take the green ball to the office unless it is already there", flat: flat{at: home(), sees: true, looks: true},
			want: []string{"list_objects", "navigate_to(office)", "list_objects"}, says: "The green ball is at the office already.",
		},
		"there by the record only": {
			task: "take the green ball to the office unless it is already there",
			flat: flat{at: map[string]string{"green ball": "dock"}, record: map[string]string{"green ball": "office"}, sees: true, looks: true},
			want: []string{
				"list_objects", "navigate_to(office)", "list_objects", "navigate_to(dock)", "list_objects", "pick(green ball)", "navigate_to(office)", "place(office)",
			},
			says: "brought the green ball to the office",
		},
		"held already": {
			task: "take the red cube to the kitchen", flat: flat{at: home(), held: "red cube"},
			want: []string{"list_objects", "navigate_to(kitchen)", "place(kitchen)"}, says: "brought the red cube to the kitchen",
		},
		"held, and to be picked up": {
			task: "pick up the red cube", flat: flat{at: home(), held: "red cube"},
			want: []string{"list_objects"}, says: "I hold the red cube already.",
		},
		"another is held": {
			task: "pick up the red cube", flat: flat{at: home(), held: "blue cube"},
			want: []string{"list_objects"}, says: "I hold the blue cube, so I cannot pick up the red cube.", gives: true,
		},
		"carried on the way": {
			task: "pick up the red cube, go to the kitchen, put it down there", flat: flat{at: home()},
			want: []string{"list_objects", "navigate_to(table)", "pick(red cube)", "navigate_to(kitchen)", "list_objects", "navigate_to(kitchen)", "place(kitchen)"},
			says: "brought the red cube to the kitchen",
		},
		"lost on the way": {
			task: "take the red cube to the kitchen",
			flat: flat{at: home()}, // the test below loses it
			want: []string{
				"list_objects", "navigate_to(table)", "pick(red cube)", "navigate_to(kitchen)", "place(kitchen)",
				"list_objects", "navigate_to(dock)", "pick(red cube)", "navigate_to(kitchen)", "place(kitchen)",
			},
			says: "brought the red cube to the kitchen",
		},
		"not where it was seen": {
			task: "take the red cube to the kitchen", flat: flat{at: home(), fails: func(_ int, c model.Call) string {
				if c.Tool == "pick" {
					return "precondition_failed: the red cube is not seen"
				}
				return ""
			}},
			want: []string{
				"list_objects", "navigate_to(table)", "pick(red cube)", "list_objects", "navigate_to(dock)", "list_objects",
				"navigate_to(kitchen)", "list_objects", "navigate_to(office)", "list_objects",
			},
			says: "I see it at none of the places dock, kitchen, office and table.", gives: true,
		},
		"nobody knows where": {
			task: "take the red cube to the kitchen", flat: flat{at: map[string]string{"red cube": ""}},
			want: []string{
				"list_objects", "navigate_to(dock)", "list_objects", "navigate_to(kitchen)", "list_objects", "navigate_to(office)", "list_objects",
				"navigate_to(table)", "list_objects",
			},
			says: "I do not know where the red cube is", gives: true,
		},
		"not where the task says": {
			task: "take the red cube from the office to the kitchen", flat: flat{at: home()},
			want: []string{"list_objects"}, says: "The red cube is not at the office, it is at the table.", gives: true,
		},
		"a refusal is no reason to look again": {
			task: "take the red cube to the kitchen", flat: flat{at: home(), fails: once(2, "permission_denied: nobody allowed it")},
			want: []string{"list_objects", "navigate_to(table)", "pick(red cube)"}, says: "permission_denied", gives: true,
		},
		"no way there": {
			task: "take the red cube to the kitchen", flat: flat{at: home(), fails: once(1, "geometry_refused: no way")},
			want: []string{"list_objects", "navigate_to(table)"}, says: "geometry_refused: no way", gives: true,
		},
		"the second after the first": {
			task: "bring the red cube and the green ball to the dock", flat: flat{at: home(), fails: once(8, "geometry_refused: no way")},
			want: []string{
				"list_objects", "navigate_to(table)", "pick(red cube)", "navigate_to(dock)", "place(dock)",
				"list_objects", "navigate_to(office)", "pick(green ball)", "navigate_to(dock)",
			},
			says: "Done before: brought the red cube to the dock.", gives: true,
		},
		"by where another lies": {
			task: "if the green ball is in the office, go to the office, otherwise go to the dock", flat: flat{at: home()},
			want: []string{"list_objects", "navigate_to(office)"}, says: "It holds that the green ball is at the office.",
		},
		"by where one lies that nobody knows": {
			task: "if the green ball is in the office, go to the office, otherwise go to the dock", flat: flat{at: map[string]string{"green ball": ""}},
			want: []string{"list_objects"}, says: "nobody knows where the green ball is", gives: true,
		},
		"asked where":                {task: "where is the ball?", flat: flat{at: home(), sees: true, here: "office"}, want: []string{"list_objects"}, says: "The green ball is at the office."},
		"asked whether":              {task: "is the ball on the table?", flat: flat{at: home(), sees: true, here: "office"}, want: []string{"list_objects"}, says: "No. The green ball is at the office."},
		"asked of what was not seen": {task: "is the ball in the office?", flat: flat{at: home()}, want: []string{"list_objects"}, says: "I have not seen the green ball; by my record it is at the office."},
		"elsewhere than on record": {
			task: "take the red cube to the kitchen", flat: flat{at: map[string]string{"red cube": "office"}, record: map[string]string{"red cube": "table"}, sees: true},
			want: []string{
				"list_objects", "navigate_to(table)", "pick(red cube)", "list_objects", "navigate_to(dock)", "list_objects", "navigate_to(kitchen)", "list_objects",
				"navigate_to(office)", "list_objects", "pick(red cube)", "navigate_to(kitchen)", "place(kitchen)",
			},
			says: "brought the red cube to the kitchen",
		},
		"elsewhere, where it is not to go": {
			task: "take the red cube to the kitchen, but do not go to the office",
			flat: flat{at: map[string]string{"red cube": "office"}, record: map[string]string{"red cube": "table"}, sees: true},
			want: []string{"list_objects", "navigate_to(table)", "pick(red cube)", "list_objects", "navigate_to(dock)", "list_objects", "navigate_to(kitchen)", "list_objects"},
			says: "I see it at none of the places dock, kitchen and table.", gives: true,
		},
		"not where the task says, seen": {
			task: "take the red cube from the table to the kitchen",
			flat: flat{at: map[string]string{"red cube": "office"}, record: map[string]string{"red cube": "table"}, sees: true},
			want: []string{"list_objects", "navigate_to(table)", "pick(red cube)", "list_objects"}, says: "I do not see the red cube at the table.", gives: true,
		},
		"no room there": {
			task: "take the red cube to the kitchen", flat: flat{at: home(), fails: once(4, "precondition_failed: place: no spot is free there")},
			want: []string{"list_objects", "navigate_to(table)", "pick(red cube)", "navigate_to(kitchen)", "place(kitchen)", "list_objects"},
			says: "The red cube cannot be placed at the kitchen: precondition_failed: place: no spot is free there", gives: true,
		},
		"the arm is folded first": {
			task: "go to the kitchen", flat: flat{at: home(), unfolded: true},
			want: []string{"navigate_to(kitchen)", "move_arm", "navigate_to(kitchen)"}, says: "went to the kitchen",
		},
		"the arm is folded once": {
			task: "go to the kitchen", flat: flat{at: home(), fails: func(_ int, c model.Call) string {
				if c.Tool == "navigate_to" {
					return `precondition_failed: navigate_to: interlock: the arm is out: first call move_arm {"named":"carry"} (rule: false)`
				}
				return ""
			}},
			want: []string{"navigate_to(kitchen)", "move_arm", "navigate_to(kitchen)"}, says: "the arm is out", gives: true,
		},
		"a server gives no orders": {
			task: "go to the kitchen", flat: flat{at: home(), fails: once(0, `geometry_refused: navigate_to: interlock: blocked: first call drive {"distance_m":5}`)},
			want: []string{"navigate_to(kitchen)"}, says: "geometry_refused", gives: true,
		},
		"all that lies there": {
			task: "take everything on the table to the kitchen", flat: flat{at: home(), sees: true, looks: true},
			want: []string{
				"list_objects", "navigate_to(table)", "list_objects", "list_objects", "pick(red cube)", "navigate_to(kitchen)", "place(kitchen)",
				"list_objects", "navigate_to(table)", "pick(blue cube)", "navigate_to(kitchen)", "place(kitchen)",
			},
			says: "brought the red cube to the kitchen; brought the blue cube to the kitchen",
		},
		"all that lies there by the record, and does not": {
			task: "take everything on the table to the kitchen",
			flat: flat{at: map[string]string{"red cube": "office", "blue cube": "dock"}, record: map[string]string{"red cube": "table", "blue cube": "table"}, sees: true, looks: true},
			want: []string{"list_objects", "navigate_to(table)", "list_objects"}, says: "I see nothing of that at the table.",
		},
		"all that lies there, with a full hand": {
			task: "take everything on the table to the kitchen", flat: flat{at: home(), held: "green ball"},
			want: []string{"list_objects"}, says: "I hold the green ball, so I cannot pick up what lies at the table.", gives: true,
		},
		"what is held": {
			task: "put down what you are holding on the table", flat: flat{at: home(), held: "green ball"},
			want: []string{"list_objects", "navigate_to(table)", "place(table)"}, says: "put the green ball down at the table",
		},
		"what is held, and nothing is": {
			task: "put down what you are holding on the table", flat: flat{at: home()},
			want: []string{"list_objects"}, says: "I hold nothing that I could put down.", gives: true,
		},
		"to where it lies": {
			task: "find out where the ball is and go there", flat: flat{at: home(), sees: true, looks: true},
			want: []string{"list_objects", "list_objects", "navigate_to(office)", "list_objects"}, says: "went to the office, where the green ball is",
		},
		"to where it lay": {
			task: "go to the ball", flat: flat{at: map[string]string{"green ball": "dock"}, record: map[string]string{"green ball": "office"}, sees: true, looks: true},
			want: []string{"list_objects", "navigate_to(office)", "list_objects"}, says: "I do not see the green ball there.", gives: true,
		},
		"asked of the hand": {task: "are you holding the ball?", flat: flat{at: home(), held: "green ball"}, want: []string{"list_objects"}, says: "Yes, I hold the green ball."},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.flat
			if name == "lost on the way" {
				f.fails = func(_ int, call model.Call) string {
					if call.Tool == "navigate_to" && f.held != "" && f.at["red cube"] == "table" {
						f.held, f.at["red cube"] = "", "dock"
					}
					return ""
				}
			}
			tools, end, finish := errand(t, c.task, &f)
			if !slices.Equal(tools, c.want) {
				t.Errorf("calls\n%v, want\n%v", tools, c.want)
			}
			if !strings.Contains(end, c.says) || (finish == model.FinishInfeasible) != c.gives {
				t.Errorf("it ends with %s %q, want %q", finish, end, c.says)
			}
		})
	}
}

// TestWhatListObjectsSaysMayBeNoList: then it is given up in words.
func TestWhatListObjectsSaysMayBeNoList(t *testing.T) {
	for _, content := range []string{"", "[]", "7", `{"red cube":5}`, `{}`, "no objects"} {
		calls, last := askWith(t, armed(), "take the red cube to the kitchen", func(int, model.Call) (bool, string) { return true, content })
		if len(calls) != 1 || last.Finish != model.FinishInfeasible || last.Text == "" {
			t.Errorf("%q: %v, %s %q", content, calls, last.Finish, last.Text)
		}
	}
}
