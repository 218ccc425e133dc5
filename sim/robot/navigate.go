package robot

import (
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/sim/nav"
	"agent_node/sim/physics"
	"agent_node/sim/world"
)

const (
	navigateName = "navigate_to_pose"
	navigateType = "nav2_msgs/action/NavigateToPose"
	planName     = "compute_path_to_pose"
	planType     = "nav2_msgs/action/ComputePathToPose"
	stepSeconds  = float64(physics.Step) / float64(time.Second)
)

// navigate carries out a goal of navigate_to_pose.
func (r *Robot) navigate(h *action.Handle) ending {
	goal, err := r.toMap(h.Goal().Msg("pose"))
	if err != nil {
		return failed(err)
	}
	path, err := r.planner.Plan(r.estimate(), goal)
	if err != nil {
		return failed(err)
	}
	j, err := r.begin(&r.base, h, func() (mover, error) {
		return &driving{follower: nav.NewFollower(path, r.world.Robot.Limits)}, nil
	})
	if err != nil {
		return failed(err)
	}
	return r.carryOut(&r.base, j)
}

func failed(err error) ending { return ending{action.StatusAborted, navResult(reason(err))} }

// reason is what a result says of an error.
func reason(err error) (nav.Code, string) {
	var e *nav.Error
	if errors.As(err, &e) {
		return e.Code, e.Message
	}
	return nav.PlannerUnknown, err.Error()
}

// acceptNavigation refuses a behavior tree, as Nav2 does with one that it cannot find.
func (r *Robot) acceptNavigation(goal *ros.Message) error {
	if tree := goal.Str("behavior_tree"); tree != "" {
		return fmt.Errorf("there are no behavior trees here, and not %q", tree)
	}
	return nil
}

// plan carries out a goal of compute_path_to_pose.
func (r *Robot) plan(h *action.Handle) {
	h.Execute()
	began := time.Now()
	path, err := r.compute(h.Goal())
	result := ros.New(r.actions.plan.Result)
	result.SetDuration("planning_time", time.Since(began))
	writeHeader(result.Msg("path.header"), r.time.stamp(r.now()), r.frame(frameMap))
	if err == nil {
		err = r.writePath(result.Msg("path"), path)
	}
	if err != nil {
		code, message := reason(err)
		err = h.Abort(result.With("error_code", uint16(code)).With("error_msg", message))
	} else {
		err = h.Succeed(result)
	}
	if err != nil && !errors.Is(err, action.ErrEnded) {
		r.node.Logger().Error("plan not returned", "goal", h.ID(), "err", err)
	}
}

func (r *Robot) compute(request *ros.Message) (nav.Path, error) {
	// GridBased is the name that Nav2's own configuration gives its planner.
	if id := request.Str("planner_id"); id != "" && id != "GridBased" {
		return nil, &nav.Error{Code: nav.InvalidPlanner, Message: fmt.Sprintf("no planner %q, there is GridBased", id)}
	}
	goal, err := r.toMap(request.Msg("goal"))
	if err != nil {
		return nil, err
	}
	start := r.estimate()
	if request.Bool("use_start") {
		if start, err = r.toMap(request.Msg("start")); err != nil {
			return nil, err
		}
	}
	return r.planner.Plan(start, goal)
}

// writePath writes a nav_msgs/Path whose header is set.
func (r *Robot) writePath(m *ros.Message, path nav.Path) error {
	poses, err := r.messages("geometry_msgs/msg/PoseStamped", len(path))
	if err != nil {
		return err
	}
	stamp := m.Stamp("header.stamp")
	for i, p := range path {
		writeHeader(poses[i].Msg("header"), stamp, r.frame(frameMap))
		writePose(poses[i].Msg("pose"), p, 0)
	}
	return m.Set("poses", poses)
}

func (r *Robot) estimate() world.Pose {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sim.Estimate()
}

// toMap brings a geometry_msgs/PoseStamped into map, by what the robot believes now.
func (r *Robot) toMap(m *ros.Message) (world.Pose, error) {
	yaw, ok := readYaw(m.Msg("pose.orientation"))
	p := world.Pose{X: m.Float("pose.position.x"), Y: m.Float("pose.position.y"), Yaw: yaw}
	if !ok || !p.Finite() {
		return p, &nav.Error{Code: nav.PlannerUnknown, Message: "the pose is no finite position with a unit quaternion about z"}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch frame := m.Str("header.frame_id"); frame {
	case r.frame(frameMap):
		return p, nil
	case r.frame(frameOdom):
		return r.sim.MapToOdom().Compose(p), nil
	case r.frame(frameBase):
		return r.sim.Estimate().Compose(p), nil
	default:
		return p, &nav.Error{Code: nav.TFError, Message: fmt.Sprintf("no transform from frame %q to map", frame)}
	}
}
