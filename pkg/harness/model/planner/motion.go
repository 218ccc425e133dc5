package planner

import (
	"fmt"
	"math"
	"strconv"
)

// command is one motion or wait, or "in 3 seconds" with what follows.
func (p *parser) command() (program, bool, error) {
	if d, ok := attempt(p, p.delay); ok {
		if d < 0 {
			return nil, false, negative(d)
		}
		p.take(",")
		p.politeness()
		rest, ok, err := p.clause()
		return append(program{waitCall(d)}, rest...), ok, err
	}
	for _, rule := range []func() (call, bool, error){p.wait, p.turn, p.drive, p.goTo} {
		mark := p.at
		c, ok, err := rule()
		if err != nil {
			return nil, false, err
		}
		if ok {
			return program{c}, true, nil
		}
		p.at = mark
	}
	return nil, false, nil
}

// number in words, without superfluous digits.
func number(f float64) string {
	if math.Abs(f) >= 1e15 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(math.Round(f*1e6)/1e6, 'f', -1, 64)
}

// clean rounds away what unit conversion adds. A number that large has no such digits.
func clean(f float64) float64 {
	if math.Abs(f) > 1e6 {
		return f
	}
	return math.Round(f*1e9) / 1e9
}

func driveCall(m float64) call {
	return call{tool: "drive", args: map[string]any{"distance_m": clean(m)}, says: fmt.Sprintf("drove %s m", number(m))}
}

func turnCall(rad float64) call {
	return call{tool: "turn", args: map[string]any{"angle_rad": clean(rad)}, says: fmt.Sprintf("turned %s rad", number(rad))}
}

// turnSaid is a turn that was asked for in degrees, or in words: it is told in degrees.
func turnSaid(rad float64) call {
	c := turnCall(rad)
	side := "left"
	if rad < 0 {
		side = "right"
	}
	c.says = fmt.Sprintf("turned %s by %s degrees", side, number(math.Abs(math.Round(rad*180/math.Pi*1e6)/1e6)))
	return c
}

func waitCall(s float64) call {
	return call{tool: "wait", args: map[string]any{"seconds": clean(s)}, says: fmt.Sprintf("waited %s s", number(s))}
}

func goCall(place string) call {
	return call{tool: "navigate_to", args: map[string]any{"place": place}, says: "went to the " + place, absolute: true}
}

// delay reads "in 3 seconds" and "after 3 seconds".
func (p *parser) delay() (float64, bool) {
	if !p.takeAny("in", "after") {
		return 0, false
	}
	d, ok := p.quantity(duration)
	p.take("from", "now")
	return d, ok
}

func negative(d float64) error {
	return refuse("A time of %s s is negative: nobody can wait that long.", number(d))
}

// wait reads "wait five seconds", "hold still for 5 s", "pause for a moment: 5000 milliseconds".
func (p *parser) wait() (call, bool, error) {
	if !p.anyPhrase("wait there", "wait here", "wait", "pause there", "pause", "pausing", "hold still", "hold on", "hold your position", "hold position", "hold", "stand still", "stay there", "stay put", "stay still",
		"stay where you are", "stay here", "stay", "rest there", "rest", "remain there", "remain where you are", "remain still", "remain", "do nothing", "sit still", "stop", "halt", "idle") {
		return call{}, false, nil
	}
	p.anyPhrase("for a moment :", "a moment :", "for a moment ,", "a moment ,")
	p.anyPhrase("there", "here")
	p.anyPhrase("for about", "for at least", "for", "about", "a")
	d, ok := p.quantity(duration)
	if !ok {
		return call{}, false, nil
	}
	p.anyPhrase("there", "here", "long", "at that place")
	if d < 0 {
		return call{}, false, negative(d)
	}
	return waitCall(d), true, nil
}

// side of a turn: +1 left, -1 right.
func (p *parser) side() (float64, bool) {
	mark := p.at
	p.takeAny("to", "towards")
	p.takeAny("the", "your")
	switch {
	case p.anyPhrase("left hand side", "left"), p.takeAny("counterclockwise", "ccw"):
		return 1, true
	case p.anyPhrase("right hand side", "right"):
		if w, ok := p.peek(); ok && w.text == "angle" { // "by a right angle"
			p.at = mark
			return 0, false
		}
		return -1, true
	case p.takeAny("clockwise", "cw"):
		return -1, true
	}
	p.at = mark
	return 0, false
}

