package validate_test

import (
	"fmt"

	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/geometry/zone"

	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/gonum/spatial/r3"
)

func ExampleValidate() {
	footprint, _ := spatial.CircleFootprint(0.25)
	box, _ := zone.Box(r2.Vec{X: 2}, r2.Vec{X: 1, Y: 1}, 0)
	stairs, _ := zone.New(zone.Config{Name: "stairs", Kind: zone.KeepOut, Frame: "map", Shape: box, Margin: 0.1})
	w := &validate.World{
		Now: 1_000_000_000, Frame: "map", Footprint: footprint, Zones: []*zone.Zone{stairs},
		Limits: &limits.Base{Forward: 0.5, Angular: 1, Decel: 1, AngularDecel: 2},
		State:  validate.State{Frame: "map", Pose: spatial.Pose2{}.Pose(), Stamp: 1_000_000_000},
	}

	r := validate.Validate(validate.Drive{Distance: 2}, w)
	fmt.Println(r.Valid(), r.Findings[0])
	fmt.Printf("nearest: %+v\n", r.Nearest)

	r = validate.Validate(validate.Twist{Twist: spatial.Twist{Linear: r3.Vec{X: 0.6}}}, w)
	fmt.Println(r.Valid(), r.Findings[0])
	// Output:
	// false keep-out: stairs after 1.150 m of 2.000 m, at (1.150 m, 0.000 m, 0.000 rad), the way leads the footprint to 0.75 m inside the keep-out zone, limit 0.1 m from it
	// nearest: {Distance:1.1 Speed:0}
	// false linear velocity: linear.x is 0.6 m/s, limit 0.5 m/s
}
