package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// fetch is to bring an object to a place, from wherever it is found to be.
type fetch struct {
	object, place string
	// unless it is there already.
	unless bool
}

// pickUp is to find an object and to hold it.
type pickUp struct{ object string }

// putDown is to leave what is held at a place.
type putDown struct{ object, place string }

func (fetch) isInstruction()   {}
func (pickUp) isInstruction()  {}
func (putDown) isInstruction() {}

// objectName reads a known object: its full name, or a noun that only one has. Several with the noun are a question
// that nobody here can answer.
func (p *parser) objectName() (string, bool) {
	mark := p.at
	p.takeAny("the", "a", "that", "this")
	for _, name := range p.world.objects {
		if p.take(strings.Fields(strings.ToLower(name))...) {
			p.object = name
			return name, true
		}
	}
	if w, ok := p.next(); ok {
		var fit []string
		for _, name := range p.world.objects {
			f := strings.Fields(strings.ToLower(name))
			if f[len(f)-1] == w.text {
				fit = append(fit, name)
			}
		}
		switch {
		case len(fit) == 1:
			p.object = fit[0]
			return fit[0], true
		case len(fit) > 1:
			p.reason = fmt.Sprintf("Which %s? I know %s.", w.text, joined(fit))
		}
	}
	p.at = mark
	return "", false
}

// anObject is a named one, or "it" for the last named.
func (p *parser) anObject() (string, bool) {
	if name, ok := p.objectName(); ok {
		return name, true
	}
	if p.object != "" && p.takeAny("it", "that", "this") {
		return p.object, true
	}
	return "", false
}

// somewhere is a place behind its preposition, or "there" for the last named.
func (p *parser) somewhere() (string, bool) {
	mark := p.at
	if p.place != "" && p.anyPhrase("there", "in that place", "at that place", "to that place", "here", "in there") {
		return p.place, true
	}
	if p.anyPhrase("to", "into", "in", "on", "onto", "on to", "at", "over to", "back to", "down at", "down in", "down on", "over into", "to be in", "by") {
		if name, ok := p.placeName(); ok {
			p.place = name
			return name, true
		}
		p.unknownPlace()
	}
	p.at = mark
	return "", false
}

// manipulation reads everything about objects and the gripper.
func (p *parser) manipulation() (program, bool, error) {
	if len(p.world.objects) == 0 {
		return nil, false, nil
	}
	for _, rule := range []func() (program, bool, error){p.disregard, p.gripper, p.belongs, p.deliver, p.carry, p.hold, p.release} {
		mark, object, place := p.at, p.object, p.place
		prog, ok, err := rule()
		if ok || err != nil {
			return prog, ok, err
		}
		p.at, p.object, p.place = mark, object, place
	}
	return nil, false, nil
}

// disregard reads "never mind the cubes", "ignore both cubes", "leave the cubes alone": nothing is to be done with them.
func (p *parser) disregard() (program, bool, error) {
	leave := false
	switch {
	case p.anyPhrase("never mind", "ignore", "forget about", "forget"):
	case p.anyPhrase("leave"):
		leave = true
	default:
		return nil, false, nil
	}
	p.takeAny("both", "all", "the")
	p.take("the")
	w, ok := p.next()
	if !ok || !p.isObjects(w.text) {
		return nil, false, nil
	}
	if leave && !p.take("alone") {
		return nil, false, nil
	}
	return nil, true, nil
}

// isObjects: a noun of the known objects, in the plural.
func (p *parser) isObjects(noun string) bool {
	one, plural := strings.CutSuffix(noun, "s")
	return plural && slices.ContainsFunc(p.world.objects, func(o string) bool { return strings.HasSuffix(strings.ToLower(o), one) })
}

// gripper reads "close your gripper", "gripper shut", "bring the gripper fingers together".
func (p *parser) gripper() (program, bool, error) {
	open := false
	hand := func() bool {
		p.takeAny("the", "your", "its")
		return p.anyPhrase("gripper fingers", "gripper", "hand", "fingers", "claw")
	}
	switch {
	case p.anyPhrase("close", "shut", "closing"):
		if !hand() {
			return nil, false, nil
		}
	case p.anyPhrase("open", "opening"):
		open = true
		if !hand() {
			return nil, false, nil
		}
	case p.take("bring"):
		if !hand() || !p.take("together") {
			return nil, false, nil
		}
	case hand():
		p.takeAny(":")
		switch {
		case p.takeAny("shut", "closed", "close"):
		case p.takeAny("open", "opened"):
			open = true
		default:
			return nil, false, nil
		}
	default:
		return nil, false, nil
	}
	says := "closed the gripper"
	if open {
		says = "opened the gripper"
	}
	return program{call{tool: "gripper", args: map[string]any{"open": open}, says: says, absolute: true}}, true, nil
}

