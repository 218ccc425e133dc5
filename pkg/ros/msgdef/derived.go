package msgdef

import (
	"strings"

	"agent_node/pkg/ros"
)

func (s *Source) service(full string) (*ros.ServiceType, error) {
	if t, ok := s.services[full]; ok {
		return t, nil
	}
	pkg, kind, name, err := splitName(full)
	if err != nil {
		return nil, err
	}
	if kind == "action" {
		base, _, _ := strings.Cut(name, "_")
		if _, err := s.action(pkg + "/action/" + base); err != nil {
			return nil, err
		}
		if t, ok := s.services[full]; ok {
			return t, nil
		}
	}
	if kind != "srv" {
		return nil, unknown(full, "not a service")
	}
	text, file, d, err := s.read(pkg, "srv", name)
	if err != nil {
		return nil, err
	}
	sections, err := parse(file, pkg, text, 2, d)
	if err != nil {
		return nil, err
	}
	return s.buildService(full, file, pkg, sections[0], sections[1])
}

func (s *Source) buildService(full, file, pkg string, request, response section) (*ros.ServiceType, error) {
	q, err := s.build(full+"_Request", file, pkg, request)
	if err != nil {
		return nil, err
	}
	r, err := s.build(full+"_Response", file, pkg, response)
	if err != nil {
		return nil, err
	}
	t := &ros.ServiceType{Name: full, Request: q, Response: r}
	s.services[full] = t
	return t, nil
}

func (s *Source) action(full string) (*ros.ActionType, error) {
	if t, ok := s.actions[full]; ok {
		return t, nil
	}
	pkg, kind, name, err := splitName(full)
	if err != nil {
		return nil, err
	}
	if kind != "action" {
		return nil, unknown(full, "not an action")
	}
	text, file, d, err := s.read(pkg, "action", name)
	if err != nil {
		return nil, err
	}
	sections, err := parse(file, pkg, text, 3, d)
	if err != nil {
		return nil, err
	}
	t := &ros.ActionType{Name: full}
	for i, part := range []struct {
		suffix string
		to     **ros.Type
	}{{"_Goal", &t.Goal}, {"_Result", &t.Result}, {"_Feedback", &t.Feedback}} {
		if *part.to, err = s.build(full+part.suffix, file, pkg, sections[i]); err != nil {
			return nil, err
		}
	}
	// What rosidl derives from every action.
	nested := func(name, typeName string) field {
		return field{Field: ros.Field{Name: name, Kind: ros.KindMessage}, nested: typeName}
	}
	id := nested("goal_id", "unique_identifier_msgs/msg/UUID")
	if t.SendGoal, err = s.buildService(full+"_SendGoal", file, pkg,
		section{fields: []field{id, nested("goal", full+"_Goal")}},
		section{fields: []field{
			{Field: ros.Field{Name: "accepted", Kind: ros.KindBool}},
			nested("stamp", "builtin_interfaces/msg/Time"),
		}}); err != nil {
		return nil, err
	}
	if t.GetResult, err = s.buildService(full+"_GetResult", file, pkg,
		section{fields: []field{id}},
		section{fields: []field{
			{Field: ros.Field{Name: "status", Kind: ros.KindInt8}},
			nested("result", full+"_Result"),
		}}); err != nil {
		return nil, err
	}
	if t.FeedbackMessage, err = s.build(full+"_FeedbackMessage", file, pkg,
		section{fields: []field{id, nested("feedback", full+"_Feedback")}}); err != nil {
		return nil, err
	}
	s.actions[full] = t
	return t, nil
}
