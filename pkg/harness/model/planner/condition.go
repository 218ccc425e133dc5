package planner

import (
	"encoding/json"
	"fmt"
	"slices"
)

// conditional reads "if … then … otherwise …", "only when … do you …", "battery < 20 % ? dock : don't move".
func (p *parser) conditional() (program, bool, error) {
	mark := p.at
	if b, ok, err := p.ternary(); ok || err != nil {
		return b, ok, err
	}
	p.at = mark
	if b, ok, err := p.emptied(); ok || err != nil {
		return b, ok, err
	}
	p.at = mark
	unless := false
	switch {
	case p.anyPhrase("if", "in case", "only if", "only when", "when", "whenever", "should"):
	case p.anyPhrase("unless"):
		unless = true
	case p.anyPhrase("check whether", "check if", "see whether", "see if", "find out whether", "find out if", "look whether", "look if", "test whether", "test if"):
		return p.checked()
	default:
		return nil, false, nil
	}
	b, ok := p.conditions()
	if !ok {
		if p.reason == "" {
			p.reason = p.vague()
		}
		return nil, false, p.misunderstood()
	}
	p.takeAny(",", ":")
	p.anyPhrase("then", "do you", "you should", "you must", "you may", "please")
	isElse := func() bool {
		m := p.at
		defer func() { p.at = m }()
		p.separators()
		return p.elseWord()
	}
	then, err := p.inner(isElse)
	if err != nil {
		return nil, false, err
	}
	els, err := p.otherwise()
	if err != nil {
		return nil, false, err
	}
	return program{decided(b, unless, then, els)}, true, nil
}

// checked reads "check whether the red cube is in the kitchen, and if not, bring it there".
func (p *parser) checked() (program, bool, error) {
	c, ok := p.conditions()
	if !ok {
		return nil, false, nil
	}
	p.separators()
	unless := false
	switch {
	case p.anyPhrase("if so", "if it is", "if yes", "if that is so", "in that case", "if that is the case", "if you are", "if you do"):
	case p.anyPhrase("if not", "if it is not", "if no", "if that is not so", "if you are not", "if you do not"):
		unless = true
	default:
		return nil, false, nil
	}
	p.takeAny(",", ":")
	p.anyPhrase("then", "please")
	isElse := func() bool {
		m := p.at
		defer func() { p.at = m }()
		p.separators()
		return p.elseWord() || p.anyPhrase("if so", "if it is")
	}
	then, err := p.inner(isElse)
	if err != nil {
		return nil, false, err
	}
	els, err := p.otherwise()
	if err != nil {
		return nil, false, err
	}
	if w, more := p.peek(); more && w.text == "if" {
		return nil, false, nil
	}
	return program{decided(c, unless, then, els)}, true, nil
}

// decided is a condition with its arms.
func decided(c conjunction, unless bool, then, els program) instruction {
	if unless {
		then, els = els, then
	}
	if len(c.of) == 1 {
		b := c.of[0]
		there, elsewhere := then, els
		if b.not {
			there, elsewhere = els, then
		}
		if f, ok := onlyFetch(elsewhere); ok && len(there) == 0 && f.from == "" && f.object == b.object && f.place == b.place {
			f.unless = true // "unless the kitchen has the blue cube, bring it there"
			return f
		}
	}
	out := c.of[len(c.of)-1]
	out.then, out.els = then, els
	for i := len(c.of) - 2; i >= 0; i-- {
		b := c.of[i]
		if c.or {
			b.then, b.els = then, program{out}
		} else {
			b.then, b.els = program{out}, els
		}
		out = b
	}
	return out
}

// conjunction is one condition, or several of which all hold, or one.
type conjunction struct {
	of []branch
	or bool
}

// conditions reads a condition, or several with "and" or with "or" between them.
func (p *parser) conditions() (conjunction, bool) {
	b, ok := p.condition()
	c := conjunction{of: []branch{b}}
	for ok {
		mark := p.at
		p.takeAny(",")
		word, more := p.next()
		if !more || word.text != "and" && word.text != "or" {
			p.at = mark
			return c, true
		}
		p.anyPhrase("if", "when")
		next, another := p.condition()
		if !another {
			p.at, p.reason = mark, ""
			return c, true
		}
		if len(c.of) > 1 && c.or != (word.text == "or") {
			p.reason = "Conditions with both \"and\" and \"or\" between them can be read in two ways: say them one by one."
			return c, false
		}
		c.or, c.of = word.text == "or", append(c.of, next)
	}
	return c, false
}

// vague says what is missing in a condition that is nearly one.
func (p *parser) vague() string {
	mark := p.at
	defer func() { p.at = mark }()
	p.takeAny("the", "your")
	if p.takeAny("battery", "charge", "power") && p.takeAny("is", "gets", "becomes", "runs") && p.takeAny("low", "high", "full", "empty", "ok", "okay", "good", "enough") {
		return "Below or above which percentage is that? I do not guess."
	}
	return ""
}

