package robot

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"agent_node/sim/arm"
	"agent_node/sim/plot"
)

// recorder writes the truth of a run. The zero recorder writes nothing.
type recorder struct {
	enc  *json.Encoder
	file *os.File
	err  error

	// What was written last.
	arm    arm.Values
	width  float64
	things map[string]plot.Thing
}

// openRecord records into the file, or into w where no file is named.
func openRecord(file string, w io.Writer) (*recorder, error) {
	rec := &recorder{things: make(map[string]plot.Thing)}
	if file != "" {
		f, err := os.Create(file)
		if err != nil {
			return rec, fmt.Errorf("robot: record: %w", err)
		}
		rec.file, w = f, f
	}
	if w != nil {
		rec.enc = json.NewEncoder(w)
	}
	return rec, nil
}

func (r *recorder) publish(s *snapshot) {
	if r.enc == nil || r.err != nil {
		return
	}
	// The first error is told when the recorder is closed; a run goes on without its record.
	r.err = r.enc.Encode(r.sample(s))
}

// sample is what there is to write: of arm and objects what has changed.
func (r *recorder) sample(s *snapshot) plot.Sample {
	const still = 1e-4 // rad or m
	out := plot.Sample{T: s.truth.Time.Seconds(), X: s.truth.Pose.X, Y: s.truth.Pose.Y, Yaw: s.truth.Pose.Yaw}
	moved := math.Abs(s.truth.Width - r.width)
	for j, q := range s.truth.Arm {
		moved = max(moved, math.Abs(q-r.arm[j]))
	}
	if moved > still {
		out.Arm, out.Width = s.truth.Arm[:], s.truth.Width
		r.arm, r.width = s.truth.Arm, s.truth.Width
	}
	for _, o := range s.objects {
		at := plot.Thing{Name: o.Name, X: o.X, Y: o.Y, Z: o.Z}
		before, told := r.things[o.Name]
		if o.Gone || told && math.Max(math.Hypot(at.X-before.X, at.Y-before.Y), math.Abs(at.Z-before.Z)) < still {
			continue
		}
		r.things[o.Name] = at
		out.Objects = append(out.Objects, at)
	}
	return out
}

// Close closes the file and tells the first error there was.
func (r *recorder) Close() error {
	if r.file != nil {
		if err := r.file.Close(); r.err == nil {
			r.err = err
		}
	}
	if r.err != nil {
		return fmt.Errorf("robot: record: %w", r.err)
	}
	return nil
}
