package shell_test

import (
	"errors"
	"path/filepath"
	"testing"

	"agent_node/pkg/ros/ros1"
	"agent_node/pkg/shell"
)

func TestDoctorOnROS1(t *testing.T) {
	noMaster := errors.New("no master at http://robot:11311")
	for _, x := range []struct {
		name              string
		environ           map[string]string
		host              error
		area, level, says string
	}{
		{"no master", map[string]string{"ROS_MASTER_URI": "http://robot:11311"}, noMaster, "master", "error", "no master at http://robot:11311"},
		{"a master", map[string]string{"ROS_MASTER_URI": "http://robot:11311"}, nil, "master", "ok", "http://robot:11311"},
		{"a way back that leads nowhere", map[string]string{"ROS_MASTER_URI": "http://robot:11311", "ROS_IP": "127.0.0.1"}, nil, "master", "error", "127.0.0.1"},
		{"both on one machine", map[string]string{"ROS_IP": "127.0.0.1"}, nil, "master", "ok", "localhost:11311"},
		{"no URI", map[string]string{"ROS_MASTER_URI": "robot"}, noMaster, "master", "error", `"robot"`},
		{"a path that is gone", map[string]string{"ROS_PACKAGE_PATH": "/nowhere/at/all"}, nil, "master", "warn", "/nowhere/at/all"},
		{"the profile by ROS 1's types", nil, noMaster, "profile", "ok", "ros1_base"},
	} {
		t.Run(x.name, func(t *testing.T) {
			d := examine(t, shell.Doctor{
				ROS1: true, Types: ros1.NewTypes(), HostError: x.host, Profile: filepath.Join("..", "..", "config", "ros1_base.yaml"),
			}, x.environ)
			if !d.says(x.area, x.level, x.says) || d.says("prefix", "error", "") || d.says("network", "ok", "") {
				t.Errorf("want %s in %s of %q in %+v", x.level, x.area, x.says, d.Findings)
			}
		})
	}
}