// turn reads turns in place.
func (p *parser) turn() (call, bool, error) {
	if c, ok, err := p.spins(); ok || err != nil {
		return c, ok, err
	}
	if p.anyPhrase("turn around", "turn round", "turn about", "do an about turn", "make an about turn", "about turn", "face the other way", "do a about turn", "make a about turn", "turn the other way", "turn to face the other way", "turn to face the opposite direction", "turn so that you face the other way", "turn to the opposite direction", "turn in the opposite direction", "face the opposite direction", "face the opposite way", "face backwards", "turn back around") {
		p.anyPhrase("so that you face the other way", "so you face the other way", "to face the other way", "so that you look the other way", "on the spot", "in place")
		if _, again := p.times(); again {
			return call{}, false, refuse("How far is that each time, half a turn or a whole one? Say it in degrees, or as full turns.")
		}
		return turnSaid(math.Pi), true, nil
	}
	made := p.anyPhrase("make", "do", "perform", "take")
	verb := p.anyPhrase("turn", "rotate", "spin", "pivot", "swivel", "turning", "rotating", "yaw")
	if verb {
		if p.objectAhead() {
			return call{}, false, errTurnsObject()
		}
		p.anyPhrase("yourself", "the robot")
		p.anyPhrase("in place", "on the spot", "where you are", "around", "round")
	}
	side, sided := p.side()
	p.anyPhrase("by", "through", "for", "about")
	a, ok := p.turnAngle()
	if !ok {
		if verb {
			p.reason = "By which angle am I to turn? A number with a unit is needed, such as 90 degrees."
		}
		return call{}, false, nil
	}
	inRad := p.words[p.at-1].text == "rad" || p.words[p.at-1].text == "radians" || p.words[p.at-1].text == "radian"
	if !sided {
		side, sided = p.side()
	}
	p.anyPhrase("in place", "on the spot", "where you are", "where you stand")
	if !sided {
		p.anyPhrase("turn")
		side, sided = p.side()
	}
	if !verb && !sided && !made {
		return call{}, false, nil
	}
	half := math.Abs(math.Mod(math.Abs(a), 2*math.Pi))
	switch {
	case sided && a < 0:
		return call{}, false, refuse("A negative angle and a side contradict each other.")
	case sided:
		a *= side
	case inRad, a < 0, math.Abs(half-math.Pi) < 1e-9, half < 1e-9:
		// REP-103: positive is left; a half turn or a whole one is the same both ways.
	default:
		return call{}, false, refuse("To which side am I to turn, left or right?")
	}
	if inRad {
		return turnCall(a), true, nil
	}
	return turnSaid(a), true, nil
}

// spins reads "spin around three times", "turn once around your own axis": whole turns. Where no side is said, they go to the left, as
// positive angles do.
func (p *parser) spins() (call, bool, error) {
	mark := p.at
	verb := p.anyPhrase("spin", "rotate", "turn", "twirl", "whirl")
	spin := verb && p.words[p.at-1].text != "turn" && p.words[p.at-1].text != "rotate"
	n, often := 0, false
	axis := false
	side, sided := 0.0, false
	for {
		at := p.at
		if !often {
			n, often = p.times()
		}
		if p.anyPhrase("around yourself", "about yourself", "around your own axis", "about your own axis", "around your axis", "about your axis", "round your own axis", "on your own axis", "on your axis") {
			axis = true
		}
		p.anyPhrase("on the spot", "in place", "completely", "fully")
		if spin {
			p.anyPhrase("around", "round", "yourself around")
		}
		if !sided {
			side, sided = p.side()
		}
		if p.at == at {
			break
		}
	}
	if !verb || !often || !spin && !axis || !p.boundary() {
		p.at = mark
		return call{}, false, nil
	}
	if !sided {
		side = 1
	}
	return turnSaid(side * float64(n) * 2 * math.Pi), true, nil
}

