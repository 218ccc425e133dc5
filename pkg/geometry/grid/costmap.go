package grid

import "fmt"

// Nav2's costs (nav2_msgs/msg/Costmap).
const (
	CostFree      uint8 = 0
	CostInscribed uint8 = 253 // the base's centre must not be here: something is within the inscribed radius
	CostLethal    uint8 = 254 // something is here
	CostUnknown   uint8 = 255
)

// FromCosts are the cells of an occupancy grid for those of a costmap, as Nav2 publishes it: lethal is 100, inscribed 99, unknown -1, what is between 1 to 98. A footprint is checked against
// what is there, not against what has been inflated by a radius already: with Rules.OccupiedAt 100, inscribed cells and lower costs are free.
func FromCosts(costs []uint8) []int8 {
	out := make([]int8, len(costs))
	for i, c := range costs {
		switch c {
		case CostFree:
		case CostUnknown:
			out[i] = Unknown
		case CostLethal:
			out[i] = 100
		case CostInscribed:
			out[i] = 99
		default:
			out[i] = int8(1 + 97*(int(c)-1)/251)
		}
	}
	return out
}

// NewCostmap makes a grid of a costmap: only what is lethal blocks, and what nobody has seen. cfg.Data is not looked at.
func NewCostmap(cfg Config, costs []uint8) (*Grid, error) {
	if cfg.Rules.OccupiedAt != 0 {
		return nil, fmt.Errorf("%w: a costmap has its own cost from which a cell blocks", ErrGrid)
	}
	cfg.Data, cfg.Rules.OccupiedAt = FromCosts(costs), 100
	return New(cfg)
}
