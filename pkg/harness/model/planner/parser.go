package planner

import (
	"fmt"
	"slices"
	"strings"
)

// parser reads a task word by word. Every word must be taken by some rule.
type parser struct {
	words []word
	at    int
	world *world
	// still: the task forbids motion ("do not move").
	still bool
	// object and place were named last: "it" and "there" mean them.
	object, place string
	// carried is the object that is picked up last: "leave it there" means nothing else.
	carried string
	// arm: a condition's arm is being read.
	arm bool
	// banned places and objects: the task says not to go there, or not to touch them.
	banned []string
	// brings: the clause before brought an object somewhere, so that a place alone may mean the object or the robot.
	brings bool
	// holds: "it" is whatever is held; group are the objects that "them" means; grips: "it" is the gripper.
	holds, grips bool
	group        []string
	// apart are places and objects that are named only to say that others are meant.
	apart []string
	// sought is the object whose place was asked for last: "there" is where it is.
	sought string
	// notes: where the robot stands is to be noted before the clauses that are being read, which are depth deep.
	notes bool
	depth int
	// reason is the clearest cause of a refusal found so far.
	reason string
}

// refusal says why a task is not done.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

func (p *parser) end() bool { return p.at >= len(p.words) }

func (p *parser) peek() (word, bool) {
	if p.end() {
		return word{}, false
	}
	return p.words[p.at], true
}

func (p *parser) next() (word, bool) {
	w, ok := p.peek()
	if ok {
		p.at++
	}
	return w, ok
}

// take consumes exactly these words, or nothing.
func (p *parser) take(words ...string) bool {
	if p.at+len(words) > len(p.words) {
		return false
	}
	for i, w := range words {
		if p.words[p.at+i].text != w || p.words[p.at+i].isNum {
			return false
		}
	}
	p.at += len(words)
	return true
}

// phrase consumes the words of a text, or nothing.
func (p *parser) phrase(text string) bool { return p.take(strings.Fields(text)...) }

// takeAny consumes one of these words, or nothing.
func (p *parser) takeAny(words ...string) bool {
	for _, w := range words {
		if p.take(w) {
			return true
		}
	}
	return false
}

// anyPhrase consumes the longest of these phrases that stands here, or nothing.
func (p *parser) anyPhrase(phrases ...string) bool {
	mark, best := p.at, p.at
	for _, f := range phrases {
		if p.phrase(f) {
			best = max(best, p.at)
			p.at = mark
		}
	}
	p.at = best
	return best > mark
}

// attempt runs a rule and takes nothing where it fails.
func attempt[T any](p *parser, rule func() (T, bool)) (T, bool) {
	mark := p.at
	v, ok := rule()
	if !ok {
		p.at = mark
	}
	return v, ok
}

// politeness is said around a task and changes nothing.
func (p *parser) politeness() {
	for p.anyPhrase(
		"please", "kindly", "now", "hey", "hello", "hi", "ok", "okay", "robot", "buddy", "thanks", "thank you", "thank you very much", "for me", "if you please", "right now",
		"would you be so kind as to", "would you be so kind and", "could you", "can you", "would you", "will you", "would you mind", "i would like you to", "i want you to", "i need you to",
		"i would like to ask you to", "you should", "you must", "your task is to", "your job is to", "go ahead and", "just", "simply", "the robot should", "the robot must", "let us", "next up", "immediately",
		"as soon as possible", "be so kind and", "pls", "plz", "asap", "maybe", "perhaps", "possibly", "feel free to", "if you do not mind", "when you have time", "when you have a moment", "would it be possible for you to", "would it be possible to", "do me a favour and", "do me a favor and", "i would be glad if you would", "kill some time", "dear", "carefully", "safely",
	) {
		p.takeAny(",", "!", ":")
	}
}

// separators stand between clauses.
func (p *parser) separators() bool {
	any := false
	for p.anyPhrase(",", ";", ".", "!", "?", ":", "and", "then", "next", "after that", "afterwards", "afterward", "subsequently", "finally", "lastly", "at last", "later",
		"followed by", "but", "first", "firstly", "second", "secondly", "third", "thirdly", "at the end", "in the end", "last", "once there", "once you are there", "when you are there", "when done",
		"when that is done", "after doing so", "in this order", "in that order", "in order", "from there", "step one", "step two", "( 1 )", "( 2 )", "to begin with", "to start") {
		any = true
	}
	return any
}

