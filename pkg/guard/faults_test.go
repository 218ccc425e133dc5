package guard_test

import (
	"context"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

// act is something that happens at a time after the command was sent.
type act struct {
	at time.Duration
	do func(*rig, context.CancelFunc)
}

func set(f func(*guardtest.Faults)) func(*rig, context.CancelFunc) {
	return func(r *rig, _ context.CancelFunc) { r.r.Set(f) }
}

func cancel(_ *rig, c context.CancelFunc) { c() }

// both and pairs of faults that a guard must survive; each is run with a goal or a stream, alone under virtual time.
type faultCase struct {
	name    string
	before  func(*guardtest.Faults) // from before the lease
	stream  bool
	command func(*rig, *guard.Command)
	acts    []act
	robot   func(*guardtest.Options)

	reason guard.Reason
	atRest bool
	within time.Duration // of the command
	path   string        // exactly, from the command on
	ends   guard.State   // after the outcome
	check  func(*rig, guard.Outcome)
}

const (
	toCancel = "sent in_flight canceling "
	ms       = time.Millisecond
)

var faultCases = []faultCase{
	{
		name: "feedback lost/goal", acts: []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.NoFeedback = true })}},
		reason: guard.ReasonFeedbackLost, within: 12 * time.Second, ends: guard.Fault,
		path: toCancel + "settling stopping fault", // the goal is canceled in good order; that it rests cannot be measured
	},
	{
		name: "feedback lost/stream", stream: true, acts: []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.NoFeedback = true })}},
		reason: guard.ReasonFeedbackLost, within: 6 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault",
	},
	{
		name: "feedback lost for a moment", stream: true,
		acts: []act{
			{1 * time.Second, set(func(f *guardtest.Faults) { f.NoFeedback = true })},
			{1800 * ms, set(func(f *guardtest.Faults) { f.NoFeedback = false })},
		},
		reason: guard.ReasonSucceeded, atRest: true, within: 12 * time.Second, ends: guard.Holding, path: "sent in_flight settling holding",
	},
	{
		name: "frozen values with fresh stamps/goal", acts: []act{{500 * ms, set(func(f *guardtest.Faults) { f.FreezeValues = true })}},
		reason: guard.ReasonFeedbackLost, within: 20 * time.Second, ends: guard.Fault, path: toCancel + "settling stopping fault", check: detail("frozen"),
	},
	{
		name: "frozen values with fresh stamps/stream", stream: true, acts: []act{{500 * ms, set(func(f *guardtest.Faults) { f.FreezeValues = true })}},
		reason: guard.ReasonFeedbackLost, within: 6 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault", check: detail("frozen"),
	},
	{
		name: "frozen in motion by a quiet sensor/goal", acts: []act{{500 * ms, set(func(f *guardtest.Faults) { f.FreezeValues = true })}}, robot: quiet,
		reason: guard.ReasonSucceeded, within: 20 * time.Second, ends: guard.Fault, path: "sent in_flight settling stopping fault",
	},
	{
		name: "frozen in motion by a quiet sensor/stream", stream: true, acts: []act{{500 * ms, set(func(f *guardtest.Faults) { f.FreezeValues = true })}}, robot: quiet,
		reason: guard.ReasonStalled, within: 12 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault",
	},
	{
		name: "frozen at zero by a quiet sensor/goal", before: func(f *guardtest.Faults) { f.FreezeValues = true }, robot: quiet,
		reason: guard.ReasonSucceeded, within: 20 * time.Second, ends: guard.Fault, path: "sent in_flight settling stopping fault",
		check: detail("not changed since the command"),
	},
	{
		name: "frozen at zero by a quiet sensor/stream, canceled", stream: true, before: func(f *guardtest.Faults) { f.FreezeValues = true }, robot: quiet,
		acts:   []act{{1500 * ms, cancel}},
		reason: guard.ReasonCanceled, within: 8 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault",
	},
	{
		name: "frozen stamps/goal", acts: []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.FreezeStamps = true })}},
		reason: guard.ReasonFeedbackLost, within: 12 * time.Second, ends: guard.Fault, path: toCancel + "settling stopping fault",
	},
	{
		name: "frozen stamps/stream", stream: true, acts: []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.FreezeStamps = true })}},
		reason: guard.ReasonFeedbackLost, within: 6 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault",
	},
	{
		name: "the last message over and over", stream: true, acts: []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.RepeatLast = true })}},
		reason: guard.ReasonFeedbackLost, within: 6 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault",
	},
	{
		name: "NaN velocity/in flight", stream: true, acts: []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.NaN = true })}},
		reason: guard.ReasonFeedbackLost, within: 6 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault", check: detail("not finite"),
	},
	{
		name: "NaN velocity/after success", acts: []act{{2650 * ms, set(func(f *guardtest.Faults) { f.NaN = true })}},
		command: func(r *rig, c *guard.Command) { *c = r.r.Goal(0.9, 0.4) },
		reason:  guard.ReasonSucceeded, within: 12 * time.Second, ends: guard.Fault, path: "sent in_flight settling stopping fault", check: detail("not finite"),
	},
	{
		name: "Inf velocity", acts: []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.Inf = true })}},
		reason: guard.ReasonFeedbackLost, within: 12 * time.Second, ends: guard.Fault, path: toCancel + "settling stopping fault",
	},
	{
		name: "NaN position", acts: []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.NaNPosition = true })}},
		reason: guard.ReasonFeedbackLost, within: 12 * time.Second, ends: guard.Fault, path: toCancel + "settling stopping fault",
	},
	{
		name: "stale odometry that reads zero/goal", acts: []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.StaleZero = 5 * time.Second })}},
		reason: guard.ReasonFeedbackLost, within: 12 * time.Second, ends: guard.Fault, path: toCancel + "settling stopping fault", check: detail("stamp"),
	},
	{
		name: "odometry half a second old that reads zero", acts: []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.StaleZero = 500 * ms })}}, command: far,
		before: func(f *guardtest.Faults) { f.RefuseCancel, f.IgnoreStop = true, true },
		reason: guard.ReasonStalled, within: 15 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault", check: detail("stamp"),
	},
	{
		name: "stale odometry that reads zero/stream, canceled", stream: true,
		acts:   []act{{1 * time.Second, set(func(f *guardtest.Faults) { f.StaleZero = 5 * time.Second })}, {1100 * ms, cancel}},
		reason: guard.ReasonCanceled, within: 6 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault",
	},
	{
		name: "late success after cancel", before: func(f *guardtest.Faults) { f.LateSuccess = true; f.LateResult = 2 * time.Second },
		acts:   []act{{1 * time.Second, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 6 * time.Second, ends: guard.Holding, path: toCancel + "settling holding",
	},
	{
		name: "success so late that the stop path was taken", before: func(f *guardtest.Faults) { f.LateSuccess = true; f.LateResult = 5 * time.Second },
		acts:   []act{{1 * time.Second, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 8 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding",
		check: func(r *rig, _ guard.Outcome) {
			r.wait(5 * time.Second)
			if len(r.reported(guard.ReportLate)) == 0 {
				r.t.Error("the late success was not recorded")
			}
			// The next command is not ended by it.
			if o := r.outcome(r.execute(r.ctx, r.held, r.r.Goal(0, 0.5)), 20*time.Second); o.Reason != guard.ReasonSucceeded {
				r.t.Errorf("second run: %+v", o)
			}
		},
	},
	{
		name: "cancel refused", before: func(f *guardtest.Faults) { f.RefuseCancel = true }, acts: []act{{1 * time.Second, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 4 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding",
	},
	{
		name: "cancel never answered", before: func(f *guardtest.Faults) { f.SilentCancel = true }, acts: []act{{1 * time.Second, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 5 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding",
		check: func(r *rig, o guard.Outcome) {
			if d := r.r.Counts().FirstStop.Sub(start(r)); d < 1900*ms || d > 2200*ms {
				r.t.Errorf("first stop %v after the command, want 1 s after the cancel", d)
			}
		},
	},
	{
		name: "cancel answered after 5 s", before: func(f *guardtest.Faults) { f.CancelDelay = 5 * time.Second; f.StopDelay = 5 * time.Second },
		acts:   []act{{1 * time.Second, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 5 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding",
	},
	{
		name: "cancel answered after 5 s and carried out after 10, by a navigator whose velocities win again", before: func(f *guardtest.Faults) {
			f.CancelDelay, f.StopDelay, f.Insists = 5*time.Second, 5*time.Second, true
		},
		acts:   []act{{1 * time.Second, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 13 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding", check: staysAtRest,
	},
	{
		name: "motion goes on for 1.5 s after the cancel was accepted", before: func(f *guardtest.Faults) { f.StopDelay = 1500 * ms }, acts: []act{{1 * time.Second, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 6 * time.Second, ends: guard.Holding, path: toCancel + "settling holding",
	},
	{
		name: "cancel accepted and motion goes on", before: func(f *guardtest.Faults) { f.IgnoreCancel = true }, acts: []act{{1 * time.Second, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 8 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding",
	},
	{
		name: "cancel accepted, motion goes on, and stop is not heard", before: func(f *guardtest.Faults) { f.IgnoreCancel, f.IgnoreStop = true, true },
		acts: []act{{1 * time.Second, cancel}}, command: far,
		reason: guard.ReasonCanceled, within: 10 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault", check: detail("speed"),
	},
	{
		name: "server dies mid-goal", acts: []act{{1 * time.Second, func(r *rig, _ context.CancelFunc) { r.r.Die() }}},
		reason: guard.ReasonServerLost, atRest: true, within: 4 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding",
		check: func(r *rig, _ guard.Outcome) {
			if d := r.r.Counts().FirstStop.Sub(start(r)); d > 1100*ms {
				r.t.Errorf("first stop %v after the command, the server died at 1 s", d)
			}
		},
	},
	{
		name: "server restarts and has forgotten the goal", acts: []act{{1 * time.Second, func(r *rig, _ context.CancelFunc) { r.r.Die() }}},
		reason: guard.ReasonServerLost, atRest: true, within: 4 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding",
		check: func(r *rig, _ guard.Outcome) {
			if n := r.r.Counts().Starts; n != 1 {
				r.t.Errorf("%d goals were sent", n)
			}
			if o := r.outcome(r.execute(r.ctx, r.held, r.r.Goal(0, 0.5)), 20*time.Second); o.Reason != guard.ReasonSucceeded {
				r.t.Errorf("a fresh goal: %+v", o)
			}
		},
	},
	{
		name: "no result ever", before: func(f *guardtest.Faults) { f.NoResult = true }, // it may go on
		reason: guard.ReasonStalled, within: 25 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault", check: detail("not known to have ended"),
	},
	{
		name: "simulated time paused", acts: []act{
			{1 * time.Second, func(r *rig, _ context.CancelFunc) { r.stand(true) }},
			{11 * time.Second, func(r *rig, _ context.CancelFunc) { r.stand(false) }},
		},
		reason: guard.ReasonSucceeded, atRest: true, within: 30 * time.Second, ends: guard.Holding, path: "sent in_flight paused in_flight settling holding",
		check: func(r *rig, o guard.Outcome) {
			if o.Paused < 9*time.Second || o.Paused > 10*time.Second {
				r.t.Errorf("paused for %v, time stood for 10 s", o.Paused)
			}
		},
	},
	{
		name: "simulated time paused, and the stop path does not wait for it", acts: []act{
			{1 * time.Second, func(r *rig, _ context.CancelFunc) { r.stand(true) }},
			{3 * time.Second, func(r *rig, _ context.CancelFunc) { go r.g.StopAll(r.ctx, "operator_stop") }},
		},
		stream: true,
		reason: guard.ReasonStopped, within: 9 * time.Second, ends: guard.Fault, path: "sent in_flight paused canceling stopping fault",
	},
	{
		name: "clock jumps back in flight", acts: []act{{1 * time.Second, func(r *rig, _ context.CancelFunc) { r.jump(-100 * time.Second) }}},
		reason: guard.ReasonSucceeded, atRest: true, within: 20 * time.Second, ends: guard.Holding, path: "sent in_flight settling holding",
	},
	{
		name: "clock jumps forward in flight", acts: []act{{1 * time.Second, func(r *rig, _ context.CancelFunc) { r.jump(1000 * time.Second) }}},
		reason: guard.ReasonSucceeded, atRest: true, within: 20 * time.Second, ends: guard.Holding, path: "sent in_flight settling holding",
	},
	{
		name: "clock jumps back while settling", stream: true, acts: []act{{1 * time.Second, cancel}, {1300 * ms, func(r *rig, _ context.CancelFunc) { r.jump(-100 * time.Second) }}},
		reason: guard.ReasonCanceled, atRest: true, within: 6 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding",
	},
	{
		name: "duplicate goal id", before: func(f *guardtest.Faults) { f.Reject = true },
		reason: guard.ReasonRejected, atRest: true, within: time.Second, ends: guard.Holding, path: "sent holding",
	},
	{
		name: "preempt races completion: the result came first", command: func(r *rig, c *guard.Command) { *c = r.r.Goal(0.9, 0.4) },
		acts: []act{{0, func(r *rig, c context.CancelFunc) {
			go func() {
				for r.a.State().State != guard.Settling {
					time.Sleep(ms)
				}
				c()
			}()
		}}},
		reason: guard.ReasonSucceeded, atRest: true, within: 12 * time.Second, ends: guard.Holding, path: "sent in_flight settling holding",
	},
	{
		name: "e-stop while settling", command: func(r *rig, c *guard.Command) { *c = r.r.Goal(0.9, 0.4) },
		acts: []act{{0, func(r *rig, _ context.CancelFunc) {
			go func() {
				for r.a.State().State != guard.Settling {
					time.Sleep(ms)
				}
				r.g.EmergencyStop(true)
			}()
		}}},
		reason: guard.ReasonEstop, atRest: true, within: 12 * time.Second, ends: guard.Estop, path: "sent in_flight settling estop",
	},
	{
		name: "protective stop, then resume", acts: []act{
			{1 * time.Second, func(r *rig, _ context.CancelFunc) { r.protect(true) }},
			{11 * time.Second, func(r *rig, _ context.CancelFunc) { r.protect(false) }},
		},
		command: func(r *rig, c *guard.Command) { c.Allowance = 15 * time.Second },
		reason:  guard.ReasonSucceeded, atRest: true, within: 25 * time.Second, ends: guard.Holding, path: "sent in_flight paused in_flight settling holding",
		check: func(r *rig, o guard.Outcome) {
			if n := r.r.Counts(); n.Cancels != 0 || n.Stops != 0 || n.Starts != 1 {
				r.t.Errorf("a hold by the robot itself cancels nothing: %+v", n)
			}
			if o.Paused < 9900*ms || o.Paused > 10100*ms {
				r.t.Errorf("paused for %v", o.Paused)
			}
		},
	},
	{
		name: "protective stop of a stream", stream: true, acts: []act{
			{1 * time.Second, func(r *rig, _ context.CancelFunc) { r.protect(true) }},
			{4 * time.Second, func(r *rig, _ context.CancelFunc) { r.protect(false) }},
		},
		reason: guard.ReasonSucceeded, atRest: true, within: 25 * time.Second, ends: guard.Holding, path: "sent in_flight paused in_flight settling holding",
	},
	{
		name: "protective stop beyond the cap", acts: []act{{1 * time.Second, func(r *rig, _ context.CancelFunc) { r.protect(true) }}},
		reason: guard.ReasonPauseCap, atRest: true, within: 70 * time.Second, ends: guard.Holding, path: "sent in_flight paused canceling settling holding",
	},
	{
		name: "a second publisher on the velocity topic", stream: true, acts: []act{
			{1 * time.Second, func(r *rig, _ context.CancelFunc) { r.r.Push(0.2); r.a.Foreign("/joystick") }},
			{2 * time.Second, cancel},
		},
		reason: guard.ReasonCanceled, within: 8 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault",
		check: func(r *rig, _ guard.Outcome) {
			if p := r.reported(guard.ReportForeign); len(p) != 1 || p[0].Detail != "/joystick" {
				r.t.Errorf("reports %+v", p)
			}
		},
	},
	{
		name: "oscillation through zero speed", acts: []act{
			{1 * time.Second, set(func(f *guardtest.Faults) { f.Oscillate = 0.03 })}, {2 * time.Second, cancel},
		},
		reason: guard.ReasonCanceled, within: 13 * time.Second, ends: guard.Fault, path: toCancel + "stopping fault",
	},
	{
		name: "command topic without subscriber", stream: true, before: func(f *guardtest.Faults) { f.NoSubscriber = true },
		reason: guard.ReasonStalled, atRest: true, within: 10 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding",
	},
	{
		name: "accept lost, goal running anyway", before: func(f *guardtest.Faults) { f.NoAcceptance, f.NoProgress = true, true }, command: far,
		reason: guard.ReasonNoAnswer, atRest: true, within: 6 * time.Second, ends: guard.Holding, path: "sent canceling settling holding",
		check: orphanGone,
	},
	{
		name: "accept lost, but the goal's feedback arrives", before: func(f *guardtest.Faults) { f.NoAcceptance = true },
		reason: guard.ReasonSucceeded, atRest: true, within: 12 * time.Second, ends: guard.Holding, path: "sent in_flight settling holding",
	},
	{
		name: "goal lost", before: func(f *guardtest.Faults) { f.NoAnswer, f.SilentCancel = true, true },
		reason: guard.ReasonNoAnswer, within: 15 * time.Second, ends: guard.Fault, path: "sent canceling stopping fault", check: vouchedFor,
	},
	{
		name: "canceled before it was accepted", before: func(f *guardtest.Faults) { f.AcceptDelay = 900 * ms }, acts: []act{{300 * ms, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 5 * time.Second, ends: guard.Holding, path: "sent canceling settling holding",
		check: func(r *rig, _ guard.Outcome) {
			if n := r.r.Counts().Cancels; n != 1 {
				r.t.Errorf("%d cancels", n)
			}
			orphanGone(r, guard.Outcome{})
		},
	},
	{
		name: "accepted when the stop path was taken already", before: func(f *guardtest.Faults) { f.AcceptDelay = 1500 * ms }, acts: []act{{300 * ms, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 5 * time.Second, ends: guard.Holding, path: "sent canceling stopping settling holding", check: orphanGone,
	},
	{
		name: "accepted 4 s after it was canceled", before: func(f *guardtest.Faults) { f.AcceptDelay = 4 * time.Second }, acts: []act{{300 * ms, cancel}},
		reason: guard.ReasonCanceled, atRest: true, within: 6 * time.Second, ends: guard.Holding, path: "sent canceling stopping settling holding", check: orphanGone,
	},
	{
		name: "accepted when a person has vouched that it was lost", before: func(f *guardtest.Faults) { f.AcceptDelay = 20 * time.Second; f.SilentCancel = true },
		acts:   []act{{300 * ms, cancel}},
		reason: guard.ReasonCanceled, within: 12 * time.Second, ends: guard.Fault, path: "sent canceling stopping fault",
		check: func(r *rig, o guard.Outcome) {
			vouchedFor(r, o)
			r.r.Set(func(f *guardtest.Faults) { f.SilentCancel = false })
			r.wait(10 * time.Second)
			if len(r.reported(guard.ReportOrphan)) != 1 {
				r.t.Error("the orphan was not reported")
			}
			orphanGone(r, o)
		},
	},
	{
		name: "success without motion, in the same breath", before: func(f *guardtest.Faults) { f.SucceedAt = 1 }, robot: quiet,
		command: func(r *rig, c *guard.Command) { *c = r.r.Goal(0, 0.4) },
		reason:  guard.ReasonSucceeded, atRest: true, within: 2 * time.Second, ends: guard.Holding, path: "sent in_flight settling holding",
	},
	{
		name: "success claimed while it drives on", before: func(f *guardtest.Faults) { f.SucceedAt = time.Second; f.IgnoreStop = true }, command: far,
		reason: guard.ReasonSucceeded, within: 10 * time.Second, ends: guard.Fault, path: "sent in_flight settling stopping fault",
	},
	{
		name: "success claimed before the motion can be measured", before: func(f *guardtest.Faults) { f.SucceedAt = 60 * ms; f.IgnoreStop = true }, command: far,
		robot:  func(o *guardtest.Options) { o.Lag = 80 * ms },
		reason: guard.ReasonSucceeded, within: 10 * time.Second, ends: guard.Fault, path: "sent in_flight settling stopping fault",
	},
	{
		name: "stop commands fail", stream: true, before: func(f *guardtest.Faults) { f.StopFails = true }, acts: []act{{1 * time.Second, cancel}},
		// The body's own watchdog stops it; the guard goes on trying, and says so.
		reason: guard.ReasonCanceled, atRest: true, within: 5 * time.Second, ends: guard.Holding, path: toCancel + "stopping settling holding",
		check: func(r *rig, _ guard.Outcome) {
			if len(r.reported(guard.ReportDriver)) == 0 || r.r.Counts().Stops < 5 {
				r.t.Errorf("%d reports, %d stops", len(r.reported(guard.ReportDriver)), r.r.Counts().Stops)
			}
		},
	},
}
