package grid

import (
	"math"

	"agent_node/pkg/geometry/spatial"
)

// Step is the least step of a sweep in metres: a motion that comes closer than this to a blocked cell without touching it
// may be refused (never the other way round).
const Step = 1e-3

// StepShare bounds the number of steps of very long motions: their least step is at least this share of the way.
const StepShare = 1e-5

// Sweep checks the filled footprint along a whole motion (in the grid's frame). It is free when the footprint keeps margin from
// every blocked cell at every point in between; else u is where it stops being so, in [0, 1].
//
// Most motions are free as a whole, with all that FreeAlong takes for their way. Else each step moves no point of the footprint farther than the room that was
// just proven around it: by the distance transform where there is room, else by testing with cells made larger by the step.
func (g *Grid) Sweep(fp spatial.Footprint, m spatial.Motion, margin float64) (free bool, u float64) {
	m, whole := m.Once()
	travel := m.Travel(fp.OuterRadius())
	if !g.sane(fp, m.From, margin) || !spatial.Finite(travel) {
		return false, 0
	}
	if g.FreeAlong(fp, []spatial.Pose2{m.From, m.End()}, m.Bulge(fp), margin) {
		return true, 1
	}
	least := max(Step, travel*StepShare)
	step := 4 * g.resolution
	for {
		p := m.At(u)
		step = min(step, (1-u)*travel) // no more room is needed than for what is left
		proven, ok := g.around(fp, p, margin, &step, least)
		switch {
		case ok && (u >= 1 || travel == 0):
			return true, 1
		case ok:
			u = min(1, u+proven/travel)
		case u >= 1:
			// Nothing follows: the pose itself decides.
			return g.Free(fp, p, margin), 1
		default:
			return false, u * whole
		}
	}
}

// around gives a radius by which every point of the footprint may move freely, at least least; step is a guess, and the next one.
func (g *Grid) around(fp spatial.Footprint, p spatial.Pose2, margin float64, step *float64, least float64) (proven float64, ok bool) {
	if !g.sane(fp, p, margin) {
		return 0, false
	}
	cx, cy := g.cells(p.X, p.Y)
	if n := g.near.Load(); n != nil {
		room := g.lowerBound(n, cx, cy) - fp.OuterRadius() - math.Sqrt2*max(margin, 0)
		if room >= least {
			return room, true
		}
	}
	for s := max(*step, least); ; s = max(s/4, least) {
		if g.free(fp, p, cx, cy, margin+s) {
			*step = 2 * s
			return s, true
		}
		if s == least {
			*step = 4 * least
			return 0, false
		}
	}
}
