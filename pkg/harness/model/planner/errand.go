package planner

import (
	"encoding/json"
	"fmt"
	"slices"
)

// found is what list_objects said of one object.
type found struct {
	Place  string  `json:"place"`
	Seen   bool    `json:"seen"`
	Held   bool    `json:"held"`
	InView *bool   `json:"in_view"`
	AgeS   float64 `json:"age_s"`
}

// inView: it is seen now, by the robot's word or, where it does not say so, by the age of its sighting.
func (f found) inView() bool {
	if f.InView != nil {
		return *f.InView
	}
	return f.Seen && f.AgeS <= freshSight
}

// freshSight is how old a sighting may be and still tell what is there now, s.
const freshSight = 2.0

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

// errands bounds how often an object that was lost on the way is fetched again, and how often a grasp that failed is tried again.
const errands = 2

// search is one object's way, with what was learned on it.
type search struct {
	object, from string
	looked       []string // places where it was looked for in vain, in order
	here         string   // where the robot stands already, ready to pick; "": nobody knows
	lost         int      // how often it slipped away, or could not be grasped
}

// fetch drives to where the object is, picks it up, drives on and places it. What gets lost on the way is looked for again.
func (r *runner) fetch(f fetch) { r.fetchFrom(f, "") }

// fetchFrom is fetch where the robot stands at that place already ("": anywhere).
func (r *runner) fetchFrom(f fetch, here string) {
	e := &search{object: f.object, from: f.from, here: here}
	what := fmt.Sprintf("The %s cannot be placed at the %s", f.object, f.place)
	for o := (observation{}); ; {
		at, first := r.look(), o.tool == ""
		it := at[f.object]
		if !it.Held && it.Place == f.place && (it.inView() && (f.unless || !first) || f.unless && it.InView == nil) {
			r.already(f, it)
			break
		}
		if f.unless && !it.Held && it.Place == f.place && it.InView != nil && !slices.Contains(e.looked, f.place) {
			at, it = r.lookAt(e, f.place)
			if it.Place == f.place && it.inView() {
				r.already(f, it)
				break
			}
		}
		if it.Held && o.kind == "precondition_failed" { // it is not lost: something else is in the way
			r.giveUp("%s: %s", what, o.content)
		}
		r.obtain(e, at, first)
		e.from = "" // once it was picked up, it may be anywhere
		r.do("navigate_to", map[string]any{"place": f.place})
		if o = r.attempt("place", map[string]any{"place": f.place}); o.ok {
			r.did = append(r.did, fmt.Sprintf("brought the %s to the %s", f.object, f.place))
			break
		}
		r.again(e, o, what)
	}
	r.last = fetch{object: f.object, place: f.place, unless: true}
}

// lookAt drives to a place and looks whether the object is there.
func (r *runner) lookAt(e *search, place string) (at map[string]found, it found) {
	r.do("navigate_to", map[string]any{"place": place})
	at = r.look()
	e.sees(at, place)
	return at, at[e.object]
}

// sees notes a place where it was looked for in vain.
func (e *search) sees(at map[string]found, place string) bool {
	if it := at[e.object]; it.Place == place && it.inView() {
		return true
	}
	e.looked = append(e.looked, place)
	return false
}

// already tells that there is nothing to fetch, and by what that is known.
func (r *runner) already(f fetch, it found) {
	if it.Seen {
		r.told = append(r.told, fmt.Sprintf("The %s is at the %s already.", f.object, f.place))
		return
	}
	r.told = append(r.told, fmt.Sprintf("By my record the %s is at the %s already; I have not seen it.", f.object, f.place))
}

// pickUp drives to where the object is and picks it up.
func (r *runner) pickUp(x pickUp) {
	at := r.look()
	if at[x.object].Held {
		r.told = append(r.told, fmt.Sprintf("I hold the %s already.", x.object))
		return
	}
	r.obtain(&search{object: x.object, from: x.from}, at, true)
	r.did = append(r.did, "picked up the "+x.object)
	r.last = nil
}

// obtain gets the object into the gripper: from where it is seen or on record, and where it is not there, from the other
// places, one after the other. at is what was just seen.
func (r *runner) obtain(e *search, at map[string]found, first bool) {
	for {
		it, known := at[e.object]
		if !known {
			r.giveUp("Nobody here knows of a %s.", e.object)
		}
		if first {
			r.expect(e.object, e.from, it)
			first = false
		}
		if it.Held {
			return
		}
		for name, o := range at {
			if o.Held {
				r.giveUp("I hold the %s, so I cannot pick up the %s.", name, e.object)
			}
		}
		where, sure := r.whither(e, it)
		if where != e.here {
			r.do("navigate_to", map[string]any{"place": where})
		}
		e.here = ""
		if !sure { // look around first
			if at = r.look(); !e.sees(at, where) {
				continue
			}
		}
		o := r.attempt("pick", map[string]any{"object": e.object})
		if o.ok {
			return
		}
		r.again(e, o, fmt.Sprintf("The %s cannot be picked up at the %s", e.object, where))
		if o.kind == "precondition_failed" && !slices.Contains(e.looked, where) {
			e.looked = append(e.looked, where)
		}
		at = r.look()
	}
}

// whither is where to go for an object: where it is known to be, unless that was in vain, else the next place to look at.
// sure is false where nothing speaks for that place.
func (r *runner) whither(e *search, it found) (place string, sure bool) {
	switch {
	case it.Place != "" && (it.inView() || !slices.Contains(e.looked, it.Place)):
		if slices.Contains(r.world.banned, it.Place) {
			r.giveUp("The %s is at the %s, where I am not to go.", e.object, it.Place)
		}
		return it.Place, true
	case it.inView():
		r.giveUp("The %s lies where I cannot pick it up: at none of the places that I know.", e.object)
	case e.from != "":
		r.giveUp("I do not see the %s at the %s.", e.object, e.from)
	}
	open := r.world.open()
	for _, name := range open {
		if !slices.Contains(e.looked, name) {
			return name, false
		}
	}
	r.giveUp("I do not know where the %s is: I see it at none of the places %s.", e.object, joined(open))
	return "", false
}

// again decides whether a failed pick or place is worth another look; it gives up where not.
func (r *runner) again(e *search, o observation, what string) {
	if !helps(o.kind) && o.kind != canceled && o.kind != "precondition_failed" && o.kind != "postcondition_failed" {
		r.giveUp("%s: %s", what, o.content)
	}
	if e.lost++; e.lost > errands {
		r.giveUp("%s: %s", what, o.content)
	}
}

// expect gives up where an object does not lie where the task says that it does.
func (r *runner) expect(object, from string, at found) {
	if from == "" || at.Place == from && !at.Held {
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

// attempt is one call whose failure is not yet the end.
func (r *runner) attempt(tool string, args map[string]any) observation {
	if r.at == len(r.seen) {
		r.emit(next{tool: tool, args: args})
	}
	o := r.seen[r.at]
	r.at++
	return o
}
