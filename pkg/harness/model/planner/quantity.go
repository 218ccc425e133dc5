package planner

import (
	"fmt"
	"math"
	"slices"
)

// unit of a quantity: what it measures and its size in SI.
type unit struct {
	kind dimension
	size float64
}

type dimension uint8

const (
	noDimension dimension = iota
	length                // m
	angle                 // rad
	duration              // s
	percent
)

func unitOf(w string) (unit, bool) {
	switch w {
	case "m", "metre", "metres", "meter", "meters":
		return unit{length, 1}, true
	case "cm", "centimetre", "centimetres", "centimeter", "centimeters":
		return unit{length, 0.01}, true
	case "mm", "millimetre", "millimetres", "millimeter", "millimeters":
		return unit{length, 0.001}, true
	case "km", "kilometre", "kilometres", "kilometer", "kilometers":
		return unit{length, 1000}, true
	case "ft", "foot", "feet":
		return unit{length, 0.3048}, true
	case "inch", "inches":
		return unit{length, 0.0254}, true
	case "yard", "yards":
		return unit{length, 0.9144}, true
	case "deg", "degs", "degree", "degrees":
		return unit{angle, math.Pi / 180}, true
	case "rad", "rads", "radian", "radians":
		return unit{angle, 1}, true
	case "s", "sec", "secs", "second", "seconds":
		return unit{duration, 1}, true
	case "ms", "millisecond", "milliseconds":
		return unit{duration, 0.001}, true
	case "min", "mins", "minute", "minutes":
		return unit{duration, 60}, true
	case "hour", "hours", "h":
		return unit{duration, 3600}, true
	case "%", "percent", "pct":
		return unit{percent, 1}, true
	}
	return unit{}, false
}

// amount is a number as it stands in a task: "0.5", "half a", "two and a half", "minus five".
func (p *parser) amount() (float64, bool) {
	mark := p.at
	sign := 1.0
	if p.take("a", "negative") || p.takeAny("minus", "negative", "-") {
		sign = -1
	}
	if f, ok := p.plainAmount(); ok {
		return sign * f, true
	}
	p.at = mark
	return 0, false
}

func (p *parser) plainAmount() (float64, bool) {
	if f, ok := attempt(p, p.fraction); ok {
		return f, true
	}
	if p.take("half", "a") || p.take("half", "an") || p.take("half", "of", "a") || p.take("one", "half") {
		return 0.5, true
	}
	if p.take("a", "quarter", "of", "a") || p.take("quarter", "of", "a") || p.take("a", "quarter") || p.take("one", "quarter") {
		return 0.25, true
	}
	if p.take("half") {
		return 0.5, true
	}
	mark := p.at
	if p.take("a", "few") || p.take("a", "couple") || p.take("some") { // no number at all
		p.at = mark
		return 0, false
	}
	w, ok := p.next()
	if !ok {
		return 0, false
	}
	f, found := w.number, w.isNum
	if !found {
		if f, found = spelled(w.text); !found {
			p.at = mark
			return 0, false
		}
		if p.takeAny("hundred") {
			f = 100*f + p.tens()
		}
		if f >= 20 && math.Mod(f, 10) == 0 && f < 100 {
			if d, ok := p.peekSpelledDigit(); ok {
				f += d
			}
		}
		if p.take("point") {
			if d, ok := p.plainAmount(); ok && d < 10 {
				return f + d/10, true
			}
			p.at = mark
			return 0, false
		}
	}
	mark = p.at
	if p.take("and") {
		if part, ok := attempt(p, p.fraction); ok && part < 1 && !p.otherThing() {
			return f + part, true
		}
		p.at = mark
	}
	return f, true
}

// otherThing: what stands here is no unit, so that a fraction before it has to do with something else.
func (p *parser) otherThing() bool {
	w, ok := p.peek()
	if !ok {
		return false
	}
	_, is := unitOf(w.text)
	return !is && !turnWord(w.text)
}

// fraction reads "a third of a", "three quarters of a", "a half", "1 / 2".
func (p *parser) fraction() (float64, bool) {
	n := 1.0
	w, ok := p.peek()
	if !ok {
		return 0, false
	}
	article := false
	if f, is := spelled(w.text); is || w.isNum {
		if w.isNum {
			f = w.number
		}
		n, article = f, w.text == "a" || w.text == "an"
		p.at++
		if p.take("/") {
			d, ok := p.next()
			if !ok || !d.isNum || d.number <= 0 {
				return 0, false
			}
			p.of()
			return n / d.number, true
		}
	}
	d, ok := p.next()
	if !ok || d.isNum || n <= 0 || n != math.Trunc(n) {
		return 0, false
	}
	for i, names := range [][]string{{"half", "halves"}, {"third", "thirds"}, {"quarter", "quarters", "fourth", "fourths"}, {"fifth", "fifths"}, {"sixth", "sixths"}, nil, {"eighth", "eighths"}, nil, {"tenth", "tenths"}} {
		for j, name := range names {
			if d.text == name {
				if plural := j%2 == 1; plural == (n == 1) || article && plural {
					return 0, false
				}
				p.of()
				return n / float64(i+2), true
			}
		}
	}
	return 0, false
}

// of takes "of a" behind a fraction, or "a" ("half a metre").
func (p *parser) of() {
	p.take("of")
	p.takeAny("a", "an", "one")
}

