package ros1_test

import (
	"errors"
	"reflect"
	"testing"

	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/ros1"
)

func TestArgumentsOfROS1(t *testing.T) {
	c, err := ros1.Arguments([]string{
		"run", "go to the kitchen", "cmd_vel:=/base/cmd_vel", "__name:=helper", "__ns:=robot", "_model/kind:=planner",
		"_queue_length:=3", "__log:=/tmp/x.log", "__master:=http://robot:11311", "__ip:=10.0.0.7", "--json", "x := y", "~state:=told",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := ros1.CommandLine{
		ROSArgs: []string{
			"--ros-args", "-r", "cmd_vel:=/base/cmd_vel", "-r", "__node:=helper", "-r", "__ns:=/robot", "-p", "model.kind:=planner",
			"-p", "queue_length:=3", "-r", "~/state:=told", "--",
		},
		Master: "http://robot:11311", Host: "10.0.0.7",
		Rest: []string{"run", "go to the kitchen", "--json", "x := y"},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
	c, err = ros1.Arguments([]string{"cmd_vel:=/base/cmd_vel", "__name:=helper", "__ns:=/robot", "_queue_length:=3", "~state:=told"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := args.Parse(c.ROSArgs)
	if err != nil {
		t.Fatal(err)
	}
	n, err := a.Node("agent_node", "")
	if err != nil {
		t.Fatal(err)
	}
	if n.FullName() != "/robot/helper" || n.Params["queue_length"] != int64(3) {
		t.Errorf("node %s, parameters %v", n.FullName(), n.Params)
	}
	for in, want := range map[string]string{"cmd_vel": "/base/cmd_vel", "~/state": "/robot/told"} {
		if got, err := n.Topic(in); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", in, got, err, want)
		}
	}
	for _, bad := range []string{"__nonsense:=1", "a:="} {
		var wrong *ros1.ArgumentError
		if _, err := ros1.Arguments([]string{bad}); !errors.As(err, &wrong) || wrong.Argument != bad {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if !ros1.Launched([]string{"__name:=x"}) || ros1.Launched([]string{"a:=b", "run", "_p:=1"}) {
		t.Error("what roslaunch adds is not told apart")
	}
}
