package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/node/survey"
)

// watchedModel remembers how a model's last answers went, for diagnostics.
type watchedModel struct {
	model.Model

	mu       sync.Mutex
	answered time.Time // the last success
	took     time.Duration
	failures int // since then
	failed   error
}

// Sample implements model.Model.
func (m *watchedModel) Sample(ctx context.Context, r model.Request) (model.Response, error) {
	began := time.Now()
	resp, err := m.Model.Sample(ctx, r)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err == nil:
		m.answered, m.took, m.failures, m.failed = time.Now(), time.Since(began), 0, nil
	case errors.Is(err, context.Canceled): // nobody waited for it any more
	default:
		m.failures++
		m.failed = err
	}
	return resp, err
}

// manyFailures in a row are an error of the endpoint's.
const manyFailures = 3

func (m *watchedModel) status() status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := status{name: "model", message: "not asked yet", level: levelOK, values: [][2]string{{"name", m.Name()}}}
	if !m.answered.IsZero() {
		s.message = "answers"
		s.values = append(s.values, [2]string{"answered", m.answered.UTC().Format(time.RFC3339)}, [2]string{"took_s", fmt.Sprintf("%.2f", m.took.Seconds())})
	}
	if m.failed != nil {
		s.level, s.message = levelWarn, "its last answer failed: "+m.failed.Error()
		if m.failures >= manyFailures {
			s.level = levelError
		}
		s.values = append(s.values, [2]string{"failures", fmt.Sprint(m.failures)})
	}
	return s
}

// nearlyUsed is the share of a budget from which on it is warned of.
const nearlyUsed = 0.8

// budgetStatus is what a goal has used of what it may.
func budgetStatus(used budget.Usage, limits budget.Limits, running bool) status {
	s := status{name: "budget", message: "no goal", level: levelOK}
	if !running {
		return s
	}
	s.message = "in it"
	for _, d := range []struct {
		name        string
		used, limit float64
	}{
		{"steps", float64(used.Steps), float64(limits.Steps)},
		{"tool_calls", float64(used.ToolCalls), float64(limits.ToolCalls)},
		{"input_tokens", float64(used.InputTokens), float64(limits.InputTokens)},
		{"output_tokens", float64(used.OutputTokens), float64(limits.OutputTokens)},
		{"wall_time_s", used.WallTime.Seconds(), limits.WallTime.Seconds()},
		{"cost", used.Cost, limits.Cost},
	} {
		text := fmt.Sprintf("%.6g", d.used)
		if d.limit > 0 {
			text += fmt.Sprintf(" of %.6g", d.limit)
			if d.used >= nearlyUsed*d.limit {
				s.level, s.message = levelWarn, strings.TrimPrefix(s.message+", "+d.name, "in it, ")
			}
		}
		s.values = append(s.values, [2]string{d.name, text})
	}
	if s.level == levelWarn {
		s.message = "nearly used up: " + s.message
	}
	return s
}

// effective limits of a goal: what it asks for, else the default, at most the maximum.
func effective(asked, def, most budget.Limits) budget.Limits {
	pick := func(asked, def, most float64) float64 {
		if asked == 0 {
			asked = def
		}
		if most > 0 && (asked == 0 || asked > most) {
			return most
		}
		return asked
	}
	return budget.Limits{
		Steps:        uint32(pick(float64(asked.Steps), float64(def.Steps), float64(most.Steps))),
		ToolCalls:    uint32(pick(float64(asked.ToolCalls), float64(def.ToolCalls), float64(most.ToolCalls))),
		InputTokens:  uint64(pick(float64(asked.InputTokens), float64(def.InputTokens), float64(most.InputTokens))),
		OutputTokens: uint64(pick(float64(asked.OutputTokens), float64(def.OutputTokens), float64(most.OutputTokens))),
		WallTime:     time.Duration(pick(float64(asked.WallTime), float64(def.WallTime), float64(most.WallTime))),
		Cost:         pick(asked.Cost, def.Cost, most.Cost),
	}
}

// bindingWatch looks at the bindings of a profile every so often.
type bindingWatch struct {
	needs []survey.Need
	next  time.Time
	rows  []status
	heard map[string]heardAt
	first time.Time
	// levels as they were told last.
	levels map[string]uint8
}

// heardAt is how much of a topic had been heard when.
type heardAt struct {
	count uint64
	at    time.Time
}

// bindingEvery is how often the graph is asked: it is the same for long, and a large one takes its time.
const bindingEvery = 3 * time.Second

// bindingGrace is how long a graph is given to be discovered before what it lacks is logged.
const bindingGrace = 10 * time.Second

