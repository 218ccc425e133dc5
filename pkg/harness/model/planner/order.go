package planner

import "slices"

// Words in which the order of steps is said.
func openers() []string { return []string{"first", "firstly", "begin", "start", "one", "1"} }

func sentenceEnds() []string { return []string{".", "!", "?", ";"} }

// sayWhen checks the words between two clauses for an order that is not the one in which they stand. lead are those words, n is how many
// clauses stand before them. before: what follows is to be done before that clause.
func (p *parser) sayWhen(lead []word, n int) (before bool, err error) {
	at := func(list []string) int {
		return slices.IndexFunc(lead, func(w word) bool { return slices.Contains(list, w.text) })
	}
	if i := at([]string{"later"}); i >= 0 && (n == 0 || i == 0 || p.end()) {
		return false, refuse("When is that to be done? Say after what, or after how many seconds.")
	}
	i := at(openers())
	switch {
	case i < 0 || n == 0:
		return false, nil
	case slices.ContainsFunc(lead[:i], func(w word) bool { return w.text == "but" }):
		return true, nil
	case i == 0 && len(lead) > 1 && n == 1: // "go to the office first, then go to the kitchen"
		return false, nil
	case i == 0 && p.end() && n == 1:
		return false, nil
	}
	return false, refuse("In which order is that to be done? %q stands behind another step: say the steps in their order.", lead[i].text)
}

// sentenceOver: nothing more stands in this sentence.
func (p *parser) sentenceOver() bool {
	w, more := p.peek()
	return !more || slices.Contains(sentenceEnds(), w.text)
}

// base is the form in which a verb orders, by that in which a deed is named.
func base(verb string) (string, bool) {
	for _, pair := range [][2]string{
		{"going", "go"},
		{"visiting", "visit"},
		{"driving", "drive"},
		{"moving", "move"},
		{"turning", "turn"},
		{"rotating", "rotate"},
		{"spinning", "spin"},
		{"waiting", "wait"},
		{"pausing", "pause"},
		{"closing", "close"},
		{"opening", "open"},
		{"picking", "pick"},
		{"putting", "put"},
		{"placing", "place"},
		{"taking", "take"},
		{"bringing", "bring"},
		{"carrying", "carry"},
		{"delivering", "deliver"},
		{"fetching", "fetch"},
		{"grabbing", "grab"},
		{"returning", "return"},
		{"heading", "head"},
		{"reaching", "reach"},
		{"stopping", "stop"},
		{"folding", "fold"},
		{"navigating", "navigate"},
		{"visited", "visit"},
		{"gone", "go"},
		{"been", "go"},
		{"driven", "drive"},
		{"turned", "turn"},
		{"waited", "wait"},
		{"reached", "reach"},
		{"closed", "close"},
		{"opened", "open"},
		{"picked", "pick"},
		{"put", "put"},
		{"placed", "place"},
		{"taken", "take"},
		{"brought", "bring"},
		{"carried", "carry"},
		{"delivered", "deliver"},
		{"fetched", "fetch"},
		{"grabbed", "grab"},
		{"go", "go"},
		{"visit", "visit"},
		{"drive", "drive"},
		{"move", "move"},
		{"turn", "turn"},
		{"wait", "wait"},
		{"reach", "reach"},
		{"close", "close"},
		{"open", "open"},
		{"pick", "pick"},
		{"place", "place"},
		{"take", "take"},
		{"bring", "bring"},
		{"carry", "carry"},
		{"return", "return"},
	} {
		if pair[0] == verb {
			return pair[1], true
		}
	}
	return "", false
}

// deed reads "visiting the office", "you have visited the office" and "the office" behind "after" and "before".
func (p *parser) deed() (program, bool, error) {
	p.anyPhrase("you have", "you had", "having", "you")
	if name, ok := p.placeName(); ok {
		p.place = name
		return program{goCall(name)}, true, nil
	}
	w, more := p.peek()
	if !more || w.isNum {
		return nil, false, nil
	}
	order, ok := base(w.text)
	if !ok {
		return nil, false, nil
	}
	here := p.at
	p.words[here].text = order
	defer func() { p.words[here].text = w.text }()
	for _, rule := range []func() (program, bool, error){p.armPose, p.command, p.manipulation} {
		prog, ok, err := rule()
		if err != nil || ok && prog.moves() {
			return prog, ok, err
		}
		p.at = here
	}
	return nil, false, nil
}

// deeds are several, with "and" between them.
func (p *parser) deeds() (program, bool, error) {
	out, ok, err := p.deed()
	for ok && err == nil {
		mark := p.at
		if !p.take("and") {
			break
		}
		more, again, wrong := p.deed()
		if wrong != nil {
			return nil, false, wrong
		}
		if !again {
			p.at = mark
			break
		}
		out = append(out, more...)
	}
	return out, ok, err
}

// ordered reads "after visiting the office, go to the kitchen" and "before going to the kitchen, go to the office".
func (p *parser) ordered() (program, bool, error) {
	after := p.takeAny("after")
	if !after && !p.takeAny("before") {
		if !p.anyPhrase("once you have", "when you have", "as soon as you have") {
			return nil, false, nil
		}
		after = true
	}
	done, ok, err := p.deeds()
	if !ok || err != nil {
		return nil, false, err
	}
	p.takeAny(",")
	p.takeAny("then")
	p.politeness()
	first := p.anyPhrase("first")
	rest, ok, err := p.clause()
	if err != nil || !ok || !rest.moves() {
		return nil, false, err
	}
	if after {
		return append(done, rest...), !first, nil
	}
	for p.take("and") {
		more, ok, err := p.clause()
		if err != nil || !ok {
			return nil, false, err
		}
		rest = append(rest, more...)
	}
	if !p.sentenceOver() {
		return nil, false, refuse("What of that is to be done before, and what after? Say the steps in their order.")
	}
	return append(rest, done...), true, nil
}

// trails reads "… before going to the office" and "… after visiting the office" behind a clause that stands alone in its sentence.
func (p *parser) trails(part program, alone bool) (program, error) {
	mark := p.at
	after := p.take("after")
	if !after && !p.take("before") {
		return part, nil
	}
	done, ok, err := p.deeds()
	if err != nil {
		return nil, err
	}
	if !ok {
		p.at = mark
		return part, nil
	}
	if !alone || !p.sentenceOver() || p.arm {
		return nil, refuse("What of that is to be done before, and what after? Say the steps in their order.")
	}
	if after {
		return append(done, part...), nil
	}
	return append(part, done...), nil
}
