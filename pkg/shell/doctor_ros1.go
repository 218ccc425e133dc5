package shell

import (
	"cmp"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"agent_node/pkg/node/survey"
)

// master: is ROS 1's there, and can its nodes reach this machine?
func (x *doctor) master() {
	uri := cmp.Or(x.Getenv("ROS_MASTER_URI"), "http://localhost:11311")
	if x.HostError != nil {
		x.say("master", survey.Error, "start roscore there, or set ROS_MASTER_URI", "%v", x.HostError)
	} else {
		x.say("master", survey.OK, "", "it answers at %s", uri)
	}
	own := cmp.Or(x.Getenv("ROS_HOSTNAME"), x.Getenv("ROS_IP"))
	switch u, err := url.Parse(uri); {
	case err != nil || u.Hostname() == "":
		x.say("master", survey.Error, "http://HOST:11311", "ROS_MASTER_URI is %q", uri)
	case own == "":
		x.say("master", survey.OK, "", "neither ROS_HOSTNAME nor ROS_IP is set: this machine is known by the address from which the master is reached")
	case !isHere(u.Hostname()) && isHere(own):
		x.say("master", survey.Error, "set ROS_IP to this machine's address on the robot's network", "other machines are told to reach this one as %s, and the master is at %s", own, u.Hostname())
	}
	for _, p := range filepath.SplitList(x.Getenv("ROS_PACKAGE_PATH")) {
		if s, err := os.Stat(p); err != nil || !s.IsDir() {
			x.say("master", survey.Warn, "take it off", "%s is in ROS_PACKAGE_PATH and is not there", p)
		}
	}
}

// isHere reports whether a name or address means this very machine wherever it is read.
func isHere(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
