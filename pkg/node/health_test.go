package node_test

import (
	"log/slog"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
)

// diagnosed are the statuses of the newest /diagnostics by name, without the node's.
type diagnosed map[string]*ros.Message

// listenTo /diagnostics; the returned function is the newest.
func (h *house) listenTo(t *testing.T) func() diagnosed {
	t.Helper()
	heard := make(chan *ros.Message, 1000)
	must(h.peer.CreateSubscription("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", ros.DefaultQoS(), func(r ros.Received) { heard <- r.Message }))(t)
	return func() diagnosed {
		t.Helper()
		for len(heard) > 0 {
			<-heard
		}
		out := diagnosed{}
		for _, s := range (<-heard).Msgs("status") {
			out[strings.TrimPrefix(s.Str("name"), "agent_node: ")] = s
		}
		return out
	}
}

func (d diagnosed) value(name, key string) string {
	if s := d[name]; s != nil {
		for _, kv := range s.Msgs("values") {
			if kv.Str("key") == key {
				return kv.Str("value")
			}
		}
	}
	return ""
}

// check that an entry has a level and says something.
func (d diagnosed) check(t *testing.T, name string, level int64, says string) {
	t.Helper()
	s := d[name]
	if s == nil {
		t.Errorf("no status %q", name)
		return
	}
	if s.Int("level") != level || !strings.Contains(s.Str("message"), says) {
		t.Errorf("%s: level %d, %q; want level %d that says %q", name, s.Int("level"), s.Str("message"), level, says)
	}
}

const (
	ok    = int64(0)
	warn  = int64(1)
	bad   = int64(2)
	stale = int64(3)
)

// Diagnostics tell of the model, the budget, the actuators, tf and each binding, once a second.
func TestDiagnosticsTellOfEveryBinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		newest := h.listenTo(t)
		time.Sleep(8 * time.Second)
		d := newest()
		for _, name := range []string{"node", "model", "budget", "actuator base", "tf", "world map", "binding of actuator base", "tool drive", "tool navigate_to", "tool get_battery", "tool move_arm", "tool list_places"} {
			d.check(t, name, ok, "")
		}
		for _, x := range []struct{ name, key, want string }{
			{"tool get_battery", "topic", "/battery_state"},
			{"tool get_battery", "rate_hz", "5.0"},
			{"tool get_battery", "qos", "reliable volatile"},
			{"tool drive", "validators", "motion, twist, in_flight"},
			{"tool navigate_to", "present", "true"},
			{"binding of actuator base", "feedback rate_hz", "50.0"},
			{"tool navigate_to", "planner action", "/compute_path_to_pose"},
		} {
			got := d.value(x.name, x.key)
			if strings.HasSuffix(x.key, "rate_hz") {
				is, err := strconv.ParseFloat(got, 64)
				want := must(strconv.ParseFloat(x.want, 64))(t)
				if err != nil || math.Abs(is-want) > 0.15*want {
					t.Errorf("%s %s: %q, want about %s", x.name, x.key, got, x.want)
				}
				continue
			}
			if got != x.want {
				t.Errorf("%s %s: %q, want %q", x.name, x.key, got, x.want)
			}
		}

		before := newest()
		begin := time.Now()
		for range 5 {
			newest()
		}
		if took := time.Since(begin); took < 4*time.Second || took > 6*time.Second {
			t.Errorf("5 arrays took %v, want one a second (%d statuses)", took, len(before))
		}

		must2(t, h.bot.SetParameter("fault.stop_odom", true))
		time.Sleep(8 * time.Second)
		d = newest()
		d.check(t, "tf", stale, "")
		d.check(t, "binding of actuator base", stale, "nothing has come on /odom")
		d.check(t, "tool get_pose", stale, "")
		d.check(t, "tool get_battery", ok, "")
		must2(t, h.bot.SetParameter("fault.stop_odom", false))
		must2(t, h.bot.SetParameter("fault.action_server_down", true))
		time.Sleep(8 * time.Second)
		d = newest()
		d.check(t, "tool navigate_to", bad, "nobody serves the action /navigate_to_pose")
		d.check(t, "tool drive", ok, "")
		d.check(t, "tf", ok, "")
		must2(t, h.bot.SetParameter("fault.action_server_down", false))
		time.Sleep(4 * time.Second)
	})
}

func must2(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A quality of service may be overridden by a parameter, as in every ROS node; what then does not fit is told by name and policy.
func TestQualitiesOfServiceAreOverriddenByParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "qos_overrides./cmd_vel.publisher.reliability:=best_effort", "qos_overrides./diagnostics.publisher.durability:=transient_local", "qos_overrides./diagnostics.publisher.depth:=1")
		time.Sleep(5 * time.Second)
		for topic, want := range map[string]string{"/cmd_vel": "best_effort volatile", "/diagnostics": "reliable transient_local"} {
			list := must(h.peer.Graph().Publishers(topic))(t)
			if len(list) != 1 || list[0].QoS.String() != want {
				t.Errorf("%s: %+v, want %s", topic, list, want)
			}
		}
		d := h.listenTo(t)()
		d.check(t, "tool drive", bad, "/sim_robot wants reliability reliable, which the node does not offer")
		resp := h.call("get_parameters", "rcl_interfaces/srv/GetParameters", func(m *ros.Message) {
			m.With("names", []string{"qos_overrides./cmd_vel.publisher.reliability"})
		})
		if v := resp.Msgs("values"); len(v) != 1 || v[0].Str("string_value") != "best_effort" {
			t.Errorf("%v", v)
		}
	})
}

func TestQualitiesOfServiceThatMeanNothingAreRefused(t *testing.T) {
	for param, says := range map[string]string{
		"qos_overrides./odom.subscription.reliability:=sometimes": "must be reliable or best_effort",
		"qos_overrides./odom.subscription.durability:=1":          "must be volatile or transient_local",
		"qos_overrides./odom.subscription.depth:=0":               "must be an integer from 1",
		"qos_overrides./odom.subscription.history:=keep_all":      "keep_last is the only history",
		"qos_overrides./odom.subscription.colour:=red":            "there is no policy",
		"qos_overrides./odom.listener.depth:=1":                   "neither publisher nor subscription",
		"qos_overrides.odom.publisher.depth:=1":                   "wanted qos_overrides./TOPIC",
		"qos_overrides./odom.publisher.deadline:=-1":              "nanoseconds",
	} {
		a := must(args.Parse([]string{"--ros-args", "-p", param}))(t)
		bus := mem.NewBus()
		host := must(bus.NewNode("agent_node", mem.Options{Args: a, Logger: slog.New(slog.DiscardHandler)}))(t)
		if _, err := node.New(host, node.Options{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", param, err)
		}
		check(t, bus.Close())
	}
}
