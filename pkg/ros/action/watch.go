package action

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/ros"
)

// Limits of a goal's client, in real time.
const (
	// lookEvery is how often the client looks whether the goal's server is still there.
	lookEvery = 250 * time.Millisecond
	// lostAfter is how long a server may be out of sight: discovery flickers.
	lostAfter = time.Second
	// resultAfter is how long get_result may take once the status topic says that the goal has ended. Shorter than any
	// guard's patience with a robot that stands and whose goal seems to run.
	resultAfter = 3 * time.Second
	// cancelAnswer is how long the server may take to answer the cancel of a goal given up, and
	// how often that is tried again.
	cancelAnswer = 2 * time.Second
	// cancelTries limits how often the cancel of a goal given up is tried.
	cancelTries = 15
)

// live is the goal's goroutine: it sends the goal, waits for its answer and then for
// its result, and watches the server meanwhile.
func (g *Goal) live(request *ros.Message) {
	ctx, stop := context.WithCancel(g.c.ctx)
	defer g.c.forget(g)
	defer stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	w := &watch{g: g, known: make(map[string]bool)}
	w.look(time.Now())

	if !g.awaitAnswer(ctx, request, look.C, w) {
		return
	}
	select {
	case <-g.abandoned:
		g.cancelOrphan(ctx)
		return
	default:
	}
	g.awaitResult(ctx, look.C, w)
}

type reply struct {
	m   *ros.Message
	err error
}

// ask calls a service from a goroutine of its own.
func (g *Goal) ask(ctx context.Context, client ros.Client, request *ros.Message) <-chan reply {
	c := make(chan reply, 1)
	g.c.work.add()
	go func() {
		defer g.c.work.done()
		m, err := client.Call(ctx, request)
		c <- reply{m, err}
	}()
	return c
}

// awaitAnswer reports whether the goal was accepted: by the response or, should that be
// lost, by the status topic.
func (g *Goal) awaitAnswer(ctx context.Context, request *ros.Message, look <-chan time.Time, w *watch) bool {
	answers := g.ask(ctx, g.c.sendGoal, request)
	for {
		select {
		case <-g.accepted:
			g.answer(nil)
			return true
		case a := <-answers:
			switch {
			case ctx.Err() != nil:
				g.dismiss(fmt.Errorf("%w: action client %s", ros.ErrClosed, g.c.name))
				return false
			case a.err != nil:
				g.dismiss(fmt.Errorf("action %s: send goal: %w", g.c.name, a.err))
				return false
			case !a.m.Bool("accepted"):
				g.dismiss(fmt.Errorf("%w: action %s, goal %v", ros.ErrRejected, g.c.name, g.id))
				return false
			}
			g.tell(StatusAccepted)
			g.answer(nil)
			return true
		case now := <-look:
			// A newcomer does not have the request; the one that has it may be there still.
			if w.look(now) == lost {
				g.dismiss(&GoalError{ID: g.id, Err: ErrServerLost, Detail: "it had not answered the goal"})
				return false
			}
		}
	}
}

// dismiss ends a goal that was not accepted.
func (g *Goal) dismiss(err error) {
	g.answer(err)
	select {
	case <-g.abandoned:
		g.c.orphan.done()
	default:
	}
	g.finish(Outcome{}, err)
}

// cancelOrphan cancels a goal that nobody waits for. It insists: a server that refuses or
// stays silent is asked again.
func (g *Goal) cancelOrphan(ctx context.Context) {
	defer g.c.orphan.done()
	defer g.finish(Outcome{}, context.Canceled)
	for try := range cancelTries {
		attempt, stop := context.WithTimeout(ctx, cancelAnswer)
		code, err := g.c.requestCancel(attempt, g.id)
		if err == nil && code != CancelRejected {
			stop()
			g.c.log.Info("goal canceled that was given up before its acceptance", "goal", g.id, "answer", code)
			return
		}
		g.c.log.Warn("goal given up before its acceptance is not canceled yet", "goal", g.id, "try", try+1, "answer", code, "error", err)
		if err == nil {
			// Refused: time must pass before the next attempt.
			select {
			case <-attempt.Done():
			case <-g.terminal:
			}
		}
		stop()
		select {
		case <-g.terminal:
			return
		case <-ctx.Done():
			return
		default:
		}
	}
	g.c.log.Error("goal given up before its acceptance could not be canceled", "goal", g.id, "tries", cancelTries)
}

