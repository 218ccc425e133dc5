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
	has := among(list)
	if !asks(list) {
		return nil, false, nil
	}
	if has("give") && !has("list", "overview", "inventory", "names", "places", "destinations", "level", "charge", "status", "state", "percentage", "percent", "position", "pose", "location", "coordinates",
		"heading", "orientation", "yaw", "clearance", "distance", "angles", "positions") {
		return nil, false, nil // "give me the cube" asks for a thing
	}
	p.at = to
	q, ok, err := p.classify(list, has)
	for i := len(list) - 1; i > 0 && !ok && err == nil; i-- { // "your position and your battery level": one after the other
		if list[i].text != "and" && list[i].text != "," {
			continue
		}
		first, rest := list[:i], list[i+1:]
		if !asks(rest) { // "is the cube on the table and the ball in the office?"
			continue
		}
		p.at = from + i
		if q, ok, err = p.classify(first, among(first)); ok {
			_, ok, err = p.classify(rest, among(rest))
		}
	}
	if err != nil || !ok {
		p.at = from
		return nil, false, err
	}
	p.reason = ""
	if object, ok := p.objectNamed(p.words[from:p.at]); ok && has("where") {
		p.sought, p.object = object, object
	}
	return program{q}, true, nil
}

// among tells whether one of some words is in a list.
func among(list []word) func(words ...string) bool {
	return func(words ...string) bool {
		return slices.ContainsFunc(list, func(w word) bool { return slices.Contains(words, w.text) })
	}
}

// clauseEnd is the end of the clause that begins here.
func (p *parser) clauseEnd() int {
	for i := p.at; i < len(p.words); i++ {
		switch p.words[i].text {
		case ".", ";", "?", "!", "then":
			return i
		case "and":
			// "how far is the wall and where are you": a new question begins; "x and y" stays.
			if i+1 < len(p.words) && slices.Contains([]string{"where", "what", "how", "which", "tell", "report", "go", "drive", "turn", "wait", "then", "take", "bring", "pick", "put", "place", "move", "carry", "open", "close", "fetch", "get", "grab", "visit", "return", "rotate", "spin", "drop", "deliver"}, p.words[i+1].text) {
				return i
			}
		}
	}
	return len(p.words)
}

// asks: a question begins with a question word, or asks for a report. What begins with another verb is an order, whatever stands in it.
func asks(list []word) bool {
	at := func(i int) string {
		if i < 0 || i >= len(list) {
			return ""
		}
		return list[i].text
	}
	for i, w := range list {
		switch w.text {
		case "what", "where", "which", "how", "is", "are", "am", "does", "report", "tell", "say", "give", "show", "list", "enumerate", "name", "read", "check", "measure", "anything", "something", "position":
			return true
		case "status", "pose", "battery", "location", "holding":
			return i+1 < len(list) || i == 0
		case "state":
			return at(i+1) == "your" || at(i+1) == "the" || at(i+1) == "of"
		case "charge", "power", "energy": // "charge level", and not "charge the battery"
			return slices.Contains([]string{"", "level", "left", "remaining", "status", "state"}, at(i+1))
		case "remaining":
			return slices.Contains([]string{"charge", "battery", "power", "energy"}, at(i+1))
		case "do":
			return slices.Contains([]string{"you", "we", "i", "any"}, at(i+1))
		case "find":
			return at(i+1) == "out"
		case "in", "at", "on", "by", "to", "from":
			if slices.Contains([]string{"which", "what"}, at(i+1)) {
				return true
			}
			if w.text != "to" {
				return false
			}
		case "please", "just", "me", "the", "your", "current", ",", "now", "hey", "robot", "i", "know", "want", "would", "like", "can", "could", "you", "and", "let", "us", "ur", "no", "will", "any", "question", ":", "well", "ok", "okay", "so":
		default:
			return false
		}
	}
	return false
}

