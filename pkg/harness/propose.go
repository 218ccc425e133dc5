package harness

import (
	"context"
	"encoding/json"

	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
)

// ProposePlan is the name of the control tool with which a model answers a decomposition.
const ProposePlan = model.ProposePlan

// proposal describes propose_plan. Nobody calls it: its arguments are the plan.
type proposal struct{}

// Spec implements tool.Tool. In the table that checks its arguments it is a query, since a table's control tools are its own;
// the model sees it as control.
func (proposal) Spec() tool.Spec {
	return tool.Spec{
		Name: ProposePlan, Class: tool.Query,
		Description: "Proposes the plan for the task: steps that make a directed graph without cycles, and the criteria by which it is judged. " +
			"A step is a call of one of the other tools with arguments valid against its schema, or, without a tool, a small task in words for an agent.",
		Parameters: json.RawMessage(proposeSchema),
		Binding:    "built in", Source: "harness",
	}
}

// Call implements tool.Tool.
func (proposal) Call(context.Context, tool.Call) tool.Result {
	return tool.Result{ErrorKind: tool.Failed, Content: ProposePlan + " is carried out by the harness", Source: "harness"}
}

const proposeSchema = `{"type":"object","properties":{` +
	`"steps":{"type":"array","description":"In the order of execution.","items":{"type":"object","properties":{` +
	`"id":{"type":"string","description":"Unique in the plan, such as s1."},` +
	`"description":{"type":"string","description":"What the step is for, in plain words; for a step without a tool, its task."},` +
	`"tool":{"type":"string","description":"Exact name of a tool; left out for an agent's step."},` +
	`"arguments":{"type":"object","description":"Arguments of the tool, valid against its schema."},` +
	`"depends_on":{"type":"array","items":{"type":"string"},"description":"Ids of the steps that must be complete before this one."},` +
	`"acceptance":{"type":"array","items":{"type":"string"},"description":"Criteria that must hold after the step, such as at_place(kitchen)."}},` +
	`"required":["id"],"additionalProperties":false}},` +
	`"success_criteria":{"type":"array","items":{"type":"string"},"description":"Criteria that must all hold together at the very end, when the last step is done (what holds only in between, such as being at a place that is left again, belongs into that step's acceptance): a verify tool's call like at_place(kitchen), or \"cel: EXPRESSION\" over query tools, or \"person: QUESTION\"."}},` +
	`"required":["steps"],"additionalProperties":false}`
