package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
	"agent_node/pkg/ros/param"
)

// parameters are the node's, declared once. Those that Settings reads are taken when the node is configured.
type parameters struct {
	server *param.Server

	profile                     *param.Of[string]
	robotNamespace, framePrefix *param.Of[string]

	autostart *param.Of[bool]

	modelKind, modelURL, modelName, modelScript                    *param.Of[string]
	modelKeyEnv, modelKeyFile, modelCalls                          *param.Of[string]
	priceInput, priceOutput, retryTime, modelTimeout, modelSilence *param.Of[float64]
	retries, modelMaxOutput                                        *param.Of[int64]
	modelStream, modelImages                                       *param.Of[bool]

	limits, maxima budgetParameters

	classes       map[tool.Class]*param.Of[string]
	toolRules     *param.Of[[]string]
	toolRates     *param.Of[[]string]
	waitCounts    *param.Of[bool]
	modelContext  *param.Of[int64]
	policyTimeout *param.Of[float64]

	queuePolicy *param.Of[string]
	queueLength *param.Of[int64]

	resultTimeout, stopReserve, feedbackRate, waitForBindings *param.Of[float64]
	rounds                                                    *param.Of[int64]
	traceDir                                                  *param.Of[string]
	traceSync                                                 *param.Of[bool]
	traceMax                                                  *param.Of[int64]

	estopRequired *param.Of[bool]
	estopTimeout  *param.Of[float64]

	watchdogRequired *param.Of[bool]
	watchdogTimeout  *param.Of[float64]
}

type budgetParameters struct {
	steps, calls, input, output *param.Of[int64]
	wall, cost                  *param.Of[float64]
}

// declarer declares parameters; the first error sticks.
type declarer struct {
	s   *param.Server
	err error
}

func declare[T param.Go](d *declarer, desc param.Descriptor, def T) *param.Of[T] {
	if d.err != nil {
		return nil
	}
	desc.Later = laterOf(desc.Name)
	p, err := param.Declare(d.s, desc, def)
	d.err = err
	return p
}

// live are the parameters whose change takes effect at once.
var live = []string{"queue_policy", "queue_length", "feedback_rate", "estop.required", "estop.timeout", "watchdog.required", "watchdog.timeout"}

// laterOf says when a change takes effect that does not at once.
func laterOf(name string) string {
	switch {
	case slices.Contains(live, name):
		return ""
	case name == "autostart":
		return "takes effect at the next start"
	case name == "result_timeout":
		return "takes effect at the next activate"
	}
	return "takes effect at the next configure"
}

func (d *declarer) text(name, def, description string, oneOf ...string) *param.Of[string] {
	desc := param.Descriptor{Name: name, Description: description}
	if len(oneOf) > 0 {
		desc.Constraints = "one of " + strings.Join(oneOf, ", ")
	}
	return declare(d, desc, def)
}

func (d *declarer) flag(name string, def bool, description string) *param.Of[bool] {
	return declare(d, param.Descriptor{Name: name, Description: description}, def)
}

func (d *declarer) whole(name string, def, from, to int64, description string) *param.Of[int64] {
	return declare(d, param.Descriptor{Name: name, Description: description, Int: &param.IntRange{From: from, To: to}}, def)
}

func (d *declarer) number(name string, def, from, to float64, description string) *param.Of[float64] {
	return declare(d, param.Descriptor{Name: name, Description: description, Float: &param.FloatRange{From: from, To: to}}, def)
}

// day bounds durations given in seconds.
const day = 86400.0

