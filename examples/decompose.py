#!/usr/bin/env python3
"""Asks agent_node for a plan, prints it as a tree with what is predicted of each step, and has it carried out.

    . build/env.sh
    python3 examples/decompose.py "go to the kitchen, then drive half a metre back"

Nothing moves before the plan is sent back as a goal. It is sent only if no step of it would be refused; --look stops
behind the tree. Ctrl-C cancels. Exit codes: 0 done (or looked at), 1 anything else.
"""

import argparse
import signal
import sys
import threading

import rclpy
from agent_msgs.action import ExecuteTask
from agent_msgs.msg import PlanStep
from agent_msgs.srv import DecomposeTask
from rclpy.action import ActionClient
from rclpy.node import Node

FEASIBILITY = {PlanStep.UNKNOWN: "unknown", PlanStep.OK: "ok", PlanStep.REFUSED: "refused"}
OUTCOMES = {v: k for k, v in vars(ExecuteTask.Result).items() if k.isupper() and isinstance(v, int)}


def children(step):
    """What there is to say of a step, a line each."""
    if step.description:
        yield step.description
    if step.depends_on:
        yield "after " + ", ".join(step.depends_on)
    for criterion in step.acceptance:
        yield "must hold: " + criterion
    for finding in step.findings:
        yield f"refused by rule {finding.rule}: {finding.message}"


def tree(plan):
    """The plan as lines of a tree."""
    branches = []
    for step in plan.steps:
        what = f"{step.tool}({step.arguments_json})" if step.tool else "agent"
        branches.append((f"{step.id}  {what}  [{FEASIBILITY[step.feasibility]}]", list(children(step))))
    if plan.success_criteria:
        branches.append(("done when", list(plan.success_criteria)))
    yield plan.task
    for i, (head, leaves) in enumerate(branches):
        last = i == len(branches) - 1
        yield ("└─ " if last else "├─ ") + head
        for j, leaf in enumerate(leaves):
            yield ("   " if last else "│  ") + ("└─ " if j == len(leaves) - 1 else "├─ ") + leaf


class Interrupted(Exception):
    """Ctrl-C, before anything moves."""


# Set by Ctrl-C. A handler that raised instead would do so anywhere, such as in the middle of a message being read.
interrupted = threading.Event()


def wait(node, future, heed=True):
    """Spins until the future is done, or until Ctrl-C where that is to be heeded; whether it is done."""
    while not future.done() and not (heed and interrupted.is_set()):
        rclpy.spin_until_future_complete(node, future, timeout_sec=0.1)
    return future.done()


def found(wait_for):
    """Whether a server is found within 10 s."""
    for _ in range(100):
        if wait_for(timeout_sec=0.1):
            return True
        if interrupted.is_set():
            raise Interrupted
    return False


def ask(node, agent, request):
    """A plan for the task, from ~/decompose_task."""
    client = node.create_client(DecomposeTask, f"{agent}/decompose_task")
    if not found(client.wait_for_service):
        raise RuntimeError(f"no service {agent}/decompose_task: is the node running, and active?")
    future = client.call_async(request)
    if not wait(node, future):
        raise Interrupted
    return future.result()


def execute(node, agent, plan):
    """Sends the plan back as a goal and waits for its result; Ctrl-C cancels it and waits for the robot to rest."""
    client = ActionClient(node, ExecuteTask, f"{agent}/execute_task")
    if not found(client.wait_for_server):
        raise RuntimeError(f"no action {agent}/execute_task")

    def progress(message):
        step = message.feedback.last_step
        if step.index > progress.seen:
            progress.seen = step.index
            print(f"  {step.call_id}  {step.tool}: {'ok' if step.ok else step.error_kind}", flush=True)

    progress.seen = 0
    sent = client.send_goal_async(ExecuteTask.Goal(plan=plan), feedback_callback=progress)
    wait(node, sent, heed=False)  # what is sent may be accepted: then it can be canceled
    goal = sent.result()
    if not goal.accepted:
        raise RuntimeError("the goal was rejected: the node's log says why")
    result = goal.get_result_async()
    if not wait(node, result):
        print("canceling; waiting until the robot rests", flush=True)
        wait(node, goal.cancel_goal_async(), heed=False)
        wait(node, result, heed=False)
    return result.result().result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", help="the task in plain words")
    parser.add_argument("--context", default="", help="what else the planner should know")
    parser.add_argument("--agent", default="/agent_node", help="full name of the node")
    parser.add_argument("--look", action="store_true", help="print the plan and stop")
    own = parser.parse_args(rclpy.utilities.remove_ros_args(sys.argv)[1:])

    # Ctrl-C is this program's: the context must outlive it, so that the goal can be canceled.
    rclpy.init(args=sys.argv, signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    node = Node("decompose_example")
    try:
        answer = ask(node, own.agent, DecomposeTask.Request(task=own.task, context=own.context))
        if not answer.success:
            print(f"no plan ({answer.reason_code}): {answer.message}")
            return 1
        for line in tree(answer.plan):
            print(line)
        if own.look:
            return 0
        if any(step.feasibility == PlanStep.REFUSED for step in answer.plan.steps):
            print(f"not carried out: {answer.message}")
            return 1
        if interrupted.is_set():
            return 1
        result = execute(node, own.agent, answer.plan)
        print(f"{OUTCOMES[result.outcome]} ({result.reason_code}): {result.answer}")
        return 0 if result.outcome == ExecuteTask.Result.DONE else 1
    except Interrupted:
        return 1
    finally:
        node.destroy_node()
        rclpy.shutdown()


if __name__ == "__main__":
    sys.exit(main())
