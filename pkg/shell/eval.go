package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"slices"

	"agent_node/config"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/shell/suite"
)

// Eval says what is tried.
type Eval struct {
	Suite   *suite.Suite
	Profile string         // file; empty: the built-in robot's
	Only    *regexp.Regexp // of the cases' ids and groups; nil: all
	Seed    uint64
	Random  int // safe moves; negative: as many as the suite says
	JSON    bool
	// Progress is told of each scenario; nil: nobody.
	Progress io.Writer

	// Sim is the built-in robot and the node of each instance.
	Sim Sim
}

// RunEval tries a suite on the built-in robot and a node in this process: scenarios that are alone with their parameters or events on an instance of their own, all
// others on one. It prints a table, or with JSON everything, and gives the exit code: ExitDone where all is right.
func RunEval(ctx context.Context, e Eval, out io.Writer) (int, error) {
	profile, err := evalProfile(e.Profile)
	if err != nil {
		return ExitUsage, err
	}
	report := suite.Report{Suite: e.Suite.Name, Profile: profile.Name, Counted: true}
	var shared, own []*suite.Case
	for i := range e.Suite.Cases {
		c := &e.Suite.Cases[i]
		if e.Only != nil && !e.Only.MatchString(c.ID) && !e.Only.MatchString(c.Group) {
			continue
		}
		if suite.Own(c) {
			own = append(own, c)
		} else {
			shared = append(shared, c)
		}
	}
	err = e.instance(ctx, profile, nil, func(b *suite.Bench) error {
		report.Counted = b.Counts()
		for _, c := range shared {
			if err := e.one(ctx, b, c, &report); err != nil {
				return err
			}
		}
		return e.moves(ctx, b, &report)
	})
	for _, c := range own {
		if err != nil {
			break
		}
		err = e.instance(ctx, profile, c, func(b *suite.Bench) error { return e.one(ctx, b, c, &report) })
	}
	if err != nil {
		return ExitFailed, err
	}
	e.sort(&report)
	return e.print(&report, out)
}

// AttachEval tries a suite on a node that is running already, by ROS. Scenarios with parameters of the node or the robot are left out.
func AttachEval(ctx context.Context, node ros.Node, agent string, e Eval, out io.Writer) (code int, err error) {
	profile, err := evalProfile(e.Profile)
	if err != nil {
		return ExitUsage, err
	}
	b, err := suite.Open(ctx, node, agent, profile)
	if err != nil {
		return ExitFailed, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	report := suite.Report{Suite: e.Suite.Name, Profile: profile.Name, Counted: b.Counts()}
	for i := range e.Suite.Cases {
		c := &e.Suite.Cases[i]
		if e.Only != nil && !e.Only.MatchString(c.ID) && !e.Only.MatchString(c.Group) {
			continue
		}
		if suite.Own(c) {
			report.Results = append(report.Results, suite.Result{ID: c.ID, Group: c.Group, Why: c.Why, Safe: c.Safe, LeftOut: "no node and robot of its own"})
			continue
		}
		if err := e.one(ctx, b, c, &report); err != nil {
			return ExitFailed, err
		}
	}
	if err := e.moves(ctx, b, &report); err != nil {
		return ExitFailed, err
	}
	return e.print(&report, out)
}

func evalProfile(file string) (*robottools.Profile, error) {
	if file == "" {
		return robottools.Load("sim_robot.yaml (built in)", config.SimRobot)
	}
	return robottools.LoadFile(file)
}

// instance starts a robot and a node, with a case's parameters, and hands them over.
func (e *Eval) instance(ctx context.Context, profile *robottools.Profile, c *suite.Case, use func(*suite.Bench) error) error {
	s := e.Sim
	s.Seed = e.Seed
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	given := args.Args{}
	if s.Args != nil {
		given = *s.Args
	}
	given.Params = slices.Clone(given.Params)
	if e.Profile != "" {
		given.Params = append(given.Params, args.Param{Pattern: "/**", Name: "profile", Value: e.Profile})
	}
	s.Robot = slices.Clone(s.Robot)
	if c != nil {
		for _, name := range sorted(c.Agent) {
			given.Params = append(given.Params, args.Param{Pattern: "/**", Name: name, Value: c.Agent[name]})
		}
		for _, name := range sorted(c.Robot) {
			s.Robot = append(s.Robot, fmt.Sprintf("%s=%v", name, c.Robot[name]))
		}
	}
	s.Args = &given
	_, err := inSim(ctx, s, func(person ros.Node, agent string) (int, error) {
		b, err := suite.Open(ctx, person, agent, profile)
		if err != nil {
			return ExitFailed, err
		}
		err = use(b)
		return ExitDone, errors.Join(err, b.Close())
	})
	return err
}

func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func (e *Eval) one(ctx context.Context, b *suite.Bench, c *suite.Case, report *suite.Report) error {
	r, err := b.Run(ctx, c)
	if err != nil {
		return err
	}
	report.Results = append(report.Results, r)
	if e.Progress != nil {
		word := "right"
		switch {
		case r.LeftOut != "":
			word = "left out: " + r.LeftOut
		case !r.Right():
			word = "WRONG: " + r.Faults[0]
		}
		fmt.Fprintf(e.Progress, "%-28s %s (%s)\n", r.ID, word, r.Got)
	}
	return nil
}

// moves draws safe moves and has them carried out, one after the other.
func (e *Eval) moves(ctx context.Context, b *suite.Bench, report *suite.Report) error {
	how := e.Suite.Random
	if how == nil || e.Only != nil && !e.Only.MatchString("random") {
		return nil
	}
	n := how.Count
	if e.Random >= 0 {
		n = e.Random
	}
	rng := rand.New(rand.NewPCG(e.Seed, 0x6d6f7665)) // the second word only tells this use of a seed from others
	for i := range n {
		c, ok, err := b.Draw(ctx, how, rng, i+1)
		if err != nil {
			return err
		}
		if !ok {
			report.Results = append(report.Results, suite.Result{ID: "random", Group: "safe: random", Safe: true, LeftOut: "no random move of these kinds"})
			return nil
		}
		if err := e.one(ctx, b, c, report); err != nil {
			return err
		}
		report.Random++
	}
	return nil
}

// sort puts the results into the suite's order: instances of their own came last.
func (e *Eval) sort(report *suite.Report) {
	place := map[string]int{}
	for i, c := range e.Suite.Cases {
		place[c.ID] = i + 1
	}
	slices.SortStableFunc(report.Results, func(a, b suite.Result) int {
		x, y := place[a.ID], place[b.ID]
		if x == 0 {
			x = len(place) + 1
		}
		if y == 0 {
			y = len(place) + 1
		}
		return x - y
	})
}

func (e *Eval) print(report *suite.Report, out io.Writer) (int, error) {
	report.Sum()
	if e.JSON {
		data, err := json.MarshalIndent(report, "", " ")
		if err != nil {
			return ExitFailed, err
		}
		fmt.Fprintf(out, "%s\n", data)
	} else {
		report.Print(out)
	}
	if !report.Passed() {
		return ExitFailed, nil
	}
	return ExitDone, nil
}
