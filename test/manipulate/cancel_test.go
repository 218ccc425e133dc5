package manipulate

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/sim/physics"
	"agent_node/test/house"
)

// progress of an errand, by the truth.
type progress struct {
	physics.Truth
	reaches int  // motions of the arm that have begun
	reach   bool // one is under way
	turns   int  // samples since the fingers or the arm moved last
}

func (p *progress) see(now physics.Truth) {
	moves := slices.ContainsFunc(now.ArmVelocity[:], func(v float64) bool { return math.Abs(v) > 0.01 })
	if moves && !p.reach {
		p.reaches++
	}
	p.Truth, p.reach = now, moves
	if p.turns++; moves || math.Abs(now.WidthSpeed) > 0.001 {
		p.turns = 0
	}
}

// moments of the errand, in order: during each motion, and between them.
var moments = []struct {
	name string
	when func(p *progress) bool
	// either: the fingers move, so that the cube may be held or not afterwards.
	either bool
}{
	{name: "at once", when: func(*progress) bool { return true }},
	{name: "driving there", when: func(p *progress) bool { return moving(p.Truth) && p.Held == "" }},
	{name: "reaching out", when: func(p *progress) bool { return p.reaches == 1 && p.reach }},
	{name: "over the cube", when: func(p *progress) bool { return p.reaches == 1 && p.turns > 2 }},
	{name: "coming down", when: func(p *progress) bool { return p.reaches == 2 && p.reach }},
	{name: "closing", when: func(p *progress) bool { return p.reaches == 2 && p.WidthSpeed < -0.01 }, either: true},
	{name: "lifting", when: func(p *progress) bool { return p.reaches == 3 && p.reach }},
	{name: "folding with the cube", when: func(p *progress) bool { return p.reaches == 4 && p.reach }},
	{name: "between pick and drive", when: func(p *progress) bool { return p.reaches == 4 && p.turns > 2 }},
	{name: "driving with the cube", when: func(p *progress) bool { return carrying(p.Truth) }},
	{name: "reaching over the counter", when: func(p *progress) bool { return p.reaches == 5 && p.reach }},
	{name: "putting down", when: func(p *progress) bool { return p.reaches == 6 && p.reach }},
	{name: "opening", when: func(p *progress) bool { return p.reaches == 6 && p.WidthSpeed > 0.01 }, either: true},
	{name: "rising", when: func(p *progress) bool { return p.reaches == 7 && p.reach }},
	{name: "folding without the cube", when: func(p *progress) bool { return p.reaches == 8 && p.reach }},
}

// stands: the arm is where it was.
func stands(a, b house.Situation) bool {
	for i := range a.Arm {
		if math.Abs(a.Arm[i]-b.Arm[i]) > 1e-3 {
			return false
		}
	}
	return true
}

// TestCancelAtAnyMoment: the result comes at rest, the arm stands, what was held is held, and the next errand goes on from there,
// whatever pose the arm was left in.
func TestCancelAtAnyMoment(t *testing.T) {
	for n, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			in(t, house.Options{Seed: 7}, func(t *testing.T, h *house.House) {
				p, begun := &progress{}, false
				var held string
				before := h.Now()
				out, stopped := h.Send(ros.New(h.Execute.Type().Goal).With("task", errand), func(now physics.Truth, cancel func()) {
					if p.see(now); !begun && m.when(p) {
						begun, held = true, now.Held
						cancel()
					}
				})
				after, r := h.Now(), out.Result
				if !begun {
					t.Fatalf("that moment never came: %d motions of the arm, %s", p.reaches, r.Str("answer"))
				}
				t.Logf("%v until the result: %s; holding %q, then %q", stopped, r.Str("answer"), held, after.Held)
				tells := []string{"The goal was canceled, by a client.", "Everything rests.", "Not achieved: "}
				if m.name == "at once" {
					tells = []string{"canceled", "No motion had begun."}
				}
				for _, part := range tells {
					if !strings.Contains(r.Str("answer"), part) {
						t.Errorf("%q is not in the answer: %s", part, r.Str("answer"))
					}
				}
				if out.Status != 5 || r.Int("outcome") != 5 || r.Str("reason_code") != "canceled" {
					t.Errorf("status %d, outcome %d, reason %s", out.Status, r.Int("outcome"), r.Str("reason_code"))
				}
				if stopped > 7*time.Second {
					t.Errorf("the result came %v after the cancel, limit 7 s", stopped)
				}
				if !after.AtRest() {
					t.Errorf("not at rest: %+v", after.Truth)
				}
				if after.Held != held && !m.either {
					t.Errorf("it held %q, now %q", held, after.Held)
				}
				if steps := r.Msgs("completed_steps"); len(steps) > 0 {
					last := steps[len(steps)-1]
					if p.reaches+n > 2 && (last.Bool("ok") || last.Str("error_kind") != "canceled") && !slices.Contains([]string{"between pick and drive"}, m.name) {
						t.Errorf("the last step %s is %v %s", last.Str("tool"), last.Bool("ok"), last.Str("error_kind"))
					}
				}
				time.Sleep(3 * time.Second)
				later := h.Now()
				if !later.AtRest() || !later.Still(after) || later.Held != after.Held || !stands(after, later) {
					t.Errorf("it moves on: %+v, then %+v", after.Truth, later.Truth)
				}
				if o := later.Objects["red cube"]; o.Falling || o.Z < 0.2 {
					t.Errorf("the cube fell: %+v", o)
				}
				untouched(t, before, later, "blue cube", "green ball")
				bumped(t, h)
				if proof() || slices.Contains([]string{"coming down", "lifting", "opening"}, m.name) {
					done(t, h, h.Run(errand), before)
				}
			})
		})
	}
}
