package tool_test

import (
	"testing"

	"agent_node/pkg/harness/tool"
)

func TestLookup(t *testing.T) {
	table, err := tool.NewTable()
	if err != nil {
		t.Fatal(err)
	}
	if x, spec := table.Lookup(tool.Finish); x == nil || spec == nil || spec.Name != tool.Finish || spec.Class != tool.Control {
		t.Errorf("finish is %v %+v", x, spec)
	}
	if x, spec := table.Lookup("Finish"); x != nil || spec != nil {
		t.Errorf("a name that is none is %v %+v", x, spec)
	}
	if table.Properties("fly") != nil || table.Required("fly") != nil || len(table.Required(tool.Finish)) == 0 || len(table.Properties(tool.Finish)) == 0 {
		t.Errorf("finish has %v of %v, fly %v of %v", table.Required(tool.Finish), table.Properties(tool.Finish), table.Required("fly"), table.Properties("fly"))
	}
}
