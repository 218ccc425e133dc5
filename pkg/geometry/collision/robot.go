package collision

import (
	"errors"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"
)

// ErrModel is wrapped by errors about a robot's description, ErrWorld by those about what is around it.
var (
	ErrModel = errors.New("collision: model does not fit")
	ErrWorld = errors.New("collision: bad world")
)

// Robot is a description made ready: links, their shapes, the pairs to check. It is read only.
type Robot struct{}

// NewRobot reads a description. A mesh is an error that names the link: nothing is known of its shape. Errors wrap ErrModel.
func NewRobot(m *urdf.Model, c Config) (*Robot, error) { return nil, ErrModel }

// Joints that move, in the order of configurations.
func (r *Robot) Joints() []string { return nil }

// Scene puts the robot into a world. Errors wrap ErrWorld.
func (r *Robot) Scene(w World) (*Scene, error) { return nil, ErrWorld }

// Scene is a robot in a world. It is read only, and may be shared.
type Scene struct{}

// Robot of the scene.
func (s *Scene) Robot() *Robot { return nil }

// Check lists the contacts at a configuration, the deepest first; the error is a *kinematics.PositionsError.
func (s *Scene) Check(q []float64) ([]Contact, error) { return nil, ErrWorld }

// Free reports whether nothing is closer than its margin at q. It does not allocate.
func (s *Scene) Free(q []float64) bool { return false }

// Nearest is the pair with the least distance beyond its margin at q; ok is false where there is no pair.
func (s *Scene) Nearest(q []float64) (c Contact, ok bool, err error) {
	return Contact{}, false, ErrWorld
}

// CheckPath follows straight lines in joint space from each configuration to the next and gives the first contact, nil where there is none.
func (s *Scene) CheckPath(path ...[]float64) (*Hit, error) { return nil, ErrWorld }

// CheckMotion does the same for curves, one after the other.
func (s *Scene) CheckMotion(motions ...Motion) (*Hit, error) { return nil, ErrWorld }

// LinkPose in the base's frame at q; ok is false for a link that is not there.
func (s *Scene) LinkPose(link string, q []float64) (t spatial.Transform, ok bool, err error) {
	return spatial.Transform{}, false, ErrWorld
}

// Distance between two shapes, in m; negative where they overlap, by at most that much.
func Distance(a Shape, at spatial.Transform, b Shape, bt spatial.Transform) float64 { return 0 }