// trailingCondition reads "… if the battery is above 50 percent", "… unless …" behind a clause that stands alone in its sentence.
func (p *parser) trailingCondition(part program, alone bool, until func() bool) (program, error) {
	mark := p.at
	unless := false
	p.takeAny("but")
	switch {
	case until() || p.arm:
		p.at = mark
		return part, nil
	case p.anyPhrase("if", "only if", "in case", "provided that", "provided", "as long as", "only when"):
	case p.anyPhrase("unless", "except if"):
		unless = true
	default:
		p.at = mark
		return part, nil
	}
	c, ok := p.conditions()
	if !ok {
		if p.reason == "" {
			p.reason = p.vague()
		}
		if p.reason != "" {
			return nil, refuse("%s", p.reason)
		}
		p.at = mark
		return part, nil
	}
	if !alone {
		return nil, refuse("Does that condition hold for all of it, or only for the last step? Say it in front: if …, then ….")
	}
	els, err := p.otherwise()
	if err != nil {
		return nil, err
	}
	if !p.sentenceOver() {
		return nil, refuse("Is all of that to be done only if the condition holds? Say it in front: if …, then ….")
	}
	return program{decided(c, unless, part, els)}, nil
}

// onlyIf is trailingCondition behind a comma.
func (p *parser) onlyIf(parts []program, lead []word) ([]program, bool, error) {
	if len(parts) == 0 || len(lead) == 0 || lead[len(lead)-1].text != "," && lead[len(lead)-1].text != "but" || p.arm {
		return parts, false, nil
	}
	w, _ := p.peek()
	if w.text != "if" && w.text != "unless" && w.text != "only" && w.text != "provided" && w.text != "except" {
		return parts, false, nil
	}
	mark, object, place, reason := p.at, p.object, p.place, p.reason
	last := len(parts) - 1
	part, err := p.trailingCondition(parts[last], last == 0, func() bool { return false })
	if err == nil && p.at > mark {
		return []program{part}, true, nil
	}
	then := slices.Contains([]string{"if", "unless"}, w.text)
	if !then {
		return nil, false, err
	}
	p.at, p.object, p.place, p.reason = mark, object, place, reason
	p.next()
	if _, ok := p.conditions(); ok && p.sentenceOver() {
		return nil, false, err
	}
	if ok := p.take(","); ok && !slices.ContainsFunc(lead, func(w word) bool { return w.text == "and" || w.text == "then" }) {
		return nil, false, refuse("What is it that is to be done only if the condition holds? Say it in a sentence of its own.")
	}
	p.at, p.object, p.place, p.reason = mark, object, place, reason
	return parts, false, nil
}

// otherwise reads the other arm, if there is one.
func (p *parser) otherwise() (program, error) {
	mark := p.at
	p.separators()
	if !p.elseWord() {
		p.at = mark
		return nil, nil
	}
	return p.inner(p.end)
}

// armEnds: the sentence of a condition's arm is over, and the next one does not begin with "otherwise".
func (p *parser) armEnds() bool {
	mark := p.at
	defer func() { p.at = mark }()
	if !p.arm || !p.takeAny(".", "!") {
		return false
	}
	for p.separators() {
	}
	return !p.elseWord()
}

func onlyFetch(p program) (fetch, bool) {
	if len(p) != 1 {
		return fetch{}, false
	}
	f, ok := p[0].(fetch)
	return f, ok
}

func (p *parser) elseWord() bool {
	if p.anyPhrase("otherwise", "or else", "else", "if not") {
		p.takeAny(",", ":")
		return true
	}
	return false
}

// inner reads one arm of a condition; "do not move" in it means nothing is to be done there, and forbids nothing elsewhere. It ends
// with its sentence, or behind "first": what comes then is no longer conditional.
func (p *parser) inner(until func() bool) (program, error) {
	still, arm := p.still, p.arm
	p.still, p.arm = false, true
	defer func() { p.still, p.arm = still, arm }()
	w, _ := p.peek()
	prog, err := p.clauses(until)
	if err != nil {
		return nil, err
	}
	if (w.text == "first" || w.text == "firstly") && len(prog) > 1 {
		return nil, refuse("Is all of that to be done only if the condition holds? Say in a sentence of its own what is to be done in any case.")
	}
	return p.checkArm(prog)
}

// checkArm refuses an arm that contradicts itself, or says nothing.
func (p *parser) checkArm(arm program) (program, error) {
	if p.still && arm.moves() {
		return nil, refuse("One arm of the condition asks for motion and forbids it.")
	}
	if len(arm) == 0 && !p.still {
		return nil, p.misunderstood()
	}
	return arm, nil
}

// ternary reads "battery < 20 % ? dock : do not move".
func (p *parser) ternary() (program, bool, error) {
	b, ok := p.condition()
	if !ok || !p.take("?") {
		return nil, false, nil
	}
	colon := func() bool { w, more := p.peek(); return more && w.text == ":" }
	then, err := p.armUntil(colon)
	if err != nil {
		return nil, false, err
	}
	if !p.take(":") {
		return nil, false, nil
	}
	els, err := p.armUntil(p.end)
	if err != nil {
		return nil, false, err
	}
	b.then, b.els = then, els
	return program{b}, true, nil
}

