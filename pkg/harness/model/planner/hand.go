package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// putHeld is to leave at a place whatever is held.
type putHeld struct{ place string }

func (putHeld) isInstruction() {}

// putHeld looks what is held, drives on and places it.
func (r *runner) putHeld(x putHeld) {
	for name, o := range r.look() {
		if o.Held {
			r.do("navigate_to", map[string]any{"place": x.place})
			r.do("place", map[string]any{"place": x.place})
			r.did = append(r.did, fmt.Sprintf("put the %s down at the %s", name, x.place))
			r.last = nil
			return
		}
	}
	r.giveUp("I hold nothing that I could put down.")
}

// clear looks what lies at a place, and brings it to another.
func (r *runner) clear(x clear) {
	at := r.look()
	for name, o := range at {
		if o.Held {
			r.giveUp("I hold the %s, so I cannot pick up what lies at the %s.", name, x.from)
		}
	}
	here := ""
	seen := func(o found) bool { return !o.Held && o.Place == x.from && (o.inView() || o.InView == nil) }
	if !slices.ContainsFunc(x.objects, func(name string) bool { return seen(at[name]) && at[name].inView() }) {
		r.do("navigate_to", map[string]any{"place": x.from})
		at, here = r.look(), x.from
	}
	n := 0
	for _, name := range x.objects {
		if seen(at[name]) {
			n++
			r.fetchFrom(fetch{object: name, from: x.from, place: x.to}, here)
			here = ""
		}
	}
	if n == 0 {
		r.told = append(r.told, fmt.Sprintf("I see nothing of that at the %s.", x.from))
	}
	r.last = nil
}

// approach is to go where an object lies.
type approach struct{ object string }

func (approach) isInstruction() {}

// approach drives to the place where the object is on record, and looks whether it is there.
func (r *runner) approach(x approach) {
	it := r.look()[x.object]
	switch {
	case it.Held:
		r.told = append(r.told, "I hold the "+x.object+".")
		return
	case it.Place == "":
		r.giveUp("I do not know at which place the %s is.", x.object)
	case slices.Contains(r.world.banned, it.Place):
		r.giveUp("The %s is at the %s, where I am not to go.", x.object, it.Place)
	}
	r.do("navigate_to", map[string]any{"place": it.Place})
	if now := r.look()[x.object]; now.InView != nil && (!now.inView() || now.Place != it.Place) {
		r.giveUp("I went to the %s, and I do not see the %s there.", it.Place, x.object)
	}
	r.did = append(r.did, fmt.Sprintf("went to the %s, where the %s is", it.Place, x.object))
	r.last = nil
}

// goesTo reads "go to the red cube", "go where the ball is", and "go there" behind a question about an object.
func (p *parser) goesTo() (program, bool, error) {
	if !p.anyPhrase("go over", "go", "drive over", "drive", "move", "head over", "head", "navigate", "travel", "come", "walk", "make your way", "visit", "approach") {
		return nil, false, nil
	}
	verb := p.words[p.at-1].text
	if mark := p.at; p.takeAny("there") {
		if !p.boundary() {
			p.at = mark
			return nil, false, nil
		}
		switch {
		case p.sought != "":
			return program{approach{p.sought}}, true, nil
		case p.place != "":
			return program{goCall(p.place)}, true, nil
		}
		p.reason = "Where is that? Name the place."
		return nil, false, nil
	}
	if !p.anyPhrase("to", "over to", "towards", "toward", "up to") && verb != "visit" && verb != "approach" {
		if !p.take("where") {
			return nil, false, nil
		}
		p.at--
	}
	where := p.anyPhrase("where", "the place where")
	name, ok := p.objectName()
	if !ok || where && !p.anyPhrase("is", "lies", "stands") || !p.boundary() {
		return nil, false, nil
	}
	return program{approach{name}}, true, nil
}

// theHeld reads "it" where that is what is held, "what you are holding", "the object in your hand".
func (p *parser) theHeld() bool {
	if p.holds && p.takeAny("it", "that", "this") {
		return true
	}
	if p.anyPhrase("whatever you are holding", "whatever you hold", "whatever you are carrying", "whatever you carry", "whatever is in your hand", "whatever is in your gripper", "whatever is in the gripper", "what you are holding", "what you hold",
		"what you are carrying", "what you carry", "what you have in your hand", "what you have in your gripper", "what is in your hand", "what is in your gripper", "what is in the gripper", "what you picked up", "anything you hold", "anything you are holding") {
		p.takeAny("now")
		return true
	}
	mark := p.at
	p.takeAny("the")
	if p.takeAny("object", "thing", "item") && p.anyPhrase("that you are holding", "that you hold", "that you are carrying", "that you carry", "you are holding", "you hold", "you are carrying", "you carry", "in your hand", "in your gripper",
		"in the gripper", "in the hand", "that is in your hand", "that is in your gripper", "which you hold", "which you are holding") {
		return true
	}
	p.at = mark
	return false
}

