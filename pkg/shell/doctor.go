package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/node/survey"
	"agent_node/pkg/ros"
)

// Doctor says what a doctor looks at.
type Doctor struct {
	// Host is a node for looking around; where there is none, HostError says why.
	Host      ros.Node
	HostError error
	// Profile is a file, empty for that of the parameters.
	Profile string
	// Params are the node's parameters as they were given to the doctor. A node that runs is asked for those that were not.
	Params map[string]any
	// Getenv reads the environment.
	Getenv func(string) string
	// Now is the machine's time; nil: time.Now.
	Now      func() time.Time
	Patience time.Duration
	JSON     bool
	// ROS1 says that the robot is on ROS 1.
	ROS1 bool
	// Types are the interface definitions where there is no host; nil: the embedded ones.
	Types ros.TypeSource
}

// Finding of a doctor.
type Finding struct {
	// Area: prefix, network, graph, clock, profile, endpoint or traces.
	Area    string       `json:"area"`
	Level   survey.Level `json:"level"`
	Message string       `json:"message"`
	Advice  string       `json:"advice,omitempty"`
}

// doctor is one examination.
type doctor struct {
	Doctor
	findings []Finding
	report   *survey.Report
}

// Examine looks at all that a node needs and prints what is wrong and what to do. The error is ErrNotInOrder where something
// is an error.
func Examine(ctx context.Context, d Doctor, out io.Writer) error {
	x := &doctor{Doctor: d}
	if x.Params == nil {
		x.Params = map[string]any{}
	}
	x.Params = maps.Clone(x.Params)
	if x.Now == nil {
		x.Now = time.Now
	}
	if x.ROS1 {
		x.master()
	} else {
		x.prefix()
		x.network()
	}
	if x.Host != nil {
		if err := x.graph(ctx); err != nil {
			return err
		}
	}
	if err := x.profile(ctx); err != nil {
		return err
	}
	x.clock()
	x.endpoint(ctx)
	x.traces()
	return x.print(out)
}

func (x *doctor) say(area string, l survey.Level, advice, format string, args ...any) {
	x.findings = append(x.findings, Finding{area, l, fmt.Sprintf(format, args...), advice})
}

func (x *doctor) text(name, def string) string {
	if s, ok := x.Params[name].(string); ok && s != "" {
		return s
	}
	return def
}

// graph: who is there, and how the agents among them are.
func (x *doctor) graph(ctx context.Context) error {
	nodes, agents, err := x.await(ctx)
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		x.say("graph", survey.Warn, "is the robot on, in this ROS_DOMAIN_ID, and does ROS_AUTOMATIC_DISCOVERY_RANGE reach it?",
			"no other ROS node is in sight (domain %s)", cmp.Or(x.Getenv("ROS_DOMAIN_ID"), "0"))
		return nil
	}
	x.say("graph", survey.OK, "", "%d nodes are in sight", len(nodes))
	for i := 1; i < len(nodes); i++ {
		if nodes[i] == nodes[i-1] && (i < 2 || nodes[i] != nodes[i-2]) {
			x.say("graph", survey.Warn, "give each a name of its own: -r __node:=NAME or a namespace",
				"two nodes are called %s: questions to it reach either", nodes[i])
		}
	}
	for _, a := range agents {
		x.agent(ctx, a)
	}
	if len(agents) == 0 {
		x.say("graph", survey.OK, "", "no agent node runs yet")
	}
	return nil
}

// settleTime is how long the discovery of a graph is given at least.
const settleTime = 1500 * time.Millisecond

