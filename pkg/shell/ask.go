package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"agent_node/pkg/ros"
)

const (
	// answerPatience bounds how long the node may take to take an answer.
	answerPatience = 10 * time.Second
	// readingTime is how long a question must have been shown before an answer is taken for its own: what comes sooner was
	// typed for the one before.
	readingTime = time.Second
)

// questions shows what a session asks a person, and sends the node what is answered.
type questions struct {
	p     *progress
	lines <-chan string // nil: nobody can answer here
	reply ros.Client
	asked ros.Subscription

	arrived chan *ros.Message
	stop    context.CancelFunc
	done    chan struct{}

	open  string    // id of the question that was shown and not answered
	shown time.Time // since when
}

// listen subscribes to what the node asks that the task is sent to.
func listen(node ros.Node, t Task, p *progress) (q *questions, err error) {
	agent := t.Action[:max(strings.LastIndex(t.Action, "/"), 0)]
	q = &questions{p: p, arrived: make(chan *ros.Message, 16), done: make(chan struct{})}
	if q.reply, err = node.CreateClient(agent+"/respond", "agent_msgs/srv/Respond"); err != nil {
		return nil, err
	}
	q.asked, err = node.CreateSubscription(agent+"/approvals", "agent_msgs/msg/ApprovalRequest", ros.LatchedQoS(), func(r ros.Received) {
		select {
		case q.arrived <- r.Message:
		default: // more at once than sessions can ask; it expires, which is a denial
		}
	})
	if err != nil {
		return nil, errors.Join(err, q.reply.Close())
	}
	if t.Answers != nil && !t.JSON {
		q.lines = linesOf(t.Answers)
	}
	return q, nil
}

// linesOf reads as long as in lasts; a read from a terminal cannot be taken back.
func linesOf(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// serve shows what the session asks and takes answers, until close.
func (q *questions) serve(session string) {
	ctx, stop := context.WithCancel(context.Background())
	q.stop = stop
	go func() {
		defer close(q.done)
		for {
			select {
			case m := <-q.arrived:
				if m.Str("session") == session {
					q.show(m)
				}
			case line, ok := <-q.lines:
				if !ok {
					q.lines = nil // the input has ended: nobody can answer any more
					break
				}
				q.take(ctx, line)
			case <-ctx.Done():
				return
			}
		}
	}()
}

// close ends the listening; a question that is open expires at the node, which counts as a denial.
func (q *questions) close() error {
	if q.stop != nil {
		q.stop()
		<-q.done
	}
	return errors.Join(q.asked.Close(), q.reply.Close())
}

func (q *questions) show(m *ros.Message) {
	id, call := m.Str("request_id"), m.Msg("call")
	text := "the robot asks: " + m.Str("question")
	if tool := call.Str("tool"); tool != "" {
		text += fmt.Sprintf("\n  for %s(%s), this once", tool, inside(call.Str("arguments_json")))
	}
	if q.lines == nil {
		q.p.say(text + fmt.Sprintf("\n  answer from another shell: ros2 service call %s agent_msgs/srv/Respond \"{request_id: '%s', approved: true}\"",
			q.reply.Service(), id))
		return
	}
	q.open, q.shown = id, time.Now()
	q.p.say(text + "\n  yes or no? (all but a yes is a no, and so is silence)")
}

// take sends a line as typed; the first word decides, and the node is told all of them.
func (q *questions) take(ctx context.Context, line string) {
	switch {
	case q.open == "":
		q.p.say("  nothing is asked now")
		return
	case time.Since(q.shown) < readingTime:
		q.p.say("  that came too soon to be an answer to this question: yes or no?")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	request := ros.New(q.reply.Type().Request).With("request_id", q.open).With("approved", isYes(line)).With("text", strings.TrimSpace(line))
	q.open = ""
	response, err := q.reply.Call(ctx, request)
	if err != nil {
		q.p.say("  the answer was not taken: " + err.Error())
		return
	}
	q.p.say("  " + response.Str("message"))
}

func isYes(line string) bool {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	return len(words) > 0 && (words[0] == "y" || words[0] == "yes")
}
