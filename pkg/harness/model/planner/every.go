package planner

import (
	"fmt"
	"slices"
	"strings"
)

// clear is to bring what lies at a place to another, whatever that is found to be. Only these objects are meant.
type clear struct {
	from, to string
	objects  []string
}

func (clear) isInstruction() {}

// set is several objects that are meant together, of those at a place or of all ("").
type set struct {
	objects []string
	from    string
}

// nouns of the known objects: the last words of their names.
func (p *parser) withNoun(noun string) []string {
	var out []string
	for _, o := range p.world.objects {
		if strings.HasSuffix(" "+strings.ToLower(o), " "+noun) {
			out = append(out, o)
		}
	}
	return out
}

// everyObject reads "everything", "all cubes", "both of the cubes", "every object but the ball", and from where.
func (p *parser) everyObject() (set, bool) {
	mark, reason := p.at, p.reason
	fail := func() (set, bool) { p.at = mark; return set{}, false }
	var out set
	count := 0.0
	switch {
	case p.anyPhrase("everything else", "all else", "all the rest", "the rest"):
		p.reason = "What is meant by the rest? Name the objects."
		return fail()
	case p.anyPhrase("everything", "whatever", "anything that", "all that"):
		out.objects = slices.Clone(p.world.objects)
		p.at-- // "that is on the table" is read below
		if p.words[p.at].text != "that" {
			p.at++
		}
	case p.anyPhrase("every single", "every one of the", "each one of the", "each of the", "every", "each"):
		many := p.words[p.at-1].text == "the"
		if out.objects = p.nounSet(many); out.objects == nil {
			return fail()
		}
	case p.anyPhrase("both of the", "both the", "both"):
		count = 2
		if out.objects = p.nounSet(true); out.objects == nil {
			return fail()
		}
	case p.anyPhrase("all of the", "all the", "all of your", "all your", "all", "the", "these", "those"):
		of := p.words[mark].text == "all"
		if f, ok := p.amount(); ok {
			count = f
		} else if !of && p.words[mark].text != "the" {
			return fail()
		}
		if out.objects = p.nounSet(true); out.objects == nil {
			return fail()
		}
	default:
		if f, ok := p.amount(); !ok || f < 2 { // "two cubes"
			return fail()
		} else {
			count = f
		}
		if out.objects = p.nounSet(true); out.objects == nil {
			return fail()
		}
		if float64(len(out.objects)) != count {
			p.reason = fmt.Sprintf("Which %s? I know %s.", p.words[p.at-1].text, joined(out.objects))
			return fail()
		}
	}
	if count != 0 && float64(len(out.objects)) != count {
		p.reason = fmt.Sprintf("%s are meant, and I know %s: which?", number(count), joined(out.objects))
		return fail()
	}
	if p.anyPhrase("but", "except", "except for", "apart from", "other than", "save") {
		if len(out.objects) > 0 && !general(p.words[p.at-2].text) {
			p.object = out.objects[0] // "every cube but the red one"
		}
		but := p.withoutThese(out.objects)
		if but == nil {
			return fail()
		}
		out.objects = but
	}
	p.reason = reason
	if !p.fromWhere(&out) {
		return fail()
	}
	return out, true
}

// nounSet reads "cubes", "objects", "red things" in the plural or in the singular.
func (p *parser) nounSet(plural bool) []string {
	w, ok := p.next()
	if !ok || w.isNum {
		return nil
	}
	one, is := strings.CutSuffix(w.text, "s")
	if plural != is {
		p.at--
		return nil
	}
	if slices.Contains([]string{"object", "thing", "item"}, one) {
		p.anyPhrase("that you know", "you know", "that you know of")
		return slices.Clone(p.world.objects)
	}
	if all := p.withNoun(one); len(all) > 0 {
		return all
	}
	p.at--
	return nil
}

// general: this noun does not say of what kind the objects are.
func general(noun string) bool {
	return slices.Contains([]string{"object", "objects", "thing", "things", "item", "items", "everything"}, noun)
}

// withoutThese are the objects but those that are named here.
func (p *parser) withoutThese(all []string) []string {
	for {
		name, ok := p.objectName()
		if !ok || !slices.Contains(all, name) {
			return nil
		}
		all = slices.DeleteFunc(slices.Clone(all), func(o string) bool { return o == name })
		mark := p.at
		if !p.takeAny("and", "or") || !p.objectAhead() {
			p.at = mark
			return all
		}
	}
}

// fromWhere reads where they lie. "On the table" is that only where another place follows.
func (p *parser) fromWhere(s *set) bool {
	mark := p.at
	clause := p.anyPhrase("that is lying on", "that is lying in", "that lies on", "that lies in", "that lies at", "that is on", "that is in", "that is at", "that are on", "that are in", "that are at", "that lie on", "that lie in",
		"which is on", "which is in", "which are on", "which are in", "lying on", "lying in", "lying at", "is on", "is in", "lies on", "lies in", "is at", "lies at", "from", "off", "out of", "you find on", "you find in", "that you find on", "that you find in")
	if !clause && !p.takeAny("on", "in", "at") {
		return true
	}
	name, ok := p.placeName()
	if !ok {
		if clause {
			p.unknownPlace()
			return false
		}
		p.at = mark
		return true
	}
	if !clause { // "everything on the table to the kitchen"
		here := p.at
		p.anyPhrase("goes", "go", "belongs", "belong", "over", "back", "should go", "has to go", "must go")
		if !p.takeAny("to", "into", "onto", "in", "on") {
			p.at = mark
			return true
		}
		if _, ok := p.placeName(); !ok {
			p.at = mark
			return true
		}
		p.at = here
	}
	s.from = name
	return true
}

