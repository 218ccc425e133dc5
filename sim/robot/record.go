package robot

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"agent_node/sim/plot"
)

// recorder writes the truth of a run. The zero recorder writes nothing.
type recorder struct {
	enc  *json.Encoder
	file *os.File
	err  error
}

// openRecord records into the file, or into w where no file is named.
func openRecord(file string, w io.Writer) (*recorder, error) {
	rec := &recorder{}
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
	r.err = r.enc.Encode(plot.Sample{
		T: s.truth.Time.Seconds(), X: s.truth.Pose.X, Y: s.truth.Pose.Y, Yaw: s.truth.Pose.Yaw,
	})
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