// belongs reads "the blue cube belongs in the office, bring it there" and "only the ball goes to the dock".
func (p *parser) belongs() (program, bool, error) {
	p.anyPhrase("only")
	object, ok := p.objectName()
	if !ok {
		return nil, false, nil
	}
	if !p.anyPhrase("belongs", "goes", "should be", "should go", "has to be", "has to go", "must go", "must be", "is to be", "is to go", "needs to be", "needs to go", "ought to be") {
		// "red cube to kitchen", "blue cube: lift it, …"
		if p.take(":") {
			return nil, true, nil
		}
		place, ok := p.somewhere()
		if !ok {
			return nil, false, nil
		}
		return p.brought(object, place)
	}
	place, ok := p.somewhere()
	if !ok {
		return nil, false, nil
	}
	mark := p.at
	p.takeAny(",", ";", ".", ":")
	p.politeness()
	p.takeAny("and", "so")
	if !p.anyPhrase("bring it there", "take it there", "put it there", "carry it there", "move it there", "get it there") {
		p.at = mark
	}
	return p.brought(object, place)
}

// brought is a fetch, with "unless it is already there" behind it or not.
func (p *parser) brought(object, place string) (program, bool, error) {
	p.object, p.place = object, place
	f := fetch{object: object, place: place}
	mark := p.at
	p.takeAny(",")
	p.takeAny("but")
	if p.anyPhrase("unless it is already there", "unless it is there already", "unless it is there", "if it is not there already", "if it is not already there", "if it is not there",
		"do nothing if that is where it is", "do nothing if it is there already", "not if it is there already", "only if it is not there") {
		f.unless = true
	} else {
		p.at = mark
	}
	return program{f}, true, nil
}

// deliver reads "deliver to the office: blue cube".
func (p *parser) deliver() (program, bool, error) {
	if !p.anyPhrase("deliver", "bring", "take", "carry") {
		return nil, false, nil
	}
	place, ok := p.somewhere()
	if !ok || !p.take(":") {
		return nil, false, nil
	}
	object, ok := p.objectName()
	if !ok {
		return nil, false, nil
	}
	return p.brought(object, place)
}

// carry reads "take the red cube to the kitchen", with one object or several.
func (p *parser) carry() (program, bool, error) {
	bring := p.anyPhrase("bring me", "fetch me", "get me", "bring us")
	if !bring && !p.anyPhrase("take", "bring", "carry", "deliver", "move", "transport", "put", "place", "get", "fetch", "set", "drop", "leave", "drive", "shift", "relocate", "have", "return", "haul") {
		return nil, false, nil
	}
	p.takeAny("back", "over")
	var objects []string
	for {
		o, ok := p.anObject()
		if !ok {
			break
		}
		objects = append(objects, o)
		mark := p.at
		if p.anyPhrase(", and", "and", ",") && p.objectAhead() {
			continue
		}
		p.at = mark
		break
	}
	if len(objects) == 0 {
		p.unknownObject()
		return nil, false, nil
	}
	p.takeAny("down", "over", "away", "back")
	p.anyPhrase("from where it is", "carefully", "safely")
	place, ok := p.somewhere()
	if !ok {
		if p.reason == "" || bring {
			p.reason = fmt.Sprintf("Where am I to bring the %s? Name one of the places that I know: %s.", objects[0], joined(p.world.placeNames()))
		}
		return nil, false, nil
	}
	if len(objects) == 1 {
		return p.brought(objects[0], place)
	}
	var out program
	for _, o := range objects {
		out = append(out, fetch{object: o, place: place})
	}
	p.place = place
	return out, true, nil
}

func (p *parser) objectAhead() bool {
	mark, object := p.at, p.object
	_, ok := p.objectName()
	p.at, p.object = mark, object
	return ok
}

// unknownObject notes which object is not known, and which ones are.
func (p *parser) unknownObject() {
	if p.reason != "" {
		return
	}
	mark := p.at
	defer func() { p.at = mark }()
	p.takeAny("the", "a", "my", "that")
	if w, ok := p.peek(); ok && !w.isNum && w.text != "me" {
		p.reason = fmt.Sprintf("I know no object %q. The objects that I know: %s.", w.text, joined(p.world.objects))
	}
}

