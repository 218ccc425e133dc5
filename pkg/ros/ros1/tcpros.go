package ros1

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/bluenviron/goroslib/v2/pkg/protocommon"
)

// conn is a TCPROS connection.
type conn struct {
	net.Conn
	r *bufio.Reader
}

func newConn(c net.Conn) *conn {
	if tcp, ok := c.(*net.TCPConn); ok {
		// A machine that loses its power sends no farewell.
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3})
	}
	return &conn{c, bufio.NewReaderSize(c, 1<<16)}
}

// writeHeader sends a connection header: a struct of goroslib's prototcp, or of that form.
func (c *conn) writeHeader(h any) error {
	var b bytes.Buffer
	if err := protocommon.HeaderEncode(&b, h); err != nil {
		return err
	}
	if err := c.SetWriteDeadline(time.Now().Add(headerLimit)); err != nil {
		return err
	}
	_, err := c.Write(b.Bytes())
	return errors.Join(err, c.SetWriteDeadline(time.Time{}))
}

// readHeader takes the peer's header. A field "error" in it is an error.
func (c *conn) readHeader() (protocommon.HeaderRaw, error) {
	if err := c.SetReadDeadline(time.Now().Add(headerLimit)); err != nil {
		return nil, err
	}
	// goroslib reads the length with a single Read, which may be short.
	if _, err := c.r.Peek(4); err != nil {
		return nil, err
	}
	h, err := protocommon.HeaderRawDecode(c.r)
	if err != nil {
		return nil, fmt.Errorf("connection header: %w", err)
	}
	if text, ok := h["error"]; ok {
		return nil, &refusal{text}
	}
	return h, c.SetReadDeadline(time.Time{})
}

// refusal is what a peer answered to a connection header.
type refusal struct{ text string }

func (e *refusal) Error() string { return "refused: " + e.text }

// readFrame reads one length and what it announces, into buf where it fits.
func readFrame(r io.Reader, buf []byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	return readSized(r, buf, int64(binary.LittleEndian.Uint32(head[:])))
}

// step is how much memory a length is believed at once.
const step = 1 << 20

func readSized(r io.Reader, buf []byte, size int64) ([]byte, error) {
	if size > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes, at most %d", size, int64(maxMessage))
	}
	buf = buf[:0]
	for int64(len(buf)) < size {
		n := int(min(size-int64(len(buf)), max(step, int64(len(buf)))))
		if cap(buf)-len(buf) < n {
			buf = append(make([]byte, 0, len(buf)+n), buf...)
		}
		part := buf[len(buf) : len(buf)+n]
		if _, err := io.ReadFull(r, part); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		buf = buf[:len(buf)+n]
	}
	return buf, nil
}

// frame puts a length before a message.
func frame(message []byte) []byte {
	b := make([]byte, 4, 4+len(message))
	binary.LittleEndian.PutUint32(b, uint32(len(message)))
	return append(b, message...)
}

// accept takes connections of subscribers and of clients until the node closes.
func (n *Node) accept() {
	for {
		c, err := n.listener.Accept()
		if err != nil {
			if n.isClosed() || errors.Is(err, net.ErrClosed) {
				return
			}
			n.logger.Error("accept a connection", "error", err)
			time.Sleep(10 * time.Millisecond) // out of file descriptors, most likely
			continue
		}
		if !n.track(c) || !n.spawn(func() { n.greet(newConn(c)) }) {
			_ = c.Close()
			return
		}
	}
}

// greet reads a connection's header and passes it on by what it asks for.
func (n *Node) greet(c *conn) {
	defer n.untrack(c.Conn)
	h, err := c.readHeader()
	if err != nil {
		n.logger.Debug("connection without a sound header", "from", c.RemoteAddr().String(), "error", err)
		_ = c.Close()
		return
	}
	n.mu.Lock()
	out, service := n.outs[h["topic"]], n.services[h["service"]]
	n.mu.Unlock()
	switch {
	case h["topic"] != "" && out != nil:
		out.connect(c, h)
	case h["service"] != "" && service != nil:
		service.serve(c, h)
	default:
		n.refuse(c, fmt.Sprintf("node %s has neither topic %q nor service %q", n.names.FullName(), h["topic"], h["service"]))
	}
}

type errorHeader struct{ Error string }

func (n *Node) refuse(c *conn, why string) {
	_ = c.writeHeader(&errorHeader{why})
	_ = c.Close()
}
