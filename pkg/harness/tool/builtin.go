package tool

import (
	"context"
	"encoding/json"
)

// Names of the built-in tools.
const (
	Finish          = "finish"
	AskPerson       = "ask_person"
	DeclareCriteria = "declare_criteria"
)

// builtIn tools are described here and carried out by the harness itself.
type builtIn struct{ spec Spec }

// Spec implements Tool.
func (b builtIn) Spec() Spec { return b.spec }

// Call implements Tool; the harness answers control calls and never gets here.
func (b builtIn) Call(context.Context, Call) Result {
	return Result{ErrorKind: Failed, Content: b.spec.Name + " is carried out by the harness", Source: "harness"}
}

func builtIns() []Tool {
	return []Tool{
		builtIn{Spec{
			Name:  Finish,
			Class: Control,
			Description: "Ends the task with an answer. The harness then checks it: your word alone is not accepted. " +
				"For a question (no skill ran), evidence must list the ids of the calls whose results hold every number of the answer; " +
				"a tool's name stands for its newest call.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"answer":{"type":"string","description":"What to tell the caller."},` +
				`"evidence":{"type":"array","items":{"type":"string"},"maxItems":64,"description":"Ids of earlier calls (or names of their tools) whose results support the answer."}},` +
				`"required":["answer"],"additionalProperties":false}`),
			Binding: "built in",
			Source:  "harness",
		}},
		builtIn{Spec{
			Name:        AskPerson,
			Class:       Control,
			Description: "Asks a person one question and waits for the answer. Use it when the task is ambiguous.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"question":{"type":"string","minLength":1,"maxLength":2000}},` +
				`"required":["question"],"additionalProperties":false}`),
			Binding: "built in",
			Source:  "person",
		}},
		builtIn{Spec{
			Name:  DeclareCriteria,
			Class: Control,
			Description: "Before the first skill: adds criteria by which the harness judges whether the task is done. " +
				"Each is a verify tool's call like at_place(kitchen), or \"cel: EXPRESSION\" over query tools, or \"person: QUESTION\". " +
				"Criteria can be added, never taken back.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"criteria":{"type":"array","items":{"type":"string","minLength":1,"maxLength":500},"minItems":1,"maxItems":32}},` +
				`"required":["criteria"],"additionalProperties":false}`),
			Binding: "built in",
			Source:  "harness",
		}},
	}
}
