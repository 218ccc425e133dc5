package main

import (
	"log/slog"
	"path/filepath"
	"time"

	"agent_node/pkg/ros/args"
	"agent_node/pkg/shell"
)

type traceCmd struct {
	Show   traceShowCmd   `cmd:"" help:"Print a trace for people."`
	Verify traceVerifyCmd `cmd:"" help:"Check a trace's hash chain: tampering, gaps, a torn end."`
	Replay traceReplayCmd `cmd:"" help:"Run today's loop on what was recorded, and report the first difference. Nothing moves."`
	Resume traceResumeCmd `cmd:"" help:"Let a session go on that was interrupted, or whose process was killed. No call is carried out twice."`
	Export traceExportCmd `cmd:"" help:"Write a trace for other tools: MCAP for Foxglove, or OpenTelemetry spans."`
}

type traceShowCmd struct {
	File string `arg:"" type:"existingfile" help:"Trace file (JSON lines)."`
	Full bool   `help:"Everything, nothing shortened."`
	JSON bool   `name:"json" help:"One JSON object per event."`
}

func (c *traceShowCmd) Run(e *env) error { return shell.ShowTrace(c.File, c.Full, c.JSON, e.out) }

type traceVerifyCmd struct {
	File string `arg:"" type:"existingfile" help:"Trace file (JSON lines)."`
	JSON bool   `name:"json" help:"As JSON."`
}

func (c *traceVerifyCmd) Run(e *env) error { return shell.VerifyTrace(c.File, c.JSON, e.out) }

type traceReplayCmd struct {
	File string `arg:"" type:"existingfile" help:"Trace file (JSON lines)."`
	JSON bool   `name:"json" help:"As JSON."`
}

func (c *traceReplayCmd) Run(e *env) error { return shell.ReplayTrace(c.File, c.JSON, e.out) }

type traceExportCmd struct {
	File    string `arg:"" type:"existingfile" help:"Trace file (JSON lines)."`
	To      string `arg:"" type:"path" help:"File to write; it must not exist yet."`
	Format  string `enum:"auto,mcap,otlp" default:"auto" help:"mcap, or otlp (OpenTelemetry spans as OTLP in JSON). auto: by the name, .mcap or .json."`
	Content bool   `help:"Arguments, results and texts of the model are in the spans, too."`
}

func (c *traceExportCmd) Run(e *env) error {
	return shell.ExportTrace(c.File, c.To, c.Format, c.Content, e.out)
}

type traceResumeCmd struct {
	File       string        `arg:"" type:"existingfile" help:"Trace file of the session, in the node's trace folder."`
	Sim        bool          `help:"No ROS at all: the built-in robot and the node in this process."`
	Seed       uint64        `help:"Seed of the built-in robot (with --sim)."`
	Action     string        `default:"/agent_node/resume_task" help:"The node's action (without --sim)."`
	WaitServer time.Duration `default:"10s" help:"How long to wait for the action server."`
	JSON       bool          `name:"json" help:"Print the result as JSON."`
}

func (c *traceResumeCmd) Run(e *env) error {
	session, err := shell.Resumable(c.File)
	if err != nil {
		return err
	}
	return e.ended(c.send(e, shell.Task{Action: c.Action, Resume: session, JSON: c.JSON, WaitServer: c.WaitServer, Answers: person()}))
}

// send by ROS, or with --sim inside this process.
func (c *traceResumeCmd) send(e *env, t shell.Task) (int, error) {
	if !c.Sim {
		return e.send("resume", t)
	}
	a, err := e.parsed()
	if err != nil {
		return shell.ExitUsage, err
	}
	dir, err := filepath.Abs(filepath.Dir(c.File))
	if err != nil {
		return shell.ExitFailed, err
	}
	a.Params = append([]args.Param{{Pattern: "/**", Name: "trace.dir", Value: dir}}, a.Params...)
	return shell.RunSim(e.ctx, shell.Sim{Args: a, Seed: c.Seed, Rate: 1, Logger: slog.New(slog.DiscardHandler)}, t, e.out)
}
