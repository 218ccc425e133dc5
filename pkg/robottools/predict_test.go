package robottools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/harness/tool"
)

// predict asks what a call would come to.
func (r *rig) predict(state any, name, args string) tool.Prediction {
	r.t.Helper()
	p, ok := r.tools[name].(tool.Predictor)
	if !ok {
		r.t.Fatalf("%s predicts nothing", name)
	}
	return p.Predict(context.Background(), tool.Call{ID: "p", Session: "s", Arguments: json.RawMessage(args), Note: func(string, any) {}}, state)
}

// imagined is a row of calls that are not made, and what is said of the last one.
type imagined struct {
	calls   []string // "tool {arguments}"
	refused string   // by a finding of this rule and these words, "rule: words"; "": it would be accepted
}

func TestPicksAndPlacesAreForeseen(t *testing.T) {
	const (
		table, kitchen = `navigate_to {"place":"table"}`, `navigate_to {"place":"kitchen"}`
		red, blue      = `pick {"object":"red cube"}`, `pick {"object":"blue cube"}`
		down           = `place {"place":"kitchen"}`
		dock, shelve   = `navigate_to {"place":"dock"}`, `place {"place":"dock"}`
		out, carry     = `move_arm {"joints":[0.5,-1.5,2.3,-2.4,-1.5708,0]}`, `move_arm {"named":"carry"}`
	)
	for name, c := range map[string]imagined{
		"from afar it is not seen":            {[]string{red}, "precondition_failed: part 2 of 11, object_seen"},
		"at its place":                        {[]string{table, red}, ""},
		"carried and put down":                {[]string{table, red, kitchen, down}, ""},
		"the hand is full":                    {[]string{table, red, blue}, "precondition_failed: part 1 of 11, gripper_empty"},
		"the hand is free again":              {[]string{table, red, kitchen, down, table, blue}, ""},
		"it is where it was put":              {[]string{table, red, kitchen, down, red}, ""},
		"it is not where it was":              {[]string{table, red, kitchen, down, table, red}, "precondition_failed: part 2 of 11, object_seen"},
		"nothing to put down":                 {[]string{kitchen, down}, "precondition_failed: place: nothing is held"},
		"put down elsewhere than it stands":   {[]string{table, red, down}, "precondition_failed: part 1 of 7, at_place"},
		"too far away":                        {[]string{table, `drive {"distance_m":-0.3}`, red}, "reachability: part 4 of 11, move_arm"},
		"driving with the arm out":            {[]string{out, kitchen}, `interlock: navigate_to: interlock: the arm is not in its carry pose: first call move_arm {"named":"carry"}`},
		"turning with the arm out":            {[]string{out, `turn {"angle_rad":1}`}, "interlock: turn: interlock"},
		"driving with the arm folded again":   {[]string{out, carry, kitchen}, ""},
		"opening drops what is held":          {[]string{table, red, `gripper {"open":true}`, kitchen, down}, "precondition_failed: place: nothing is held"},
		"closing on nothing holds nothing":    {[]string{`gripper {"open":false}`, kitchen, down}, "precondition_failed: place: nothing is held"},
		"closed fingers open for a pick":      {[]string{`gripper {"open":false}`, table, red}, ""},
		"all objects on one surface":          {[]string{table, red, kitchen, down, table, blue, kitchen, down, `navigate_to {"place":"office"}`, `pick {"object":"green ball"}`, kitchen, down}, ""},
		"on a small shelf":                    {[]string{table, red, dock, shelve, red, kitchen, down}, ""},
		"no room on a small shelf":            {[]string{table, red, dock, shelve, table, blue, dock, shelve}, "precondition_failed: place: no spot is free there"},
		"into what stands there":              {[]string{table, `move_arm {"pose":{"frame":"map","x":2.9,"y":-1.6,"z":0.2}}`}, "collision: "},
		"a pose nobody reaches":               {[]string{`move_arm {"pose":{"x":3,"y":0,"z":0.5}}`}, "reachability: "},
		"a joint beyond its limit":            {[]string{`move_arm {"joints":[9,-1.5,2.3,-2.4,-1.5708,0]}`}, "position limit: "},
		"a held object reaches where it lies": {[]string{table, red, `move_arm {"pose":{"frame":"map","x":2.76,"y":-1.6,"z":0.4}}`}, "collision: "},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t)
				r.ok("get_joints", "{}")
				time.Sleep(time.Second)
				before, truth := r.bot.Counters(), r.bot.Truth()
				var state any
				for i, call := range c.calls {
					name, args, _ := strings.Cut(call, " ")
					p := r.predict(state, name, args)
					last := i == len(c.calls)-1
					switch {
					case p.Unknown:
						t.Fatalf("%s is unknown: %+v", call, p.Findings)
					case !p.Refused && last && c.refused != "":
						t.Errorf("%s is not refused, wanted %s", call, c.refused)
					case p.Refused && !(last && found(p, c.refused)):
						t.Errorf("%s is refused: %+v, wanted %q", call, p.Findings, c.refused)
					}
					if p.State != nil {
						state = p.State
					}
				}
				if after := r.bot.Counters(); !maps.Equal(after, before) {
					t.Errorf("something was sent: %v, before %v", after, before)
				}
				if now := r.bot.Truth(); now.Pose != truth.Pose || now.Arm != truth.Arm && now.Held != truth.Held {
					t.Errorf("something moved: %+v", now)
				}
			})
		})
	}
}

