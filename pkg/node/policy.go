package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/robottools"
)

// ProfilePolicy is what a profile alone permits.
func ProfilePolicy(p *robottools.Profile) (policy.Policy, error) {
	return joinPolicy(p, nil, policy.Policy{})
}

// joinPolicy joins what a profile permits and what an operator says of classes and tools, which wins. Conditions add up.
func joinPolicy(p *robottools.Profile, classes map[tool.Class]string, own policy.Policy) (policy.Policy, error) {
	out := own
	out.Simulation = p.Simulation
	out.Classes = map[tool.Class]policy.Permission{}
	for _, class := range []tool.Class{tool.Query, tool.Skill, tool.Verify} {
		word := classes[class]
		if word == "" {
			word = p.Permissions[class.String()]
		}
		if word == "" {
			continue
		}
		perm, err := policy.ParsePermission(word)
		if err != nil {
			return out, err
		}
		out.Classes[class] = perm
	}
	for _, names := range [][]string{sorted(out.Tools), sorted(out.Conditions), sorted(out.Rates)} {
		for _, name := range names {
			if !p.HasTool(name) {
				return out, fmt.Errorf("the profile %s has no tool %q", p.Name, name)
			}
		}
	}
	out.Tools, out.Conditions, out.Rates = filled(out.Tools), filled(out.Conditions), filled(out.Rates)
	for name, t := range p.Tools {
		if _, given := out.Tools[name]; !given && t.Permission != "" {
			out.Tools[name] = policy.Permission(t.Permission)
		}
		for _, text := range t.Conditions {
			c, err := policy.ParseCondition(text)
			if err != nil {
				return out, fmt.Errorf("tool %s: %w", name, err)
			}
			out.Conditions[name] = append(out.Conditions[name], c)
		}
		if _, given := out.Rates[name]; !given && t.Rate != nil {
			out.Rates[name] = policy.Rate{Calls: t.Rate.Calls, Per: time.Duration(t.Rate.Per * float64(time.Second))}
		}
	}
	if !p.Simulation {
		for name, expression := range p.Unvalidated() {
			out.Conditions[name] = append(out.Conditions[name], policy.Condition{Permission: policy.Ask, Expression: expression})
		}
	}
	for _, name := range p.AllowUnvalidated {
		if _, given := out.Tools[name]; !given {
			class := policy.Ask
			if c, ok := out.Classes[tool.Skill]; ok {
				class = c
			}
			out.Tools[name] = class
		}
	}
	return out, nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// filled is a copy that can be written to.
func filled[V any](m map[string]V) map[string]V {
	out := make(map[string]V, len(m))
	maps.Copy(out, m)
	return out
}

// permissions joins the profile's and the node's.
func (n *Node) permissions(p *robottools.Profile) (policy.Policy, error) {
	own := policy.Policy{Timeout: secondsOf(n.params.policyTimeout.Get())}
	if err := readRules(n.params.toolRules.Get(), &own); err != nil {
		return own, err
	}
	if err := readRates(n.params.toolRates.Get(), &own); err != nil {
		return own, err
	}
	classes := map[tool.Class]string{}
	for class, word := range n.params.classes {
		classes[class] = word.Get()
	}
	out, err := joinPolicy(p, classes, own)
	if err != nil {
		return out, fmt.Errorf("policy.tools, policy.rates: %w", err)
	}
	return out, nil
}

// readRules reads 'name: permission' and 'name: permission if condition'.
func readRules(rules []string, into *policy.Policy) error {
	into.Tools, into.Conditions = map[string]policy.Permission{}, map[string][]policy.Condition{}
	for _, r := range rules {
		name, text, ok := strings.Cut(r, ":")
		name, text = strings.TrimSpace(name), strings.TrimSpace(text)
		if !ok {
			return fmt.Errorf("policy.tools: %q is not 'name: permission'", r)
		}
		if strings.Contains(text, " if ") {
			c, err := policy.ParseCondition(text)
			if err != nil {
				return fmt.Errorf("policy.tools: %q: %w", r, err)
			}
			into.Conditions[name] = append(into.Conditions[name], c)
			continue
		}
		p, err := policy.ParsePermission(text)
		if err != nil {
			return fmt.Errorf("policy.tools: %q: %w", r, err)
		}
		into.Tools[name] = p
	}
	return nil
}

// readRates reads 'name: calls per seconds'.
func readRates(rules []string, into *policy.Policy) error {
	into.Rates = map[string]policy.Rate{}
	for _, r := range rules {
		name, text, ok := strings.Cut(r, ":")
		if !ok {
			return fmt.Errorf("policy.rates: %q is not 'name: CALLS per SECONDS'", r)
		}
		rate, err := policy.ParseRate(text)
		if err != nil {
			return fmt.Errorf("policy.rates: %q: %w", r, err)
		}
		into.Rates[strings.TrimSpace(name)] = rate
	}
	return nil
}
