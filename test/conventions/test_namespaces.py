"""Two nodes in two namespaces, and two robots of one kind in one domain: each drives its own."""

import math
import time

import pytest
from asking import nodes, topics
from robots import Fleet

COMMANDS = ("cmd_vel", "navigate_to_pose")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    fleet = Fleet(tmp_path_factory.mktemp("pair"))
    try:
        for name in ("r1", "r2"):
            fleet.add(name)
        fleet.ready()
        yield fleet
    finally:
        fleet.close()


def changed(before, after):
    return {k: after[k] - before[k] for k in after if after[k] != before[k]}


def test_everything_of_a_robot_lies_in_its_namespace(pair):
    """ros2 node list, ros2 topic list"""
    assert {"/r1/agent_node", "/r2/agent_node", "/r1/sim_robot", "/r2/sim_robot"} <= set(nodes(pair))
    for name in ("/cmd_vel", "/odom", "/joint_states", "/scan"):
        assert name not in topics(pair) and f"/r1{name}" in topics(pair) and f"/r2{name}" in topics(pair)


def test_one_robots_node_hears_and_commands_no_other(pair):
    """ros2 topic info -v /r2/odom"""
    for own, other in (("r1", "r2"), ("r2", "r1")):
        for topic in ("odom", "joint_states", "cmd_vel"):
            ends = pair.node.get_subscriptions_info_by_topic(f"/{other}/{topic}")
            ends += pair.node.get_publishers_info_by_topic(f"/{other}/{topic}")
            assert not any(e.node_namespace == f"/{own}" for e in ends), (own, topic, ends)


def test_a_goal_of_one_robot_moves_that_one_alone(pair):
    r1, r2 = pair.robots["r1"], pair.robots["r2"]
    before, begun = (r1.counters(), r2.counters()), time.time()
    goal = r1.goal("drive 0.4 m forward")
    goal.wait(60)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    assert 0.35 < r1.path_since(begun) < 0.5
    assert changed(before[0], r1.counters())
    assert not changed(before[1], r2.counters()) and r2.path_since(begun) < 0.02


def test_two_robots_work_at_once(pair):
    r1, r2 = pair.robots["r1"], pair.robots["r2"]
    first, second = r1.goal("go to the kitchen"), r2.goal("go to the office")
    r1.moving()
    r2.moving()
    assert not first.over() and not second.over()
    for robot, goal, place in ((r1, first, (1.4, 1.5)), (r2, second, (-3.0, 1.5))):
        goal.wait(120)
        assert goal.end() == ("DONE", "accepted"), goal.told()
        x, y, _ = robot.truth.pose()
        assert math.hypot(x - place[0], y - place[1]) < 0.25


def test_a_cancel_stops_one_robot_and_not_the_other(pair):
    r1, r2 = pair.robots["r1"], pair.robots["r2"]
    first, second = r1.goal("go to the dock"), r2.goal("go to the dock")
    r1.moving()
    r2.moving()
    first.cancel()
    first.wait(30)
    assert first.end() == ("INTERRUPTED", "canceled") and r1.still()
    assert not second.over()
    second.wait(120)
    assert second.end() == ("DONE", "accepted"), second.told()
    assert r1.rests(0.5)
