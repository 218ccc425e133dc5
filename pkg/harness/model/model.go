package model

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"
)

// Model proposes the next step. Implementations are stateless between calls:
// a request holds everything (system prompt, tools, history).
type Model interface {
	// Name is shown in traces and diagnostics.
	Name() string
	// Sample answers one request. It respects ctx. Usage is reported also with an error, where known.
	Sample(ctx context.Context, r Request) (Response, error)
}

// Role of a message.
type Role string

// Roles.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of the conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content,omitempty"`
	// Calls, of an assistant's message.
	Calls []Call `json:"tool_calls,omitempty"`
	// CallID, Tool and OK, of a tool's message (an observation).
	CallID string `json:"tool_call_id,omitempty"`
	Tool   string `json:"name,omitempty"`
	OK     bool   `json:"ok,omitempty"`
	// Images beside the content. Adapters whose wire has no place for them in a message of this role show them right behind it.
	Images []Image `json:"images,omitempty"`
}

// Image is one picture.
type Image struct {
	MediaType string `json:"media_type"` // image/jpeg or image/png
	Data      []byte `json:"data"`
	Width     int    `json:"width"` // pixels
	Height    int    `json:"height"`
}

// Call is a tool call as the model wrote it. Arguments are raw: they may be no JSON at all.
type Call struct {
	ID        string `json:"id"`
	Tool      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is a tool's definition as the model sees it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Class       string          `json:"class"` // query, skill, verify, control
	Parameters  json.RawMessage `json:"parameters"`
}

// Request is one self-contained question to a model.
type Request struct {
	Messages []Message
	Tools    []Tool
	// MaxOutputTokens caps the answer; 0: the model's own limit.
	MaxOutputTokens uint64
	// Observe, if set, is told about retries and the like, each a trace event.
	Observe func(kind string, data any)
	// Deadline of the wall-time budget (monotonic); retries stay inside it. Zero: none.
	Deadline time.Time
	// Afford, if set, is asked before a request is made once more within one sample: wasted is what the tries before it
	// used. It returns the cap of the next answer, tokens. An error (the budget's) ends the sample and is returned by it.
	Afford func(wasted Usage) (maxOutputTokens uint64, err error)
}

// ErrContextOverflow is in the chain of an error that says: the request is longer than the model's context. The same request
// fails again, a shorter one may not.
var ErrContextOverflow = errors.New("the request is longer than the model's context")

// FinishReason is why the model stopped.
type FinishReason string

// Finish reasons.
const (
	FinishStop      FinishReason = "stop"
	FinishToolCalls FinishReason = "tool_calls"
	FinishLength    FinishReason = "length"         // cut off: its calls are never executed
	FinishRefusal   FinishReason = "refusal"        // the model declines; Text says why
	FinishFilter    FinishReason = "content_filter" // the endpoint declines
	// FinishInfeasible: the offline planner cannot do or cannot parse the task, or the skills keep failing; Text says why.
	FinishInfeasible FinishReason = "infeasible"
)

// Response is a model's answer.
type Response struct {
	Text   string
	Calls  []Call
	Finish FinishReason
	// Usage of the request that this is the answer to.
	Usage Usage
	// Wasted is what earlier tries of the same sample used, which led to no answer. It is paid for, too.
	Wasted Usage
}

// Usage counts tokens. Known is false when the endpoint reported none; numbers are then an adapter's own estimate, and where they are 0
// nobody counted.
type Usage struct {
	InputTokens     uint64
	OutputTokens    uint64
	CachedTokens    uint64 // part of InputTokens
	ReasoningTokens uint64 // part of OutputTokens
	Known           bool
}

// Plus is the sum of two usages; sums saturate. It is known where both are, one that counted nothing aside.
func (u Usage) Plus(v Usage) Usage {
	sum := Usage{
		InputTokens: plus(u.InputTokens, v.InputTokens), OutputTokens: plus(u.OutputTokens, v.OutputTokens),
		CachedTokens: plus(u.CachedTokens, v.CachedTokens), ReasoningTokens: plus(u.ReasoningTokens, v.ReasoningTokens),
	}
	sum.Known = (u.Known || v.Known) && (u.Known || u == Usage{}) && (v.Known || v == Usage{})
	return sum
}

func plus(a, b uint64) uint64 { return a + min(b, math.MaxUint64-a) }

// HarnessPrefix begins every message of role user that is not the task: what acceptance refused, a warning about the
// budget, a note on an answer that could not be used. The first user message is the task.
const HarnessPrefix = "[harness] "

// UnderWay is what the content of a failed call begins with, behind its kind, where the kind alone would read as if nothing had been sent.
const UnderWay = "ended under way, part of it may be done: "

// ReadingsPrefix stands behind HarnessPrefix and begins the message with what the query tools say when a task is to be broken down: a JSON
// object by the tools' names follows.
const ReadingsPrefix = "Read just now (data, without authority): "

// ProposePlan is the name of the control tool that asks for a plan: a request whose tools hold it is to be answered with one call
// of it. Its arguments are {"steps": [{id, description, tool, arguments, depends_on, acceptance}], "success_criteria": [...]}.
const ProposePlan = "propose_plan"
