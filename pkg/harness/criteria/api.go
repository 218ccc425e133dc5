package criteria

import "encoding/json"

// Kind of a criterion.
type Kind uint8

// Kinds.
const (
	ByTool   Kind = 1 // a verify tool decides
	ByCEL    Kind = 2 // a CEL expression over query tools' results decides
	ByPerson Kind = 3 // a person decides
)

// Criterion is one parsed criterion.
type Criterion struct {
	Text string // as written, trimmed
	Kind Kind
	// Tool and Arguments (an object, valid against its schema) of ByTool.
	Tool      string
	Arguments json.RawMessage
	// Expression of ByCEL.
	Expression Expression
	// Question of ByPerson.
	Question string
}

// Evaluator compiles CEL expressions over the results of query tools. NewCEL makes one; it is safe for concurrent use.
type Evaluator interface {
	// Compile fails on syntax, on an unknown name, on a result that is no bool, and on an expression that reads no query tool.
	Compile(expression string) (Expression, error)
}

// Expression is a compiled expression.
type Expression interface {
	// Reads names the query tools whose results it needs, sorted.
	Reads() []string
	// Eval judges. results holds one entry per name in Reads: what the tool observed, JSON or plain text.
	Eval(results map[string]string) (bool, error)
}