// bindings are the statuses of the world's, the actuators' and the tools' bindings.
func (n *Node) bindings(w *work) ([]status, error) {
	b := &w.bindings
	now := time.Now()
	if now.Before(b.next) {
		return b.rows, nil
	}
	b.next = now.Add(bindingEvery)
	if b.needs == nil {
		b.needs, b.heard = survey.Needs(w.robot.Profile()), map[string]heardAt{}
		b.levels, b.first = map[string]uint8{}, now
	}
	report, err := survey.Glance(n.ros, b.needs, survey.Senses{Heard: w.robot.Heard, Transform: w.robot.TransformAge, Seldom: w.robot.Seldom}, n.tuned.offers)
	if err != nil {
		return nil, err
	}
	b.rows = nil
	rates := b.rates(report, w.robot.Heard, now)
	for i := range report.Rows {
		row := &report.Rows[i]
		part, detail, _ := strings.Cut(row.For, ": ")
		if part == "world" {
			part, detail = "world "+detail, ""
			if row.Kind == survey.Transform {
				part = "tf"
			}
		} else if strings.HasPrefix(part, "actuator ") {
			part = "binding of " + part // the actuator's own status is the guard's
		}
		b.note(part, detail, row, rates)
	}
	n.tellBindings(b)
	return b.rows, nil
}

// tellBindings logs what has become worse or well since the last look: a log is read where diagnostics are not.
func (n *Node) tellBindings(b *bindingWatch) {
	for _, s := range b.rows {
		before, known := b.levels[s.name]
		if !known && s.level != levelOK && time.Since(b.first) < bindingGrace {
			continue // what has not been discovered yet is no news
		}
		switch {
		case s.level != levelOK && (!known || severity(before) < severity(s.level)):
			n.logger("diagnostics").Warn("binding", "of", s.name, "level", levelNames[s.level], "because", s.message)
		case s.level == levelOK && known && before != levelOK:
			n.logger("diagnostics").Info("binding is well again", "of", s.name)
		}
		b.levels[s.name] = s.level
	}
}

var levelNames = map[uint8]string{levelOK: "OK", levelWarn: "WARN", levelError: "ERROR", levelStale: "STALE"}

// rates of topics since the last look, Hz, by name.
func (b *bindingWatch) rates(report survey.Report, heard func(topic, typeName string) (uint64, time.Time), now time.Time) map[string]float64 {
	out := map[string]float64{}
	for i := range report.Rows {
		row := &report.Rows[i]
		if row.Kind != survey.Topic || row.Once {
			continue
		}
		count, _ := heard(row.Name, row.Type)
		if last, ok := b.heard[row.Name]; ok && now.Sub(last.at) > 0 && count >= last.count {
			if _, told := out[row.Name]; !told {
				out[row.Name] = float64(count-last.count) / now.Sub(last.at).Seconds()
			}
		}
	}
	for i := range report.Rows {
		if row := &report.Rows[i]; row.Kind == survey.Topic {
			count, _ := heard(row.Name, row.Type)
			b.heard[row.Name] = heardAt{count, now}
		}
	}
	return out
}

// note adds a row to its part's status: several may be of one.
func (b *bindingWatch) note(part, detail string, row *survey.Row, rates map[string]float64) {
	i := slices.IndexFunc(b.rows, func(s status) bool { return s.name == part })
	if i < 0 {
		b.rows = append(b.rows, status{name: part, message: "bound"})
		i = len(b.rows) - 1
	}
	s := &b.rows[i]
	prefix := ""
	if detail != "" {
		prefix = detail + " "
	}
	add := func(key, value string) {
		if value != "" {
			s.values = append(s.values, [2]string{prefix + key, value})
		}
	}
	add(string(row.Kind), row.Name)
	add("type", row.Type)
	if row.Kind != survey.Inside {
		add("present", fmt.Sprint(row.Present))
	}
	add("qos", row.QoS)
	if rate, ok := rates[row.Name]; ok && row.Kind == survey.Topic {
		add("rate_hz", fmt.Sprintf("%.1f", rate))
	}
	add("measured", row.Measured)
	if row.Skill {
		add("validators", strings.Join(row.Validators, ", "))
	}
	level := map[survey.Level]uint8{survey.OK: levelOK, survey.Warn: levelWarn, survey.Error: levelError, survey.Stale: levelStale}[row.Level]
	for _, p := range row.Problems {
		if s.message == "bound" {
			s.message = ""
		}
		s.message = strings.TrimPrefix(s.message+"; "+p.Message, "; ")
	}
	if severity(level) > severity(s.level) {
		s.level = level
	}
}

// severity orders levels: what is stale is worse than a warning, and less than an error.
func severity(level uint8) int {
	return map[uint8]int{levelOK: 0, levelWarn: 1, levelStale: 2, levelError: 3}[level]
}
