package planner

import "math"

// repeated reads "four times: 0.5 m ahead, 90 degrees left" up to the sentence's end.
func (p *parser) repeated() (program, bool, error) {
	p.anyPhrase("do this", "do the following", "repeat this", "repeat")
	n, ok := p.times()
	if !ok {
		return nil, false, nil
	}
	if !p.takeAny(":", ",") {
		return nil, false, nil
	}
	body, err := p.clauses(func() bool {
		w, more := p.peek()
		return more && (w.text == "." || w.text == ";")
	})
	if err != nil || len(body) == 0 {
		return nil, false, err
	}
	var out program
	for range n {
		out = append(out, body...)
	}
	return out, true, nil
}

// stopover is one stop of a patrol: a place and how long to stay.
type stopover struct {
	place string
	stay  float64
}

// patrol reads "patrol: kitchen, office, and finish at the dock, with two seconds at each stop but the last".
func (p *parser) patrol() (program, bool, error) {
	if !p.anyPhrase("patrol", "do a round", "make a round", "do a tour", "make a tour", "do the round", "tour", "visit", "go round", "go around", "go back and forth", "drive back and forth", "move back and forth", "commute", "shuttle", "alternate", "go to and fro", "drive to and fro", "run back and forth", "travel back and forth",
		"go", "drive", "travel", "make a tour", "do a tour") {
		return nil, false, nil
	}
	if w := p.words[p.at-1].text; (w == "go" || w == "drive" || w == "travel") && !p.everyAhead() {
		return nil, false, nil
	}
	p.takeAny(":", ",")
	p.anyPhrase("of", "through", "visiting", "to")
	var stops []stopover
	if between, ok, err := p.between(); ok || err != nil {
		return between, ok, err
	}
	if all, ok := attempt(p, p.everyPlace); ok {
		for _, name := range all {
			stops = append(stops, stopover{place: name})
		}
	}
	for all := len(stops) > 0; !all; {
		mark := p.at
		for p.separators() {
		}
		p.anyPhrase("go to", "finish at", "end at", "finish in", "end in", "finish by", "return to")
		name, ok := p.placeName()
		if !ok {
			p.at = mark
			break
		}
		s := stopover{place: name}
		if p.take("(") {
			d, ok := p.quantity(duration)
			if !ok || !p.take(")") {
				return nil, false, nil
			}
			s.stay = d
		}
		stops = append(stops, s)
	}
	if len(stops) < 2 {
		return nil, false, nil
	}
	if err := p.stays(&stops); err != nil {
		return nil, false, err
	}
	var out program
	for _, s := range stops {
		if s.stay < 0 {
			return nil, false, negative(s.stay)
		}
		out = append(out, goCall(s.place))
		if s.stay > 0 {
			out = append(out, waitCall(s.stay))
		}
	}
	return out, true, nil
}

// everyAhead: every place is to be visited.
func (p *parser) everyAhead() bool {
	mark := p.at
	defer func() { p.at = mark }()
	p.take("to")
	_, ok := p.everyPlace()
	return ok || p.take("between")
}

// between reads "between the kitchen and the dock twice": to the one and to the other, so often.
func (p *parser) between() (program, bool, error) {
	if !p.anyPhrase("between", "back and forth between", "to and fro between") {
		return nil, false, nil
	}
	n, often := p.times()
	a, okA := p.placeName()
	if !okA || !p.take("and") {
		p.unknownPlace()
		return nil, false, nil
	}
	b, okB := p.placeName()
	if !okB {
		p.unknownPlace()
		return nil, false, nil
	}
	if a == b {
		return nil, false, refuse("Between the %s and itself there is no way to go.", a)
	}
	p.takeAny(",")
	if !often {
		n, often = p.times()
	}
	if !often {
		return nil, false, refuse("How often am I to go between the %s and the %s? Say it, such as: three times.", a, b)
	}
	var out program
	for range n {
		out = append(out, goCall(a), goCall(b))
	}
	return out, true, nil
}

// stays reads how long to stop, for all stops or for all but the last, and a last stop behind it.
func (p *parser) stays(stops *[]stopover) error {
	mark := p.at
	p.anyPhrase("in this order", "in that order", ", in this order")
	p.takeAny(",")
	p.take("and")
	if !p.anyPhrase("with", "pausing", "waiting", "stopping", "staying", "pause", "wait", "resting") {
		p.at = mark
		return nil
	}
	p.anyPhrase("for", "a pause of", "a stop of", "about")
	d, ok := p.quantity(duration)
	if !ok {
		p.at = mark
		return nil
	}
	last := len(*stops)
	switch {
	case p.anyPhrase("at each stop but the last", "at every stop but the last", "at each but the last", "at each place but the last", "at all but the last"):
		last--
	case p.anyPhrase("each time", "at each stop", "at every stop", "at each", "each", "at each place", "at each of them", "in each"):
	default:
		p.at = mark
		return nil
	}
	for i := range last {
		(*stops)[i].stay = d
	}
	return nil
}

// shape reads a figure whose sides are all of one length, and how many it has.
func (p *parser) shape() (int, bool) {
	if !p.anyPhrase("drive", "trace", "make", "do", "go", "draw", "move", "drive in", "go in", "move in", "drive along") {
		return 0, false
	}
	p.takeAny("a", "an", "one")
	p.takeAny("regular", "equilateral")
	for n, names := range map[int][]string{3: {"triangle"}, 4: {"square"}, 5: {"pentagon"}, 6: {"hexagon"}, 8: {"octagon"}} {
		if p.takeAny(names...) {
			return n, true
		}
	}
	return 0, false
}