// classify decides what is asked; every word must have to do with it.
func (p *parser) classify(list []word, has func(...string) bool) (question, bool, error) {
	named, place := p.placeIn(list)
	can := has("can", "could", "able")
	settle := func(q question, about topic) (question, bool, error) {
		return q, p.accounted(list, about), nil
	}
	if q, ok := p.oneObjectAsked(list, has); ok {
		return settle(q, topic{objectWords(), true, true, true})
	}
	switch {
	case has("battery", "charge", "charged", "power", "energy", "juice") && !has("off", "switch"):
		if q, ok := p.batteryThreshold(list, has); ok {
			return settle(q, topic{words: append(batteryWords(), numberWords(list)...)})
		}
		if has("above", "over", "more", "below", "under", "less", ">", "<", "full", "empty", "high", "low") && has("is", "are") && !has("how", "what") {
			p.reason = "Above or below which percentage is the battery to be?"
			return question{}, false, nil
		}
		return settle(batteryQuestion(), topic{words: batteryWords()})
	case has("joint", "joints", "arm", "arm's") && p.world.tools["get_joints"]:
		return settle(jointsQuestion(), topic{words: jointWords()})
	case place && has("far", "distance") && p.world.tools["at_place"]:
		return settle(farQuestion(named), topic{words: clearanceWords(), places: true})
	case place && has("where", "position", "location", "coordinates", "pose") && !has("you", "your", "robot", "objects", "things", "object", "thing") && p.world.tools["list_places"]:
		return settle(placeQuestion(named), topic{words: placeWords(), places: true})
	case has("places", "destinations", "locations", "rooms", "waypoints") && !has("objects", "things") || has("where") && can && has("go", "drive", "travel", "get", "navigate", "send"):
		return settle(placesQuestion(), topic{words: placeWords(), able: true})
	case has("gripper", "hand", "claw") && has("open", "closed", "shut") && has("is") && p.world.tools["gripper_is"]:
		return settle(gripperQuestion(has("open")), topic{words: []string{"gripper", "hand", "claw", "open", "closed", "shut"}})
	case !place && has("clearance", "obstacle", "obstacles", "room", "space", "free", "ahead", "front", "blocked", "nearest", "wall") && has("how", "far", "clearance", "distance", "nearest", "much", "is", "report", "measure", "tell"):
		return settle(clearanceQuestion(), topic{words: clearanceWords(), able: true})
	case place && has("empty") && has("is") && !has("gripper", "hand"):
		q, ok, err := p.objectsAsked(list, has)
		if !ok || err != nil {
			return q, ok, err
		}
		return settle(q, topic{objectWords(), true, true, true})
	case has("objects", "object", "things", "thing", "items", "gripper", "hand", "holding", "hold") || (has("on", "in", "at") && has("what", "anything", "which", "something") && !has("you", "your")):
		q, ok, err := p.objectsAsked(list, has)
		if !ok || err != nil {
			return q, ok, err
		}
		return settle(q, topic{objectWords(), true, true, true})
	case place && has("are", "is", "am") && has("you", "i", "robot") && has("at", "in", "on") && !has("where", "what", "which"):
		return settle(atPlaceQuestion(named), topic{places: true})
	case has("where", "position", "pose", "location", "coordinates", "heading", "orientation", "yaw", "whereabouts") && !has("is") ||
		has("position", "pose", "location", "coordinates", "heading", "orientation", "yaw") && has("your", "robot", "current", "the") ||
		has("facing", "looking") && has("direction", "where", "way") && has("you", "robot"):
		return settle(poseQuestion(has("degrees", "degree", "deg")), topic{words: poseWords()})
	}
	return question{}, false, nil
}

// placeIn is the place that a question names; where it names several, it names none.
func (p *parser) placeIn(list []word) (string, bool) {
	for _, pl := range p.world.places {
		if slices.ContainsFunc(pl.words, func(name []string) bool { return containsRun(list, name) }) {
			return pl.name, p.placesIn(list) == 1
		}
	}
	return "", false
}

func (p *parser) placesIn(list []word) int {
	n := 0
	for _, pl := range p.world.places {
		if slices.ContainsFunc(pl.words, func(name []string) bool { return containsRun(list, name) }) {
			n++
		}
	}
	return n
}

