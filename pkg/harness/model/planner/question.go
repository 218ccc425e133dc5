package planner

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// questions reads one question or report; its words are matched loosely, since it moves nothing. A clause in which
// something moves is no question.
func (p *parser) questions() (program, bool, error) {
	from := p.at
	to := p.clauseEnd()
	list := p.words[from:to]
	has := func(words ...string) bool {
		return slices.ContainsFunc(list, func(w word) bool { return slices.Contains(words, w.text) })
	}
	if !asks(list) || has("go", "drive", "move", "turn", "rotate", "navigate", "visit", "wait", "return", "head", "bring", "take", "put", "pick", "place", "carry", "throw", "if", "unless", "when", "until", "set", "switch", "change") && !has("can", "far", "know") && !containsRun(list, []string{"you", "could"}) {
		return nil, false, nil
	}
	p.at = to
	q, ok, err := p.classify(list, has)
	if err != nil || !ok {
		p.at = from
		return nil, false, err
	}
	return program{q}, true, nil
}

// clauseEnd is the end of the clause that begins here.
func (p *parser) clauseEnd() int {
	for i := p.at; i < len(p.words); i++ {
		switch p.words[i].text {
		case ".", ";", "?", "!", "then":
			return i
		case "and":
			// "how far is the wall and where are you": a new question begins; "x and y" stays.
			if i+1 < len(p.words) && slices.Contains([]string{"where", "what", "how", "which", "tell", "report", "go", "drive", "turn", "wait", "then"}, p.words[i+1].text) {
				return i
			}
		}
	}
	return len(p.words)
}

// asks: a question begins with a question word or asks for a report.
func asks(list []word) bool {
	if len(list) == 0 {
		return false
	}
	for i, w := range list {
		switch w.text {
		case "what", "where", "which", "how", "is", "are", "do", "report", "tell", "say", "state", "give", "show", "list", "enumerate", "name", "read", "check", "measure", "status", "position", "pose", "battery", "location", "anything", "holding":
			return true
		case "please", "just", "me", "the", "your", "current", ",", "now", "hey", "robot", "i", "to", "know", "want", "would", "like", "can", "could", "you":
		default:
			return i < 3 && slices.ContainsFunc(list, func(w word) bool { return w.text == "battery" || w.text == "where" || w.text == "what" })
		}
	}
	return false
}

// classify decides what is asked.
func (p *parser) classify(list []word, has func(...string) bool) (question, bool, error) {
	if q, ok := p.oneObjectAsked(list, has); ok {
		return q, true, nil
	}
	switch {
	case has("battery", "charge", "charged", "power", "energy", "juice") && !has("off", "switch"):
		if q, ok := p.batteryThreshold(list, has); ok {
			return q, true, nil
		}
		return batteryQuestion(), true, nil
	case has("places", "destinations", "locations", "rooms", "waypoints") || has("where") && has("can", "could") && has("go", "drive"):
		return placesQuestion(), true, nil
	case has("clearance", "obstacle", "obstacles", "room", "space", "free", "ahead", "blocked", "nearest", "wall") && has("how", "far", "clearance", "distance", "nearest", "much", "is", "report", "measure", "tell") && !has("kitchen", "office"):
		return clearanceQuestion(), true, nil
	case has("objects", "object", "things", "thing", "gripper", "hand", "holding") || (has("on", "in", "at") && has("what", "anything", "which") && !has("you", "your")):
		return p.objectsAsked(list, has)
	case has("are", "you") && has("at", "in") && !has("where", "what", "which"):
		for _, pl := range p.world.places {
			for _, name := range pl.words {
				if containsRun(list, name) {
					return atPlaceQuestion(pl.name), true, nil
				}
			}
		}
		return question{}, false, nil
	case has("where", "position", "pose", "location", "coordinates", "heading", "orientation", "yaw", "whereabouts") && !has("is") ||
		has("position", "pose", "location", "coordinates", "heading", "orientation", "yaw") && has("your", "robot", "current", "the"):
		for _, o := range []string{"cube", "ball", "object", "box", "person", "cup"} {
			if has(o) {
				return question{}, false, nil
			}
		}
		return poseQuestion(has("degrees", "degree", "deg")), true, nil
	}
	return question{}, false, nil
}

func containsRun(list []word, name []string) bool {
	for i := 0; i+len(name) <= len(list); i++ {
		if slices.EqualFunc(list[i:i+len(name)], name, func(w word, n string) bool { return w.text == n }) {
			return true
		}
	}
	return false
}

