package export

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"agent_node/pkg/harness/trace"
)

// Topics of an MCAP export.
const (
	TopicTrace = "/agent_node/trace" // every event
	TopicLog   = "/agent_node/log"   // foxglove.Log: an event in one line
	TopicState = "/agent_node/state" // state and phase at each transition
)

const traceSchema = `{"type":"object","properties":{"seq":{"type":"integer"},"time":{"type":"string","format":"date-time"},"session":{"type":"string"},` +
	`"kind":{"type":"string"},"call_id":{"type":"string"},"phase":{"type":"string"},"state":{"type":"string"},"data":{"type":"object"},"prev":{"type":"string"},"hash":{"type":"string"}}}`

// logSchema is foxglove.Log as Foxglove publishes it.
const logSchema = `{"title":"foxglove.Log","description":"A log message","type":"object","properties":{` +
	`"timestamp":{"type":"object","title":"time","properties":{"sec":{"type":"integer","minimum":0},"nsec":{"type":"integer","minimum":0,"maximum":999999999}}},` +
	`"level":{"title":"foxglove.LogLevel","oneOf":[{"title":"UNKNOWN","const":0},{"title":"DEBUG","const":1},{"title":"INFO","const":2},{"title":"WARNING","const":3},{"title":"ERROR","const":4},{"title":"FATAL","const":5}]},` +
	`"message":{"type":"string"},"name":{"type":"string"},"file":{"type":"string"},"line":{"type":"integer","minimum":0}}}`

const stateSchema = `{"type":"object","properties":{"state":{"type":"string"},"phase":{"type":"string"}}}`

// Levels of foxglove.Log.
const (
	levelDebug   = 1
	levelInfo    = 2
	levelWarning = 3
	levelError   = 4
)

// MCAP writes the events of one session.
func MCAP(out io.Writer, events []trace.Event) (err error) {
	w, err := mcap.NewWriter(out, &mcap.WriterOptions{Chunked: true, IncludeCRC: true, Compression: mcap.CompressionZSTD})
	if err != nil {
		return fmt.Errorf("mcap: %w", err)
	}
	defer func() {
		if cerr := w.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("mcap: %w", cerr)
		}
	}()
	if err := w.WriteHeader(&mcap.Header{Library: "agent_node"}); err != nil {
		return fmt.Errorf("mcap: %w", err)
	}
	for i, c := range []struct{ topic, schema, text string }{
		{TopicTrace, "agent_node.TraceEvent", traceSchema}, {TopicLog, "foxglove.Log", logSchema}, {TopicState, "agent_node.SessionState", stateSchema},
	} {
		id := uint16(i + 1)
		if err := w.WriteSchema(&mcap.Schema{ID: id, Name: c.schema, Encoding: "jsonschema", Data: []byte(c.text)}); err != nil {
			return fmt.Errorf("mcap: %w", err)
		}
		if err := w.WriteChannel(&mcap.Channel{ID: id, SchemaID: id, Topic: c.topic, MessageEncoding: "json"}); err != nil {
			return fmt.Errorf("mcap: %w", err)
		}
	}
	for i, e := range events {
		if err := writeEvent(w, uint32(i+1), e); err != nil {
			return fmt.Errorf("mcap: event %d: %w", e.Seq, err)
		}
	}
	return nil
}

// event is one whose time stands as in the trace, with all its digits.
type event struct {
	trace.Event
	Time string `json:"time"`
}

func writeEvent(w *mcap.Writer, n uint32, e trace.Event) error {
	at := uint64(max(e.Time.UnixNano(), 0))
	write := func(channel uint16, v any) error {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return w.WriteMessage(&mcap.Message{ChannelID: channel, Sequence: n, LogTime: at, PublishTime: at, Data: data})
	}
	if err := write(1, event{e, e.Time.UTC().Format("2006-01-02T15:04:05.000000000Z07:00")}); err != nil {
		return err
	}
	if err := write(2, map[string]any{
		"timestamp": map[string]int64{"sec": e.Time.Unix(), "nsec": int64(e.Time.Nanosecond())},
		"level":     level(e), "message": trace.Line(e), "name": e.Kind, "file": e.Session, "line": e.Seq,
	}); err != nil {
		return err
	}
	if e.Phase == "" {
		return nil
	}
	return write(3, map[string]string{"state": e.State, "phase": e.Phase})
}

// level of an event in a log.
func level(e trace.Event) int {
	var d struct {
		OK      *bool  `json:"ok"`
		Passed  *bool  `json:"passed"`
		Outcome string `json:"outcome"`
		Error   string `json:"error"`
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return levelInfo
	}
	no := func(b *bool) bool { return b != nil && !*b }
	switch {
	case e.Kind == "fault" || e.Kind == "stop", d.Outcome == "FAILED":
		return levelError
	case no(d.OK), no(d.Passed), d.Error != "", d.Outcome != "" && d.Outcome != "DONE", e.Kind == "interrupt", e.Kind == "recorder":
		return levelWarning
	case e.Phase == "":
		return levelDebug
	}
	return levelInfo
}

// clock is a time in nanoseconds since 1970.
func clock(t time.Time) int64 { return t.UnixNano() }
