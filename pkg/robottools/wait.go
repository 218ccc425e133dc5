package robottools

import (
	"context"
	"fmt"
	"math"
	"time"

	"agent_node/pkg/harness/tool"
)

// waitTool lets time pass on the node's ROS clock. It moves nothing.
type waitTool struct {
	*bound
	seconds *expression
}

// maxWait bounds one wait, s.
const maxWait = 86400

func (r *Robot) newWait(b *bound, c *compiler) (tool.Tool, error) {
	t := &waitTool{bound: b, seconds: c.one("binding/wait/seconds", b.def.Binding.Wait.Seconds)}
	t.spec.Binding, t.spec.Source, t.spec.Validated = "wait on the node's clock", "clock", true
	return t, c.err
}

func (t *waitTool) plan(call tool.Call) (scope, time.Duration, *tool.Result) {
	s, bad := t.prepare(call)
	if bad != nil {
		return nil, 0, bad
	}
	sec, err := t.seconds.number(s)
	if err != nil {
		return nil, 0, t.fail(tool.PreconditionFailed, "%v", err)
	}
	if !(sec >= 0 && sec <= maxWait) {
		return nil, 0, t.fail(tool.GeometryRefused, "range: seconds is %g s, limits 0 s and %d s", sec, maxWait)
	}
	return s, time.Duration(math.Round(sec * float64(time.Second))), nil
}

// Call implements tool.Tool.
func (t *waitTool) Call(ctx context.Context, call tool.Call) tool.Result {
	s, d, bad := t.plan(call)
	if bad != nil {
		return *bad
	}
	waited, err := t.robot.sleep(ctx, d)
	if err != nil {
		return *t.fail(tool.Canceled, "interrupted after %.2f s of %.2f s", waited.Seconds(), d.Seconds())
	}
	return t.observation(s, map[string]any{"waited_s": waited.Seconds()})
}

// DryRun implements tool.DryRunner.
func (t *waitTool) DryRun(_ context.Context, call tool.Call) tool.Result {
	_, d, bad := t.plan(call)
	if bad != nil {
		return *bad
	}
	return tool.Result{OK: true, Content: fmt.Sprintf("would wait %.2f s", d.Seconds()), Source: t.spec.Source}
}

// Predict implements tool.Predictor.
func (t *waitTool) Predict(_ context.Context, call tool.Call, _ any) tool.Prediction {
	if _, _, bad := t.plan(call); bad != nil {
		return refusedBy(bad, nil)
	}
	return tool.Prediction{}
}

// waitPoll is how often a wait on simulated time looks at the clock.
// Robots are simulated up to a hundred times as fast as real time: then that is 0.2 s.
const waitPoll = 2 * time.Millisecond

// sleep waits for d of ROS time: simulated time may stand still or jump; a jump neither ends nor
// prolongs the wait, since only forward steps of up to a second count.
func (r *Robot) sleep(ctx context.Context, d time.Duration) (time.Duration, error) {
	clock := r.node.Clock()
	if !clock.Simulated() {
		begin := time.Now()
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return time.Since(begin), nil
		case <-ctx.Done():
			return time.Since(begin), context.Cause(ctx)
		}
	}
	var waited time.Duration
	last := clock.Now()
	tick := time.NewTicker(waitPoll)
	defer tick.Stop()
	for waited < d {
		select {
		case <-ctx.Done():
			return waited, context.Cause(ctx)
		case <-tick.C:
		}
		now := clock.Now()
		if step := now.Sub(last); step > 0 && step <= time.Second && !last.IsZero() {
			waited += step
		}
		last = now
	}
	return waited, nil
}
