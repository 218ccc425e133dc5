// Command sim_robot is the built-in robot as a ROS 2 node.
//
//	sim_robot [--ros-args -p NAME:=VALUE -r FROM:=TO ...]
//
// Its topics, actions and parameters are listed in docs/sim.md. It ends on SIGINT,
// SIGTERM and SIGHUP, with status 0.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/rosout"
	"agent_node/pkg/ros/typedesc"
	"agent_node/sim/robot"
)

const usage = `usage: sim_robot [--ros-args ARGUMENT...]

The built-in robot as a ROS 2 node. Common arguments after --ros-args:
  -p seed:=N                seed of all noise
  -p rate:=X                simulated seconds in a real one (publishes /clock)
  -p start.x:=X -p start.y:=Y -p start.yaw:=YAW
  -p start.random:=true     the robot starts where the seed says
  -p objects.random:=true   and so do the objects
  -p fault.NAME:=VALUE      a fault from the start on
  -p sim.record:=FILE       write the truth of the run, for the picture
`

// Exit statuses.
const (
	exitDone = iota
	exitFailed
	exitUsage
)

// farewell is how long the last log lines have.
const farewell = time.Second

func main() { os.Exit(run(os.Args[1:])) }

func run(argv []string) int {
	a, err := args.Parse(argv)
	if err != nil {
		return complain(exitUsage, err)
	}
	if slices.Contains(a.Rest, "--help") || slices.Contains(a.Rest, "-h") {
		fmt.Print(usage)
		return exitDone
	}
	if len(a.Rest) > 0 {
		fmt.Fprint(os.Stderr, usage)
		return complain(exitUsage, fmt.Errorf("%q is no argument of this program", a.Rest[0]))
	}
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	if err := serve(ctx, a); err != nil {
		return complain(exitFailed, err)
	}
	return exitDone
}

// serve is the node from its beginning to its end.
func serve(ctx context.Context, a *args.Args) (err error) {
	out := rosout.New(rosout.FromArgs(a))
	node, err := newNode(a, slog.New(out))
	if err != nil {
		return err
	}
	owned := []io.Closer{node}
	defer func() {
		// The log's own publisher ends with the node, after what waits has left.
		bye, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		errs := []error{err, out.Close(bye)}
		for _, c := range slices.Backward(owned) {
			errs = append(errs, c.Close())
		}
		err = errors.Join(errs...)
	}()
	if err := out.Attach(node); err != nil {
		return err
	}
	types, err := describeTypes(node)
	if err != nil {
		return err
	}
	owned = append(owned, types)
	r, err := robot.New(node, robot.Options{})
	if err != nil {
		return err
	}
	node.Logger().Info("the built-in robot is up", "start", fmt.Sprintf("%.2f", r.Truth().Pose))
	return r.Run(ctx)
}

// describeTypes serves ~/get_type_description.
func describeTypes(node ros.Node) (io.Closer, error) {
	prefixes := filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH"))
	return typedesc.Serve(node, typedesc.First(typedesc.FromPrefixes(prefixes...), typedesc.FromTypes(node.Types())))
}

func complain(status int, err error) int {
	fmt.Fprintln(os.Stderr, "sim_robot:", err)
	return status
}
