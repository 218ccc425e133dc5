package robottools

import (
	"testing"
	"time"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/tf"
	"agent_node/pkg/ros"
)

// A detection is where the robot stood when it was seen, whichever of the two topics is heard first.
func TestADetectionIsPlacedByTheTransformOfItsStamp(t *testing.T) {
	at := func(x float64) spatial.Transform {
		out := spatial.Identity()
		out.Translation = r3.Vec{X: x}
		return out
	}
	const first, second, third = int64(1e9), int64(2e9), int64(3e9)
	for name, heard := range map[string][]int64{"transform first": {first, second}, "detection first": {first, 0, second}, "late": {first, 0, second, third}} {
		t.Run(name, func(t *testing.T) {
			buffer := tf.New(tf.Config{})
			p := &Profile{Frames: Frames{Map: "map"}, Objects: map[string]Object{"cube": {}}}
			o := &objectMemory{profile: p, world: &worldView{buffer: buffer, maxAge: 2 * time.Second}, seen: map[string]sighting{}, refused: map[string]string{}}
			detect := func() {
				s := sighting{stamp: ros.Time(second), ahead: &detection{"base", at(1).Pose()}}
				if err := o.place(&s); err != nil {
					t.Fatal(err)
				}
				o.seen["cube"] = s
			}
			x := func() any { return o.scope(ros.Time(second))["cube"].(map[string]any)["x"] }
			for _, stamp := range heard {
				if stamp == 0 {
					detect()
					if x() != 2.0 { // the newest transform before it: the robot stood at 1
						t.Fatalf("before its transform it is at %v", x())
					}
					continue
				}
				if _, err := buffer.Set(tf.Stamped{Parent: "map", Child: "base", Stamp: stamp, Transform: at(float64(stamp) / 1e9)}, stamp); err != nil {
					t.Fatal(err)
				}
			}
			if len(o.seen) == 0 {
				detect()
			}
			if x() != 3.0 {
				t.Errorf("it is at %v, want 3", x())
			}
		})
	}
}