// putsHeld reads "put down what you are holding on the table"; without a place it asks for one, since nothing is let fall.
func (p *parser) putsHeld() (program, bool, error) {
	free := p.anyPhrase("empty", "free") && p.anyPhrase("your hand", "your gripper", "the gripper", "your hands", "the hand")
	if !free && !p.anyPhrase("put down", "set down", "lay down", "put", "place", "set", "lay", "drop off", "drop", "let go of", "release", "let go", "bring", "take", "carry", "deliver", "leave", "get rid of", "give me", "hand me", "hand over", "return", "move") {
		return nil, false, nil
	}
	verb := p.words[p.at-1].text
	named := false
	if !free && !p.theHeld() {
		// "release it", "drop the red cube"
		if !slices.Contains([]string{"release", "drop", "of", "go"}, verb) {
			return nil, false, nil
		}
		if _, named = p.anObject(); !named && (verb == "drop" || !p.takeAny("it", "that", "this")) && !p.anyPhrase("the object", "the thing", "everything") && verb != "go" {
			return nil, false, nil
		}
	}
	p.anyPhrase("down", "off")
	here := p.at
	place, ok := p.somewhere()
	if !ok {
		p.at = here
		if named && !p.sentenceOver() || p.reason != "" && !p.sentenceOver() {
			return nil, false, nil
		}
		return nil, false, refuse("Where am I to put it down? Name one of the places that I know: %s. To let go of it here, say: open the gripper.", joined(p.world.placeNames()))
	}
	if named {
		return nil, false, nil // an errand
	}
	p.holds = false
	return program{putHeld{place}}, true, nil
}

// handCondition reads "you hold something", "you are not holding the ball", "the gripper is empty", "there is nothing in your hand".
func (p *parser) handCondition() (branch, bool) {
	not, object := false, ""
	inHand := func() bool {
		return p.anyPhrase("in your hand", "in your gripper", "in the gripper", "in the hand", "in your hands")
	}
	what := func() bool {
		switch {
		case p.anyPhrase("something", "anything", "an object", "any object", "one of the objects"):
		case p.anyPhrase("nothing", "no object"):
			not = !not
		default:
			name, ok := p.objectName()
			object = name
			return ok
		}
		return true
	}
	hand := func() bool { p.takeAny("the", "your"); return p.takeAny("gripper", "hand") }
	mark := p.at
	switch {
	case p.anyPhrase("you hold", "you are holding", "you are already holding", "you carry", "you are carrying", "you have", "you still hold"):
		have := p.words[p.at-1].text == "have"
		if !what() || !inHand() && have {
			p.at = mark
			return branch{}, false
		}
	case p.anyPhrase("you do not hold", "you are not holding", "you do not carry", "you are not carrying", "you do not have"):
		not = true
		have := p.words[p.at-1].text == "have"
		if !what() || !inHand() && have {
			p.at = mark
			return branch{}, false
		}
	case p.anyPhrase("there is"):
		if !what() || !inHand() {
			p.at = mark
			return branch{}, false
		}
	default:
		if hand() {
			if !p.takeAny("is") {
				p.at = mark
				return branch{}, false
			}
			no := p.take("not")
			switch {
			case p.takeAny("empty", "free"):
				not = !no
			case p.anyPhrase("full", "holding something"):
				not = no
			default:
				p.at = mark
				return branch{}, false
			}
			break
		}
		p.at = mark
		name, ok := p.objectName()
		if !ok || !p.takeAny("is") {
			p.at = mark
			return branch{}, false
		}
		object, not = name, p.take("not")
		if !p.anyPhrase("held") && !inHand() {
			p.at = mark
			return branch{}, false
		}
	}
	if p.takeAny("already"); object == "" {
		p.holds, p.object = !not, ""
	} else {
		p.object = object
	}
	return holdingBranch(p.world, object, not), true
}

