package robottools_test

import (
	"testing"
	"time"
)

func TestPickAndPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.ok("get_pose", "{}") // waits until the robot is seen
		time.Sleep(time.Second)
		r.ok("get_joints", "{}")
		r.ok("navigate_to", `{"place":"table"}`)
		r.ok("list_objects", "{}")
		r.ok("pick", `{"object":"red cube"}`)
		if v := r.ok("holding", `{"object":"red cube"}`); !v.Passed {
			t.Errorf("not held: %s", v.Content)
		}
		r.ok("navigate_to", `{"place":"kitchen"}`)
		res := r.ok("place", `{"place":"kitchen"}`)
		if len(res.Postconditions) != 1 || res.Postconditions[0] != "object_at(red cube, kitchen)" {
			t.Errorf("postconditions %v", res.Postconditions)
		}
		if v := r.ok("object_at", `{"object":"red cube","place":"kitchen"}`); !v.Passed {
			t.Errorf("not there: %s", v.Content)
		}
	})
}
