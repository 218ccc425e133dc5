package physics

import "math/rand/v2"

// Every source of noise has a stream of its own, so that reading one sensor more
// often, or breaking one, changes nothing for the others.
const (
	streamOdometry uint64 = iota + 1
	streamLocalisation
	streamLidar
	streamJoints
	streamFinger
	streamCamera
)

type noise struct{ *rand.Rand }

func newNoise(seed, stream uint64) noise {
	return noise{rand.New(rand.NewPCG(seed, stream))}
}

// normal draws from a normal distribution around zero, cut off at four sigma, so that
// bounds on what sensors say hold for certain and not nearly always.
func (n noise) normal(sigma float64) float64 {
	return sigma * min(max(n.NormFloat64(), -4), 4)
}
