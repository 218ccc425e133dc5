// Package flat writes the flat and the robot's figures down as JSON (flat.json), for simulators that are not in Go. The
// Python package of the same name beside it reads it, and has what such simulators share: the camera's view, the map.
package flat
