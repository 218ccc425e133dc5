package grid

// Distances gives the distance transform to the tests of this room, in cells.
func (g *Grid) Distances() []float32 { return g.distances() }
