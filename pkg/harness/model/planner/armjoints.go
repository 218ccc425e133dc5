package planner

import "math"

// armJoints reads "set every arm joint to zero", "all joint angles 0", "move the arm joints to 0, -90, 90, 0, 0, 0 degrees".
func (p *parser) armJoints() (program, bool, error) {
	if !p.world.tools["move_arm"] || p.world.joints == 0 {
		return nil, false, nil
	}
	if p.anyPhrase("straighten") && p.theArm() {
		p.takeAny(":", ",")
		if _, ok := attempt(p, p.joints); !ok {
			return nil, false, refuse("Which angles are the joints of a straight arm to have? Say them, such as: set every arm joint to zero.")
		}
	} else if p.anyPhrase("set", "move", "bring", "put", "drive", "rotate", "turn", "get", "take"); true {
		if _, ok := attempt(p, p.joints); !ok {
			return nil, false, nil
		}
	}
	p.takeAny(":", "=")
	p.anyPhrase("to be", "to", "at", "are", "is")
	p.anyPhrase("the angles", "angles", "positions")
	p.takeAny(":", "(", "[")
	values, degrees, inRad, err := p.angles()
	if err != nil {
		return nil, false, err
	}
	if len(values) == 0 {
		return nil, false, refuse("Which angle is each of the arm's %d joints to have? Say one for all of them, or %d in their order, in degrees or radians.", p.world.joints, p.world.joints)
	}
	p.takeAny(")", "]")
	p.anyPhrase("each")
	zero := true
	for _, v := range values {
		zero = zero && v == 0
	}
	switch {
	case len(values) != 1 && len(values) != p.world.joints:
		return nil, false, refuse("The arm has %d joints, and %d angles are said: say one for all of them, or one for each.", p.world.joints, len(values))
	case !zero && !degrees && !inRad:
		return nil, false, refuse("Are the joints' angles in degrees or in radians? I do not guess.")
	}
	all := make([]float64, p.world.joints)
	for i := range all {
		v := values[min(i, len(values)-1)]
		if degrees {
			v *= math.Pi / 180
		}
		all[i] = clean(v)
	}
	return program{call{tool: "move_arm", args: map[string]any{"joints": all}, says: "moved the arm's joints to the angles that were said", absolute: true}}, true, nil
}

// joints reads "every arm joint", "all the joints of the arm", "the arm's joints".
func (p *parser) joints() (struct{}, bool) {
	all := p.anyPhrase("every one of", "each of", "all of", "every", "each", "all")
	p.takeAny("the", "your", "its")
	arm := p.anyPhrase("robot arm", "arm", "arm's", "manipulator", "manipulator's")
	if !p.anyPhrase("joint angles", "joint positions", "joint values", "joints", "joint") {
		return struct{}{}, false
	}
	one := p.words[p.at-1].text == "joint"
	if p.phrase("of") {
		if !p.theArm() {
			return struct{}{}, false
		}
		arm = true
	}
	if w, ok := p.peek(); ok && one && (w.isNum || !all) { // "joint 1": one of them
		return struct{}{}, false
	}
	return struct{}{}, all || arm || !one
}

// angles reads numbers with commas between them, and their unit: behind each, or behind the last for all.
func (p *parser) angles() (values []float64, degrees, radians bool, err error) {
	without := 0
	for len(values) <= 2*maxRepeat {
		f, ok := p.amount()
		if !ok {
			break
		}
		values = append(values, f)
		if w, more := p.peek(); more {
			if u, ok := unitOf(w.text); ok {
				if u.kind != angle {
					return nil, false, false, refuse("The arm's joints turn: their positions are angles, in degrees or radians, and not in %s.", w.text)
				}
				p.at++
				inDegrees := u.size != 1
				degrees, radians = degrees || inDegrees, radians || !inDegrees
			} else {
				without++
			}
		} else {
			without++
		}
		mark := p.at
		if p.anyPhrase(", and", ",", "and"); p.at == mark {
			break
		}
		if _, next := p.peekAmount(); !next {
			p.at = mark
			break
		}
	}
	if degrees && radians {
		return nil, false, false, refuse("Some of the joints' angles are said in degrees and others in radians: say all of them in one.")
	}
	return values, degrees, radians, nil
}

// peekAmount looks without taking. "a" and "an" are no angle.
func (p *parser) peekAmount() (float64, bool) {
	mark := p.at
	defer func() { p.at = mark }()
	if w, ok := p.peek(); ok && (w.text == "a" || w.text == "an") {
		return 0, false
	}
	return p.amount()
}
