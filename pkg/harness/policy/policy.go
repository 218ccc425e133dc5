package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agent_node/pkg/harness/tool"
)

// Permission of a tool.
type Permission string

// Permissions.
const (
	Allow Permission = "allow"
	Ask   Permission = "ask"
	Deny  Permission = "deny"
)

// ParsePermission reads "allow", "ask" or "deny".
func ParsePermission(s string) (Permission, error) {
	switch p := Permission(s); p {
	case Allow, Ask, Deny:
		return p, nil
	}
	return Deny, fmt.Errorf("policy: permission is %q, must be allow, ask or deny", s)
}

// DefaultTimeout is how long a person has to answer.
const DefaultTimeout = 60 * time.Second

// Policy of a node. The zero value allows control, query and verify tools and asks for every skill.
type Policy struct {
	// Classes overrides the permission of a class.
	Classes map[tool.Class]Permission
	// Tools overrides the permission of a tool by name; it wins over its class.
	Tools map[string]Permission
	// Conditions on the arguments of a tool's calls; see Judge.Decide.
	Conditions map[string][]Condition
	// Rates limit how often a tool is called, over all sessions.
	Rates map[string]Rate
	// Simulation: nothing real can move. Outside it a skill whose output nobody validates
	// (tool.Spec.Validated is false) is denied unless Tools names it.
	Simulation bool
	// Timeout is how long a person has to answer; 0: DefaultTimeout. Silence is a denial.
	Timeout time.Duration
}

// Check says which entry is no permission.
func (p Policy) Check() error {
	for c, v := range p.Classes {
		if _, err := ParsePermission(string(v)); err != nil {
			return fmt.Errorf("policy: class %s: %w", c, err)
		}
	}
	for n, v := range p.Tools {
		if _, err := ParsePermission(string(v)); err != nil {
			return fmt.Errorf("policy: tool %s: %w", n, err)
		}
	}
	for _, n := range sortedKeys(p.Rates) {
		if err := p.Rates[n].Check(); err != nil {
			return fmt.Errorf("policy: tool %s: %w", n, err)
		}
	}
	if p.Timeout < 0 {
		return fmt.Errorf("policy: timeout is %v, must not be negative", p.Timeout)
	}
	return nil
}

// Decide says what is permitted for a tool, and why.
func (p Policy) Decide(s tool.Spec) (Permission, string) {
	if s.Class == tool.Control {
		return Allow, "built in"
	}
	if v, ok := p.Tools[s.Name]; ok {
		return v, "by the tool's name"
	}
	if s.Class == tool.Skill && !s.Validated && !p.Simulation {
		return Deny, "nothing validates what this skill sends, and this is no simulation; an operator can allow it by name"
	}
	if v, ok := p.Classes[s.Class]; ok {
		return v, "by its class " + s.Class.String()
	}
	switch s.Class {
	case tool.Query, tool.Verify:
		return Allow, "by default"
	case tool.Skill:
		return Ask, "by default"
	default:
		return Deny, "unknown class"
	}
}

// Request is a question to a person.
type Request struct {
	// ID is unique; for a call it is bound to the call's id and to a digest of exactly its arguments.
	ID      string
	Session string
	// Question in words.
	Question string
	// CallID, Tool, Class, Arguments and Digest of the call to approve; Tool is empty for a question without a call.
	// Digest is what Digest(session, call id, tool, arguments) returns.
	CallID    string
	Tool      string
	Class     tool.Class
	Arguments json.RawMessage
	Digest    string
	// Expires is when silence becomes a denial.
	Expires time.Time
}

// Answer of a person.
type Answer struct {
	// RequestID must be the ID of the request that is answered; any other answer is a denial.
	RequestID string
	Approved  bool
	Text      string
}

// Approver reaches a person. Ask returns when the person has answered or ctx has ended (at the latest at r.Expires).
// An error counts as a denial. It is called by the session's goroutine, one question at a time per session.
type Approver interface {
	Ask(ctx context.Context, r Request) (Answer, error)
}
