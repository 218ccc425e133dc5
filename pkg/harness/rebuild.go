package harness

import (
	"encoding/json"
	"fmt"
	"strings"

	"agent_node/pkg/harness/history"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// Requests rebuilds, from a session's record alone, every request that its model was asked. It is the proof that no
// state hides between the phases, and what a replay starts from.
func Requests(events []trace.Event) ([]model.Request, error) {
	var (
		out      []model.Request
		h, plan  *history.History
		tools    []model.Tool
		response responseData
		images   []model.Image // of the next observation
	)
	for _, e := range events {
		if h == nil && Kind(e.Kind) != KindSession {
			return nil, fmt.Errorf("event %d is %s, a record begins with %s", e.Seq, e.Kind, KindSession)
		}
		var err error
		switch Kind(e.Kind) {
		case KindSession:
			var d struct {
				System string       `json:"system"`
				Task   string       `json:"task"`
				Tools  []model.Tool `json:"tools"`
			}
			if err = json.Unmarshal(e.Data, &d); err == nil {
				h, tools = history.New(d.System, d.Task, d.Tools), d.Tools
				plan = h
			}
		case KindStage:
			var d struct{ Task, System string }
			if err = json.Unmarshal(e.Data, &d); err == nil && d.System != "" {
				h = history.New(d.System, d.Task, tools) // an agent stage has a history of its own
			} else {
				h = plan
			}
		case KindRequest:
			var d struct {
				MaxOutputTokens uint64 `json:"max_output_tokens"`
				Planned         bool   `json:"planned"`
			}
			if err = json.Unmarshal(e.Data, &d); d.Planned {
				h = plan
				break // no model was asked
			}
			r := h.Request()
			r.MaxOutputTokens = d.MaxOutputTokens
			out = append(out, r)
		case KindResponse:
			response = responseData{}
			err = json.Unmarshal(e.Data, &response)
		case KindParsed:
			err = parsedAgain(h, response, e.Data)
		case KindObservation:
			var d struct {
				Tool      string         `json:"tool"`
				Class     string         `json:"class"`
				OK        bool           `json:"ok"`
				ErrorKind tool.ErrorKind `json:"error_kind"`
				Passed    bool           `json:"passed"`
				Content   string         `json:"content"`
			}
			if err = json.Unmarshal(e.Data, &d); err == nil {
				class := tool.Query
				if d.Class == tool.Verify.String() {
					class = tool.Verify
				}
				h.Observation(e.CallID, d.Tool, d.OK, Shown(class, d.OK, d.ErrorKind, d.Passed, d.Content), images...)
				images = nil
			}
		case KindImages:
			var d struct {
				Images []model.Image `json:"images"`
			}
			err = json.Unmarshal(e.Data, &d)
			images = d.Images
		case KindSummarize:
			var d struct {
				Through         int    `json:"through"`
				Words           string `json:"words"`
				MaxOutputTokens uint64 `json:"max_output_tokens"`
			}
			if err = json.Unmarshal(e.Data, &d); err == nil {
				r := h.Summarizing(d.Through, d.Words)
				r.MaxOutputTokens = d.MaxOutputTokens
				out = append(out, r)
			}
		case KindCompaction:
			var c history.Compaction
			if err = json.Unmarshal(e.Data, &c); err == nil {
				err = h.Apply(c)
			}
		case KindNote:
			var d struct {
				Text string `json:"text"`
			}
			if err = json.Unmarshal(e.Data, &d); err == nil {
				h.Note(d.Text)
			}
		default: // nothing that a model was shown
		}
		if err != nil {
			return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
		}
	}
	return out, nil
}

type responseData struct {
	Text  string       `json:"text"`
	Calls []model.Call `json:"calls"`
}

// parsedAgain appends an answer as parse did.
func parsedAgain(h *history.History, r responseData, data json.RawMessage) error {
	var d struct {
		Use   string `json:"use"`
		Calls []struct {
			ID string `json:"call_id"`
		} `json:"calls"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return err
	}
	switch d.Use {
	case useCalls:
		if len(d.Calls) != len(r.Calls) {
			return fmt.Errorf("%d calls are parsed, %d were answered", len(d.Calls), len(r.Calls))
		}
		for i := range r.Calls {
			r.Calls[i].ID = d.Calls[i].ID
		}
		h.Assistant(r.Text, r.Calls)
	case useAnswer:
		h.Assistant(r.Text, nil)
	case useUnusable:
		h.Assistant(wordsOf(r.Text), nil)
	}
	return nil
}

// wordsOf an unusable answer: endpoints refuse an assistant's message without content.
func wordsOf(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no usable answer)"
	}
	return text
}
