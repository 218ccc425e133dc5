package action_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/action/actiontest"
)

// bench is a server whose handles come out of a channel, and what its status topic says.
type bench struct {
	server  *action.Server
	client  *action.Client
	handles chan *action.Handle
	goal    *ros.Message
	result  *ros.Type

	mu      sync.Mutex
	history map[action.GoalID][]action.Status
	changed chan struct{}
}

func newBench(t *testing.T) *bench {
	t.Helper()
	nodes := connect(actiontest.Types())
	b := &bench{handles: make(chan *action.Handle, 100), history: map[action.GoalID][]action.Status{}, changed: make(chan struct{})}
	var err error
	b.server, err = action.NewServer(nodes(t, "server"), action.ServerConfig{
		Name: "a", Type: actiontest.Type, ResultTimeout: time.Minute,
		Accepted: func(h *action.Handle) {
			b.handles <- h
			<-h.Done()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	node := nodes(t, "client")
	if b.client, err = action.NewClient(node, "a", actiontest.Type); err != nil {
		t.Fatal(err)
	}
	sub, err := node.CreateSubscription("a/_action/status", "action_msgs/msg/GoalStatusArray", ros.QoS{Depth: 10000, Durability: ros.TransientLocal}, b.take)
	if err != nil {
		t.Fatal(err)
	}
	at := b.client.Type()
	b.goal, b.result = ros.New(at.Goal), at.Result
	t.Cleanup(func() {
		if err := errors.Join(b.server.Close(context.Background()), b.client.Close(), sub.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) take(r ros.Received) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range r.Message.Msgs("status_list") {
		var id action.GoalID
		u, err := m.Get("goal_info.goal_id.uuid")
		if err != nil {
			panic(err)
		}
		copy(id[:], u.([]uint8))
		s := action.Status(m.Int("status"))
		if h := b.history[id]; len(h) == 0 || h[len(h)-1] != s {
			b.history[id] = append(h, s)
		}
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// ended waits for a terminal state on the topic and returns the goal's history.
func (b *bench) ended(ctx context.Context, id action.GoalID) []action.Status {
	for {
		b.mu.Lock()
		h, changed := append([]action.Status(nil), b.history[id]...), b.changed
		b.mu.Unlock()
		if len(h) > 0 && h[len(h)-1].Terminal() {
			return h
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return h
		}
	}
}

// next are the changes of state that the ROS 2 action design allows.
var next = map[action.Status]map[action.Status]bool{
	action.StatusUnknown:   {action.StatusAccepted: true},
	action.StatusAccepted:  {action.StatusExecuting: true, action.StatusCanceling: true},
	action.StatusExecuting: {action.StatusCanceling: true, action.StatusSucceeded: true, action.StatusAborted: true},
	action.StatusCanceling: {action.StatusCanceled: true, action.StatusSucceeded: true, action.StatusAborted: true},
}

func wantLegal(t *rapid.T, history []action.Status) {
	at := action.StatusUnknown
	for _, s := range history {
		if !next[at][s] {
			t.Fatalf("states %v: %v does not lead to %v", history, at, s)
		}
		at = s
	}
	if !at.Terminal() {
		t.Fatalf("states %v do not end", history)
	}
}

var moves = rapid.SampledFrom([]string{"execute", "cancel", "cancel all", "feedback", "succeed", "abort", "canceled"})

// move does one thing to a goal; it reports the state that the goal ended in, if this ended it.
func (b *bench) move(ctx context.Context, what string, g *action.Goal, h *action.Handle) (ended action.Status, err error) {
	mark := func(s action.Status) *ros.Message { return ros.New(b.result).With("sequence", []int32{int32(s)}) }
	switch what {
	case "execute":
		h.Execute()
	case "cancel":
		_, err = g.Cancel(ctx)
	case "feedback":
		err = h.Feedback(ros.New(b.client.Type().Feedback))
	case "succeed":
		if err = h.Succeed(mark(action.StatusSucceeded)); err == nil {
			return action.StatusSucceeded, nil
		}
	case "abort":
		if err = h.Abort(mark(action.StatusAborted)); err == nil {
			return action.StatusAborted, nil
		}
	case "canceled":
		if err = h.Canceled(mark(action.StatusCanceled)); err == nil {
			return action.StatusCanceled, nil
		}
	}
	return action.StatusUnknown, err
}

// TestSequencesFollowTheStateMachine compares every step with a model of one goal.
func TestSequencesFollowTheStateMachine(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		g, err := b.client.Send(ctx, b.goal, action.GoalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		h := <-b.handles
		model := action.StatusAccepted
		for _, what := range append(rapid.SliceOfN(moves, 0, 8).Draw(t, "moves"), "abort") {
			if what == "cancel all" {
				continue
			}
			ended, err := b.move(ctx, what, g, h)
			want, wantErr := step(model, what)
			if got := h.Status(); got != want {
				t.Fatalf("%s in %v leads to %v, want %v", what, model, got, want)
			}
			if (wantErr == nil) != (err == nil) || wantErr != nil && !errors.Is(err, wantErr) {
				t.Fatalf("%s in %v: error %v, want %v", what, model, err, wantErr)
			}
			if ended != action.StatusUnknown && ended != want {
				t.Fatalf("%s ended the goal as %v", what, ended)
			}
			model = want
		}
		wantLegal(t, b.ended(ctx, g.ID()))
		o, err := g.Result(ctx)
		if err != nil || o.Status != model {
			t.Fatalf("outcome %v %v, want %v", o.Status, err, model)
		}
	})
}

// step is the model: what a move leads to, and its error.
func step(at action.Status, what string) (action.Status, error) {
	active := at == action.StatusAccepted || at == action.StatusExecuting
	switch what {
	case "execute":
		if at == action.StatusAccepted {
			return action.StatusExecuting, nil
		}
	case "cancel":
		if active {
			return action.StatusCanceling, nil
		}
	case "feedback":
		if at.Terminal() {
			return at, action.ErrEnded
		}
	case "succeed", "abort", "canceled":
		to := map[string]action.Status{"succeed": action.StatusSucceeded, "abort": action.StatusAborted, "canceled": action.StatusCanceled}[what]
		switch {
		case at.Terminal():
			return at, action.ErrEnded
		case active && what == "canceled":
			return at, action.ErrIllegal
		}
		return to, nil
	}
	return at, nil
}

// TestInterleavingsEndOnce lets several goroutines do things to two goals at once.
func TestInterleavingsEndOnce(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		var goals [2]*action.Goal
		var handles [2]*action.Handle
		for i := range goals {
			var err error
			if goals[i], err = b.client.Send(ctx, b.goal, action.GoalOptions{}); err != nil {
				t.Fatal(err)
			}
			handles[i] = <-b.handles
		}
		var mu sync.Mutex
		wins := map[action.GoalID][]action.Status{}
		var wg sync.WaitGroup
		for range rapid.IntRange(1, 4).Draw(t, "goroutines") {
			script := rapid.SliceOfN(moves, 1, 6).Draw(t, "moves")
			on := rapid.SliceOfN(rapid.IntRange(0, 1), len(script), len(script)).Draw(t, "goals")
			wg.Go(func() {
				for i, what := range script {
					g, h := goals[on[i]], handles[on[i]]
					// Errors are the other tests' affair; here only who won counts.
					if ended, _ := b.move(ctx, what, g, h); ended != action.StatusUnknown {
						mu.Lock()
						wins[h.ID()] = append(wins[h.ID()], ended)
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		for i, h := range handles {
			if err := h.Abort(nil); err == nil {
				wins[h.ID()] = append(wins[h.ID()], action.StatusAborted)
			}
			won := wins[h.ID()]
			if len(won) != 1 {
				t.Fatalf("goal %d ended %d times: %v", i, len(won), won)
			}
			o, err := goals[i].Result(ctx)
			if err != nil || o.Status != won[0] {
				t.Fatalf("outcome %v %v, but %v won", o.Status, err, won[0])
			}
			history := b.ended(ctx, h.ID())
			wantLegal(t, history)
			if last := history[len(history)-1]; last != won[0] {
				t.Fatalf("states %v, but %v won", history, won[0])
			}
		}
	})
}
