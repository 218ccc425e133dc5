//go:build ros2

// Program client_library is a node /fleet/robot with parameters, a life cycle, a log and type descriptions, for
// tests. Commands on stdin make it log or tell a parameter.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/lifecycle"
	"agent_node/pkg/ros/param"
	"agent_node/pkg/ros/rosout"
	"agent_node/pkg/ros/typedesc"
	"agent_node/test/ros/cmd/internal/peer"
)

// command is one line of stdin.
type command struct {
	Do    string // log, get, dump
	Level slog.Level
	Text  string // of log; the parameter's name of get
}

func main() {
	a, err := args.Parse(os.Args[1:])
	if err != nil {
		peer.Fail(err)
	}
	handler := rosout.New(rosout.FromArgs(a))
	node := peer.Node("robot", "/fleet", slog.New(handler))
	check := func(err error) {
		if err != nil {
			peer.Fail(err)
		}
	}
	check(handler.Attach(node))
	overrides, err := param.Overrides(a.Params, "/fleet/robot")
	check(err)
	params, err := param.New(node, param.Config{Overrides: overrides})
	check(err)
	for _, p := range []struct {
		d   param.Descriptor
		def any
	}{
		{param.Descriptor{Name: "speed.max", Description: "Highest speed, m/s.", Float: &param.FloatRange{From: 0, To: 2, Step: 0.25}}, 1.0},
		{param.Descriptor{Name: "speed.count", Int: &param.IntRange{From: 1, To: 6}}, 2},
		{param.Descriptor{Name: "name", ReadOnly: true, Constraints: "a word"}, "r1"},
		{param.Descriptor{Name: "any", DynamicTyping: true}, []string{"a", "b"}},
		{param.Descriptor{Name: "bytes"}, []byte{1, 2}},
		{param.Descriptor{Name: "bools"}, []bool{true, false}},
		{param.Descriptor{Name: "doubles"}, []float64{0.5}},
	} {
		_, err := params.Declare(p.d, p.def)
		check(err)
	}
	params.OnSet(func(changes []param.Parameter) error {
		for _, c := range changes {
			if c.Name == "speed.count" && c.Value.Any() == int64(5) {
				return errors.New("five is not liked")
			}
		}
		return nil
	})
	failing := 0
	machine, err := lifecycle.New(node, lifecycle.Callbacks{Configure: func(context.Context) error {
		if failing++; failing == 1 {
			return lifecycle.Failure(errors.New("the first time always fails"))
		}
		return nil
	}})
	check(err)
	prefixes := filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH"))
	_, err = typedesc.Serve(node, typedesc.First(typedesc.FromPrefixes(prefixes...), typedesc.FromTypes(node.Types())))
	check(err)

	peer.Say(map[string]any{"event": "ready"})
	peer.Commands(func(c command) {
		switch c.Do {
		case "log":
			node.Logger().Log(context.Background(), c.Level, c.Text, rosout.LoggerKey, "guard")
		case "get":
			v, err := params.Get(c.Text)
			check(err)
			peer.Say(map[string]any{"event": "value", "value": v.Any(), "type": v.Type().String()})
		case "dump":
			data, err := params.Dump()
			check(err)
			peer.Say(map[string]any{"event": "dump", "text": string(data)})
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	check(errors.Join(machine.Close(), params.Close(), handler.Close(ctx), node.Close()))
	peer.Say(map[string]any{"event": "closed"})
}
