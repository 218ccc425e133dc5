package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/robottools"
	"agent_node/pkg/shell/suite"
)

// progressEvery is the time between two words on how far a suite is.
const progressEvery = 10 * time.Second

// evalRun is a suite that is being tried.
type evalRun struct {
	*Eval
	report suite.Report // its results are added to by one goroutine
	stop   chan struct{}
	done   chan struct{}

	mu    sync.Mutex // guards what progress says
	tried int
	wrong int
	now   string
}

// begin counts what there is to try, and tells of it until end.
func (e *Eval) begin(profile *robottools.Profile) *evalRun {
	r := &evalRun{Eval: e, report: suite.Report{Suite: e.Suite.Name, Profile: profile.Name, Counted: true}, stop: make(chan struct{}), done: make(chan struct{})}
	for i := range e.Suite.Cases {
		if e.wants(&e.Suite.Cases[i]) {
			r.report.Asked++
		}
	}
	r.report.Asked += e.drawn()
	if e.Progress == nil || e.Verbose {
		close(r.done)
		return r
	}
	go r.tell()
	return r
}

func (r *evalRun) end() {
	close(r.stop)
	<-r.done
}

func (r *evalRun) tell() {
	defer close(r.done)
	begun := time.Now()
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		r.mu.Lock()
		fmt.Fprintf(r.Progress, "%d of %d tried, %d wrong, after %.0f s; now: %s\n", r.tried, r.report.Asked, r.wrong, time.Since(begun).Seconds(), r.now)
		r.mu.Unlock()
		select {
		case <-t.C:
		case <-r.stop:
			return
		}
	}
}

// wants reports whether a case is to be tried.
func (e *Eval) wants(c *suite.Case) bool {
	return e.Only == nil || e.Only.MatchString(c.ID) || e.Only.MatchString(c.Group)
}

// drawn is how many random moves there are to be.
func (e *Eval) drawn() int {
	switch {
	case e.Suite.Random == nil || e.Only != nil && !e.Only.MatchString("random"):
		return 0
	case e.Random >= 0:
		return e.Random
	}
	return e.Suite.Random.Count
}

// doing is what progress says of the time until the next result.
func (r *evalRun) doing(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = what
}

func (r *evalRun) one(ctx context.Context, b *suite.Bench, c *suite.Case) error {
	r.doing(c.ID + ": " + c.Why)
	result, err := b.Run(ctx, c)
	if err != nil {
		return err
	}
	r.add(result)
	return nil
}

func (r *evalRun) add(x suite.Result) {
	r.report.Results = append(r.report.Results, x)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried++
	if len(x.Faults) > 0 {
		r.wrong++
	}
	if r.Progress == nil || !r.Verbose && len(x.Faults) == 0 {
		return
	}
	word := "right"
	switch {
	case x.LeftOut != "":
		word = "left out: " + x.LeftOut
	case !x.Right():
		word = "WRONG: " + x.Faults[0]
	}
	fmt.Fprintf(r.Progress, "%-28s %s (%s)\n", x.ID, word, x.Got)
}

// moves draws safe moves and has them carried out, one after the other.
func (r *evalRun) moves(ctx context.Context, b *suite.Bench) error {
	rng := rand.New(rand.NewPCG(r.Seed, 0x6d6f7665)) // the second word only tells this use of a seed from others
	for i := range r.drawn() {
		r.doing(fmt.Sprintf("random %d", i+1))
		c, ok, err := b.Draw(ctx, r.Suite.Random, rng, i+1)
		if err != nil {
			return err
		}
		if !ok {
			r.add(suite.Result{ID: "random", Group: "safe: random", Safe: true, LeftOut: "no random move of these kinds"})
			return nil
		}
		if err := r.one(ctx, b, c); err != nil {
			return err
		}
		r.report.Random++
	}
	return nil
}

// sort puts the results into the suite's order: instances of their own came last.
func (r *evalRun) sort() {
	place := map[string]int{}
	for i, c := range r.Suite.Cases {
		place[c.ID] = i + 1
	}
	slices.SortStableFunc(r.report.Results, func(a, b suite.Result) int {
		x, y := place[a.ID], place[b.ID]
		if x == 0 {
			x = len(place) + 1
		}
		if y == 0 {
			y = len(place) + 1
		}
		return x - y
	})
}

// print what was tried, however it ended.
func (r *evalRun) print(ctx context.Context, ended error, out io.Writer) (int, error) {
	if ctx.Err() != nil {
		r.report.Interrupted, ended = true, nil
	}
	r.sort()
	r.report.Sum()
	if r.JSON {
		data, err := json.MarshalIndent(&r.report, "", " ")
		if err != nil {
			return ExitFailed, errors.Join(ended, err)
		}
		fmt.Fprintf(out, "%s\n", data)
	} else if ended == nil || len(r.report.Results) > 0 {
		r.report.Print(out)
	}
	switch {
	case ended != nil:
		return ExitFailed, ended
	case r.report.Interrupted:
		return ExitInterrupted, nil
	case !r.report.Passed():
		return ExitFailed, nil
	}
	return ExitDone, nil
}
