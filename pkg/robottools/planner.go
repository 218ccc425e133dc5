package robottools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// planner asks somebody else for the path to a goal, so that it can be checked before anything moves.
type planner struct {
	robot   *Robot
	def     *PlannerBinding
	client  *action.Client
	goal    []named
	from    []named
	success *expression
}

// planTime bounds a planning request where the profile does not.
const planTime = 5 * time.Second

func (r *Robot) newPlanner(def *PlannerBinding, c *compiler) (*planner, error) {
	p := &planner{
		robot: r, def: def,
		goal:    c.all("binding/action/planner/goal", def.Goal),
		from:    c.all("binding/action/planner/from", def.From),
		success: c.one("binding/action/planner/success", def.Success),
	}
	if c.err != nil {
		return nil, c.err
	}
	at := join(c.at, "binding/action/planner")
	client, err := action.NewClient(r.node, def.Name, def.Type)
	if err != nil {
		return nil, c.p.source.errorf(at, "%v", err)
	}
	r.own(client)
	p.client = client
	if err := checkFields(client.Type().Goal, slices.Concat(def.Goal, def.From)); err != nil {
		return nil, c.p.source.errorf(join(at, "goal"), "%v", err)
	}
	if _, err := ros.New(client.Type().Result).Get(def.Path); err != nil {
		return nil, c.p.source.errorf(join(at, "path"), "%v", err)
	}
	return p, nil
}

// path plans from where the robot stands, or in a prediction would stand, to the goal in s.
func (p *planner) path(ctx context.Context, b *bound, s scope) (validate.Path, *tool.Result) {
	limit := planTime
	if p.def.TimeLimit > 0 {
		limit = seconds(p.def.TimeLimit)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	goal := ros.New(p.client.Type().Goal)
	if err := fill(goal, p.goal, s); err != nil {
		return validate.Path{}, b.fail(tool.GeometryRefused, "planner's goal: %v", err)
	}
	if _, ahead := s["from"]; ahead {
		if err := fill(goal, p.from, s); err != nil {
			return validate.Path{}, b.fail(tool.GeometryRefused, "planner's start: %v", err)
		}
	}
	if err := p.client.WaitReady(ctx); err != nil {
		r := b.fail(tool.ServerUnavailable, "planner %s: %v", p.def.Name, err)
		r.DependencyLost = true
		return validate.Path{}, r
	}
	g, err := p.client.Send(ctx, goal, action.GoalOptions{})
	if err != nil {
		return validate.Path{}, p.failure(ctx, b, err)
	}
	out, err := g.Result(ctx)
	if err != nil {
		return validate.Path{}, p.failure(ctx, b, err)
	}
	if out.Status != action.StatusSucceeded {
		return validate.Path{}, b.fail(tool.GeometryRefused, "rule path: the planner %s finds no path%s", p.def.Name, whatFailed(out.Result))
	}
	if p.success != nil {
		ok, err := p.success.bool(s.with("result", out.Result.Map()))
		if err != nil || !ok {
			return validate.Path{}, b.fail(tool.GeometryRefused, "rule path: the planner %s finds no path%s", p.def.Name, whatFailed(out.Result))
		}
	}
	return pathOf(out.Result.Msg(p.def.Path)), nil
}

func (p *planner) failure(ctx context.Context, b *bound, err error) *tool.Result {
	switch {
	case errors.Is(err, ros.ErrRejected):
		return b.fail(tool.ServerRejected, "planner %s: %v", p.def.Name, err)
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return b.fail(tool.Timeout, "planner %s: no path in time", p.def.Name)
	case ctx.Err() != nil:
		return b.fail(tool.Canceled, "while the planner %s was asked, before anything moved: %v", p.def.Name, context.Cause(ctx))
	}
	return b.fail(tool.ServerFailed, "planner %s: %v", p.def.Name, err)
}

// pathOf converts a nav_msgs/msg/Path.
func pathOf(m *ros.Message) validate.Path {
	path := validate.Path{Frame: m.Str("header.frame_id"), AlongPath: true}
	for _, p := range m.Msgs("poses") {
		path.Poses = append(path.Poses, poseOf(p.Msg("pose")))
	}
	return path
}

// planarPose is a place as a pose in space.
func planarPose(p Place) spatial.Pose { return spatial.Pose2{X: p.X, Y: p.Y, Yaw: p.Yaw}.Pose() }

// refuse turns a report's findings into the observation; notes go to the trace.
func (b *bound) refuse(call tool.Call, r validate.Report) *tool.Result {
	if call.Note != nil && (len(r.Notes) > 0 || len(r.Findings) > 0) {
		call.Note("geometry.report", map[string]any{"findings": r.Findings, "notes": r.Notes})
	}
	if r.Valid() {
		return nil
	}
	text := ""
	for i, f := range r.Findings {
		if i > 0 {
			text += "; "
		}
		text += fmt.Sprintf("rule %s: %s", f.Rule, f)
	}
	if n := nearestText(r.Nearest); n != "" {
		text += "; nearest valid: " + n
	}
	return b.fail(refusalKind(r.Findings), "%s", text)
}

// refusalKind tells a command that is wrong from one that cannot be judged, since what is measured is too old.
func refusalKind(findings []geometry.Finding) tool.ErrorKind {
	for _, f := range findings {
		if f.Rule != geometry.RuleStateAge {
			return tool.GeometryRefused
		}
	}
	return tool.StaleState
}

// nearestText proposes a valid command in words.
func nearestText(c validate.Command) string {
	switch n := c.(type) {
	case validate.PoseGoal:
		p := n.Pose.Planar()
		return fmt.Sprintf("x %.2f m, y %.2f m, yaw %.2f rad in %s", p.X, p.Y, p.Yaw, n.Frame)
	case validate.Drive:
		return fmt.Sprintf("drive %.2f m", n.Distance)
	case validate.Turn:
		return fmt.Sprintf("turn %.2f rad", n.Angle)
	case validate.Twist:
		return fmt.Sprintf("%.2f m/s and %.2f rad/s", n.Twist.Linear.X, n.Twist.Angular.Z)
	}
	return ""
}

// has reports whether the profile names a validator.
func (b *bound) has(validator string) bool {
	for _, v := range b.def.Validators {
		if v == validator {
			return true
		}
	}
	return false
}
