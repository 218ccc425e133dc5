package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agent_node/pkg/harness/model"
)

// step is one step of a proposal, as propose_plan takes it.
type step struct {
	ID          string         `json:"id"`
	Description string         `json:"description"`
	Tool        string         `json:"tool,omitempty"`
	Arguments   map[string]any `json:"arguments,omitempty"`
	DependsOn   []string       `json:"depends_on,omitempty"`
	Acceptance  []string       `json:"acceptance,omitempty"`
}

// proposal is what propose_plan is called with.
type proposal struct {
	Steps    []step   `json:"steps"`
	Criteria []string `json:"success_criteria,omitempty"`
}

// wantsPlan: the request offers propose_plan.
func wantsPlan(tools []model.Tool) bool {
	return slices.ContainsFunc(tools, func(t model.Tool) bool { return t.Name == model.ProposePlan })
}

// propose answers a request for a plan. A plan that was sent back would be the same again, so that is the end of it.
func propose(r model.Request, task string, prog program, w *world) model.Response {
	for _, o := range observations(r.Messages) {
		if o.tool == model.ProposePlan && !o.ok {
			return infeasible("The plan for this task is not accepted: " + o.content)
		}
	}
	p, err := compile(task, prog, w, readings(r.Messages))
	if err != nil {
		return infeasible(err.Error())
	}
	data, err := json.Marshal(p)
	if err != nil { // plain numbers and strings
		return infeasible(err.Error())
	}
	return model.Response{
		Calls:  []model.Call{{ID: "plan_1", Tool: model.ProposePlan, Arguments: string(data)}},
		Finish: model.FinishToolCalls,
	}
}

// readings are the newest that the harness put into the request.
func readings(messages []model.Message) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for _, m := range messages {
		text, ok := strings.CutPrefix(m.Content, model.HarnessPrefix+model.ReadingsPrefix)
		if m.Role != model.RoleUser || !ok {
			continue
		}
		var read map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &read) == nil {
			out = read
		}
	}
	return out
}

// compiler turns a program into steps, one behind the other.
type compiler struct {
	world *world
	where map[string]found // by object, as it is read and as the steps so far leave it
	steps []step
	whole bool // the task cannot be taken apart
	out   bool // the arm is out of its named poses, so that the base may be refused to drive

	// What should hold at the end, as far as the steps tell it.
	place   string            // where the base was sent last; "": by no place's name
	vague   bool              // its last motion ends at no place that has a name
	held    string            // the object in the gripper
	objects map[string]string // by object: where it was put
	order   []string          // of objects
}

// compile a program. Branches are left to an agent, since what decides them is read only when their turn comes.
func compile(task string, prog program, w *world, read map[string]json.RawMessage) (*proposal, error) {
	c := &compiler{world: w, where: map[string]found{}, objects: map[string]string{}}
	if raw, ok := read["list_objects"]; ok {
		if err := json.Unmarshal(raw, &c.where); err != nil {
			return nil, fmt.Errorf("what list_objects said is no list of objects: %w", err)
		}
	}
	if raw, ok := read["get_joints"]; ok {
		var arm struct{ Pose *string }
		c.out = json.Unmarshal(raw, &arm) == nil && arm.Pose != nil && *arm.Pose == ""
	}
	for _, i := range prog {
		if err := c.instruction(i); err != nil {
			return nil, err
		}
		if c.whole {
			return &proposal{Steps: []step{{ID: "s1", Description: task}}}, nil
		}
	}
	if len(c.steps) == 0 {
		return nil, refuse("There is nothing to do, so there is nothing to plan.")
	}
	return &proposal{Steps: c.steps, Criteria: c.criteria(prog)}, nil
}

// add a step behind the others. Criteria whose tool is not there are left out.
func (c *compiler) add(s step, acceptance ...string) {
	s.ID = fmt.Sprintf("s%d", len(c.steps)+1)
	if n := len(c.steps); n > 0 {
		s.DependsOn = []string{c.steps[n-1].ID}
	}
	s.Acceptance = c.possible(acceptance)
	c.steps = append(c.steps, s)
}

