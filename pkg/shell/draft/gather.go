package draft

import (
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/geometry/tf"
	"agent_node/pkg/node/survey"
	"agent_node/pkg/ros"
)

// Robot is what was found.
type Robot struct {
	// Topics, Services and Actions with their types; those of nodes that are no robot's (parameters, logs, this one) are left out.
	Topics, Services, Actions map[string][]string
	// Commanded are topics that somebody subscribes to, Told those that somebody publishes, with the nodes.
	Commanded, Told map[string][]string
	Nodes           []string
	// Newest message by topic, and its rate in Hz (0: it came once).
	Newest map[string]*ros.Message
	Rate   map[string]float64
	// Parents are frames' parents by the transforms.
	Parents map[string]string
	// Params of nodes by node and name.
	Params map[string]map[string]any
	// Simulated: somebody publishes /clock.
	Simulated bool

	types ros.TypeSource
	now   ros.Time
	links *tf.Buffer
}

// Types whose messages are listened to, all topics of theirs.
var heardTypes = []string{
	"nav_msgs/msg/Odometry", "sensor_msgs/msg/JointState", "sensor_msgs/msg/BatteryState", "vision_msgs/msg/Detection3DArray",
	"nav_msgs/msg/OccupancyGrid",
}

// heardNames are topics of simple types that are listened to for their names.
var heardNames = regexp.MustCompile(`(?i)(robot_description(_semantic)?|speed_scaling|robot_mode|safety_mode)$`)

