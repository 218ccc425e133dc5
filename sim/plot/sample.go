package plot

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Sample is where the robot truly was at a time of a run, in map.
type Sample struct {
	T   float64 `json:"t"`   // s since the run began
	X   float64 `json:"x"`   // m
	Y   float64 `json:"y"`   // m
	Yaw float64 `json:"yaw"` // rad
	// Arm are the arm's joint positions in rad, Width is the gripper's opening in m; nothing if the arm stands as in the sample before.
	Arm   []float64 `json:"arm,omitempty"`
	Width float64   `json:"width,omitempty"`
	// Objects are those that moved since the sample before, and in the first one all of them.
	Objects []Thing `json:"objects,omitempty"`
}

// Thing is where an object truly was, in map.
type Thing struct {
	Name string  `json:"name"`
	X    float64 `json:"x"` // m
	Y    float64 `json:"y"` // m
	Z    float64 `json:"z"` // m
}

// Read reads a recorded run: JSON lines, one sample in each. A cut-off last line is
// what a killed process leaves behind, and is left out.
func Read(r io.Reader) ([]Sample, error) {
	var run []Sample
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return run, nil
		}
		if err != nil {
			return nil, err
		}
		var s Sample
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("plot: line %d of the run: %w", n, err)
		}
		run = append(run, s)
	}
}
