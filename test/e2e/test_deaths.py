"""Programs that die: the robot, the node, a client. What is left comes to rest and says so."""

import json
import signal
import subprocess
import sys
import time

import pytest

from cases import case
from goals import STATUS
from judge import ended, honest
from processes import BUILD
from truth import stamp, still

TASKS = {"navigate": "go to the kitchen", "drive": "drive 2 m forward"}
LOST, FAULT = ("FAILED", "dependency_lost"), ("FAILED", "actuator_fault")


@pytest.mark.parametrize("motion", TASKS)
def test_a_robot_that_dies_in_a_motion_is_owned_up_to(rig, motion):
    r = rig(node_params={"wait_for_bindings": 2.0})
    goal = r.goal(TASKS[motion])
    r.moving()
    begin = time.monotonic()
    r.sim.kill()
    goal.wait(30)
    assert time.monotonic() - begin < 20
    assert goal.status == STATUS["ABORTED"] and goal.end() in (LOST, FAULT), goal.told()
    assert goal.result.completed_steps and goal.result.unmet_goals, goal.told()
    # The node lives on and says what it can do without a robot.
    again = r.run("go to the kitchen", 40)
    assert again.end() in (LOST, FAULT), again.told()
    # With nothing to measure it cannot promise rest; that much it says by its exit code.
    assert r.agent.stop() == 1


@pytest.mark.parametrize("moving", [True, False], ids=["in a motion", "after one"])
def test_a_signal_once_the_robot_is_dead_ends_the_node_in_bounded_time(rig, moving):
    """What cannot be measured any more is owned up to, and waited for no longer than stop_reserve and two seconds."""
    r = rig(node_params={"stop_reserve": 4.0})
    goal = r.goal("drive 2 m forward" if moving else "drive 0.3 m forward")
    r.moving()
    if not moving:
        goal.wait(60)
    r.sim.kill()
    begin = time.monotonic()
    code = r.agent.stop(signal.SIGTERM, 40)
    took = time.monotonic() - begin
    said = r.agent.text()
    assert took < 6.0 + 2.0, f"{took:.1f} s with code {code}\n{said[-4000:]}"  # the machine may be busy
    if moving:
        assert code == 1 and "ends although the robot was not measured at rest" in said, said[-4000:]
    else:  # it moved nothing when the measurements ended
        assert code == 0, said[-4000:]


def test_a_robot_that_comes_back_is_used_again(rig):
    r = rig()
    goal = r.goal("go to the kitchen")
    r.moving()
    r.sim.kill()
    goal.wait(30)
    r.start_sim()
    r.until(lambda: r.trigger("reset").success, 30.0, "a reset once the robot is back")
    again = r.run("drive 0.3 m forward", 40)
    honest(r, again)
    assert again.end() == ("DONE", "accepted"), again.told()


# From a keyboard, from who launched it, and from a terminal that is closed.
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("sig", SIGNALS, ids=lambda s: s.name)
@pytest.mark.parametrize("motion", TASKS)
def test_a_signal_in_a_motion_ends_the_goal_at_rest_and_the_node_with_0(rig, motion, sig):
    r = rig()
    goal = r.goal(TASKS[motion])
    r.moving()
    begin = time.monotonic()
    assert r.agent.stop(sig, 20) == 0
    assert time.monotonic() - begin < 15
    result = goal.wait(5)
    assert (goal.status, goal.end()) == (STATUS["ABORTED"], ("INTERRUPTED", "shutdown")), goal.told()
    assert r.at_rest_at(ended(r, goal)), goal.told()
    assert result.completed_steps[-1].error_kind == "canceled", goal.told()
    assert r.at_rest_now()
    verify(result.trace)


@pytest.mark.parametrize("sig", SIGNALS, ids=lambda s: s.name)
def test_a_signal_at_rest_ends_the_node_with_0(rig, sig):
    r = rig()
    begin = time.monotonic()
    assert r.agent.stop(sig, 20) == 0
    assert time.monotonic() - begin < 10
    assert not r.commanded()


def test_a_node_without_its_robot_ends_with_0(rig):
    """It has moved nothing, and what it cannot measure it has no need to bring to rest."""
    r = rig(sim=False, node=False)
    r.start_node(wait=False)
    assert r.actions.wait_for_server(60)
    assert r.transition("deactivate") and r.transition("activate")
    assert r.agent.stop(timeout=20) == 0