// hold reads "pick up the red cube", "grab it".
func (p *parser) hold() (program, bool, error) {
	if !p.anyPhrase("pick up", "pick", "grab", "grasp", "lift", "lift up", "take hold of", "take", "hold", "fetch", "get", "collect") {
		return nil, false, nil
	}
	object, ok := p.anObject()
	if !ok {
		p.unknownObject()
		return nil, false, nil
	}
	p.take("up")
	return program{pickUp{object}}, true, nil
}

// release reads "put it down", "set it down in that place", "leave it there", "place it on the table".
func (p *parser) release() (program, bool, error) {
	if !p.anyPhrase("put", "set", "leave", "place", "drop", "lay", "release") {
		return nil, false, nil
	}
	object, ok := p.anObject()
	if !ok {
		return nil, false, nil
	}
	down := p.take("down")
	place, ok := p.somewhere()
	if !ok {
		if !down || p.place == "" {
			return nil, false, nil
		}
		place = p.place
	}
	return program{putDown{object, place}}, true, nil
}

// joinCarry turns "pick it up; take it to the kitchen; put it down there" into one errand: what was picked up is carried,
// and what was carried there is put down already.
func joinCarry(p program) program {
	var out program
	for _, i := range p {
		n := len(out)
		switch x := i.(type) {
		case fetch:
			if n > 0 {
				if f, ok := out[n-1].(fetch); ok && f == x {
					continue // "take it to the kitchen and leave it there"
				}
				if held, ok := out[n-1].(pickUp); ok && held.object == x.object {
					out[n-1] = x
					continue
				}
			}
		case putDown:
			if n > 0 {
				if f, ok := out[n-1].(fetch); ok && f.object == x.object && f.place == x.place {
					continue
				}
				if held, ok := out[n-1].(pickUp); ok && held.object == x.object {
					out[n-1] = fetch{object: x.object, place: x.place}
					continue
				}
			}
		}
		out = append(out, i)
	}
	return out
}

// found is what list_objects said of one object.
type found struct {
	Place string `json:"place"`
	Seen  bool   `json:"seen"`
}

// look asks where the objects are.
func (r *runner) look() map[string]found {
	o := r.do("list_objects", nil)
	r.evidence = append(r.evidence, o.id)
	out := map[string]found{}
	if err := json.Unmarshal([]byte(o.content), &out); err != nil {
		r.giveUp("What list_objects said is no list of objects: %v.", err)
	}
	return out
}

// errands bounds how often an object that was lost on the way is fetched again.
const errands = 2

// fetch drives to where the object is, picks it up, drives on and places it. What gets lost on the way is looked for again.
func (r *runner) fetch(f fetch) {
	for try := 1; ; try++ {
		where := r.look()[f.object].Place
		if where == f.place && (f.unless || try > 1) {
			r.told = append(r.told, fmt.Sprintf("The %s is at the %s already.", f.object, f.place))
			return
		}
		if r.grasp(f.object, where, try) && r.deliver(f, try) {
			r.did = append(r.did, fmt.Sprintf("brought the %s to the %s", f.object, f.place))
			r.last = nil
			return
		}
	}
}

// grasp drives to the object and picks it up; false where it is worth looking again.
func (r *runner) grasp(object, where string, try int) bool {
	if where == "" {
		r.giveUp("I do not know where the %s is.", object)
	}
	r.do("navigate_to", map[string]any{"place": where})
	return r.attempt("pick", map[string]any{"object": object}, try, fmt.Sprintf("The %s cannot be picked up at the %s", object, where))
}

func (r *runner) deliver(f fetch, try int) bool {
	r.do("navigate_to", map[string]any{"place": f.place})
	return r.attempt("place", map[string]any{"place": f.place}, try, fmt.Sprintf("The %s cannot be placed at the %s", f.object, f.place))
}

// attempt is one call; where its conditions do not hold (it was moved, or lost), looking again may help.
func (r *runner) attempt(tool string, args map[string]any, try int, what string) bool {
	if r.at == len(r.seen) {
		r.emit(next{tool: tool, args: args})
	}
	o := r.seen[r.at]
	r.at++
	if o.ok {
		return true
	}
	again := helps(o.kind) || o.kind == "precondition_failed" || o.kind == "postcondition_failed"
	if !again || try > errands {
		r.giveUp("%s: %s", what, o.content)
	}
	return false
}
