package robot

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"agent_node/sim/world"
)

const (
	leftWheel  = "left_wheel"
	rightWheel = "right_wheel"
)

//go:embed description.urdf.tmpl
var descriptionText string

// Description is the robot's URDF. The origin of base_link is on the floor, in the middle
// between the wheels.
func Description(w *world.World) (string, error) {
	t, err := template.New("urdf").Parse(descriptionText)
	if err != nil {
		return "", fmt.Errorf("robot: description: %w", err)
	}
	v := w.Robot
	const ground, wheelWidth, casterRadius = 0.02, 0.03, 0.02
	body := v.Height - ground
	var out strings.Builder
	err = t.Execute(&out, map[string]any{
		"Base": frameBase, "Laser": frameLaser,
		"Radius": v.Radius, "Body": body, "BodyZ": ground + body/2,
		"LaserZ": v.LidarHeight, "CasterRadius": casterRadius, "CasterX": 0.7 * v.Radius,
		"WheelRadius": v.WheelRadius, "WheelWidth": wheelWidth,
		"WheelSpeed": (v.Limits.Linear + v.Limits.Angular*v.WheelTrack/2) / v.WheelRadius,
		"Wheels": []struct {
			Name string
			Y    float64
		}{{leftWheel, v.WheelTrack / 2}, {rightWheel, -v.WheelTrack / 2}},
		"Mass": 12.0, "IXX": 12.0 * (3*v.Radius*v.Radius + body*body) / 12, "IZZ": 12.0 * v.Radius * v.Radius / 2,
		"WheelMass": 0.5, "WheelIXX": 0.5 * (3*v.WheelRadius*v.WheelRadius + wheelWidth*wheelWidth) / 12,
		"WheelIZZ": 0.5 * v.WheelRadius * v.WheelRadius / 2,
	})
	if err != nil {
		return "", fmt.Errorf("robot: description: %w", err)
	}
	return out.String(), nil
}
