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
		p.reason = fmt.Sprintf("I know no arm pose %q.%s The poses that I know: %s.", w.text, meant(w.text, p.world.poses), joined(p.world.poses))
	}
	return call{}, false
}

// armWord: what is to be moved is a part of the arm.
func (p *parser) armWord() bool {
	if !p.world.tools["move_arm"] {
		return false
	}
	mark := p.at
	defer func() { p.at = mark }()
	for p.takeAny("the", "your", "its", "every", "each", "all", "first", "second", "third", "fourth", "fifth", "sixth", "last") {
	}
	return p.takeAny("arm", "arm's", "joint", "joints", "gripper", "hand", "tool", "wrist", "elbow", "shoulder", "manipulator")
}

// armReason says what of the arm can be moved.
func (p *parser) armReason() string {
	out := fmt.Sprintf("That is no motion of the arm that I know. I can move it to its named poses (%s)", joined(p.world.poses))
	if p.world.joints > 0 {
		out += fmt.Sprintf(", or all of its %d joints to angles that are said", p.world.joints)
	}
	if p.world.tools["gripper"] {
		out += ", and open and close the gripper"
	}
	return out + "."
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