func declareParameters(s *param.Server) (*parameters, error) {
	d := &declarer{s: s}
	p := &parameters{
		server:         s,
		profile:        d.text("profile", "", "Robot profile: a YAML file, or the name of a shipped one. Empty: the built-in robot's."),
		robotNamespace: d.text("robot_namespace", "", "Put before the absolute names of the profile: of one of several robots, such as /r1."),
		framePrefix:    d.text("frame_prefix", "", "Put before the profile's frames, as robot_state_publisher's is: of one of several robots, such as r1/. A frame that the profile writes with a slash before it has none."),
		autostart:      d.flag("autostart", true, "Configure and activate at start."),

		modelKind:    d.text("model.kind", "planner", "Where proposals come from.", "planner", "openai", "scripted"),
		modelURL:     d.text("model.base_url", "", "Base URL of an OpenAI-compatible endpoint."),
		modelName:    d.text("model.name", "", "Model name at the endpoint."),
		modelKeyEnv:  d.text("model.api_key_env", "OPENAI_API_KEY", "Environment variable that holds the endpoint's key. The key itself is never a parameter."),
		modelKeyFile: d.text("model.api_key_file", "", "File that holds the endpoint's key and nothing else. Wins over model.api_key_env."),
		modelCalls:   d.text("model.tool_calls", "native", "How the model calls tools: by the endpoint's own means, or written in its text for endpoints that have none.", "native", "text"),
		modelMaxOutput: d.whole("model.max_output_tokens", harness.DefaultMaxOutputTokens, 1, 1<<31-1,
			"Most tokens of one answer, those of reasoning included; less where less of the budget is left."),
		modelContext: d.whole("model.context_tokens", 0, 0, 1<<40, "Context of the model at the endpoint, tokens of input and output together; near it the history is made shorter. 0: not known."),
		modelImages:  d.flag("model.images", false, "The model is shown the pictures that tools take."),
		modelStream:  d.flag("model.stream", false, "Ask for answers piece by piece. Nothing of one is used before it is complete."),
		modelScript:  d.text("model.script", "", "File of answers for model.kind scripted."),
		modelTimeout: d.number("model.timeout", 120, 0.1, day, "Time limit of one request to the model, s."),
		modelSilence: d.number("model.idle_timeout", 60, 0.1, day, "How long an answer that has begun may stand still, s."),
		priceInput:   d.number("model.price.input", 0, 0, 1e9, "Price per million input tokens; 0 with an output price of 0: unknown."),
		priceOutput:  d.number("model.price.output", 0, 0, 1e9, "Price per million output tokens."),
		retries:      d.whole("model.retries", 5, 0, 100, "Retries of one sample."),
		retryTime:    d.number("model.retry_time", 60, 0, day, "Time for all retries of one sample, s."),

		classes:       map[tool.Class]*param.Of[string]{},
		waitCounts:    d.flag("policy.wait_counts", true, "The time in which a person is waited for counts as wall time."),
		policyTimeout: d.number("policy.timeout", 60, 0.1, day, "How long a person has to answer, s. Silence is a denial."),
		toolRules: declare(d, param.Descriptor{
			Name: "policy.tools", Description: "Permission of single tools, as 'name: allow', 'name: ask' or 'name: deny', which wins over its class; or depending on the arguments, as 'drive: ask if distance_m > 0.3', beside the profile's conditions.",
		}, []string{}),
		toolRates: declare(d, param.Descriptor{
			Name: "policy.rates", Description: "How often tools may be called, over all goals, as 'name: CALLS per SECONDS'. Wins over the profile's.",
		}, []string{}),

		queuePolicy: d.text("queue_policy", "reject", "What a second goal meets while one is executed.", "reject", "queue", "preempt"),
		queueLength: d.whole("queue_length", 32, 0, 100000, "How many goals may wait with queue_policy queue."),

		resultTimeout:   d.number("result_timeout", 900, 0, 7*day, "How long a result is kept, s."),
		stopReserve:     d.number("stop_reserve", 7, 0.1, 600, "Wall time kept for cancel and stop, s."),
		feedbackRate:    d.number("feedback_rate", 2, 0.1, 100, "Feedback while moving, Hz."),
		waitForBindings: d.number("wait_for_bindings", 10, 0.01, 600, "How long a call waits for a missing server, s."),
		rounds:          d.whole("acceptance_rounds", 2, 0, 100, "How often an answer that acceptance refused goes back to the model."),
		traceDir:        d.text("trace.dir", "", "Folder of the traces. Empty: agent_node/traces in the user's state folder."),
		traceMax:        d.whole("trace.max_file_bytes", trace.DefaultMaxBytes, 0, 1<<53, "Size of a trace file at which the next part begins, bytes; 0: no limit."),
		traceSync:       d.flag("trace.fsync", false, "Flush traces to the disk itself, not only to the operating system."),

		estopRequired: d.flag("estop.required", false, "Silence on emergency_stop is a stop."),
		estopTimeout:  d.number("estop.timeout", 1, 0.05, 600, "How long silence may last where estop.required, s."),

		watchdogRequired: d.flag("watchdog.required", false, "Without a watchdog that watches this node no goal is carried out."),
		watchdogTimeout:  d.number("watchdog.timeout", 2, 0.5, 600, "How long the watchdog may be silent where watchdog.required, s."),
	}
	for class, name := range map[tool.Class]string{tool.Query: "policy.query", tool.Skill: "policy.skill", tool.Verify: "policy.verify"} {
		p.classes[class] = d.text(name, "", "Permission of class "+class.String()+". Empty: the profile's.", "allow", "ask", "deny")
	}
	def, most := budget.Defaults(), budget.Maxima()
	p.limits = d.budget("budget.", "A goal's default", def)
	p.maxima = d.budget("budget_max.", "The most that a goal gets", most)
	if d.err != nil {
		return nil, d.err
	}
	s.OnSet(p.check)
	return p, p.check(s.All())
}

