package kinematics

import (
	"errors"
	"fmt"
)

// ErrModel is wrapped by errors about a model that a chain or tree cannot be made of.
var ErrModel = errors.New("kinematics: model does not fit")

// ErrOptions is wrapped by errors about inverse kinematics' options and target.
var ErrOptions = errors.New("kinematics: bad options")

// PositionsError is about joint positions that are none: too few, too many, or not finite.
type PositionsError struct {
	Got, Want int     // how many
	Joint     string  // of a value that is not finite; empty: the number is wrong
	Value     float64 // of that joint
}

// Error says how many there are and should be, or which one is not finite.
func (e *PositionsError) Error() string {
	if e.Joint != "" {
		return fmt.Sprintf("kinematics: position of %s is %g, must be a finite number", e.Joint, e.Value)
	}
	return fmt.Sprintf("kinematics: %d positions for %d joints", e.Got, e.Want)
}

// UnreachableError says by how much a pose is out of reach.
type UnreachableError struct {
	// Missing is the distance, in m, from the nearest place that the tip was found to get to within the joints' limits; 0 where the
	// place is reached and only the orientation is not, or where everything that was found was not accepted.
	Missing float64
	// Angle that is missing there, rad; 0 where orientation was not asked for.
	Angle float64
	// Nearest joint positions, in the order of the chain.
	Nearest []float64
	// Rejected counts solutions that Options.Accept refused.
	Rejected int
}

// Error says what is missing.
func (e *UnreachableError) Error() string {
	switch {
	case e.Rejected > 0:
		return fmt.Sprintf("kinematics: unreachable: the pose is within reach, but none of the %d solutions found is acceptable", e.Rejected)
	case e.Missing > 0:
		return fmt.Sprintf("kinematics: unreachable: %.3f m are missing", e.Missing)
	}
	return fmt.Sprintf("kinematics: unreachable: the place is within reach, but %.3f rad of the orientation are missing", e.Angle)
}
