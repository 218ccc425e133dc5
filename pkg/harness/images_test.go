package harness_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/tool"
)

// A picture that a tool took is shown to the model right with its observation, counted before it is sent, and in the record; a model that
// is shown none is told that there is one.
func TestPicturesOfAnObservation(t *testing.T) {
	picture := tool.Image{MediaType: "image/jpeg", Data: bytes.Repeat([]byte{0xff, 0xd8, 0}, 1000), Width: 512, Height: 384}
	look := query("look", `{"width":640}`)
	look.do = fixed(tool.Result{OK: true, Content: `{"width":640}`, Images: []tool.Image{picture, picture}})
	for _, shown := range []bool{true, false} {
		m := ends(calls(call("look", `{}`), call("get_battery", `{}`)), calls(call("get_battery", `{}`)), finish("nothing to see"))
		r := newRig(t, m, look, query("get_battery", "98"))
		r.cfg.Images, r.cfg.AcceptanceRounds = shown, -1
		r.run() // compares the requests with those that the record gives
		messages := m.seen[2].Messages
		seen := messages[3]
		if seen.Tool != "look" || messages[4].Images != nil {
			t.Fatalf("%+v", messages)
		}
		want := 0
		if shown {
			want = 2
		}
		if len(seen.Images) != want || strings.Contains(seen.Content, "shown none") == shown {
			t.Errorf("%d pictures beside %q", len(seen.Images), seen.Content)
		}
		for _, i := range seen.Images {
			if !bytes.Equal(i.Data, picture.Data) || i.Width != 512 || i.Height != 384 || i.MediaType != "image/jpeg" {
				t.Errorf("%+v", i)
			}
		}
		bound, _ := budget.ImageTokens(512, 384)
		if reserved := requests(t, r); shown != (reserved[1]-reserved[0] > 2*bound) || reserved[2]-reserved[1] > bound {
			t.Errorf("reserved %v input tokens, a picture counts %d", reserved, bound)
		}
	}
}

// requests lists the input tokens that were reserved for each.
func requests(t *testing.T, r *rig) (reserved []uint64) {
	t.Helper()
	for _, e := range r.events() {
		if e.Kind == string(harness.KindRequest) {
			var d struct {
				Reserved uint64 `json:"reserved_input_tokens"`
			}
			if err := json.Unmarshal(e.Data, &d); err != nil {
				t.Fatal(err)
			}
			reserved = append(reserved, d.Reserved)
		}
	}
	return reserved
}

// A picture that the budget has no room for is not sent.
func TestPicturesAreReserved(t *testing.T) {
	look := query("look", "{}")
	look.do = fixed(tool.Result{OK: true, Content: "{}", Images: []tool.Image{{MediaType: "image/png", Data: []byte{1}, Width: 1024, Height: 1024}}})
	m := ends(calls(call("look", "{}")))
	r := newRig(t, m, look)
	r.cfg.Images = true
	r.goal.Budget.InputTokens = 20_000
	want(t, r.run(), harness.ReasonBudgetInputTokens)
	if m.samples() != 1 {
		t.Errorf("%d requests", m.samples())
	}
}
