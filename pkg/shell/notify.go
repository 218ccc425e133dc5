package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Notifier tells systemd how the program is (sd_notify): that it is ready, that it lives, that it stops. A nil one tells nobody.
type Notifier struct {
	socket   string
	interval time.Duration // between two signs of life; 0: none are wanted
}

// NewNotifier reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID; nil where no service manager listens.
func NewNotifier(getenv func(string) string) (*Notifier, error) {
	socket := getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil, nil
	}
	n := &Notifier{socket: socket}
	if pid := getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return n, nil // meant for another process
	}
	text := getenv("WATCHDOG_USEC")
	if text == "" {
		return n, nil
	}
	usec, err := strconv.ParseInt(text, 10, 64)
	if err != nil || usec <= 0 {
		return nil, fmt.Errorf("WATCHDOG_USEC is %q, wanted microseconds", text)
	}
	n.interval = time.Duration(usec) * time.Microsecond / 2
	return n, nil
}

// Send sends assignments such as READY=1.
func (n *Notifier) Send(ctx context.Context, state ...string) (err error) {
	if n == nil {
		return nil
	}
	// A leading @ is the abstract name space, for Go as for systemd.
	conn, err := new(net.Dialer).DialContext(ctx, "unixgram", n.socket)
	if err != nil {
		return fmt.Errorf("systemd: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.Write([]byte(strings.Join(state, "\n"))); err != nil {
		return fmt.Errorf("systemd: %w", err)
	}
	return nil
}

// Keep sends signs of life until ctx ends, twice in the time that systemd waits for one, and only while health is nil: what
// hangs is to be started again.
func (n *Notifier) Keep(ctx context.Context, health func() error, log *slog.Logger) {
	if n == nil || n.interval == 0 {
		return
	}
	ticker := time.NewTicker(n.interval)
	defer ticker.Stop()
	for {
		if err := health(); err != nil {
			log.Error("no sign of life for systemd", "error", err)
		} else if err := n.Send(ctx, "WATCHDOG=1"); err != nil && ctx.Err() == nil {
			log.Warn("systemd", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
