package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// goal is what a subcommand asks of one of the node's actions.
type goal struct {
	action, typ string
	fill        func(*ros.Type) *ros.Message
	waitServer  time.Duration
	progress    *progress            // quiet: feedback, which is that of ExecuteTask, is not asked for
	accepted    func(session string) // called once the node has taken the goal; may be nil
}

// cancelPatience is how long run waits for the result after Ctrl-C.
const cancelPatience = 30 * time.Second

// pursue sends a goal and waits for its result. When ctx ends the goal is canceled, and its result awaited.
func pursue(ctx context.Context, node ros.Node, x goal) (action.Outcome, error) {
	defer x.progress.end()
	client, err := action.NewClient(node, x.action, x.typ)
	if err != nil {
		return action.Outcome{}, err
	}
	defer client.Close()
	wait, cancel := context.WithTimeout(ctx, x.waitServer)
	defer cancel()
	if err := client.WaitReady(wait); err != nil {
		if ctx.Err() != nil {
			return action.Outcome{}, ctx.Err()
		}
		return action.Outcome{}, fmt.Errorf("no action server %s after %v: is the node running, and active?", x.action, x.waitServer)
	}
	var o action.GoalOptions
	if !x.progress.quiet {
		o.Feedback = x.progress.feedback
	}
	g, err := client.Send(ctx, x.fill(client.Type().Goal), o)
	if errors.Is(err, ros.ErrRejected) {
		return action.Outcome{}, errors.New("the goal was rejected: the node's log and ~/trace say why")
	}
	if err != nil {
		return action.Outcome{}, err
	}
	if x.accepted != nil {
		x.accepted(g.ID().String())
	}
	return await(ctx, g, x.progress)
}

// await waits for the result; the end of ctx cancels the goal first.
func await(ctx context.Context, g *action.Goal, p *progress) (action.Outcome, error) {
	result, err := g.Result(ctx)
	if ctx.Err() == nil || err == nil {
		return result, err
	}
	p.say("canceling; waiting until the robot rests")
	ctx, cancel := context.WithTimeout(context.Background(), cancelPatience)
	defer cancel()
	if _, err := g.Cancel(ctx); err != nil {
		return action.Outcome{}, fmt.Errorf("cancel: %w", err)
	}
	return g.Result(ctx)
}

// printAs prints a result, for people or as JSON and nothing else.
func printAs(asJSON bool, out io.Writer, result *ros.Message, show func(io.Writer, *ros.Message)) error {
	if !asJSON {
		show(out, result)
		return nil
	}
	data, err := result.MarshalJSON()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", data)
	return nil
}
