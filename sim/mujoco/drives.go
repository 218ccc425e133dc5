package mujoco

import (
	"strconv"

	"agent_node/sim/urdftext"
	"agent_node/sim/world"
)

// drive is a joint's motor and gear: what a URDF does not tell of, chosen as such arms have it. The torque limit is the
// URDF's effort.
type drive struct {
	Joint string
	// Armature is the inertia of rotor and gear as the joint feels it, kg m^2 (kg along a rail).
	Armature float64
	// Damping, N m s/rad (N s/m), and Friction, N m (N), are the gear's.
	Damping, Friction float64
	// Stiffness, N m/rad (N/m), and Viscosity, N m s/rad (N s/m), are the servo's; a wheel's has no stiffness.
	Stiffness, Viscosity float64
	Effort               float64 // N m or N
	Wheel                bool
}

// heavy is the effort from which on a joint has the large drive, N m.
const heavy = 40

func driveOf(j *urdftext.Joint) (drive, error) {
	effort, err := strconv.ParseFloat(j.Limit.Effort, 64)
	d := drive{Joint: j.Name, Effort: effort}
	switch {
	case j.Type == string(world.Continuous):
		d.Wheel, d.Armature, d.Damping, d.Friction, d.Viscosity = true, 0.01, 0.02, 0.05, 4
	case j.Type == string(world.Prismatic):
		d.Armature, d.Damping, d.Friction, d.Stiffness, d.Viscosity = 0.1, 10, 0.5, 4000, 80
	case effort > heavy:
		d.Armature, d.Damping, d.Friction, d.Stiffness, d.Viscosity = 0.25, 1, 0.4, 3000, 150
	case effort == heavy:
		d.Armature, d.Damping, d.Friction, d.Stiffness, d.Viscosity = 0.25, 1, 0.4, 3000, 90
	default:
		d.Armature, d.Damping, d.Friction, d.Stiffness, d.Viscosity = 0.03, 0.1, 0.08, 400, 9
	}
	return d, err
}

// drivesOf are those of the joints that have one: a finger that mimics follows without.
func drivesOf(r *urdftext.Robot) []drive {
	var out []drive
	for i := range r.Joints {
		if j := &r.Joints[i]; j.Limit != nil && j.Mimic == nil {
			d, err := driveOf(j)
			if err == nil {
				out = append(out, d)
			}
		}
	}
	return out
}
