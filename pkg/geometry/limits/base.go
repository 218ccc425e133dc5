package limits

import (
	"errors"
	"fmt"

	"agent_node/pkg/geometry/spatial"
)

// Base is what a ground base may do. All values are finite and not negative. Forward, Angular, Decel and AngularDecel
// are needed: without them nothing about a motion can be judged.
type Base struct {
	Forward  float64 // m/s, linear.x up
	Backward float64 // m/s, linear.x down; 0: no driving backwards
	Lateral  float64 // m/s, linear.y either way; 0: a base that cannot move sideways
	Angular  float64 // rad/s, angular.z either way

	Accel        float64 // m/s^2 between successive commands; 0: not checked (the base's controller ramps)
	Decel        float64 // m/s^2 that the base surely brakes with
	AngularAccel float64 // rad/s^2 between successive commands; 0: not checked
	AngularDecel float64 // rad/s^2 that the base surely brakes with

	MaxDistance float64 // m of one straight drive; 0: only the range of coordinates bounds it
	MaxAngle    float64 // rad of one turn in place; 0: likewise
}

// ErrConfig is wrapped by every error about the numbers of a Base.
var ErrConfig = errors.New("limits: bad configuration")

// Check reports the first number that is missing or makes no sense, by its field's name.
func (b Base) Check() error {
	for _, f := range []struct {
		name   string
		value  float64
		needed bool
	}{
		{"Forward", b.Forward, true},
		{"Backward", b.Backward, false},
		{"Lateral", b.Lateral, false},
		{"Angular", b.Angular, true},
		{"Accel", b.Accel, false},
		{"Decel", b.Decel, true},
		{"AngularAccel", b.AngularAccel, false},
		{"AngularDecel", b.AngularDecel, true},
		{"MaxDistance", b.MaxDistance, false},
		{"MaxAngle", b.MaxAngle, false},
	} {
		if !(f.value >= 0 && spatial.Finite(f.value)) {
			return fmt.Errorf("%w: %s is %g, must be finite and not negative", ErrConfig, f.name, f.value)
		}
		if f.needed && f.value == 0 {
			return fmt.Errorf("%w: %s is missing", ErrConfig, f.name)
		}
	}
	return nil
}
