//go:build !race

package cases

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agent_node/pkg/ros"
	"agent_node/test/house"
)

//go:embed testdata/tasks.jsonl
var tasks []byte

// task is one case; what stands in expect and never is compared with the calls that were made.
type task struct {
	ID, Task    string
	Paraphrases []string
	Expect      []json.RawMessage
	FinalTruth  []map[string]json.RawMessage `json:"final_truth"`
	Never       []wanted
	Refuse      bool
	Reasons     []string `json:"reason_code_in"`
	MustNotCall []string `json:"must_not_call"`
	Tier        string
}

// wanted is a call by name, with constraints on its arguments.
type wanted struct {
	Tool       string
	Args       map[string]json.RawMessage
	ImplicitOK bool `json:"implicit_ok"`
}

// TestTasks runs in virtual time: nothing depends on how fast the machine is. Each case in its three wordings. Core tasks are done, or refused where the case says so; stretch tasks are done,
// or refused in words with nothing moved. A wrong motion is a failure for all.
func TestTasks(t *testing.T) {
	sc := bufio.NewScanner(bytes.NewReader(tasks))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var c task
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		for n, wording := range append([]string{c.Task}, c.Paraphrases...) {
			if long(c.ID) && n > 0 && os.Getenv("PROOF") == "" {
				continue // how each wording is read, the planner's own tests say
			}
			t.Run(fmt.Sprintf("%s/%d", c.ID, n+1), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { c.judge(t, open(t, 0), wording) })
			})
		}
		if bytes.Contains(sc.Bytes(), []byte("battery_percent < 20")) {
			t.Run(c.ID+"/low battery", func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { c.judge(t, open(t, 12), c.Task) })
			})
		}
	}
}

// open is a house in the default world; battery is the charge in percent, 0 for the world's.
func open(t *testing.T, battery float64) *house.House {
	o := house.Options{Seed: 11}
	if battery > 0 {
		o.Robot = map[string]any{"sim.charge": battery}
	}
	return house.Open(t, o)
}

// long cases drive for a minute or more; in virtual time that is some seconds each.
func long(id string) bool {
	return slices.Contains([]string{"dec-034", "dec-043", "dec-055", "dec-064", "dec-067", "dec-070"}, id)
}

func (c task) judge(t *testing.T, h *house.House, wording string) {
	before := h.Now()
	r := h.Run(wording)
	after := h.Now()
	outcome, reason := r.Int("outcome"), r.Str("reason_code")
	steps := r.Msgs("completed_steps")
	t.Logf("%q: %d %s: %s", wording, outcome, reason, r.Str("answer"))
	for _, s := range steps {
		for _, n := range c.Never {
			if n.find([]*ros.Message{s}) == 0 || n.Tool == "@skill" && s.Int("tool_class") == 2 {
				t.Errorf("%s(%s) was called", s.Str("tool"), s.Str("arguments_json"))
			}
		}
	}
	if outcome != 1 {
		if outcome == 2 {
			t.Errorf("unverified: %s", r.Str("answer"))
		}
		for _, s := range steps {
			if s.Int("tool_class") == 2 && (slices.Contains(c.MustNotCall, "@skill") || slices.Contains(c.MustNotCall, s.Str("tool"))) {
				t.Errorf("%s was called", s.Str("tool"))
			}
		}
		switch {
		case c.Refuse && !slices.Contains(c.Reasons, reason):
			t.Errorf("refused as %s, wanted one of %v", reason, c.Reasons)
		case !c.Refuse && c.Tier == "core":
			t.Errorf("not done: %s", r.Str("answer"))
		case r.Str("answer") == "":
			t.Error("no words")
		}
		if !before.Still(after) {
			t.Errorf("moved from %+v to %+v", before.Pose, after.Pose)
		}
		return
	}
	if c.Refuse {
		t.Errorf("done, although %v", c.Reasons)
		return
	}
	rest := slices.Clone(steps)
	for _, e := range c.Expect {
		rest = c.follow(t, e, rest, before)
	}
	for _, f := range c.FinalTruth {
		for word, value := range f {
			if why := holds(h, word, value, f, before, after, r); why != "" {
				t.Errorf("%s %s: %s", word, value, why)
			}
		}
	}
}

// fact of a branch, at the start.
func fact(s house.Situation, name string) bool {
	switch f := strings.Split(name, ":"); {
	case name == "battery_percent < 20":
		return s.Charge < 20
	case f[0] == "object_at":
		return s.PlaceOf(f[1]) == f[2]
	case f[0] == "holding":
		return s.Held == f[1]
	}
	return false
}

// follow finds an expected call, or what it stands for, among the steps and returns what comes behind it.
func (c task) follow(t *testing.T, raw json.RawMessage, steps []*ros.Message, before house.Situation) []*ros.Message {
	var e struct {
		wanted
		AnyOf     [][]json.RawMessage `json:"any_of"`
		Unordered []json.RawMessage
		Repeat    int
		ForEach   string `json:"for_each"`
		Do        []json.RawMessage
		Branch    *struct {
			If         string
			Then, Else []json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	switch {
	case e.Branch != nil:
		arm := e.Branch.Else
		if fact(before, e.Branch.If) {
			arm = e.Branch.Then
		}
		for _, x := range arm {
			steps = c.follow(t, x, steps, before)
		}
	case e.Repeat > 0:
		for range e.Repeat {
			for _, x := range e.Do {
				steps = c.follow(t, x, steps, before)
			}
		}
	case e.AnyOf != nil:
		for _, one := range e.AnyOf {
			var first wanted
			if json.Unmarshal(one[0], &first) == nil && first.Tool != "" && first.find(steps) >= 0 {
				return steps[first.find(steps)+1:]
			}
		}
		t.Errorf("none of %s was called", raw)
	case e.Unordered != nil, e.ForEach != "":
		// Only stretch tasks have these; what they come to is judged by the truth.
	default:
		i := e.find(steps)
		if i < 0 {
			if !e.ImplicitOK {
				t.Errorf("%s was not called in its turn", raw)
			}
			return steps
		}
		return steps[i+1:]
	}
	return steps
}

// find the first step that fits.
func (w wanted) find(steps []*ros.Message) int {
	return slices.IndexFunc(steps, func(s *ros.Message) bool {
		if s.Str("tool") != w.Tool || !s.Bool("ok") {
			return false
		}
		var args map[string]any
		if json.Unmarshal([]byte(s.Str("arguments_json")), &args) != nil {
			return false
		}
		for name, want := range w.Args {
			if !fits(want, args[name]) {
				return false
			}
		}
		return true
	})
}

func fits(want json.RawMessage, got any) bool {
	var near struct{ Approx, Tol *float64 }
	if json.Unmarshal(want, &near) == nil && near.Approx != nil {
		f, ok := got.(float64)
		return ok && math.Abs(f-*near.Approx) <= *near.Tol
	}
	var each struct {
		All *float64
		Len int
	}
	if json.Unmarshal(want, &each) == nil && each.All != nil {
		list, ok := got.([]any)
		return ok && len(list) == each.Len && !slices.ContainsFunc(list, func(v any) bool { return v != *each.All })
	}
	var plain any
	return json.Unmarshal(want, &plain) == nil && fmt.Sprint(plain) == fmt.Sprint(got)
}
