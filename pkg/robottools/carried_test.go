package robottools_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What is carried is a body of the arm: some motions that an empty hand may make are refused because of it alone, and none because of it where
// nothing is carried.
func TestWhatIsCarriedCollidesToo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.ok("get_joints", "{}")
		time.Sleep(time.Second) // of the bubble's clock
		foreseen := func(state any, name, args string) any {
			t.Helper()
			p := r.predict(state, name, args)
			if p.Refused || p.Unknown || p.State == nil {
				t.Fatalf("%s(%s): %+v", name, args, p)
			}
			return p.State
		}
		empty := foreseen(nil, "navigate_to", `{"place":"table"}`)
		full := foreseen(empty, "pick", `{"object":"red cube"}`)
		// The tool points down beside the table's edge, nearer and nearer; turned so that the cube reaches farther than the fingers.
		refused, byCube, motions := 0, 0, 0
		for _, y := range []float64{-0.1, 0, 0.1} {
			for x := 0.36; x < 0.42; x += 0.001 {
				args := fmt.Sprintf(`{"pose":{"x":%.3f,"y":%.3f,"z":0.37,"yaw":0}}`, x, y)
				without, with := r.predict(empty, "move_arm", args), r.predict(full, "move_arm", args)
				if without.Unknown || with.Unknown {
					t.Fatalf("%s is unknown", args)
				}
				motions++
				if without.Refused {
					refused++
				}
				for _, f := range without.Findings {
					if strings.Contains(f.Subject, "red cube") {
						t.Errorf("%s: an empty hand carries it: %s", args, f.Message)
					}
				}
				if !without.Refused && with.Refused && strings.Contains(with.Findings[0].Subject, "red cube") {
					byCube++
				}
			}
		}
		t.Logf("of %d motions %d are refused for an empty hand, and %d more for the cube in it", motions, refused, byCube)
		if byCube < 5 || refused < 5 || refused == motions {
			t.Error("what is carried makes no difference")
		}
	})
}
