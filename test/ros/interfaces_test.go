//go:build ros2

package ros

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/ros2"
)

// interfaces lists all of test_msgs: messages, those that its services and actions are made of, and services.
func interfaces(t *testing.T) (messages, services []string) {
	t.Helper()
	share := ""
	for _, prefix := range filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH")) {
		if dir := filepath.Join(prefix, "share", "test_msgs"); exists(dir) {
			share = dir
			break
		}
	}
	if share == "" {
		t.Fatal("no test_msgs in AMENT_PREFIX_PATH")
	}
	for _, kind := range []string{"msg", "srv", "action"} {
		files, err := filepath.Glob(filepath.Join(share, kind, "*."+kind))
		if err != nil || len(files) == 0 {
			t.Fatalf("no interfaces in %s/%s: %v", share, kind, err)
		}
		for _, file := range files {
			name := "test_msgs/" + kind + "/" + strings.TrimSuffix(filepath.Base(file), "."+kind)
			switch kind {
			case "msg":
				messages = append(messages, name)
			case "srv":
				messages = append(messages, name+"_Request", name+"_Response")
				services = append(services, name)
			case "action":
				messages = append(messages, name+"_Goal", name+"_Result", name+"_Feedback", name+"_FeedbackMessage")
				services = append(services, name+"_SendGoal", name+"_GetResult")
			}
		}
	}
	return messages, services
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func newNode(t *testing.T, name string) *ros2.Node {
	t.Helper()
	n, err := ros2.NewNode(name, ros2.Options{Domain: domain, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

func encoded(t *testing.T, m *ros.Message) json.RawMessage {
	t.Helper()
	b, err := m.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decoded(t *testing.T, typ *ros.Type, data json.RawMessage) *ros.Message {
	t.Helper()
	m, err := ros.DecodeJSON(typ, data)
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return m
}

// randomSamples of each type; PROOF asks for more.
func randomSamples() int {
	if os.Getenv("PROOF") != "" {
		return 300
	}
	return 12
}

// depth of both sides' queues, enough for all messages of a type.
const depth = 2000

// TestMessagesMeanTheSameToRclpy sends messages of every type both ways and compares them field by field:
// the defaults, messages to rclpy as it dumps them, messages from rclpy as they arrive, and test_msgs' own fixtures.
func TestMessagesMeanTheSameToRclpy(t *testing.T) {
	names, _ := interfaces(t)
	p, node := startPeer(t), newNode(t, "round_trip")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			p.t = t
			typ, err := node.Types().Message(name)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "default", ros.New(typ), decoded(t, typ, p.do("default", map[string]any{"type": name}).Message))
			out, in := "/to/"+name, "/from/"+name
			messages := samples(typ, randomSamples())

			pub, err := node.CreatePublisher(out, name, ros.QoS{Depth: depth})
			if err != nil {
				t.Fatal(err)
			}
			p.do("subscribe", map[string]any{"type": name, "topic": out})
			eventually(t, "rclpy subscribed", func() bool { return pub.SubscriptionCount() == 1 })
			for i, m := range messages {
				if err := pub.Publish(m); err != nil {
					t.Fatalf("sample %d: %v", i, err)
				}
			}
			for i, m := range messages {
				got := p.wait(func(s said) bool { return s.Got == out })
				compare(t, fmt.Sprintf("to rclpy, sample %d", i), decoded(t, typ, got.Message), m)
			}

			got := make(chan *ros.Message, depth)
			p.do("publisher", map[string]any{"type": name, "topic": in})
			sub, err := node.CreateSubscription(in, name, ros.QoS{Depth: depth}, func(r ros.Received) { got <- r.Message })
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "rclpy's publisher matched", func() bool {
				return sub.PublisherCount() == 1 && p.do("matched", map[string]any{"topic": in}).Count == 1
			})
			receive := func(what string, want *ros.Message) {
				t.Helper()
				select {
				case m := <-got:
					compare(t, what, m, want)
				case <-time.After(within):
					t.Fatal("nothing arrived: " + what)
				}
			}
			for i, m := range messages {
				p.do("publish", map[string]any{"type": name, "topic": in, "message": encoded(t, m)})
				receive(fmt.Sprintf("from rclpy, sample %d", i), m)
			}
			if strings.Contains(name, "/msg/") {
				for i, m := range p.do("fixtures", map[string]any{"type": name, "topic": in}).Messages {
					receive(fmt.Sprintf("from rclpy, fixture %d", i), decoded(t, typ, m))
				}
			}
			if err := pub.Close(); err != nil {
				t.Error(err)
			}
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestServicesMeanTheSameToRclpy calls rclpy's server of every service type, and has rclpy call one.
func TestServicesMeanTheSameToRclpy(t *testing.T) {
	_, names := interfaces(t)
	p, node := startPeer(t), newNode(t, "round_trip")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			p.t = t
			typ, err := node.Types().Service(name)
			if err != nil {
				t.Fatal(err)
			}
			requests, responses := samples(typ.Request, 3), samples(typ.Response, 3)
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			for i := range requests {
				there := fmt.Sprintf("/there%d/%s", i, name)
				p.do("serve", map[string]any{"type": name, "service": there, "response": encoded(t, responses[i])})
				client, err := node.CreateClient(there, name)
				if err != nil {
					t.Fatal(err)
				}
				if err := client.WaitReady(ctx); err != nil {
					t.Fatal(err)
				}
				got, err := client.Call(ctx, requests[i])
				if err != nil {
					t.Fatal(err)
				}
				compare(t, "rclpy's response", got, responses[i])
				asked := p.wait(func(s said) bool { return s.Asked == there })
				compare(t, "request as rclpy has it", decoded(t, typ.Request, asked.Message), requests[i])

				here := fmt.Sprintf("/here%d/%s", i, name)
				seen := make(chan *ros.Message, 1)
				service, err := node.CreateService(here, name, func(_ context.Context, r *ros.Message) (*ros.Message, error) {
					seen <- r
					return responses[i], nil
				})
				if err != nil {
					t.Fatal(err)
				}
				answered := p.do("call", map[string]any{"type": name, "service": here, "request": encoded(t, requests[i])})
				compare(t, "rclpy's request", <-seen, requests[i])
				compare(t, "response as rclpy has it", decoded(t, typ.Response, answered.Message), responses[i])
				if err := client.Close(); err != nil {
					t.Error(err)
				}
				if err := service.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
