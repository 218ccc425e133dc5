package robottools

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/ros/mem"
)

// An interlock judges by what is measured now: an arm whose driver died is nowhere that is known.
func TestInterlocksJudgeByFreshJoints(t *testing.T) {
	bus := mem.NewBus()
	defer bus.Close()
	host, err := bus.NewNode("agent_node", mem.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	arm := &jointActuator{joints: []string{"j1"}}
	arm.def.Feedback.Topic = "/joint_states"
	r := &Robot{node: host, now: func() time.Time { return now }, joints: map[string]*jointActuator{"arm": arm}}
	l := lock{joints: []string{"arm"}}

	var stale *StaleError
	if err := r.jointsStale(l, r.live()); !errors.As(err, &stale) || !stale.Never {
		t.Errorf("never measured: %v", err)
	}
	for _, c := range []struct {
		age  time.Duration
		pass bool
	}{{0, true}, {interlockAge, true}, {interlockAge + time.Millisecond, false}, {time.Hour, false}} {
		arm.last, arm.seen = guard.Sample{Arrived: now.Add(-c.age), Position: []float64{0}}, true
		err := r.jointsStale(l, r.live())
		if (err == nil) != c.pass {
			t.Errorf("%v old: %v", c.age, err)
		}
		if !c.pass && (!errors.As(err, &stale) || stale.Age != c.age || stale.Topic != "/joint_states") {
			t.Errorf("%v old: %v", c.age, err)
		}
	}
	foreseen := view{r, &predicted{joints: map[string][]float64{"arm": {0}}}}
	if err := r.jointsStale(l, foreseen); err != nil {
		t.Errorf("a plan knows where it has put the arm: %v", err)
	}
	if err := r.jointsStale(lock{}, r.live()); err != nil {
		t.Errorf("no joints are read: %v", err)
	}
}

func TestInterlocksNameTheJointsTheyRead(t *testing.T) {
	r := &Robot{profile: &Profile{Actuators: map[string]Actuator{"arm": {Kind: kindArm}, "arm2": {Kind: kindArm}, "base": {Kind: kindBase}, "gripper": {Kind: kindGripper}}}}
	for text, want := range map[string]int{
		"joints.arm[0] < 0.1": 1, "joints['arm2'][0] < joints.arm[0]": 2, "size(joints) > 0": 3, "begin.x > 1.0": 0, "args.joints_arm": 0,
	} {
		if got := r.jointsIn(text); len(got) != want {
			t.Errorf("%s: %v, want %d", text, got, want)
		}
	}
}
