"""The managed node: its action is there only while it is active; leaving a motion brings the robot to rest first."""

import time

import pytest
from agent_msgs.action import ExecuteTask
from agent_msgs.msg import ActuatorState
from agent_msgs.srv import ListTools

from goals import STATUS, Goal
from inputs import profile
from judge import ended, honest


def available(rig):
    return rig.actions.server_is_ready()


def tools(rig):
    return [t.name for t in rig.call(ListTools, f"{rig.name}/list_tools", ListTools.Request()).tools]


def test_without_autostart_it_waits_to_be_told(rig):
    r = rig(node=False)
    r.start_node({"autostart": False}, wait=False)
    assert r.lifecycle() == "unconfigured" and not available(r) and tools(r) == []
    assert r.transition("configure")
    assert r.lifecycle() == "inactive" and not available(r) and "navigate_to" in tools(r)
    r.until_actuator(ActuatorState.HOLDING)
    assert r.transition("activate")
    assert r.lifecycle() == "active"
    r.until(lambda: available(r), 10.0, "the action")
    goal = r.run("drive 0.2 m forward", 30)
    honest(r, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()


@pytest.mark.parametrize("task", ["go to the kitchen", "drive 2 m forward"], ids=["navigate", "drive"])
def test_deactivating_in_a_motion_brings_the_robot_to_rest_first(house, task):
    goal = house.goal(task)
    house.moving()
    assert house.transition("deactivate")
    answered = time.time()
    assert house.lifecycle() == "inactive"
    goal.wait(10)
    assert (goal.status, goal.end()) == (STATUS["ABORTED"], ("INTERRUPTED", "shutdown")), goal.told()
    assert house.at_rest_at(ended(house, goal)) and house.at_rest_at(answered)
    house.until(lambda: not available(house), 10.0, "the action to be gone")
    assert house.transition("activate")
    house.until(lambda: available(house), 10.0, "the action to be back")
    again = house.run("drive 0.2 m forward", 30)
    assert again.end() == ("DONE", "accepted"), again.told()


def test_it_can_be_taken_down_and_up_again_and_again(house):
    before = house.agent.usage()
    for _ in range(5):
        house.reconfigure()
    goal = house.run("where are you?", 20)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    after = house.agent.usage()
    assert after["descriptors"] <= before["descriptors"] + 5 and after["threads"] <= before["threads"] + 5, (
        before,
        after,
    )


@pytest.mark.parametrize(
    "word, state",
    [("activate", "unconfigured"), ("configure", "active"), ("cleanup", "active"), ("nonsense", "active")],
)
def test_a_transition_that_is_not_there_changes_nothing(rig, house, word, state):
    if state == "unconfigured":
        r = rig(node=False, sim=False)
        r.start_node({"autostart": False}, wait=False)
    else:
        r = house
    assert not r.transition(word)
    assert r.lifecycle() == state


def broken_profile(folder):
    """A profile with one wrong word, and where that stands."""
    wrong = ("class: skill\n    description: Drive straight", "class: stunt\n    description: Drive straight")
    path = profile(folder, wrong)
    lines = (folder / "profile.yaml").read_text().splitlines()
    return path, next(i for i, t in enumerate(lines, 1) if "stunt" in t)


def test_a_profile_that_cannot_work_ends_a_node_that_starts_by_itself(rig, tmp_path):
    r = rig(node=False)
    broken, line = broken_profile(tmp_path)
    r.start_node(broken, wait=False)
    assert r.agent.ended(30.0) == 1
    assert f"profile.yaml:{line}: tools/drive/class" in r.agent.text()


def test_a_profile_that_cannot_work_is_told_with_file_and_line_and_can_be_mended(rig, tmp_path):
    r = rig(node=False)
    broken, line = broken_profile(tmp_path)
    r.start_node({**broken, "autostart": False}, wait=False)
    r.until(lambda: r.lifecycle() == "unconfigured", 30.0, "the node")
    assert not r.transition("configure")
    r.until(lambda: f"profile.yaml:{line}: tools/drive/class" in r.agent.text(), 30.0, "the refusal")
    assert r.lifecycle() == "unconfigured"
    profile(tmp_path)
    assert r.transition("configure") and r.transition("activate")
    r.until(lambda: available(r), 10.0, "the action")


def test_a_goal_sent_as_it_goes_down_is_refused_or_ended(house):
    """The request and the transition race: the goal is answered and ends, whoever wins."""
    goals = []
    for _ in range(5):
        g = Goal(house, ExecuteTask.Goal(task="drive 1 m forward"))
        assert house.transition("deactivate")
        goals.append(g)
        assert house.transition("activate")
        house.until(lambda: available(house), 10.0, "the action")
    for g in goals:
        if g.handle is not None and g.accepted:
            g.wait(20)
            assert g.end()[0] in ("INTERRUPTED", "FAILED"), g.told()
    assert house.at_rest_now()
