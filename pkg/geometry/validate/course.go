package validate

import (
	"fmt"
	"math"
	"strings"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/zone"
)

// leg is one motion of a course, in the fixed frame.
type leg struct {
	motion spatial.Motion
	index  int // of the waypoint that it leads to, -1: none
}

// course is what the base is expected to do.
type course struct {
	legs []leg
	// grace is the way from the start, in metres, on which a start that breaks a zone or touches a blocked cell slightly is
	// borne with, as long as it becomes no worse.
	grace float64
	// flight: the start is judged as a measurement under way; its tolerance holds for the whole course.
	flight bool
	noMap  bool
	asked  string // "m" or "rad": what Value and Limit of a swept path's finding count; empty: room
	total  float64
	travel float64
}

// sweepSlack is what a sweep needs beyond the room that the start has.
const sweepSlack = 2e-3

func (c *course) measure(outer float64) {
	c.travel = 0
	for i := range c.legs {
		c.travel += c.legs[i].motion.Travel(outer)
	}
}

// judge appends a finding for each zone and for the map that the course breaks. reach is the share of the course's only leg that is free.
func (w *World) judge(st start, c *course, into []geometry.Finding) (out []geometry.Finding, reach float64) {
	c.measure(w.Footprint.OuterRadius())
	reach = 1
	for _, z := range w.Workspace {
		into = w.judgeZone(z, st, c, &reach, into)
	}
	for _, z := range w.Zones {
		if z.Kind() != zone.Speed {
			into = w.judgeZone(z, st, c, &reach, into)
		}
	}
	if w.Map != nil && !c.noMap {
		into = w.judgeMap(st, c, &reach, into)
	}
	return into, reach
}

// place finds the pose of the fixed frame in a zone's frame, and whether the zone holds at the robot's height.
func (w *World) place(z *zone.Zone, height float64, into []geometry.Finding) (rel spatial.Pose2, applies bool, out []geometry.Finding) {
	n := len(into)
	in, zoneHeight, into := w.planar(z.Frame(), z.Name(), into)
	if len(into) > n {
		return rel, false, into
	}
	if in != (spatial.Pose2{}) {
		rel = in.Inverse()
	}
	return rel, z.AppliesAt(height-zoneHeight, w.Height), into
}

func (w *World) judgeZone(z *zone.Zone, st start, c *course, reach *float64, into []geometry.Finding) []geometry.Finding {
	rel, applies, into := w.place(z, st.height, into)
	if !applies {
		return into
	}
	at := st.pose
	if rel != (spatial.Pose2{}) {
		at = rel.Compose(at)
	}
	if z.Beyond(w.Footprint, at, c.travel) {
		return into // far out of reach
	}
	here := z.Room(w.Footprint, at)
	if !(here >= -w.startTolerance()) {
		*reach = 0
		return append(into, zoneFinding(z, here, -1, "start state: the measured pose "+text(st.pose)+" has the footprint"))
	}
	if here >= c.travel {
		return into // out of reach
	}
	relaxed := 0.0
	switch {
	case c.flight:
		relaxed = min(here, -w.startTolerance()) - sweepSlack
	case here < sweepSlack:
		relaxed = here - sweepSlack
	}
	gone := 0.0
	for i := range c.legs {
		l := &c.legs[i]
		need := 0.0
		if gone < c.grace {
			need = relaxed
		}
		s := z.Sweep(w.Footprint, l.motion.In(rel), need)
		if !s.OK {
			*reach = min(*reach, s.U)
			where := fmt.Sprintf("%s, at %s, the way leads the footprint to", c.place(l, gone, s.U), text(l.motion.At(s.U)))
			return append(into, zoneFinding(z, w.leastRoom(z, l.motion.In(rel), s), l.index, where))
		}
		gone += length(l.motion)
	}
	return into
}

func length(m spatial.Motion) float64 { return math.Hypot(m.Shift.X, m.Shift.Y) }

// place words where along the course something is.
func (c *course) place(l *leg, gone, u float64) string {
	if c.asked == "rad" {
		return fmt.Sprintf("after turning %.3f of %.3f rad", u*l.motion.Turn, l.motion.Turn)
	}
	where := fmt.Sprintf("after %.3f m", gone+u*length(l.motion))
	if c.asked == "m" {
		where += fmt.Sprintf(" of %.3f m", c.total)
	}
	if l.index >= 0 {
		where += fmt.Sprintf(", on the way to waypoint %d", l.index)
	}
	return where
}

// leastRoom looks along the rest of a motion that breaks a zone for how far it does, for the report.
func (w *World) leastRoom(z *zone.Zone, m spatial.Motion, s zone.Sweep) float64 {
	const samples = 32
	least := s.Room
	for i := range samples + 1 {
		least = min(least, z.Room(w.Footprint, m.At(s.U+(1-s.U)*float64(i)/samples)))
	}
	return least
}

// zoneFinding words a broken zone. where ends before "0.1 m inside …".
func zoneFinding(z *zone.Zone, room float64, index int, where string) geometry.Finding {
	d, margin := room+z.Margin(), z.Margin()
	if z.Kind() == zone.KeepIn {
		side := "inside"
		if d < 0 {
			side = "outside"
		}
		return geometry.New(geometry.RuleWorkspace, z.Name(), index, d, margin, "m",
			fmt.Sprintf("%s %s m %s the edge of the workspace, limit %s m inside", where, geometry.Digits(math.Abs(d), margin), side, geometry.Digits(margin, d)))
	}
	side := "from"
	if d < 0 {
		side = "inside"
	}
	return geometry.New(geometry.RuleKeepOut, z.Name(), index, d, margin, "m",
		fmt.Sprintf("%s %s m %s the keep-out zone, limit %s m from it", where, geometry.Digits(math.Abs(d), margin), side, geometry.Digits(margin, d)))
}

