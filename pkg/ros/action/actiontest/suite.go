package actiontest

import (
	"context"
	"embed"
	"io/fs"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/msgdef"
)

// Type is the action type of the suite; the transport's nodes must know it.
const Type = "test_msgs/action/Fibonacci"

//go:embed interfaces
var interfaces embed.FS

// Types are the embedded interface types and the suite's, for transports that need no ROS.
func Types() ros.TypeSource {
	return msgdef.NewSource(append(msgdef.EmbeddedTrees(), Tree())...)
}

// Tree has the suite's own types.
func Tree() msgdef.Tree {
	own, err := fs.Sub(interfaces, "interfaces")
	if err != nil {
		panic(err) // the folder's name is a valid path
	}
	return msgdef.Tree{FS: own}
}

// Connect makes a node of that name which sees all others made for the same test,
// and closes it when the test ends.
type Connect func(t *testing.T, name string) ros.Node

// Case is one thing to show.
type Case struct {
	Name string
	Run  func(t *testing.T, connect Connect)
}

// Cases lists the suite. A transport that can run in a synctest bubble may do so.
func Cases() []Case {
	var all []Case
	for _, cases := range [][]Case{goalCases, cancelCases, resultCases, shutdownCases, clientCases} {
		all = append(all, cases...)
	}
	return all
}

// Run runs every case as a subtest.
func Run(t *testing.T, connect Connect) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, connect) })
	}
}

// limit is for everything that a case waits for.
const limit = 20 * time.Second

const name = "fibonacci"

// rig is a server whose goals the test ends by hand, and a client.
type rig struct {
	t       *testing.T
	ctx     context.Context
	connect Connect

	serverNode, clientNode ros.Node
	server                 *action.Server
	client                 *action.Client
	handles                chan *action.Handle
	at                     *ros.ActionType
	raw                    *raw
	seen                   *observer
}

func newRig(t *testing.T, connect Connect, change func(*action.ServerConfig)) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	r := &rig{
		t: t, ctx: ctx, connect: connect, handles: make(chan *action.Handle, 1000),
		serverNode: connect(t, "server"), clientNode: connect(t, "client"),
	}
	cfg := action.ServerConfig{Name: name, Type: Type, Accepted: r.carryOut}
	if change != nil {
		change(&cfg)
	}
	var err error
	if r.server, err = action.NewServer(r.serverNode, cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel() // what a test has left open is aborted
		_ = r.server.Close(ended)
	})
	r.client = newClient(t, r.clientNode)
	r.at = r.client.Type()
	if err := r.client.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	r.raw = newRaw(ctx, t, r.clientNode, r.at)
	r.seen = observe(t, r.clientNode)
	r.seen.waitMatched(ctx)
	return r
}

func newClient(t *testing.T, node ros.Node) *action.Client {
	t.Helper()
	c, err := action.NewClient(node, name, Type)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
	})
	return c
}

// carryOut hands the goal to the test and waits until it has ended it; a server that closes
// gets a partial result.
func (r *rig) carryOut(h *action.Handle) {
	r.handles <- h
	select {
	case <-h.Done():
	case <-h.Context().Done():
		// The test may be ending it at the same moment.
		_ = h.Abort(r.result(-1))
	}
}

func (r *rig) goal(order int) *ros.Message {
	return ros.New(r.at.Goal).With("order", order)
}

func (r *rig) result(numbers ...int32) *ros.Message {
	return ros.New(r.at.Result).With("sequence", numbers)
}

func (r *rig) feedback(numbers ...int32) *ros.Message {
	return ros.New(r.at.Feedback).With("sequence", numbers)
}

// send sends a goal and gives both of its ends.
func (r *rig) send(o action.GoalOptions) (*action.Goal, *action.Handle) {
	r.t.Helper()
	g, err := r.client.Send(r.ctx, r.goal(3), o)
	if err != nil {
		r.t.Fatal(err)
	}
	return g, r.handle()
}

func (r *rig) handle() *action.Handle {
	r.t.Helper()
	select {
	case h := <-r.handles:
		return h
	case <-r.ctx.Done():
		r.t.Fatal("no goal came to the server's handler")
		return nil
	}
}

func (r *rig) wait(what string, c <-chan struct{}) {
	r.t.Helper()
	select {
	case <-c:
	case <-r.ctx.Done():
		r.t.Fatalf("waited %v for %s", limit, what)
	}
}

// outcome is the goal's, which must be known in time.
func (r *rig) outcome(g *action.Goal) action.Outcome {
	r.t.Helper()
	o, err := g.Result(r.ctx)
	if err != nil {
		r.t.Fatalf("result: %v", err)
	}
	return o
}

func (r *rig) wantOutcome(g *action.Goal, status action.Status, result *ros.Message) {
	r.t.Helper()
	o := r.outcome(g)
	if o.Status != status || !ros.Equal(o.Result, result) {
		r.t.Errorf("outcome %v %v, want %v %v", o.Status, o.Result.Map(), status, result.Map())
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}
