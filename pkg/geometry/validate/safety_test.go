package validate_test

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// vector and the rest are just enough of the messages to read the cases.
type vector struct{ X, Y, Z geometry.Number }

func (v vector) r3() r3.Vec { return r3.Vec{X: float64(v.X), Y: float64(v.Y), Z: float64(v.Z)} }

type twistMsg struct{ Linear, Angular vector }

type navigateMsg struct {
	Pose struct {
		Header struct {
			Stamp   validate.Stamp
			FrameID string `json:"frame_id"`
		}
		Pose struct {
			Position    vector
			Orientation struct{ X, Y, Z, W geometry.Number }
		}
	}
}

// bareInfinity stands in messages as it must not stand in JSON; whoever decodes them reports it, geometry names the field.
var bareInfinity = regexp.MustCompile(`-?Infinity`)

func command(t *testing.T, kind, message string) validate.Command {
	t.Helper()
	message = bareInfinity.ReplaceAllString(message, `"$0"`)
	read := func(v any) {
		if err := json.Unmarshal([]byte(message), v); err != nil {
			t.Fatal(err)
		}
	}
	switch kind {
	case "geometry_msgs/msg/Twist":
		var m twistMsg
		read(&m)
		return validate.Twist{Twist: spatial.Twist{Linear: m.Linear.r3(), Angular: m.Angular.r3()}}
	case "nav2_msgs/action/NavigateToPose":
		var m navigateMsg
		read(&m)
		o := m.Pose.Pose.Orientation
		return validate.PoseGoal{Frame: m.Pose.Header.FrameID, Stamp: m.Pose.Header.Stamp, Pose: spatial.Pose{
			Position:    m.Pose.Pose.Position.r3(),
			Orientation: quat.Number{Real: float64(o.W), Imag: float64(o.X), Jmag: float64(o.Y), Kmag: float64(o.Z)},
		}}
	}
	t.Fatalf("no such kind %q", kind)
	return nil
}

// TestSafetyCases runs the twist and pose cases, resolved for testdata/world.json. Cases about a message's form are for its decoder.
func TestSafetyCases(t *testing.T) {
	f, err := os.Open("testdata/safety.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	count := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct {
			ID, Why string
			Unsafe  bool
			Payload struct {
				InterfaceType string `json:"interface_type"`
				MessageJSON   string `json:"message_json"`
			}
			Expect struct{ Rule string }
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		count++
		t.Run(c.ID+" "+c.Why, func(t *testing.T) {
			w := world(spatial.Pose2{})
			r := validate.Validate(command(t, c.Payload.InterfaceType, c.Payload.MessageJSON), w)
			if r.Valid() == c.Unsafe {
				t.Fatalf("valid %v: %v", r.Valid(), r.Findings)
			}
			if c.Unsafe && !slices.ContainsFunc(r.Findings, func(f geometry.Finding) bool { return f.Rule == c.Expect.Rule }) {
				t.Errorf("rule %q is not among %v", c.Expect.Rule, r.Findings)
			}
			// What is offered instead is valid, and was not silently put in the command's place.
			if r.Nearest != nil {
				if n := validate.Validate(r.Nearest, w); !n.Valid() {
					t.Errorf("the nearest command %+v is refused: %v", r.Nearest, n.Findings)
				}
			}
		})
	}
	if count != 20 {
		t.Errorf("%d cases, want 20", count)
	}
}
