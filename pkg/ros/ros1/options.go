package ros1

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
)

// Options say how to make a node.
type Options struct {
	// Namespace of the node; empty: ROS_NAMESPACE, or "/".
	Namespace string
	// Args are the command line's (see [Arguments]): remaps of the node's name, namespace, topics and services, and parameters. May be nil.
	Args *args.Args
	// Master is the master's URI; empty: ROS_MASTER_URI, or http://localhost:11311.
	Master string
	// Host is the name or address by which other machines reach this one; empty: ROS_HOSTNAME, ROS_IP, or
	// the address from which the master is reached.
	Host string
	// Logger is what Node.Logger returns, with the node's name added; nil for slog's default.
	Logger *slog.Logger
	// Types may be shared by several nodes of a process; nil: TypesFromEnvironment.
	Types *Types
	// Requests is how many requests each service serves at once; 0: 32.
	Requests int
}

const (
	defaultDepth    = 10
	defaultRequests = 32
	defaultMaster   = "http://localhost:11311"
)

func depthOf(q ros.QoS) int {
	if q.Depth <= 0 {
		return defaultDepth
	}
	return q.Depth
}

// masterAddress is the host and port of the master.
func (o *Options) masterAddress() (uri, address string, err error) {
	uri = o.Master
	if uri == "" {
		uri = os.Getenv("ROS_MASTER_URI")
	}
	if uri == "" {
		uri = defaultMaster
	}
	address, err = hostOf(uri)
	if err != nil {
		return uri, "", fmt.Errorf("ros1: ROS_MASTER_URI is %q: want http://HOST:PORT", uri)
	}
	return uri, address, nil
}

// hostOf is the host and port of a URI such as http://robot:11311/ or rosrpc://robot:4711.
func hostOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", err
	}
	if u.Hostname() == "" || u.Port() == "" {
		return "", fmt.Errorf("ros1: %q names no host and port", uri)
	}
	return u.Host, nil
}

// host is how others reach this machine.
func (o *Options) host(master string) (string, error) {
	for _, h := range []string{o.Host, os.Getenv("ROS_HOSTNAME"), os.Getenv("ROS_IP")} {
		if h != "" {
			return h, nil
		}
	}
	// No packet is sent: the system only chooses the way. ROS 1 is at home in IPv4.
	conn, err := new(net.Dialer).DialContext(context.Background(), "udp4", master)
	if err != nil {
		conn, err = new(net.Dialer).DialContext(context.Background(), "udp", master)
	}
	if err != nil {
		return "", fmt.Errorf("ros1: no way to the master %s: %w", master, err)
	}
	defer conn.Close()
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	return host, err
}

// bind is the address to listen on: this machine's own where the host is, else all.
func bind(host string) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return net.JoinHostPort(host, "0")
	}
	if host == "localhost" {
		return "127.0.0.1:0"
	}
	return ":0"
}

func namespaceFromEnvironment(o *Options) string {
	if o.Namespace != "" {
		return o.Namespace
	}
	return strings.TrimSuffix(os.Getenv("ROS_NAMESPACE"), "/")
}
