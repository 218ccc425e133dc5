package grid_test

import (
	"errors"
	"testing"

	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/spatial"
)

func TestCostmap(t *testing.T) {
	// One lethal cell with what Nav2 inflates around it, and a cell that nobody has seen.
	costs := make([]uint8, 25*25)
	for y := range 25 {
		for x := range 25 {
			switch d := max(x-12, 12-x) + max(y-12, 12-y); {
			case d == 0:
				costs[y*25+x] = grid.CostLethal
			case d <= 3:
				costs[y*25+x] = grid.CostInscribed
			case d <= 6:
				costs[y*25+x] = uint8(200 - 20*d)
			}
		}
	}
	costs[0] = grid.CostUnknown
	g := must(grid.NewCostmap(grid.Config{Frame: "map", Width: 25, Height: 25, Resolution: 0.1}, costs))
	fp := must(spatial.CircleFootprint(0.2))
	for _, tc := range []struct {
		x, y float64
		free bool
	}{
		{1.25, 1.25, false}, // on it
		{1.25, 1.45, false}, // the footprint reaches into it
		{1.25, 1.55, true},  // within what has been inflated, and clear of what is there
		{0.2, 0.2, false},   // on what nobody has seen
		{0.1, 1.2, false},   // off the map
	} {
		if got := g.Free(fp, spatial.Pose2{X: tc.x, Y: tc.y}, 0); got != tc.free {
			t.Errorf("(%g, %g): free %v", tc.x, tc.y, got)
		}
	}
	for cost, want := range map[uint8]int8{0: 0, 1: 1, 252: 98, 253: 99, 254: 100, 255: -1} {
		if got := grid.FromCosts([]uint8{cost}); got[0] != want {
			t.Errorf("cost %d is %d, want %d", cost, got[0], want)
		}
	}
	if _, err := grid.NewCostmap(grid.Config{Frame: "map", Width: 2, Height: 2, Resolution: 0.1, Rules: grid.Rules{OccupiedAt: 50}}, make([]uint8, 4)); !errors.Is(err, grid.ErrGrid) {
		t.Errorf("two rules: %v", err)
	}
	if _, err := grid.NewCostmap(grid.Config{Frame: "map", Width: 2, Height: 2, Resolution: 0.1}, make([]uint8, 3)); !errors.Is(err, grid.ErrGrid) {
		t.Errorf("too few cells: %v", err)
	}
}
