package robottools

import (
	"encoding/json"
	"fmt"

	"agent_node/pkg/harness/tool"
)

// lock is a compiled interlock.
type lock struct {
	says   string
	holds  *expression
	remedy string // such as `move_arm {"named":"carry"}`; "" where the profile names none
}

// refusal says what is wrong, what helps, and by which rule.
func (l lock) refusal() string {
	text := "interlock: " + l.says
	if l.remedy != "" {
		text += ": first call " + l.remedy
	}
	return text + " (rule: " + l.holds.text + ")"
}

// interlocked checks the conditions under which the skill's actuator may move at all, such as an arm in its carry pose.
func (b *bound) interlocked(call tool.Call, v view) *tool.Result {
	locks := b.robot.interlocks[b.def.Actuator]
	if len(locks) == 0 {
		return nil
	}
	s, err := b.scopeIn(call, v)
	if err != nil {
		return b.fail(tool.PreconditionFailed, "%v", err)
	}
	for _, l := range locks {
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
			r.interlocks[name] = append(r.interlocks[name], lock{says: l.Says, holds: e})
		}
	}
	return nil
}

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
