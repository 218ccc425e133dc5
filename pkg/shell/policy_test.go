package shell_test

import (
	"bytes"
	"encoding/xml"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/shell"
)

// What is listed is what a node that runs has in the graph, no more and no less.
func TestPolicyListsWhatTheNodeUses(t *testing.T) {
	dir := t.TempDir()
	given := func(extra ...string) *args.Args {
		a, err := args.Parse(append([]string{"--ros-args", "-r", "__ns:=/r1", "-p", "robot_namespace:=/r1", "-r", "/r1/battery_state:=/power", "-p", "trace.dir:=" + dir}, extra...))
		fatal(t, err)
		return a
	}
	synctest.Test(t, func(t *testing.T) {
		listed, err := shell.AccessesOf(t.Context(), "", given(), nil)
		fatal(t, err)
		if listed.Node != "/r1/agent_node" {
			t.Errorf("node %s", listed.Node)
		}
		bus := mem.NewBus()
		defer bus.Close()
		host, err := bus.NewNode("agent_node", mem.Options{Args: given(), Logger: slog.New(slog.DiscardHandler)})
		fatal(t, err)
		agent, err := node.New(host, node.Options{})
		fatal(t, err)
		fatal(t, agent.Start(t.Context()))
		time.Sleep(time.Second)
		topics, err := host.Graph().Topics()
		fatal(t, err)
		names := func(list []shell.Access) []string {
			var out []string
			for _, a := range list {
				out = append(out, a.Name)
			}
			return out
		}
		publishes, subscribes, calls := names(listed.Publishes), names(listed.Subscribes), names(listed.CallsActions)
		serves := names(listed.ServesActions)
		for topic := range topics {
			action, _, isAction := strings.Cut(topic, "/_action/")
			for _, x := range []struct {
				of   func(string) ([]ros.EndpointInfo, error)
				list []string
				via  []string
			}{{host.Graph().Publishers, publishes, serves}, {host.Graph().Subscriptions, subscribes, calls}} {
				there, err := x.of(topic)
				fatal(t, err)
				if has := slices.Contains(x.list, topic) || isAction && slices.Contains(x.via, action); has != (len(there) > 0) && !slices.Contains([]string{"/rosout", "/clock"}, topic) {
					t.Errorf("%s: in the graph %t, in the list %t", topic, len(there) > 0, has)
				}
			}
		}
		services, err := host.Graph().Services()
		fatal(t, err)
		for name := range services {
			action, _, isAction := strings.Cut(name, "/_action/")
			if !slices.Contains(names(listed.Serves), name) && !(isAction && slices.Contains(serves, action)) {
				t.Errorf("%s is served and not listed", name)
			}
		}
		if len(listed.Serves) < 15 || len(services) < 15 || len(calls) == 0 || !slices.Contains(subscribes, "/power") || !slices.Contains(publishes, "/r1/cmd_vel") {
			t.Errorf("%+v", listed)
		}
		fatal(t, agent.Shutdown(t.Context()))
	})
}

func TestPolicyIsAFileOfSROS2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, err := shell.AccessesOf(t.Context(), "", nil, nil)
		fatal(t, err)
		var out bytes.Buffer
		fatal(t, shell.PrintPolicy(all, "/robot", false, &out))
		var p struct {
			XMLName  xml.Name `xml:"policy"`
			Version  string   `xml:"version,attr"`
			Enclaves []struct {
				Path     string `xml:"path,attr"`
				Profiles []struct {
					NS     string `xml:"ns,attr"`
					Node   string `xml:"node,attr"`
					Topics []struct {
						Publish string   `xml:"publish,attr"`
						Topic   []string `xml:"topic"`
					} `xml:"topics"`
					Actions []struct {
						Call   string   `xml:"call,attr"`
						Action []string `xml:"action"`
					} `xml:"actions"`
				} `xml:"profiles>profile"`
			} `xml:"enclaves>enclave"`
		}
		if err := xml.Unmarshal(out.Bytes(), &p); err != nil || p.Version != "0.2.0" || len(p.Enclaves) != 1 || p.Enclaves[0].Path != "/robot" {
			t.Fatalf("%v\n%s", err, &out)
		}
		profile := p.Enclaves[0].Profiles[0]
		if profile.NS != "/" || profile.Node != "agent_node" || len(profile.Topics) != 2 || profile.Topics[0].Publish != "ALLOW" || !slices.Contains(profile.Topics[0].Topic, "/cmd_vel") {
			t.Errorf("%s", &out)
		}
		if len(profile.Actions) != 2 || !slices.Contains(profile.Actions[1].Action, "/navigate_to_pose") {
			t.Errorf("%s", &out)
		}
	})
}
