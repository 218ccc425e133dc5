package robottools

// jointActuator is an arm or a gripper: measured by joint states, moved and held by action goals.
type jointActuator struct {
	actuator
	joints []string
}

// scope is the newest measurement by joint name.
func (a *jointActuator) scope() (map[string]any, bool) {
	s, ok := a.latest()
	if !ok {
		return nil, false
	}
	out := make(map[string]any, len(a.joints))
	for i, j := range a.joints {
		out[j] = round(s.Position[i], 5)
	}
	return out, true
}
