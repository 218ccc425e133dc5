package conformance

import (
	"context"
	"testing"

	"agent_node/pkg/ros"
)

func names(t *testing.T, a, b ros.Node) {
	for _, n := range []struct {
		node            ros.Node
		name, namespace string
	}{{a, "first", "/conformance/a"}, {b, "second", "/conformance/b"}} {
		if n.node.Name() != n.name || n.node.Namespace() != n.namespace {
			t.Errorf("node %s in %s, want %s in %s", n.node.Name(), n.node.Namespace(), n.name, n.namespace)
		}
		if n.node.Logger() == nil || n.node.Clock() == nil || n.node.Types() == nil {
			t.Errorf("node %s lacks a logger, a clock or types", n.name)
		}
	}
	for _, c := range []struct {
		node     ros.Node
		in, want string
	}{
		{a, "chatter", "/conformance/a/chatter"},
		{a, "/chatter", "/chatter"},
		{a, "~/chatter", "/conformance/a/first/chatter"},
		{a, "~", "/conformance/a/first"},
		{a, "x/y", "/conformance/a/x/y"},
		{a, "{node}/x", "/conformance/a/first/x"},
		{a, "{ns}/x", "/conformance/a/x"},
		{a, "from", "/conformance/a/to"},
		{a, "/conformance/a/from", "/conformance/a/to"},
		{a, "from/below", "/conformance/a/from/below"},
		{a, "from_other", "/conformance/a/from_other"},
		{a, "from_first", "/conformance/a/for_first"},
		{a, "~/inside", "/outside"},
		{a, "/conformance/absolute", "/conformance/a/relative"},
		{a, "chain", "/conformance/a/from"},
		{a, "twice", "/conformance/a/one"},
		{b, "from", "/conformance/b/from"},
		{b, "~/inside", "/conformance/b/second/inside"},
	} {
		got, err := c.node.ResolveName(c.in)
		if err != nil || got != c.want {
			t.Errorf("%s resolves %q to %q, %v; want %q", c.node.Name(), c.in, got, err, c.want)
		}
		p := advertise(t, c.node, c.in, int64Type, ros.DefaultQoS())
		if p.Topic() != c.want {
			t.Errorf("%s publishes %q on %q, want %q", c.node.Name(), c.in, p.Topic(), c.want)
		}
	}
	for _, bad := range []string{"", "a b", "a//b", "a/", "/a/", "7up", "a/7up", "~up", "a~", "{", "{unknown}/a", "a-b", "ä", "/"} {
		if got, err := a.ResolveName(bad); err == nil {
			t.Errorf("%q resolves to %q", bad, got)
		} else {
			wantError(t, err, ros.ErrInvalidName, bad)
		}
		_, err := a.CreatePublisher(bad, int64Type, ros.DefaultQoS())
		wantError(t, err, ros.ErrInvalidName, bad)
		_, err = a.CreateSubscription(bad, int64Type, ros.DefaultQoS(), func(ros.Received) {})
		wantError(t, err, ros.ErrInvalidName, bad)
		_, err = a.CreateClient(bad, echoType)
		wantError(t, err, ros.ErrInvalidName, bad)
		_, err = a.CreateService(bad, echoType, func(context.Context, *ros.Message) (*ros.Message, error) { return nil, nil })
		wantError(t, err, ros.ErrInvalidName, bad)
	}

	t.Run("messages follow the remap", func(t *testing.T) {
		in := subscribe(t, b, "/conformance/a/to", int64Type, ros.DefaultQoS())
		p := advertise(t, a, "from", int64Type, ros.DefaultQoS())
		matched(t, p, 1)
		publish(t, p, integer(p, 7))
		in.next(t)
		if in.sub.Topic() != "/conformance/a/to" {
			t.Errorf("subscription of %q", in.sub.Topic())
		}
	})
	t.Run("services follow the remap", func(t *testing.T) {
		s := serveEcho(t, a, "serve_from")
		if s.Service() != "/conformance/a/serve_to" {
			t.Errorf("service %q", s.Service())
		}
		if got := call(t, client(t, b, "/conformance/a/serve_to"), "x"); got != "x" {
			t.Errorf("got %q", got)
		}
	})
}

func unknownTypes(t *testing.T, a, _ ros.Node) {
	for _, bad := range []string{"", "nowhere_msgs/msg/Nothing", "std_msgs/msg/Nothing", "std_msgs/String", "String", "../msg/String", "std_msgs/msg/../String"} {
		_, err := a.CreatePublisher("x", bad, ros.DefaultQoS())
		wantError(t, err, ros.ErrUnknownType, "publisher of "+bad)
		_, err = a.CreateSubscription("x", bad, ros.DefaultQoS(), func(ros.Received) {})
		wantError(t, err, ros.ErrUnknownType, "subscription of "+bad)
		_, err = a.CreateClient("x", bad)
		wantError(t, err, ros.ErrUnknownType, "client of "+bad)
		_, err = a.CreateService("x", bad, func(context.Context, *ros.Message) (*ros.Message, error) { return nil, nil })
		wantError(t, err, ros.ErrUnknownType, "service of "+bad)
		_, err = a.Types().Action(bad)
		wantError(t, err, ros.ErrUnknownType, "action "+bad)
	}
	one, err := a.Types().Message(stringType)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := a.Types().Message(stringType); err != nil || one != two {
		t.Errorf("one name, two types: %p and %p, %v", one, two, err)
	}
}
