package typedesc

import (
	"context"
	"fmt"

	"agent_node/pkg/ros"
)

// Serve offers ~/get_type_description.
func Serve(node ros.Node, source Source) (ros.Service, error) {
	t, err := node.Types().Service("type_description_interfaces/srv/GetTypeDescription")
	if err != nil {
		return nil, err
	}
	return node.CreateService("~/get_type_description", t.Name, func(_ context.Context, request *ros.Message) (*ros.Message, error) {
		response := ros.New(t.Response)
		d, reason := lookUp(source, request.Str("type_name"), request.Str("type_hash"))
		if reason != "" {
			return response, response.Set("failure_reason", reason)
		}
		var texts []any
		if request.Bool("include_type_sources") {
			for _, x := range d.Texts {
				texts = append(texts, map[string]any{"type_name": x.TypeName, "encoding": x.Encoding, "raw_file_contents": x.Contents})
			}
		}
		var referenced []any
		for _, r := range d.Description.Referenced {
			referenced = append(referenced, r.fields())
		}
		response.With("successful", true).With("type_sources", texts)
		return response, response.Set("type_description", map[string]any{
			"type_description": d.Description.Main.fields(), "referenced_type_descriptions": referenced,
		})
	})
}

// lookUp finds the type of that name and, unless it is empty, of that hash.
func lookUp(source Source, name, hash string) (d *Described, reason string) {
	d, err := source.Describe(name)
	if err != nil {
		return nil, err.Error()
	}
	if hash != "" && hash != d.Hash {
		return nil, fmt.Sprintf("type %s has the hash %s here, not %s", name, d.Hash, hash)
	}
	return d, ""
}

func (t Individual) fields() map[string]any {
	fields := make([]any, len(t.Fields))
	for i, f := range t.Fields {
		fields[i] = map[string]any{
			"name": f.Name, "default_value": f.Default,
			"type": map[string]any{
				"type_id": f.TypeID, "capacity": f.Capacity, "string_capacity": f.StringCapacity, "nested_type_name": f.Nested,
			},
		}
	}
	return map[string]any{"type_name": t.Name, "fields": fields}
}
