// Package interfaces holds the definitions of other packages' interfaces that the
// built-in robot speaks, for machines that lack those packages.
package interfaces

import "embed"

// FS has a folder for each interface package.
//
//go:embed *_msgs
var FS embed.FS
