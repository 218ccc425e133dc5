package planner

import (
	"fmt"
	"slices"
	"strings"
)

// armPose reads "fold the arm", "move the arm to carry", "arm into its carry pose", "all joints to zero".
func (p *parser) armPose() (program, bool, error) {
	if !p.world.tools["move_arm"] {
		return nil, false, nil
	}
	if c, ok := attempt(p, p.fold); ok {
		if c.tool == "" {
			return nil, false, refuse("I know no pose in which the arm is folded; the poses that I know: %s.", joined(p.world.poses))
		}
		return program{c}, true, nil
	}
	if c, ok := attempt(p, p.named); ok {
		return program{c}, true, nil
	}
	return nil, false, nil
}

// theArm reads "the arm".
func (p *parser) theArm() bool {
	p.takeAny("the", "your", "its")
	return p.anyPhrase("robot arm", "arm", "manipulator")
}

// fold reads "fold the arm", "tuck your arm in".
func (p *parser) fold() (call, bool) {
	if !p.anyPhrase("fold", "fold in", "fold up", "tuck", "tuck in", "tuck away", "stow", "stow away", "retract", "put away", "pull in") || !p.theArm() {
		return call{}, false
	}
	p.anyPhrase("in", "up", "away", "together", "for driving", "for carrying")
	if name, ok := p.world.folded(); ok {
		return poseCall(name), true
	}
	return call{}, true
}

// named reads a pose of the profile by its name.
func (p *parser) named() (call, bool) {
	p.anyPhrase("move", "bring", "put", "set", "take", "get", "drive", "return")
	if !p.theArm() {
		return call{}, false
	}
	p.anyPhrase("back", "over")
	if !p.anyPhrase("to", "into", "in", ":") {
		return call{}, false
	}
	p.takeAny("the", "its", "a")
	p.anyPhrase("pose", "position")
	for _, name := range p.world.poses {
		if p.take(strings.Fields(strings.ToLower(name))...) {
			p.anyPhrase("pose", "position", "configuration")
			return poseCall(name), true
		}
	}
	if w, ok := p.peek(); ok && !w.isNum {
		p.reason = fmt.Sprintf("I know no arm pose %q. The poses that I know: %s.", w.text, joined(p.world.poses))
	}
	return call{}, false
}

// folded is the pose in which the arm is folded, by the names that such poses have.
func (w *world) folded() (string, bool) {
	for _, name := range []string{"carry", "folded", "fold", "stow", "stowed", "home"} {
		if w.tools["move_arm"] && slices.Contains(w.poses, name) {
			return name, true
		}
	}
	return "", false
}

func poseCall(name string) call {
	return call{tool: "move_arm", args: map[string]any{"named": name}, says: "moved the arm to " + name, absolute: true}
}
