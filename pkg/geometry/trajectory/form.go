package trajectory

import (
	"fmt"
	"slices"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
)

// MaxPoints of a trajectory; MaxDuration from its start to its end.
const (
	MaxPoints   = 10_000
	MaxDuration = time.Hour
)

// CheckForm appends a finding for everything that is wrong with a trajectory as a list, for joints in any order: names, lengths, numbers, times, positions
// at the points, efforts, velocities at the end. Findings are under subject, such as "trajectory"; those about a limit have the joint as their subject.
func (t Trajectory) CheckForm(joints []limits.Joint, subject string, into []geometry.Finding) []geometry.Finding {
	n := len(into)
	if len(t.Points) == 0 {
		return append(into, geometry.New(geometry.RuleEmpty, subject+".points", -1, 0, 1, "", "is empty: there is no motion"))
	}
	if len(t.Points) > MaxPoints {
		return append(into, geometry.Over(geometry.RuleRange, subject+".points", -1, float64(len(t.Points)), MaxPoints, "points"))
	}
	if into = t.checkNames(joints, subject, into); len(into) > n {
		return into
	}
	for i := range t.Points {
		into = t.checkLists(i, subject, into)
	}
	into = t.checkTimes(subject, into)
	if len(into) > n {
		return into
	}
	for k, name := range t.Joints {
		j := joints[slices.IndexFunc(joints, func(j limits.Joint) bool { return j.Name == name })]
		into = t.checkPositions(k, j, into)
		into = t.checkEffort(k, j, into)
		into = t.checkEnd(k, j, into)
	}
	return into
}

// checkNames: each of the joints once, in any order.
func (t Trajectory) checkNames(joints []limits.Joint, subject string, into []geometry.Finding) []geometry.Finding {
	subject += ".joint_names"
	for i, name := range t.Joints {
		switch {
		case !slices.ContainsFunc(joints, func(j limits.Joint) bool { return j.Name == name }):
			into = append(into, geometry.New(geometry.RuleJointNames, subject, i, 0, 0, "", fmt.Sprintf("is %q, which is none of %v", name, names(joints))))
		case slices.Index(t.Joints, name) < i:
			into = append(into, geometry.New(geometry.RuleJointNames, subject, i, 0, 0, "", fmt.Sprintf("has %q twice", name)))
		}
	}
	for _, j := range joints {
		if !slices.Contains(t.Joints, j.Name) {
			into = append(into, geometry.New(geometry.RuleJointNames, subject, -1, float64(len(t.Joints)), float64(len(joints)), "", fmt.Sprintf("lacks %q", j.Name)))
		}
	}
	return into
}

func names(joints []limits.Joint) []string {
	out := make([]string, len(joints))
	for i, j := range joints {
		out[i] = j.Name
	}
	return out
}

// checkLists: a point's lists are as long as there are joints, and finite.
func (t Trajectory) checkLists(i int, subject string, into []geometry.Finding) []geometry.Finding {
	n, p := len(t.Joints), &t.Points[i]
	for _, f := range [...]struct {
		name, unit string
		list       []float64
		need       bool
	}{
		{"positions", "", p.Positions, true},
		{"velocities", "", p.Velocities, false},
		{"accelerations", "", p.Accelerations, false},
		{"effort", "", p.Effort, false},
	} {
		where := subject + ".points." + f.name
		if len(f.list) != n && (f.need || len(f.list) != 0) {
			into = append(into, geometry.New(geometry.RuleLength, where, i, float64(len(f.list)), float64(n), "",
				fmt.Sprintf("has %d entries for %d joints", len(f.list), n)))
			continue
		}
		for k, v := range f.list {
			if !spatial.Finite(v) {
				into = append(into, geometry.NotFinite(where+"."+t.Joints[k], i, v, f.unit))
			}
		}
	}
	return into
}

// checkTimes: from zero on, and rising.
func (t Trajectory) checkTimes(subject string, into []geometry.Finding) []geometry.Finding {
	subject += ".points.time_from_start"
	for i := range t.Points {
		at := t.Points[i].Time
		switch {
		case at < 0:
			into = append(into, geometry.New(geometry.RuleTimeOrder, subject, i, at.Seconds(), 0, "s", fmt.Sprintf("is %g s: before the start", at.Seconds())))
		case i > 0 && at <= t.Points[i-1].Time:
			before := t.Points[i-1].Time
			into = append(into, geometry.New(geometry.RuleTimeOrder, subject, i, at.Seconds(), before.Seconds(), "s",
				fmt.Sprintf("is %g s, must be after the point before, at %g s", at.Seconds(), before.Seconds())))
		}
	}
	if d := t.Duration(); d > MaxDuration {
		into = append(into, geometry.Over(geometry.RuleRange, subject, len(t.Points)-1, d.Seconds(), MaxDuration.Seconds(), "s"))
	}
	return into
}

// checkPositions: the worst point beyond a joint's limits. A first point at time zero is where the joint is said to be, not where it goes; it is compared with the
// measured state elsewhere.
func (t Trajectory) checkPositions(k int, j limits.Joint, into []geometry.Finding) []geometry.Finding {
	worst, at := 0.0, -1
	for i := range t.Points {
		if i == 0 && t.Points[0].Time == 0 {
			continue
		}
		q := t.Points[i].Positions[k]
		if over := max(j.Lower-q, q-j.Upper); over > worst {
			worst, at = over, i
		}
	}
	if at < 0 {
		return into
	}
	return append(into, beyond(j, at, t.Points[at].Positions[k], ""))
}

// beyond is a position out of limits.
func beyond(j limits.Joint, index int, q float64, where string) geometry.Finding {
	limit := j.Upper
	if q < j.Lower {
		limit = j.Lower
	}
	f := geometry.Over(geometry.RulePositionLimit, j.Name, index, q, limit, j.Unit())
	f.Message += where
	return f
}

func (t Trajectory) checkEffort(k int, j limits.Joint, into []geometry.Finding) []geometry.Finding {
	unit := "Nm"
	if j.Prismatic {
		unit = "N"
	}
	for i := range t.Points {
		if e := t.Points[i].Effort; len(e) > 0 && j.Effort > 0 && !(max(e[k], -e[k]) <= j.Effort) {
			return append(into, geometry.Over(geometry.RuleEffort, j.Name, i, e[k], j.Effort, unit))
		}
	}
	return into
}

// resting is the speed below which an end is at rest, rad/s or m/s.
const resting = 1e-7

// checkEnd: a controller that has reached the last point stops there.
func (t Trajectory) checkEnd(k int, j limits.Joint, into []geometry.Finding) []geometry.Finding {
	last := len(t.Points) - 1
	if v := t.Points[last].Velocities; len(v) > 0 && !(max(v[k], -v[k]) <= resting) {
		into = append(into, geometry.New(geometry.RuleFinalVelocity, j.Name, last, v[k], 0, j.Unit()+"/s",
			fmt.Sprintf("is %s %s/s, must be 0: the joint would still be moving at the end", geometry.Digits(v[k], 0), j.Unit())))
	}
	return into
}
