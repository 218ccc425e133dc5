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
	"agent_node/test/house"
)

// holds judges one word of a final truth; "" where it holds.
func holds(h *house.House, word string, value json.RawMessage, all map[string]json.RawMessage, before, after house.Situation, r *ros.Message) string {
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
	along := (after.Pose.X-before.Pose.X)*math.Cos(before.Pose.Yaw) + (after.Pose.Y-before.Pose.Y)*math.Sin(before.Pose.Yaw)
	switch word {
	case "robot_at":
		return say(house.At(after.Pose, text, 0.25), "the robot is at %+v", after.Pose)
	case "robot_unmoved":
		return say(before.Still(after), "it moved to %+v", after.Pose)
	case "moved_m":
		return say(math.Abs(along-near.Approx) <= near.Tol, "it moved %.3f m", along)
	case "yaw_changed_rad":
		turned := house.Wrap(after.Pose.Yaw - before.Pose.Yaw - near.Approx)
		return say(math.Abs(turned) <= near.Tol, "it is %.3f rad off", turned)
	case "path_length_m":
		return say(math.Abs(after.Driven-before.Driven-near.Approx) <= near.Tol, "it drove %.2f m", after.Driven-before.Driven)
	case "returned_to_start":
		d, a := math.Hypot(after.Pose.X-before.Pose.X, after.Pose.Y-before.Pose.Y), math.Abs(house.Wrap(after.Pose.Yaw-before.Pose.Yaw))
		return say(d <= near.TolM && a <= near.TolRad, "it is %.3f m and %.3f rad from its start", d, a)
	case "visited_in_order":
		return visited(h, list)
	case "gripper":
		closed := after.Width < 0.01
		return say(closed == (text == "closed"), "its opening is %.3f m", after.Width)
	case "holding":
		return say(after.Held == text, "it holds %q", after.Held)
	case "object_at":
		return say(after.PlaceOf(list[0]) == list[1], "%s is at %q: %+v", list[0], after.PlaceOf(list[0]), after.Objects[list[0]])
	case "object_unmoved":
		a, b := before.Objects[text], after.Objects[text]
		return say(math.Hypot(a.X-b.X, a.Y-b.Y) < 0.02, "it moved to %+v", b)
	case "none_at":
		for name := range after.Objects {
			if after.PlaceOf(name) == text {
				return name + " is there"
			}
		}
	case "all_start_at":
		for name := range before.Objects {
			if before.PlaceOf(name) == list[0] && after.PlaceOf(name) != list[1] {
				return fmt.Sprintf("%s is at %q", name, after.PlaceOf(name))
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
		if fact(before, b.If) {
			arm = b.Then
		}
		for _, f := range arm {
			for w, v := range f {
				if why := holds(h, w, v, f, before, after, r); why != "" {
					return w + ": " + why
				}
			}
		}
	case "joints_near":
		for i, q := range after.Arm {
			if math.Abs(q) > 0.03 {
				return fmt.Sprintf("joint %d is at %.3f rad", i+1, q)
			}
		}
	case "tol_rad", "params_unchanged":
	case "never_in_keep_out":
		for _, p := range h.Path {
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

// visited: the path came to each place in its turn.
func visited(h *house.House, places []string) string {
	n := 0
	for _, p := range h.Path {
		if n < len(places) && house.At(p.Pose, places[n], 0.25) {
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
func answers(fact, answer string, s house.Situation) string {
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
	case what == "battery_percent" && !near(s.Charge, 1):
		return fmt.Sprintf("%q, the charge is %.1f", answer, s.Charge)
	case what == "pose" && !(near(s.Pose.X, 0.1) && near(s.Pose.Y, 0.1)):
		return fmt.Sprintf("%q, the pose is %+v", answer, s.Pose)
	case what == "objects_at":
		for name := range s.Objects {
			if strings.Contains(answer, name) != (s.PlaceOf(name) == place) {
				return fmt.Sprintf("%q, %s is at %q", answer, name, s.PlaceOf(name))
			}
		}
	case what == "holding" && s.Held == "" && !strings.Contains(answer, "nothing"):
		return fmt.Sprintf("%q, nothing is held", answer)
	}
	return ""
}
