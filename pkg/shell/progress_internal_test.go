package shell

import (
	"bytes"
	"strings"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
)

// A call that runs is shown as running, and with its result once it has one.
func TestProgressShowsCalls(t *testing.T) {
	bus := mem.NewBus()
	defer bus.Close()
	n, err := bus.NewNode("shell", mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := n.Types().Action("agent_msgs/action/ExecuteTask")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := &progress{out: &out}
	feedback := func(index uint32, tool, arguments string, ok bool, kind, content string) {
		m := ros.New(a.Feedback).With("step", uint32(1)).With("state", uint8(3)).With("phase", "observe")
		m.Msg("last_step").With("index", index).With("tool", tool).With("arguments_json", arguments).With("ok", ok).With("error_kind", kind).With("content", content)
		p.feedback(m)
	}
	feedback(0, "", "", false, "", "")
	feedback(1, "drive", `{"distance_m":0.5}`, false, "", "")
	feedback(1, "drive", `{"distance_m":0.5}`, false, "", "")
	feedback(1, "drive", `{"distance_m":0.5}`, true, "", "drove")
	feedback(1, "drive", `{"distance_m":0.5}`, true, "", "drove")
	feedback(2, "turn", "nonsense", false, "invalid_arguments", "no strict JSON")
	got := out.String()
	for _, line := range []string{`drive("distance_m":0.5) ...`, `drive("distance_m":0.5) -> ok: drove`, "turn(nonsense) -> invalid_arguments: no strict JSON"} {
		if n := strings.Count(got, "  "+line+"\n"); n != 1 {
			t.Errorf("%d times %q in:\n%s", n, line, got)
		}
	}
	if strings.Contains(got, "()") {
		t.Errorf("an empty step is shown:\n%s", got)
	}
}
