package rosout

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
)

// entry is one record on its way out.
type entry struct {
	time  time.Time
	level slog.Level
	name  string
	text  string
	pc    uintptr
	// dropped is how many entries were lost before this one.
	dropped int
}

// severity is rcl_interfaces/msg/Log's level and its name.
func severity(l slog.Level) (uint8, string) {
	switch {
	case l < slog.LevelInfo:
		return 10, "DEBUG"
	case l < slog.LevelWarn:
		return 20, "INFO"
	case l < slog.LevelError:
		return 30, "WARN"
	case l < args.LevelFatal:
		return 40, "ERROR"
	default:
		return 50, "FATAL"
	}
}

// writeLine prints as rcutils does: [LEVEL] [stamp] [logger]: message.
func writeLine(w io.Writer, e *entry) {
	b := make([]byte, 0, 128)
	if e.dropped > 0 {
		b = fmt.Appendf(b, "[WARN] [%s] [rosout]: %d messages were lost here: the console is too slow\n", stamp(e.time), e.dropped)
	}
	_, level := severity(e.level)
	b = fmt.Appendf(b, "[%s] [%s] [%s]: %s\n", level, stamp(e.time), e.name, e.text)
	// There is nobody to tell that the console cannot be written to.
	_, _ = w.Write(b)
}

func stamp(t time.Time) string {
	return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond())
}

// publish sends one entry on /rosout.
func (o *output) publish(e *entry) {
	o.busy.Store(true)
	defer o.busy.Store(false)
	pub := *o.pub.Load()
	m := ros.New(pub.Type())
	level, _ := severity(e.level)
	text := e.text
	if e.dropped > 0 {
		text = fmt.Sprintf("(%d messages before this one were lost) %s", e.dropped, text)
	}
	name, at := e.name, "stamp"
	if pub.Type().Name == ros1Log {
		// ROS 1 writes the logger as a node's name, and the levels as powers of two: 1, 2, 4, 8, 16.
		level, name, at = 1<<(level/10-1), "/"+strings.ReplaceAll(name, ".", "/"), "header.stamp"
	}
	m.With("level", level).With("name", name).With("msg", text).SetStamp(at, ros.TimeFrom(e.time))
	if e.pc != 0 {
		f, _ := runtime.CallersFrames([]uintptr{e.pc}).Next()
		m.With("file", f.File).With("function", f.Function).With("line", uint32(f.Line))
	}
	// The console has the record already; an error here has nowhere else to go.
	_ = pub.Publish(m)
}

// calledFromPublish looks for publish among the callers.
func calledFromPublish() bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "rosout.(*output).publish") {
			return true
		}
		if !more {
			return false
		}
	}
}

// appendAttr prints an attribute as key=value.
func appendAttr(b *strings.Builder, group string, a slog.Attr) {
	a.Value = a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return
	}
	if a.Value.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, sub := range a.Value.Group() {
			appendAttr(b, group, sub)
		}
		return
	}
	v := a.Value.String()
	if v == "" || strings.ContainsAny(v, " =\"\n\t") {
		v = strconv.Quote(v)
	}
	b.WriteString(" " + group + a.Key + "=" + v)
}
