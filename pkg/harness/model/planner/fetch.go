package planner

import (
	"fmt"
	"slices"
	"strings"
)

// fetch is to bring an object to a place, from wherever it is found to be.
type fetch struct {
	object, place string
	// from is where it must lie for this to be what was asked; "": anywhere.
	from string
	// unless it is there already.
	unless bool
}

// pickUp is to find an object and to hold it.
type pickUp struct{ object, from string }

// putDown is to leave what is held at a place.
type putDown struct{ object, place string }

func (fetch) isInstruction()   {}
func (pickUp) isInstruction()  {}
func (putDown) isInstruction() {}

// objectName reads a known object: its full name, or a noun that only one has. Several with the noun are a question
// that nobody here can answer.
func (p *parser) objectName() (string, bool) {
	name, ok := p.objectHere()
	if ok {
		p.object, p.grips, p.holds = name, false, false
	}
	return name, ok
}

func (p *parser) objectHere() (string, bool) {
	mark := p.at
	p.takeAny("the", "a", "that", "this")
	for _, name := range p.world.objects {
		if p.take(strings.Fields(strings.ToLower(name))...) {
			return name, true
		}
	}
	p.at = mark
	if name, ok := p.relative(); ok {
		return name, true
	}
	p.takeAny("the", "a", "that", "this")
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
		if p.world.tools["gripper"] { // a gripper and nothing on record to pick
			return p.gripper()
		}
		return nil, false, nil
	}
	for _, rule := range []func() (program, bool, error){p.disregard, p.emptied, p.gripper, p.putsHeld, p.belongs, p.deliver, p.carry, p.hold, p.release} {
		mark, object, place, holds := p.at, p.object, p.place, p.holds
		prog, ok, err := rule()
		if ok || err != nil {
			return prog, ok, err
		}
		p.at, p.object, p.place, p.holds = mark, object, place, holds
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
		if !hand() && !(p.grips && p.take("it")) {
			return nil, false, nil
		}
		p.anyPhrase("again")
	case p.anyPhrase("open", "opening", "reopen"):
		open = true
		if !hand() && !(p.grips && p.take("it")) {
			p.reason = "I can open nothing but my gripper."
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
	p.anyPhrase("again")
	p.grips, p.object = true, ""
	says := "closed the gripper"
	if open {
		says = "opened the gripper"
	}
	return program{call{tool: "gripper", args: map[string]any{"open": open}, says: says, absolute: true}}, true, nil
}

// belongs reads "the blue cube belongs in the office, bring it there" and "only the ball goes to the dock".
func (p *parser) belongs() (program, bool, error) {
	only := p.anyPhrase("only")
	if s, ok := attempt(p, p.everyObject); ok && !only {
		p.takeAny(":")
		p.anyPhrase("belongs", "belong", "goes", "go", "should be", "should go", "has to go", "have to go", "must go", "must be", "is to be", "are to be", "is to go", "are to go", "needs to go", "need to go", "needs to be", "need to be", "is to be brought", "are to be brought")
		return p.bringSet(s)
	}
	object, ok := p.objectName()
	if !ok {
		return nil, false, nil
	}
	if !p.anyPhrase("belongs", "goes", "should be", "should go", "has to be", "has to go", "must go", "must be", "is to be", "is to go", "needs to be", "needs to go", "ought to be") {
		// "red cube to kitchen", "blue cube: lift it, …"
		if p.take(":") {
			return p.about(object)
		}
		if p.takeAny("yaw", "rotate", "turn", "spin", "rotated", "turned") {
			return nil, false, errTurnsObject()
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

// about reads what is to be done with an object that was named ahead: "blue cube: lift it, …".
func (p *parser) about(object string) (program, bool, error) {
	prog, ok, err := p.manipulation()
	if !ok || err != nil || len(prog) == 0 {
		return nil, false, err
	}
	switch x := prog[0].(type) {
	case fetch:
		ok = x.object == object
	case pickUp:
		ok = x.object == object
	case putDown:
		ok = x.object == object
	default:
		ok = false
	}
	return prog, ok, nil
}

func errTurnsObject() error {
	return refuse("No tool of mine turns an object: I can pick it up and put it down elsewhere.")
}

// source reads "from the table". A place that is not known is no place to take something from.
func (p *parser) source() (string, bool) {
	if !p.anyPhrase("from inside", "from", "from on", "from on top of", "off", "out of", "that is on", "that is in", "that is at", "which is on", "which is in", "which is at", "that lies on", "that lies in", "lying on", "lying in", "lying at", "which lies on", "which lies in") {
		return "", true
	}
	name, ok := p.placeName()
	if !ok {
		p.unknownPlace()
	}
	return name, ok
}

// brought is a fetch, with "unless it is already there" behind it or not.
func (p *parser) brought(object, place string) (program, bool, error) {
	p.object, p.place, p.carried = object, place, object
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
	leave := p.take("leave")
	bring := !leave && p.anyPhrase("bring me", "fetch me", "get me", "bring us", "hand me")
	if !leave && !bring && !p.anyPhrase("take", "bring", "carry", "deliver", "move", "transport", "put", "place", "get", "fetch", "set", "drop", "drive", "shift", "relocate", "have", "return", "haul") {
		return nil, false, nil
	}
	p.takeAny("back", "over")
	if s, ok := attempt(p, p.everyObject); ok && !leave {
		p.anyPhrase("down", "over", "away", "back")
		return p.bringSet(s)
	}
	if p.group != nil && !leave && p.anyPhrase("them all", "them both", "both of them", "all of them", "them", "these", "those") {
		return p.bringSet(set{objects: p.group})
	}
	objects := p.someObjects()
	if len(objects) == 0 {
		p.unknownObject()
		return nil, false, nil
	}
	if leave && !slices.Equal(objects, []string{p.carried}) {
		return nil, false, refuse("I do not carry the %s, so I leave it where it is.", joined(objects))
	}
	p.anyPhrase("down", "over", "away", "back")
	p.anyPhrase("from where it is", "from where it lies", "carefully", "safely")
	from, ok := p.source()
	if !ok {
		return nil, false, nil
	}
	p.anyPhrase("over", "back", "down")
	place, ok := p.somewhere()
	if !ok {
		if p.reason == "" || bring {
			p.reason = fmt.Sprintf("Where am I to bring the %s? Name one of the places that I know: %s.", objects[0], joined(p.world.placeNames()))
		}
		return nil, false, nil
	}
	if len(objects) == 1 {
		prog, ok, err := p.brought(objects[0], place)
		if f, one := prog[0].(fetch); one {
			f.from = from
			prog[0] = f
		}
		return prog, ok, err
	}
	var out program
	for _, o := range objects {
		out = append(out, fetch{object: o, place: place, from: from})
	}
	p.place, p.group = place, objects
	return out, true, nil
}

// someObjects reads "the red cube, the ball and the blue cube".
func (p *parser) someObjects() []string {
	p.take("both")
	var objects []string
	for {
		o, ok := p.anObject()
		if !ok {
			return objects
		}
		objects = append(objects, o)
		mark := p.at
		if !p.anyPhrase(", and", "and", ",") || !p.objectAhead() {
			p.at = mark
			return objects
		}
	}
}

func (p *parser) objectAhead() bool {
	mark := p.at
	_, ok := p.objectHere()
	p.at = mark
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
	w, ok := p.peek()
	switch {
	case !ok || w.isNum || w.text == "me":
	case w.text == "it" || w.text == "them" || w.text == "that" || w.text == "this":
		p.reason = fmt.Sprintf("I do not know what is meant by %q.", w.text)
	case p.armWord():
		p.reason = p.armReason()
	default:
		p.reason = fmt.Sprintf("I know no object %q.%s The objects that I know: %s.", w.text, p.objectMeant(), joined(p.world.objects))
	}
}

// objectMeant asks for the object whose name is nearly what stands here.
func (p *parser) objectMeant() string {
	one := p.words[p.at].text
	if p.at+1 < len(p.words) {
		if m := meant(one+" "+p.words[p.at+1].text, p.world.objects); m != "" {
			return m
		}
	}
	return meant(one, p.world.objects)
}

// hold reads "pick up the red cube", "grab it".
func (p *parser) hold() (program, bool, error) {
	if !p.anyPhrase("pick up", "pick", "grab", "grasp", "lift", "lift up", "take hold of", "take", "hold", "fetch", "get", "collect") {
		return nil, false, nil
	}
	if many := p.gathered(); many != nil {
		return p.gather(*many)
	}
	object, ok := p.anObject()
	if !ok {
		p.unknownObject()
		return nil, false, nil
	}
	p.take("up")
	from, ok := p.source()
	if !ok {
		return nil, false, nil
	}
	if from == "" { // "pick up the red cube in the kitchen"
		mark := p.at
		if p.takeAny("in", "at", "on") {
			if from, ok = p.placeName(); !ok {
				p.at = mark
			}
		}
	}
	p.carried = object
	return program{pickUp{object: object, from: from}}, true, nil
}

// gathered reads several objects, by their names or together.
func (p *parser) gathered() *set {
	mark, object := p.at, p.object
	if s, ok := attempt(p, p.everyObject); ok {
		return &s
	}
	if all := p.someObjects(); len(all) > 1 {
		return &set{objects: all}
	}
	p.at, p.object = mark, object
	return nil
}

// gather reads where several objects are to be brought that cannot be held together: "collect every object and bring them to the dock".
func (p *parser) gather(s set) (program, bool, error) {
	p.takeAny("up")
	p.takeAny(",", ";", ".")
	p.anyPhrase("and then", "and", "then")
	if !p.anyPhrase("bring", "take", "carry", "put", "deliver", "move", "place") || !p.anyPhrase("them all", "them both", "both of them", "all of them", "them", "both", "all", "everything", "it") {
		return nil, false, refuse("I can hold one object only. Say where to bring them: one after the other.")
	}
	return p.bringSet(s)
}

// likewise reads "do the same with the ball" behind one errand.
func (p *parser) likewise(parts []program) (program, bool, error) {
	mark := p.at
	if len(parts) > 0 {
		if held, ok := onlyPick(parts[len(parts)-1]); ok {
			if object, ok := p.objectName(); ok && p.boundary() {
				return nil, false, fullHand(held, object)
			}
			p.at = mark
		}
	}
	if len(parts) == 0 || !p.anyPhrase("do the same with", "do the same for", "the same with", "the same for", "do likewise with", "same with", "same for", "do that with") {
		return nil, false, nil
	}
	object, ok := p.objectName()
	f, one := onlyFetch(parts[len(parts)-1])
	if !ok || !one || f.from != "" || object == f.object {
		p.at = mark
		return nil, false, nil
	}
	f.object = object
	return program{f}, true, nil
}

func onlyPick(part program) (string, bool) {
	if len(part) != 1 {
		return "", false
	}
	x, ok := part[0].(pickUp)
	return x.object, ok
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
				if f, ok := out[n-1].(fetch); ok && f.object == x.object && f.place == x.place && x.from == "" && !x.unless {
					continue // "take it to the kitchen and leave it there"
				}
				if held, ok := out[n-1].(pickUp); ok && held.object == x.object && x.from == "" && !x.unless {
					x.from = held.from
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
					out[n-1] = fetch{object: x.object, place: x.place, from: held.from}
					continue
				}
			}
		}
		out = append(out, i)
	}
	return out
}
