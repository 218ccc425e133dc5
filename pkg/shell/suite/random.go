package suite

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/robottools"
)

// drawer draws a safe move of a kind as a case; nil where none is found from here.
type drawer func(b *Bench, rng *rand.Rand, room float64) *Case

var drawers = map[string]drawer{
	"twist": drawTwist, "drive": drawDrive, "turn": drawTurn, "pose": drawPose, "joints": drawJoints, "trajectory": drawTrajectory, "gripper": drawGripper, "open": drawOpen,
}

// Draw a safe move: with room to spare, judged by cells and samples. ok is false where this robot has none of the kinds.
func (b *Bench) Draw(ctx context.Context, r *Random, rng *rand.Rand, n int) (c *Case, ok bool, err error) {
	if b.chain != nil {
		if b.at, err = b.joints(ctx); err != nil {
			return nil, false, err
		}
	}
	for range 200 {
		kind := r.Kinds[rng.IntN(len(r.Kinds))]
		if c := drawers[kind](b, rng, r.Room); c != nil && len(b.lacking(c)) == 0 {
			c.ID, c.Group, c.Why, c.Safe = fmt.Sprintf("random %d", n), "safe: random "+kind, "with room to spare", true
			return c, true, nil
		}
	}
	return nil, false, nil
}

// here is where the base stands, by the truth.
func (b *Bench) here() (p [3]float64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pose, b.truth
}

// clear reports whether the base could stand at a point with room around it: cells of the map, and points of zones.
func (b *Bench) clear(x, y, room float64) bool {
	r := b.radius() + room
	if b.plan != nil && !b.plan.free(x, y, r) {
		return false
	}
	const n = 24
	for i := range n + 1 {
		px, py := x, y
		if i < n {
			s, c := math.Sincos(2 * math.Pi * float64(i) / n)
			px, py = x+r*1.02*c, y+r*1.02*s
		}
		for _, z := range b.Profile.World.KeepOut {
			if within(z, px, py, z.Margin) {
				return false
			}
		}
		for _, z := range b.Profile.World.Workspace {
			if !within(z, px, py, -z.Margin) {
				return false
			}
		}
	}
	// A zone that is smaller than the gaps between the points.
	for _, z := range b.Profile.World.KeepOut {
		for _, c := range z.Polygon {
			if math.Hypot(c[0]-x, c[1]-y) < r+z.Margin {
				return false
			}
		}
	}
	return true
}

// within reports whether a point is in a zone that is grown by about a margin; zones in other frames are taken for the map's, to be on the safe side.
func within(z robottools.Zone, x, y, margin float64) bool {
	switch {
	case z.Circle != nil:
		return math.Hypot(x-z.Circle.Center[0], y-z.Circle.Center[1]) <= z.Circle.Radius+margin
	case z.Box != nil:
		s, c := math.Sincos(z.Box.Yaw)
		dx, dy := x-z.Box.Center[0], y-z.Box.Center[1]
		return math.Abs(c*dx+s*dy) <= z.Box.Size[0]/2+margin && math.Abs(c*dy-s*dx) <= z.Box.Size[1]/2+margin
	}
	inside, near := false, math.Inf(1)
	for i, q := range z.Polygon {
		p := z.Polygon[(i+len(z.Polygon)-1)%len(z.Polygon)]
		if (p[1] > y) != (q[1] > y) && x < (q[0]-p[0])*(y-p[1])/(q[1]-p[1])+p[0] {
			inside = !inside
		}
		ux, uy := q[0]-p[0], q[1]-p[1]
		u := math.Min(math.Max(((x-p[0])*ux+(y-p[1])*uy)/(ux*ux+uy*uy), 0), 1)
		near = math.Min(near, math.Hypot(x-p[0]-u*ux, y-p[1]-u*uy))
	}
	if margin >= 0 {
		return inside || near <= margin
	}
	return inside && near >= -margin
}

// line reports whether the way between two points is clear.
func (b *Bench) line(x, y, toX, toY, room float64) bool {
	steps := math.Ceil(math.Hypot(toX-x, toY-y)/0.02) + 1
	for i := 0.0; i <= steps; i++ {
		if u := i / steps; !b.clear(x+u*(toX-x), y+u*(toY-y), room) {
			return false
		}
	}
	return true
}

func drawTwist(b *Bench, rng *rand.Rand, room float64) *Case {
	base, ok := b.facts["base"].(map[string]any)
	p, seen := b.here()
	if !ok || !seen {
		return nil
	}
	v, w := base["v"].(float64)*(2*rng.Float64()-1), base["w"].(float64)*(2*rng.Float64()-1)
	if !b.clear(p[0], p[1], room+1.2*math.Abs(v)+0.1) { // half a second of silence, half a second of age, and braking
		return nil
	}
	return &Case{Command: &Command{base["name"].(string), "geometry_msgs/msg/Twist", fmt.Sprintf(`{"linear": {"x": %g}, "angular": {"z": %g}}`, v, w)}}
}

