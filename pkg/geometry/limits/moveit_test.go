package limits_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"agent_node/pkg/geometry/limits"
)

const moveIt = `# made by hand
default_velocity_scaling_factor: 0.1
default_acceleration_scaling_factor: 0.2
joint_limits:
  pan:
    has_velocity_limits: true
    max_velocity: 1.0
    has_acceleration_limits: true
    max_acceleration: 3
    has_deceleration_limits: true
    max_deceleration: 2.5
    has_jerk_limits: false
    max_jerk: 10
    angle_wraparound: false
  lift:
    has_position_limits: true
    min_position: -1.5
    max_position: 9
    has_velocity_limits: true
    max_velocity: 100.0
    has_jerk_limits: true
    max_jerk: 20
    has_effort_limits: true
    max_effort: 5
  elsewhere:
    has_velocity_limits: false
`

func arm() []limits.Joint {
	return []limits.Joint{
		{Name: "pan", Lower: -3, Upper: 3, Velocity: 2, Effort: 10},
		{Name: "lift", Lower: -2, Upper: 2, Velocity: 2},
		{Name: "roll", Lower: math.Inf(-1), Upper: math.Inf(1), Continuous: true, Velocity: 1},
	}
}

func TestMoveItNarrowsTheDescription(t *testing.T) {
	wrapped := "/**:\n  ros__parameters:\n    robot_description_planning:\n      " + strings.ReplaceAll(moveIt, "\n", "\n      ")
	for name, text := range map[string]string{"plain": moveIt, "as parameters": wrapped} {
		m, err := limits.ParseMoveIt([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m.VelocityScaling != 0.1 || m.AccelerationScaling != 0.2 || len(m.Joints) != 3 {
			t.Errorf("%s: %+v", name, m)
		}
		got, told, err := m.Apply(arm())
		if err != nil {
			t.Fatal(err)
		}
		want := arm()
		want[0].Velocity, want[0].Acceleration = 1, 2.5
		want[1].Lower, want[1].Jerk, want[1].Effort = -1.5, 20, 5
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %+v, want %+v", name, got[i], want[i])
			}
		}
		if len(told) != 2 || !strings.Contains(strings.Join(told, "\n"), "max_velocity 100") {
			t.Errorf("%s: told %q", name, told)
		}
	}
}

func TestMoveItIsRefusedWithALine(t *testing.T) {
	replace := func(old, by string) string { return strings.Replace(moveIt, old, by, 1) }
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":       {"", "line 1"},
		"a list":        {"- 1\n", "line 1"},
		"no limits":     {"a: 1\n", "line 1"},
		"no yaml":       {"a: [\n", "line"},
		"NaN":           {replace("max_velocity: 1.0", "max_velocity: .nan"), "line 7"},
		"infinite":      {replace("max_velocity: 1.0", "max_velocity: .inf"), "line 7"},
		"text":          {replace("max_velocity: 1.0", "max_velocity: fast"), "line 7"},
		"negative":      {replace("max_velocity: 1.0", "max_velocity: -1.0"), "line 7"},
		"no number":     {replace("    max_velocity: 1.0\n", ""), "line 6"},
		"perhaps":       {replace("has_velocity_limits: true", "has_velocity_limits: perhaps"), "line 6"},
		"twice":         {replace("max_acceleration: 3", "max_velocity: 3"), "line 9"},
		"wrong order":   {replace("max_position: 9", "max_position: -9"), "line 18"},
		"half a range":  {replace("    max_position: 9\n", ""), "line 17"},
		"scaling":       {replace("factor: 0.1", "factor: 10"), "line 2"},
		"a list of one": {replace("  pan:\n", "  pan: []\n  other:\n"), "line 5"},
		"an alias":      {"x: &x\n  has_velocity_limits: true\n  max_velocity: 1\njoint_limits:\n  pan: *x\n", "line 5"},
	} {
		if _, err := limits.ParseMoveIt([]byte(tc.text)); !errors.Is(err, limits.ErrMoveIt) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	for name, text := range map[string]string{
		"no room":   replace("min_position: -1.5", "min_position: 5"),
		"no motion": replace("max_velocity: 1.0", "max_velocity: 0"),
	} {
		m, err := limits.ParseMoveIt([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := m.Apply(arm()); !errors.Is(err, limits.ErrMoveIt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseMoveIt(f *testing.F) {
	f.Add([]byte(moveIt))
	f.Add([]byte("joint_limits: {pan: {has_velocity_limits: true, max_velocity: 0x10}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := limits.ParseMoveIt(data)
		if err != nil {
			return
		}
		out, _, err := m.Apply(arm())
		if err != nil {
			return
		}
		for i, j := range out {
			if err := j.Check(); err != nil {
				t.Fatal(err)
			}
			if was := arm()[i]; j.Velocity > was.Velocity || j.Lower < was.Lower || j.Upper > was.Upper {
				t.Fatalf("%+v is wider than %+v", j, was)
			}
		}
	})
}
