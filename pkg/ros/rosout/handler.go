package rosout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
)

// Attributes that name the logger instead of being printed: the node's fully
// qualified name, and a component of it. A logger of node /robot/agent_node with component
// guard is robot.agent_node.guard.
const (
	NodeKey   = "node"
	LoggerKey = "logger"
)

// kept is how many records wait for the console, for /rosout, or for a node to be attached.
const kept = 1000

// Config says what is logged where.
type Config struct {
	// Name of the logger until the attribute NodeKey tells the node's.
	Name string
	// Level is the lowest level that is logged; Levels those of single loggers and all below them, by name.
	Level  slog.Level
	Levels map[string]slog.Level
	// Console is where the lines go: nil for stderr.
	Console   io.Writer
	NoConsole bool
	NoRosout  bool
}

// FromArgs is what a command line asks for.
func FromArgs(a *args.Args) Config {
	c := Config{Levels: a.Loggers, NoConsole: a.NoStdout, NoRosout: a.NoRosout}
	if a.LogLevel != nil {
		c.Level = *a.LogLevel
	}
	return c
}

// Handler is a slog.Handler. Handlers derived from it by slog's With and WithGroup share its outputs and levels.
type Handler struct {
	out    *output
	name   string
	suffix string // attributes, formatted
	group  string // "a.b."
}

// output is what all derived handlers share.
type output struct {
	levels  *levels
	console *pump
	topic   *pump // nil without /rosout
	pub     atomic.Pointer[ros.Publisher]
	busy    atomic.Bool // the topic's pump is publishing
}

// New makes a handler. What is logged before Attach is published then.
func New(cfg Config) *Handler {
	o := &output{levels: newLevels(cfg.Level, cfg.Levels)}
	if !cfg.NoConsole {
		w := cfg.Console
		if w == nil {
			w = os.Stderr
		}
		o.console = newPump(func(e *entry) { writeLine(w, e) })
		o.console.start()
	}
	if !cfg.NoRosout {
		o.topic = newPump(o.publish)
	}
	return &Handler{out: o, name: cfg.Name}
}

// ros1Log is the log's type in ROS 1.
const ros1Log = "rosgraph_msgs/msg/Log"

// QoS of /rosout, as ROS client libraries have it.
func QoS() ros.QoS {
	return ros.QoS{Depth: kept, Durability: ros.TransientLocal, Lifespan: 10 * time.Second}
}

// Attach makes the node publish the log on /rosout. Without /rosout it does nothing.
func (h *Handler) Attach(node ros.Node) error {
	if h.out.topic == nil {
		return nil
	}
	typeName := "rcl_interfaces/msg/Log"
	if _, err := node.Types().Message(ros1Log); err == nil {
		typeName = ros1Log // only ROS 1 has it
	}
	pub, err := node.CreatePublisher("/rosout", typeName, QoS())
	if err != nil {
		return err
	}
	if !h.out.pub.CompareAndSwap(nil, &pub) {
		return errors.Join(fmt.Errorf("rosout: attached to a node already"), pub.Close())
	}
	h.out.topic.start()
	return nil
}

// Close publishes and prints what waits, for as long as ctx lasts, and ends the publishing. The
// console goes on.
func (h *Handler) Close(ctx context.Context) error {
	var errs []error
	if t := h.out.topic; t != nil {
		if pub := h.out.pub.Load(); pub != nil {
			errs = append(errs, t.flush(ctx))
			t.stop()
			errs = append(errs, (*pub).Close())
		} else {
			t.stop()
		}
	}
	if c := h.out.console; c != nil {
		errs = append(errs, c.flush(ctx))
	}
	return errors.Join(errs...)
}

// Name is the logger's name.
func (h *Handler) Name() string { return h.name }

// SetLevel sets the lowest level of a logger and all below it that have none of their own;
// the empty name is that of all.
func (h *Handler) SetLevel(logger string, l slog.Level) { h.out.levels.set(logger, l) }

// Level is the lowest level that the named logger logs.
func (h *Handler) Level(logger string) slog.Level { return h.out.levels.of(logger) }

// Enabled reports whether the logger logs that level.
func (h *Handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.out.levels.of(h.name) }

// Handle takes one record. It does not wait; its error is always nil.
func (h *Handler) Handle(_ context.Context, r slog.Record) error {
	name := h.name
	var b strings.Builder
	b.WriteString(r.Message)
	b.WriteString(h.suffix)
	r.Attrs(func(a slog.Attr) bool {
		if sub, ok := childName(name, h.group, a); ok {
			name = sub
		} else {
			appendAttr(&b, h.group, a)
		}
		return true
	})
	if name != h.name && r.Level < h.out.levels.of(name) {
		return nil
	}
	e := &entry{time: r.Time, level: r.Level, name: name, text: b.String(), pc: r.PC}
	if h.out.console != nil {
		h.out.console.push(e)
	}
	// What publishing itself logs must not be published again.
	if h.out.topic != nil && !(h.out.busy.Load() && calledFromPublish()) {
		h.out.topic.push(e)
	}
	return nil
}

// WithAttrs adds attributes.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	n := *h
	var b strings.Builder
	b.WriteString(h.suffix)
	for _, a := range attrs {
		if sub, ok := childName(n.name, h.group, a); ok {
			n.name = sub
		} else {
			appendAttr(&b, h.group, a)
		}
	}
	n.suffix = b.String()
	return &n
}

// WithGroup puts what follows below a name.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	n := *h
	n.group += name + "."
	return &n
}

// childName is the logger's name after an attribute that names it.
func childName(name, group string, a slog.Attr) (string, bool) {
	if group != "" || a.Value.Kind() != slog.KindString {
		return name, false
	}
	switch v := a.Value.String(); a.Key {
	case NodeKey:
		return strings.ReplaceAll(strings.TrimPrefix(v, "/"), "/", "."), true
	case LoggerKey:
		if name == "" {
			return v, true
		}
		return name + "." + v, true
	}
	return name, false
}

// levels are thresholds by logger name. The map is replaced, never changed: reading takes no lock.
type levels struct {
	m atomic.Pointer[map[string]slog.Level]
}

func newLevels(all slog.Level, single map[string]slog.Level) *levels {
	m := map[string]slog.Level{"": all}
	for name, l := range single {
		m[strings.ReplaceAll(strings.TrimPrefix(name, "/"), "/", ".")] = l
	}
	l := &levels{}
	l.m.Store(&m)
	return l
}

func (l *levels) set(name string, level slog.Level) {
	for {
		old := l.m.Load()
		m := make(map[string]slog.Level, len(*old)+1)
		for k, v := range *old {
			m[k] = v
		}
		m[name] = level
		if l.m.CompareAndSwap(old, &m) {
			return
		}
	}
}

func (l *levels) of(name string) slog.Level {
	m := *l.m.Load()
	if len(m) == 1 {
		return m[""]
	}
	for {
		if v, ok := m[name]; ok {
			return v
		}
		name = name[:max(0, strings.LastIndexByte(name, '.'))]
	}
}

// Names lists the loggers that have a level of their own.
func (h *Handler) Names() []string {
	var out []string
	for name := range *h.out.levels.m.Load() {
		if name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
