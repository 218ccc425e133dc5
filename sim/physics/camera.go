package physics

import (
	"math"
	"time"

	"agent_node/sim/world"
)

// Detection is an object as the camera sees it.
type Detection struct {
	Name     string
	Size     float64        // m
	Position world.Vec      // of its centre, in camera_link
	Rotation world.Rotation // in camera_link
	Distance float64        // m
}

// Detections is what the camera saw at a time. The robot's own arm hides nothing from it.
type Detections struct {
	Time time.Duration
	Seen []Detection
}

// camera takes a picture at regular times. The noise belongs to the time alone: what was seen before changes nothing.
type camera struct {
	world  *world.World
	seed   uint64
	period time.Duration
	link   int
	last   Detections
}

func newCamera(w *world.World, seed uint64) camera {
	return camera{
		world: w, seed: seed, link: w.Body.Index(world.LinkCamera),
		period: time.Duration(float64(time.Second) / w.Camera.Rate).Round(Step),
	}
}

// step takes a picture, if it is time for one.
func (c *camera) step(frame world.Transform, things []object, now time.Duration) {
	if now%c.period != 0 {
		return
	}
	n := newNoise(c.seed, streamCamera+uint64(now/c.period)<<8)
	c.last = Detections{Time: now}
	back := frame.Inverse()
	for _, thing := range things {
		// Each object has its share of the noise, seen or not.
		shake := world.Vec{X: n.normal(c.world.Camera.Noise), Y: n.normal(c.world.Camera.Noise), Z: n.normal(c.world.Camera.Noise)}
		at := back.Mul(thing.at)
		if thing.gone || !c.sees(frame.P, thing, at.P) {
			continue
		}
		c.last.Seen = append(c.last.Seen, Detection{
			Name: thing.Name, Size: thing.Size, Position: at.P.Add(shake), Rotation: at.R, Distance: at.P.Norm(),
		})
	}
}

// sees reports whether an object, at a place in the camera's frame, is in view.
func (c *camera) sees(eye world.Vec, thing object, at world.Vec) bool {
	f, d := c.world.Camera, at.Norm()
	if at.X <= 0 || d < f.RangeMin || d > f.RangeMax ||
		math.Abs(at.Y) > at.X*math.Tan(f.HorizontalFOV/2) || math.Abs(at.Z) > at.X*math.Tan(f.VerticalFOV/2) {
		return false
	}
	// Seen is the side that faces the camera.
	way := thing.at.P.Sub(eye)
	face := eye.Add(way.Scale(1 - thing.Size/2/d))
	for _, walls := range [][]world.Obstacle{c.world.Walls, c.world.Furniture} {
		for i := range walls {
			if walls[i].Hides(eye, face) {
				return false
			}
		}
	}
	return true
}
