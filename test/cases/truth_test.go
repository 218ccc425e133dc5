//go:build !race

package cases

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"agent_node/pkg/ros"
	"agent_node/sim/world"
)

// holds judges one word of a final truth; "" where it holds.
func (h *house) holds(word string, value json.RawMessage, all map[string]json.RawMessage, before, after situation, r *ros.Message) string {
	var text string
	var list []string
	var near struct {
		Approx, Tol, Modulo float64
		TolM                float64 `json:"tol_m"`
		TolRad              float64 `json:"tol_rad"`
	}
	for _, into := range []any{&text, &list, &near} {
		if json.Unmarshal(value, into) == nil {
			break // the first form that fits
		}
	}
	say := func(ok bool, format string, args ...any) string {
		if ok {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	along := (after.pose.X-before.pose.X)*math.Cos(before.pose.Yaw) + (after.pose.Y-before.pose.Y)*math.Sin(before.pose.Yaw)
	switch word {
	case "robot_at":
		return say(at(after.pose, text, 0.25), "the robot is at %+v", after.pose)
	case "robot_unmoved":
		return say(before.still(after), "it moved to %+v", after.pose)
	case "moved_m":
		return say(math.Abs(along-near.Approx) <= near.Tol, "it moved %.3f m", along)
	case "yaw_changed_rad":
		turned := wrap(after.pose.Yaw - before.pose.Yaw - near.Approx)
		return say(math.Abs(turned) <= near.Tol, "it is %.3f rad off", turned)
	case "path_length_m":
		return say(math.Abs(after.driven-before.driven-near.Approx) <= near.Tol, "it drove %.2f m", after.driven-before.driven)
	case "returned_to_start":
		d, a := math.Hypot(after.pose.X-before.pose.X, after.pose.Y-before.pose.Y), math.Abs(wrap(after.pose.Yaw-before.pose.Yaw))
		return say(d <= near.TolM && a <= near.TolRad, "it is %.3f m and %.3f rad from its start", d, a)
	case "visited_in_order":
		return h.visited(list)
	case "gripper":
		closed := after.truth.Width < 0.01
		return say(closed == (text == "closed"), "its opening is %.3f m", after.truth.Width)
	case "holding":
		return say(after.truth.Held == text, "it holds %q", after.truth.Held)
	case "object_at":
		return say(after.placeOf(list[0]) == list[1], "%s is at %q: %+v", list[0], after.placeOf(list[0]), after.objects[list[0]])
	case "object_unmoved":
		a, b := before.objects[text], after.objects[text]
		return say(math.Hypot(a.X-b.X, a.Y-b.Y) < 0.02, "it moved to %+v", b)
	case "none_at":
		for name := range after.objects {
			if after.placeOf(name) == text {
				return name + " is there"
			}
		}
	case "all_start_at":
		for name := range before.objects {
			if before.placeOf(name) == list[0] && after.placeOf(name) != list[1] {
				return fmt.Sprintf("%s is at %q", name, after.placeOf(name))
			}
		}
	case "answer_contains":
		for _, x := range list {
			if !strings.Contains(r.Str("answer"), x) {
				return fmt.Sprintf("%q lacks %q", r.Str("answer"), x)
			}
		}
	case "answer_fact":
		return answers(text, r.Str("answer"), after)
	case "branch":
		var b struct {
			If         string
			Then, Else []map[string]json.RawMessage
		}
		if err := json.Unmarshal(value, &b); err != nil {
			return err.Error()
		}
		arm := b.Else
		if before.fact(b.If) {
			arm = b.Then
		}
		for _, f := range arm {
			for w, v := range f {
				if why := h.holds(w, v, f, before, after, r); why != "" {
					return w + ": " + why
				}
			}
		}
	case "joints_near":
		for i, q := range after.truth.Arm {
			if math.Abs(q) > 0.03 {
				return fmt.Sprintf("joint %d is at %.3f rad", i+1, q)
			}
		}
	case "tol_rad", "params_unchanged":
	case "never_in_keep_out":
		for _, p := range h.path {
			if world.Default().ZoneDistance(p.Pose.X, p.Pose.Y) == 0 {
				return "it was in the zone"
			}
		}
	default:
		return "no such word"
	}
	_ = all
	return ""
}

func at(p world.Pose, place string, tolerance float64) bool {
	for _, x := range world.Default().Places {
		if x.Name == place {
			return math.Hypot(p.X-x.Pose.X, p.Y-x.Pose.Y) <= tolerance
		}
	}
	return false
}

// visited: the path came to each place in its turn.
func (h *house) visited(places []string) string {
	n := 0
	for _, p := range h.path {
		if n < len(places) && at(p.Pose, places[n], 0.25) {
			n++
		}
	}
	if n < len(places) {
		return "it never came to " + places[n] + " in its turn"
	}
	return ""
}

var numberInText = regexp.MustCompile(`-?\d+(\.\d+)?`)

// answers: the answer agrees with the truth.
func answers(fact, answer string, s situation) string {
	var numbers []float64
	for _, x := range numberInText.FindAllString(answer, -1) {
		f, err := strconv.ParseFloat(x, 64)
		if err == nil {
			numbers = append(numbers, f)
		}
	}
	near := func(want, tolerance float64) bool {
		return slices.ContainsFunc(numbers, func(f float64) bool { return math.Abs(f-want) <= tolerance })
	}
	what, place, _ := strings.Cut(fact, ":")
	switch {
	case what == "battery_percent" && !near(s.charge, 1):
		return fmt.Sprintf("%q, the charge is %.1f", answer, s.charge)
	case what == "pose" && !(near(s.pose.X, 0.1) && near(s.pose.Y, 0.1)):
		return fmt.Sprintf("%q, the pose is %+v", answer, s.pose)
	case what == "objects_at":
		for name := range s.objects {
			if strings.Contains(answer, name) != (s.placeOf(name) == place) {
				return fmt.Sprintf("%q, %s is at %q", answer, name, s.placeOf(name))
			}
		}
	case what == "holding" && s.truth.Held == "" && !strings.Contains(answer, "nothing"):
		return fmt.Sprintf("%q, nothing is held", answer)
	}
	return ""
}
