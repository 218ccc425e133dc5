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
	if !p.anyPhrase("patrol", "do a round", "make a round", "do a tour", "make a tour", "do the round", "tour", "visit", "go round", "go around") {
		return nil, false, nil
	}
	p.takeAny(":", ",")
	p.anyPhrase("of", "through", "visiting")
	var stops []stopover
	for {
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

// square reads "drive a square with sides of half a metre, turning left at the corners, and end as you began".
func (p *parser) square() (program, bool, error) {
	if !p.anyPhrase("drive a square", "trace a square", "make a square", "drive in a square", "do a square", "go in a square", "draw a square", "drive along a square", "move in a square") {
		return nil, false, nil
	}
	p.anyPhrase("with sides of", "with a side of", "with edges of", "with a side length of", "of side length", "with side length", "with side lengths of", "of side", "of")
	p.anyPhrase("length")
	side, ok := p.quantity(length)
	if !ok || side <= 0 {
		p.reason = "How long are the square's sides? A length with a unit is needed."
		return nil, false, nil
	}
	p.anyPhrase("sides", "on a side", "per side", "a side")
	p.takeAny(",")
	p.anyPhrase("turning", "going", "always turning")
	turn, sided := p.side()
	p.anyPhrase("at the corners", "at each corner", "at every corner", "turns")
	if !sided {
		p.reason = "Which way round am I to drive the square, turning left or right?"
		return nil, false, nil
	}
	mark := p.at
	p.takeAny(",")
	p.take("and")
	if !p.anyPhrase("end as you began", "finish in the starting pose", "end where you began", "end where you started", "finish where you started", "finish as you began", "end in the starting pose", "return to where you started", "come back to where you started", "finish where you began") {
		p.at = mark
	}
	var out program
	for range 4 {
		out = append(out, driveCall(side), turnSaid(turn*math.Pi/2))
	}
	return out, true, nil
}

// negation reads "do not move": it forbids every skill of the task. "Do not go to the office" and "do not touch the red cube"
// forbid that place and that object.
func (p *parser) negation() (program, bool, error) {
	if name, ok := attempt(p, p.ban); ok {
		p.banned = append(p.banned, name)
		return nil, true, nil
	}
	if p.anyPhrase("do not enter the keepout", "do not go into the keepout", "do not drive into the keepout", "without entering the keepout") {
		p.takeAny("zone", "area")
		return nil, true, nil // as always
	}
	if p.anyPhrase("do not move at all", "do not move", "do not drive anywhere", "do not drive", "do not go anywhere", "without driving anywhere", "without driving", "without moving anywhere", "without moving",
		"without any motion", "no motion", "no moving", "no driving", "stay where you are", "stay put", "position only", "without going anywhere", "do nothing") {
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

// ban reads a place or an object that the task forbids.
func (p *parser) ban() (string, bool) {
	switch {
	case p.anyPhrase("do not go to", "do not go into", "do not drive to", "do not drive into", "do not enter", "do not visit", "never go to", "never enter", "without going to", "without visiting", "without entering"):
		return p.placeName()
	case p.anyPhrase("do not touch", "do not move", "do not take", "do not pick up", "do not pick", "do not grab", "do not bring", "never touch", "without touching", "without moving"):
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