func turnWord(w string) bool {
	switch w {
	case "turn", "turns", "rotation", "rotations", "circle", "circles", "revolution", "revolutions", "spin", "spins", "full", "complete", "whole":
		return true
	}
	return false
}

// tens reads what follows "hundred": "and twenty-five".
func (p *parser) tens() float64 {
	mark := p.at
	p.take("and")
	w, ok := p.next()
	f, is := spelled(w.text)
	if !ok || !is || w.text == "a" || w.text == "an" {
		p.at = mark
		return 0
	}
	if f >= 20 && math.Mod(f, 10) == 0 {
		if d, ok := p.peekSpelledDigit(); ok {
			f += d
		}
	}
	return f
}

func (p *parser) peekSpelledDigit() (float64, bool) {
	w, ok := p.peek()
	if !ok || w.isNum || w.text == "a" || w.text == "an" {
		return 0, false
	}
	d, ok := spelled(w.text)
	if !ok || d < 1 || d > 9 {
		return 0, false
	}
	p.at++
	return d, true
}

// quantity is an amount with its unit, in SI.
func (p *parser) quantity(want dimension) (float64, bool) {
	mark := p.at
	f, ok := p.amount()
	if !ok {
		return 0, false
	}
	w, ok := p.next()
	if !ok {
		p.at = mark
		return 0, false
	}
	u, ok := unitOf(w.text)
	if !ok || u.kind != want {
		p.at = mark
		return 0, false
	}
	if p.take("and", "a", "half") { // "two metres and a half"
		f += 0.5
	}
	if p.take("and", "a", "quarter") {
		f += 0.25
	}
	if f *= u.size; math.IsInf(f, 0) {
		p.reason = fmt.Sprintf("%s %s is more than any number that I can use.", number(f/u.size), w.text)
		p.at = mark
		return 0, false
	}
	return f + p.rest(u, f), true
}

// rest reads the smaller part of a quantity that is said in two units: "1 m and 20 cm", "5 ft 3 inches", "1 min 30 s".
func (p *parser) rest(of unit, f float64) float64 {
	mark := p.at
	p.take("and")
	w, ok := p.peek()
	if !ok || f <= 0 || w.text == "a" || w.text == "an" {
		p.at = mark
		return 0
	}
	n, ok := p.amount()
	unit, more := p.next()
	u, known := unitOf(unit.text)
	if !ok || !more || !known || n <= 0 || u.kind != of.kind || u.size >= of.size || n*u.size >= of.size || of.kind == angle {
		p.at = mark
		return 0
	}
	if next, more := p.peek(); more && slices.Contains([]string{"back", "backward", "backwards", "forward", "forwards", "ahead", "left", "right", "in"}, next.text) && p.words[mark].text == "and" {
		p.at = mark // "1 m and 20 cm back" may be two motions
		return 0
	}
	return n * u.size
}

// turnAngle is an angle in words: a right angle, a quarter turn, a full turn, 90 degrees.
func (p *parser) turnAngle() (float64, bool) {
	for _, c := range []struct {
		words []string
		turn  float64
	}{
		{[]string{"a", "right", "angle"}, 0.25},
		{[]string{"right", "angle"}, 0.25},
		{[]string{"a", "quarter", "turn"}, 0.25},
		{[]string{"quarter", "turn"}, 0.25},
		{[]string{"a", "quarter", "of", "a", "turn"}, 0.25},
		{[]string{"a", "half", "turn"}, 0.5},
		{[]string{"half", "a", "turn"}, 0.5},
		{[]string{"half", "turn"}, 0.5},
		{[]string{"a", "full", "turn"}, 1},
		{[]string{"one", "full", "turn"}, 1},
		{[]string{"a", "full", "circle"}, 1},
		{[]string{"full", "turn"}, 1},
		{[]string{"a", "whole", "turn"}, 1},
		{[]string{"a", "full", "rotation"}, 1},
		{[]string{"one", "turn"}, 1},
	} {
		if p.take(c.words...) {
			return c.turn * 2 * math.Pi, true
		}
	}
	if a, ok := attempt(p, p.turns); ok {
		return a, true
	}
	return p.quantity(angle)
}

// turns reads "two full turns", "a third of a full turn", "1.5 rotations". How far "a turn" is, is not said.
func (p *parser) turns() (float64, bool) {
	w, _ := p.peek()
	article := w.text == "a" || w.text == "an"
	mark := p.at
	n, ok := p.amount()
	if !ok {
		return 0, false
	}
	part := p.at > mark+1
	full := p.takeAny("full", "complete", "whole", "entire")
	if !p.takeAny("turn", "turns", "rotation", "rotations", "circle", "circles", "revolution", "revolutions") || article && !full && !part {
		return 0, false
	}
	return n * 2 * math.Pi, true
}

// times reads "twice", "three times", "4 times", "four times".
func (p *parser) times() (int, bool) {
	if p.take("twice") {
		return 2, true
	}
	if p.take("once") {
		return 1, true
	}
	if p.take("thrice") {
		return 3, true
	}
	mark := p.at
	if f, ok := p.amount(); ok && p.takeAny("times", "x") && f >= 1 && f <= maxRepeat && f == math.Trunc(f) {
		return int(f), true
	}
	p.at = mark
	return 0, false
}

// maxRepeat bounds "N times".
const maxRepeat = 20