// batteryThreshold reads "is the battery above 50 percent?".
func (p *parser) batteryThreshold(list []word, has func(...string) bool) (question, bool) {
	above, below := has("above", "over", "more", ">"), has("below", "under", "less", "<")
	if above == below {
		return question{}, false
	}
	for i, w := range list {
		if !w.isNum {
			f, ok := spelled(w.text)
			if !ok || w.text == "a" {
				continue
			}
			w.number = f
		}
		if i+1 < len(list) {
			if u, ok := unitOf(list[i+1].text); ok && u.kind == percent {
				limit := w.number
				return question{tool: "get_battery", tell: func(content string) string {
					got, err := field(content, "percent")
					if err != nil {
						return "The battery's charge cannot be told."
					}
					yes := got > limit == above && got != limit
					return fmt.Sprintf("%s, the battery is at %s percent.", yesNo(yes), number(got))
				}}, true
			}
		}
	}
	return question{}, false
}

func yesNo(b bool) string {
	if b {
		return "Yes"
	}
	return "No"
}

// field of a JSON observation, a number.
func field(content, name string) (float64, error) {
	var m map[string]any
	if err := json.Unmarshal([]byte(content), &m); err != nil {
		return 0, fmt.Errorf("the observation is no object: %w", err)
	}
	f, ok := m[name].(float64)
	if !ok {
		return 0, fmt.Errorf("the observation has no number %s: it says %v", name, m[name])
	}
	return f, nil
}

func batteryQuestion() question {
	return question{tool: "get_battery", tell: func(content string) string {
		f, err := field(content, "percent")
		if err != nil {
			return "The battery's charge is not measured."
		}
		return "The battery is at " + number(f) + " percent."
	}}
}

// poseQuestion tells the heading in radians, or in degrees where it is asked for so and measured so.
func poseQuestion(degrees bool) question {
	return question{tool: "get_pose", tell: func(content string) string {
		x, errX := field(content, "x")
		y, errY := field(content, "y")
		yaw, errYaw := field(content, "yaw")
		if errX != nil || errY != nil || errYaw != nil {
			return "The pose reads " + content + "."
		}
		heading := number(yaw) + " rad"
		if deg, err := field(content, "yaw_deg"); degrees && err == nil {
			heading = number(deg) + " degrees"
		}
		return fmt.Sprintf("I am at x %s m, y %s m, yaw %s in the map.", number(x), number(y), heading)
	}}
}

func clearanceQuestion() question {
	return question{tool: "get_clearance", tell: func(content string) string {
		near, errNear := field(content, "nearest_m")
		ahead, errAhead := field(content, "ahead_m")
		if errNear != nil || errAhead != nil {
			return "The clearance reads " + content + "."
		}
		return fmt.Sprintf("The nearest obstacle is %s m away; straight ahead there are %s m.", number(near), number(ahead))
	}}
}

func placesQuestion() question {
	return question{tool: "list_places", tell: func(content string) string {
		if names, ok := namesIn(content); ok {
			return "The places that I know: " + strings.Join(names, ", ") + "."
		}
		return "The places read " + content + "."
	}}
}

// objectsAsked: all objects, those at a place, or what is in the gripper.
func (p *parser) objectsAsked(list []word, has func(...string) bool) (question, bool, error) {
	if has("gripper", "hand", "holding", "hold") {
		return question{tool: "list_objects", tell: func(content string) string {
			return tellObjects(content, func(o objectSeen) bool { return o.Held }, "I hold the %s.", "I hold nothing.")
		}}, true, nil
	}
	for _, pl := range p.world.places {
		for _, name := range pl.words {
			if containsRun(list, name) {
				return question{tool: "list_objects", tell: func(content string) string {
					return tellObjects(content, func(o objectSeen) bool { return o.Place == pl.name && !o.Held }, "At the "+pl.name+": %s.", "Nothing that I know of is at the "+pl.name+".")
				}}, true, nil
			}
		}
	}
	if !has("objects", "object", "things", "thing") {
		return question{}, false, nil
	}
	return question{tool: "list_objects", tell: func(content string) string {
		return tellObjects(content, func(objectSeen) bool { return true }, "The objects that I know: %s.", "I know no objects.")
	}}, true, nil
}

