package node

import (
	"context"
	"time"

	"agent_node/pkg/harness/trace"
	"agent_node/pkg/watchdog"
)

// rescueTime bounds how long configuring waits for what an earlier life of the node left moving. A stop that is under way goes on.
const rescueTime = 3 * time.Second

// rescueRemains cancels the goals that the last trace names and does not see ended: the node was killed under them.
func (n *Node) rescueRemains(w *work) {
	dir, err := TraceDir(n.params.traceDir.Get())
	if err != nil {
		return // said when the traces were opened
	}
	if !n.beat.name.sole() {
		return // another of the name may live, and what moves be its own
	}
	remains, err := watchdog.LastRemains(dir)
	if err != nil {
		n.logger("remains").Error("the last trace cannot be read: goals that it may name are not canceled", "folder", dir, "error", err)
		return
	}
	if remains.Empty() {
		return
	}
	if trace.Writing(remains.Trace) {
		return // another node's, of another name or graph, with the same folder
	}
	n.logger("remains").Warn("the node did not end in good order: what it left moving is stopped", "trace", remains.Trace,
		"goals", len(remains.Goals), "tools", remains.Tools, "moving", remains.Moving)
	ctx, cancel := context.WithTimeout(w.running, rescueTime)
	defer cancel()
	r := watchdog.Rescuer{Node: n.ros, Robot: w.robot, Log: n.log, Seen: true}
	if err := r.Rescue(ctx, remains, nil); err != nil {
		n.logger("remains").Error("left moving", "error", err)
	}
}
