// Package digest says of a message what matters of it, in a bounded number of bytes: a message that is small stays whole;
// of a large one arrays are told by their shape and statistics, images by size and a thumbnail, point clouds by their
// bounds, maps by what they hold, paths by their ends. What was left out is said.
package digest
