// Package planning finds joint paths without collisions: the straight line, a detour over given configurations, or a small
// deterministic search with two trees (RRT-Connect), shortened.
//
// A path that it returns passes the same check that commands must pass. The same request gives the same path.
package planning
