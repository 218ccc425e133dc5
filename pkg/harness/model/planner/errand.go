package planner

import (
	"encoding/json"
	"fmt"
)

// found is what list_objects said of one object.
type found struct {
	Place string `json:"place"`
	Seen  bool   `json:"seen"`
	Held  bool   `json:"held"`
}

// look asks where the objects are.
func (r *runner) look() map[string]found {
	o := r.do("list_objects", nil)
	r.evidence = append(r.evidence, o.id)
	out := map[string]found{}
	if err := json.Unmarshal([]byte(o.content), &out); err != nil {
		r.giveUp("What list_objects said is no list of objects: %v.", err)
	}
	return out
}

// errands bounds how often an object that was lost on the way is fetched again.
const errands = 2

// fetch drives to where the object is, picks it up, drives on and places it. What gets lost on the way is looked for again.
func (r *runner) fetch(f fetch) {
	for try := 1; ; try++ {
		at := r.look()[f.object]
		if !at.Held && at.Place == f.place && (f.unless || try > 1) {
			r.told = append(r.told, fmt.Sprintf("The %s is at the %s already.", f.object, f.place))
			return
		}
		r.expect(f.object, f.from, at, try)
		if (at.Held || r.grasp(f.object, at.Place, try)) && r.deliver(f, try) {
			r.did = append(r.did, fmt.Sprintf("brought the %s to the %s", f.object, f.place))
			r.last = nil
			return
		}
	}
}

// pickUp drives to where the object is and picks it up.
func (r *runner) pickUp(x pickUp) {
	for try := 1; ; try++ {
		at := r.look()[x.object]
		if at.Held {
			r.told = append(r.told, fmt.Sprintf("I hold the %s already.", x.object))
			return
		}
		r.expect(x.object, x.from, at, try)
		if r.grasp(x.object, at.Place, try) {
			r.did = append(r.did, "picked up the "+x.object)
			r.last = nil
			return
		}
	}
}

// expect gives up where an object does not lie where the task says that it does. Once it was picked up, it may be anywhere.
func (r *runner) expect(object, from string, at found, try int) {
	if from == "" || try > 1 || at.Place == from && !at.Held {
		return
	}
	switch {
	case at.Held:
		r.giveUp("The %s is not at the %s: I hold it.", object, from)
	case at.Place == "":
		r.giveUp("I do not know that the %s is at the %s, or where else.", object, from)
	default:
		r.giveUp("The %s is not at the %s, it is at the %s.", object, from, at.Place)
	}
}

// grasp drives to the object and picks it up; false where it is worth looking again.
func (r *runner) grasp(object, where string, try int) bool {
	if where == "" {
		r.giveUp("I do not know where the %s is.", object)
	}
	r.do("navigate_to", map[string]any{"place": where})
	return r.attempt("pick", map[string]any{"object": object}, try, fmt.Sprintf("The %s cannot be picked up at the %s", object, where))
}

func (r *runner) deliver(f fetch, try int) bool {
	r.do("navigate_to", map[string]any{"place": f.place})
	return r.attempt("place", map[string]any{"place": f.place}, try, fmt.Sprintf("The %s cannot be placed at the %s", f.object, f.place))
}

// attempt is one call; where its conditions do not hold (it was moved, or lost), looking again may help.
func (r *runner) attempt(tool string, args map[string]any, try int, what string) bool {
	if r.at == len(r.seen) {
		r.emit(next{tool: tool, args: args})
	}
	o := r.seen[r.at]
	r.at++
	if o.ok {
		return true
	}
	again := helps(o.kind) || o.kind == "precondition_failed" || o.kind == "postcondition_failed"
	if !again || try > errands {
		r.giveUp("%s: %s", what, o.content)
	}
	return false
}