func (c *compiler) possible(criteria []string) []string {
	var out []string
	for _, text := range criteria {
		if name, _, _ := strings.Cut(text, "("); strings.HasPrefix(text, "cel:") || c.world.tools[name] {
			out = append(out, text)
		}
	}
	return out
}

func (c *compiler) instruction(i instruction) error {
	switch x := i.(type) {
	case call:
		c.call(x)
	case question:
		c.question(x)
	case fetch:
		if at := c.where[x.object]; x.unless && !at.Held && at.Place == x.place {
			if at.InView != nil { // it must be looked at
				c.goTo(x.place)
			}
			c.add(step{Description: fmt.Sprintf("see that the %s is at the %s already", x.object, x.place), Tool: "object_at", Arguments: map[string]any{"object": x.object, "place": x.place}})
			c.lies(x.object, x.place)
			return nil
		}
		if err := c.pick(x.object, x.from); err != nil {
			return err
		}
		c.put(x.object, x.place)
	case pickUp:
		return c.pick(x.object, x.from)
	case putDown:
		c.put(x.object, x.place)
	case branch:
		c.branch(x)
	case remember, comeBack, clear, putHeld, approach: // what it comes to is known only when its turn comes
		c.whole = true
	}
	return nil
}

func (c *compiler) call(x call) {
	s := step{Description: sentence(x), Tool: x.tool, Arguments: x.args}
	switch x.tool {
	case "navigate_to":
		if name, ok := x.args["place"].(string); ok {
			c.goTo(name)
			return
		}
		c.vague = true
		c.fold()
	case "drive", "turn":
		c.vague = true
		c.fold()
	case "move_arm":
		c.out = false
	}
	c.add(s)
}

// fold the arm before the base drives for the first time, where it is not folded.
func (c *compiler) fold() {
	if pose, ok := c.world.folded(); ok && c.out {
		x := poseCall(pose)
		c.add(step{Description: sentence(x), Tool: x.tool, Arguments: x.args})
	}
	c.out = false
}

func (c *compiler) goTo(place string) {
	c.fold()
	c.place, c.vague = place, false
	c.add(step{Description: "go to the " + place, Tool: "navigate_to", Arguments: map[string]any{"place": place}}, "at_place("+place+")")
}

func (c *compiler) pick(object, from string) error {
	at := c.where[object]
	switch {
	case at.Held || c.held == object:
		c.held = object
		return nil // it is in the gripper
	case at.Place == "":
		return refuse("I do not know where the %s is.", object)
	case slices.Contains(c.world.banned, at.Place):
		return refuse("The %s is at the %s, where I am not to go.", object, at.Place)
	case from != "" && from != at.Place:
		return refuse("The %s is not at the %s, it is at the %s.", object, from, at.Place)
	}
	c.goTo(at.Place)
	c.add(step{Description: "pick up the " + object, Tool: "pick", Arguments: map[string]any{"object": object}}, "holding("+object+")")
	c.held = object
	c.where[object] = found{}
	return nil
}

func (c *compiler) put(object, place string) {
	c.goTo(place)
	at := fmt.Sprintf("object_at(%s, %s)", object, place)
	c.add(step{Description: fmt.Sprintf("put the %s down at the %s", object, place), Tool: "place", Arguments: map[string]any{"place": place}}, at)
	c.held = ""
	c.lies(object, place)
}

// lies notes where an object should be from here on.
func (c *compiler) lies(object, place string) {
	c.where[object] = found{Place: place}
	if _, again := c.objects[object]; !again {
		c.order = append(c.order, object)
	}
	c.objects[object] = place
}

// question is a step that reads. One that a verify tool answers is an agent's: as a step its answer no would be a failure.
func (c *compiler) question(x question) {
	if name, ok := x.args["place"].(string); ok && x.tool == "at_place" {
		c.add(step{Description: "Are you at the " + name + "?"})
		return
	}
	c.add(step{Description: "read " + x.tool, Tool: x.tool, Arguments: x.args})
}