// parse reads a whole task into a program.
func parse(task string, w *world) (program, error) {
	words := cut(task)
	if len(words) == 0 {
		return nil, refuse("The task is empty.")
	}
	if err := forbidden(words); err != nil {
		return nil, err
	}
	p := &parser{words: words, world: w}
	prog, err := p.clauses(func() bool { return p.end() })
	if err != nil {
		return nil, err
	}
	if len(prog) == 0 && !p.still && len(p.banned) == 0 {
		return nil, p.misunderstood()
	}
	if p.still && len(prog) == 0 && w.tools["get_pose"] {
		return program{stayQuestion()}, nil
	}
	if p.still && prog.moves() {
		return nil, refuse("The task asks for motion and forbids it.")
	}
	if len(prog) == 0 {
		return nil, refuse("The task asks for nothing but to stay where I am; there is nothing to do.")
	}
	if name, ok := prog.reaches(append(slices.Clone(p.banned), p.apart...)); ok {
		return nil, refuse("The task asks for the %s and forbids it.", name)
	}
	w.banned = p.banned
	prog = joinCarry(prog)
	if err := prog.oneHand(); err != nil {
		return nil, err
	}
	for _, t := range prog.tools() {
		if !w.tools[t] {
			return nil, refuse("That would need the tool %s, which is not available here.", t)
		}
	}
	return prog, nil
}

// clauses reads clauses up to where until holds.
func (p *parser) clauses(until func() bool) (program, error) {
	notes := p.notes
	p.notes = false
	p.depth++
	parts, err := p.parts(until)
	p.depth--
	out := strung(parts)
	if p.notes && err == nil {
		out = append(program{remember{p.depth}}, out...)
	}
	p.notes = notes
	return out, err
}

// parts are the clauses, in the order in which they are to be done.
func (p *parser) parts(until func() bool) ([]program, error) {
	var parts []program
	begun := p.at
	alone := true // the next clause is the first one of its sentence
	for {
		if p.armEnds() || len(parts) > 0 && until() {
			return parts, nil
		}
		from := p.at
		p.lead()
		lead := p.words[from:p.at]
		alone = alone || slices.ContainsFunc(lead, func(w word) bool { return slices.Contains(sentenceEnds(), w.text) })
		before, err := p.sayWhen(lead, len(parts))
		if err != nil {
			return nil, err
		}
		if p.end() || until() {
			return parts, nil
		}
		if len(parts) > 0 && p.anyPhrase("before that", "before doing that", "before you do that", "before doing so", "beforehand", "before this") {
			before = true
			p.takeAny(",")
			p.politeness()
		}
		if more, ok, err := p.corrects(parts); ok || err != nil {
			if err != nil {
				return nil, err
			}
			parts = more
			continue
		}
		if more, ok, err := p.back(parts, lead); ok || err != nil {
			if err != nil {
				return nil, err
			}
			parts, alone = more, false
			continue
		}
		if more, ok, err := p.onlyIf(parts, lead); ok || err != nil {
			if err != nil {
				return nil, err
			}
			parts = more
			continue
		}
		mark := p.at
		if names, ok := p.contrast(); ok && (len(parts) > 0 || p.words[mark].text == "instead") {
			p.apart = append(p.apart, names...)
			continue
		}
		p.at = mark
		part, ok, err := p.clause()
		if !ok && err == nil {
			part, ok, err = p.likewise(parts)
		}
		if err != nil {
			return nil, err
		}
		if !ok || p.at == mark {
			p.at = mark
			return nil, p.misunderstood()
		}
		if len(parts) > 0 && part.moves() && p.decides(parts[len(parts)-1], p.words[begun:from], lead) {
			return nil, refuse("Is that to be done whatever the answer is? Say it as a condition: if …, then …; otherwise ….")
		}
		begun = mark
		if len(parts) > 0 {
			p.anyPhrase(", too", "too", "as well", "also")
		}
		if p.arm && p.takeAny("first") { // "go to the dock first, then …"
			return append(parts, part), nil
		}
		p.politeness()
		if len(part) > 0 {
			if names, ok := p.contrast(); ok {
				p.apart = append(p.apart, names...)
			}
			if part, err = p.trails(part, alone); err != nil {
				return nil, err
			}
			if part, err = p.trailingCondition(part, alone, until); err != nil {
				return nil, err
			}
		}
		if n, again := p.times(); again && len(part) > 0 {
			p.politeness()
			if x, one := part[0].(call); one && len(part) == 1 && n > 1 && x.tool == "navigate_to" {
				return nil, refuse("What is to be done %d times? Whoever is there once cannot go there again without leaving: say it as %d times: …", n, n)
			}
			once := part
			for range n - 1 {
				part = append(part[:len(part):len(part)], once...)
			}
		}
		if before {
			if len(parts) != 1 || !p.sentenceOver() && !until() {
				return nil, refuse("Before which of the steps is that to be done? Say the steps in their order.")
			}
			parts = []program{part, parts[0]}
		} else {
			parts = append(parts, part)
		}
		alone = false
		p.brings = len(part) > 0 && delivers(part[len(part)-1])
		if len(strung(parts)) > maxInstructions {
			return nil, refuse("The task is too long: over %d steps.", maxInstructions)
		}
		if !p.end() && !until() && !p.armEnds() && !p.separatorAhead() {
			return nil, p.misunderstood()
		}
	}
}

