package ros1

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"agent_node/pkg/ros"
)

// ROS 1's primitives of time are messages in this house.
const (
	timeName     = "builtin_interfaces/msg/Time"
	durationName = "builtin_interfaces/msg/Duration"
)

// wire is what a type is on a ROS 1 connection.
type wire struct {
	typ        *ros.Type
	name       string // std_msgs/String
	md5        string
	definition string // as connection headers carry it
	size       int    // the fewest bytes that a message takes
	bounded    bool   // it has bounds, which ROS 1's wire does not know
}

// serviceWire is what a service type is on a ROS 1 connection.
type serviceWire struct {
	typ               *ros.ServiceType
	name, md5         string
	request, response *wire
}

// wires computes them, once for each type.
type wires struct {
	mu       sync.Mutex
	messages map[*ros.Type]*wire
}

func newWires() *wires { return &wires{messages: make(map[*ros.Type]*wire)} }

func (w *wires) message(t *ros.Type) *wire {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.of(t)
}

func (w *wires) service(t *ros.ServiceType) *serviceWire {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := md5.New()
	sum.Write([]byte(w.sumText(t.Request)))
	sum.Write([]byte(w.sumText(t.Response)))
	return &serviceWire{
		typ: t, name: wireName(t.Name), md5: hex.EncodeToString(sum.Sum(nil)),
		request: w.of(t.Request), response: w.of(t.Response),
	}
}

// of is called with mu held.
func (w *wires) of(t *ros.Type) *wire {
	if x, ok := w.messages[t]; ok {
		return x
	}
	sum := md5.Sum([]byte(w.sumText(t)))
	x := &wire{typ: t, name: wireName(t.Name), md5: hex.EncodeToString(sum[:])}
	for i := range t.Fields {
		f := &t.Fields[i]
		x.bounded = x.bounded || f.Array == ros.BoundedSequence || f.StringBound > 0
		if f.Kind == ros.KindMessage {
			x.bounded = x.bounded || w.of(f.Type).bounded
		}
		x.size += w.sizeOf(f)
	}
	x.definition = w.definitionOf(t)
	w.messages[t] = x
	return x
}

// sizeOf is the fewest bytes of a field.
func (w *wires) sizeOf(f *ros.Field) int {
	one := 4 // of a string or a sequence, its length
	switch f.Array {
	case ros.BoundedSequence, ros.UnboundedSequence:
		return one
	case ros.Single, ros.FixedArray:
	}
	switch f.Kind {
	case ros.KindMessage:
		one = w.of(f.Type).size
	case ros.KindString, ros.KindWString, ros.KindInvalid:
	default:
		one = width(f.Kind)
	}
	if f.Array == ros.FixedArray {
		return f.Size * one
	}
	return one
}

// width of a number in bytes.
func width(k ros.Kind) int {
	switch k {
	case ros.KindInt16, ros.KindUint16:
		return 2
	case ros.KindInt32, ros.KindUint32, ros.KindFloat32:
		return 4
	case ros.KindInt64, ros.KindUint64, ros.KindFloat64:
		return 8
	default:
		return 1
	}
}

// sumText is the text whose MD5 identifies a type: its constants, then its fields, with the sum of a nested type for its name.
func (w *wires) sumText(t *ros.Type) string {
	var lines []string
	for _, c := range t.Constants {
		lines = append(lines, constantText(c))
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		name := primitiveText(f)
		if name == "" {
			name = w.of(f.Type).md5
		}
		lines = append(lines, name+" "+f.Name)
	}
	return strings.Join(lines, "\n")
}

// constantText is a constant as ROS 1 writes it; its strings have no quotes.
func constantText(c ros.Constant) string {
	text := c.Text
	if s, ok := c.Value.(string); ok {
		text = s
	}
	return fmt.Sprintf("%s %s=%s", kindName(c.Kind), c.Name, text)
}

// kindName is a primitive in ROS 1's words: one kind of text, encoded in UTF-8.
func kindName(k ros.Kind) string {
	if k == ros.KindWString {
		return "string"
	}
	return k.String()
}

// primitiveText is a field's type where that is a primitive of ROS 1, or empty.
func primitiveText(f *ros.Field) string {
	name := kindName(f.Kind)
	if f.Kind == ros.KindMessage {
		switch f.Type.Name {
		case timeName:
			name = "time"
		case durationName:
			name = "duration"
		default:
			return ""
		}
	}
	return name + arrayText(f)
}

func arrayText(f *ros.Field) string {
	switch f.Array {
	case ros.FixedArray:
		return fmt.Sprintf("[%d]", f.Size)
	case ros.BoundedSequence, ros.UnboundedSequence:
		return "[]"
	case ros.Single:
	}
	return ""
}

// definitionOf is the definition with those of all nested types behind it, as rosbag and rostopic read it.
func (w *wires) definitionOf(t *ros.Type) string {
	var b strings.Builder
	done := []*ros.Type{t}
	for i := 0; i < len(done); i++ {
		if i > 0 {
			fmt.Fprintf(&b, "%s\nMSG: %s\n", strings.Repeat("=", 80), wireName(done[i].Name))
		}
		for _, c := range done[i].Constants {
			b.WriteString(constantText(c) + "\n")
		}
		for j := range done[i].Fields {
			f := &done[i].Fields[j]
			name := primitiveText(f)
			if name == "" {
				name = wireName(f.Type.Name) + arrayText(f)
				if !slices.Contains(done, f.Type) {
					done = append(done, f.Type)
				}
			}
			b.WriteString(name + " " + f.Name + "\n")
		}
	}
	return b.String()
}

// wireName is a type's name in ROS 1: std_msgs/String for std_msgs/msg/String, std_srvs/TriggerRequest for
// std_srvs/srv/Trigger_Request, move_base_msgs/MoveBaseGoal for move_base_msgs/action/MoveBase_Goal.
func wireName(name string) string {
	pkg, rest, ok := strings.Cut(name, "/")
	if !ok {
		return name
	}
	kind, base, ok := strings.Cut(rest, "/")
	if !ok {
		return name
	}
	if kind != "msg" {
		base = strings.ReplaceAll(base, "_", "")
	}
	return pkg + "/" + base
}

// houseName is a message's or service's name (kind msg or srv) in this house. What is no name, such as *, is empty.
func houseName(kind, name string) string {
	pkg, base, ok := strings.Cut(name, "/")
	if !ok || pkg == "" || base == "" {
		return ""
	}
	return pkg + "/" + kind + "/" + base
}
