package robottools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agent_node/pkg/geometry"
	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
)

// Session-ending reason codes that a tool can ask for.
const (
	interruptFault    = "actuator_fault"
	interruptEstop    = "emergency_stop"
	interruptOperator = "operator_stop"
)

// motionFailure is the observation of a motion that did not succeed, or nil if it did, at rest. accepted: a server took a goal of it,
// or a command was published.
func (b *bound) motionFailure(ctx context.Context, out guard.Outcome, accepted bool) *tool.Result {
	begun := accepted || out.Reason != guard.ReasonRefused && out.Reason != guard.ReasonRejected
	r := b.reasonFailure(ctx, out)
	if r != nil {
		r.Begun = begun
		if begun && out.AtRest && r.ErrorKind == tool.Canceled {
			r.Content += b.whereItRests()
		}
	}
	if out.AtRest {
		return r
	}
	// Whatever ended it: that rest was not reached is what counts now.
	detail := out.Detail
	if detail == "" {
		detail = "rest could not be measured"
	}
	kind := tool.NotAtRest
	if out.Reason == guard.ReasonFeedbackLost {
		kind = tool.StaleState
	}
	f := b.fail(kind, "%s after %s: %s", b.def.Actuator, out.Reason, detail)
	if out.Err != nil {
		f.Content += "; it began with: " + out.Err.Error()
	}
	f.Interrupt, f.Begun = interruptFault, begun
	if r != nil && r.Interrupt != "" && r.Interrupt != interruptFault {
		f.Content += " (" + r.Interrupt + ")"
	}
	return f
}

// whereItRests says where a motion that was cut off came to rest. It is only for motions that end their session: a loop that is stuck is
// known by results that are the same, and no two rests are.
func (b *bound) whereItRests() string {
	if _, base := b.robot.actuators[b.def.Actuator]; base {
		if p, ok := b.robot.world.pose(); ok {
			return fmt.Sprintf("; it rests at x %.2f m, y %.2f m, yaw %.2f rad in %s", p.X, p.Y, p.Yaw, b.robot.profile.Frames.Map)
		}
		return "; it rests"
	}
	for _, a := range b.robot.all {
		if s, ok := a.latest(); ok && a.name == b.def.Actuator && len(s.Position) == len(a.axes) {
			at := make([]string, len(a.axes))
			for i, x := range a.axes {
				at[i] = fmt.Sprintf("%s %.3f", x.Name, s.Position[i])
			}
			return "; it rests at " + strings.Join(at, ", ")
		}
	}
	return "; it rests"
}

func (b *bound) reasonFailure(ctx context.Context, out guard.Outcome) *tool.Result {
	why := string(out.Reason)
	if out.Detail != "" {
		why += ": " + out.Detail
	}
	if out.Err != nil {
		if said := out.Err.Error(); strings.HasPrefix(said, why+":") {
			why = said
		} else {
			why += ": " + said
		}
	}
	switch out.Reason {
	case guard.ReasonSucceeded:
		return nil
	case guard.ReasonRefused:
		return b.leaseFailure(ctx, out.Err)
	case guard.ReasonCommandFailed:
		return b.fail(commandKind(out.Err), "%s", why)
	case guard.ReasonServerFailed:
		return b.fail(tool.ServerFailed, "%s", why)
	case guard.ReasonRejected:
		return b.fail(tool.ServerRejected, "%s", why)
	case guard.ReasonNoAnswer:
		r := b.fail(tool.ServerUnavailable, "%s", why)
		r.DependencyLost = true
		return r
	case guard.ReasonServerLost:
		r := b.fail(tool.ServerFailed, "%s", why)
		r.DependencyLost = true
		return r
	case guard.ReasonDeadline, guard.ReasonStalled, guard.ReasonPauseCap:
		return b.fail(tool.Timeout, "%s", why)
	case guard.ReasonFeedbackLost:
		return b.fail(tool.StaleState, "%s", why)
	case guard.ReasonCheck:
		return b.fail(commandKind(out.Err), "%s", why)
	case guard.ReasonEstop:
		r := b.fail(tool.Canceled, "%s", why)
		r.Interrupt = interruptEstop
		return r
	case guard.ReasonStopped:
		r := b.fail(tool.Canceled, "%s", why)
		r.Interrupt = interruptOperator
		return r
	case guard.ReasonCanceled:
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return b.fail(tool.Timeout, "%s", why)
		}
		return b.fail(tool.Canceled, "%s", why)
	}
	return b.fail(tool.Failed, "%s", why)
}

// commandKind: a command's own function failed, by the geometry layer's word or by itself.
func commandKind(err error) tool.ErrorKind {
	var blind *blindError
	if errors.As(err, &blind) {
		return tool.Timeout // as a stall is
	}
	var refusal *geometry.Refusal
	if errors.As(err, &refusal) {
		return refusalKind(refusal.Findings)
	}
	return tool.Failed
}

// leaseFailure is the observation of a lease that was not to be had.
func (b *bound) leaseFailure(ctx context.Context, err error) *tool.Result {
	switch {
	case ctx.Err() != nil:
		return b.fail(tool.Canceled, "%v", err)
	case errors.Is(err, guard.ErrEstop):
		r := b.fail(tool.GuardRefused, "%v; when nothing presses it any more (false on emergency_stop), ~/reset releases it", err)
		r.Interrupt = interruptEstop
		return r
	case errors.Is(err, guard.ErrFault):
		r := b.fail(tool.GuardRefused, "%v; look at the robot, then acknowledge by ~/reset", err)
		r.Interrupt = interruptFault
		return r
	case errors.Is(err, guard.ErrUnobservable):
		r := b.fail(tool.StaleState, "%v", err)
		r.DependencyLost = true
		return r
	}
	return b.fail(tool.GuardRefused, "%v", err)
}

// took says in words how a motion went, for the observation.
func took(out guard.Outcome) map[string]any {
	m := map[string]any{"took_s": round(out.Took.Seconds(), 2), "at_rest": out.AtRest}
	if out.Paused > 0 {
		m["paused_s"] = round(out.Paused.Seconds(), 2)
	}
	return m
}

// owner names the lease's holder.
func owner(call tool.Call) string { return fmt.Sprintf("%s/%s", call.Session, call.ID) }
