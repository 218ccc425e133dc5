package action

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/ros"

	"github.com/google/uuid"
)

// Client sends goals to one action. Its methods are safe for concurrent use.
type Client struct {
	node ros.Node
	name string
	at   *ros.ActionType
	log  *slog.Logger
	n    names

	sendGoal, cancelGoal, getResult ros.Client
	feedback, status                ros.Subscription

	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	goals   map[GoalID]*Goal
	closing bool

	work   tally // goals' goroutines
	orphan tally // goals that nobody waits for, until they are canceled
}

// orphanGrace is how long Close waits for the cancels of goals that were given up.
const orphanGrace = 2 * time.Second

// NewClient makes a client of the named action.
func NewClient(node ros.Node, name, typeName string) (*Client, error) {
	at, err := node.Types().Action(typeName)
	if err != nil {
		return nil, err
	}
	n, err := namesOf(node, name)
	if err != nil {
		return nil, err
	}
	c := &Client{
		node: node, name: name, at: at, n: n, log: node.Logger().With("action", name),
		goals: make(map[GoalID]*Goal),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if err := c.open(); err != nil {
		c.cancel()
		return nil, errors.Join(err, c.takeDown())
	}
	return c, nil
}

// clientStatusQoS keeps more than the one array that the publisher does: fewer states are missed.
func clientStatusQoS() ros.QoS { return ros.QoS{Depth: 10, Durability: ros.TransientLocal} }

func (c *Client) open() (err error) {
	if c.status, err = c.node.CreateSubscription(c.n.status, statusType, clientStatusQoS(), c.onStatus); err != nil {
		return err
	}
	if c.feedback, err = c.node.CreateSubscription(c.n.feedback, c.at.FeedbackMessage.Name, feedbackQoS(), c.onFeedback); err != nil {
		return err
	}
	if c.sendGoal, err = c.node.CreateClient(c.n.sendGoal, c.at.SendGoal.Name); err != nil {
		return err
	}
	if c.cancelGoal, err = c.node.CreateClient(c.n.cancelGoal, cancelType); err != nil {
		return err
	}
	c.getResult, err = c.node.CreateClient(c.n.getResult, c.at.GetResult.Name)
	return err
}

// FullName is the action's name, resolved and remapped.
func (c *Client) FullName() string { return strings.TrimSuffix(c.n.sendGoal, "/_action/send_goal") }

// Servers are the full names of the nodes that serve the action, as far as they are in sight.
func (c *Client) Servers() ([]string, error) {
	infos, err := c.node.Graph().Publishers(c.n.status)
	if err != nil {
		return nil, err
	}
	nodes := make([]string, len(infos))
	for i, x := range infos {
		nodes[i] = x.Node
	}
	return nodes, nil
}

// Type is the action's type.
func (c *Client) Type() *ros.ActionType { return c.at }

// Ready reports whether a server is there now.
func (c *Client) Ready() bool {
	return c.sendGoal.Ready() && c.cancelGoal.Ready() && c.getResult.Ready()
}

// WaitReady waits until a server is there or ctx ends.
func (c *Client) WaitReady(ctx context.Context) error {
	for _, s := range []ros.Client{c.sendGoal, c.cancelGoal, c.getResult} {
		if err := s.WaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the client. Goals that were given up while their answer was outstanding are still
// canceled if it arrives within two seconds. Goals under way are not canceled: their Result
// returns an error that wraps ros.ErrClosed.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	grace, stop := context.WithTimeout(context.Background(), orphanGrace)
	defer stop()
	if err := c.orphan.wait(grace); err != nil {
		c.log.Warn("client closed with goals that may have been accepted and could not be canceled")
	}
	c.cancel()
	_ = c.work.wait(context.Background()) // each ends with the client's context
	return c.takeDown()
}

func (c *Client) takeDown() error {
	var errs []error
	for _, x := range []ros.Subscription{c.feedback, c.status} {
		if x != nil {
			errs = append(errs, x.Close())
		}
	}
	for _, x := range []ros.Client{c.sendGoal, c.cancelGoal, c.getResult} {
		if x != nil {
			errs = append(errs, x.Close())
		}
	}
	return errors.Join(errs...)
}

// GoalOptions are what a goal's sender wants to hear of. The functions must not block.
type GoalOptions struct {
	// Sending is called with the goal's id before it is sent.
	Sending func(GoalID)
	// Feedback is called with each feedback message (of the action's Feedback type) of this goal.
	Feedback func(*ros.Message)
	// Status is called with each new state of this goal, in a legal order; states may be missing.
	Status func(Status)
}

// Send sends a goal and waits for the answer. Without a server it returns ros.ErrNotReady, when
// the server refuses ros.ErrRejected, when it vanishes before it has answered ErrServerLost. When ctx ends
// first, the goal is remembered and canceled as soon as its acceptance arrives, so that no
// motion begins that nobody owns, and ctx's error is returned.
func (c *Client) Send(ctx context.Context, goal *ros.Message, o GoalOptions) (*Goal, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := sameType(goal, c.at.Goal); err != nil {
		return nil, err
	}
	if !c.Ready() {
		return nil, fmt.Errorf("%w: action %s", ros.ErrNotReady, c.name)
	}
	g := newGoal(c, GoalID(uuid.New()), o)
	request := ros.New(c.at.SendGoal.Request).With("goal_id", g.id.fields())
	if err := request.Set("goal", goal); err != nil {
		return nil, err
	}
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return nil, fmt.Errorf("%w: action client %s", ros.ErrClosed, c.name)
	}
	c.goals[g.id] = g
	c.work.add()
	c.mu.Unlock()
	if o.Sending != nil {
		o.Sending(g.id)
	}
	go g.live(request)

	select {
	case <-g.answered:
	case <-ctx.Done():
		if g.abandon() {
			return nil, fmt.Errorf("action %s: goal %v given up before the server answered: %w", c.name, g.id, ctx.Err())
		}
	}
	if g.refusal != nil {
		return nil, g.refusal
	}
	return g, nil
}

func (c *Client) forget(g *Goal) {
	c.mu.Lock()
	delete(c.goals, g.id)
	c.mu.Unlock()
	c.work.done()
}

func (c *Client) goal(id GoalID) *Goal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.goals[id]
}