@pytest.mark.parametrize("sig", SIGNALS, ids=lambda s: s.name)
@pytest.mark.parametrize("begun", ["to=configuring", "to=inactive", "to=active"])
def test_a_signal_while_it_starts_ends_the_node_with_0(rig, begun, sig):
    """While it claims its name, while it configures or is about to activate, and as it begins to serve."""
    r = rig(node=False)
    r.start_node(wait=False)
    r.until(lambda: begun in r.agent.text(), 30.0, "the node to begin")
    assert r.agent.stop(sig, timeout=20) == 0, r.logs()
    errors = [line for line in r.agent.text().splitlines() if line.startswith(("[ERROR]", "[FATAL]", "agent_node:"))]
    # Just configured, the guard may not have measured anything yet, and says so.
    assert not [e for e in errors if "[agent_node.guard]" not in e], errors
    assert not errors or begun != "to=configuring", errors


def test_a_signal_ends_goals_that_wait_in_the_queue(rig):
    r = rig(node_params={"queue_policy": "queue"})
    goals = [r.goal("go to the kitchen") for _ in range(3)]
    r.moving()
    assert r.agent.stop(timeout=20) == 0
    for g in goals:
        g.wait(5)
        assert (g.status, g.end()) == (STATUS["ABORTED"], ("INTERRUPTED", "shutdown")), g.told()


def test_a_node_that_is_killed_leaves_a_base_that_stops_and_a_trace_that_is_read(rig):
    r = rig()
    goal = r.goal("drive 2 m forward")
    r.moving()
    time.sleep(1.0)
    killed = time.time()
    r.agent.kill()
    r.until(lambda: stamp(r.truth.newest()) > killed + 1.5, 10.0, "the truth of what follows")
    late = [m for _, m in r.truth.samples if stamp(m) > killed + 1.0]
    assert late and all(still(m) for m in late), "it moves a second after the node was killed"

    trace = next((r.folder / "traces").glob(f"*{goal.session()}*"))
    events = [json.loads(line) for line in show(trace, "--json").splitlines()]
    kinds = [e["kind"] for e in events]
    assert kinds[0] == "session" and "guard.transition" in kinds and "end" not in kinds
    assert "drive" in show(trace)
    verify(trace)


def test_a_node_that_comes_back_takes_goals_again(rig):
    r = rig()
    r.goal("drive 2 m forward")
    r.moving()
    r.agent.kill()
    r.start_node()
    goal = r.run("drive 0.2 m backward", 40)
    honest(r, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()


CLIENT = """
import os, sys, threading
import rclpy
from agent_msgs.action import ExecuteTask
from rclpy.action import ActionClient
rclpy.init()
node = rclpy.create_node("mayfly")
client = ActionClient(node, ExecuteTask, sys.argv[1])
assert client.wait_for_server(30)
client.send_goal_async(ExecuteTask.Goal(task=sys.argv[2]))
os.kill(os.getpid(), 9)
"""


@case("flt-019")
def test_a_client_that_dies_before_it_hears_the_acceptance_hurts_nobody(rig, case):
    r = rig()
    for _ in range(3):
        code = subprocess.run(
            [sys.executable, "-c", CLIENT, f"{r.name}/execute_task", "drive 0.2 m forward"], env=r.env, timeout=60
        ).returncode
        assert code == -signal.SIGKILL
    # The node does not spin on a reply that nobody takes, and the next client is served.
    r.until(lambda: r.states and r.states[-1][1].state == 1, 30.0, "the goal without a client to end")
    used = r.agent.cpu()
    time.sleep(2.0)
    assert r.agent.cpu() - used < 1.0, "the node is busy with nothing"
    goal = r.run("drive 0.2 m backward", 30)
    honest(r, goal)
    assert goal.end()[0] in case["expect"]["second_outcome_in"], goal.told()


def test_a_fault_that_is_over_does_not_spoil_the_exit(rig):
    r = rig()
    r.fault("stop_odom")
    goal = r.run("drive 0.5 m forward", 40)
    assert goal.end() == FAULT, goal.told()
    r.mend()
    time.sleep(1.0)
    assert r.agent.stop() == 0


def show(trace, *arguments):
    return subprocess.run(
        [BUILD / "agent_node", "trace", "show", *arguments, trace], capture_output=True, text=True, check=True
    ).stdout


def verify(trace):
    done = subprocess.run([BUILD / "agent_node", "trace", "verify", trace], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
