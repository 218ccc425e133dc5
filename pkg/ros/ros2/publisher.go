//go:build ros2

package ros2

// #include "shim.h"
import "C"

import (
	"encoding/hex"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"agent_node/pkg/ros"
)

// patience is how long a node's publishers wait for acknowledgments in all when they close.
const patience = time.Second

type publisher struct {
	node    *Node
	topic   string
	support *support
	id      string

	spoken  atomic.Bool // something was published
	mu      sync.Mutex  // held while the C handle or the buffer is used
	rcl     *rclgo.Publisher
	handle  *C.rcl_publisher_t // nil once closed
	message *cmessage
}

// CreatePublisher makes a publisher.
func (n *Node) CreatePublisher(topic, typeName string, qos ros.QoS) (ros.Publisher, error) {
	name, err := n.ResolveName(topic)
	if err != nil {
		return nil, fmt.Errorf("create publisher: %w", err)
	}
	s, err := n.types.messageSupport(typeName)
	if err != nil {
		return nil, fmt.Errorf("create publisher %s: %w", name, err)
	}
	p := &publisher{node: n, topic: name, support: s}
	err = n.add("publisher", name, func() (entity, error) {
		err := onThread(func() (err error) {
			p.rcl, err = n.node.NewPublisher(name, s, &rclgo.PublisherOptions{Qos: qosToRcl(qos)})
			return err
		})
		if err != nil {
			return nil, err
		}
		if p.handle, err = publisherHandle(p.rcl); err != nil {
			return nil, err
		}
		gid := C.an_publisher_gid(p.handle)
		if err := check("rmw_get_gid_for_publisher", gid.result); err != nil {
			return nil, err
		}
		p.id = gidString(&gid.gid)
		p.message = newCMessage(s)
		return p, nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// gidString is a middleware's id of a publisher as text.
func gidString(gid *[C.RMW_GID_STORAGE_SIZE]C.uint8_t) string {
	return hex.EncodeToString(unsafe.Slice((*byte)(unsafe.Pointer(gid)), len(gid)))
}

func (p *publisher) Topic() string { return p.topic }

func (p *publisher) Type() *ros.Type { return p.support.typ }

func (p *publisher) ID() string { return p.id }

func (p *publisher) Publish(m *ros.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handle == nil {
		return fmt.Errorf("publish on %s: %w", p.topic, ros.ErrClosed)
	}
	if err := p.message.set(m); err != nil {
		return fmt.Errorf("publish on %s: %w", p.topic, err)
	}
	p.spoken.Store(true)
	if err := check("rcl_publish", C.an_publish(p.handle, p.message.p)); err != nil {
		return fmt.Errorf("publish on %s: %w", p.topic, err)
	}
	return nil
}

// Acknowledged implements ros.Acknowledger.
func (p *publisher) Acknowledged(limit time.Duration) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handle == nil {
		return false, fmt.Errorf("acknowledged on %s: %w", p.topic, ros.ErrClosed)
	}
	flag := C.an_acknowledged(p.handle, C.int64_t(limit.Nanoseconds()))
	if err := check("rcl_publisher_wait_for_all_acked", flag.result); err != nil {
		return false, fmt.Errorf("acknowledged on %s: %w", p.topic, err)
	}
	return bool(flag.value), nil
}

func (p *publisher) SubscriptionCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handle == nil {
		return 0
	}
	count := 0
	if err := onThread(func() (err error) { count, err = p.rcl.GetSubscriptionCount(); return err }); err != nil {
		return 0
	}
	return count
}

// lastWords lets what was published last arrive before the publisher goes: with it goes what was not delivered yet. A subscription that
// does not acknowledge holds up a node's end by patience at most, all publishers together.
func (p *publisher) lastWords() {
	left := time.Duration(p.node.patience.Load())
	if !p.spoken.Load() || left <= 0 {
		return
	}
	began := time.Now()
	if ok, err := p.Acknowledged(min(left, patience/2)); !ok && err == nil {
		p.node.patience.Add(-int64(time.Since(began)))
		p.node.logger.Debug("closed before every reliable subscription had acknowledged", "topic", p.topic)
	}
}

func (p *publisher) Close() error {
	p.lastWords()
	return p.node.end(p, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.handle == nil {
			return nil
		}
		p.handle = nil
		p.message.free()
		if err := onThread(p.rcl.Close); err != nil {
			return fmt.Errorf("close publisher %s: %w", p.topic, err)
		}
		return nil
	})
}
