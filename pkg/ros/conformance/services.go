package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"agent_node/pkg/ros"
)

// echoType is a service that any ROS has and that can carry something there and back.
const echoType = "rcl_interfaces/srv/GetParameters"

func echoResponse(t *ros.ServiceType, text string) *ros.Message {
	return ros.New(t.Response).With("values", []any{map[string]any{"type": 4, "string_value": text}})
}

func serve(t *testing.T, n ros.Node, name string, handler func(ctx context.Context, t *ros.ServiceType, text string) (*ros.Message, error)) ros.Service {
	t.Helper()
	typ, err := n.Types().Service(echoType)
	if err != nil {
		t.Fatal(err)
	}
	s, err := n.CreateService(name, echoType, func(ctx context.Context, m *ros.Message) (*ros.Message, error) {
		return handler(ctx, typ, m.Str("names[0]"))
	})
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, s)
	return s
}

func serveEcho(t *testing.T, n ros.Node, name string) ros.Service {
	t.Helper()
	return serve(t, n, name, func(_ context.Context, typ *ros.ServiceType, text string) (*ros.Message, error) {
		return echoResponse(typ, text), nil
	})
}

func client(t *testing.T, n ros.Node, name string) ros.Client {
	t.Helper()
	c, err := n.CreateClient(name, echoType)
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, c)
	return c
}

func ask(ctx context.Context, c ros.Client, text string) (string, error) {
	r, err := c.Call(ctx, ros.New(c.Type().Request).With("names", []string{text}))
	if err != nil {
		return "", err
	}
	return r.Str("values[0].string_value"), nil
}

