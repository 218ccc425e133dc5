// Package spatial has the value types of rigid motion, on gonum's r3 and quat, and their planar counterparts.
//
// Frames and signs are REP-103's: x forward, y left, z up, right-handed; metres, radians, seconds. Quaternions are
// Hamilton's, the rotation of q is p -> q p q*. Values are copied, never shared; nothing here allocates except the
// constructors of polygons and footprints.
//
// Nothing is normalised silently: CheckQuaternion says whether it changed its argument, and refuses what is no rotation.
package spatial