// Gather looks for as long as patience lasts.
func Gather(ctx context.Context, node ros.Node, patience time.Duration) (*Robot, error) {
	g := &gatherer{node: node, robot: &Robot{
		Newest: map[string]*ros.Message{}, Rate: map[string]float64{}, Parents: map[string]string{}, Params: map[string]map[string]any{},
		types: node.Types(), links: tf.New(tf.Config{}),
	}, heard: map[string]*count{}}
	defer g.close()
	end := time.Now().Add(patience)
	for {
		if err := g.look(); err != nil {
			return nil, err
		}
		if time.Now().After(end) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
	g.ask(ctx)
	return g.finish(), nil
}

type gatherer struct {
	node  ros.Node
	robot *Robot

	mu    sync.Mutex
	heard map[string]*count
	subs  []ros.Subscription
	tf    bool
	over  bool // what is still on its way when the subscriptions close comes too late
}

type count struct {
	n           int
	first, last time.Time
}

// look at the graph, and listen to what is new.
func (g *gatherer) look() (err error) {
	r, graph := g.robot, g.node.Graph()
	if r.Topics, err = graph.Topics(); err != nil {
		return fmt.Errorf("draft: %w", err)
	}
	if r.Services, err = graph.Services(); err != nil {
		return fmt.Errorf("draft: %w", err)
	}
	if r.Nodes, err = graph.Nodes(); err != nil {
		return fmt.Errorf("draft: %w", err)
	}
	if _, ok := r.Topics["/clock"]; ok && !r.Simulated {
		if who, err := graph.Publishers("/clock"); err == nil && len(who) > 0 {
			r.Simulated = true
			if s, ok := g.node.(ros.SimTimeSetter); ok {
				if err := s.UseSimTime(true); err != nil {
					return fmt.Errorf("draft: %w", err)
				}
			}
		}
	}
	if _, ok := r.Topics["/tf"]; ok && !g.tf {
		g.tf = true
		for topic, qos := range map[string]ros.QoS{"/tf": {Depth: 100, Reliability: ros.BestEffort}, "/tf_static": {Depth: 100, Durability: ros.TransientLocal}} {
			if err := g.listen(topic, "tf2_msgs/msg/TFMessage", qos, func(m ros.Received) { g.transforms(m.Message, topic == "/tf_static") }); err != nil {
				return err
			}
		}
	}
	for name, types := range r.Topics {
		if len(types) != 1 || g.heard[name] != nil || !(slices.Contains(heardTypes, types[0]) || heardNames.MatchString(name)) {
			continue
		}
		if _, err := g.node.Types().Message(types[0]); err != nil {
			continue
		}
		g.mu.Lock()
		g.heard[name] = &count{}
		g.mu.Unlock()
		for _, qos := range []ros.QoS{ros.SensorQoS(), ros.LatchedQoS()} {
			if err := g.listen(name, types[0], qos, func(m ros.Received) { g.take(name, m) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gatherer) listen(topic, typeName string, qos ros.QoS, f func(ros.Received)) error {
	s, err := g.node.CreateSubscription(topic, typeName, qos, f)
	if err != nil {
		return fmt.Errorf("draft: %w", err)
	}
	g.subs = append(g.subs, s)
	return nil
}

func (g *gatherer) take(topic string, m ros.Received) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return
	}
	c := g.heard[topic]
	if c.n == 0 {
		c.first = m.Arrived
	} else if m.Arrived.Sub(c.last) < 2*time.Millisecond {
		return // a latched publisher reaches both subscriptions
	}
	c.n, c.last = c.n+1, m.Arrived
	g.robot.Newest[topic] = m.Message
}

func (g *gatherer) transforms(m *ros.Message, static bool) {
	now := int64(g.node.Clock().Now())
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return
	}
	for _, t := range m.Msgs("transforms") {
		s := survey.TransformOf(t)
		g.robot.Parents[s.Child] = s.Parent
		// What the buffer refuses is not known then, and the draft has no such frame's pose.
		if static {
			_, _ = g.robot.links.SetStatic(s)
		} else {
			_, _ = g.robot.links.Set(s, now)
		}
	}
}

// questions to nodes: a pattern of the node's name, and one of its parameters' names.
var questions = []struct{ node, params *regexp.Regexp }{
	{regexp.MustCompile(`controller$|gripper`), regexp.MustCompile(`^(joints?|linear\.x\..*|angular\.z\..*|base_frame_id|odom_frame_id|publish_rate|enable_odom_tf)$`)},
	{regexp.MustCompile(`/controller_server$`), regexp.MustCompile(`\.(max_vel_x|max_vel_theta|acc_lim_x|acc_lim_theta|decel_lim_x|desired_linear_vel|vx_max|wz_max|xy_goal_tolerance|yaw_goal_tolerance)$`)},
	{regexp.MustCompile(`/velocity_smoother$`), regexp.MustCompile(`^(max_velocity|max_accel|max_decel)$`)},
	{regexp.MustCompile(`_costmap$`), regexp.MustCompile(`^(robot_radius|footprint|robot_base_frame|global_frame)$`)},
	{regexp.MustCompile(`/robot_state_publisher$`), regexp.MustCompile(`^(robot_description|frame_prefix)$`)},
	{regexp.MustCompile(`/move_group$`), regexp.MustCompile(`^(robot_description_semantic|robot_description_planning\.joint_limits\..*\.max_acceleration)$`)},
	{regexp.MustCompile(`/docking_server$`), regexp.MustCompile(`^(docks|dock_plugins)$`)},
}

// answerTime bounds one node's answers.
const answerTime = 2 * time.Second

// ask nodes for their parameters, several at once. A node that does not answer is one of which less is known.
func (g *gatherer) ask(ctx context.Context) {
	var wg sync.WaitGroup
	room := make(chan struct{}, 4)
	for _, n := range g.robot.Nodes {
		for _, q := range questions {
			if !q.node.MatchString(n) || len(g.robot.Services[n+"/list_parameters"]) == 0 {
				continue
			}
			wg.Go(func() {
				room <- struct{}{}
				defer func() { <-room }()
				ctx, cancel := context.WithTimeout(ctx, answerTime)
				defer cancel()
				values, err := parametersLike(ctx, g.node, n, q.params)
				if err != nil {
					return
				}
				g.mu.Lock()
				defer g.mu.Unlock()
				if g.robot.Params[n] == nil {
					g.robot.Params[n] = map[string]any{}
				}
				maps.Copy(g.robot.Params[n], values)
			})
		}
	}
	wg.Wait()
}

// parametersLike asks for those parameters of a node whose names match. It asks for the names first: a node may answer
// nothing at all where one of those asked for is not there.
func parametersLike(ctx context.Context, node ros.Node, of string, like *regexp.Regexp) (map[string]any, error) {
	c, err := node.CreateClient(of+"/list_parameters", "rcl_interfaces/srv/ListParameters")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.WaitReady(ctx); err != nil {
		return nil, err
	}
	resp, err := c.Call(ctx, ros.New(c.Type().Request))
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(slices.Clone(resp.Strs("result.names")), func(n string) bool { return !like.MatchString(n) })
	if len(names) == 0 {
		return nil, nil
	}
	return survey.Parameters(ctx, node, of, names...)
}

// finish sorts what was found.
func (g *gatherer) finish() *Robot {
	g.close()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	r := g.robot
	r.now = g.node.Clock().Now()
	self := path.Join("/", g.node.Namespace(), g.node.Name())
	r.Nodes = slices.DeleteFunc(r.Nodes, func(n string) bool { return n == self })
	slices.Sort(r.Nodes)
	for name, c := range g.heard {
		if span := c.last.Sub(c.first).Seconds(); c.n > 1 && span > 0 {
			r.Rate[name] = float64(c.n-1) / span
		}
	}
	r.Actions, r.Commanded, r.Told = map[string][]string{}, map[string][]string{}, map[string][]string{}
	for name, types := range r.Services {
		if action, ok := strings.CutSuffix(name, "/_action/send_goal"); ok {
			for _, t := range types {
				r.Actions[action] = append(r.Actions[action], strings.TrimSuffix(t, "_SendGoal"))
			}
		}
	}
	graph := g.node.Graph()
	for name := range r.Topics {
		if strings.Contains(name, "/_action/") {
			continue
		}
		if heard, err := graph.Subscriptions(name); err == nil {
			r.Commanded[name] = others(heard, self)
		}
		if told, err := graph.Publishers(name); err == nil {
			r.Told[name] = others(told, self)
		}
	}
	return r
}

func others(infos []ros.EndpointInfo, self string) []string {
	var names []string
	for _, i := range infos {
		if i.Node != self && !slices.Contains(names, i.Node) {
			names = append(names, i.Node)
		}
	}
	slices.Sort(names)
	return names
}

func (g *gatherer) close() {
	for _, s := range g.subs {
		s.Close()
	}
	g.subs = nil
}
