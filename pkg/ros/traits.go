package ros

// Traits are what a transport does unlike ROS 2. The zero Traits are ROS 2's ways.
type Traits struct {
	// NoQoS: there is no quality of service to match. Every subscription meets every publisher of its type; a
	// publisher that keeps messages (TransientLocal) gives them to every subscription; nobody knows
	// another's settings.
	NoQoS bool
	// ByNode: the graph knows nodes, not their endpoints. A topic has one type, the first that was told, and a node is at
	// most one publisher and one subscription of it; so is it counted by publishers and subscriptions.
	ByNode bool
	// ServiceFailures: a service can fail. A call that its server answers with a failure ends at once with an error that
	// wraps ErrRejected.
	ServiceFailures bool
}

// TraitsOf are the traits of a node's transport.
func TraitsOf(n Node) Traits {
	if t, ok := n.(interface{ Traits() Traits }); ok {
		return t.Traits()
	}
	return Traits{}
}

// HearAll are the subscriptions that together hear every publisher of a topic: best effort hears them all from now on,
// transient local also what a latched one said before. Where quality of service is not matched, one hears it all.
func HearAll(n Node, liveDepth, latchedDepth int) []QoS {
	if TraitsOf(n).NoQoS {
		return []QoS{{Depth: max(liveDepth, latchedDepth)}}
	}
	return []QoS{{Depth: liveDepth, Reliability: BestEffort}, {Depth: latchedDepth, Durability: TransientLocal}}
}

// HearEach are the subscriptions that lose no single message which the transport can deliver, for topics where one counts: those of
// [HearAll], and a reliable one that hears ordinary publishers. What a publisher sends before the subscription knows of it, and what a
// network loses, best effort never gets; a reliable one is sent it again. A message may come once by each, in any order between them.
func HearEach(n Node, depth int) []QoS {
	all := HearAll(n, depth, depth)
	if TraitsOf(n).NoQoS {
		return all
	}
	// First, so that no publisher finds another without it.
	return append([]QoS{{Depth: depth}}, all...)
}