// direction of a straight drive: +1 forward, -1 backward.
func (p *parser) direction() (float64, bool) {
	p.takeAny("straight", "directly")
	switch {
	case p.anyPhrase("forward", "forwards", "ahead", "onward", "onwards", "on ahead"):
		p.anyPhrase("in a straight line", "straight")
		return 1, true
	case p.anyPhrase("backward", "backwards", "in reverse", "rearward", "rearwards", "back"):
		return -1, true
	case p.at > 0 && (p.words[p.at-1].text == "straight"):
		p.anyPhrase("on", "in front")
		return 1, true
	case p.phrase("on"):
		return 1, true
	}
	return 0, false
}

// drive reads straight motions.
func (p *parser) drive() (call, bool, error) {
	sign, given := 1.0, false
	verb := true
	switch {
	case p.anyPhrase("back up", "back off", "reverse", "retreat", "back away"):
		sign, given = -1, true
	case p.anyPhrase("advance", "go ahead", "inch forward"):
		sign, given = 1, true
	case p.anyPhrase("drive", "driving", "move", "moving", "go", "going", "roll", "travel", "proceed", "head", "run", "walk", "come", "step"):
	default:
		verb = false
	}
	if verb {
		p.anyPhrase("yourself", "the robot")
	}
	if s, ok := p.direction(); ok {
		if given && s != sign {
			return call{}, false, refuse("The directions contradict each other.")
		}
		sign, given = s, true
	}
	p.anyPhrase("by exactly", "by", "for exactly", "for about", "for", "exactly", "another", "a distance of", "some")
	d, ok := p.quantity(length)
	if !ok {
		p.noUnit(verb)
		p.noDistance(given)
		return call{}, false, nil
	}
	p.anyPhrase("to the front", "in front of you")
	if s, ok := p.direction(); ok {
		if given && s != sign {
			return call{}, false, refuse("The directions contradict each other.")
		}
		sign, given = s, true
	}
	if p.takes() && !given {
		return call{}, false, refuse("Is that one motion, or two? Say each with its direction.")
	}
	p.anyPhrase("in a straight line", ", no more", "no more", ", not more", ", no further")
	if !verb && !given {
		return call{}, false, nil
	}
	if d < 0 && given {
		return call{}, false, refuse("A negative distance of %s m and a direction contradict each other.", number(d))
	}
	return driveCall(sign * d), true, nil
}

// takes: another distance with a direction of its own follows, so that this one's may be either.
func (p *parser) takes() bool {
	mark, reason := p.at, p.reason
	defer func() { p.at, p.reason = mark, reason }()
	if !p.take("and") {
		return false
	}
	if _, ok := p.quantity(length); !ok {
		return false
	}
	_, ok := p.direction()
	return ok
}

// noUnit notes that a number stands where a distance should, without a unit: 50 m and 50 cm are both possible.
func (p *parser) noUnit(verb bool) {
	mark := p.at
	defer func() { p.at = mark }()
	if f, ok := p.amount(); ok && verb {
		w, more := p.peek()
		if !more || w.text == "." || w.text == "," || w.text == "units" || w.text == "unit" || w.text == "!" {
			p.reason = fmt.Sprintf("How far is %s? A unit is missing: metres and centimetres are both possible, and I do not guess.", number(f))
		}
	}
}

// noDistance notes that a direction stands alone.
func (p *parser) noDistance(given bool) {
	w, more := p.peek()
	if given && p.reason == "" && (!more || w.text == "." || w.text == "," || w.text == "!" || w.text == "then" || w.text == "and") {
		p.reason = "How far am I to drive? A number with a unit is needed, such as 50 cm."
	}
}

// placeName reads a known place.
func (p *parser) placeName() (string, bool) {
	mark := p.at
	p.takeAny("the", "my", "our", "your")
	for _, pl := range p.world.places {
		for _, name := range pl.words {
			if p.take(name...) {
				p.anyPhrase("area")
				return pl.name, true
			}
		}
	}
	p.at = mark
	return "", false
}

