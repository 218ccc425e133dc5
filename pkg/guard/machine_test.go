package guard

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// world drives a machine alone, with neither goroutine nor clock: every input is drawn, and the body moves when told to.
type world struct {
	t        *rapid.T
	m        *machine
	now      mono
	x, v     float64
	moving   bool
	movesFor mono // without a break
	epoch    Epoch
	leased   uint64
	orders   map[uint64]bool // sent and not answered
	answered map[uint64]bool
	nextID   uint64
	resumed  int // how often a stream was told so
}

func newWorld(t *rapid.T) *world {
	c := testConfig([]Axis{{"x", Linear, false}}, 50*time.Millisecond)
	c.PauseCap = 4 * time.Second
	return &world{t: t, m: newMachine(c), orders: map[uint64]bool{}, answered: map[uint64]bool{}}
}

func (w *world) step(in input) {
	queue := []input{in}
	for len(queue) > 0 {
		in := queue[0]
		queue = queue[1:]
		actions := w.m.step(w.now, source{}, &in)
		w.resumes(actions)
		for _, a := range actions {
			queue = w.do(a, queue)
		}
	}
}

// resumes: a stream that goes on after a pause is told so, once, before it is asked for its next velocity, and never else.
func (w *world) resumes(actions []action) {
	owed, told := 0, 0
	for _, a := range actions {
		switch {
		case a.kind == actTransition && a.from == Paused && a.to == InFlight && w.m.order.stream:
			owed++
		case a.kind == actResumed:
			told++
		case a.kind == actStream && told < owed:
			w.t.Fatalf("the stream goes on and was not told that it resumes")
		}
	}
	if owed != told {
		w.t.Fatalf("told %d times that it resumes, after %d pauses", told, owed)
	}
	w.resumed += told
}

func (w *world) do(a action, queue []input) []input {
	switch a.kind {
	case actStart:
		if a.epoch <= w.epoch {
			w.t.Fatalf("epoch %d after %d", a.epoch, w.epoch)
		}
		w.epoch = a.epoch
		var err error
		if rapid.IntRange(0, 9).Draw(w.t, "start fails") == 0 {
			err = errors.New("start")
		}
		return append(queue, input{kind: inStarted, epoch: a.epoch, err: err})
	case actOutcome, actRefuse:
		if !w.orders[a.order] || w.answered[a.order] {
			w.t.Fatalf("outcome of order %d, which waits for none", a.order)
		}
		w.answered[a.order] = true
		delete(w.orders, a.order)
		if a.outcome.AtRest && w.movesFor > 200*time.Millisecond { // the newest sample may be that old
			w.t.Fatalf("outcome %+v, and it has moved for %v", a.outcome, w.movesFor)
		}
		if a.outcome.Reason == "" {
			w.t.Fatalf("outcome without a reason")
		}
	case actLeased:
		if a.err == nil {
			w.leased = a.id
		}
	case actTransition:
		if a.from == a.to {
			w.t.Fatalf("transition from %v to itself", a.from)
		}
	case actReport:
		if a.report == ReportInternal {
			w.t.Fatalf("internal: %s", a.text)
		}
	case actRevalidate:
		var err error
		if rapid.Bool().Draw(w.t, "invalid") {
			err = errors.New("invalid")
		}
		return append(queue, input{kind: inRevalidated, id: a.id, err: err})
	case actStop, actCancel, actStream, actResumed, actCheck:
	}
	return queue
}

// pass lets time go by in control periods, measuring or not.
func (w *world) pass(d time.Duration, measured bool) {
	for end := w.now + d; w.now < end; {
		w.now += 50 * time.Millisecond
		if w.v = 0; w.moving {
			w.v = 0.2
			w.x += 0.01
			w.movesFor += 50 * time.Millisecond
		} else {
			w.movesFor = 0
		}
		if measured {
			w.step(input{kind: inSample, stamp: stampZero.Add(w.now), arrived: w.now, pos: []float64{w.x}, vel: []float64{w.v}})
		}
		w.step(input{kind: inTick})
	}
}

