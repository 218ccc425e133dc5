package robottools

import (
	"testing"

	"agent_node/pkg/guard"
	"agent_node/pkg/ros"
)

type patient struct {
	ros.Subscription
	waits bool
}

func (p *patient) LetWait(on bool) { p.waits = on }

func TestMeasurementsWaitOnlyWhileNothingGoesOn(t *testing.T) {
	r := &Robot{attention: attention{states: map[string]guard.State{}}}
	early, late := &patient{}, &patient{}
	r.attention.calmly(early)
	told := 0
	moved := r.onTransition(func(guard.Transition) { told++ })
	var done, again func()
	for _, step := range []struct {
		what  string
		do    func()
		waits bool
	}{
		{"nothing is known", func() { r.attention.moved("base", guard.Unknown); r.attention.moved("arm", guard.Unknown) }, false},
		{"one holds", func() { moved(guard.Transition{Actuator: "base", To: guard.Holding}) }, false},
		{"both hold", func() { moved(guard.Transition{Actuator: "arm", To: guard.Holding}) }, true},
		{"more is listened to", func() { r.attention.calmly(late) }, true},
		{"a goal begins", func() { done = r.Attend() }, false},
		{"and another", func() { again = r.Attend() }, false},
		{"the first ends", func() { done(); done() }, false},
		{"the second ends", func() { again() }, true},
		{"somebody pushes the arm", func() { moved(guard.Transition{Actuator: "arm", To: guard.Settling}) }, false},
		{"it is in fault", func() { moved(guard.Transition{Actuator: "arm", To: guard.Fault}) }, false},
		{"it holds again", func() { moved(guard.Transition{Actuator: "arm", To: guard.Holding}) }, true},
		{"an emergency stop", func() { moved(guard.Transition{Actuator: "base", To: guard.Estop}) }, false},
	} {
		step.do()
		if early.waits != step.waits || told > 2 && late.waits != step.waits {
			t.Errorf("%s: messages wait: %v and %v, want %v", step.what, early.waits, late.waits, step.waits)
		}
	}
	if told != 6 {
		t.Errorf("%d transitions were told, want 6", told)
	}
}