func (c *Client) onFeedback(r ros.Received) {
	g := c.goal(goalID(r.Message, "goal_id"))
	if g == nil || g.o.Feedback == nil || g.mute() {
		return
	}
	g.o.Feedback(r.Message.Msg("feedback"))
}

func (c *Client) onStatus(r ros.Received) {
	for _, m := range r.Message.Msgs("status_list") {
		if g := c.goal(goalID(m, "goal_info.goal_id")); g != nil {
			g.seen(Status(m.Int("status")), r.Publisher)
		}
	}
}

// requestCancel asks the server to cancel one goal.
func (c *Client) requestCancel(ctx context.Context, id GoalID) (CancelCode, error) {
	request := ros.New(c.cancelGoal.Type().Request).With("goal_info.goal_id", id.fields())
	response, err := c.cancelGoal.Call(ctx, request)
	if err != nil {
		return CancelNone, err
	}
	return CancelCode(response.Int("return_code")), nil
}

// CancelAll asks the action's server to cancel every goal, whoever sent it, and waits for
// its answer. It waits for the server to be there, until ctx ends. A refusal is a *CancelError.
func CancelAll(ctx context.Context, node ros.Node, name string) error {
	return cancelAt(ctx, node, name, GoalID{})
}

// CancelGoal is CancelAll for one goal, whoever sent it. That the server does not know it, or that it has ended, is a *CancelError as well.
func CancelGoal(ctx context.Context, node ros.Node, name string, id GoalID) error {
	return cancelAt(ctx, node, name, id)
}

// cancelAt sends one cancel request; the zero id means every goal.
func cancelAt(ctx context.Context, node ros.Node, name string, id GoalID) (err error) {
	n, err := namesOf(node, name)
	if err != nil {
		return err
	}
	client, err := node.CreateClient(n.cancelGoal, cancelType)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if err := client.WaitReady(ctx); err != nil {
		return err
	}
	response, err := client.Call(ctx, ros.New(client.Type().Request).With("goal_info.goal_id", id.fields()))
	if err != nil {
		return err
	}
	if code := CancelCode(response.Int("return_code")); code != CancelNone {
		return &CancelError{Action: name, Code: code}
	}
	return nil
}