func (w *world) draw() input {
	e := Epoch(max(0, int(w.epoch)-rapid.IntRange(0, 2).Draw(w.t, "age")))
	in := input{epoch: e, flag: rapid.Bool().Draw(w.t, "flag")}
	in.kind = rapid.SampledFrom([]inputKind{
		inExecute, inExecute, inExecute, inStreamed, inChecked, inAccepted, inAccepted, inRejected, inFinished, inCancelAnswered, inServerLost, inProgress,
		inCancel, inStop, inQuiesce, inEstop, inReset, inReset, inResetEnd, inPause, inResume, inForeign, inPermitted, inAcquire, inAcquire, inAcquireGone, inRelease,
	}).Draw(w.t, "kind")
	in.text = rapid.SampledFrom([]string{SourceOperator, "mode"}).Draw(w.t, "text")
	switch in.kind {
	case inExecute:
		w.nextID++
		w.orders[w.nextID] = true
		in.id = w.leased
		in.order = order{id: w.nextID, stream: in.flag, mustMove: rapid.Bool().Draw(w.t, "must move"), revalid: true, allowance: 6 * time.Second}
	case inFinished:
		in.reason = rapid.SampledFrom([]Reason{ReasonSucceeded, ReasonCanceled, ReasonServerFailed}).Draw(w.t, "reason")
	case inStreamed, inChecked:
		in.err = errors.New("drawn")
	case inAcquire, inAcquireGone:
		w.nextID++
		in.id = w.nextID
	case inCancel:
		in.id = w.m.order.id
	case inRelease:
		in.id = w.leased
	default:
	}
	return in
}

// Any inputs in any order: epochs only grow, each command has one outcome and one only, rest is not claimed of what has just moved,
// and when nothing more happens every command ends.
func TestAnyInputsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.pass(time.Second, true)
		for range rapid.IntRange(1, 60).Draw(t, "inputs") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				w.moving = !w.moving
			case 1, 2:
				w.pass(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms"))*time.Millisecond, rapid.IntRange(0, 4).Draw(t, "unmeasured") > 0)
			default:
				w.step(w.draw())
			}
		}
		w.step(input{kind: inResume, text: SourceOperator})
		w.step(input{kind: inResume, text: "mode"})
		w.moving = rapid.Bool().Draw(t, "it never stops")
		w.pass(time.Minute, rapid.Bool().Draw(t, "measured to the end"))
		if len(w.orders) > 0 {
			t.Fatalf("%d commands have no end, in %v", len(w.orders), w.m.state)
		}
		// And a stop still wins.
		w.step(input{kind: inStop})
		if s := w.m.state; s == Sent || s == InFlight || s == Paused || w.m.lease.owner != "" {
			t.Fatalf("%v after a stop", s)
		}
	})
}

// Any pauses, by the operator and by the robot: a stream is told of every one that it goes on after. See world.resumes.
func TestAStreamIsToldOfEveryPauseOnce(t *testing.T) {
	resumed := 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		defer func() { resumed += w.resumed }()
		w.pass(time.Second, true)
		w.step(input{kind: inAcquire, id: 1, text: "test"})
		w.orders[2] = true
		w.step(input{kind: inExecute, id: w.leased, order: order{id: 2, stream: rapid.Bool().Draw(t, "stream"), revalid: rapid.Bool().Draw(t, "revalid"), allowance: time.Hour}})
		for range rapid.IntRange(1, 20).Draw(t, "events") {
			in := input{kind: rapid.SampledFrom([]inputKind{inPause, inResume}).Draw(t, "kind")}
			in.text = rapid.SampledFrom([]string{SourceOperator, "mode"}).Draw(t, "text")
			w.step(in)
			w.moving = w.m.state == InFlight
			w.pass(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms"))*time.Millisecond, true)
		}
	})
	if resumed == 0 {
		t.Error("the test tests nothing: no stream resumed")
	}
}

// An answer of an older epoch changes nothing.
func TestAnswersOfOlderEpochsAreNeverApplied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.pass(time.Second, true)
		w.m.epoch = 7
		w.epoch = 7
		w.step(input{kind: inAcquire, id: 1, text: "test"})
		w.orders[2] = true
		w.step(input{kind: inExecute, id: w.leased, order: order{id: 2, allowance: time.Hour}})
		if w.m.state != Sent {
			return // the drawn start failed
		}
		w.step(input{kind: inAccepted, epoch: 8})
		before, goal := w.m.state, w.m.goal
		for _, k := range []inputKind{inAccepted, inRejected, inFinished, inCancelAnswered, inServerLost, inProgress, inStreamed, inChecked, inStarted} {
			e := Epoch(rapid.IntRange(0, 7).Draw(t, "old"))
			w.step(input{kind: k, epoch: e, reason: ReasonSucceeded, err: errors.New("old")})
			if w.m.state != before || w.m.goal != goal || w.m.order.reason != "" {
				t.Fatalf("input %d of epoch %d: %v, %+v", k, e, w.m.state, w.m.goal)
			}
		}
	})
}
