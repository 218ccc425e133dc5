package robottools

import "agent_node/pkg/harness/tool"

// interlocked checks the conditions under which the skill's actuator may move at all, such as an arm in its carry pose.
func (b *bound) interlocked(call tool.Call) *tool.Result {
	locks := b.robot.interlocks[b.def.Actuator]
	if len(locks) == 0 {
		return nil
	}
	s, err := b.scope(call)
	if err != nil {
		return b.fail(tool.PreconditionFailed, "%v", err)
	}
	for _, l := range locks {
		ok, err := l.bool(s)
		if err != nil {
			return b.fail(tool.PreconditionFailed, "interlock %s: %v", l.name, err)
		}
		if !ok {
			return b.fail(tool.PreconditionFailed, "interlock: %s (rule: %s)", l.name, l.text)
		}
	}
	return nil
}

// compileInterlocks of every actuator.
func (r *Robot) compileInterlocks() error {
	r.interlocks = map[string][]named{}
	env, err := newEnv()
	if err != nil {
		return err
	}
	for name, a := range r.profile.Actuators {
		for _, l := range a.Interlocks {
			e, err := compile(env, l.CEL)
			if err != nil {
				return r.profile.source.errorf(join("actuators", name)+"/interlocks/"+l.Name, "%v", err)
			}
			r.interlocks[name] = append(r.interlocks[name], named{l.Name, e})
		}
	}
	return nil
}
