// Package peers holds the geometry against other people's implementations, in one run beside them: Pinocchio (kinematics), Coal and FCL
// (distances), toppra and ruckig (times), ikpy and roboticstoolbox (inverse kinematics). They are Python wheels in an environment of their own
// (tools/peers), asked through peer.py.
//
// `go test` takes a seeded sample; with PROOF=1 (`make proof`) it takes the full size, which is in the tests' names. Where the
// environment cannot be had, the tests are skipped with that reason.
package peers
