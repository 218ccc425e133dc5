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
	LidarNoise    = 0.01 // m, one sigma
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

// lidar remembers where it looked from last. The scan is made when it is asked for, from
// noise that belongs to its time alone: whether anybody asks changes nothing.
type lidar struct {
	seed uint64
	from world.Pose
	at   time.Duration
}

func (l *lidar) step(pose world.Pose, now time.Duration) {
	if now%LidarPeriod == 0 {
		l.from, l.at = pose, now
	}
}

func (l *lidar) scan(w *world.World) Scan {
	n := newNoise(l.seed, streamLidar+uint64(l.at/LidarPeriod)<<8)
	s := Scan{Time: l.at, AngleMin: -math.Pi, AngleStep: 2 * math.Pi / LidarBeams, Ranges: make([]float64, LidarBeams)}
	for i := range s.Ranges {
		r := w.Ray(l.from.X, l.from.Y, l.from.Yaw+s.AngleMin+float64(i)*s.AngleStep) + n.normal(LidarNoise)
		if n.Float64() < lidarLost || r > LidarRangeMax {
			r = math.Inf(1)
		}
		s.Ranges[i] = max(r, LidarRangeMin)
	}
	return s
}
