package ros

import (
	"context"
	"log/slog"
	"time"
)

// Node is one ROS node on some transport. All methods are safe for concurrent
// use. Entities may be created and closed while the node runs. Callbacks of one
// entity run one after another, in order; callbacks of different entities never
// wait for each other.
//
// Names given to the Create methods are resolved as ROS resolves them: "/abs",
// "relative" (below the namespace), "~/private" (below the node), then remapped.
type Node interface {
	// Name is the node's base name, without namespace.
	Name() string
	// Namespace begins with a slash; the root namespace is "/".
	Namespace() string
	// ResolveName expands and remaps a topic or service name to its absolute form.
	ResolveName(name string) (string, error)

	// Types finds interface types by name, at run time.
	Types() TypeSource
	// Clock is the node's ROS time: the system's, or /clock's with use_sim_time.
	Clock() Clock
	// Logger logs under the node's name (and to /rosout where that is bridged).
	Logger() *slog.Logger

	CreatePublisher(topic, typeName string, qos QoS) (Publisher, error)
	CreateSubscription(topic, typeName string, qos QoS, callback func(Received)) (Subscription, error)
	CreateClient(service, typeName string) (Client, error)
	// CreateService serves requests. Each request runs in a goroutine of its own,
	// at most a bounded number at once; ctx ends when the node closes. A returned error is logged
	// and no response is sent (ROS 2 has no error response).
	CreateService(service, typeName string, handler ServiceHandler) (Service, error)

	Graph() Graph
	// Close ends every entity of the node and waits for their callbacks. It is idempotent.
	Close() error
}

// Received is a message as it arrived.
type Received struct {
	Message *Message
	// Arrived is the monotonic arrival time on this machine.
	Arrived time.Time
	// SourceTimestamp is the sender's stamp (wall clock), zero where the transport has none.
	SourceTimestamp time.Time
	// Publisher identifies the sending publisher: equal for two messages of one
	// publisher. On transports that tell none it is empty.
	Publisher string
}

// ServiceHandler answers one request.
type ServiceHandler func(ctx context.Context, request *Message) (*Message, error)

// Publisher sends messages of one type on one topic.
type Publisher interface {
	Topic() string
	Type() *Type
	// Publish sends the message; the message may be reused afterwards.
	Publish(m *Message) error
	// SubscriptionCount is how many matched subscriptions the transport knows.
	SubscriptionCount() int
	// ID is what Received.Publisher says on messages of this publisher, empty if unknown.
	ID() string
	Close() error
}

// Acknowledger is what a publisher is, beside Publisher, where its transport can tell whether what was sent has arrived.
type Acknowledger interface {
	// Acknowledged waits at most limit, and reports whether every matched reliable subscription has acknowledged every
	// message that is still kept. An error: that cannot be told.
	Acknowledged(limit time.Duration) (bool, error)
}

// Subscription receives messages of one type from one topic.
type Subscription interface {
	Topic() string
	Type() *Type
	// PublisherCount is how many matched publishers the transport knows.
	PublisherCount() int
	// Close ends the subscription. No callback begins after it returned; one that runs may
	// still be running (it may be the caller), and the node's Close waits for it.
	Close() error
}

// Unhurried is what a subscription is, beside Subscription, where its transport can hand on messages of several topics
// together, which costs an idle program a fraction.
type Unhurried interface {
	// LetWait allows messages to wait for others, for 25 ms at most and never so long that any is lost, or takes that back and has
	// what waits handed on now. Received.Arrived stays when they came, where the middleware tells.
	LetWait(on bool)
}

// Client calls one service.
type Client interface {
	Service() string
	Type() *ServiceType
	// Ready reports whether a server is there now.
	Ready() bool
	// WaitReady waits until a server is there or ctx ends.
	WaitReady(ctx context.Context) error
	// Call sends the request and waits for its response or for ctx. With no server in
	// sight it returns ErrNotReady at once; a server that answers with an error or dies leaves it waiting for ctx.
	Call(ctx context.Context, request *Message) (*Message, error)
	Close() error
}

// Service serves one service until closed.
type Service interface {
	Service() string
	Type() *ServiceType
	// Close takes the service down. A request that is being served still gets its response.
	Close() error
}

// Graph answers questions about the nodes, topics and services in sight.
type Graph interface {
	// Topics maps topic names to the types they are published or subscribed with.
	Topics() (map[string][]string, error)
	Services() (map[string][]string, error)
	// Nodes lists fully qualified node names.
	Nodes() ([]string, error)
	Publishers(topic string) ([]EndpointInfo, error)
	Subscriptions(topic string) ([]EndpointInfo, error)
}

// EndpointInfo describes a publisher or subscription in the graph.
type EndpointInfo struct {
	Node      string // fully qualified
	TypeName  string
	QoS       QoS
	Publisher string // what Received.Publisher says for it, where known
	// Peer identifies what the endpoint belongs to, a process as a rule: equal for all endpoints of one, and for the
	// requests that it sends (Caller). Empty where the transport does not tell.
	Peer string
}

// Clock tells ROS time. Deadlines never use it; they run on the monotonic clock.
type Clock interface {
	// Now is the current ROS time. With simulated time that has not begun it is the zero Time.
	Now() Time
	// Simulated reports whether the time comes from /clock.
	Simulated() bool
	// Advancing reports whether time is known to move: always true for the system
	// clock; for simulated time, whether /clock advanced within the last second of real time.
	Advancing() bool
	// OnJump registers a function called when time jumps backwards, or forwards by more than a
	// second between two clock messages; from and to are the times before and after. The returned function unregisters it.
	OnJump(func(from, to Time)) (remove func())
}
