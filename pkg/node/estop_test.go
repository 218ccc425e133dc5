package node

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A source's messages come by several subscriptions: copies, and some of them late. Every press latches once, what the source said last
// counts, and neither an old copy after a reset nor an old false after a press changes that.
func TestLateCopiesNeitherReleaseNorPressAgain(t *testing.T) {
	type heard struct {
		stopped bool
		sent    int // s, on the source's clock
	}
	press, release := func(sent int) heard { return heard{true, sent} }, func(sent int) heard { return heard{false, sent} }
	for _, x := range []struct {
		name    string
		after   time.Duration // before the last one
		heard   []heard
		told    string // with what one like before it adds nothing to
		pressed bool
	}{
		{name: "in order, twice", heard: []heard{press(1), press(1), release(2), release(2)}, told: "true false"},
		{name: "one subscription after the other", heard: []heard{press(1), release(2), press(1), release(2)}, told: "true false"},
		{name: "the press is missed by the first", heard: []heard{release(2), press(1), release(2)}, told: "false true false"},
		{name: "the release is missed by the second", heard: []heard{press(1), release(2), press(1)}, told: "true false"},
		{name: "a second press is missed by the second", heard: []heard{release(1), press(2), release(1)}, told: "false true", pressed: true},
		{name: "pressed again", heard: []heard{press(1), release(2), press(3)}, told: "true false true", pressed: true},
		{name: "a clock that was set back", after: lateness, heard: []heard{press(9), release(2)}, told: "true false"},
		{name: "a transport without stamps", heard: []heard{press(0), release(0), press(0)}, told: "true false true", pressed: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from := source{"/emergency_stop", "button"}
				var told []string
				e := &estopInput{values: map[source]said{}}
				e.tell = func(s source, stopped bool) {
					if s == from {
						told = append(told, map[bool]string{true: "true", false: "false"}[stopped])
					}
				}
				for i, h := range x.heard {
					if i == len(x.heard)-1 {
						time.Sleep(x.after)
					}
					var stamp time.Time
					if h.sent != 0 {
						stamp = time.Unix(int64(h.sent), 0)
					}
					e.hear(from, h.stopped, stamp)
				}
				if got := strings.Join(slices.Compact(told), " "); got != x.told {
					t.Errorf("told %s, want %s", got, x.told)
				}
				if got := len(e.pressed()) > 0; got != x.pressed {
					t.Errorf("pressed: %v", got)
				}
			})
		})
	}
}
