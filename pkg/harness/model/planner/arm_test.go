package planner

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestJoints: angles are taken with a unit, one for all or one for each, and nothing is guessed.
func TestJoints(t *testing.T) {
	const zero = `move_arm{"joints":[0,0,0,0,0,0]}`
	for task, want := range map[string]string{
		"set all joints to zero":                                           zero,
		"please set every joint of the arm to 0":                           zero,
		"could you move each arm joint to zero degrees?":                   zero,
		"set joint angles to 0":                                            zero,
		"move the arm's joints to 0, 0, 0, 0, 0 and 0":                     zero,
		"open the gripper and then set all the joints to zero":             `gripper{"open":true}; ` + zero,
		"fold the arm, then go to the kitchen":                             `move_arm{"named":"carry"}; navigate_to{"place":"kitchen"}`,
		"set every arm joint to 90 degrees":                                `move_arm{"joints":[1.570796327,1.570796327,1.570796327,1.570796327,1.570796327,1.570796327]}`,
		"arm joints: 0, -1.85, 2.7, -2.42, -1.57, 0 rad, then wait 2 s":    `move_arm{"joints":[0,-1.85,2.7,-2.42,-1.57,0]}; wait{"seconds":2}`,
		"put the arm joints at 0 rad, 0.5 rad, 1 rad, 0 rad, 0 rad, 0 rad": `move_arm{"joints":[0,0.5,1,0,0,0]}`,
	} {
		p, err := parse(task, know(armed()))
		if err != nil || p.String() != want {
			t.Errorf("%q is %s, %v; want %s", task, p, err, want)
		}
	}
	for task, says := range map[string]string{
		"set all joints to 1":                                 "in degrees or in radians",
		"set the arm joints to 0, 1, 0, 0, 0, 0":              "in degrees or in radians",
		"set the arm joints to 0, 1, 0 rad":                   "The arm has 6 joints, and 3 angles are said",
		"set all joints to 5 cm":                              "are angles",
		"set the arm joints to 0 rad, 90 degrees, 0, 0, 0, 0": "say all of them in one",
		"set all joints":                                      "Which angle",
		"move all joints by 10 degrees":                       "Which angle",
		"set every arm joint to zero except the second":       "except",
		"straighten the arm":                                  "Which angles",
		"move joint 1 to 30 degrees":                          "no motion of the arm that I know",
		"move the third joint to zero":                        "no motion of the arm that I know",
		"raise the arm":                                       "no motion of the arm that I know",
		"move the gripper 5 cm up":                            "no motion of the arm that I know",
		"move the arm to cary":                                `I know no arm pose "cary". Is the carry meant?`,
		"set every arm joint to nan":                          "no number",
	} {
		p, err := parse(task, know(armed()))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is %s, %v; want %s", task, p, err, says)
		}
	}
	if p, err := parse("set every arm joint to zero", know(nil)); err == nil {
		t.Errorf("without an arm it is %s", p)
	}
}

// TestSlipsOfThePen: what is nearly a name is asked about, and never taken for it.
func TestSlipsOfThePen(t *testing.T) {
	for task, says := range map[string]string{
		"go to the kichen":                            `I know no place "kichen". Is the kitchen meant?`,
		"go to the offcie":                            "Is the office meant?",
		"drive to qhe table":                          "qhe",
		"take the red cube to the ofice":              "Is the office meant?",
		"take the rde cube to the kitchen":            "Is the red cube meant?",
		"pick up the gren ball":                       "Is the green ball meant?",
		"go to the garage":                            `I know no place "garage". The places`,
		"take the purple cube to the kitchen":         `I know no object "purple". The objects`,
		"drive forward":                               "How far",
		"go forward and then turn left by 90 degrees": "How far",
	} {
		p, err := parse(task, know(armed()))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is %s, %v; want %s", task, p, err, says)
		}
	}
}

// Slips are a distance: none from itself, the same both ways, one for one slip.
func TestSlipsAreADistance(t *testing.T) {
	text := rapid.StringMatching(`[a-zäß ]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		d := slips(a, b)
		if d != slips(b, a) || (d == 0) != (a == b) || d > max(len([]rune(a)), len([]rune(b))) {
			t.Fatalf("%q and %q: %d, and back %d", a, b, d, slips(b, a))
		}
		r := []rune(a)
		i := rapid.IntRange(0, len(r)).Draw(t, "at")
		if more := string(r[:i]) + "x" + string(r[i:]); slips(a, more) != 1 || slips(more, a) != 1 {
			t.Fatalf("a letter more in %q: %d", a, slips(a, more))
		}
		if i+1 < len(r) && r[i] != r[i+1] {
			r[i], r[i+1] = r[i+1], r[i]
			if slips(a, string(r)) != 1 {
				t.Fatalf("two letters swapped in %q: %d", a, slips(a, string(r)))
			}
		}
	})
}
