package digest

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"agent_node/pkg/ros"
)

// Default is how many bytes of JSON a digest may become where nothing else is said.
const Default = 6000

// detail is how much of a message is told.
type detail struct {
	elements int // of an array of values; longer ones become statistics
	messages int // of an array of messages
	text     int // bytes of a string
	picture  int // columns of a thumbnail; 0: none
}

// steps from all to next to nothing. Special types are digested at every one of them.
var steps = []detail{
	{1 << 30, 1 << 30, 1 << 30, 32},
	{64, 32, 4000, 32},
	{32, 16, 1000, 24},
	{16, 6, 300, 24},
	{8, 3, 120, 16},
	{4, 1, 60, 0},
	{0, 0, 30, 0},
}

// Of is the digest of a message as plain values (maps, slices, strings, numbers, bools) that become about at most limit bytes of
// JSON. whole says that nothing was left out; the values are then the message's own, as [ros.Message.Map] gives them.
func Of(m *ros.Message, limit int) (value any, whole bool) {
	if limit <= 0 {
		limit = Default
	}
	for i, d := range steps {
		if i == 0 && weight(m) > limit {
			continue // not even tried: it may be megabytes
		}
		w := writer{detail: d}
		v := w.message(m)
		if Size(v) <= limit {
			return v, i == 0 && !w.cut
		}
	}
	var names []string
	for i := range m.Type.Fields {
		names = append(names, m.Type.Fields[i].Name)
	}
	return map[string]any{"type": m.Type.Name, "fields": names, "note": fmt.Sprintf("too large to be told in %d bytes", limit)}, false
}

// weight is a lower bound of the bytes that a message becomes.
func weight(m *ros.Message) int {
	n := 2
	for i, v := range m.Values {
		n += len(m.Type.Fields[i].Name) + 4
		switch x := v.(type) {
		case string:
			n += len(x)
		case *ros.Message:
			n += weight(x)
		case []*ros.Message:
			for _, e := range x {
				n += weight(e)
			}
		default:
			n += 2 * length(v)
		}
	}
	return n
}

// writer makes plain values of one detail.
type writer struct {
	detail
	cut bool // something was left out
}

func (w *writer) message(m *ros.Message) any {
	if v := w.special(m); v != nil {
		w.cut = true
		return v
	}
	out := make(map[string]any, len(m.Values))
	for i, v := range m.Values {
		f := &m.Type.Fields[i]
		out[f.Name] = w.field(f, v)
	}
	return out
}

func (w *writer) field(f *ros.Field, v any) any {
	switch x := v.(type) {
	case *ros.Message:
		return w.message(x)
	case []*ros.Message:
		return w.messages(x)
	case string:
		return w.string(x)
	case []string:
		return w.strings(x)
	}
	if f.Array == ros.Single {
		return ros.Widen(v)
	}
	if n := length(v); n <= w.elements {
		if b, ok := v.([]uint8); ok { // as numbers: nobody reads base64
			return numbersOf(b)
		}
		return ros.Widen(v)
	}
	w.cut = true
	return w.statistics(f, v)
}

func (w *writer) messages(list []*ros.Message) any {
	out := make([]any, 0, min(len(list), w.elements))
	for i, m := range list {
		if i == w.detail.messages {
			w.cut = true
			return map[string]any{"count": len(list), "first": out}
		}
		out = append(out, w.message(m))
	}
	return out
}

func (w *writer) string(s string) string {
	if len(s) <= w.text {
		return s
	}
	w.cut = true
	end := w.text
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:end], len(s))
}

func (w *writer) strings(list []string) any {
	short := make([]string, 0, len(list))
	for i, s := range list {
		if i >= w.elements {
			w.cut = true
			return map[string]any{"count": len(list), "first": short}
		}
		short = append(short, w.string(s))
	}
	return short
}

// numbersOf bytes as numbers.
func numbersOf(b []uint8) []int64 {
	out := make([]int64, len(b))
	for i, x := range b {
		out[i] = int64(x)
	}
	return out
}

// Size is how many bytes of JSON plain values become, or a little more.
func Size(v any) int {
	switch x := v.(type) {
	case nil:
		return 4
	case bool:
		return 5
	case string:
		return len(strconv.Quote(x))
	case int64:
		return len(strconv.FormatInt(x, 10))
	case int:
		return len(strconv.Itoa(x))
	case uint64:
		return len(strconv.FormatUint(x, 10))
	case float64:
		return len(strconv.FormatFloat(x, 'g', -1, 64)) + 2
	case map[string]any:
		n := 2
		for k, e := range x {
			n += len(k) + 4 + Size(e)
		}
		return n
	case []any:
		return sizeOf(x)
	case []float64:
		return sizeOf(x)
	case []int64:
		return sizeOf(x)
	case []uint64:
		return sizeOf(x)
	case []string:
		return sizeOf(x)
	case []bool:
		return sizeOf(x)
	case []byte:
		return 2 + 4*len(x)
	}
	return 24
}

func sizeOf[T any](list []T) int {
	n := 2
	for _, e := range list {
		n += Size(e) + 1
	}
	return n
}