func (d *declarer) budget(prefix, what string, l budget.Limits) budgetParameters {
	const most = 1 << 53
	return budgetParameters{
		steps:  d.whole(prefix+"max_steps", int64(l.Steps), 0, 1<<32-1, what+": samples of the model; 0: no limit."),
		calls:  d.whole(prefix+"max_tool_calls", int64(l.ToolCalls), 0, 1<<32-1, what+": tool calls; 0: no limit."),
		input:  d.whole(prefix+"max_input_tokens", int64(l.InputTokens), 0, most, what+": input tokens; 0: no limit."),
		output: d.whole(prefix+"max_output_tokens", int64(l.OutputTokens), 0, most, what+": output tokens; 0: no limit."),
		wall:   d.number(prefix+"max_wall_time", l.WallTime.Seconds(), 0, 365*day, what+": wall time, s; 0: no limit."),
		cost:   d.number(prefix+"max_cost", l.Cost, 0, 1e9, what+": money, in the currency of the prices; 0: no limit."),
	}
}

func (b budgetParameters) limitsNow() budget.Limits {
	return budget.Limits{
		Steps: uint32(b.steps.Get()), ToolCalls: uint32(b.calls.Get()),
		InputTokens: uint64(b.input.Get()), OutputTokens: uint64(b.output.Get()),
		WallTime: secondsOf(b.wall.Get()), Cost: b.cost.Get(),
	}
}

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// check refuses words that mean nothing, before they are stored.
func (p *parameters) check(changes []param.Parameter) error {
	words := map[string][]string{
		"model.kind":   {"planner", "openai", "scripted"},
		"queue_policy": {"reject", "queue", "preempt"}, "model.tool_calls": {"native", "text"},
		"policy.query": {"", "allow", "ask", "deny"}, "policy.skill": {"", "allow", "ask", "deny"}, "policy.verify": {"", "allow", "ask", "deny"},
	}
	var all []error
	for _, c := range changes {
		if allowed, ok := words[c.Name]; ok {
			if v, isText := c.Value.Any().(string); isText && !contains(allowed, v) {
				all = append(all, fmt.Errorf("%s is %q: one of %q is wanted", c.Name, v, allowed))
			}
		}
		if c.Name == "policy.tools" {
			rules, _ := c.Value.Any().([]string)
			all = append(all, readRules(rules, &policy.Policy{}))
		}
		if c.Name == "policy.rates" {
			rules, _ := c.Value.Any().([]string)
			all = append(all, readRates(rules, &policy.Policy{}))
		}
	}
	return errors.Join(all...)
}

func contains(list []string, v string) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}
