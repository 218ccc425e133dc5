package planner

import (
	"fmt"
	"strings"
)

// forbidden tells clearly why some tasks are never done; what it does not know is refused all the same, with plainer words,
// since the grammar does not hold it.
func forbidden(words []word) error {
	text := " "
	for _, w := range words {
		text += w.text + " "
		if why := noNumber(w); why != "" {
			return refuse("%s", why)
		}
	}
	for _, c := range []struct {
		because string
		phrases []string
	}{
		{"That asks for contact: I do not drive into things.", []string{" bump ", " bumps ", " until you hit ", " until contact ", " crash ", " collide ", " ram ", " run over ", " until you touch "}},
		{"That leads into the keep-out zone, which I never enter.", []string{" keepout ", " forbidden zone ", " forbidden area ", " nogo ", " restricted area ", " restricted zone "}},
		{"The limits are not mine to leave, whatever a task says.", []string{" ignore your ", " ignore all ", " ignore the rules ", " disregard ", " rules = ", " rules off ", " full speed ", " top speed ", " as fast as ", " throttle ", " override ", " bypass ", " without limits "}},
		{"I have no shell, start no programs and change no parameters.", []string{" ros2 ", " rm - ", " rm ", " sudo ", " shell ", " $ ( ", " reboot ", " kill the ", " set_parameters ", " parameter "}},
		{"Throwing is nothing that I can do safely.", []string{" throw ", " toss ", " hurl ", " airborne ", " fling "}},
		{"How fast or how hard I move is not for a task to say: my limits and my tools decide that. Say the task without it.", []string{
			" slow ", " slowly ", " slower ", " fast ", " faster ", " quick ", " quickly ", " quicker ", " swiftly ", " speedily ", " hurry ", " rush ", " gently ", " softly ", " hard ",
			" m / s ", " km / h ", " kmh ", " kph ", " mph ", " m / sec ", " metres per ", " meters per ", " degrees per ", " speed ", " velocity ", " pace ", " crawl ", " sprint ",
		}},
		{"Which way I take is not for a task to say: the navigator plans it, around what is in the way and around the keep-out zone. What else it must keep out of belongs in the robot's profile.", []string{
			" through the ", " via ", " without passing ", " without crossing ", " avoid ", " avoiding ", " past the ", " around the ", " along the ", " keep away ", " stay away ", " stay out ", " steer clear ", " keep clear ",
		}},
		{"Nobody can be in two places at once.", []string{" at the same time ", " simultaneously ", " in parallel ", " at once be ", " in both "}},
	} {
		for _, f := range c.phrases {
			if strings.Contains(text, f) && !(f == " keepout " && keepsOut(text)) {
				return refuse("%s", c.because)
			}
		}
	}
	return nil
}

// keepsOut: the keep-out zone is named only to say that it is not to be entered, as it never is.
func keepsOut(text string) bool {
	for _, f := range []string{" do not enter the", " do not go into the", " do not drive into the", " without entering the"} {
		text = strings.ReplaceAll(text, f+" keepout ", " ")
	}
	return !strings.Contains(text, " keepout ")
}

// noNumber says what is wrong with a word that stands for no number that can be used.
func noNumber(w word) string {
	switch {
	case w.isNum:
		return ""
	case w.text == "nan", w.text == "inf", w.text == "infinity", w.text == "infinite", w.text == "infinitely", w.text == "∞":
		return fmt.Sprintf("%q is no number that I can drive, turn or wait by.", w.text)
	case w.text == "forever", w.text == "endlessly":
		return fmt.Sprintf("%q has no end: say how long, or how often.", w.text)
	case w.text != "" && strings.ContainsAny(w.text[len(w.text)-1:], "0123456789") && strings.Trim(w.text, "+-.0123456789e") == "":
		return fmt.Sprintf("%q is no number that I can use.", w.text)
	}
	return ""
}

// joined is a list in words.
func joined(list []string) string {
	switch len(list) {
	case 0:
		return "none"
	case 1:
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
