package actiontest

import (
	"context"
	"errors"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// fakeRig is a client with a scripted server.
func fakeRig(t *testing.T, connect Connect, f *Fake) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	r := &rig{t: t, ctx: ctx, connect: connect, serverNode: connect(t, "server"), clientNode: connect(t, "client")}
	r.must(f.Open(r.serverNode, name, Type))
	r.client = newClient(t, r.clientNode)
	r.at = r.client.Type()
	r.must(r.client.WaitReady(ctx))
	return r
}

func (r *rig) sendTo() *action.Goal {
	r.t.Helper()
	g, err := r.client.Send(r.ctx, r.goal(1), action.GoalOptions{})
	r.must(err)
	return g
}

// wantLoss wants the goal to end without a result.
func (r *rig) wantLoss(g *action.Goal, want error, status action.Status) {
	r.t.Helper()
	o, err := g.Result(r.ctx)
	var typed *action.GoalError
	if !errors.Is(err, want) || !errors.As(err, &typed) || typed.ID != g.ID() || o.Status != status {
		r.t.Errorf("result %v, error %v; want %v with status %v", o.Status, err, want, status)
	}
}

var clientCases = []Case{
	{"NoServerIsNotReady", func(t *testing.T, connect Connect) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		r := &rig{t: t, ctx: ctx, clientNode: connect(t, "client")}
		r.client = newClient(t, r.clientNode)
		r.at = r.client.Type()
		if r.client.Ready() {
			t.Error("ready")
		}
		if _, err := r.client.Send(ctx, r.goal(1), action.GoalOptions{}); !errors.Is(err, ros.ErrNotReady) {
			t.Errorf("send: %v, want ErrNotReady", err)
		}
	}},
	{"GoalGivenUpBeforeItsAcceptanceIsCanceled", func(t *testing.T, connect Connect) {
		release := make(chan struct{})
		arrived := make(chan action.GoalID, 1)
		f := &Fake{Goal: func(ctx context.Context, id action.GoalID) (bool, error) {
			arrived <- id
			select {
			case <-release:
			case <-ctx.Done():
			}
			return true, ctx.Err()
		}}
		r := fakeRig(t, connect, f)
		short, giveUp := context.WithCancel(r.ctx)
		var id action.GoalID
		go func() {
			id = <-arrived
			giveUp()
		}()
		if _, err := r.client.Send(short, r.goal(1), action.GoalOptions{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("send: %v, want Canceled", err)
		}
		if n := len(f.Cancels()); n != 0 {
			t.Errorf("%d cancels before the acceptance", n)
		}
		close(release)
		r.must(f.WaitCancel(r.ctx, 1))
		r.must(r.client.Close()) // waits for the answer
		if got := f.Cancels(); len(got) != 1 || got[0] != id {
			t.Errorf("cancels %v, want one of %v", got, id)
		}
	}},
	{"GoalGivenUpWhoseAcceptanceIsLostIsCanceledByItsStatus", func(t *testing.T, connect Connect) {
		arrived := make(chan action.GoalID, 1)
		f := &Fake{Goal: func(ctx context.Context, id action.GoalID) (bool, error) {
			arrived <- id
			<-ctx.Done()
			return false, ctx.Err()
		}}
		r := fakeRig(t, connect, f)
		short, giveUp := context.WithCancel(r.ctx)
		ids := make(chan action.GoalID, 1)
		go func() {
			ids <- <-arrived
			giveUp()
		}()
		if _, err := r.client.Send(short, r.goal(1), action.GoalOptions{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("send: %v, want Canceled", err)
		}
		id := <-ids
		r.must(f.Publish(id, action.StatusExecuting))
		r.must(f.WaitCancel(r.ctx, 1))
	}},
	{"RefusedCancelOfAGoalGivenUpIsRepeated", func(t *testing.T, connect Connect) {
		arrived, gate := make(chan struct{}), make(chan struct{})
		var f *Fake
		f = &Fake{
			Goal: func(ctx context.Context, _ action.GoalID) (bool, error) {
				close(arrived)
				select {
				case <-gate:
				case <-ctx.Done():
				}
				return true, ctx.Err()
			},
			Cancel: func(context.Context, action.GoalID) (action.CancelCode, error) {
				if len(f.Cancels()) == 1 {
					return action.CancelRejected, nil
				}
				return action.CancelNone, nil
			},
		}
		r := fakeRig(t, connect, f)
		short, giveUp := context.WithCancel(r.ctx)
		go func() {
			<-arrived
			giveUp()
		}()
		if _, err := r.client.Send(short, r.goal(1), action.GoalOptions{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("send: %v, want Canceled", err)
		}
		close(gate)
		r.must(f.WaitCancel(r.ctx, 2))
	}},
	{"ServerThatVanishesIsNoticed", func(t *testing.T, connect Connect) {
		f := &Fake{}
		r := fakeRig(t, connect, f)
		g := r.sendTo()
		r.must(f.Close())
		r.wantLoss(g, action.ErrServerLost, action.StatusUnknown)
	}},
	{"ServerThatVanishesBeforeItsAnswerIsNoticed", func(t *testing.T, connect Connect) {
		arrived := make(chan struct{})
		f := &Fake{Goal: func(ctx context.Context, _ action.GoalID) (bool, error) {
			close(arrived)
			<-ctx.Done()
			return false, ctx.Err()
		}}
		r := fakeRig(t, connect, f)
		go func() {
			<-arrived
			if err := r.serverNode.Close(); err != nil {
				t.Error(err)
			}
		}()
		if _, err := r.client.Send(r.ctx, r.goal(1), action.GoalOptions{}); !errors.Is(err, action.ErrServerLost) && !errors.Is(err, ros.ErrNotReady) {
			t.Errorf("send: %v, want ErrServerLost", err)
		}
	}},
	{"RestartedServerHasForgottenTheGoal", func(t *testing.T, connect Connect) {
		f := &Fake{}
		r := fakeRig(t, connect, f)
		g := r.sendTo()
		r.must(f.Close())
		s, err := action.NewServer(connect(t, "again"), action.ServerConfig{Name: name, Type: Type, Accepted: func(*action.Handle) {}})
		r.must(err)
		t.Cleanup(func() { _ = s.Close(context.Background()) })
		r.wantLoss(g, action.ErrGoalForgotten, action.StatusUnknown)
	}},
	{"ResultThatIsNeverSentIsNoticed", func(t *testing.T, connect Connect) {
		f := &Fake{}
		r := fakeRig(t, connect, f)
		g := r.sendTo()
		r.must(f.Publish(g.ID(), action.StatusSucceeded))
		r.wantLoss(g, action.ErrResultLost, action.StatusSucceeded)
	}},
	{"LostAnswerToGetResultIsAskedForAgain", func(t *testing.T, connect Connect) {
		first := make(chan struct{}, 1)
		first <- struct{}{}
		f := &Fake{Result: func(context.Context, action.GoalID) (action.Status, error) {
			select {
			case <-first:
				return 0, errors.New("lost, as the test wants")
			default:
				return action.StatusAborted, nil
			}
		}}
		r := fakeRig(t, connect, f)
		g := r.sendTo()
		r.must(f.Publish(g.ID(), action.StatusAborted))
		r.wantOutcome(g, action.StatusAborted, ros.New(r.at.Result))
	}},
	{"SilentServerIsGivenUpByTheSendersTime", func(t *testing.T, connect Connect) {
		f := &Fake{Cancel: func(ctx context.Context, _ action.GoalID) (action.CancelCode, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}}
		r := fakeRig(t, connect, f)
		g := r.sendTo()
		short, cancel := context.WithCancel(r.ctx)
		cancel()
		if _, err := g.Result(short); !errors.Is(err, context.Canceled) {
			t.Errorf("result: %v", err)
		}
		if _, err := g.Cancel(short); !errors.Is(err, context.Canceled) {
			t.Errorf("cancel: %v", err)
		}
		r.must(r.client.Close())
		if _, err := g.Result(r.ctx); !errors.Is(err, ros.ErrClosed) {
			t.Errorf("result after close: %v, want ErrClosed", err)
		}
	}},
}