// awaitResult waits for the goal's end.
func (g *Goal) awaitResult(ctx context.Context, look <-chan time.Time, w *watch) {
	request := ros.New(g.c.at.GetResult.Request).With("goal_id", g.id.fields())
	call := func() (<-chan reply, context.CancelFunc) {
		attempt, stop := context.WithCancel(ctx)
		return g.ask(attempt, g.c.getResult, request), stop
	}
	first, stop := call()
	defer func() { stop() }()
	var second <-chan reply // a repeated question, should the first one's answer be lost
	var again, late <-chan time.Time
	terminal := g.terminal
	failures := 0
	for {
		var r reply
		select {
		case r = <-first:
			first = nil
		case r = <-second:
			second = nil
		case <-terminal:
			terminal = nil
			half, limit := time.NewTimer(resultAfter/2), time.NewTimer(resultAfter)
			defer half.Stop()
			defer limit.Stop()
			again, late = half.C, limit.C
			continue
		case <-again:
			again = nil
			if second == nil {
				second = g.ask(ctx, g.c.getResult, request)
			}
			continue
		case <-late:
			g.fail(ErrResultLost, fmt.Sprintf("get_result was not answered within %v of the end", resultAfter))
			return
		case now := <-look:
			switch w.look(now) {
			case lost:
				g.fail(ErrServerLost, fmt.Sprintf("no server of %s for %v", g.c.name, lostAfter))
				return
			case replaced:
				// Who is there now may not know the goal; its answer will tell.
				stop()
				first, stop = call()
			case inSight:
				if first == nil && second == nil {
					stop()
					first, stop = call()
				}
			}
			continue
		}
		if r.err == nil {
			if o, err := g.result(r.m); err != nil {
				g.finish(Outcome{}, err)
			} else {
				g.finish(o, nil)
			}
			return
		}
		if ctx.Err() != nil {
			g.finish(Outcome{}, fmt.Errorf("%w: action client %s", ros.ErrClosed, g.c.name))
			return
		}
		// Asked again at the next look, but not for ever.
		if !errors.Is(r.err, ros.ErrNotReady) && !errors.Is(r.err, context.Canceled) {
			failures++
		}
		if failures > 3 {
			g.finish(Outcome{}, &GoalError{ID: g.id, Status: g.Status(), Err: r.err, Detail: "get_result failed"})
			return
		}
	}
}

// sight is what a look at the server shows.
type sight uint8

const (
	inSight  sight = iota
	replaced       // another server has come, or one is there again after an absence
	lost           // nothing is there, for too long
)

// watch knows who has served the goal's action since it was sent.
type watch struct {
	g       *Goal
	known   map[string]bool // status publishers, where the transport tells them
	missing bool
	absent  time.Time // since when, if missing
}

// look compares who is there now with who was there before. A server killed and started again
// may be seen beside its own ghost for a while, so it is the newcomer that tells, not the absence of the old one.
func (w *watch) look(now time.Time) sight {
	there := w.identities()
	w.g.mu.Lock()
	if p := w.g.publisher; p != "" {
		w.known[p] = true // it knows the goal
	}
	w.g.mu.Unlock()
	first, newcomer := len(w.known) == 0, false
	for _, id := range there {
		newcomer = newcomer || !first && !w.known[id]
		w.known[id] = true
	}
	if !w.g.c.getResult.Ready() {
		if !w.missing {
			w.missing, w.absent = true, now
		}
		if now.Sub(w.absent) >= lostAfter {
			return lost
		}
		return inSight
	}
	back := w.missing
	w.missing = false
	if newcomer || back {
		return replaced
	}
	return inSight
}

// identities are the status publishers in sight.
func (w *watch) identities() []string {
	infos, err := w.g.c.node.Graph().Publishers(w.g.c.status.Topic())
	if err != nil {
		return nil
	}
	var ids []string
	for _, i := range infos {
		if i.Publisher != "" {
			ids = append(ids, i.Publisher)
		}
	}
	return ids
}