// holdingBranch is the condition that this object is held ("": any), or that it is not.
func holdingBranch(w *world, object string, not bool) branch {
	words := "the robot holds something"
	switch {
	case object == "" && not:
		words = "the robot holds nothing"
	case object != "" && not:
		words = "the robot does not hold the " + object
	case object != "":
		words = "the robot holds the " + object
	}
	b := branch{condition: words}
	switch {
	case object != "" && w.tools["holding"]:
		b.ask = question{tool: "holding", args: map[string]any{"object": object}}
		b.holds = func(content string) (bool, error) {
			is, err := passed(content)
			return is != not, err
		}
	case object == "" && w.tools["gripper_empty"]:
		b.ask = question{tool: "gripper_empty"}
		b.holds = func(content string) (bool, error) {
			is, err := passed(content)
			return is == not, err
		}
	default:
		b.ask = question{tool: "list_objects"}
		b.holds = func(content string) (bool, error) {
			var all map[string]found
			if err := json.Unmarshal([]byte(content), &all); err != nil {
				return false, fmt.Errorf("what list_objects said is no list of objects: %w", err)
			}
			held := false
			for name, o := range all {
				held = held || o.Held && (object == "" || name == object)
			}
			return held != not, nil
		}
	}
	return b
}

// gripperCondition reads "the gripper is open".
func (p *parser) gripperCondition() (branch, bool) {
	p.takeAny("the", "your")
	if !p.takeAny("gripper", "hand", "claw") || !p.takeAny("is") || !p.world.tools["gripper_is"] {
		return branch{}, false
	}
	not := p.take("not")
	open := p.takeAny("open", "opened")
	if !open && !p.takeAny("closed", "shut") {
		return branch{}, false
	}
	p.grips, p.object = true, ""
	state := "closed"
	if open {
		state = "open"
	}
	words := "the gripper is " + state
	if not {
		words = "the gripper is not " + state
	}
	return branch{
		ask: question{tool: "gripper_is", args: map[string]any{"open": open}}, condition: words,
		holds: func(content string) (bool, error) {
			is, err := passed(content)
			return is != not, err
		},
	}, true
}

// oneHand finds a pick for which the gripper is not free by then.
func (p program) oneHand() error {
	held := ""
	for _, i := range p {
		object := ""
		switch x := i.(type) {
		case pickUp:
			object = x.object
		case fetch:
			object = x.object
		case clear:
			if held != "" {
				return fullHand(held, joined(x.objects))
			}
		case putDown, putHeld:
			held = ""
		case call:
			if open, ok := x.args["open"].(bool); ok && open {
				held = ""
			}
		case branch:
			for _, arm := range [][]instruction{x.then, x.els} {
				if err := program(arm).oneHand(); err != nil {
					return err
				}
			}
		}
		if object == "" {
			continue
		}
		if held != "" && held != object {
			return fullHand(held, object)
		}
		if held = object; isFetch(i) {
			held = ""
		}
	}
	return nil
}

func isFetch(i instruction) bool {
	_, ok := i.(fetch)
	return ok
}

func fullHand(held, object string) error {
	return refuse("I can hold one object only: with the %s in the gripper I cannot pick up the %s. Say where to put the %s down first.", held, object, held)
}

// mentioned are the objects that the task has named up to here, in their order.
func (p *parser) mentioned() []string {
	var out []string
	for i := 0; i < p.at; i++ {
		for _, o := range p.world.objects {
			f := strings.Fields(strings.ToLower(o))
			full := i+len(f) <= p.at && containsRun(p.words[i:i+len(f)], f)
			short := p.words[i].text == f[len(f)-1] && len(p.withNoun(f[len(f)-1])) == 1
			if (full || short) && !slices.Contains(out, o) {
				out = append(out, o)
			}
		}
	}
	return out
}

// relative reads objects that are named by others: "the blue one", "the other cube", "the former", "the red thing".
func (p *parser) relative() (string, bool) {
	mark := p.at
	p.takeAny("the")
	before := p.mentioned()
	switch {
	case p.take("former") && len(before) == 2:
		return before[0], true
	case p.take("latter") && len(before) == 2:
		return before[1], true
	case p.take("other"):
		w, _ := p.next()
		noun := w.text
		if noun == "one" && p.object != "" {
			f := strings.Fields(strings.ToLower(p.object))
			noun = f[len(f)-1]
		}
		all := p.withNoun(noun)
		if len(before) == 1 && len(all) == 2 && slices.Contains(all, before[0]) {
			return all[1-slices.Index(all, before[0])], true
		}
	default:
		a, _ := p.next()
		n, _ := p.next()
		noun := n.text
		if noun == "one" && p.object != "" {
			f := strings.Fields(strings.ToLower(p.object))
			noun = f[len(f)-1]
		}
		var fit []string
		for _, o := range p.world.objects {
			f := strings.Fields(strings.ToLower(o))
			if len(f) > 1 && f[0] == a.text && (f[len(f)-1] == noun || noun == "thing" || noun == "object") {
				fit = append(fit, o)
			}
		}
		if len(fit) == 1 {
			return fit[0], true
		}
	}
	p.at = mark
	return "", false
}