// branch is an agent's stage. Its sentence is made from what was understood of it, and must be understood the same way. Where it is
// not, and where an arm handles objects, so that later steps cannot know where they are, the whole task is one agent's.
func (c *compiler) branch(x branch) {
	text, ok := conditionalText(x)
	if ok {
		again, err := parse(text, c.world)
		ok = err == nil && again.String() == program{x}.String()
	}
	if !ok || program(x.then).handles() || program(x.els).handles() {
		c.whole = true
		return
	}
	c.add(step{Description: text})
	c.place, c.vague = "", true // where it ends is not known ahead
}

// handles reports whether a program has to do with objects.
func (p program) handles() bool {
	for _, name := range p.tools() {
		if name == "pick" || name == "place" {
			return true
		}
	}
	return false
}

// criteria of the whole: where the base and the objects should be at the end. Where that cannot be named, there are none, and the
// steps' own postconditions are what is judged.
func (c *compiler) criteria(prog program) []string {
	if !prog.moves() {
		var out []string
		for _, s := range c.steps {
			if s.Tool != "" && s.Tool != "object_at" {
				out = append(out, fmt.Sprintf("cel: size(%s()) > 0", s.Tool))
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	if c.vague {
		return nil
	}
	var out []string
	for _, o := range c.order {
		if o != c.held && (c.place == "" || c.objects[o] == c.place) { // what is elsewhere cannot be seen from here; its step's gate has seen it
			out = append(out, fmt.Sprintf("object_at(%s, %s)", o, c.objects[o]))
		}
	}
	if c.held != "" {
		out = append(out, "holding("+c.held+")")
	}
	if c.place != "" {
		out = append(out, "at_place("+c.place+")")
	}
	return c.possible(out)
}

// exact is a number in digits that are read as the same number.
func exact(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// sentence is a call in plain words that mean the same call.
func sentence(x call) string {
	switch x.tool {
	case "navigate_to":
		if name, ok := x.args["place"].(string); ok {
			return "go to the " + name
		}
		px, okX := x.args["x"].(float64)
		y, okY := x.args["y"].(float64)
		yaw, ok := x.args["yaw"].(float64)
		if okX && okY && ok {
			return "go to x " + exact(px) + " y " + exact(y) + " yaw " + exact(yaw)
		}
	case "drive":
		if d, ok := x.args["distance_m"].(float64); ok {
			if d < 0 {
				return "drive " + exact(-d) + " metres backward"
			}
			return "drive " + exact(d) + " metres forward"
		}
	case "turn":
		if a, ok := x.args["angle_rad"].(float64); ok {
			if a < 0 {
				return "turn right by " + exact(-a) + " rad"
			}
			return "turn left by " + exact(a) + " rad"
		}
	case "wait":
		if s, ok := x.args["seconds"].(float64); ok {
			return "wait " + exact(s) + " seconds"
		}
	case "gripper":
		if open, ok := x.args["open"].(bool); ok && open {
			return "open the gripper"
		}
		return "close the gripper"
	case "move_arm":
		if name, ok := x.args["named"].(string); ok {
			return "move the arm to " + name
		}
	}
	return x.tool + " " + arguments(x.args)
}

// conditionalText is a branch in words.
func conditionalText(x branch) (string, bool) {
	then, ok := armText(x.then)
	if !ok {
		return "", false
	}
	text := "If " + strings.NewReplacer("the robot is", "you are", "the robot holds", "you hold", "the robot does not", "you do not").Replace(x.condition) + ", " + then
	if len(x.els) > 0 {
		els, ok := armText(x.els)
		if !ok {
			return "", false
		}
		text += "; otherwise " + els
	}
	return text + ".", true
}

// armText is one arm of a branch in words.
func armText(p program) (string, bool) {
	if len(p) == 0 {
		return "do not move", true
	}
	parts := make([]string, len(p))
	for i, x := range p {
		switch x := x.(type) {
		case call:
			parts[i] = sentence(x)
		case fetch:
			parts[i] = fmt.Sprintf("take the %s to the %s", x.object, x.place)
		case pickUp:
			parts[i] = "pick up the " + x.object
		case putDown:
			parts[i] = fmt.Sprintf("put the %s down at the %s", x.object, x.place)
		case question, branch, remember, comeBack, clear, putHeld, approach:
			return "", false
		}
	}
	return strings.Join(parts, ", then "), true
}
