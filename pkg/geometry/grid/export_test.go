package grid

// Distances gives the distance transform to the tests of this room.
func (g *Grid) Distances() []float32 {
	g.Prepare()
	return *g.distance.Load()
}

// Transform computes the distance transform anew.
func (g *Grid) Transform() { g.distances() }
