package suite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"
)

// ErrSuite is wrapped by every error about a suite's file; each names the line or the case.
var ErrSuite = errors.New("suite")

// Suite is a list of scenarios.
type Suite struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Cases       []Case `yaml:"cases"`
	// Random are safe moves that are drawn.
	Random *Random `yaml:"random"`
}

// Case is one scenario: a command, a plan or a task.
type Case struct {
	ID    string `yaml:"id"`
	Group string `yaml:"group"`
	Why   string `yaml:"why"`
	// Safe scenarios must be carried out, the others must not reach an actuator.
	Safe bool `yaml:"safe"`
	// Needs are facts that the robot must have: base, arm, gripper, map, wall, zone, places, odom, counters; or "tool NAME".
	Needs []string `yaml:"needs"`

	Command *Command `yaml:"command"`
	Plan    []Step   `yaml:"plan"`
	Task    string   `yaml:"task"`
	Budget  Budget   `yaml:"budget"`

	// Agent and Robot are parameters of the node and of the simulator; the scenario then has an instance of its own, and so has one that is not alone
	// with its events.
	Agent  map[string]any `yaml:"agent"`
	Robot  map[string]any `yaml:"robot"`
	Before []Event        `yaml:"before"`
	During []Event        `yaml:"during"`
	// Respond answers every question for approval; without it nobody does.
	Respond *Respond `yaml:"respond"`
	Expect  Expect   `yaml:"expect"`
}

// Command is a message for ~/validate_command.
type Command struct {
	Actuator string `yaml:"actuator"`
	Type     string `yaml:"type"`
	Message  string `yaml:"message"`
}

// Step of a plan.
type Step struct {
	ID        string   `yaml:"id"`
	Tool      string   `yaml:"tool"`
	Arguments string   `yaml:"arguments"` // JSON
	After     []string `yaml:"after"`
	Accept    []string `yaml:"accept"`
	// Repeat the step so many times, each with an id of its own.
	Repeat int `yaml:"repeat"`
}

// Budget of a goal; 0: the node's default.
type Budget struct {
	Steps     uint32 `yaml:"max_steps"`
	ToolCalls uint32 `yaml:"max_tool_calls"`
}

// Event is something that happens around a goal.
type Event struct {
	After   float64 `yaml:"after"` // s; of During from the first command that arrives at the robot
	Topic   string  `yaml:"topic"`
	Type    string  `yaml:"type"`
	Message string  `yaml:"message"` // JSON
	Service string  `yaml:"service"` // std_srvs/srv/Trigger
	// Robot sets parameters of the simulator.
	Robot map[string]any `yaml:"robot"`
	Plan  []Step         `yaml:"plan"` // carried out before, and awaited
}

// Respond to a question for approval.
type Respond struct {
	Approved bool `yaml:"approved"`
	Times    int  `yaml:"times"` // 0: once
}

// Expect says what is right. Of lists, any one.
type Expect struct {
	Rule   []string `yaml:"rule"`
	Reason []string `yaml:"reason"`
	Error  []string `yaml:"error"`
	// Arrive: what may arrive at the robot in an unsafe scenario: nothing (empty) or "any", where something safe comes first.
	Arrive string `yaml:"arrive"`
	// Executed are calls that succeeded, by tool: exactly so many.
	Executed map[string]int `yaml:"executed"`
	// AskedMax bounds the questions for approval.
	AskedMax *int `yaml:"asked_max"`
	// Within bounds the time that an answer takes, s.
	Within float64 `yaml:"within"`
	// Refusal accepts a clear refusal in words of a safe task that the model need not understand.
	Refusal bool `yaml:"refusal"`
}

// Random says which safe moves are drawn, and how many.
type Random struct {
	Count int      `yaml:"count"`
	Kinds []string `yaml:"kinds"` // twist, drive, turn, pose, joints, gripper
	// Room kept between the robot and what it must not touch, m: none of the moves is a near miss.
	Room float64 `yaml:"room"`
}

const maxSuite = 4 << 20

// Load reads a suite's file.
func Load(file string) (*Suite, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	s, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// Parse reads a suite. Unknown fields, cases without a name of their own, and cases that ask for nothing or for several things are refused.
func Parse(data []byte) (*Suite, error) {
	if len(data) > maxSuite {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrSuite, len(data), maxSuite)
	}
	var s Suite
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	if s.Name == "" || len(s.Cases) == 0 && s.Random == nil {
		return nil, fmt.Errorf("%w: a name and at least one case are needed", ErrSuite)
	}
	seen := map[string]bool{}
	for i := range s.Cases {
		c := &s.Cases[i]
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("%w: case %d %q: %w", ErrSuite, i+1, c.ID, err)
		}
		if seen[c.ID] {
			return nil, fmt.Errorf("%w: there are two cases %q", ErrSuite, c.ID)
		}
		seen[c.ID] = true
	}
	if r := s.Random; r != nil {
		if r.Count < 1 || len(r.Kinds) == 0 || !(r.Room >= 0) {
			return nil, fmt.Errorf("%w: random: a count, kinds and a room of 0 or more are needed", ErrSuite)
		}
		for _, k := range r.Kinds {
			if _, ok := drawers[k]; !ok {
				return nil, fmt.Errorf("%w: random: %q is no kind of move", ErrSuite, k)
			}
		}
	}
	return &s, nil
}

func (c *Case) check() error {
	what := 0
	for _, has := range []bool{c.Command != nil, len(c.Plan) > 0, c.Task != ""} {
		if has {
			what++
		}
	}
	switch {
	case c.ID == "" || c.Group == "" || c.Why == "":
		return errors.New("id, group and why are needed")
	case what != 1:
		return errors.New("exactly one of command, plan and task is needed")
	case c.Expect.Arrive != "" && c.Expect.Arrive != "any":
		return fmt.Errorf("expect.arrive is %q, must be any or absent", c.Expect.Arrive)
	}
	for _, n := range c.Needs {
		if !known(n) && !strings.HasPrefix(n, "tool ") {
			return fmt.Errorf("nothing is called %q that it could need", n)
		}
	}
	for _, e := range append(append([]Event(nil), c.Before...), c.During...) {
		if (e.Topic == "") == (e.Service == "") && e.Robot == nil && len(e.Plan) == 0 && e.After == 0 || e.Topic != "" && (e.Type == "" || e.Message == "") {
			return errors.New("an event has a topic with type and message, a service, parameters of the robot or a plan, or only time")
		}
	}
	return nil
}

// Own reports whether a scenario needs a node and a robot of its own, and leaves ones that nothing else should run on.
func Own(c *Case) bool {
	return len(c.Agent)+len(c.Robot)+len(c.Before)+len(c.During) > 0
}
