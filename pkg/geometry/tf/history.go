package tf

import "agent_node/pkg/geometry/spatial"

const noParent int32 = -1

type sample struct {
	stamp     int64
	transform spatial.Transform
}

// node is one frame and its link to its parent.
type node struct {
	name    string
	parent  int32 // noParent: a root
	static  bool
	samples []sample // by stamp; one for a static link
}
