package ros1

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// CommandLine is a command line as rosrun and roslaunch write it, translated.
type CommandLine struct {
	// ROSArgs are names and parameters as package args reads them, beginning with --ros-args where there are any.
	ROSArgs []string
	// Master and Host are __master and __ip or __hostname; empty where not given.
	Master, Host string
	// Rest is what is not ROS's, in order.
	Rest []string
}

// assignment is what ROS 1 takes for its own: name:=value.
var assignment = regexp.MustCompile(`^([~/_A-Za-z][~/\w]*):=(.*)$`)

// Launched reports whether a command line has what only roslaunch and rosrun's users write: __name:=…, __log:=….
func Launched(argv []string) bool {
	for _, a := range argv {
		if m := assignment.FindStringSubmatch(a); m != nil && strings.HasPrefix(m[1], "__") {
			return true
		}
	}
	return false
}

// Arguments reads ROS 1's arguments: from:=to remaps a name, _name:=value sets a parameter of the node, __name:=…, __ns:=…,
// __master:=…, __ip:=… and __hostname:=… say who and where it is; __log:=… is heard and not heeded, as the log goes to the
// console and to /rosout.
func Arguments(argv []string) (CommandLine, error) {
	var c CommandLine
	add := func(flag, text string) {
		if len(c.ROSArgs) == 0 {
			c.ROSArgs = []string{"--ros-args"}
		}
		c.ROSArgs = append(c.ROSArgs, flag, text)
	}
	for _, a := range argv {
		m := assignment.FindStringSubmatch(a)
		if m == nil {
			c.Rest = append(c.Rest, a)
			continue
		}
		name, value := m[1], m[2]
		if value == "" {
			return c, &ArgumentError{Argument: a, Err: errors.New("its value is missing")}
		}
		switch {
		case name == "__name":
			add("-r", "__node:="+value)
		case name == "__ns":
			add("-r", "__ns:=/"+strings.TrimPrefix(value, "/"))
		case name == "__master":
			c.Master = value
		case name == "__ip", name == "__hostname":
			c.Host = value
		case name == "__log":
		case strings.HasPrefix(name, "__"):
			return c, &ArgumentError{Argument: a, Err: errors.New("no such setting: __name, __ns, __master, __ip, __hostname or __log")}
		case strings.HasPrefix(name, "_"):
			add("-p", strings.ReplaceAll(name[1:], "/", ".")+":="+value)
		default:
			add("-r", private(name)+":="+private(value))
		}
	}
	if len(c.ROSArgs) > 0 {
		c.ROSArgs = append(c.ROSArgs, "--")
	}
	return c, nil
}

// private writes ~name as ~/name.
func private(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && !strings.HasPrefix(rest, "/") {
		return "~/" + rest
	}
	return name
}

// ArgumentError names an argument that is wrong.
type ArgumentError struct {
	Argument string
	Err      error
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("ros1: bad argument %q: %v", e.Argument, e.Err)
}

// Unwrap gives the cause.
func (e *ArgumentError) Unwrap() error { return e.Err }
