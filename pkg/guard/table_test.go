package guard

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/guard-states.md from the table")

// The document is the table, and nothing else: this test fails when they differ.
func TestDocumentIsTheTable(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "guard-states.md")
	want := document()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from the table; go test ./pkg/guard -run TestDocumentIsTheTable -update writes it", path)
	}
}

// allStates in the order of their numbers.
func allStates() (all []State) {
	for s := range State(len(stateInfo)) {
		all = append(all, s)
	}
	return all
}

func document() []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# The states of one actuator\n")
	p("Written by a test from the table in `pkg/guard/table.go`, which the machine itself runs on; do not edit. [guard.md](guard.md) says why it is so.\n")
	p("```mermaid\nstateDiagram-v2\n    [*] --> unknown")
	type edge struct{ from, to State }
	var edges []edge
	labels := map[edge][]string{}
	for _, r := range rules {
		for _, from := range r.from {
			e := edge{from, r.to}
			if r.to == Estop && r.on == evEstop {
				continue // from every state: said once below
			}
			if labels[e] == nil {
				edges = append(edges, e)
			}
			labels[e] = append(labels[e], r.on.String())
		}
	}
	for _, e := range edges {
		p("    %s --> %s: %s", e.from, e.to, strings.Join(labels[e], " / "))
	}
	p("    note right of estop: from every state, when an emergency_stop input becomes true\n```\n")

	p("## States\n\n| no. | state | meaning | again and again meanwhile |\n|---|---|---|---|")
	for _, s := range allStates() {
		p("| %d | %s | %s | %s |", s, s, stateInfo[s].meaning, actNames(stateInfo[s].during, "–"))
	}
	p("\n## Rules\n\n| in | on | go to | and do | the command ends as |\n|---|---|---|---|---|")
	for _, r := range rules {
		var from []string
		for _, s := range r.from {
			from = append(from, s.String())
		}
		reason := "–"
		switch n := eventInfo[r.on].reason; {
		case r.on == evResult:
			reason = "what its server says"
		case n != "" && (r.to != Unknown && r.from[0] != Unknown):
			reason = "`" + string(n) + "`"
		}
		p("| %s | %s | %s | %s | %s |", strings.Join(from, ", "), r.on, r.to, actNames(r.do, "–"), reason)
	}
	p("\nA state and an event without a rule do not go together: nothing happens, and an answer that comes then is recorded as late.")
	p("The first reason stays, except that `stopped` overrides all but `emergency_stop`, and that overrides all.")
	p("A result brings its server's own reason (`succeeded`, `canceled`, `server_failed`).\n")
	p("## Events\n\n| event | when |\n|---|---|")
	for e := evNone + 1; e < nEvents; e++ {
		p("| %s | %s |", e, eventInfo[e].meaning)
	}
	p("\n## Actions\n\n| action | what |\n|---|---|")
	for a := range nActs {
		p("| %s | %s |", a, actInfo[a].meaning)
	}
	return b.Bytes()
}

func actNames(acts []act, none string) string {
	if len(acts) == 0 {
		return none
	}
	var s []string
	for _, a := range acts {
		s = append(s, a.String())
	}
	return strings.Join(s, ", ")
}

func TestTableIsSound(t *testing.T) {
	used := map[event]bool{}
	acts := map[act]bool{}
	pairs := map[string]bool{}
	for i, r := range rules {
		used[r.on] = true
		for _, a := range r.do {
			acts[a] = true
		}
		for _, s := range r.from {
			key := fmt.Sprint(s, " ", r.on)
			if pairs[key] {
				t.Errorf("%s has two rules", key)
			}
			pairs[key] = true
			if got, ok := ruleFor(s, r.on); !ok || got != &rules[i] {
				t.Errorf("%s is not found", key)
			}
			if s == r.to && len(r.do) == 0 {
				t.Errorf("%s does nothing", key)
			}
		}
	}
	for _, s := range stateInfo {
		for _, a := range s.during {
			acts[a] = true
		}
	}
	for e := evNone + 1; e < nEvents; e++ {
		if !used[e] {
			t.Errorf("event %v has no rule", e)
		}
		if eventInfo[e].name == "" || eventInfo[e].meaning == "" {
			t.Errorf("event %d has no name or meaning", e)
		}
	}
	for a := range nActs {
		if !acts[a] {
			t.Errorf("action %v is never done", a)
		}
	}
}

// Every state is reached from Unknown, and from every state the way leads back to Holding.
func TestEveryStateIsReachedAndLeft(t *testing.T) {
	reach := func(from State) map[State]bool {
		seen := map[State]bool{from: true}
		for todo := []State{from}; len(todo) > 0; {
			s := todo[0]
			todo = todo[1:]
			for _, r := range rules {
				if slices.Contains(r.from, s) && !seen[r.to] {
					seen[r.to] = true
					todo = append(todo, r.to)
				}
			}
		}
		return seen
	}
	for _, s := range allStates() {
		if !reach(Unknown)[s] {
			t.Errorf("%v is never reached", s)
		}
		if !reach(s)[Holding] {
			t.Errorf("no way leads from %v back to holding", s)
		}
	}
}

// What the rules for safety ask of the table, as sentences about it.
func TestStopAlwaysWins(t *testing.T) {
	for _, s := range allStates() {
		if r, ok := ruleFor(s, evEstop); s != Estop && (!ok || r.to != Estop || !slices.Contains(r.do, doStop)) {
			t.Errorf("an e-stop in %v does not latch and stop", s)
		}
		r, ok := ruleFor(s, evStop)
		switch s {
		case Sent, InFlight, Paused:
			if !ok || r.to != Canceling {
				t.Errorf("a stop in %v does not cancel", s)
			}
		case Unknown, Holding, Settling, Canceling:
			if !ok || r.to != Stopping || !slices.Contains(r.do, doStop) {
				t.Errorf("a stop in %v does not stop", s)
			}
		case Stopping, Fault, Estop:
			if ok {
				t.Errorf("%v stops already", s)
			}
			if d := stateInfo[s].during; !slices.Contains(d, doStop) && !slices.Contains(d, doStopUnsettled) {
				t.Errorf("%v does not go on sending stop", s)
			}
		}
	}
	for _, r := range rules {
		if slices.Contains(r.from, Estop) && r.to != Estop && r.on != evReleased {
			t.Errorf("estop is left by %v", r.on)
		}
		if slices.Contains(r.from, Fault) && r.to != Estop && r.on != evReleased {
			t.Errorf("fault is left by %v", r.on)
		}
		if r.to == Holding && !slices.Contains(r.from, Holding) && r.on != evSettled && r.on != evReleased && r.on != evRejected {
			t.Errorf("holding is entered by %v, which is not measured rest", r.on)
		}
		if slices.Contains(r.do, doStart) && (r.on != evCommand || r.to != Sent) {
			t.Errorf("%v starts a command", r.on)
		}
	}
}
