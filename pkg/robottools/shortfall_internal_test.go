package robottools

import (
	"testing"

	"agent_node/pkg/harness/tool"
)

func TestShort(t *testing.T) {
	b := &bound{name: "t"}
	moved := func(x, yaw float64) map[string]any { return map[string]any{"x": x, "y": 0.0, "yaw": yaw} }
	radians := func(int) string { return "rad" }
	for name, c := range map[string]struct {
		got  *tool.Result
		fail bool
	}{
		"made":                       {b.short(0.1, 0, moved(0.098, 0)), false},
		"not made":                   {b.short(0.1, 0, moved(0, 0)), true},
		"the other way":              {b.short(0.1, 0, moved(-0.1, 0)), true},
		"backwards":                  {b.short(-0.1, 0, moved(-0.1, 0)), false},
		"backwards, not made":        {b.short(-0.1, 0, moved(0.001, 0)), true},
		"too far is not too little":  {b.short(0.1, 0, moved(0.4, 0)), false},
		"a turn":                     {b.short(0, 6.28, moved(0, 6.27)), false},
		"a whole turn that was none": {b.short(0, 6.28, moved(0, 0)), true},
		"nothing asked":              {b.short(0, 0, moved(0, 0)), false},
		"an arc":                     {b.short(1, 3.14, moved(0, 3.1)), false},
		"joints":                     {b.shortJoints([]string{"a", "b"}, []float64{0, 0}, []float64{0.02, 0}, []float64{0.019, 0.01}, radians), false},
		"joints that stayed":         {b.shortJoints([]string{"a", "b"}, []float64{0, 0}, []float64{0.02, 0}, []float64{0, 0}, radians), true},
		"joints that went back":      {b.shortJoints([]string{"a", "b"}, []float64{1, 0}, []float64{1, -0.02}, []float64{1, 0.02}, radians), true},
		"joints that are there":      {b.shortJoints([]string{"a"}, []float64{0.0004}, []float64{0}, []float64{0.0004}, radians), false},
		"joints not measured":        {b.shortJoints([]string{"a"}, nil, []float64{1}, nil, radians), false},
	} {
		if (c.got != nil) != c.fail {
			t.Errorf("%s: %+v", name, c.got)
		}
	}
	const want = "t: a was to move by -1.571 rad and the server says it has, but only -0.5 rad were measured, less than half"
	if got := b.shortJoints([]string{"a"}, []float64{1.571}, []float64{0}, []float64{1.071}, radians); got == nil || got.Content != want {
		t.Errorf("%+v, want %q", got, want)
	}
}
