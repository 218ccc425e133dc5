package watchdog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

const (
	// BeatTopic is a private name of the node that is watched: its heartbeat.
	BeatTopic = "~/heartbeat"
	// StatusTopic is another: what its watchdog says.
	StatusTopic = "~/watchdog"
	// MessageType of both.
	MessageType = "diagnostic_msgs/msg/DiagnosticStatus"
	// BeatPeriod is how often a node beats.
	BeatPeriod = 100 * time.Millisecond
)

// Levels of a diagnostic_msgs/msg/DiagnosticStatus.
const (
	levelOK    uint8 = 0
	levelWarn  uint8 = 1
	levelError uint8 = 2
)

// Beat is one heartbeat of a node.
type Beat struct {
	Process Process
	// Instance tells nodes of one name apart, also of one process; empty: not told.
	Instance string
	// Claim is what the instance makes of its name, and Since when it began to, ns of its machine's clock: of two claims the older one
	// counts, of two equally old ones that of the smaller instance.
	Claim Claim
	Since int64
	// Profile is the file of the robot's profile; empty: the built-in robot's.
	Profile string
	// Namespace and FramePrefix of the robot, one of several.
	Namespace, FramePrefix string
	// TraceDir is where its traces are.
	TraceDir string
	// Busy are the actuators that it moves, or holds the lease of, or does not know to hold still.
	Busy []string
	// Goals that it sent and does not know to have ended.
	Goals []Goal
	// Problem is what keeps it from guarding its actuators; empty: nothing does.
	Problem string
	// Bye: it ends in good order, at rest as far as it could, and is not missed.
	Bye bool
}

// Claim is what an instance makes of its node's name: one alone may hold it, since it alone may drive the robot.
type Claim string

// Claims.
const (
	// ClaimNone: the instance is unconfigured and moves nothing.
	ClaimNone Claim = "none"
	// ClaimWanted: it listens whether another instance holds the name, or wants it before it.
	ClaimWanted Claim = "wanted"
	// ClaimHeld: it has the name. A beat that does not say stands for this.
	ClaimHeld Claim = "held"
)

// Holds says whether the instance has its node's name.
func (b Beat) Holds() bool { return b.Claim == ClaimHeld || b.Claim == "" }

// Before says whether this beat's claim comes before the other's.
func (b Beat) Before(other Beat) bool {
	if b.Since != other.Since {
		return b.Since < other.Since
	}
	return b.Instance < other.Instance
}

const (
	aliveText = "alive"
	byeText   = "bye"
)

// Write puts the beat into a message.
func (b Beat) Write(m *ros.Message, name string, pair *ros.Type) *ros.Message {
	level, text := levelOK, aliveText
	switch {
	case b.Bye:
		text = byeText
	case b.Problem != "":
		level, text = levelError, b.Problem
	}
	values := [][2]string{
		{"pid", strconv.Itoa(b.Process.PID)},
		{"start", b.Process.Start},
		{"host", b.Process.Host},
		{"instance", b.Instance},
		{"claim", string(b.Claim)},
		{"claim_since", strconv.FormatInt(b.Since, 10)},
		{"profile", b.Profile},
		{"robot_namespace", b.Namespace},
		{"frame_prefix", b.FramePrefix},
		{"trace_dir", b.TraceDir},
		{"busy", strings.Join(b.Busy, ",")},
		{"goals", writeGoals(b.Goals)},
	}
	return status(m, pair, level, name+": heartbeat", text, values)
}

// status fills a DiagnosticStatus.
func status(m *ros.Message, pair *ros.Type, level uint8, name, text string, values [][2]string) *ros.Message {
	list := make([]*ros.Message, len(values))
	for i, v := range values {
		list[i] = ros.New(pair).With("key", v[0]).With("value", v[1])
	}
	return m.With("level", level).With("name", name).With("message", text).With("values", list)
}

// ReadBeat reads what Write has written.
func ReadBeat(m *ros.Message) (Beat, error) {
	v := valuesOf(m)
	pid, err := strconv.Atoi(v["pid"])
	if err != nil || pid <= 0 {
		return Beat{}, fmt.Errorf("watchdog: heartbeat: pid is %q, wanted a process's", v["pid"])
	}
	b := Beat{
		Process: Process{PID: pid, Start: v["start"], Host: v["host"]},
		Profile: v["profile"], Namespace: v["robot_namespace"], FramePrefix: v["frame_prefix"], TraceDir: v["trace_dir"], Bye: m.Str("message") == byeText,
	}
	b.Instance, b.Claim = v["instance"], Claim(v["claim"])
	if text := v["claim_since"]; text != "" {
		if b.Since, err = strconv.ParseInt(text, 10, 64); err != nil {
			return Beat{}, fmt.Errorf("watchdog: heartbeat: claim_since is %q, wanted ns", text)
		}
	}
	if v["busy"] != "" {
		b.Busy = strings.Split(v["busy"], ",")
	}
	if b.Goals, err = readGoals(v["goals"]); err != nil {
		return Beat{}, err
	}
	if m.Int("level") != int64(levelOK) {
		b.Problem = m.Str("message")
	}
	return b, nil
}

// writeGoals puts goals into one line, "/navigate_to_pose 0123...ef base, ...": names of ROS have neither spaces nor commas.
func writeGoals(goals []Goal) string {
	words := make([]string, len(goals))
	for i, g := range goals {
		words[i] = g.Action + " " + g.ID.String() + " " + g.Actuator
	}
	return strings.Join(words, ",")
}

func readGoals(text string) (goals []Goal, err error) {
	if text == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		var g Goal
		f := strings.SplitN(word, " ", 3)
		if len(f) == 3 {
			g.Action, g.Actuator = f[0], f[2]
			g.ID, err = action.ParseGoalID(f[1])
		}
		if len(f) != 3 || err != nil {
			return nil, fmt.Errorf("watchdog: heartbeat: goal %q, wanted an action, an id and an actuator", word)
		}
		goals = append(goals, g)
	}
	return goals, nil
}

func valuesOf(m *ros.Message) map[string]string {
	out := map[string]string{}
	for _, kv := range m.Msgs("values") {
		out[kv.Str("key")] = kv.Str("value")
	}
	return out
}

// Status is what a watchdog says of itself.
type Status struct {
	// Tripped: it is bringing the robot to rest, or has, for the reason in Text.
	Tripped bool
	// Watching: it hears the node.
	Watching bool
	Text     string
	// Process that it watches, or has watched.
	Process Process
}

// write puts it into a message.
func (s Status) write(m *ros.Message, node string, pair *ros.Type) *ros.Message {
	level := levelOK
	switch {
	case s.Tripped:
		level = levelError
	case !s.Watching:
		level = levelWarn
	}
	values := [][2]string{{"pid", strconv.Itoa(s.Process.PID)}, {"start", s.Process.Start}, {"host", s.Process.Host}}
	return status(m, pair, level, node+": watchdog", s.Text, values)
}

// ReadStatus reads a watchdog's message.
func ReadStatus(m *ros.Message) Status {
	v := valuesOf(m)
	pid, _ := strconv.Atoi(v["pid"]) // 0 where it has seen no node yet
	level := m.Int("level")
	return Status{
		Tripped: level == int64(levelError), Watching: level == int64(levelOK), Text: m.Str("message"),
		Process: Process{PID: pid, Start: v["start"], Host: v["host"]},
	}
}
