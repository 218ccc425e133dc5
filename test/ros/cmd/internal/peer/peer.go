//go:build ros2

// Package peer is what the test programs share: JSON lines in and out, and a node.
package peer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"agent_node/pkg/ros/ros2"
)

var mu sync.Mutex

// Say prints one JSON object.
func Say(what map[string]any) {
	line, err := json.Marshal(what)
	if err != nil {
		Fail(err)
	}
	mu.Lock()
	defer mu.Unlock()
	fmt.Println(string(line))
}

// Fail ends the process with an error.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Node makes the process's node, in the domain of ROS_DOMAIN_ID.
func Node(name, namespace string, log *slog.Logger) *ros2.Node {
	if log == nil {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	n, err := ros2.NewNode(name, ros2.Options{Namespace: namespace, Domain: ros2.DomainFromEnvironment, Logger: log})
	if err != nil {
		Fail(err)
	}
	return n
}

// Commands reads JSON objects from stdin, one a line, until it ends or the process is asked to end
// by SIGTERM or SIGINT.
func Commands[T any](do func(T)) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			lines <- append([]byte(nil), in.Bytes()...)
		}
	}()
	for {
		select {
		case <-signals:
			return
		case line, ok := <-lines:
			if !ok {
				return
			}
			var c T
			if err := json.Unmarshal(line, &c); err != nil {
				Fail(fmt.Errorf("command %q: %w", line, err))
			}
			do(c)
		}
	}
}
