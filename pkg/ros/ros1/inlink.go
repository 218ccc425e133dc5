package ros1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/bluenviron/goroslib/v2/pkg/apislave"
	"github.com/bluenviron/goroslib/v2/pkg/protocommon"
	"github.com/bluenviron/goroslib/v2/pkg/prototcp"

	"agent_node/pkg/ros"
)

// inLink is a topic's connection to one publisher. It is tried again while the master names the publisher.
type inLink struct {
	in     *topicIn
	uri    string          // of the publisher's API
	ctx    context.Context // the life of the connection
	cancel context.CancelFunc

	// Guarded by in.mu: what a latched publisher said last, for subscriptions of this node that come later.
	keeps int
	kept  []keptMessage

	mu   sync.Mutex
	conn *conn
	node string // the publisher's node, while connected
	dead bool   // it could not be reached when that was tried last
	last bool   // the publisher has gone: what is on the way is read, and no new connection made
}

type keptMessage struct {
	message   *ros.Message
	publisher string
}

// How often a connection that fails is tried again.
const (
	retryFirst = 50 * time.Millisecond
	retryLast  = 3 * time.Second
)

func newInLink(in *topicIn, uri string) *inLink {
	l := &inLink{in: in, uri: uri}
	l.ctx, l.cancel = context.WithCancel(in.node.ctx)
	return l
}

// peer is the publisher's node, empty while there is no connection.
func (l *inLink) peer() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.node
}

// state is the publisher's node, while connected, and else whether it seems to be dead.
func (l *inLink) state() (node string, dead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.node, l.dead
}

// reached notes whether the publisher could be reached.
func (l *inLink) reached(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = !yes
}

// drain ends the link when what is on the way was read, within a second.
func (l *inLink) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = true
	if l.conn == nil {
		l.cancel()
		return
	}
	_ = l.conn.SetReadDeadline(time.Now().Add(flushLimit))
}

func (l *inLink) draining() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// leave ends the link.
func (l *inLink) leave() {
	l.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.node = ""
	if l.conn != nil {
		_ = l.conn.Close()
	}
}

// set notes the connection; false once the link has ended.
func (l *inLink) set(c *conn, node string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return false
	}
	l.conn, l.node = c, node
	if l.last && c != nil {
		_ = c.SetReadDeadline(time.Now().Add(flushLimit))
	}
	return true
}

func (l *inLink) run() {
	defer l.in.forget(l)
	log := l.in.node.logger.With("topic", l.in.name, "publisher", l.uri)
	pause, told := retryFirst, ""
	for {
		began := time.Now()
		err := l.once()
		if l.ctx.Err() != nil || l.draining() {
			return
		}
		if time.Since(began) > retryLast {
			pause = retryFirst // it had worked
		}
		// A publisher that has gone is told of by the master; what it refuses is worth a word, once.
		var refused *refusal
		var wrong *typeError
		switch text := fmt.Sprint(err); {
		case text == told:
		case errors.As(err, &refused), errors.As(err, &wrong), errors.Is(err, ros.ErrInvalidMessage):
			told = text
			log.Warn("no messages from a publisher", "error", err)
		default:
			told = text
			log.Debug("no connection to a publisher", "error", err)
		}
		select {
		case <-time.After(pause):
		case <-l.ctx.Done():
			return
		}
		pause = min(2*pause, retryLast)
	}
}

// once connects and reads until the connection ends, always with an error.
func (l *inLink) once() error {
	n, w := l.in.node, l.in.wire
	host, err := hostOf(l.uri)
	if err != nil {
		return err
	}
	api := apislave.NewClient(host, n.names.FullName(), n.webFor(l.ctx))
	proto, err := api.RequestTopic(l.in.name, [][]any{{"TCPROS"}})
	if err != nil {
		l.reached(false)
		return err
	}
	address, err := tcpAddress(proto)
	if err != nil {
		return err
	}
	dialer := net.Dialer{Timeout: headerLimit}
	raw, err := dialer.DialContext(l.ctx, "tcp", address)
	l.reached(err == nil)
	if err != nil {
		return err
	}
	c := newConn(raw)
	defer c.Close()
	defer l.set(nil, "")
	if !l.set(c, "") {
		return l.ctx.Err()
	}
	err = c.writeHeader(&prototcp.HeaderSubscriber{
		Callerid: n.names.FullName(), Topic: l.in.name, Type: w.name, Md5sum: w.md5, MessageDefinition: w.definition, TcpNodelay: 1,
	})
	if err != nil {
		return err
	}
	h, err := c.readHeader()
	if err != nil {
		return err
	}
	if sum := h["md5sum"]; sum != w.md5 && sum != "*" {
		return &typeError{what: "topic " + l.in.name, theirs: h["type"], theirSum: sum, ours: w}
	}
	l.keep(h)
	if !l.set(c, h["callerid"]) {
		return l.ctx.Err()
	}
	return l.read(c, publisherID(h["callerid"], l.uri))
}

// keep reads how many messages a latched publisher keeps: in ROS 1 one, at a node of this house as many as its header says.
func (l *inLink) keep(h protocommon.HeaderRaw) {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	l.keeps, l.kept = 0, nil
	if h["latching"] != "1" {
		return
	}
	l.keeps = 1
	if n, err := strconv.Atoi(h["keeps"]); err == nil && n > 0 && n <= mostKept {
		l.keeps = n
	}
}

// mostKept bounds what a peer can have kept here.
const mostKept = 1000

// typeError says that a peer means another type by a name.
type typeError struct {
	what, theirs, theirSum string
	ours                   *wire
}

func (e *typeError) Error() string {
	return fmt.Sprintf("%s is %s (md5sum %s) there, and here %s (md5sum %s): another type, or another version of it", e.what, e.theirs, e.theirSum, e.ours.name, e.ours.md5)
}

func (l *inLink) read(c *conn, id string) error {
	n, w := l.in.node, l.in.wire
	var buf []byte
	for {
		var err error
		if buf, err = readFrame(c.r, buf); err != nil {
			if errors.Is(err, io.EOF) {
				return errNoPublisher
			}
			return err
		}
		arrived := time.Now()
		m, err := n.types.wires.decode(w, buf)
		if err != nil {
			return err
		}
		l.in.pass(l, m, arrived, id)
	}
}

// tcpAddress reads the answer to requestTopic.
func tcpAddress(proto []any) (string, error) {
	if len(proto) >= 3 && proto[0] == "TCPROS" {
		host, isText := proto[1].(string)
		port, isNumber := proto[2].(int)
		if isText && isNumber && port > 0 && port < 1<<16 {
			return net.JoinHostPort(host, strconv.Itoa(port)), nil
		}
	}
	return "", fmt.Errorf("ros1: the publisher offers %v, not TCPROS with a host and a port", proto)
}
