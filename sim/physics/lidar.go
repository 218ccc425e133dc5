package physics

import (
	"math"
	"time"

	"agent_node/sim/world"
)

// Figures of the lidar, which sits over the base's middle and looks all round.
const (
	LidarBeams    = 360
	LidarPeriod   = 100 * time.Millisecond
	LidarRangeMin = 0.10 // m
	LidarRangeMax = 6.0  // m, beyond it there is no echo
	lidarSigma    = 0.01 // m
	lidarLost     = 0.003
)

// Scan is one turn of the lidar, taken at once. Beam i looks at AngleMin + i*AngleStep
// in the base's frame; a beam without echo has the range +Inf.
type Scan struct {
	Time      time.Duration
	AngleMin  float64 // rad
	AngleStep float64 // rad
	Ranges    []float64
}

type lidar struct {
	noise
	last Scan
}

func newLidar(seed uint64) lidar { return lidar{noise: newNoise(seed, streamLidar)} }

func (l *lidar) step(w *world.World, pose world.Pose, now time.Duration) {
	if now%LidarPeriod == 0 {
		l.measure(w, pose, now)
	}
}

func (l *lidar) measure(w *world.World, pose world.Pose, now time.Duration) {
	s := Scan{Time: now, AngleMin: -math.Pi, AngleStep: 2 * math.Pi / LidarBeams, Ranges: make([]float64, LidarBeams)}
	for i := range s.Ranges {
		r := w.Ray(pose.X, pose.Y, pose.Yaw+s.AngleMin+float64(i)*s.AngleStep) + l.normal(lidarSigma)
		if l.Float64() < lidarLost || r > LidarRangeMax {
			r = math.Inf(1)
		}
		s.Ranges[i] = max(r, LidarRangeMin)
	}
	l.last = s
}
