// Package guard tells, for each actuator and from measurements alone, whether a
// command is in flight, whether the actuator moves, has settled, is paused,
// stalled or cannot be observed; and it stops what moves. It knows no ROS: whoever
// owns the interfaces feeds it measurements and answers, and gives it a [Driver].
//
//	g := guard.New(guard.GuardConfig{})
//	a, err := g.Add(cfg, driver)        // before or while g.Run runs
//	go g.Run(ctx)                       // its end stops everything
//	lease, err := a.Acquire(ctx, "me")  // one owner
//	outcome := lease.Execute(ctx, cmd)  // returns at measured rest, or says that there is none
//
// One state machine per actuator, written as a table (table.go: states, events,
// actions); code, tests and the diagram in docs/guard-states.md come from that
// table, and docs/guard.md says what it cannot. The machine is pure (machine.go),
// one goroutine per actuator owns it (actor.go), and everybody else sends events.
// All deadlines run on the monotonic clock.
package guard