// armUntil reads one clause of a ternary; the colon ends it and is no separator there.
func (p *parser) armUntil(until func() bool) (program, error) {
	before := p.still
	p.still = false
	defer func() { p.still = before }()
	arm, ok, err := p.clause()
	if err != nil {
		return nil, err
	}
	if !ok || !until() {
		return nil, p.misunderstood()
	}
	return arm, nil
}

// condition reads a condition on the battery, on the robot's place or on an object's.
func (p *parser) condition() (branch, bool) {
	kinds := []func() (branch, bool){p.batteryCondition}
	if len(p.world.objects) > 0 {
		kinds = append(kinds, p.handCondition)
	}
	kinds = append(kinds, p.gripperCondition, p.placeCondition, p.objectCondition)
	for _, kind := range kinds {
		if b, ok := attempt(p, kind); ok {
			return b, true
		}
	}
	return branch{}, false
}

func (p *parser) batteryCondition() (branch, bool) {
	p.takeAny("the", "your", "its")
	p.takeAny("robot's")
	if !p.anyPhrase("battery level", "battery charge", "battery", "state of charge", "charge level", "charge", "power level", "power") {
		return branch{}, false
	}
	p.anyPhrase("is", "has", "stands at", "drops", "falls", "level is", "be", "reads", "shows")
	below := false
	strict := true
	switch {
	case p.anyPhrase("below", "under", "less than", "lower than", "<", "beneath"):
		below = true
		if p.take("=") {
			strict = false
		}
	case p.anyPhrase("above", "over", "more than", "higher than", "greater than", ">"):
		if p.take("=") {
			strict = false
		}
	case p.anyPhrase("at least"):
		strict = false
	case p.anyPhrase("at most"):
		below, strict = true, false
	default:
		return branch{}, false
	}
	limit, ok := p.quantity(percent)
	if !ok || limit < 0 || limit > 100 {
		p.reason = "A percentage between 0 and 100 is needed for the battery."
		return branch{}, false
	}
	words := "above"
	if below {
		words = "below"
	}
	return branch{
		ask:       question{tool: "get_battery"},
		condition: fmt.Sprintf("the battery is %s %s percent", words, number(limit)),
		holds: func(content string) (bool, error) {
			got, err := field(content, "percent")
			if err != nil {
				return false, err
			}
			switch {
			case below && strict:
				return got < limit, nil
			case below:
				return got <= limit, nil
			case strict:
				return got > limit, nil
			}
			return got >= limit, nil
		},
	}, true
}

func (p *parser) placeCondition() (branch, bool) {
	if !p.anyPhrase("you are", "the robot is", "you stand", "you find yourself") {
		return branch{}, false
	}
	not := p.anyPhrase("not", "already not")
	p.take("already")
	if !p.anyPhrase("at", "in", "on") {
		return branch{}, false
	}
	name, ok := p.placeName()
	if !ok {
		return branch{}, false
	}
	p.take("already")
	p.place = name
	q := atPlaceQuestion(name)
	words := "the robot is at the " + name
	if not {
		words = "the robot is not at the " + name
	}
	return branch{
		ask: q, condition: words,
		holds: func(content string) (bool, error) {
			is, err := passed(content)
			return is != not, err
		},
	}, true
}

// objectCondition reads "the blue cube is (not) in the kitchen" and "the kitchen has the blue cube".
func (p *parser) objectCondition() (branch, bool) {
	not := false
	object, place := "", ""
	if name, ok := p.placeName(); ok {
		if !p.anyPhrase("has", "already has", "holds", "contains") {
			return branch{}, false
		}
		if object, ok = p.objectName(); !ok {
			return branch{}, false
		}
		place = name
	} else {
		if object, ok = p.anObject(); !ok || !p.anyPhrase("is", "lies", "stands", "is lying", "is standing") {
			return branch{}, false
		}
		p.take("already")
		not = p.take("not")
		p.take("already")
		if !p.anyPhrase("at", "in", "on") {
			return branch{}, false
		}
		if place, ok = p.placeName(); !ok {
			return branch{}, false
		}
	}
	p.takeAny("already", "now")
	p.object, p.place = object, place
	words := "the " + object + " is at the " + place
	if not {
		words = "the " + object + " is not at the " + place
	}
	b := branch{
		ask: question{tool: "list_objects"}, condition: words,
		holds: func(content string) (bool, error) {
			var all map[string]found
			if err := json.Unmarshal([]byte(content), &all); err != nil {
				return false, fmt.Errorf("what list_objects said is no list of objects: %w", err)
			}
			at, known := all[object]
			if !known || !at.Held && at.Place == "" {
				return false, fmt.Errorf("nobody knows where the %s is", object)
			}
			return (!at.Held && at.Place == place) != not, nil
		},
	}
	b.object, b.place, b.not = object, place, not
	return b, true
}
