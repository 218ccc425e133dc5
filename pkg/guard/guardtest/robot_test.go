package guardtest_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inBubble runs a robot, fed to no guard, for as long as the test takes.
func inBubble(t *testing.T, o guardtest.Options, test func(*guardtest.Robot)) {
	synctest.Test(t, func(t *testing.T) {
		r := guardtest.New(o)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { r.Run(ctx); close(done) }()
		test(r)
		cancel()
		<-done
	})
}

func TestBodyObeysItsLimits(t *testing.T) {
	inBubble(t, guardtest.Options{Acceleration: 0.5, Deceleration: 2}, func(r *guardtest.Robot) {
		for range 20 { // 1 m/s asked for, for 1 s
			r.Velocity(1)
			time.Sleep(50 * time.Millisecond)
		}
		pos, vel := r.Truth()
		if math.Abs(vel[0]-0.5) > 0.02 || math.Abs(pos[0]-0.25) > 0.02 {
			t.Errorf("after 1 s at 0.5 m/s^2: %.3f m, %.3f m/s", pos[0], vel[0])
		}
		if r.MovingFor() < 900*time.Millisecond {
			t.Errorf("moves for %v", r.MovingFor())
		}
		r.Stop()
		time.Sleep(260 * time.Millisecond)
		if _, vel := r.Truth(); vel[0] != 0 || r.MovingFor() != 0 {
			t.Errorf("%.3f m/s after braking at 2 m/s^2 from 0.5 m/s for 0.26 s", vel[0])
		}
	})
}

func TestSilenceStopsTheBody(t *testing.T) {
	inBubble(t, guardtest.Options{}, func(r *guardtest.Robot) {
		r.Velocity(0.3)
		time.Sleep(guardtest.VelocityTimeout - 20*time.Millisecond)
		if r.MovingFor() == 0 {
			t.Error("stopped too early")
		}
		time.Sleep(500 * time.Millisecond)
		if r.MovingFor() != 0 {
			t.Error("drives on in silence")
		}
	})
}

func TestStopCanBeIgnored(t *testing.T) {
	inBubble(t, guardtest.Options{}, func(r *guardtest.Robot) {
		r.Velocity(0.3)
		r.Set(func(f *guardtest.Faults) { f.IgnoreStop = true })
		time.Sleep(time.Second)
		r.Stop()
		time.Sleep(2 * time.Second)
		if r.MovingFor() == 0 {
			t.Error("it stopped")
		}
		r.Set(func(f *guardtest.Faults) { f.IgnoreStop = false; f.StopFails = true })
		if err := r.Stop(); !errors.Is(err, guardtest.ErrStop) {
			t.Errorf("stop says %v", err)
		}
	})
}

func TestGoalsAreReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		robot := guardtest.New(guardtest.Options{Noise: 0.0005, Lag: 50 * time.Millisecond, Loss: 0.02})
		g := guard.New(guard.GuardConfig{})
		a, err := g.Add(robot.Config("base"), robot)
		if err != nil {
			t.Fatal(err)
		}
		robot.Attach(a)
		ctx, cancel := context.WithCancel(t.Context())
		ran, moved := make(chan error, 1), make(chan struct{})
		robotCtx, stopRobot := context.WithCancel(t.Context())
		go func() { ran <- g.Run(ctx) }()
		go func() { robot.Run(robotCtx); close(moved) }()
		lease, err := a.Acquire(ctx, "test")
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range []float64{1, -0.5, 0} {
			out := lease.Execute(ctx, robot.Goal(target, 0.4))
			if pos, _ := robot.Truth(); out.Reason != guard.ReasonSucceeded || math.Abs(pos[0]-target) > 0.02 {
				t.Errorf("stands at %.3f m, want %g; %+v", pos[0], target, out)
			}
		}
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		stopRobot()
		<-moved
	})
}