// numberWords are those words of a list that say a number.
func numberWords(list []word) []string {
	var out []string
	for _, w := range list {
		if _, ok := spelled(w.text); ok || w.isNum {
			out = append(out, w.text)
		}
	}
	return out
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

// stayQuestion is what to do where nothing is to be moved: it tells where the robot stays.
func stayQuestion() question {
	where := poseQuestion(false)
	return question{tool: where.tool, tell: func(content string) string { return "I stay where I am. " + where.tell(content) }}
}

// jointsQuestion tells the arm's joints in radians, its named pose and the gripper's opening in metres.
func jointsQuestion() question {
	return question{tool: "get_joints", tell: func(content string) string {
		var all struct {
			Arm     []float64
			Pose    string
			Gripper *float64 `json:"gripper_m"`
		}
		if err := json.Unmarshal([]byte(content), &all); err != nil || len(all.Arm) == 0 {
			return "The joints read " + content + "."
		}
		parts := make([]string, len(all.Arm))
		for i, q := range all.Arm {
			parts[i] = strconv.FormatFloat(q, 'f', -1, 64)
		}
		text := "The arm's joints are at " + joined(parts) + " rad"
		if all.Pose != "" {
			text += " (its pose " + all.Pose + ")"
		}
		if all.Gripper != nil {
			text += ", and the gripper is open by " + strconv.FormatFloat(*all.Gripper, 'f', -1, 64) + " m"
		}
		return text + "."
	}}
}

// farQuestion tells how far a place is in a straight line, by what the check of being there measured.
func farQuestion(name string) question {
	return question{tool: "at_place", args: map[string]any{"place": name}, tell: func(content string) string {
		var v struct{ Evidence map[string]any }
		if err := json.Unmarshal([]byte(content), &v); err == nil {
			if f, ok := v.Evidence["distance_m"].(float64); ok {
				return "The " + name + " is " + number(f) + " m away, in a straight line."
			}
		}
		return "How far the " + name + " is cannot be told."
	}}
}

// placeQuestion tells where a place is in the map.
func placeQuestion(name string) question {
	return question{tool: "list_places", tell: func(content string) string {
		var all map[string]struct{ X, Y, Yaw *float64 }
		if err := json.Unmarshal([]byte(content), &all); err != nil || all[name].X == nil || all[name].Y == nil {
			return "Where the " + name + " is cannot be told."
		}
		text := "The " + name + " is at x " + number(*all[name].X) + " m, y " + number(*all[name].Y) + " m"
		if all[name].Yaw != nil {
			text += ", yaw " + number(*all[name].Yaw) + " rad"
		}
		return text + " in the map."
	}}
}

// gripperQuestion tells whether the gripper is open, or closed.
func gripperQuestion(open bool) question {
	state := "closed"
	if open {
		state = "open"
	}
	return question{tool: "gripper_is", args: map[string]any{"open": open}, tell: func(content string) string {
		passed, err := passed(content)
		switch {
		case err != nil:
			return "Whether the gripper is " + state + " cannot be told."
		case passed:
			return "Yes, the gripper is " + state + "."
		}
		return "No, the gripper is not " + state + "."
	}}
}

// passed reads what a verify tool found.
func passed(content string) (bool, error) {
	var v struct {
		Passed *bool `json:"passed"`
	}
	if err := json.Unmarshal([]byte(content), &v); err == nil && v.Passed != nil {
		return *v.Passed, nil
	}
	is, err := strconv.ParseBool(strings.TrimSpace(content))
	if err != nil {
		return false, fmt.Errorf("the check reads %s", content)
	}
	return is, nil
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
	if name, ok := p.placeIn(list); ok {
		return question{tool: "list_objects", tell: func(content string) string {
			return tellObjects(content, func(o objectSeen) bool { return o.Place == name && !o.Held }, "At the "+name+": %s.", "Nothing that I know of is at the "+name+".")
		}}, true, nil
	}
	if !has("objects", "object", "things", "thing", "items") || p.placesIn(list) > 1 {
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
	if name, ok := p.placeIn(list); ok && has("is", "does", "has") {
		return about(func(o found, known bool) string {
			if known && (o.inView() || o.Held) {
				return yesNo(!o.Held && o.Place == name) + ". " + whereabouts(o, known)
			}
			return whereabouts(o, known)
		})
	}
	if has("see") && !has("where") {
		return about(func(o found, known bool) string {
			if o.inView() && !o.Held {
				return "Yes, I see it. " + whereabouts(o, known)
			}
			return "I do not see it now. " + whereabouts(o, known)
		})
	}
	if has("where", "location", "position", "whereabouts", "find", "place") || has("or") && p.placesIn(list) > 1 {
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
		is, err := passed(content)
		if err != nil {
			return "Whether I am at the " + name + " cannot be told."
		}
		if is {
			return "Yes, I am at the " + name + "."
		}
		return "No, I am not at the " + name + "."
	}}
}
