// Package urdftext reads a URDF as it is written, for those who write the same robot down in another format: numbers stay the
// text that they are, so that nothing is rounded on the way. What the numbers mean, and whether they can be, is the
// business of package urdf of the geometry.
package urdftext