// decides: what was asked before may be what decides whether the next clause is to be done ("is the battery low? Then go to the dock").
func (p *parser) decides(last program, asked, lead []word) bool {
	if len(last) != 1 || len(asked) == 0 {
		return false
	}
	if _, ok := last[0].(question); !ok {
		return false
	}
	for len(asked) > 1 && slices.Contains([]string{"please", "and", ",", "now", "hey", "robot"}, asked[0].text) {
		asked = asked[1:]
	}
	if asked[0].text == "check" && len(asked) > 1 && asked[1].text == "that" {
		return true
	}
	yesNo := slices.Contains([]string{"is", "are", "am", "do", "does", "holding", "anything", "something"}, asked[0].text)
	return yesNo && slices.ContainsFunc(lead, func(w word) bool { return slices.Contains([]string{"?", "then", "so"}, w.text) })
}

// lead takes what stands between clauses.
func (p *parser) lead() {
	for range 2 {
		for p.separators() || p.dash() {
		}
		p.politeness()
	}
}

// dash is one between clauses: in front of a number it is a minus.
func (p *parser) dash() bool {
	if p.at+1 < len(p.words) && p.words[p.at].text == "-" && !p.words[p.at+1].isNum && p.at > 0 {
		if _, number := spelled(p.words[p.at+1].text); !number {
			p.at++
			return true
		}
	}
	return false
}

func delivers(i instruction) bool {
	switch i.(type) {
	case fetch, putDown:
		return true
	}
	return false
}

// maxInstructions bounds a program.
const maxInstructions = 100

// separatorAhead looks without taking.
func (p *parser) separatorAhead() bool {
	mark := p.at
	defer func() { p.at = mark }()
	if p.separators() || p.dash() {
		return true
	}
	p.politeness()
	return p.end() || p.separators() || p.take("without")
}

// misunderstood names the place where understanding ended.
func (p *parser) misunderstood() error {
	if why := p.hint(); why != "" && (p.reason == "" || !strings.Contains(p.reason, "meant?")) {
		return refuse("%s", why)
	}
	if why := p.slipAhead(); why != "" && !strings.Contains(p.reason, "meant?") {
		return refuse("%s", why)
	}
	if p.reason != "" {
		return refuse("%s", p.reason)
	}
	if mark := p.at; true {
		if p.anyPhrase("raise", "lift", "lower", "extend", "stretch", "stretch out", "unfold", "bend", "wave", "home", "set", "move", "rotate", "turn", "straighten", "swing"); p.armWord() {
			return refuse("%s", p.armReason())
		}
		p.at = mark
	}
	from, to := p.at, min(p.at+6, len(p.words))
	var rest []string
	for _, w := range p.words[from:to] {
		rest = append(rest, w.text)
	}
	if len(rest) == 0 {
		return refuse("I do not understand the task.")
	}
	objects, asked := "", ""
	if len(p.world.objects) > 0 {
		objects, asked = fmt.Sprintf(", fetch objects (%s)", strings.Join(p.world.objects, ", ")), ", objects"
	}
	return refuse("I do not understand the task at %q. I am a planner with rules: I can drive, turn, wait, go to places (%s)%s, and answer questions about pose, places%s, battery and clearance.",
		strings.Join(rest, " "), strings.Join(p.world.placeNames(), ", "), objects, asked)
}

// clause reads one clause: a condition, a negation, a question or a command.
func (p *parser) clause() (program, bool, error) {
	for _, rule := range []func() (program, bool, error){p.ordered, p.conditional, p.repeated, p.patrol, p.square, p.armJoints, p.armPose, p.command, p.goesTo, p.negation, p.manipulation, p.questions} {
		mark := p.at
		prog, ok, err := rule()
		if err != nil {
			return nil, false, err
		}
		if ok {
			return prog, true, nil
		}
		p.at = mark
	}
	return nil, false, nil
}
