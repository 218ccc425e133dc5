// Package mesh reads surfaces made of triangles, STL and OBJ, and finds the files that robot descriptions name.
//
// Lengths are those of the file, which says nothing of its unit; descriptions are in metres and scale what is not. Everything that is malformed is
// an *Error that names the line (of a text) or the byte (of a binary file).
package mesh
