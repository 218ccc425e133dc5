//go:build !ros2

package main

import "testing"

func TestWithoutROSItSaysWhatToDo(t *testing.T) {
	if _, err := newNode(nil, nil); err == nil {
		t.Error("a node without ROS")
	}
	if got := run(nil); got != exitFailed {
		t.Errorf("exit status %d, want %d", got, exitFailed)
	}
}
