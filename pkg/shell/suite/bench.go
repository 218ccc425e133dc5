package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/urdf"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// Bench is a node and a robot under test, as a person sees them.
type Bench struct {
	Node    ros.Node
	Agent   string // full name of the node
	Profile *robottools.Profile

	facts  Facts
	plan   *floor
	chain  *kinematics.Chain
	model  *urdf.Model
	arm    robottools.Actuator
	at     []float64 // the arm, as it was measured last
	scene  *collision.Scene
	client *action.Client
	judge  ros.Client
	closes []func() error

	mu       sync.Mutex
	counts   map[string]uint64
	counted  chan struct{} // closes when the next counts arrive
	pose     [3]float64    // x, y, yaw by the truth, where there is one
	speed    [2]float64
	truth    bool
	answer   *Respond
	asked    int
	response ros.Client
}

// Open connects to a node that is running, and waits until it can judge a command. The robot's facts are read.
func Open(ctx context.Context, node ros.Node, agent string, p *robottools.Profile) (b *Bench, err error) {
	b = &Bench{Node: node, Agent: agent, Profile: p, counted: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if b.client, err = action.NewClient(node, agent+"/execute_task", "agent_msgs/action/ExecuteTask"); err != nil {
		return b, err
	}
	b.closes = append(b.closes, b.client.Close)
	for _, c := range []struct {
		name, kind string
		into       *ros.Client
	}{{"/validate_command", "agent_msgs/srv/ValidateCommand", &b.judge}, {"/respond", "agent_msgs/srv/Respond", &b.response}} {
		if *c.into, err = node.CreateClient(agent+c.name, c.kind); err != nil {
			return b, err
		}
		b.closes = append(b.closes, (*c.into).Close)
	}
	for _, s := range []struct {
		topic, kind string
		qos         ros.QoS
		take        func(*ros.Message)
	}{
		{"/sim/counters", "diagnostic_msgs/msg/DiagnosticArray", ros.DefaultQoS(), b.count},
		{"/sim/ground_truth", "nav_msgs/msg/Odometry", ros.QoS{Depth: 1, Reliability: ros.BestEffort}, b.watch},
		{agent + "/approvals", "agent_msgs/msg/ApprovalRequest", ros.QoS{Depth: 10}, b.approve},
	} {
		sub, err := node.CreateSubscription(s.topic, s.kind, s.qos, func(r ros.Received) { s.take(r.Message) })
		if err != nil {
			return b, err
		}
		b.closes = append(b.closes, sub.Close)
	}
	wait, cancel := context.WithTimeout(ctx, waitMessage)
	defer cancel()
	if err := errors.Join(b.client.WaitReady(wait), b.judge.WaitReady(wait)); err != nil {
		return b, fmt.Errorf("%s: is the node running, and active? %w", agent, err)
	}
	if err := b.learn(ctx); err != nil {
		return b, err
	}
	if b.wait(ctx, 3*time.Second, func() bool { return b.counts != nil }) {
		b.facts["counters"] = true
	}
	return b, b.sees(ctx)
}

// sees waits until the node has measured everything that it needs to judge a motion.
func (b *Bench) sees(ctx context.Context) error {
	base, ok := b.facts["base"].(map[string]any)
	if !ok {
		return b.sleep(ctx, 2)
	}
	var last []finding
	for range 60 {
		v, err := b.validate(ctx, base["name"].(string), "geometry_msgs/msg/Twist", `{"angular": {"z": 0.01}}`)
		if err != nil {
			return err
		}
		if v.Valid {
			return b.sleep(ctx, 1) // and until it has seen rest
		}
		last = v.Findings
		if err := b.sleep(ctx, 0.25); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s refuses the slowest turn: %v", b.Agent, last)
}

// Counts reports whether the robot counts what arrives.
func (b *Bench) Counts() bool { return b.facts["counters"] != nil }

// Close gives back what Open made.
func (b *Bench) Close() error {
	var all []error
	for _, f := range b.closes {
		all = append(all, f())
	}
	return errors.Join(all...)
}

func (b *Bench) count(m *ros.Message) {
	counts := map[string]uint64{}
	for _, s := range m.Msgs("status") {
		for _, v := range s.Msgs("values") {
			n, err := strconv.ParseUint(v.Str("value"), 10, 64)
			if err == nil {
				counts[v.Str("key")] = n
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts = counts
	close(b.counted)
	b.counted = make(chan struct{})
}

func (b *Bench) watch(m *ros.Message) {
	p, t := m.Msg("pose.pose"), m.Msg("twist.twist")
	b.mu.Lock()
	defer b.mu.Unlock()
	yaw := 2 * math.Atan2(p.Float("orientation.z"), p.Float("orientation.w"))
	b.pose = [3]float64{p.Float("position.x"), p.Float("position.y"), yaw}
	b.speed = [2]float64{math.Hypot(t.Float("linear.x"), t.Float("linear.y")), math.Abs(t.Float("angular.z"))}
	b.truth = true
}

// approve answers a question as the scenario says, from a goroutine of its own: a callback may not wait.
func (b *Bench) approve(m *ros.Message) {
	b.mu.Lock()
	b.asked++
	how := b.answer
	b.mu.Unlock()
	if how == nil {
		return
	}
	id := m.Str("request_id")
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitMessage)
		defer cancel()
		for range max(how.Times, 1) {
			q := ros.New(b.response.Type().Request).With("request_id", id).With("approved", how.Approved)
			if _, err := b.response.Call(ctx, q); err != nil {
				return
			}
		}
	}()
}

// arrivals waits for counts that were taken after now, and gives their sum and what each is. Without a counting robot there are none.
func (b *Bench) arrivals(ctx context.Context) (map[string]uint64, error) {
	if _, ok := b.facts["counters"]; !ok {
		return nil, nil
	}
	for range 2 { // the first may be from before
		b.mu.Lock()
		next := b.counted
		b.mu.Unlock()
		select {
		case <-next:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts, nil
}

func more(before, after map[string]uint64) (sum uint64, what string) {
	for _, k := range sortedKeys(after) {
		if d := after[k] - before[k]; after[k] > before[k] {
			sum += d
			what += fmt.Sprintf(" %s %d", k, d)
		}
	}
	return sum, what
}

// atRest by the truth, over half a second; true where there is no truth.
func (b *Bench) atRest(ctx context.Context) bool {
	for range 10 {
		if b.sleep(ctx, 0.05) != nil {
			return false
		}
		b.mu.Lock()
		rest := !b.truth || b.speed[0] < 0.015 && b.speed[1] < 0.03
		b.mu.Unlock()
		if !rest {
			return false
		}
	}
	return true
}

func (b *Bench) sleep(ctx context.Context, s float64) error {
	t := time.NewTimer(time.Duration(s * float64(time.Second)))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wait looks again and again, under the lock.
func (b *Bench) wait(ctx context.Context, most time.Duration, done func() bool) bool {
	for waited := time.Duration(0); ; waited += 50 * time.Millisecond {
		b.mu.Lock()
		ok := done()
		b.mu.Unlock()
		if ok || waited >= most || b.sleep(ctx, 0.05) != nil {
			return ok
		}
	}
}

type finding struct{ Rule, Subject, Message string }

// verdict of ~/validate_command.
type verdict struct {
	Valid    bool
	Findings []finding
	Nearest  string
}

func (b *Bench) validate(ctx context.Context, actuator, kind, message string) (verdict, error) {
	q := ros.New(b.judge.Type().Request).With("interface_type", kind).With("message_json", message).With("actuator", actuator)
	m, err := b.judge.Call(ctx, q)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{Valid: m.Bool("valid"), Nearest: m.Str("nearest_valid_json")}
	for _, f := range m.Msgs("findings") {
		v.Findings = append(v.Findings, finding{f.Str("rule"), f.Str("subject"), f.Str("message")})
	}
	return v, nil
}

// patience bounds one goal.
const patience = 10 * time.Minute

// send a goal and wait for its result; begun is called with the first feedback.
func (b *Bench) send(ctx context.Context, task string, plan []Step, budget Budget) (*ros.Message, error) {
	goal := ros.New(b.client.Type().Goal).With("task", task)
	stepType, err := b.Node.Types().Message("agent_msgs/msg/PlanStep")
	if err != nil {
		return nil, err
	}
	var steps []*ros.Message
	for _, s := range plan {
		steps = append(steps, ros.New(stepType).With("id", s.ID).With("tool", s.Tool).With("arguments_json", s.Arguments).
			With("depends_on", append([]string{}, s.After...)).With("acceptance", append([]string{}, s.Accept...)))
	}
	if len(steps) > 0 {
		goal.With("plan.steps", steps)
	}
	goal.With("budget.max_steps", budget.Steps).With("budget.max_tool_calls", budget.ToolCalls)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	g, err := b.client.Send(ctx, goal, action.GoalOptions{})
	if err != nil {
		return nil, err
	}
	out, err := g.Result(ctx)
	if err != nil {
		return nil, err
	}
	return out.Result, nil
}

// make an event happen.
func (b *Bench) make(ctx context.Context, e Event, f *filler) error {
	switch {
	case e.Robot != nil:
		return b.setRobot(ctx, e.Robot)
	case len(e.Plan) > 0:
		steps, err := f.steps(e.Plan)
		if err != nil {
			return err
		}
		m, err := b.send(ctx, "", steps, Budget{})
		if err == nil && m.Int("outcome") != 1 && m.Int("outcome") != 2 {
			err = fmt.Errorf("what comes before is not done: %s: %s", m.Str("reason_code"), m.Str("answer"))
		}
		return err
	case e.Service != "":
		return b.trigger(ctx, e.Service)
	case e.Topic != "":
		return b.publish(ctx, e, f)
	}
	return nil // time has passed
}

func (b *Bench) trigger(ctx context.Context, service string) error {
	name := service
	if len(name) > 2 && name[:2] == "~/" {
		name = b.Agent + name[1:]
	}
	c, err := b.Node.CreateClient(name, "std_srvs/srv/Trigger")
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*waitMessage)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		return err
	}
	_, err = c.Call(ctx, ros.New(c.Type().Request))
	return err
}

func (b *Bench) publish(ctx context.Context, e Event, f *filler) error {
	text, err := f.text(e.Message)
	if err != nil {
		return err
	}
	pub, err := b.Node.CreatePublisher(e.Topic, e.Type, ros.DefaultQoS())
	if err != nil {
		return err
	}
	defer pub.Close()
	m, err := ros.DecodeJSON(pub.Type(), []byte(text))
	if err != nil {
		return err
	}
	for range 3 { // whoever listens may not have seen the publisher yet
		if err := pub.Publish(m); err != nil {
			return err
		}
		if err := b.sleep(ctx, 0.1); err != nil {
			return err
		}
	}
	return nil
}

// setRobot sets parameters of the simulator.
func (b *Bench) setRobot(ctx context.Context, values map[string]any) error {
	c, err := b.Node.CreateClient("/sim_robot/set_parameters", "rcl_interfaces/srv/SetParameters")
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, waitMessage)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		return err
	}
	var list []any
	for _, name := range sortedKeys(values) {
		var v map[string]any
		switch x := values[name].(type) {
		case bool:
			v = map[string]any{"type": 1, "bool_value": x}
		case float64:
			v = map[string]any{"type": 3, "double_value": x}
		case int:
			v = map[string]any{"type": 3, "double_value": float64(x)}
		case string:
			v = map[string]any{"type": 4, "string_value": x}
		default:
			return fmt.Errorf("parameter %s: %v is neither a truth value, a number nor a text", name, x)
		}
		list = append(list, map[string]any{"name": name, "value": v})
	}
	q, err := ros.FromMap(c.Type().Request, map[string]any{"parameters": list})
	if err != nil {
		return err
	}
	m, err := c.Call(ctx, q)
	if err != nil {
		return err
	}
	for _, r := range m.Msgs("results") {
		if !r.Bool("successful") {
			return fmt.Errorf("set_parameters: %s", r.Str("reason"))
		}
	}
	return nil
}

// compact is a text in one short line.
func compact(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	data, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(data[1 : len(data)-1])
}
