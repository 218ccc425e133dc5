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
	last   map[string]uint64 // what had arrived at the end of the last scenario
	lastID string
	lastAt map[string]float64 // where everything was then

	mu       sync.Mutex
	counts   map[string]uint64
	taken    ros.Time      // when counts were
	counted  chan struct{} // closes when the next counts arrive
	pose     [3]float64    // x, y, yaw by the truth, where there is one
	speed    [2]float64
	truth    bool
	posture  map[string]float64 // of joints
	stopped  map[string]bool    // actuators that were being stopped since afresh
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
	type source struct {
		topic, kind string
		qos         ros.QoS
		take        func(*ros.Message)
	}
	sources := []source{
		{"/sim/counters", "diagnostic_msgs/msg/DiagnosticArray", ros.DefaultQoS(), b.count},
		{"/sim/ground_truth", "nav_msgs/msg/Odometry", ros.QoS{Depth: 1, Reliability: ros.BestEffort}, b.watch},
		{agent + "/approvals", "agent_msgs/msg/ApprovalRequest", ros.QoS{Depth: 10}, b.approve},
		{agent + "/state", "agent_msgs/msg/AgentState", ros.QoS{Depth: 100}, b.watchStops},
	}
	heard := map[string]bool{}
	for _, a := range p.Actuators {
		if f := a.Feedback; f.Type == jointStates && !heard[f.Topic] {
			heard[f.Topic] = true
			sources = append(sources, source{f.Topic, jointStates, ros.QoS{Depth: 1, Reliability: ros.BestEffort}, b.watchJoints})
		}
	}
	for _, s := range sources {
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
	if err := b.simTime(ctx); err != nil {
		return b, err
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
	b.counts, b.taken = counts, m.Stamp("header.stamp")
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

// quiet is how much later than a result the counts are taken: what its goal sent has arrived by then, or came after the result.
const quiet = 300 * time.Millisecond

// arrivals waits for counts that were taken a while after now by the robot's time: what is on its way now is among them. Without a counting robot
// there are none.
func (b *Bench) arrivals(ctx context.Context) (map[string]uint64, error) {
	if _, ok := b.facts["counters"]; !ok {
		return nil, nil
	}
	from := b.Node.Clock().Now().Add(quiet)
	for heard := 0; ; heard++ {
		b.mu.Lock()
		next, counts, taken := b.counted, b.counts, b.taken
		b.mu.Unlock()
		if taken.Sub(from) >= 0 && heard >= 2 { // two, lest the robot's clock is another
			return counts, nil
		}
		late := time.NewTimer(waitMessage)
		select {
		case <-next:
			late.Stop()
		case <-late.C:
			return nil, fmt.Errorf("/sim/counters: no message within %v", waitMessage)
		case <-ctx.Done():
			late.Stop()
			return nil, context.Cause(ctx)
		}
	}
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

// sleep lets seconds pass on the node's clock.
func (b *Bench) sleep(ctx context.Context, s float64) error {
	return b.until(ctx, b.Node.Clock().Now().Add(time.Duration(s*float64(time.Second))))
}

// until a time of the node's clock. Simulated time that stands still is no reason to wait for ever.
func (b *Bench) until(ctx context.Context, when ros.Time) error {
	clock := b.Node.Clock()
	for stood := time.Duration(0); ; {
		left := when.Sub(clock.Now())
		if left <= 0 {
			return nil
		}
		if stood > waitMessage {
			return fmt.Errorf("/clock has stood still for %v", waitMessage)
		}
		if clock.Simulated() {
			left = min(left, 2*time.Millisecond)
		}
		if clock.Advancing() {
			stood = 0
		} else {
			stood += left
		}
		t := time.NewTimer(left)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
	}
}

// simTime has the bench go by simulated time where the node under test does.
func (b *Bench) simTime(ctx context.Context) error {
	c, err := b.Node.CreateClient(b.Agent+"/get_parameters", "rcl_interfaces/srv/GetParameters")
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, waitMessage)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		return fmt.Errorf("%s/get_parameters: %w", b.Agent, err)
	}
	m, err := c.Call(ctx, ros.New(c.Type().Request).With("names", []string{"use_sim_time"}))
	if err != nil {
		return fmt.Errorf("%s/get_parameters: %w", b.Agent, err)
	}
	values := m.Msgs("values")
	on := len(values) == 1 && values[0].Bool("bool_value")
	if n, ok := b.Node.(ros.SimTimeSetter); ok {
		if err := n.UseSimTime(on); err != nil {
			return err
		}
	}
	for on && b.Node.Clock().Now().IsZero() { // until the first /clock
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s goes by simulated time, and there is no /clock: %w", b.Agent, context.Cause(ctx))
		}
	}
	return nil
}

// wait looks again and again, under the lock, for so long in real time.
func (b *Bench) wait(ctx context.Context, most time.Duration, done func() bool) bool {
	const again = 50 * time.Millisecond
	for waited := time.Duration(0); ; waited += again {
		b.mu.Lock()
		ok := done()
		b.mu.Unlock()
		if ok || waited >= most {
			return ok
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return false
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

const jointStates = "sensor_msgs/msg/JointState"

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
		// Whatever ends the bench ends what it has begun.
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*waitMessage)
		defer cancel()
		if _, failed := g.Cancel(down); failed == nil {
			_, failed = g.Result(down)
			err = errors.Join(err, failed)
		} else {
			err = errors.Join(err, fmt.Errorf("the goal goes on: %w", failed))
		}
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
	b.wait(ctx, 2*time.Second, func() bool { return pub.SubscriptionCount() > 0 })
	for range 3 { // whoever listens may have seen the publisher later than that
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
