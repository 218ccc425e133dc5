package planner

import (
	"encoding/json"
	"slices"
	"strings"

	"agent_node/pkg/harness/model"
)

// world is what the request's tools say the robot can do.
type world struct {
	tools   map[string]bool
	places  []place
	objects []string
	poses   []string // of the arm, by name
	joints  int      // of the arm; 0: they cannot be set
	poses2D bool     // navigate_to goes to poses, too
	banned  []string // places where the task forbids to go
}

// place is a known place with the words that name it.
type place struct {
	name  string
	words [][]string
}

// know reads the tools' schemas: navigate_to's enum of places, pick's of objects, move_arm's of named poses.
func know(tools []model.Tool) *world {
	w := &world{tools: map[string]bool{}}
	for _, t := range tools {
		w.tools[t.Name] = true
		var s struct {
			Properties map[string]struct {
				Enum     []string `json:"enum"`
				MinItems int      `json:"minItems"`
				MaxItems int      `json:"maxItems"`
			} `json:"properties"`
		}
		if json.Unmarshal(t.Parameters, &s) != nil {
			continue
		}
		for _, name := range s.Properties["place"].Enum {
			if !slices.ContainsFunc(w.places, func(p place) bool { return p.name == name }) {
				w.places = append(w.places, place{name, namesOf(name)})
			}
		}
		if t.Name == "navigate_to" {
			_, x := s.Properties["x"]
			_, y := s.Properties["y"]
			_, yaw := s.Properties["yaw"]
			w.poses2D = x && y && yaw
		}
		if t.Name == "move_arm" {
			w.poses = s.Properties["named"].Enum
			if q := s.Properties["joints"]; q.MinItems == q.MaxItems {
				w.joints = q.MinItems
			}
		}
		for _, name := range s.Properties["object"].Enum {
			if !slices.Contains(w.objects, name) {
				w.objects = append(w.objects, name)
			}
		}
	}
	// Longer names first, so that "kitchen table" is not read as "kitchen".
	slices.SortStableFunc(w.places, func(a, b place) int { return len(b.words[0]) - len(a.words[0]) })
	return w
}

// namesOf a place: its own, and for a dock what people call one.
func namesOf(name string) [][]string {
	own := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == '_' || r == '-' })
	out := [][]string{own}
	if name == "dock" {
		out = append(out, []string{"docking", "station"}, []string{"charging", "station"}, []string{"charging", "dock"}, []string{"charger"})
	}
	return out
}

// open are the places where the task lets the robot go, sorted.
func (w *world) open() []string {
	return slices.DeleteFunc(w.placeNames(), func(name string) bool { return slices.Contains(w.banned, name) })
}

func (w *world) placeNames() []string {
	out := make([]string, len(w.places))
	for i, p := range w.places {
		out[i] = p.name
	}
	slices.Sort(out)
	return out
}