// bring is what brings the objects of a set to a place.
func (s set) bring(place string) program {
	if s.from != "" {
		return program{clear{from: s.from, to: place, objects: s.objects}}
	}
	var out program
	for _, o := range s.objects {
		out = append(out, fetch{object: o, place: place, unless: true})
	}
	return out
}

// brings reads where a set is to go, and that it is to go elsewhere than it lies.
func (p *parser) bringSet(s set) (program, bool, error) {
	place, ok := p.somewhere()
	if !ok {
		if p.reason == "" {
			p.reason = fmt.Sprintf("Where am I to bring them? Name one of the places that I know: %s.", joined(p.world.placeNames()))
		}
		return nil, false, nil
	}
	if mark := p.at; s.from == "" && p.anyPhrase("except", "except for", "but", "but not", "apart from", ", except", ", but not") {
		if but := p.withoutThese(s.objects); but != nil {
			s.objects = but
		} else {
			p.at = mark
		}
	}
	if s.from == place {
		return nil, false, refuse("What lies at the %s is there already.", place)
	}
	if len(s.objects) == 0 {
		return nil, false, nil
	}
	p.object, p.carried, p.group = "", "", s.objects
	if s.from != "" {
		p.group = nil
	}
	return s.bring(place), true, nil
}

// emptied reads "clear the table: whatever lies on it goes to the kitchen", "empty the office onto the table" and
// "if something is in the office, move it to the table".
func (p *parser) emptied() (program, bool, error) {
	all := set{objects: slices.Clone(p.world.objects)}
	var ok bool
	switch {
	case p.anyPhrase("clear off", "clear out", "clear", "empty", "tidy up", "tidy"):
		if all.from, ok = p.placeName(); !ok {
			return nil, false, nil
		}
		mark := p.at
		if place, ok := p.somewhere(); ok && place != all.from {
			return all.bring(place), true, nil
		}
		p.at = mark
		p.takeAny(":", ",", ".", ";")
		p.takeAny("and")
		p.politeness()
		p.place = all.from
		if p.anyPhrase("whatever lies on it goes", "whatever is on it goes", "everything on it goes", "what is on it goes", "what lies on it goes", "whatever lies there goes", "everything goes", "things go", "everything there goes", "all of it goes") ||
			p.anyPhrase("take", "bring", "put", "move", "carry") && p.anyPhrase("everything on it", "everything there", "everything", "whatever is there", "whatever lies on it", "whatever is on it", "what is on it", "all of it", "the things", "the objects") {
			return p.bringSet(all)
		}
		return nil, false, refuse("Where am I to bring what lies at the %s? Name one of the places that I know: %s.", all.from, joined(p.world.placeNames()))
	case p.anyPhrase("if"):
		if !p.anyPhrase("something is", "anything is", "something lies", "anything lies", "there is something", "there is anything", "something is lying", "anything is lying", "there are objects", "there are things", "there is an object") || !p.takeAny("in", "on", "at") {
			return nil, false, nil
		}
		if all.from, ok = p.placeName(); !ok {
			return nil, false, nil
		}
		p.takeAny(",")
		p.takeAny("then")
		p.politeness()
		if !p.anyPhrase("move", "take", "bring", "put", "carry") || !p.takeAny("it", "them", "everything") {
			return nil, false, nil
		}
		return p.bringSet(all)
	case p.anyPhrase("make sure that nothing is left", "make sure nothing is left", "make sure that nothing is", "make sure nothing is", "make sure that nothing lies", "make sure nothing lies", "make sure that nothing remains", "make sure nothing remains", "nothing is to be left", "see that nothing is left"):
		p.takeAny("lying")
		if !p.takeAny("in", "on", "at") {
			return nil, false, nil
		}
		if all.from, ok = p.placeName(); !ok {
			return nil, false, nil
		}
		p.takeAny(";", ",", ".", ":")
		p.takeAny("and")
		p.politeness()
		if !p.anyPhrase("move", "take", "bring", "put", "carry") || !p.takeAny("it", "them", "everything") {
			return nil, false, refuse("Where am I to bring what lies at the %s?", all.from)
		}
		prog, ok, err := p.bringSet(all)
		p.takeAny("instead")
		return prog, ok, err
	}
	return nil, false, nil
}

// everyPlace reads "every place", "all the places but the office".
func (p *parser) everyPlace() ([]string, bool) {
	if !p.anyPhrase("every place", "each place", "every known place", "all places", "all the places", "all of the places", "all known places", "each of the places", "every one of the places", "every location", "each location", "all locations", "all the locations", "every single place", "all your places", "every waypoint", "all waypoints", "all the known places") {
		return nil, false
	}
	p.anyPhrase("that you know of", "that you know", "you know of", "you know", "on the map", "in the map", "on your map")
	names := p.world.placeNames()
	if p.anyPhrase("but", "except", "except for", "apart from", "other than", "save") {
		for {
			name, ok := p.placeName()
			if !ok {
				return nil, false
			}
			names = slices.DeleteFunc(names, func(n string) bool { return n == name })
			mark := p.at
			if !p.takeAny("and", "or") {
				break
			}
			if _, ok := attempt(p, p.placeName); !ok {
				p.at = mark
				break
			}
			p.at = mark + 1
		}
	}
	p.anyPhrase("once", "one after another", "one after the other", "one by one", "in turn", "in any order", "exactly once", "once each", "each once")
	return names, len(names) > 0
}
