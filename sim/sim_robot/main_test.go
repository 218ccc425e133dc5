package main

import "testing"

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"help", []string{"--help"}, exitDone},
		{"a stray argument", []string{"go"}, exitUsage},
		{"a broken remap", []string{"--ros-args", "-r", "nonsense"}, exitUsage},
		{"a missing parameter file", []string{"--ros-args", "--params-file", "/no/such.yaml"}, exitUsage},
	} {
		if got := run(c.args); got != c.want {
			t.Errorf("%s: exit status %d, want %d", c.name, got, c.want)
		}
	}
}
