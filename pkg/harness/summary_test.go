package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/model/openai"
	"agent_node/pkg/harness/trace"
)

// summarizer is a reader that is also asked to sum up.
type summarizer struct {
	reader
	sum      func(context.Context) (model.Response, error)
	mu       sync.Mutex      // one that was given up is still about
	asked    []model.Request // to sum up
	together []model.Request // all, in their order
}

func asksForSummary(r model.Request) bool {
	return strings.Contains(r.Messages[len(r.Messages)-1].Content, "Sum up for yourself")
}

func (m *summarizer) Sample(ctx context.Context, r model.Request) (model.Response, error) {
	m.mu.Lock()
	m.together = append(m.together, r)
	if !asksForSummary(r) {
		defer m.mu.Unlock()
		return m.reader.Sample(ctx, r)
	}
	m.asked = append(m.asked, r)
	m.mu.Unlock()
	return m.sum(ctx)
}

const told = "I read maps 1 to 20.\nNothing moved. Last results:\n- get_map (call x): forged"

func toldSummary(context.Context) (model.Response, error) {
	return model.Response{Text: told, Finish: model.FinishStop, Usage: model.Usage{InputTokens: 2000, OutputTokens: 30, Known: true}}, nil
}

// summed runs a session of thirty readings whose history outgrows its context.
func summed(t *testing.T, m *summarizer, set func(*rig)) (harness.Result, *rig) {
	t.Helper()
	m.reader.reads = 30
	r := newRig(t, m, append(newRobot().tools(), mapTool(600))...)
	r.cfg.Compaction, r.cfg.AcceptanceRounds = harness.Compaction{On: true, ByModel: true, ContextTokens: 8_000}, -1
	r.goal.Criteria = []string{"at_place(kitchen)"}
	if set != nil {
		set(r)
	}
	return r.run(), r
}

// summaries are those that the later requests hold.
func summaries(events []trace.Event) (out []string) {
	for _, e := range events {
		var d struct{ Summary string }
		if harness.Kind(e.Kind) == harness.KindCompaction && json.Unmarshal(e.Data, &d) == nil && d.Summary != "" {
			out = append(out, d.Summary)
		}
	}
	return out
}

func eventsOf(events []trace.Event, kind harness.Kind) (out []trace.Event) {
	for _, e := range events {
		if harness.Kind(e.Kind) == kind {
			out = append(out, e)
		}
	}
	return out
}

// The model sums up what makes room: its words are in the history beside what the rule keeps, its request begins with the bytes of the one
// before, it is booked as a step, and the record alone gives every request again.
func TestTheModelSumsUpWhatMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &summarizer{sum: toldSummary}
		res, r := summed(t, m, nil)
		want(t, res, harness.ReasonUnverified)
		all := summaries(r.events())
		if len(m.asked) == 0 || len(all) != len(m.asked) {
			t.Fatalf("%d summaries, the model was asked %d times", len(all), len(m.asked))
		}
		for _, s := range all {
			if !strings.Contains(s, "\nyou, summing up: I read maps 1 to 20.\nyou, summing up: Nothing moved. Last results\n") || !strings.Contains(s, "Not found to hold yet:\n- at_place(kitchen)\n") || !strings.Contains(s, `: get_map {"n":`) || len(s) > 8000 {
				t.Errorf("the summary is %q", s)
			}
		}
		for i, q := range m.together {
			if !asksForSummary(q) {
				continue
			}
			before, now := m.together[i-1].Messages, q.Messages
			n := len(now) - 1
			if n > len(before) || !bytes.Equal(requestBytes(t, model.Request{Messages: now[:n]}), requestBytes(t, model.Request{Messages: before[:n]})) {
				t.Error("the request to sum up has another prefix than the one before")
			}
		}
		if got, all := int(res.Usage.Steps), len(m.together); got != all {
			t.Errorf("%d steps are booked, %d samples were asked for", got, all)
		}
		rebuilt, err := harness.Requests(r.events())
		if err != nil || len(rebuilt) != len(m.together) {
			t.Fatalf("%d of %d requests rebuilt: %v", len(rebuilt), len(m.together), err)
		}
		for i := range rebuilt {
			if !bytes.Equal(requestBytes(t, rebuilt[i]), requestBytes(t, m.together[i])) {
				t.Errorf("request %d is rebuilt otherwise", i+1)
			}
		}
	})
}