// await the graph: the other nodes' names, sorted, and the agents among them.
func (x *doctor) await(ctx context.Context) (nodes, agents []string, err error) {
	for began := time.Now(); ; {
		services, err := x.Host.Graph().Services()
		if err != nil {
			return nil, nil, err
		}
		agents = nil
		for name, types := range services {
			if slices.Contains(types, "agent_msgs/srv/ListTools") {
				agents = append(agents, path.Dir(name))
			}
		}
		if nodes, err = x.Host.Graph().Nodes(); err != nil {
			return nil, nil, err
		}
		self := path.Join("/", x.Host.Namespace(), x.Host.Name())
		nodes = slices.DeleteFunc(nodes, func(n string) bool { return n == self })
		slices.Sort(nodes)
		slices.Sort(agents)
		if time.Since(began) > settleTime && (len(nodes) > 0 || time.Since(began) > x.Patience) {
			return nodes, agents, nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// asked are parameters of a running node that the doctor goes on with.
var asked = []string{"profile", "robot_namespace", "frame_prefix", "use_sim_time", "model.kind", "model.base_url", "model.name", "model.api_key_env", "model.script", "trace.dir"}

// agent looks at a node that runs.
func (x *doctor) agent(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, x.Patience)
	defer cancel()
	state, err := x.lifecycle(ctx, name)
	switch {
	case err != nil:
		x.say("graph", survey.Error, "is it hung, or stopped in a debugger?", "%s does not answer: %v", name, err)
		return
	case state != "active":
		x.say("graph", survey.Warn, fmt.Sprintf("ros2 lifecycle set %s configure, then activate; its log says why it is not", name), "%s is %s: it takes no goals", name, state)
	default:
		x.say("graph", survey.OK, "", "%s is active", name)
	}
	values, err := survey.Parameters(ctx, x.Host, name, asked...)
	if err != nil {
		x.say("graph", survey.Warn, "", "%v", err)
		return
	}
	for k, v := range values {
		if _, given := x.Params[k]; !given {
			x.Params[k] = v
		}
	}
}

func (x *doctor) lifecycle(ctx context.Context, name string) (string, error) {
	c, err := x.Host.CreateClient(name+"/get_state", "lifecycle_msgs/srv/GetState")
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.WaitReady(ctx); err != nil {
		return "", err
	}
	resp, err := c.Call(ctx, ros.New(c.Type().Request))
	if err != nil {
		return "", err
	}
	return resp.Str("current_state.label"), nil
}

// profile: is the file sound, and is what it names there?
func (x *doctor) profile(ctx context.Context) error {
	file := cmp.Or(x.Profile, x.text("profile", ""))
	c := checked{File: file}
	p, err := c.readFile(x.Host, x.Types)
	for _, f := range c.Faults {
		x.say("profile", survey.Error, "docs/profiles.md says what a profile may hold; profile check says all faults", "%s", f.text)
	}
	if err != nil {
		return nil //nolint:nilerr // it has been said
	}
	named := cmp.Or(file, "that of the built-in robot")
	x.say("profile", survey.OK, "", "%s is sound: %s, %d actuators, %d tools", named, c.Profile, c.Actuators, c.Tools)
	if file == "" {
		x.say("profile", survey.Warn, "name the robot's: -p profile:=FILE, or agent_node profile init", "no profile is given: the built-in robot's is used")
	}
	if x.Host == nil {
		return nil
	}
	if err := c.look(ctx, x.Host, p, Check{File: file, Patience: x.Patience, Namespace: x.text("robot_namespace", ""), FramePrefix: x.text("frame_prefix", "")}); err != nil {
		return err
	}
	x.report = c.Graph
	if !c.Looked {
		x.say("profile", survey.Warn, "start the robot", "%s", c.Why)
		return nil
	}
	found, all := c.Graph.Found()
	x.say("profile", survey.OK, "", "%d of its %d bindings are present", found, all)
	for i := range c.Graph.Rows {
		row := &c.Graph.Rows[i]
		for _, pr := range row.Problems {
			x.say("profile", pr.Level, pr.Advice, "%s: %s", row.For, pr.Message)
		}
	}
	return nil
}

// print says it all, the errors last, where they are seen.
func (x *doctor) print(out io.Writer) error {
	counts := map[survey.Level]int{}
	for _, f := range x.findings {
		counts[f.Level]++
	}
	if x.JSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		err := enc.Encode(struct {
			OK       bool      `json:"ok"`
			Errors   int       `json:"errors"`
			Warnings int       `json:"warnings"`
			Findings []Finding `json:"findings"`
		}{counts[survey.Error] == 0, counts[survey.Error], counts[survey.Warn], x.findings})
		if err != nil {
			return err
		}
	} else {
		for _, f := range x.findings {
			fmt.Fprintf(out, "%-9s %-5s %s\n", f.Area, mark(f.Level), strings.ReplaceAll(f.Message, "\n", "\n                "))
			if f.Advice != "" {
				fmt.Fprintf(out, "                -> %s\n", f.Advice)
			}
		}
		fmt.Fprintf(out, "\n%d errors, %d warnings\n", counts[survey.Error], counts[survey.Warn])
	}
	if counts[survey.Error] > 0 {
		return ErrNotInOrder
	}
	return nil
}
