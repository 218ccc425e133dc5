// Package picture turns camera images of ROS into pictures that a model is shown: decoded,
// made small and encoded as JPEG. It knows the messages' fields and no ROS.
package picture