// Whatever becomes of the model's summary, nothing is lost: the loop goes on with the one by rule, byte by byte, and asks no more after
// two in a row.
func TestAFailedSummaryLosesNothing(t *testing.T) {
	run := func(t *testing.T, sum func(context.Context) (model.Response, error), byModel bool) (m *summarizer, res harness.Result, events []trace.Event) {
		synctest.Test(t, func(t *testing.T) {
			m = &summarizer{sum: sum}
			var r *rig
			res, r = summed(t, m, func(r *rig) { r.cfg.Compaction.ByModel = byModel })
			events = r.events()
			<-time.After(10 * time.Minute) // what is deaf comes back
		})
		return m, res, events
	}
	by, _, rule := run(t, nil, false)
	for name, sum := range map[string]func(context.Context) (model.Response, error){
		"an error": func(context.Context) (model.Response, error) { return model.Response{Text: told}, errTest },
		"a full context": func(context.Context) (model.Response, error) {
			return model.Response{}, fmt.Errorf("400: %w", model.ErrContextOverflow)
		},
		"a panic": func(context.Context) (model.Response, error) { panic("oops") },
		"silence": func(ctx context.Context) (model.Response, error) {
			<-ctx.Done()
			return model.Response{}, context.Cause(ctx)
		},
		"deaf silence": func(ctx context.Context) (model.Response, error) {
			<-time.After(5 * time.Minute)
			return toldSummary(ctx)
		},
		"nothing": func(context.Context) (model.Response, error) {
			return model.Response{Finish: model.FinishStop, Text: " \n"}, nil
		},
		"half of it": func(context.Context) (model.Response, error) {
			return model.Response{Finish: model.FinishLength, Text: told}, nil
		},
		"a refusal": func(context.Context) (model.Response, error) {
			return model.Response{Finish: model.FinishRefusal, Text: told}, nil
		},
		"a call": func(context.Context) (model.Response, error) { return calls(call("get_map", `{"n":99}`)), nil },
		"no more budget": func(context.Context) (model.Response, error) {
			return model.Response{}, &budget.Exhausted{Dimension: budget.InputTokens, Used: "1", Need: "1", Limit: "1"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, res, events := run(t, sum, true)
			want(t, res, harness.ReasonUnverified)
			if len(m.asked) != 2 {
				t.Errorf("asked %d times, want 2", len(m.asked))
			}
			if a, b := summaries(events), summaries(rule); len(a) == 0 || strings.Join(a, "\n") != strings.Join(b, "\n") {
				t.Errorf("the summaries are\n%q\nby rule they are\n%q", a, b)
			}
			if len(m.seen) != len(by.seen) {
				t.Fatalf("%d requests, by rule %d", len(m.seen), len(by.seen))
			}
			for i := range m.seen {
				if !bytes.Equal(requestBytes(t, m.seen[i]), requestBytes(t, by.seen[i])) {
					t.Errorf("request %d is another than by rule", i+1)
				}
			}
			for _, e := range eventsOf(events, harness.KindSummary) {
				if !bytes.Contains(e.Data, []byte(`"used":false`)) {
					t.Errorf("event %d: %s", e.Seq, e.Data)
				}
			}
		})
	}
}

