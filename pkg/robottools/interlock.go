package robottools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
)

// lock is a compiled interlock.
type lock struct {
	says   string
	holds  *expression
	remedy string   // such as `move_arm {"named":"carry"}`; "" where the profile names none
	joints []string // the actuators whose measured joints the condition reads
}

// interlockAge is how old the joints may be that an interlock judges by.
const interlockAge = time.Second

// refusal says what is wrong, what helps, and by which rule.
func (l lock) refusal() string {
	text := "interlock: " + l.says
	if l.remedy != "" {
		text += ": first call " + l.remedy
	}
	return text + " (rule: " + l.holds.text + ")"
}

// interlocked checks the conditions under which the skill's actuator may move at all, such as an arm in its carry pose.
func (b *bound) interlocked(ctx context.Context, call tool.Call, v view) *tool.Result {
	b.robot.warmUp(ctx)
	locks := b.robot.interlocks[b.def.Actuator]
	if len(locks) == 0 {
		return nil
	}
	s, err := b.scopeIn(call, v)
	if err != nil {
		return b.fail(tool.PreconditionFailed, "%v", err)
	}
	for _, l := range locks {
		if err := b.robot.jointsStale(l, v); err != nil {
			return b.fail(tool.StaleState, "interlock: %s: cannot be told: %v", l.says, err)
		}
		ok, err := l.holds.bool(s)
		if err != nil {
			return b.fail(tool.PreconditionFailed, "interlock: %s: %v", l.says, err)
		}
		if !ok {
			return b.fail(tool.PreconditionFailed, "%s", l.refusal())
		}
	}
	return nil
}

// jointsStale says which joints that an interlock judges by are not measured now; what a plan foresees is always known.
func (r *Robot) jointsStale(l lock, v view) error {
	for _, name := range l.joints {
		if v.at != nil && v.at.joints[name] != nil {
			continue
		}
		a := r.joints[name]
		e := &StaleError{Topic: a.def.Feedback.Topic, Limit: interlockAge}
		s, ok := a.latest()
		if e.Never = !ok; ok {
			e.Age = r.sampleAge(s)
		}
		if e.Never || e.Age > e.Limit {
			return fmt.Errorf("the joints of %s: %w", name, e)
		}
	}
	return nil
}

// sampleAge by arrival; while simulated time stands nothing moves, and a sample gets no older.
func (r *Robot) sampleAge(s guard.Sample) time.Duration {
	age := r.now().Sub(s.Arrived)
	if c := r.node.Clock(); c.Simulated() && !s.Stamp.IsZero() {
		age = min(age, c.Now().Std().Sub(s.Stamp))
	}
	return age
}

// lockFinding is a refusal by an interlock as a finding.
func lockFinding(bad *tool.Result) []tool.Finding {
	return []tool.Finding{{Rule: "interlock", Index: -1, Message: bad.Content}}
}

// compileInterlocks of every actuator.
func (r *Robot) compileInterlocks() error {
	r.interlocks = map[string][]lock{}
	env, err := r.profile.envs.with()
	if err != nil {
		return err
	}
	for name, a := range r.profile.Actuators {
		for i, l := range a.Interlocks {
			e, err := compile(env, l.Holds)
			if err != nil {
				return r.profile.source.errorf(fmt.Sprintf("%s/interlocks/%d/holds", join("actuators", name), i), "%v", err)
			}
			r.interlocks[name] = append(r.interlocks[name], lock{says: l.Says, holds: e, joints: r.jointsIn(l.Holds)})
		}
	}
	return nil
}

// jointsIn are the actuators whose joints an expression reads: those it names, or all of them where it names none.
func (r *Robot) jointsIn(expression string) []string {
	if !word("joints").MatchString(expression) {
		return nil
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.profile.Actuators)) {
		if k := r.profile.Actuators[name].Kind; k == kindArm || k == kindGripper {
			all = append(all, name)
		}
	}
	named := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !word(name).MatchString(expression) })
	if len(named) == 0 {
		return all
	}
	return named
}

func word(w string) *regexp.Regexp { return regexp.MustCompile(`\b` + regexp.QuoteMeta(w) + `\b`) }

// linkInterlocks finds the tools of the remedies once all are made, and checks their arguments.
func (r *Robot) linkInterlocks() error {
	for name, a := range r.profile.Actuators {
		for i, l := range a.Interlocks {
			if l.Remedy == nil {
				continue
			}
			at := fmt.Sprintf("%s/interlocks/%d/remedy", join("actuators", name), i)
			spec, ok := r.table.Spec(l.Remedy.Tool)
			if !ok || spec.Class != tool.Skill {
				return r.profile.source.errorf(at, "no skill is called %q", l.Remedy.Tool)
			}
			args := l.Remedy.Args
			if args == nil {
				args = map[string]any{}
			}
			raw, err := json.Marshal(args)
			if err == nil {
				raw, err = r.table.Validate(l.Remedy.Tool, raw)
			}
			if err != nil {
				return r.profile.source.errorf(at, "%v", err)
			}
			r.interlocks[name][i].remedy = l.Remedy.Tool + " " + string(raw)
		}
	}
	return nil
}