// oneObjectAsked reads "where is the red cube?", "is the red cube on the table?" and "do you hold the red cube?".
func (p *parser) oneObjectAsked(list []word, has func(...string) bool) (question, bool) {
	object, ok := p.objectNamed(list)
	if !ok {
		return question{}, false
	}
	about := func(tell func(o found, known bool) string) (question, bool) {
		return question{tool: "list_objects", tell: func(content string) string {
			var all map[string]found
			if err := json.Unmarshal([]byte(content), &all); err != nil {
				return "The objects read " + content + "."
			}
			o, known := all[object]
			return tell(o, known && (o.Held || o.Seen || o.Place != ""))
		}}, true
	}
	whereabouts := func(o found, known bool) string {
		switch {
		case !known:
			return "I do not know where the " + object + " is."
		case o.Held:
			return "I hold the " + object + "."
		case !o.Seen:
			return "I have not seen the " + object + "; by my record it is at the " + o.Place + "."
		case o.Place == "":
			return "The " + object + " lies at none of the places that I know."
		case !o.inView():
			return fmt.Sprintf("The %s was at the %s when I saw it last, %s s ago.", object, o.Place, number(math.Round(o.AgeS)))
		}
		return "The " + object + " is at the " + o.Place + "."
	}
	if has("hold", "holding", "held", "gripper", "hand", "carry", "carrying", "carried") {
		return about(func(o found, known bool) string {
			if o.Held {
				return "Yes, I hold the " + object + "."
			}
			return "No, I do not hold it. " + whereabouts(o, known)
		})
	}
	for _, pl := range p.world.places {
		for _, name := range pl.words {
			if containsRun(list, name) && has("is", "does", "has") {
				return about(func(o found, known bool) string {
					if known && (o.inView() || o.Held) {
						return yesNo(!o.Held && o.Place == pl.name) + ". " + whereabouts(o, known)
					}
					return whereabouts(o, known)
				})
			}
		}
	}
	if has("where", "location", "position", "whereabouts", "find", "place") {
		return about(whereabouts)
	}
	return question{}, false
}

// objectNamed finds the only object that a question names, by its name or by a noun that only one has.
func (p *parser) objectNamed(list []word) (string, bool) {
	var full, short []string
	for _, name := range p.world.objects {
		f := strings.Fields(strings.ToLower(name))
		if containsRun(list, f) {
			full = append(full, name)
		}
		if containsRun(list, []string{"the", f[len(f)-1]}) {
			short = append(short, name)
		}
	}
	switch {
	case len(full) == 1 && len(short) == 0:
		return full[0], true
	case len(full) == 0 && len(short) == 1:
		return short[0], true
	}
	return "", false
}

// objectSeen is an object as list_objects tells it.
type objectSeen struct {
	Place string `json:"place"`
	Held  bool   `json:"held"`
}

// tellObjects names those that fit, with their places.
func tellObjects(content string, fits func(objectSeen) bool, some, none string) string {
	var all map[string]objectSeen
	if err := json.Unmarshal([]byte(content), &all); err != nil {
		return "The objects read " + content + "."
	}
	var names []string
	for name, o := range all {
		if !fits(o) {
			continue
		}
		if !strings.Contains(some, "At the") && o.Place != "" && !o.Held {
			name += " (" + o.Place + ")"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return none
	}
	slices.Sort(names)
	return fmt.Sprintf(some, joined(names))
}

// namesIn lists the keys of an object, or the names of a list.
func namesIn(content string) ([]string, bool) {
	var m map[string]any
	if json.Unmarshal([]byte(content), &m) == nil && len(m) > 0 {
		names := make([]string, 0, len(m))
		for k := range m {
			names = append(names, k)
		}
		slices.Sort(names)
		return names, true
	}
	return nil, false
}

func atPlaceQuestion(name string) question {
	return question{tool: "at_place", args: map[string]any{"place": name}, tell: func(content string) string {
		var v struct {
			Passed *bool `json:"passed"`
		}
		if err := json.Unmarshal([]byte(content), &v); err != nil || v.Passed == nil {
			passed, err := strconv.ParseBool(strings.TrimSpace(content))
			if err != nil {
				return "Whether I am at the " + name + " cannot be told."
			}
			v.Passed = &passed
		}
		if *v.Passed {
			return "Yes, I am at the " + name + "."
		}
		return "No, I am not at the " + name + "."
	}}
}