func drawDrive(b *Bench, rng *rand.Rand, room float64) *Case {
	p, seen := b.here()
	d := 2 * (2*rng.Float64() - 1)
	if !seen || math.Abs(d) < 0.05 || !b.line(p[0], p[1], p[0]+d*math.Cos(p[2]), p[1]+d*math.Sin(p[2]), room) {
		return nil
	}
	return &Case{Needs: []string{"tool drive"}, Plan: []Step{{ID: "s", Tool: "drive", Arguments: fmt.Sprintf(`{"distance_m": %.4f}`, d)}}}
}

func drawTurn(b *Bench, rng *rand.Rand, room float64) *Case {
	p, seen := b.here()
	if a := math.Pi * (2*rng.Float64() - 1); seen && b.clear(p[0], p[1], room) {
		return &Case{Needs: []string{"tool turn"}, Plan: []Step{{ID: "s", Tool: "turn", Arguments: fmt.Sprintf(`{"angle_rad": %.4f}`, a)}}}
	}
	return nil
}

func drawPose(b *Bench, rng *rand.Rand, room float64) *Case {
	p, seen := b.here()
	if !seen || b.plan == nil {
		return nil
	}
	x, y := b.plan.xmin+rng.Float64()*(b.plan.xmax-b.plan.xmin), b.plan.ymin+rng.Float64()*(b.plan.ymax-b.plan.ymin)
	if !b.line(p[0], p[1], x, y, room) {
		return nil
	}
	return &Case{Needs: []string{"tool navigate_to"}, Plan: []Step{{ID: "s", Tool: "navigate_to", Arguments: fmt.Sprintf(`{"x": %.4f, "y": %.4f, "yaw": %.4f}`, x, y, math.Pi*(2*rng.Float64()-1))}}}
}

// somewhere is a configuration near the measured one to which the straight motion touches nothing of the robot; nothing may stand within the arm's reach.
func (b *Bench) somewhere(rng *rand.Rand, room float64) []float64 {
	if b.chain == nil {
		return nil
	}
	if p, seen := b.here(); seen && !b.clear(p[0], p[1], b.chain.Reach()-b.radius()) {
		return nil
	}
	if b.scene == nil {
		r, err := collision.NewRobot(b.model, collision.Config{Base: b.Profile.Frames.Base, Joints: b.arm.Joints})
		if err != nil {
			return nil // meshes, for instance: this robot gets no such moves
		}
		if b.scene, err = r.Scene(collision.World{SelfMargin: math.Min(room, 0.02)}); err != nil {
			return nil
		}
	}
	q := make([]float64, len(b.at))
	for i, j := range b.chain.Joints() {
		q[i] = b.at[i] + 0.3*(2*rng.Float64()-1)
		if !j.Continuous {
			q[i] = math.Min(math.Max(q[i], j.Lower+0.05), j.Upper-0.05)
		}
	}
	if hit, err := b.scene.CheckPath(b.at, q); err != nil || hit != nil {
		return nil
	}
	return q
}

func list(q []float64) string {
	s := ""
	for i, v := range q {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%.4f", v)
	}
	return "[" + s + "]"
}

func drawJoints(b *Bench, rng *rand.Rand, room float64) *Case {
	q := b.somewhere(rng, room)
	if q == nil {
		return nil
	}
	return &Case{Needs: []string{"arm", "tool move_arm"}, Plan: []Step{{ID: "s", Tool: "move_arm", Arguments: `{"joints": ` + list(q) + `}`}}}
}

func drawTrajectory(b *Bench, rng *rand.Rand, room float64) *Case {
	q := b.somewhere(rng, room)
	if q == nil {
		return nil
	}
	names := ""
	for i, j := range b.arm.Joints {
		if i > 0 {
			names += ", "
		}
		names += fmt.Sprintf("%q", j)
	}
	arm := b.facts["arm"].(map[string]any)
	return &Case{Needs: []string{"arm"}, Command: &Command{
		arm["name"].(string), "control_msgs/action/FollowJointTrajectory",
		fmt.Sprintf(`{"trajectory": {"joint_names": [%s], "points": [{"positions": %s, "time_from_start": {"sec": %d}}]}}`, names, list(q), 3+rng.IntN(5)),
	}}
}

func drawGripper(b *Bench, rng *rand.Rand, _ float64) *Case {
	g, ok := b.facts["gripper"].(map[string]any)
	if !ok {
		return nil
	}
	open, closed := g["open"].(float64), g["closed"].(float64)
	return &Case{Command: &Command{
		g["name"].(string), "control_msgs/action/GripperCommand",
		fmt.Sprintf(`{"command": {"position": %g, "max_effort": %g}}`, closed+rng.Float64()*(open-closed), rng.Float64()*g["effort"].(float64)),
	}}
}

func drawOpen(_ *Bench, rng *rand.Rand, _ float64) *Case {
	return &Case{Needs: []string{"gripper", "tool gripper"}, Plan: []Step{{ID: "s", Tool: "gripper", Arguments: fmt.Sprintf(`{"open": %v}`, rng.IntN(2) == 0)}}}
}
