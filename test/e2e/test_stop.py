"""~/stop: in every lifecycle state and in any motion; success is measured rest, and nothing else."""

import time

import pytest
from agent_msgs.msg import ActuatorState
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Twist
from std_srvs.srv import Trigger

from goals import STATUS
from judge import honest, rests_for_good

TASKS = {"navigate": "go to the kitchen", "drive": "drive 2 m forward"}


@pytest.mark.parametrize("motion", TASKS)
def test_it_brings_a_motion_to_rest_and_answers_only_then(house, motion):
    goal = house.goal(TASKS[motion])
    house.moving()
    answer = house.trigger("stop")
    answered = time.time()
    assert answer.success, answer.message
    assert house.at_rest_at(answered)
    goal.wait(15)
    honest(house, goal)
    assert (goal.status, goal.end()) == (STATUS["ABORTED"], ("INTERRUPTED", "operator_stop")), goal.told()
    rests_for_good(house, 1.0)
    # A stop is no fault: the next goal moves.
    again = house.run("drive 0.2 m forward", 30)
    assert again.end() == ("DONE", "accepted"), again.told()


def test_at_rest_it_is_a_success_at_once(house):
    begin = time.monotonic()
    assert house.trigger("stop").success
    assert time.monotonic() - begin < 3.0
    assert house.truth.path() < 0.001


@pytest.mark.parametrize("fault", ["stop_odom", "nan_odom", "stale_stamps", "freeze_odom", "drift"])
def test_it_is_no_success_where_rest_cannot_be_measured(house, fault):
    goal = house.goal("drive 2 m forward")
    house.moving()
    house.fault(fault, 0.1 if fault == "drift" else True)
    answer = house.trigger("stop", 40)
    assert not answer.success and "base" in answer.message, answer
    goal.wait(20)
    assert goal.end() == ("FAILED", "actuator_fault"), goal.told()
    assert house.actuator() == ActuatorState.FAULT
    house.until(lambda: house.level() == DiagnosticStatus.ERROR, 5.0, "an error in the diagnostics")


def test_many_stops_at_once_are_all_answered(house):
    goal = house.goal("go to the kitchen")
    house.moving()
    futures = [house.call_async(Trigger, f"{house.name}/stop", Trigger.Request()) for _ in range(10)]
    assert all(house.wait(f, 20).success for f in futures)
    goal.wait(10)
    honest(house, goal)


@pytest.mark.parametrize("state", ["unconfigured", "inactive", "active", "finalized"])
def test_it_works_in_every_lifecycle_state(rig, state):
    """Somebody else drives the base; the node that was asked to stop it does, whatever state it is in."""
    r = rig(node=False)
    r.start_node({"autostart": state == "active"}, wait=False)
    r.until(lambda: r.lifecycle() == ("active" if state == "active" else "unconfigured"), 30.0, "the node")
    if state == "inactive":
        assert r.transition("configure")
    if state == "finalized":
        assert r.transition("shutdown")
    assert r.lifecycle() == state
    assert r.trigger("stop").success and "/cmd_vel" not in r.commanded()

    push = r.node.create_publisher(Twist, "/cmd_vel", 10)
    r.until(lambda: push.get_subscription_count() > 0, 10.0, "the base to listen")
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        push.publish(forward(0.2))
        time.sleep(0.05)
    answer = r.trigger("stop")
    answered = time.time()
    assert answer.success, answer.message
    assert r.at_rest_at(answered)
    assert r.lifecycle() == state


def forward(speed):
    m = Twist()
    m.linear.x = speed
    return m
