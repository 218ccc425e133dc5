package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// instruction is one thing to do, or several.
type instruction interface{ isInstruction() }

// call is one skill call.
type call struct {
	tool string
	args map[string]any
	says string // what it does, in words, for the answer
	// absolute: doing it again after success is harmless and ends in the same place.
	absolute bool
}

// question is a query or verify call whose result is told.
type question struct {
	tool string
	args map[string]any
	tell func(content string) string
}

// branch decides by an observation.
type branch struct {
	ask       question
	holds     func(content string) (bool, error)
	condition string // in words
	then, els []instruction
	// object, place and not, of a condition on where an object is.
	object, place string
	not           bool
}

func (call) isInstruction()     {}
func (question) isInstruction() {}
func (branch) isInstruction()   {}

// program is a task that was understood.
type program []instruction

// moves reports whether a program has a skill anywhere.
func (p program) moves() bool {
	for _, i := range p {
		switch x := i.(type) {
		case call, fetch, pickUp, putDown, comeBack, clear, putHeld, approach:
			return true
		case branch:
			if program(x.then).moves() || program(x.els).moves() {
				return true
			}
		case question, remember:
		}
	}
	return false
}

// reaches finds the first of these places and objects that a program goes to or handles.
func (p program) reaches(names []string) (string, bool) {
	for _, i := range p {
		var has []string
		switch x := i.(type) {
		case call:
			if name, ok := x.args["place"].(string); ok {
				has = []string{name}
			}
		case fetch:
			has = []string{x.object, x.place}
		case pickUp:
			has = []string{x.object}
		case putDown:
			has = []string{x.object, x.place}
		case approach:
			has = []string{x.object}
		case clear:
			has = append([]string{x.from, x.to}, x.objects...)
		case putHeld:
			has = []string{x.place}
		case branch:
			for _, arm := range [][]instruction{x.then, x.els} {
				if name, ok := program(arm).reaches(names); ok {
					return name, true
				}
			}
		case question, remember, comeBack:
		}
		for _, name := range has {
			if slices.Contains(names, name) {
				return name, true
			}
		}
	}
	return "", false
}

// tools lists what a program may call.
func (p program) tools() []string {
	var out []string
	for _, i := range p {
		switch x := i.(type) {
		case call:
			out = append(out, x.tool)
		case question:
			out = append(out, x.tool)
		case fetch:
			out = append(out, "list_objects", "navigate_to", "pick", "place")
		case pickUp:
			out = append(out, "list_objects", "navigate_to", "pick")
		case putDown:
			out = append(out, "navigate_to", "place")
		case approach:
			out = append(out, "list_objects", "navigate_to")
		case clear:
			out = append(out, "list_objects", "navigate_to", "pick", "place")
		case putHeld:
			out = append(out, "list_objects", "navigate_to", "place")
		case remember:
			out = append(out, "get_pose")
		case comeBack:
			out = append(out, "navigate_to")
		case branch:
			out = append(out, x.ask.tool)
			out = append(out, program(x.then).tools()...)
			out = append(out, program(x.els).tools()...)
		}
	}
	return out
}

// String is the program in one line, for tests and for people.
func (p program) String() string {
	parts := make([]string, len(p))
	for i, x := range p {
		switch x := x.(type) {
		case call:
			parts[i] = x.tool + arguments(x.args)
		case question:
			parts[i] = "?" + x.tool + arguments(x.args)
		case fetch:
			parts[i] = fmt.Sprintf("fetch[%s%s -> %s", x.object, fromWords(x.from), x.place)
			if x.unless {
				parts[i] += " unless there"
			}
			parts[i] += "]"
		case pickUp:
			parts[i] = fmt.Sprintf("pick[%s%s]", x.object, fromWords(x.from))
		case putDown:
			parts[i] = fmt.Sprintf("put[%s -> %s]", x.object, x.place)
		case approach:
			parts[i] = fmt.Sprintf("approach[%s]", x.object)
		case clear:
			parts[i] = fmt.Sprintf("clear[%s: %s -> %s]", x.from, strings.Join(x.objects, ", "), x.to)
		case putHeld:
			parts[i] = fmt.Sprintf("put[held -> %s]", x.place)
		case remember:
			parts[i] = fmt.Sprintf("note[%d]", x.slot)
		case comeBack:
			parts[i] = fmt.Sprintf("back[%d]", x.slot)
		case branch:
			parts[i] = fmt.Sprintf("if[%s]{%s}else{%s}", x.condition, program(x.then), program(x.els))
		}
	}
	return strings.Join(parts, "; ")
}

func fromWords(from string) string {
	if from == "" {
		return ""
	}
	return " from " + from
}

// arguments as sorted JSON.
func arguments(a map[string]any) string {
	if len(a) == 0 {
		return "{}"
	}
	data, err := json.Marshal(a)
	if err != nil { // plain numbers and strings
		return "{}"
	}
	return string(data)
}