// call waits for the server and asks it.
func call(t *testing.T, c ros.Client, text string) string {
	t.Helper()
	if err := c.WaitReady(soon(t)); err != nil {
		t.Fatal(err)
	}
	got, err := ask(soon(t), c, text)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func services(t *testing.T, a, b ros.Node) {
	t.Run("request and response", func(t *testing.T) {
		s := serveEcho(t, b, topicFor(t, "echo"))
		c := client(t, a, topicFor(t, "echo"))
		if got := call(t, c, "Grüße"); got != "Grüße" {
			t.Errorf("got %q", got)
		}
		if s.Service() != c.Service() || s.Type().Name != echoType || c.Type().Name != echoType {
			t.Errorf("service %s of %s, client %s of %s", s.Service(), s.Type().Name, c.Service(), c.Type().Name)
		}
		if got := call(t, client(t, b, s.Service()), "own"); got != "own" {
			t.Errorf("a client of the same node got %q", got)
		}
	})

	t.Run("every caller gets its own answer", func(t *testing.T) {
		s := serveEcho(t, b, topicFor(t, "many"))
		clients := []ros.Client{client(t, a, s.Service()), client(t, a, s.Service()), client(t, b, s.Service())}
		var wg sync.WaitGroup
		for i := range 30 {
			c, text := clients[i%len(clients)], fmt.Sprint(i)
			if err := c.WaitReady(soon(t)); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				if got, err := ask(soon(t), c, text); err != nil || got != text {
					t.Errorf("call %s: %q, %v", text, got, err)
				}
			})
		}
		wg.Wait()
	})

	t.Run("a slow handler blocks no other request", func(t *testing.T) {
		begun, release := make(chan struct{}, 1), make(chan struct{})
		s := serve(t, b, topicFor(t, "slow"), func(_ context.Context, typ *ros.ServiceType, text string) (*ros.Message, error) {
			if text == "slow" {
				begun <- struct{}{}
				<-release
			}
			return echoResponse(typ, text), nil
		})
		c := client(t, a, s.Service())
		if err := c.WaitReady(soon(t)); err != nil {
			t.Fatal(err)
		}
		ctx, slow := soon(t), make(chan string, 1)
		go func() {
			got, err := ask(ctx, c, "slow")
			slow <- fmt.Sprint(got, err)
		}()
		receive(t, begun, "the slow request is served")
		if got := call(t, c, "quick"); got != "quick" {
			t.Errorf("got %q", got)
		}
		close(release)
		if got := receive(t, slow, "the slow request's answer"); got != "slow"+fmt.Sprint(error(nil)) {
			t.Errorf("the slow request got %s", got)
		}
	})

	t.Run("time limit", func(t *testing.T) {
		release := make(chan struct{})
		s := serve(t, b, topicFor(t, "limit"), func(_ context.Context, typ *ros.ServiceType, text string) (*ros.Message, error) {
			if text == "slow" {
				<-release
			}
			return echoResponse(typ, text), nil
		})
		c := client(t, a, s.Service())
		if err := c.WaitReady(soon(t)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), short)
		defer cancel()
		_, err := ask(ctx, c, "slow")
		wantError(t, err, context.DeadlineExceeded, "a call over its time limit")
		close(release)
		// The late response belongs to nobody, and least of all to the next call.
		for i := range 3 {
			if got := call(t, c, fmt.Sprint(i)); got != fmt.Sprint(i) {
				t.Errorf("call %d got %q", i, got)
			}
		}
	})

	t.Run("no server", func(t *testing.T) {
		c := client(t, a, topicFor(t, "none"))
		if c.Ready() {
			t.Error("ready without a server")
		}
		_, err := ask(soon(t), c, "x")
		wantError(t, err, ros.ErrNotReady, "a call without a server")
		ctx, cancel := context.WithTimeout(t.Context(), short)
		defer cancel()
		err = c.WaitReady(ctx)
		wantError(t, err, context.DeadlineExceeded, "waiting for no server")
		wantError(t, err, ros.ErrNotReady, "waiting for no server")

		s := serveEcho(t, b, c.Service())
		if got := call(t, c, "now"); got != "now" {
			t.Errorf("got %q", got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the server's end is seen", func() bool { return !c.Ready() })
		serveEcho(t, b, c.Service())
		if got := call(t, c, "again"); got != "again" {
			t.Errorf("got %q", got)
		}
	})

	t.Run("a handler's error is no response", func(t *testing.T) {
		s := serve(t, b, topicFor(t, "error"), func(_ context.Context, typ *ros.ServiceType, text string) (*ros.Message, error) {
			switch text {
			case "error":
				return nil, errors.New("refused by the test")
			case "nil":
				return nil, nil
			case "wrong":
				return ros.New(typ.Request), nil
			}
			return echoResponse(typ, text), nil
		})
		c := client(t, a, s.Service())
		want, limit := context.DeadlineExceeded, short
		if ros.TraitsOf(a).ServiceFailures {
			want, limit = ros.ErrRejected, patience
		}
		for _, text := range []string{"error", "nil", "wrong"} {
			if err := c.WaitReady(soon(t)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			_, err := ask(ctx, c, text)
			cancel()
			wantError(t, err, want, text)
		}
		if got := call(t, c, "fine"); got != "fine" {
			t.Errorf("got %q", got)
		}
	})

	t.Run("after the response", func(t *testing.T) {
		after := make(chan string, 4)
		s := serve(t, b, topicFor(t, "after"), func(ctx context.Context, typ *ros.ServiceType, text string) (*ros.Message, error) {
			for _, s := range []string{"first", "second"} {
				if !ros.AfterResponse(ctx, func() { after <- s }) {
					t.Error("the handler's context knows no call")
				}
			}
			return echoResponse(typ, text), nil
		})
		call(t, client(t, a, s.Service()), "x")
		for _, want := range []string{"first", "second"} {
			if got := receive(t, after, "what follows the response"); got != want {
				t.Errorf("%s ran, want %s", got, want)
			}
		}
	})

	t.Run("waiting requests starve no other", func(t *testing.T) {
		const waiting = 100
		release := make(chan struct{})
		s := serve(t, b, topicFor(t, "waiting"), func(ctx context.Context, typ *ros.ServiceType, text string) (*ros.Message, error) {
			if text == "wait" {
				ros.Waiting(ctx)
				<-release
			}
			return echoResponse(typ, text), nil
		})
		c := client(t, a, s.Service())
		if err := c.WaitReady(soon(t)); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range waiting {
			wg.Go(func() {
				if got, err := ask(soon(t), c, "wait"); err != nil || got != "wait" {
					t.Errorf("waiting call: %q, %v", got, err)
				}
			})
			if i%10 == 9 { // a transport's request queue is not endless: let it drain
				call(t, c, "drain")
			}
		}
		if got := call(t, c, "quick"); got != "quick" {
			t.Errorf("got %q", got)
		}
		close(release)
		wg.Wait()
	})
}
