// Package config holds the shipped robot profiles and their JSON Schema.
package config

import (
	"embed"
	"io/fs"
	"strings"
)

// ProfileSchema is the JSON Schema of a robot profile.
//
//go:embed profile.schema.json
var ProfileSchema []byte

// SimRobot is the profile of the built-in robot.
//
//go:embed sim_robot.yaml
var SimRobot []byte

// SafetySuite is the suite of scenarios that `agent_node eval safety` tries.
//
//go:embed suites/safety.yaml
var SafetySuite []byte

//go:embed *.yaml
var profiles embed.FS

// Shipped is a shipped profile by its name, which is the file's without its ending.
func Shipped(name string) ([]byte, bool) {
	data, err := profiles.ReadFile(name + ".yaml")
	return data, err == nil
}

// Names are the shipped profiles', sorted.
func Names() []string {
	files, err := fs.Glob(profiles, "*.yaml")
	if err != nil {
		panic(err) // of a malformed pattern
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".yaml")
	}
	return files
}
