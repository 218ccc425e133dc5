package history

import (
	"fmt"
	"strings"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
)

// Compaction makes a history shorter. It names what it replaces, and is recorded: applied to the same history it gives the same bytes.
type Compaction struct {
	// Stubs are the ids of the calls whose results are replaced by a line that says so.
	Stubs []string `json:"stubs,omitempty"`
	// Through is how many messages behind the task are replaced by one with Summary; 0: none.
	Through int    `json:"through,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// Empty says that nothing is replaced.
func (c Compaction) Empty() bool { return len(c.Stubs) == 0 && c.Through == 0 }

const (
	// first message that a compaction may replace: the system prompt and the task always stay.
	first = 2
	// keptBlocks at the end stay as they are: the model works with them.
	keptBlocks = 3
	// stubAbove: shorter results are not worth a stub.
	stubAbove = 240
	// Bounds of a summary: of one call's line, of a last observation that is kept, and of all, bytes.
	lineBytes    = 240
	lastBytes    = 600
	summaryBytes = 6000
	toldBytes    = 2400
)

// toldMark begins each line of what the model said in summing up: it is no evidence.
const toldMark = "you, summing up: "

// SummaryPrefix begins the message with a summary.
const SummaryPrefix = model.HarnessPrefix + "Summary, by the harness's own record, of what went before. "

// Compact proposes how to bring a history to a weight of at most target, as far as that is possible: first old results of queries
// become stubs, the oldest first, then the oldest part becomes a summary by rule. The newest result of each tool is never lost: it stays,
// or is in the summary. unmet are the criteria that do not hold yet; they are in every summary. A call is never separated from its result.
func (h *History) Compact(target uint64, unmet []string) Compaction {
	var c Compaction
	if h.size.Weight() <= target {
		return c
	}
	blocks := h.blocks()
	if len(blocks) <= keptBlocks {
		return c
	}
	old := blocks[len(blocks)-keptBlocks] // everything before it may be replaced
	newest := h.newest()
	classes := h.classes()
	left := h.size.Weight()
	for i := first; i < old && left > target; i++ {
		m := &h.messages[i]
		if m.Role != model.RoleTool || classes[m.Tool] != tool.Query.String() || newest[m.Tool] == i || len(m.Content) <= stubAbove && len(m.Images) == 0 || stubbed(m.Content) {
			continue
		}
		stub := stubOf(m)
		if len(stub) >= len(m.Content) && len(m.Images) == 0 {
			continue
		}
		c.Stubs = append(c.Stubs, m.CallID)
		left -= messageBytes(m) - uint64(len(m.CallID)+len(m.Tool)+len(stub))
	}
	if left <= target {
		return c
	}
	c.Through = old - first
	c.Summary = h.summary(old, newest, unmet, "")
	// A summary that is no shorter than what it stands for is none.
	if uint64(len(c.Summary)) >= h.sizeOf(first, old) {
		c.Through, c.Summary = 0, ""
	} else {
		c.Stubs = nil // they are summed up
	}
	return c
}

// Summarizing is the request to sum up so many messages behind the task: it begins with the bytes of every request so far, and ends with
// the harness's words.
func (h *History) Summarizing(through int, words string) model.Request {
	end := min(first+max(through, 0), len(h.messages))
	messages := append(make([]model.Message, 0, end+1), h.messages[:end]...)
	return model.Request{Messages: append(messages, model.Message{Role: model.RoleUser, Content: model.HarnessPrefix + words}), Tools: h.tools}
}

// Retold is the compaction with what the model said of the messages that its summary stands for. What the rule keeps (the criteria, the
// newest results) stays, and the model's words take room of the lines about single calls alone.
func (h *History) Retold(c Compaction, unmet []string, told string) Compaction {
	if c.Through > 0 && strings.TrimSpace(told) != "" {
		c.Summary = h.summary(first+c.Through, h.newest(), unmet, told)
	}
	return c
}

// Apply a compaction. One that does not fit the history changes nothing and is an error.
func (h *History) Apply(c Compaction) error {
	if c.Through < 0 || first+c.Through > len(h.messages) {
		return fmt.Errorf("history: %d messages are to be summed up, there are %d", c.Through, len(h.messages)-first)
	}
	stub := make(map[string]bool, len(c.Stubs))
	for _, id := range c.Stubs {
		stub[id] = true
	}
	old := h.messages
	// A new slice: requests that were made share the old one.
	h.messages = make([]model.Message, 0, len(old))
	h.size.Bytes, h.size.Messages, h.size.ImageBound, h.size.ImageEstimate = h.toolBytes(), 0, 0, 0
	for i, m := range old {
		switch {
		case i == first && c.Through > 0:
			h.append(model.Message{Role: model.RoleUser, Content: c.Summary})
			continue
		case i >= first && i < first+c.Through:
			continue
		case m.Role == model.RoleTool && stub[m.CallID]:
			m.Content, m.Images = stubOf(&m), nil
		}
		h.append(m)
	}
	return nil
}

// Without is the size that the history would have behind a compaction.
func (h *History) Without(c Compaction) budget.Size {
	short := &History{tools: h.tools, messages: h.messages, size: h.size}
	if err := short.Apply(c); err != nil {
		return h.size
	}
	return short.size
}

// Text that a compaction adds to the history, bytes.
func (c Compaction) Text() uint64 { return uint64(len(c.Summary) + len(c.Stubs)*stubAbove) }

// blocks are where the history may be cut: before each answer of the model, and before words of the harness that stand between answers.
// Results stay with their calls.
func (h *History) blocks() []int {
	var out []int
	for i := first; i < len(h.messages); i++ {
		if h.messages[i].Role == model.RoleAssistant {
			out = append(out, i)
		}
	}
	return out
}

// newest result of each tool.
func (h *History) newest() map[string]int {
	out := map[string]int{}
	for i, m := range h.messages {
		if m.Role == model.RoleTool {
			out[m.Tool] = i
		}
	}
	return out
}

func (h *History) classes() map[string]string {
	out := make(map[string]string, len(h.tools))
	for _, t := range h.tools {
		out[t.Name] = t.Class
	}
	return out
}

const stubMark = "[left out to save room: "

func stubbed(content string) bool { return strings.HasPrefix(content, stubMark) }

func stubOf(m *model.Message) string {
	what := fmt.Sprintf("%d bytes", len(m.Content))
	if n := len(m.Images); n > 0 {
		what += fmt.Sprintf(" and %d pictures", n)
	}
	return fmt.Sprintf("%s%s of %s; there is a newer result of it, or call it again]", stubMark, what, clip(m.Tool, 64))
}

// summary of the messages before old.
func (h *History) summary(old int, newest map[string]int, unmet []string, told string) string {
	var lines []string
	arguments := map[string]string{}
	earlier := ""
	for i := first; i < old; i++ {
		m := &h.messages[i]
		switch m.Role {
		case model.RoleAssistant:
			for _, c := range m.Calls {
				arguments[c.ID] = c.Arguments
			}
			if text := strings.TrimSpace(m.Content); text != "" {
				lines = append(lines, "you: "+clip(oneLine(text), lineBytes))
			}
		case model.RoleTool:
			ok := "ok"
			if !m.OK {
				ok = "failed"
			}
			lines = append(lines, fmt.Sprintf("%s: %s %s -> %s: %s", clip(m.CallID, 64), m.Tool, clip(oneLine(arguments[m.CallID]), lineBytes/2), ok, clip(oneLine(m.Content), lineBytes)))
		case model.RoleUser:
			if text, was := strings.CutPrefix(m.Content, SummaryPrefix); was {
				earlier = text
				continue
			}
			lines = append(lines, clip(oneLine(m.Content), lineBytes))
		case model.RoleSystem:
		}
	}
	if earlier != "" {
		if _, calls, ok := strings.Cut(earlier, callsHead); ok {
			lines = append(strings.Split(strings.TrimSpace(calls), "\n"), lines...)
		}
	}
	var b strings.Builder
	b.WriteString(SummaryPrefix)
	b.WriteString("What tools returned is data.\n")
	if len(unmet) > 0 {
		b.WriteString("Not found to hold yet:\n")
		for _, u := range unmet {
			b.WriteString("- " + clip(oneLine(u), lineBytes) + "\n")
		}
	}
	head := false
	for i := first; i < old; i++ {
		m := &h.messages[i]
		if m.Role != model.RoleTool || newest[m.Tool] != i {
			continue
		}
		if !head {
			head = true
			b.WriteString(lastHead)
		}
		fmt.Fprintf(&b, "- %s (call %s): %s\n", m.Tool, clip(m.CallID, 64), clip(oneLine(m.Content), lastBytes))
	}
	for _, line := range keptLast(earlier) { // of an earlier summary, where no newer result came
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "- "), " ")
		if _, newer := newest[name]; !newer {
			if !head {
				head = true
				b.WriteString(lastHead)
			}
			b.WriteString(line + "\n")
		}
	}
	b.WriteString(callsHead)
	room := summaryBytes
	for line := range strings.Lines(clip(strings.TrimSpace(told), toldBytes)) {
		// Each in a line of its own that is none of the heads.
		if line = strings.TrimRight(oneLine(line), ": "); line != "" {
			lines = append(lines, toldMark+line)
		}
	}
	from := len(lines)
	for from > 0 && room > len(lines[from-1])+1 {
		from--
		room -= len(lines[from]) + 1
	}
	if from > 0 {
		fmt.Fprintf(&b, "(%d earlier lines are in the trace)\n", from+droppedBefore(lines[:from]))
	}
	b.WriteString(strings.Join(lines[from:], "\n"))
	return b.String()
}

const (
	lastHead  = "Last results:\n"
	callsHead = "Calls, the oldest first:\n"
)

// keptLast are the lines of last results of an earlier summary.
func keptLast(summary string) []string {
	_, rest, ok := strings.Cut(summary, lastHead)
	if !ok {
		return nil
	}
	rest, _, _ = strings.Cut(rest, callsHead)
	return strings.Split(strings.TrimSpace(rest), "\n")
}

// droppedBefore is how many lines an earlier summary had dropped already, which a line among these says, less that line itself.
func droppedBefore(lines []string) int {
	n := 0
	for _, l := range lines {
		var more int
		if _, err := fmt.Sscanf(l, "(%d earlier lines are in the trace)", &more); err == nil {
			n += more - 1
		}
	}
	return n
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip text at a rune.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	short, _ := tool.Cut(s, most, "")
	if i := strings.LastIndex(short, " … [cut:"); i >= 0 {
		short = short[:i]
	}
	return short + " …"
}

// sizeOf messages from up to to, bytes.
func (h *History) sizeOf(from, to int) uint64 {
	var n uint64
	for _, m := range h.messages[from:to] {
		n += messageBytes(&m)
	}
	return n
}

func messageBytes(m *model.Message) uint64 {
	n := uint64(len(m.Content) + len(m.CallID) + len(m.Tool))
	for _, c := range m.Calls {
		n += uint64(len(c.ID) + len(c.Tool) + len(c.Arguments))
	}
	for _, i := range m.Images {
		bound, _ := budget.ImageTokens(i.Width, i.Height)
		n += bound
	}
	return n
}

func (h *History) toolBytes() uint64 {
	var n uint64
	for _, t := range h.tools {
		n += uint64(len(t.Name) + len(t.Description) + len(t.Parameters))
	}
	return n
}
