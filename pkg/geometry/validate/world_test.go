package validate_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/tf"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/geometry/zone"

	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/gonum/spatial/r3"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func v(x, y float64) r2.Vec { return r2.Vec{X: x, Y: y} }

func pose(x, y, yaw float64) spatial.Pose { return spatial.Pose2{X: x, Y: y, Yaw: yaw}.Pose() }

// facts are the numbers of testdata/world.json.
func facts() map[string]float64 {
	var f map[string]float64
	if err := json.Unmarshal(must(os.ReadFile("testdata/world.json")), &f); err != nil {
		panic(err)
	}
	return f
}

// room draws the map of testdata/world.json: free within its bounds, one wall across x in [-2, 2].
func room(f map[string]float64) *grid.Grid {
	const res = 0.05
	x0, y0 := f["map_xmin"], f["map_ymin"]
	w, h := int(math.Round((f["map_xmax"]-x0)/res)), int(math.Round((f["map_ymax"]-y0)/res))
	data := make([]int8, w*h)
	for y := range h {
		for x := range w {
			px, py := x0+(float64(x)+0.5)*res, y0+(float64(y)+0.5)*res
			if math.Abs(px) < 2 && math.Abs(py-f["wall_y"]) < f["wall_h"] {
				data[y*w+x] = 100
			}
		}
	}
	return must(grid.New(grid.Config{Frame: "map", Width: w, Height: h, Resolution: res, Origin: spatial.Pose2{X: x0, Y: y0}, Data: data}))
}

// world is a robot at rest at a pose, in the room, with the zone of testdata/world.json; localised through odom.
func world(at spatial.Pose2) *validate.World {
	f := facts()
	now := int64(f["now_sec"])*1e9 + int64(f["now_nsec"])
	buf := tf.New(tf.Config{})
	odom := spatial.Pose2{X: 0.3, Y: -0.2, Yaw: 0.4} // of odom in map
	for i := int64(20); i >= 0; i-- {
		stamp := now - i*int64(50*time.Millisecond)
		for _, s := range []tf.Stamped{
			{Parent: "map", Child: "odom", Stamp: stamp, Transform: odom.Pose().Transform()},
			{Parent: "odom", Child: "base_link", Stamp: stamp, Transform: odom.Inverse().Compose(at).Pose().Transform()},
		} {
			must(buf.Set(s, stamp))
		}
	}
	return &validate.World{
		Now: now, Frame: "map", TF: buf,
		Limits: &limits.Base{Forward: f["v_max"], Backward: f["v_max"], Angular: f["w_max"], Decel: 1, AngularDecel: 2, MaxDistance: 20},
		Zones: []*zone.Zone{must(zone.New(zone.Config{
			Name: "lab", Kind: zone.KeepOut, Frame: "map",
			Shape: must(zone.Box(v(f["zone_x"], f["zone_y"]), v(2*f["zone_h"], 2*f["zone_h"]), 0)),
		}))},
		Map: room(f), NeedMap: true,
		Footprint: must(spatial.CircleFootprint(f["robot_r"])),
		State:     validate.State{Pose: odom.Inverse().Compose(at).Pose(), Frame: "odom", Stamp: now},
	}
}

func rules(f []geometry.Finding) string {
	var names []string
	for _, x := range f {
		names = append(names, x.Rule)
	}
	return strings.Join(names, ", ")
}

// expect checks a report: the rules in order, and that each finding is fit to be read.
func expect(t *testing.T, r validate.Report, want string) {
	t.Helper()
	if got := rules(r.Findings); got != want {
		t.Errorf("got %q, want %q: %v", got, want, r.Findings)
	}
	for _, f := range r.Findings {
		if f.Message == "" || f.Subject == "" || !strings.HasPrefix(f.Message, f.Rule+": "+f.Subject) {
			t.Errorf("not fit to be read: %+v", f)
		}
	}
	if r.Valid() != (want == "") || (r.Err() == nil) != (want == "") {
		t.Errorf("valid %v, err %v", r.Valid(), r.Err())
	}
}

func twist(x, w float64) validate.Twist {
	return validate.Twist{Twist: spatial.Twist{Linear: r3.Vec{X: x}, Angular: r3.Vec{Z: w}}}
}

func goal(x, y, yaw float64) validate.PoseGoal {
	return validate.PoseGoal{Frame: "map", Pose: pose(x, y, yaw)}
}