// goTo reads "go to the kitchen", "kitchen, go", "kitchen please".
func (p *parser) goTo() (call, bool, error) {
	if name, ok := attempt(p, func() (string, bool) {
		name, ok := p.placeName()
		if !ok {
			return "", false
		}
		mark := p.at
		p.take(",")
		if !p.anyPhrase("go", "please", "now", "is where you should go", "is where i want you", "next", "is your destination", "is the destination", "is the goal") {
			p.at = mark
		}
		if p.brings {
			return "", p.whoGoes(name)
		}
		return name, true
	}); ok {
		p.place = name
		return goCall(name), true, nil
	}
	verb := p.anyPhrase("make your way", "find your way", "get yourself", "take yourself", "bring yourself", "get over", "be on your way", "make a trip", "set off", "start driving",
		"go", "goto", "going", "drive", "driving", "move", "moving", "navigate", "head", "heading", "travel", "proceed", "roll", "return", "come", "walk", "run", "get", "hurry", "continue", "stop", "park", "finish", "end", "finish up", "end up", "pass", "rush")
	visit := !verb && p.anyPhrase("visit", "reach", "approach", "enter")
	if verb {
		p.anyPhrase("back over", "on over", "over", "back", "straight", "directly", "on", "along", "along now", "yourself", "up", "your tour", "the tour", "the round", "home", "carefully", "safely")
		to := p.words[p.at-1].text == "goto"
		if !p.anyPhrase("to", "into", "towards", "toward", "for", "at", "in", "in to", "by") && !to && !p.shortly() {
			return call{}, false, nil
		}
	} else if !visit && !p.anyPhrase("to", "off to", "back to", "over to") {
		return call{}, false, nil
	}
	if c, ok, err := p.pose(); ok || err != nil {
		return c, ok, err
	}
	name, ok := p.placeName()
	if !ok {
		p.unknownPlace()
		return call{}, false, nil
	}
	if p.brings && !verb && !visit {
		return call{}, p.whoGoes(name), nil
	}
	p.place = name
	return goCall(name), true, nil
}

// shortly: "go kitchen" is said for "go to the kitchen".
func (p *parser) shortly() bool {
	if p.words[p.at-1].text != "go" {
		return false
	}
	mark := p.at
	defer func() { p.at = mark }()
	_, ok := p.placeName()
	return ok && p.boundary()
}

// whoGoes refuses a place that stands alone behind an errand: "take the cube to the kitchen and the office".
func (p *parser) whoGoes(name string) bool {
	other := "they"
	if p.object != "" {
		other = "the " + p.object
	}
	p.reason = fmt.Sprintf("Who is to go to the %s, I or %s? Say it with a verb.", name, other)
	return false
}

// unknownPlace notes which place is not known, and which ones are.
func (p *parser) unknownPlace() {
	mark := p.at
	defer func() { p.at = mark }()
	p.takeAny("the", "a", "my", "our", "your")
	if w, ok := p.peek(); ok && !w.isNum {
		p.reason = fmt.Sprintf("I know no place %q.%s The places that I know: %s.", w.text, meant(w.text, p.world.placeNames()), joined(p.world.placeNames()))
	}
}

// pose reads "x 1 y 2 yaw 0.5" and "(1, 2) facing 90 degrees" behind "go to"; the heading must be said.
func (p *parser) pose() (call, bool, error) {
	mark := p.at
	p.takeAny("the")
	p.anyPhrase("position", "pose", "point", "coordinates", "location")
	p.takeAny("(")
	x, okX := p.coordinate("x")
	p.takeAny(",")
	p.take("and")
	y, okY := p.coordinate("y")
	if !okX || !okY {
		p.at = mark
		return call{}, false, nil
	}
	p.takeAny(",", ")")
	p.takeAny("and", "with")
	p.anyPhrase("facing", "heading", "yaw", "theta", "with a heading of", "a heading of", "heading of")
	p.takeAny("=", ":")
	yaw, ok := p.quantity(angle)
	if !ok {
		yaw, ok = p.amount()
	}
	p.takeAny(")")
	if !ok {
		return call{}, false, refuse("Which heading am I to have at x %s m, y %s m? Say it as yaw, in radians or degrees.", number(x), number(y))
	}
	return call{
		tool: "navigate_to", args: map[string]any{"x": clean(x), "y": clean(y), "yaw": clean(yaw)},
		says: fmt.Sprintf("went to x %s m, y %s m", number(x), number(y)), absolute: true,
	}, true, nil
}

func (p *parser) coordinate(axis string) (float64, bool) {
	p.take(axis)
	p.takeAny("=", ":")
	f, ok := p.quantity(length)
	if !ok {
		f, ok = p.amount()
	}
	return f, ok
}
