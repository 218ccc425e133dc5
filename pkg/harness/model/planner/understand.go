package planner

import (
	"fmt"

	"agent_node/pkg/harness/model"
)

// Understand says what a task leaves behind, as far as its sentence is understood completely: criteria of where the robot and the objects
// are at its end, and the tools of motions that no criterion shows (half a metre, an open gripper). Nothing of it depends on a model, or
// on what one did. Where something is not understood, or the world decides what is to be done, there is nothing.
func Understand(task string, tools []model.Tool) (criteria, moves []string) {
	if len(task) > maxTask {
		return nil, nil
	}
	w := know(tools)
	prog, err := parse(task, w)
	if err != nil {
		return nil, nil
	}
	c := &compiler{world: w, objects: map[string]string{}}
	for _, i := range prog {
		switch x := i.(type) {
		case call:
			if c.moved(x) {
				moves = append(moves, x.tool)
			}
		case fetch:
			if x.unless {
				return nil, nil
			}
			c.leaves(x.object, x.place)
		case putDown:
			c.leaves(x.object, x.place)
		case pickUp:
			c.place, c.vague, c.held = "", true, x.object
			delete(c.objects, x.object)
		case branch, clear, putHeld, approach:
			return nil, nil
		case comeBack:
			c.place, c.vague, moves = "", true, append(moves, "navigate_to")
		case question, remember:
		}
	}
	return c.possible(c.ends()), moves
}

// moved takes a call, and says whether it is a motion that no criterion shows.
func (c *compiler) moved(x call) bool {
	switch x.tool {
	case "wait":
		return false
	case "navigate_to":
		name, named := x.args["place"].(string)
		c.place, c.vague = name, !named
		return !named
	case "drive", "turn":
		c.place, c.vague = "", true
	case "gripper":
		c.held = ""
	}
	return true
}

// leaves an object at a place, where the robot is then, too.
func (c *compiler) leaves(object, place string) {
	c.place, c.vague, c.held = place, false, ""
	if _, again := c.objects[object]; !again {
		c.order = append(c.order, object)
	}
	c.objects[object] = place
}

// ends is what can be seen where the robot is at the end.
func (c *compiler) ends() []string {
	var out []string
	if !c.vague && c.place != "" {
		out = append(out, "at_place("+c.place+")")
		for _, o := range c.order {
			if c.objects[o] == c.place {
				out = append(out, fmt.Sprintf("object_at(%s, %s)", o, c.place))
			}
		}
	}
	if c.held != "" {
		out = append(out, "holding("+c.held+")")
	}
	return out
}
