package planner

import "math"

// corrects reads "actually, go to the office instead" and "no, the office" behind the one clause that it replaces.
func (p *parser) corrects(parts []program) ([]program, bool, error) {
	if !strung(parts).moves() {
		return parts, false, nil
	}
	mark := p.at
	p.takeAny("-", ",")
	if !p.anyPhrase("actually", "no", "no wait", "wait no", "no sorry", "sorry", "sorry no", "no actually", "i mean", "i meant", "no i mean", "no i meant", "or rather", "rather", "correction", "scratch that", "on second thought",
		"on second thoughts", "make that", "no make that", "no not that", "no , wait", "wait , no", "no , sorry", "sorry , no", "no , actually", "no , i mean", "no , i meant", "no , make that", "actually no", "actually , no") {
		p.at = mark
		return parts, false, nil
	}
	for p.takeAny(",", ":", ".", "-", "!") {
	}
	p.politeness()
	if p.end() {
		return nil, false, refuse("Is the task taken back? Then there is nothing to do; what is to be done instead is not said.")
	}
	if len(parts) != 1 {
		return nil, false, refuse("What of that is to be replaced? Say the whole task anew, please.")
	}
	p.takeAny("instead")
	next, ok, err := p.instead(parts[0])
	if err != nil {
		return nil, false, err
	}
	if !ok {
		return nil, false, p.misunderstood()
	}
	p.takeAny(",")
	p.anyPhrase("instead")
	p.politeness()
	if !p.sentenceOver() || !sameKind(parts[0], next) {
		return nil, false, refuse("Does that replace what was said before, or come in addition? Say the whole task anew, please.")
	}
	return []program{next}, true, nil
}

// instead is a whole clause, or that part of the clause before that is corrected.
func (p *parser) instead(old program) (program, bool, error) {
	mark := p.at
	if len(old) == 1 {
		switch x := old[0].(type) {
		case call:
			if next, ok := attempt(p, func() (call, bool) { return p.otherAmount(x) }); ok {
				return program{next}, true, nil
			}
		case fetch:
			p.anyPhrase("to", "into", "in", "on", "onto")
			if name, ok := p.placeName(); ok {
				x.place, p.place = name, name
				return program{x}, true, nil
			}
			p.at = mark
			if name, ok := p.objectName(); ok && (p.sentenceOver() || p.insteadAhead()) {
				x.object = name
				return program{x}, true, nil
			}
		case pickUp:
			if name, ok := p.objectName(); ok && (p.sentenceOver() || p.insteadAhead()) {
				x.object = name
				return program{x}, true, nil
			}
		}
	}
	p.at = mark
	p.brings = false
	return p.clause()
}

func (p *parser) insteadAhead() bool {
	w, ok := p.peek()
	return ok && w.text == "instead"
}

// otherAmount reads another distance, angle, side or time for the same motion.
func (p *parser) otherAmount(old call) (call, bool) {
	over := func() bool { return p.sentenceOver() || p.insteadAhead() }
	switch old.tool {
	case "drive":
		if d, ok := p.quantity(length); ok && d > 0 && over() {
			was, _ := old.args["distance_m"].(float64)
			return driveCall(math.Copysign(d, was)), true
		}
	case "turn":
		was, _ := old.args["angle_rad"].(float64)
		if a, ok := p.turnAngle(); ok && a > 0 && over() {
			return turnSaid(math.Copysign(a, was)), true
		}
		if side, ok := p.side(); ok && over() {
			return turnSaid(side * math.Abs(was)), true
		}
	case "wait":
		if d, ok := p.quantity(duration); ok && d >= 0 && over() {
			return waitCall(d), true
		}
	}
	return call{}, false
}

// sameKind: one can stand for the other.
func sameKind(a, b program) bool {
	if len(a) != 1 || len(b) != 1 {
		return false
	}
	switch x := a[0].(type) {
	case call:
		y, ok := b[0].(call)
		return ok && x.tool == y.tool
	case fetch:
		_, ok := b[0].(fetch)
		return ok
	case pickUp:
		_, ok := b[0].(pickUp)
		return ok
	case question:
		_, ok := b[0].(question)
		return ok
	}
	return false
}
