package robottools

import (
	"fmt"
	"slices"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/trajectory"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/ros"
)

// readTrajectory reads a trajectory_msgs/JointTrajectory, and the rest of the goal that it is part of, where there is one.
func readTrajectory(m, goal *ros.Message) asked {
	c := validate.JointTrajectory{Stamp: stampOf(m)}
	c.Joints = m.Strs("joint_names")
	at := "points"
	if goal != nil {
		at = "trajectory.points"
	}
	var found []geometry.Finding
	points := m.Msgs("points")
	if len(points) <= trajectory.MaxPoints { // more are refused by their number
		for i, p := range points {
			c.Points = append(c.Points, trajectory.Point{
				Positions: p.Floats("positions"), Velocities: p.Floats("velocities"), Accelerations: p.Floats("accelerations"),
				Effort: p.Floats("effort"), Time: p.Duration("time_from_start"),
			})
			for _, f := range badDuration(p, "time_from_start", i, nil) {
				f.Subject = at + "." + f.Subject
				found = append(found, f)
			}
		}
	} else {
		c.Points = make([]trajectory.Point, len(points))
	}
	if goal == nil {
		return asked{c, found}
	}
	c.PathTolerance, c.GoalTolerance = tolerances(goal, "path_tolerance"), tolerances(goal, "goal_tolerance")
	c.GoalTimeTolerance = goal.Duration("goal_time_tolerance")
	found = badDuration(goal, "goal_time_tolerance", -1, found)
	return asked{c, append(found, multiDOF(goal)...)}
}

func tolerances(goal *ros.Message, field string) []validate.Tolerance {
	var out []validate.Tolerance
	for _, t := range goal.Msgs(field) {
		out = append(out, validate.Tolerance{
			Joint: t.Str("name"), Position: t.Float("position"), Velocity: t.Float("velocity"), Acceleration: t.Float("acceleration"),
		})
	}
	return out
}

// multiDOF refuses what a goal asks of joints with several degrees of freedom: no arm here has any, so that nothing could judge it.
func multiDOF(goal *ros.Message) []geometry.Finding {
	var found []geometry.Finding
	if goal.Type.FieldIndex("multi_dof_trajectory") >= 0 {
		t := goal.Msg("multi_dof_trajectory")
		for i, name := range t.Strs("joint_names") {
			found = append(found, geometry.New(geometry.RuleJointNames, "multi_dof_trajectory.joint_names", i, 0, 0, "",
				fmt.Sprintf("is %q: the arm has no joints with several degrees of freedom", name)))
		}
		if n := len(t.Msgs("points")); n > 0 {
			found = append(found, geometry.New(geometry.RuleLength, "multi_dof_trajectory.points", -1, float64(n), 0, "",
				"must be empty: the arm has no joints with several degrees of freedom"))
		}
	}
	for _, field := range [...]string{"component_path_tolerance", "component_goal_tolerance"} {
		if goal.Type.FieldIndex(field) < 0 {
			continue // older distributions have none
		}
		for i, t := range goal.Msgs(field) {
			found = append(found, geometry.New(geometry.RuleTolerance, field, i, 0, 0, "",
				fmt.Sprintf("is for %q: the arm has no joints with several degrees of freedom", t.Str("joint_name"))))
		}
	}
	return found
}

func gripperOf(m *ros.Message) validate.GripperCommand {
	return validate.GripperCommand{Position: m.Float("position"), MaxEffort: m.Float("max_effort")}
}

// readParallelGripper reads a goal that names the gripper's one joint.
func readParallelGripper(m *ros.Message, def Actuator) asked {
	s := m.Msg("command")
	names, q, v, effort := s.Strs("name"), s.Floats("position"), s.Floats("velocity"), s.Floats("effort")
	var found []geometry.Finding
	if len(names) != 1 || !slices.Equal(names, def.Joints) {
		found = append(found, geometry.New(geometry.RuleJointNames, "command.name", -1, float64(len(names)), 1, "", fmt.Sprintf("is %q, must be %q", names, def.Joints)))
	}
	if len(q) != 1 || len(effort) > 1 || len(v) > 1 {
		found = append(found, geometry.New(geometry.RuleLength, "command.position", -1, float64(len(q)), 1, "",
			fmt.Sprintf("has %d positions, %d velocities and %d efforts for one joint", len(q), len(v), len(effort))))
	}
	if len(found) > 0 {
		return asked{nil, found}
	}
	c := validate.GripperCommand{Position: q[0]}
	if len(effort) == 1 {
		c.MaxEffort = effort[0]
	}
	return asked{c, badDuration(s, "header.stamp", -1, nil)}
}
