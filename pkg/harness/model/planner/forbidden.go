package planner

import "strings"

// forbidden tells clearly why some tasks are never done; what it does not know is refused all the same, with plainer words,
// since the grammar does not hold it.
func forbidden(words []word) error {
	text := " "
	for _, w := range words {
		text += w.text + " "
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
		{"Nobody can be in two places at once.", []string{" at the same time ", " simultaneously ", " in parallel ", " at once be ", " in both "}},
	} {
		for _, f := range c.phrases {
			if strings.Contains(text, f) {
				return refuse("%s", c.because)
			}
		}
	}
	return nil
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
