package gazebo

import (
	_ "embed"
	"math"
	"text/template"

	"agent_node/sim/physics"
	"agent_node/sim/urdftext"
	"agent_node/sim/world"
)

//go:embed model.sdf.tmpl
var modelText string

// Figures that the URDF has no place for.
const (
	wheelFriction  = 1.0
	fingerFriction = 1.0
	jointDamping   = 0.5  // Nm s/rad
	railDamping    = 20.0 // N s/m, of the fingers
	casterFriction = 0.01
	casterRadius   = 0.03 // m
	casterOffset   = 0.17 // m before and behind the wheels' axis: within the footprint
)

// model is what the template of the robot is filled with.
type model struct {
	Name    string
	Robot   *urdftext.Robot
	Base    string
	World   *world.World
	Lidar   lidar
	Casters []caster
}

// lidar are the figures of the laser scanner.
type lidar struct {
	Link            string
	Beams           int
	Rate, From, To  float64 // Hz, rad
	Min, Max, Noise float64 // m
}

// caster is a ball under the base: the URDF lets the base float on its wheels, and physics does not.
type caster struct {
	Name               string
	X, Z, Radius, Grip float64
}

func modelSDF(w *world.World, r *urdftext.Robot) ([]byte, error) {
	t, err := template.New("model").Funcs(template.FuncMap{
		"color": r.Color, "above": r.Above, "friction": frictionOf, "damping": damping, "motion": motion,
	}).Parse(modelText)
	if err != nil {
		return nil, err
	}
	step := 2 * math.Pi / physics.LidarBeams
	return fill(t, model{
		Name: ModelName, Robot: r, Base: world.LinkBase, World: w,
		Lidar: lidar{
			Link: world.LinkLaser, Beams: physics.LidarBeams, Rate: 1 / physics.LidarPeriod.Seconds(), From: -math.Pi, To: math.Pi - step,
			Min: physics.LidarRangeMin, Max: physics.LidarRangeMax, Noise: physics.LidarNoise,
		},
		Casters: []caster{
			{Name: "front_caster", X: casterOffset, Z: casterRadius, Radius: casterRadius, Grip: casterFriction},
			{Name: "back_caster", X: -casterOffset, Z: casterRadius, Radius: casterRadius, Grip: casterFriction},
		},
	})
}

// frictionOf is the coefficient of a link that holds on by it, 0 for the engine's own.
func frictionOf(link string) float64 {
	switch link {
	case "left_wheel", "right_wheel":
		return wheelFriction
	case "left_finger", "right_finger":
		return fingerFriction
	}
	return 0
}

// motion is what SDFormat calls a type of joint: it has no joint that turns without end but by its limits.
func motion(j *urdftext.Joint) string {
	if j.Type == string(world.Continuous) {
		return string(world.Revolute)
	}
	return j.Type
}

// damping of a joint that moves; wheels are held by their drive alone.
func damping(j *urdftext.Joint) float64 {
	switch j.Type {
	case string(world.Prismatic):
		return railDamping
	case string(world.Continuous):
		return 0
	}
	return jointDamping
}
