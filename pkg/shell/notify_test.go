package shell_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent_node/pkg/shell"
)

// manager is the service manager's end of NOTIFY_SOCKET.
func manager(t *testing.T, name string) (env func(string) string, read func() string) {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // the test is over
	vars := map[string]string{"NOTIFY_SOCKET": name}
	read = func() string {
		t.Helper()
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 4096)
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	return func(k string) string { return vars[k] }, read
}

func with(env func(string) string, k, v string) func(string) string {
	return func(key string) string {
		if key == k {
			return v
		}
		return env(key)
	}
}

func TestTheServiceManagerIsTold(t *testing.T) {
	names := map[string]string{"a path": filepath.Join(t.TempDir(), "notify"), "abstract": "@agent_node_test_" + strconv.Itoa(os.Getpid())}
	for kind, name := range names {
		t.Run(kind, func(t *testing.T) {
			env, read := manager(t, name)
			n, err := shell.NewNotifier(env)
			if err != nil {
				t.Fatal(err)
			}
			if err := n.Send(context.Background(), "READY=1", "STATUS=active"); err != nil {
				t.Fatal(err)
			}
			if got := read(); got != "READY=1\nSTATUS=active" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestSignsOfLifeNeedHealth(t *testing.T) {
	env, read := manager(t, filepath.Join(t.TempDir(), "notify"))
	n, err := shell.NewNotifier(with(env, "WATCHDOG_USEC", "2000"))
	if err != nil {
		t.Fatal(err)
	}
	var asked, sick atomic.Int64
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.Keep(ctx, func() error {
			if asked.Add(1) > 3 {
				sick.Add(1)
				return errors.New("sick")
			}
			return nil
		}, slog.New(slog.DiscardHandler))
	}()
	for range 3 {
		if got := read(); got != "WATCHDOG=1" {
			t.Errorf("got %q", got)
		}
	}
	for sick.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
	if err := n.Send(context.Background(), "STOPPING=1"); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != "STOPPING=1" {
		t.Errorf("%q was sent without health", got)
	}
}

func TestWithoutAServiceManagerNobodyIsTold(t *testing.T) {
	n, err := shell.NewNotifier(func(string) string { return "" })
	if n != nil || err != nil {
		t.Fatalf("%v, %v", n, err)
	}
	if err := n.Send(context.Background(), "READY=1"); err != nil {
		t.Error(err)
	}
	n.Keep(context.Background(), func() error { t.Error("asked"); return nil }, slog.Default()) // returns at once
}

func TestAWatchdogOfAnotherProcessIsNone(t *testing.T) {
	env, _ := manager(t, filepath.Join(t.TempDir(), "notify"))
	other := with(with(env, "WATCHDOG_USEC", "1000"), "WATCHDOG_PID", "1")
	n, err := shell.NewNotifier(other)
	if err != nil {
		t.Fatal(err)
	}
	n.Keep(context.Background(), func() error { t.Error("asked"); return nil }, slog.Default()) // returns at once
	for _, bad := range []string{"soon", "-5", "0"} {
		if _, err := shell.NewNotifier(with(env, "WATCHDOG_USEC", bad)); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("WATCHDOG_USEC %q: %v", bad, err)
		}
	}
}