// found: a finding of that rule says so.
func found(p tool.Prediction, want string) bool {
	rule, words, _ := strings.Cut(want, ": ")
	for _, f := range p.Findings {
		if want != "" && f.Rule == rule && strings.Contains(f.Message, words) {
			return true
		}
	}
	return false
}

// TestWhatIsForeseenComesTrue: calls drawn at random, each predicted from the state that the ones before would leave behind, and then
// made. What was to be accepted succeeds, what was to be refused fails with nothing sent by its first part.
func TestWhatIsForeseenComesTrue(t *testing.T) {
	seeds := 6
	if os.Getenv("PROOF") != "" {
		seeds = 60
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t)
				r.ok("get_joints", "{}")
				time.Sleep(time.Second)
				rng := rand.New(rand.NewPCG(uint64(seed), 5))
				var state any
				for range 8 {
					name, args := drawn(rng)
					p := r.predict(state, name, args)
					if p.Unknown {
						t.Fatalf("%s(%s) is unknown: %+v", name, args, p.Findings)
					}
					res := r.call(name, args)
					t.Logf("%s(%s): refused %v, then %v %s %s", name, args, p.Refused, res.OK, res.ErrorKind, res.Content)
					if p.Refused == res.OK {
						t.Fatalf("%s(%s): foreseen %+v, came %v %s: %s", name, args, p.Findings, res.OK, res.ErrorKind, res.Content)
					}
					if p.Refused {
						continue // nothing has changed, or the arm is folded again
					}
					if p.State != nil {
						state = p.State
					}
					if truth := r.bot.Truth().Held; truth != r.held() {
						t.Fatalf("it holds %q, the node thinks %q", truth, r.held())
					}
				}
			})
		})
	}
}

// held is what the node thinks that the gripper holds.
func (r *rig) held() string {
	var all map[string]struct{ Held bool }
	if err := json.Unmarshal([]byte(r.ok("list_objects", "{}").Content), &all); err != nil {
		r.t.Fatal(err)
	}
	for name, o := range all {
		if o.Held {
			return name
		}
	}
	return ""
}

// drawn is a call that makes sense more often than not.
func drawn(rng *rand.Rand) (name, args string) {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	place := func() string { return pick("kitchen", "office", "dock", "table") }
	switch rng.IntN(10) {
	case 0, 1, 2:
		return "navigate_to", fmt.Sprintf(`{"place":%q}`, place())
	case 3, 4, 5:
		return "pick", fmt.Sprintf(`{"object":%q}`, pick("red cube", "blue cube", "green ball"))
	case 6, 7:
		return "place", fmt.Sprintf(`{"place":%q}`, place())
	case 8:
		return "move_arm", pick(`{"named":"carry"}`, `{"joints":[0.5,-1.5,2.3,-2.4,-1.5708,0]}`)
	}
	return "gripper", pick(`{"open":true}`, `{"open":false}`)
}