// square reads "drive a square with sides of half a metre, turning left at the corners, and end as you began".
func (p *parser) square() (program, bool, error) {
	corners, ok := p.shape()
	if !ok {
		return nil, false, nil
	}
	p.anyPhrase("with all sides of", "with sides of", "with a side of", "with edges of", "with a side length of", "of side length", "with side length", "with side lengths of", "of side", "of")
	p.anyPhrase("length")
	side, ok := p.quantity(length)
	if !ok || side <= 0 {
		p.reason = "How long are the sides? A length with a unit is needed."
		return nil, false, nil
	}
	p.anyPhrase("sides", "on a side", "per side", "a side")
	p.takeAny(",")
	p.anyPhrase("turning", "going", "always turning")
	turn, sided := p.side()
	p.anyPhrase("at the corners", "at each corner", "at every corner", "turns")
	if !sided {
		p.reason = "Which way round am I to drive that, turning left or right?"
		return nil, false, nil
	}
	mark := p.at
	p.takeAny(",")
	p.take("and")
	if !p.anyPhrase("end as you began", "finish in the starting pose", "end where you began", "end where you started", "finish where you started", "finish as you began", "end in the starting pose", "return to where you started", "come back to where you started", "finish where you began") {
		p.at = mark
	}
	var out program
	for range corners {
		out = append(out, driveCall(side), turnSaid(turn*2*math.Pi/float64(corners)))
	}
	return out, true, nil
}

// negation reads "do not move": it forbids every skill of the task. "Do not go to the office" and "do not touch the red cube"
// forbid that place and that object.
func (p *parser) negation() (program, bool, error) {
	if mark := p.at; p.arm && p.anyPhrase("just say so", "say so", "just tell me so", "just tell me", "tell me so", "tell me", "let me know", "just let me know", "report so", "say that", "tell me that", "report it", "simply say so", "leave it", "that is all") {
		if p.boundary() {
			p.still = true
			return nil, true, nil
		}
		p.at = mark
	}
	if name, ok := attempt(p, p.ban); ok {
		p.banned = append(p.banned, name)
		return nil, true, nil
	}
	if mark := p.at; p.place != "" && p.anyPhrase("stay there", "stop there", "remain there", "end there", "wait there") {
		for p.takeAny(".", "!") {
		}
		if p.end() {
			return nil, true, nil // whoever has nothing more to do stays
		}
		p.at = mark
	}
	if p.handsOff() {
		p.banned = append(p.banned, p.world.objects...)
		return nil, true, nil
	}
	if p.anyPhrase("do not enter the keepout", "do not go into the keepout", "do not drive into the keepout", "without entering the keepout") {
		p.takeAny("zone", "area")
		return nil, true, nil // as always
	}
	if p.anyPhrase("do not move at all", "do not move", "do not drive anywhere", "do not drive", "do not go anywhere", "without driving anywhere", "without driving", "without moving anywhere", "without moving",
		"without any motion", "no motion", "no moving", "no driving", "stay where you are", "stay put", "position only", "without going anywhere", "do nothing at all", "do nothing", "do not do anything", "do not go anywhere at all", "stay", "stay here", "stay there", "stay still", "stand still", "remain where you are", "remain there", "keep still", "hold still", "freeze", "stop", "halt", "stop moving", "stop right there", "stop right now", "stop at once", "stop it", "do not do a thing", "do not budge", "hold your position", "keep your position", "stay in place", "stay at your place") {
		if !p.boundary() {
			return nil, false, nil
		}
		onlyPosition := p.words[p.at-1].text == "only"
		p.still = true
		if onlyPosition {
			return program{poseQuestion(false)}, true, nil
		}
		return nil, true, nil
	}
	return nil, false, nil
}

// handsOff reads "do not pick anything up", "without touching anything": no object is to be handled.
func (p *parser) handsOff() bool {
	if len(p.world.objects) == 0 {
		return false
	}
	mark := p.at
	if p.anyPhrase("do not", "never", "without") {
		if p.anyPhrase("pick up", "pick", "touch", "grab", "take", "carry", "bring", "lift", "move", "picking up", "picking", "touching", "grabbing", "taking", "carrying", "bringing", "lifting", "moving", "hold", "holding") &&
			p.anyPhrase("anything up", "any object up", "any objects up", "anything", "any object", "any objects", "any of the objects", "any cube or ball", "things") {
			p.anyPhrase("along", "with you", "there", "on the way", "while you are there")
			return p.boundary()
		}
	} else if p.anyPhrase("touch nothing", "pick up nothing", "take nothing", "leave everything where it is", "leave everything as it is", "leave the objects where they are", "leave the objects alone", "leave everything alone") {
		return p.boundary()
	}
	p.at = mark
	return false
}

// ban reads a place or an object that the task forbids.
func (p *parser) ban() (string, bool) {
	switch {
	case p.anyPhrase("do not go to", "do not go into", "do not drive to", "do not drive into", "do not enter", "do not visit", "never go to", "never enter", "without going to", "without visiting", "without entering"):
		return p.placeName()
	case p.anyPhrase("do not touch", "do not move", "do not take", "do not lift", "do not carry", "never pick up", "never move", "never take", "without picking up", "without taking", "do not pick up", "do not pick", "do not grab", "do not bring", "never touch", "without touching", "without moving"):
		name, ok := p.objectName()
		if ok {
			p.somewhere() // wherever to
		}
		return name, ok
	case p.take("leave"):
		name, ok := p.objectName()
		return name, ok && p.anyPhrase("alone", "where it is", "where it lies", "untouched")
	}
	return "", false
}
