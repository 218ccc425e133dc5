// Command write_models writes what is generated from sim/world and the robot's URDF: Gazebo's and MuJoCo's models, the maps
// and flat.json. Run it in the module's root: go run ./sim/write_models.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agent_node/sim/flat"
	"agent_node/sim/gazebo"
	"agent_node/sim/mujoco"
	"agent_node/sim/world"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "write_models:", err)
		os.Exit(1)
	}
}

// write writes into the sim folder, from the module's root or from one of its rooms.
func write() error {
	root := "sim"
	if _, err := os.Stat(root); err != nil {
		root = ".."
	}
	if _, err := os.Stat(filepath.Join(root, "world", "world.go")); err != nil {
		return errors.New("run it in the module's root")
	}
	w := world.Default()
	for folder, make := range map[string]func(*world.World) (map[string][]byte, error){
		"flat": flat.Files, "gazebo": gazebo.Files, "mujoco": mujoco.Files,
	} {
		files, err := make(w)
		if err != nil {
			return err
		}
		for name, text := range files {
			path := filepath.Join(root, folder, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return err
			}
			fmt.Println(path)
		}
	}
	return nil
}
