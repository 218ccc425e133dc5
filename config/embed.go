// Package config holds the shipped robot profiles and their JSON Schema.
package config

import _ "embed"

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
