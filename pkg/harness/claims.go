package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"agent_node/pkg/harness/criteria"
)

// claims are what the skills that ran say about the world. docs/acceptance.md has the rules:
//
//   - Postconditions are checked at rest right behind their skill.
//   - They are checked again at the end, unless later skills, whose own postconditions were verified, moved every
//     actuator of the skill (for a skill without actuators: unless any such skill ran later). Then the first check stands.
//   - Where a verify tool cannot judge again (stale_state: nothing fresh to judge by, such as an object out of sight), the first
//     check stands, too: it was made at rest behind the skill, and nothing has been found against it since.
//   - A skill that ran and failed leaves its postconditions to be met; where it names none, the failure itself stands
//     against the goal until the same call succeeds.
type claims struct {
	active []claim
	past   []Verification // of superseded claims: they held in their time
	moved  []string       // actuators of skills that succeeded
}

// claim of one skill.
type claim struct {
	call      claimant
	post      []criteria.Criterion
	found     []Verification
	actuators []string // not moved by a later verified skill
	failed    string   // why the skill failed; "": it did not
}

// claimant is the call that a claim is of. The call itself is gone with its answer.
type claimant struct {
	id, tool  string
	arguments json.RawMessage
}

func claimantOf(c *call) claimant { return claimant{c.id, c.tool, c.arguments} }

// succeeded takes a skill whose postconditions (maybe none) hold.
func (k *claims) succeeded(c *call, post []criteria.Criterion, found []Verification) {
	for _, a := range c.spec.Actuators {
		if !slices.Contains(k.moved, a) {
			k.moved = append(k.moved, a)
		}
	}
	kept := k.active[:0]
	for _, old := range k.active {
		if old.failed != "" {
			if old.call.tool != c.tool || !bytes.Equal(old.call.arguments, c.arguments) {
				kept = append(kept, old)
			}
			continue
		}
		if len(post) > 0 && old.supersededBy(c) {
			for _, v := range old.found {
				k.hold(v, old.call.id)
			}
			continue
		}
		kept = append(kept, old)
	}
	k.active = kept
	if len(post) > 0 {
		k.active = append(k.active, claim{call: claimantOf(c), post: post, found: found, actuators: slices.Clone(c.spec.Actuators)})
	}
}

// supersededBy a later skill, when it moved what was left of the claim's actuators. What a skill without actuators
// says ("still where I was" of a wait) may be about any of them.
func (k *claim) supersededBy(c *call) bool {
	k.actuators = slices.DeleteFunc(k.actuators, func(a string) bool { return slices.Contains(c.spec.Actuators, a) })
	return len(k.actuators) == 0
}

// hold keeps what was true in its time, once per criterion.
func (k *claims) hold(v Verification, callID string) {
	v.Evidence = fmt.Sprintf("held at rest behind call %s: %s", callID, v.Evidence)
	for i := range k.past {
		if k.past[i].Criterion == v.Criterion {
			k.past[i] = v
			return
		}
	}
	k.past = append(k.past, v)
}

// failed takes a skill that ran and did not succeed.
func (k *claims) failed(c *call, post []criteria.Criterion, why string) {
	k.active = append(k.active, claim{call: claimantOf(c), post: post, failed: why})
}

// pending is what is still to be checked, the model's own criteria first, and what is settled already.
func (k *claims) pending(declared []criteria.Criterion) (set []criteria.Criterion, settled []Verification) {
	set = slices.Clone(declared)
	for _, c := range k.active {
		if c.failed != "" && len(c.post) == 0 {
			settled = append(settled, Verification{
				Criterion: fmt.Sprintf("%s(%s) succeeds", c.call.tool, c.call.arguments),
				Evidence:  fmt.Sprintf("call %s failed: %s", c.call.id, c.failed),
			})
			continue
		}
		for _, p := range c.post {
			if !has(set, p) {
				set = append(set, p)
			}
		}
	}
	for _, v := range k.past {
		if !has(set, criteria.Criterion{Text: v.Criterion}) {
			settled = append(settled, v)
		}
	}
	return set, settled
}

// heldBehind is the check of a postcondition that held right behind its skill.
func (k *claims) heldBehind(text string) (Verification, bool) {
	for _, c := range k.active {
		for _, v := range c.found {
			if v.Criterion == text && v.Passed {
				return v, true
			}
		}
	}
	return Verification{}, false
}

// held is what was found to hold right behind its skill, of the claims that stand and of those that later skills superseded.
func (k *claims) held() []Verification {
	out := slices.Clone(k.past)
	for _, c := range k.active {
		for _, v := range c.found {
			v.Evidence = fmt.Sprintf("held at rest behind call %s: %s", c.call.id, v.Evidence)
			out = append(out, v)
		}
	}
	return out
}
