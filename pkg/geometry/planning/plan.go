package planning

import (
	"context"
	"errors"
	"fmt"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/limits"
)

// ErrRequest is wrapped by errors about a request that makes no sense.
var ErrRequest = errors.New("planning: bad request")

// Request for a path.
type Request struct {
	Scene    *collision.Scene
	Joints   []limits.Joint // in the order of configurations
	From, To []float64
	// Vias are configurations over which a detour is tried, one at a time in their order, before the search (carry, up).
	Vias [][]float64
	// Nodes bounds the search (2000); negative: there is none.
	Nodes int
	Seed  uint64
}

// Why there is no path.
type Why string

// Reasons of a BlockedError.
const (
	AtStart Why = "start"  // the start itself is in contact
	AtGoal  Why = "goal"   // the goal is
	Between Why = "no way" // none was found; the contact is that of the straight line
)

// BlockedError names the contact that is in the way.
type BlockedError struct {
	Why Why
	Hit collision.Hit
}

// Error names both parts.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("planning: %s: %s and %s are %.4f m apart, margin %.4f m", e.Why, e.Hit.A, e.Hit.B, e.Hit.Distance, e.Hit.Margin)
}

// PlanJoints gives a path from Request.From to Request.To, both included, that Scene.CheckPath accepts. An error is a *BlockedError, wraps ErrRequest, or is the context's.
func PlanJoints(ctx context.Context, r Request) ([][]float64, error) { return nil, ErrRequest }
