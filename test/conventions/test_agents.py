"""One agent asks another: examples/dispatcher.yaml, a node without a robot, has the node of robot two drive."""

import json
import time

import pytest
from agent_msgs.action import ExecuteTask
from agent_msgs.msg import AgentState, Budget
from builtin_interfaces.msg import Duration
from processes import ROOT
from rclpy.action import ActionClient
from robots import Fleet

from goals import Goal
from inputs import TASK, call, script

FINISH = {"calls": [{"id": "", "tool": "finish", "arguments": {"answer": "Robot two was asked."}}]}


class Asking:
    """The dispatcher's node. Its model passes the goal's task on."""

    def __init__(self, fleet):
        self.rig = fleet
        self.actions = ActionClient(fleet.node, ExecuteTask, "/office/agent_node/execute_task")
        params = script(fleet.folder, call("ask_robot_two", {"task": TASK}), FINISH)
        params |= {"profile": ROOT / "examples" / "dispatcher.yaml", "trace.dir": fleet.folder / "traces_office"}
        params |= {"wait_for_bindings": 2.0, "acceptance_rounds": 0}
        self.process = fleet.start("agent_node", params, ["-r", "__ns:=/office"], log="node_office")
        assert self.actions.wait_for_server(60.0), fleet.logs()

    def asked(self, ask):
        return self.rig.asked(ask)

    def wait(self, future, timeout):
        return self.rig.wait(future, timeout)

    def logs(self):
        return self.rig.logs()

    def goal(self, task, **fields):
        return Goal(self, ExecuteTask.Goal(task=task, **fields))


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    fleet = Fleet(tmp_path_factory.mktemp("agents"))
    try:
        robot = fleet.add("r2")
        fleet.ready()
        yield Asking(fleet), robot
    finally:
        fleet.close()


def asked(goal):
    """What the dispatcher saw of robot two."""
    (step,) = [s for s in goal.result.completed_steps if s.tool == "ask_robot_two"]
    return step


def test_one_agent_has_another_drive(two):
    office, robot = two
    goal = office.goal("go to the office", success_criteria=["robot_two_at_place(office)"])
    goal.wait(120)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    assert asked(goal).ok and '"outcome":"DONE"' in asked(goal).content.replace(" ", ""), asked(goal).content
    x, y, _ = robot.truth.pose()
    assert abs(x + 3.0) < 0.25 and abs(y - 1.5) < 0.25


def test_the_result_comes_when_the_other_robot_rests(two):
    office, robot = two
    goal = office.goal("go to the dock")
    robot.moving()
    goal.cancel()
    goal.wait(30)
    ended = goal.ended
    assert goal.end() == ("INTERRUPTED", "canceled"), goal.told()
    robot.rig.until(lambda: robot.truth.newest().header.stamp.sec > ended, 10.0, "the truth of that moment")
    assert robot.truth.still_since() <= ended, "the result came before the other robot rested"
    assert robot.rests(1.0), "it drives on"
    robot.rig.until(lambda: robot.states[-1].state == AgentState.IDLE, 10.0, "robot two's node to be idle")


def test_a_failure_of_the_other_is_told_in_words(two):
    office, robot = two
    before = robot.counters()
    goal = office.goal("fly to the moon", success_criteria=["robot_two_at_place(kitchen)"])
    goal.wait(60)
    step = asked(goal)
    assert not step.ok and step.error_kind == "server_failed", goal.told()
    assert "the other agent ended FAILED" in step.content and "moon" in step.content, step.content
    assert goal.end()[0] != "DONE", goal.told()
    assert robot.counters() == before


def test_the_other_gets_no_more_than_what_is_left(two):
    """Of the wall time, too: the other robot is at rest before the asker's time is over."""
    office, robot = two
    begun = time.monotonic()
    goal = office.goal(
        "go to the kitchen", budget=Budget(max_steps=9, max_tool_calls=7, max_wall_time=Duration(sec=19))
    )
    robot.moving()
    limits = []
    robot.rig.until(lambda: limits or limits.extend(r2_limits(robot)), 5.0, "robot two to tell its limits")
    goal.wait(60)
    assert time.monotonic() - begun < 25.0
    assert goal.end()[0] in ("BUDGET_EXHAUSTED", "UNVERIFIED"), goal.told()
    assert not asked(goal).ok and "budget_wall_time" in asked(goal).content, goal.told()
    assert robot.rests(1.0)
    told = limits[0]
    assert told["max_steps"] == 8 and told["max_tool_calls"] == 6, told
    assert 0 < told["max_wall_time_ns"] <= 12e9, told


def r2_limits(robot):
    """The limits of robot two's newest session, by its trace."""
    files = sorted((robot.rig.folder / "traces_r2").glob("*.jsonl"), key=lambda f: f.stat().st_mtime)
    for line in files[-1].read_text().splitlines():
        event = json.loads(line)
        limits = event.get("data", {}).get("limits")
        if limits:
            return [limits]
    return []


def test_an_agent_that_is_not_there_is_said_to_be(two):
    office, robot = two
    robot.agent.stop()
    goal = office.goal("go to the kitchen")
    goal.wait(60)
    assert asked(goal).error_kind == "server_unavailable", goal.told()
