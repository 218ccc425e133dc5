package gazebo

import (
	"bytes"
	"fmt"
	"text/template"

	_ "embed"

	"agent_node/sim/robot"
	"agent_node/sim/urdftext"
	"agent_node/sim/world"
)

//go:generate go run ../write_models

// Names under which others find what is in the files.
const (
	WorldName = "flat"
	ModelName = "sim_robot"
)

// Files are the generated files by their paths in this folder.
func Files(w *world.World) (map[string][]byte, error) {
	text, err := robot.Description(w)
	if err != nil {
		return nil, err
	}
	described, err := urdftext.Read(text)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for name, make := range map[string]func() ([]byte, error){
		"worlds/flat.sdf":            func() ([]byte, error) { return worldSDF(w) },
		"models/sim_robot/model.sdf": func() ([]byte, error) { return modelSDF(w, described) },
		"sim_robot.urdf":             func() ([]byte, error) { return controlledURDF(w, text, described) },
		"maps/flat.pgm":              func() ([]byte, error) { return mapPGM(w), nil },
		"maps/flat.yaml":             func() ([]byte, error) { return mapYAML(w, "flat.pgm"), nil },
		"maps/keepout.pgm":           func() ([]byte, error) { return keepOutPGM(w), nil },
		"maps/keepout.yaml":          func() ([]byte, error) { return mapYAML(w, "keepout.pgm"), nil },
	} {
		if out[name], err = make(); err != nil {
			return nil, fmt.Errorf("gazebo: %s: %w", name, err)
		}
	}
	return out, nil
}

func fill(t *template.Template, data any) ([]byte, error) {
	var out bytes.Buffer
	err := t.Execute(&out, data)
	return out.Bytes(), err
}
