package planner

import (
	"math"
	"slices"
)

// remember notes where the robot is, and comeBack drives there again; slot tells the start of the task from those of its parts.
type (
	remember struct{ slot int }
	comeBack struct{ slot int }
)

func (remember) isInstruction() {}
func (comeBack) isInstruction() {}

// spot is a pose in the map frame, m and rad.
type spot struct{ x, y, yaw float64 }

// goesBack reads "come back", "and back again", "return to where you started" up to the clause's end. pose: the heading is to be as it was,
// too; said: there is a verb.
func (p *parser) goesBack() (pose, said, ok bool) {
	mark := p.at
	if p.anyPhrase("go back and forth", "drive back and forth", "move back and forth", "travel back and forth", "run back and forth", "back and forth") {
		p.at = mark
		return false, false, false
	}
	verb := p.anyPhrase("come", "go", "drive", "return", "head", "get", "move", "travel", "finish", "end", "end up", "finish up", "make your way", "find your way", "returning", "coming", "going", "be")
	bare := verb && p.words[p.at-1].text == "return"
	back := p.anyPhrase("back home again", "back again", "right back", "straight back", "all the way back", "back")
	again := p.anyPhrase("again")
	if p.anyPhrase("to", "at", "in", "from", "by") || verb {
		p.takeAny("the", "your", "its", "that", "exactly")
		at := p.at
		if _, named := p.placeName(); named {
			p.at = mark
			return false, false, false // a place that is called so, such as one by the name of start
		}
		p.at = at
		switch {
		case p.anyPhrase("where you started from", "where you started", "where you began", "where you set off", "where you came from", "where you were before", "where you were", "where you are now", "where you are",
			"place where you started", "place you started from", "place where you began", "place you came from", "point where you started", "spot where you started", "spot you started from", "position where you started",
			"where you first were", "where you stood", "where you start", "as you began", "as you started"):
			back = true
		case p.anyPhrase("starting point", "start point", "starting place", "starting position", "start position", "starting location", "starting spot", "initial position", "initial place", "initial location",
			"original position", "original place", "original location", "original spot", "point of departure", "start", "beginning"):
			back = true
		case p.anyPhrase("starting pose", "start pose", "initial pose", "original pose"):
			back, pose = true, true
		case !back && !bare:
			p.at = mark
			return false, false, false
		}
	}
	p.takeAny("again")
	p.politeness()
	if !back && !bare || again && !back || !p.boundary() {
		p.at = mark
		return false, false, false
	}
	return pose, verb, true
}

// boundary: the clause is over, or is said to be done several times.
func (p *parser) boundary() bool {
	mark := p.at
	defer func() { p.at = mark }()
	if p.end() || p.separators() {
		return true
	}
	_, ok := p.times()
	return ok
}

// wayBack is what leads back after these motions: the opposite where that is exact, else the pose that was noted before them.
func (p *parser) wayBack(done program, pose bool) (program, error) {
	if !done.moves() {
		return nil, refuse("Back from where? I am not told to go anywhere before that.")
	}
	if back, ok := opposite(done, pose); ok {
		return back, nil
	}
	if !p.world.tools["get_pose"] || !p.world.poses2D {
		return nil, refuse("I cannot come back to where I started: it is no place that has a name, and I can go to no pose.")
	}
	p.notes = true
	return program{comeBack{p.depth - 1}}, nil
}

// opposite undoes straight motions and turns where one straight motion (and a turn, for the pose) does it.
func opposite(done program, pose bool) (program, bool) {
	x, y, yaw, drove := 0.0, 0.0, 0.0, false
	for _, i := range done {
		c, ok := i.(call)
		if !ok {
			return nil, false
		}
		switch c.tool {
		case "wait", "gripper":
		case "drive":
			d, _ := c.args["distance_m"].(float64)
			x, y, drove = x+d*math.Cos(yaw), y+d*math.Sin(yaw), true
		case "turn":
			a, _ := c.args["angle_rad"].(float64)
			yaw += a
		default:
			return nil, false
		}
	}
	var out program
	ahead, aside := -(x*math.Cos(yaw) + y*math.Sin(yaw)), -(y*math.Cos(yaw) - x*math.Sin(yaw))
	switch {
	case math.Abs(aside) > 1e-6 || math.Abs(x)+math.Abs(y)+math.Abs(yaw) > 1e6:
		return nil, false
	case math.Abs(ahead) > 1e-6:
		out = append(out, driveCall(ahead))
	}
	if (pose || !drove) && math.Abs(math.Remainder(yaw, 2*math.Pi)) > 1e-6 {
		back := -yaw
		if drove {
			back = math.Remainder(-yaw, 2*math.Pi)
		}
		out = append(out, turnSaid(back))
	}
	return out, len(out) > 0
}

// back reads the way back behind what was said before, and how often the two are to be done.
func (p *parser) back(parts []program, lead []word) ([]program, bool, error) {
	mark := p.at
	pose, said, ok := p.goesBack()
	if !ok {
		return parts, false, nil
	}
	if !said && (p.brings || len(lead) == 0 || !slices.Contains([]string{"and", "then", "finally"}, lead[len(lead)-1].text)) {
		return nil, false, refuse("What is to come back, and from where? Say it with a verb, such as: come back to where you started.")
	}
	p.place, p.sought = "", "" // the robot is not there any more
	way, err := p.wayBack(strung(parts), pose)
	if err != nil {
		return nil, false, err
	}
	if n, again := p.times(); again && n > 1 {
		if len(parts) != 1 {
			p.at = mark
			return nil, false, refuse("What of that is to be done %d times? Say it as: %d times: …", n, n)
		}
		round := append(append(program{}, parts[0]...), way...)
		for range n {
			parts = append(parts, round)
		}
		return parts[1:], true, nil
	}
	return append(parts, way), true, nil
}

func strung(parts []program) program {
	var out program
	for _, part := range parts {
		out = append(out, part...)
	}
	return out
}
