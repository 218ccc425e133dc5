// Package msgs holds the definitions of the ROS interface package agent_msgs, so
// that programs that run without ROS know them too.
package msgs

import "embed"

// FS has the folders msg, srv and action of agent_msgs.
//
//go:embed msg srv action
var FS embed.FS
