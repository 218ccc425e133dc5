//go:build ros2

package ros2

import (
	"log/slog"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
)

// DomainFromEnvironment as Options.Domain means ROS_DOMAIN_ID, 0 where that is not set.
const DomainFromEnvironment = -1

// Options say how to make a node.
type Options struct {
	// Namespace of the node, "/" if empty.
	Namespace string
	// Args are the command line's: remaps of the node's name, namespace, topics and services. May be nil.
	Args *args.Args
	// Domain is the DDS domain, 0 to 232; DomainFromEnvironment for ROS_DOMAIN_ID.
	Domain int
	// Logger is what Node.Logger returns, with the node's name added; nil for slog's default.
	Logger *slog.Logger
	// UseSimTime makes the node's clock follow /clock from the start, as the parameter use_sim_time in Args does.
	UseSimTime bool
	// Types may be shared by several nodes of a process; nil: the node looks at AMENT_PREFIX_PATH itself.
	Types *Types
}

// maxDomain is the largest domain id whose ports DDS can number.
const maxDomain = 232

func (o *Options) domain() uint {
	if o.Domain < 0 {
		return rclgo.DefaultDomainID
	}
	return uint(o.Domain)
}

const defaultDepth = 10

func depthOf(q ros.QoS) int {
	if q.Depth <= 0 {
		return defaultDepth
	}
	return q.Depth
}

func qosToRcl(q ros.QoS) rclgo.QosProfile {
	p := rclgo.NewDefaultQosProfile()
	p.Depth = depthOf(q)
	p.Lifespan = q.Lifespan
	if q.Deadline > 0 {
		p.Deadline = q.Deadline
	}
	if q.Reliability == ros.BestEffort {
		p.Reliability = rclgo.ReliabilityBestEffort
	}
	if q.Durability == ros.TransientLocal {
		p.Durability = rclgo.DurabilityTransientLocal
	}
	return p
}

func qosFromRcl(p *rclgo.QosProfile) ros.QoS {
	q := ros.QoS{Depth: p.Depth}
	if p.Reliability == rclgo.ReliabilityBestEffort {
		q.Reliability = ros.BestEffort
	}
	if p.Durability == rclgo.DurabilityTransientLocal {
		q.Durability = ros.TransientLocal
	}
	if p.Lifespan != rclgo.DurationInfinite {
		q.Lifespan = p.Lifespan
	}
	if p.Deadline != rclgo.DurationInfinite {
		q.Deadline = p.Deadline
	}
	q.ManualLiveliness = p.Liveliness == rclgo.LivelinessManualByTopic
	return q
}
