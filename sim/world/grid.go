package world

import "math"

// Grid is the occupancy grid of a world: what the robot's map topic carries. Row 0 is
// the southern edge, column 0 the western; the origin is the south-western corner
// of cell (0, 0).
type Grid struct {
	Width, Height    int
	Resolution       float64 // m
	OriginX, OriginY float64 // m, in map
	Occupied         []bool  // row after row
}

// Grid draws the obstacles. Keep-out zones are not in it: they are nothing that a
// sensor sees. Cells are free or occupied, none is unknown.
func (w *World) Grid() *Grid {
	sx, sy := w.Bounds.Size()
	g := &Grid{
		Width:      int(math.Round(sx / w.Resolution)),
		Height:     int(math.Round(sy / w.Resolution)),
		Resolution: w.Resolution,
		OriginX:    w.Bounds.MinX,
		OriginY:    w.Bounds.MinY,
	}
	g.Occupied = make([]bool, g.Width*g.Height)
	for i := range g.Occupied {
		x, y := g.Center(i)
		g.Occupied[i] = w.Clearance(x, y) == 0
	}
	return g
}

// Center is the middle of the cell with the index.
func (g *Grid) Center(index int) (x, y float64) {
	return g.OriginX + (float64(index%g.Width)+0.5)*g.Resolution,
		g.OriginY + (float64(index/g.Width)+0.5)*g.Resolution
}

// Index is the cell that the point lies in, or -1 off the map. NaN is off the map.
func (g *Grid) Index(x, y float64) int {
	column := math.Floor((x - g.OriginX) / g.Resolution)
	row := math.Floor((y - g.OriginY) / g.Resolution)
	on := column >= 0 && column < float64(g.Width) && row >= 0 && row < float64(g.Height)
	if !on {
		return -1
	}
	return int(row)*g.Width + int(column)
}