func text(p spatial.Pose2) string {
	return fmt.Sprintf("(%.3f m, %.3f m, %.3f rad)", p.X, p.Y, spatial.WrapAngle(p.Yaw))
}

// mapFrame finds the pose of the fixed frame in the map's frame.
func (w *World) mapFrame(into []geometry.Finding) (spatial.Pose2, []geometry.Finding) {
	in, _, into := w.planar(w.Map.Frame(), "map", into)
	if in == (spatial.Pose2{}) {
		return in, into
	}
	return in.Inverse(), into
}

func (w *World) judgeMap(st start, c *course, reach *float64, into []geometry.Finding) []geometry.Finding {
	n := len(into)
	rel, into := w.mapFrame(into)
	if len(into) > n {
		return into
	}
	if w.freeAlong(c, rel) {
		return into
	}
	here := rel.Compose(st.pose)
	relaxed, ok := w.startMargin(here)
	if !ok {
		*reach = 0
		hit := w.Map.Explain(w.Footprint, here, relaxed)
		return append(into, w.mapFinding(geometry.RuleMap, hit, here, -1, "start state: the measured pose "+text(st.pose)+" has the footprint"))
	}
	gone := 0.0
	for i := range c.legs {
		l := &c.legs[i]
		margin := w.MapMargin
		if gone < c.grace {
			margin = relaxed
		}
		m := l.motion.In(rel)
		if free, u := w.Map.Sweep(w.Footprint, m, margin); !free {
			*reach = min(*reach, u)
			p := l.motion.At(u)
			// The sweep stops just before: what is there is found by looking a little farther.
			ahead := 2 * max(grid.Step, m.Travel(w.Footprint.OuterRadius())*grid.StepShare)
			hit := w.Map.Explain(w.Footprint, m.At(u), margin+ahead)
			where := fmt.Sprintf("%s, at %s, the way leads the footprint", c.place(l, gone, u), text(p))
			f := w.mapFinding(geometry.RuleSweptPath, hit, m.At(u), l.index, where)
			switch c.asked {
			case "m":
				f.Value, f.Limit = c.total, u*length(l.motion)
			case "rad":
				f.Value, f.Limit, f.Unit = math.Abs(l.motion.Turn), u*math.Abs(l.motion.Turn), "rad"
			}
			return append(into, f)
		}
		gone += length(l.motion)
	}
	return into
}

// freeAlong reports whether a short course keeps the whole margin from blocked cells for sure; rel is the pose of the fixed frame on the map.
func (w *World) freeAlong(c *course, rel spatial.Pose2) bool {
	var at [grid.MaxAlong]spatial.Pose2
	n := len(c.legs)
	if n == 0 || n >= len(at) {
		return false
	}
	bulge := 0.0
	for i := range c.legs {
		at[i] = c.legs[i].motion.From
		bulge = max(bulge, c.legs[i].motion.Bulge(w.Footprint))
	}
	at[n] = c.legs[n-1].motion.End()
	if rel != (spatial.Pose2{}) {
		for i := range at[:n+1] {
			at[i] = rel.Compose(at[i])
		}
	}
	return w.Map.FreeAlong(w.Footprint, at[:n+1], bulge, w.MapMargin)
}

// startMargin is the margin that the start keeps from blocked cells, with what a sweep needs beyond; ok is false when it
// reaches into them deeper than the tolerance.
func (w *World) startMargin(here spatial.Pose2) (margin float64, ok bool) {
	inset := min(w.startTolerance(), grid.MaxInset*w.Map.Resolution()-sweepSlack)
	for _, margin := range [...]float64{w.MapMargin, 0, -inset / 2, -inset} {
		if w.Map.Free(w.Footprint, here, margin+sweepSlack) {
			return margin, true
		}
	}
	return -inset, false
}

func (w *World) mapFinding(rule string, hit grid.Hit, onMap spatial.Pose2, index int, where string) geometry.Finding {
	room := w.Map.Room(w.Footprint, onMap)
	var what strings.Builder
	fmt.Fprintf(&what, "%s on %s", where, hit.Cause)
	if hit.Cause == grid.CauseOccupied || hit.Cause == grid.CauseUnknown {
		fmt.Fprintf(&what, " at (%.3f m, %.3f m) in %s", hit.At.X, hit.At.Y, w.Map.Frame())
	}
	fmt.Fprintf(&what, ": room %s m, limit %s m", geometry.Digits(room, w.MapMargin), geometry.Digits(w.MapMargin, room))
	return geometry.New(rule, "map", index, room, w.MapMargin, "m", what.String())
}

// standing appends a finding for each zone and for the map that a single pose breaks.
func (w *World) standing(p spatial.Pose2, height float64, index int, where string, into []geometry.Finding) []geometry.Finding {
	for _, zones := range [...][]*zone.Zone{w.Workspace, w.Zones} {
		for _, z := range zones {
			if z.Kind() == zone.Speed {
				continue
			}
			rel, applies, more := w.place(z, height, into)
			into = more
			if !applies {
				continue
			}
			if room := z.Room(w.Footprint, rel.Compose(p)); !(room >= 0) {
				into = append(into, zoneFinding(z, room, index, where+" "+text(p)+" has the footprint"))
			}
		}
	}
	if w.Map == nil {
		return into
	}
	n := len(into)
	rel, into := w.mapFrame(into)
	if len(into) > n {
		return into
	}
	if onMap := rel.Compose(p); !w.Map.Free(w.Footprint, onMap, w.MapMargin) {
		into = append(into, w.mapFinding(geometry.RuleMap, w.Map.Explain(w.Footprint, onMap, w.MapMargin), onMap, index, where+" "+text(p)+" has the footprint"))
	}
	return into
}