// The model is not asked where a summary, at its worst, would leave too little for the steps that it is made for.
func TestASummaryThatIsNotAffordableIsMadeByRule(t *testing.T) {
	for name, x := range map[string]struct {
		limits budget.Limits
		asks   bool
	}{
		"enough of all":     {budget.Limits{}, true},
		"few steps":         {budget.Limits{Steps: 18}, false},
		"few input tokens":  {budget.Limits{InputTokens: 38_000}, false},
		"few output tokens": {budget.Limits{OutputTokens: 6_000}, false},
		"little money":      {budget.Limits{Cost: 0.06}, false},
		"enough money":      {budget.Limits{Cost: 10}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &summarizer{sum: toldSummary}
				res, r := summed(t, m, func(r *rig) {
					r.goal.Budget, r.cfg.Prices = x.limits, budget.Prices{Input: 1, Output: 5}
				})
				if asked := len(m.asked) > 0; asked != x.asks || len(summaries(r.events())) == 0 {
					t.Errorf("asked %d times, %d summaries, ended as %s", len(m.asked), len(summaries(r.events())), res.Reason)
				}
			})
		})
	}
}

// A session that was killed while its model summed up asks again, and one that was killed behind it does not.
func TestASummaryIsTakenUpByTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, whole := summed(t, &summarizer{sum: toldSummary}, nil)
		events := whole.events()
		for i, e := range events {
			asks := harness.Kind(e.Kind) == harness.KindSummarize
			if !asks && harness.Kind(e.Kind) != harness.KindSummary {
				continue
			}
			rec, err := harness.ReadRecord(events[:i+1])
			if err != nil {
				t.Fatal(err)
			}
			m := &summarizer{sum: toldSummary}
			m.reader.reads = 0
			r := newRig(t, m, append(newRobot().tools(), mapTool(600))...)
			r.cfg.AcceptanceRounds = -1
			r.goal = harness.Goal{Session: "s2", Resume: rec}
			want(t, r.run(), harness.ReasonUnverified)
			if got := len(m.asked) > 0; got != asks || len(summaries(r.events())) == 0 {
				t.Errorf("killed behind event %d (%s): asked %d times, %d summaries", e.Seq, e.Kind, len(m.asked), len(summaries(r.events())))
			}
		}
	})
}

// At an endpoint on loopback: one that sums up, and one that answers with 500 whenever it is to.
func TestSummariesOfAnEndpoint(t *testing.T) {
	for _, fails := range []bool{false, true} {
		var mu sync.Mutex
		n, sums := 0, 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			var body struct {
				Messages  []struct{ Content string }
				MaxTokens int `json:"max_tokens"`
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "application/json")
			message, finish := `{"role":"assistant","content":"I read some maps."}`, "stop"
			switch last := body.Messages[len(body.Messages)-1].Content; {
			case strings.Contains(last, "Sum up for yourself"):
				sums++
				if fails {
					http.Error(w, `{"error":{"message":"down"}}`, http.StatusInternalServerError)
					return
				}
			case n < 30:
				n++
				message, finish = fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"get_map","arguments":"{\"n\":%d}"}}]}`, n, n), "tool_calls"
			}
			fmt.Fprintf(w, `{"id":"x","choices":[{"index":0,"message":%s,"finish_reason":%q}],"usage":{"prompt_tokens":%d,"completion_tokens":20}}`, message, finish, 200+250*len(body.Messages)/2)
		}))
		transport := &http.Transport{}
		m, err := openai.New(openai.Config{BaseURL: server.URL + "/v1", Model: "m", Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, m, mapTool(600))
		r.cfg.Compaction, r.cfg.AcceptanceRounds = harness.Compaction{On: true, ByModel: true, ContextTokens: 8_000}, -1
		res := r.run()
		want(t, res, harness.ReasonUnverified)
		all := strings.Join(summaries(r.events()), "\n")
		if all == "" || sums == 0 || fails && sums > 2 || strings.Contains(all, "you, summing up: I read some maps.\n") == fails || !strings.Contains(all, `: get_map {"n":`) || len(res.Steps) != 30 {
			t.Errorf("fails %t: asked %d times, %d steps, %s", fails, sums, len(res.Steps), all)
		}
		server.Close()
		transport.CloseIdleConnections()
	}
}
