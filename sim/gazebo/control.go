package gazebo

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"agent_node/sim/urdftext"
	"agent_node/sim/world"
)

//go:embed control.urdf.tmpl
var controlText string

// controlledJoint is a joint as ros2_control's hardware has it.
type controlledJoint struct {
	Name             string
	Commanded, Start bool
	Lower, Upper     string
	Initial          float64 // rad or m
}

// controlledURDF is the robot's URDF with a ros2_control block: the arm and the driven finger take positions; wheels (which
// the diff drive system turns) and the finger that mimics are only told of.
func controlledURDF(w *world.World, text string, r *urdftext.Robot) ([]byte, error) {
	start := map[string]float64{w.Gripper.Joint: 0}
	for i, name := range w.Arm.Names {
		start[name] = round(w.Arm.Carry[i])
	}
	var joints []controlledJoint
	for _, j := range r.Joints {
		if j.Limit == nil {
			continue
		}
		initial, commanded := start[j.Name]
		joints = append(joints, controlledJoint{
			Name: j.Name, Commanded: commanded, Lower: j.Limit.Lower, Upper: j.Limit.Upper, Initial: initial,
			Start: commanded || j.Mimic != nil,
		})
	}
	t, err := template.New("control").Parse(controlText)
	if err != nil {
		return nil, err
	}
	block, err := fill(t, joints)
	if err != nil {
		return nil, err
	}
	const end = "</robot>"
	at := strings.LastIndex(text, end)
	if at < 0 {
		return nil, fmt.Errorf("the URDF has no %s", end)
	}
	return []byte(text[:at] + string(block) + text[at:] + "\n"), nil
}
