package survey

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/ros"
)

// Level of a finding.
type Level string

// Levels.
const (
	OK    Level = "ok"
	Warn  Level = "warn"
	Stale Level = "stale" // it is there, and nothing new comes of it
	Error Level = "error"
)

// worse of two levels.
func worse(a, b Level) Level {
	for _, l := range []Level{Error, Stale, Warn} {
		if a == l || b == l {
			return l
		}
	}
	return OK
}

// Problem is what is wrong, and what to do about it.
type Problem struct {
	Level   Level  `json:"level"`
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"`
}

// Row is a need with what was found for it.
type Row struct {
	Need
	Level Level `json:"level"`
	// Present: the other side is there.
	Present bool `json:"present"`
	// Types are those that the graph has under this name.
	Types []string `json:"types,omitempty"`
	// Nodes on the other side.
	Nodes []string `json:"nodes,omitempty"`
	// QoS of the other side, in words.
	QoS string `json:"qos,omitempty"`
	// Measured is what came: rate and age of a topic, a parameter's value, a transform's age. Empty where nothing did.
	Measured string `json:"measured,omitempty"`
	// Rate of a topic, Hz; 0 where it was not measured.
	Rate     float64   `json:"rate,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
}

// add notes a problem.
func (r *Row) add(l Level, message, advice string) {
	r.Problems = append(r.Problems, Problem{l, message, advice})
	r.Level = worse(r.Level, l)
}

// Report on a graph.
type Report struct {
	Rows []Row `json:"bindings"`
	// Nodes in sight, but for the one that looked.
	Nodes []string `json:"nodes"`
	// Clock are problems of time.
	Clock []Problem `json:"clock,omitempty"`
	// Simulated: somebody publishes /clock.
	Simulated bool `json:"simulated_time"`
}

// Level is that of the worst row.
func (r Report) Level() Level {
	l := OK
	for i := range r.Rows {
		l = worse(l, r.Rows[i].Level)
	}
	for _, p := range r.Clock {
		l = worse(l, p.Level)
	}
	return l
}

// Found is how many needs of the graph have their other side there, and of how many.
func (r Report) Found() (found, all int) {
	for i := range r.Rows {
		if r.Rows[i].Kind == Inside {
			continue
		}
		all++
		if r.Rows[i].Present {
			found++
		}
	}
	return found, all
}

// Options of a look.
type Options struct {
	// Patience is how long what is missing, and the next messages, are waited for (3 s).
	Patience time.Duration
	// Publish is the quality of service that a topic's commands are published with; nil: the default.
	Publish func(topic string) ros.QoS
}

// settle is how often the graph is asked again, and window how long rates are measured at least.
const (
	settle          = 100 * time.Millisecond
	window          = 1200 * time.Millisecond
	defaultPatience = 3 * time.Second
)

// Look looks for every need. It returns when all of them were found and heard, or when patience or ctx is over. The node must
// be one made for it: its clock follows /clock where that is published.
func Look(ctx context.Context, node ros.Node, needs []Need, o Options) (Report, error) {
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	ctx, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	l := &looker{node: node, needs: needs, options: o, ears: map[string]*ear{}, self: fullName(node), began: time.Now()}
	defer l.close()
	for {
		if err := l.read(); err != nil {
			return Report{}, err
		}
		l.listen()
		if l.satisfied() {
			break
		}
		select {
		case <-ctx.Done():
			if err := l.read(); err != nil {
				return Report{}, err
			}
			return l.report(), nil
		case <-time.After(settle):
		}
	}
	return l.report(), nil
}

func fullName(n ros.Node) string { return path.Join("/", n.Namespace(), n.Name()) }

// looker is one look at a graph.
type looker struct {
	node    ros.Node
	needs   []Need
	options Options
	self    string
	began   time.Time

	topics, services map[string][]string
	nodes            []string
	simulated        bool

	ears  map[string]*ear // by topic
	links *links
	feel  *Senses            // of a glance
	asked map[string]*answer // by parameter
}

// read asks the graph what there is.
func (l *looker) read() (err error) {
	g := l.node.Graph()
	if l.topics, err = g.Topics(); err != nil {
		return fmt.Errorf("survey: %w", err)
	}
	if l.services, err = g.Services(); err != nil {
		return fmt.Errorf("survey: %w", err)
	}
	if l.nodes, err = g.Nodes(); err != nil {
		return fmt.Errorf("survey: %w", err)
	}
	l.nodes = slices.DeleteFunc(l.nodes, func(n string) bool { return n == l.self })
	slices.Sort(l.nodes)
	if l.simulated {
		return nil
	}
	if who, err := g.Publishers("/clock"); err == nil && len(who) > 0 {
		l.simulated = true
		if s, ok := l.node.(ros.SimTimeSetter); ok && !l.node.Clock().Simulated() {
			return s.UseSimTime(true)
		}
	}
	return nil
}

// name is a need's name as the graph has it.
func (l *looker) name(n Need) string {
	full, err := l.node.ResolveName(n.Name)
	if err != nil {
		return n.Name
	}
	return full
}

// listen begins to hear what is there and of the right type, and to ask what can be asked.
func (l *looker) listen() {
	for _, n := range l.needs {
		switch n.Kind {
		case Topic:
			name := l.name(n)
			if e := l.ears[name]; e == nil && slices.Contains(l.topics[name], n.Type) && len(l.others(name)) > 0 {
				l.ears[name] = hear(l.node, name, n.Type)
			}
		case Transform:
			if l.links == nil {
				l.links = follow(l.node)
			}
		case Parameter:
			if l.asked == nil {
				l.asked = map[string]*answer{}
			}
			if l.asked[n.Name] == nil && l.present(n) {
				l.asked[n.Name] = ask(l.node, n.Node, n.Param, l.options.Patience)
			}
		case Publish, Service, Action, Inside:
		}
	}
}

// others are the publishers of a topic that are not this node's.
func (l *looker) others(topic string) []ros.EndpointInfo {
	infos, err := l.node.Graph().Publishers(topic)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(infos, func(i ros.EndpointInfo) bool { return i.Node == l.self })
}

// listeners are the subscriptions of a topic that are not this node's.
func (l *looker) listeners(topic string) []ros.EndpointInfo {
	infos, err := l.node.Graph().Subscriptions(topic)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(infos, func(i ros.EndpointInfo) bool { return i.Node == l.self })
}

// present: the other side is there, whatever its type.
func (l *looker) present(n Need) bool {
	name := l.name(n)
	switch n.Kind {
	case Topic:
		return len(l.others(name)) > 0
	case Publish:
		return len(l.listeners(name)) > 0
	case Service:
		return len(l.services[name]) > 0
	case Action:
		return len(l.services[name+"/_action/send_goal"]) > 0
	case Parameter:
		full, err := l.node.ResolveName(n.Node)
		return err == nil && slices.Contains(l.nodes, full)
	case Transform:
		return l.links != nil && l.links.knows(n.Target, n.Source)
	case Inside:
		return true
	}
	return false
}

// satisfied: nothing more is to be waited for.
func (l *looker) satisfied() bool {
	enough := time.Since(l.began) >= window
	for _, n := range l.needs {
		if !l.present(n) {
			return false
		}
		switch n.Kind {
		case Topic:
			e := l.ears[l.name(n)]
			if e == nil {
				if slices.Contains(l.topics[l.name(n)], n.Type) {
					return false
				}
				continue // of another type: waiting mends nothing
			}
			if !e.heard(n.Once) || n.Period > 0 && !enough {
				return false
			}
		case Transform:
			if _, err := l.links.look(l.node, n); err != nil {
				return false
			}
		case Parameter:
			if a := l.asked[n.Name]; a == nil || !a.done() {
				return false
			}
		case Publish, Service, Action, Inside:
		}
	}
	return true
}

func (l *looker) close() {
	for _, e := range l.ears {
		e.close()
	}
	if l.links != nil {
		l.links.close()
	}
	for _, a := range l.asked {
		a.close()
	}
}

// report judges what was found.
func (l *looker) report() Report {
	r := Report{Nodes: l.nodes, Simulated: l.simulated}
	for _, n := range l.needs {
		r.Rows = append(r.Rows, l.judge(n))
	}
	if l.simulated && !l.node.Clock().Advancing() {
		r.Clock = append(r.Clock, Problem{Warn, "/clock is published and does not advance", "start the simulation, or let it go on"})
	}
	return r
}

// missing collects what a need's type lacks, in words.
func missing(wanted []string, have []string) string {
	var lack []string
	for _, w := range wanted {
		if !slices.Contains(have, w) {
			lack = append(lack, w)
		}
	}
	return strings.Join(lack, ", ")
}

// nodesOf names the nodes of endpoints, each once.
func nodesOf(infos []ros.EndpointInfo) []string {
	names := map[string]bool{}
	for _, i := range infos {
		names[i.Node] = true
	}
	return slices.Sorted(maps.Keys(names))
}
