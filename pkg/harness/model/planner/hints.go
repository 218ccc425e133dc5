package planner

import "strings"

// hint says in plain words why some kinds of tasks are not done, by the words that are not understood; "" where it knows no better.
func (p *parser) hint() string {
	text := " "
	for _, w := range p.words {
		text += w.text + " "
	}
	rest := " "
	for _, w := range p.words[p.at:] {
		rest += w.text + " "
	}
	if strings.Contains(text, " obstacle ") || strings.Contains(text, " wall ") {
		text = strings.NewReplacer(" closest ", " ", " nearest ", " ").Replace(text)
	}
	for _, h := range []struct {
		in, because string
		phrases     []string
	}{
		{text, "I carry out what is said to me, not what is quoted or told of somebody: say it without the quotation.", []string{" \" ", " sign says ", " he said ", " she said ", " they said ", " says : ", " ' "}},
		{text, "I understand plain English only.", []string{" fahre ", " fahr ", " gehe ", " geh ", " bitte ", " bringe ", " nimm ", " zum ", " zur ", " küche ", " büro ", " drehe ", " dreh ", " warte ", " öffne ", " der ", " und "}},
		{text, "I do not pretend: I do a thing, or leave it.", []string{" as if ", " pretend ", " imagine ", " act like "}},
		{text, "Swapping two objects needs a third place in between, and I do not choose one: say where each is to be brought, one after the other.", []string{" swap ", " exchange ", " switch the ", " trade places "}},
		{text, "I know no place for charging by that name, and I do not guess: which of the places is meant?", []string{" charge yourself ", " recharge ", " go charge ", " charge up ", " go and charge ", " charge the battery ", " charge your battery ", " plug yourself "}},
		{rest, "I know no place that is called home: which of the places is meant?", []string{" home "}},
		{text, "How long a motion takes is not for a task to say: my limits decide that. Say the task without the time.", []string{" within ", " in under ", " in less than ", " at most 1 ", " in no more than ", " in time "}},
		{text, "I keep no clock and no calendar, and I do nothing by an event: say what is to be done now, or after how many seconds.", []string{
			" every hour ", " every day ", " every minute ", " noon ", " midnight ", " o'clock ", " pm ", " am at ", " tomorrow ", " tonight ", " until ", " while ", " whenever ", " when i ", " as soon as ",
			" every 1 ", " every 2 ", " every 5 ", " every 10 ", " before i ", " after i ",
		}},
		{text, "Whether a way is free I can tell only by going there: no tool of mine asks for a way without driving it.", []string{" way to the ", " path to the ", " route to the "}},
		{text, "How far away objects and places are from each other no tool of mine tells. I can say where an object is, and how far one place is from here.", []string{" closest ", " nearest ", " closer ", " nearer "}},
		{text, "I can drive forward and backward and turn in place, but not sideways, along a curve or up and down.", []string{" sideways ", " in a circle ", " curve ", " arc ", " zigzag ", " m left ", " m right ", " metre to the left ", " metre to the right ", " meter to the left ", " meter to the right ", " drive left ", " drive right ", " move left ", " move right ", " go left ", " go right "}},
		{text, "I follow nobody, and I do not know where people are: name a place.", []string{" follow ", " come here ", " to me ", " meet me "}},
		{text, "I can turn by an angle, but not towards a thing: say the angle and the side.", []string{" face the ", " turn towards ", " turn toward ", " look at "}},
		{text, "That is no amount: say how far, how long or by which angle, with a unit.", []string{" a bit ", " a little ", " slightly ", " a few ", " a couple ", " some more ", " steps ", " a while ", " a moment "}},
	} {
		for _, f := range h.phrases {
			if strings.Contains(h.in, f) {
				return h.because + p.known(h.because)
			}
		}
	}
	return ""
}

// known lists the places behind a question for one.
func (p *parser) known(question string) string {
	if !strings.HasSuffix(question, "meant?") {
		return ""
	}
	return " The places that I know: " + joined(p.world.placeNames()) + "."
}

// slipAhead asks for the word that was meant where one is written nearly like it.
func (p *parser) slipAhead() string {
	known := []string{"forward", "backward", "backwards", "drive", "clockwise", "degrees", "metres", "meters", "seconds", "gripper", "bring", "carry", "navigate", "rotate", "visit", "return"}
	for i := p.at; i < min(p.at+4, len(p.words)); i++ {
		w := p.words[i]
		if _, is := unitOf(w.text); w.isNum || len(w.text) < 4 || is || w.text+"s" == "seconds" {
			continue
		}
		for _, k := range known {
			if d := slips(w.text, k); d == 1 {
				return "Is \"" + k + "\" meant by \"" + w.text + "\"? I do not guess."
			} else if d == 0 {
				break
			}
		}
	}
	return ""
}

// contrast reads "not the office", "instead of going to the office", "rather than the blue cube" behind what is to be done: that is not to be
// done as well.
func (p *parser) contrast() ([]string, bool) {
	mark := p.at
	if !p.anyPhrase("instead of", "rather than", "not", "and not", "but not") {
		return nil, false
	}
	p.anyPhrase("going", "driving", "moving", "taking it", "bringing it", "putting it", "carrying it", "visiting", "picking up", "taking", "bringing")
	p.anyPhrase("to", "into", "in", "on", "onto", "at")
	var names []string
	if name, ok := p.placeName(); ok {
		names = []string{name}
	} else {
		object, grips, holds := p.object, p.grips, p.holds
		name, ok := p.objectName()
		p.object, p.grips, p.holds = object, grips, holds
		if ok {
			names = []string{name}
		}
	}
	w, _ := p.peek()
	if names == nil || !p.sentenceOver() && !(w.text == "," && p.words[mark].text == "instead") {
		p.at = mark
		return nil, false
	}
	return names, true
}
