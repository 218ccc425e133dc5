package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"

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
	// Progress is told how far it is, every ten seconds, or with Verbose of each scenario; nil: nobody.
	Progress io.Writer
	Verbose  bool

	// Sim is the built-in robot and the node of each instance.
	Sim Sim
}

// RunEval tries a suite on the built-in robot and a node in this process: scenarios that are alone with their parameters or events on an instance of their own, all
// others on one. It prints a table, or with JSON everything, and gives the exit code: ExitDone where all is right, ExitInterrupted where ctx ended before all
// was tried. Everything goes by simulated time.
func RunEval(ctx context.Context, e Eval, out io.Writer) (int, error) {
	profile, err := robottools.Open(e.Profile)
	if err != nil {
		return ExitUsage, err
	}
	e.Sim.Clock = true
	r := e.begin(profile)
	defer r.end()
	var shared, own []*suite.Case
	for i := range e.Suite.Cases {
		c := &e.Suite.Cases[i]
		if !e.wants(c) {
			continue
		}
		if suite.Own(c) {
			own = append(own, c)
		} else {
			shared = append(shared, c)
		}
	}
	err = e.instance(ctx, profile, nil, func(b *suite.Bench) error {
		r.report.Counted = b.Counts()
		for _, c := range shared {
			if err := r.one(ctx, b, c); err != nil {
				return err
			}
		}
		return r.moves(ctx, b)
	})
	for _, c := range own {
		if err != nil {
			break
		}
		err = e.instance(ctx, profile, c, func(b *suite.Bench) error { return r.one(ctx, b, c) })
	}
	return r.print(ctx, err, out)
}

// AttachEval tries a suite on a node that is running already, by ROS. Scenarios with parameters of the node or the robot are left out.
func AttachEval(ctx context.Context, node ros.Node, agent string, e Eval, out io.Writer) (code int, err error) {
	profile, err := robottools.Open(e.Profile)
	if err != nil {
		return ExitUsage, err
	}
	b, err := suite.Open(ctx, node, agent, profile)
	if err != nil {
		return ExitFailed, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r := e.begin(profile)
	defer r.end()
	r.report.Counted = b.Counts()
	for i := range e.Suite.Cases {
		c := &e.Suite.Cases[i]
		if !e.wants(c) {
			continue
		}
		if suite.Own(c) {
			r.add(suite.Result{ID: c.ID, Group: c.Group, Why: c.Why, Safe: c.Safe, LeftOut: "no node and robot of its own"})
			continue
		}
		if err := r.one(ctx, b, c); err != nil {
			return r.print(ctx, err, out)
		}
	}
	return r.print(ctx, r.moves(ctx, b), out)
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
