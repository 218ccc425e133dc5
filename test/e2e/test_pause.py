"""A pause is no failure and uses up nothing: by the robot's protective stop, and by ~/pause."""

import time

import pytest
from agent_msgs.msg import ActuatorState

from inputs import profile
from judge import honest
from truth import PLACES, still

LIMIT, CAP, PAUSE = 15.0, 6.0, 10.0  # s: a motion's time limit; a pause's cap; how long the robot is paused
START = (-1.6, -1.5, 0.0)  # twelve seconds of driving from the kitchen

# A drive and a turn have a limit of a minute, navigating of two.
SHORT = [("time_limit: 120.0", f"time_limit: {LIMIT}"), ("time_limit: 60.0", f"time_limit: {LIMIT}")]
CAPPED = [
    *SHORT,
    ("    limits:\n      linear: 0.5", f"    guard: {{pause_cap: {CAP}}}\n    limits:\n      linear: 0.5"),
]

PAUSES = {
    "protective_stop": (lambda r: r.fault("protective_stop"), lambda r: r.fault("protective_stop", False)),
    "pause_service": (lambda r: ask(r, "pause"), lambda r: ask(r, "resume")),
}
TASKS = {"navigate": "go to the kitchen", "drive": "drive 2 m forward"}
cross = pytest.mark.parametrize("how", PAUSES)
tasks = pytest.mark.parametrize("motion", TASKS)


def ask(rig, service):
    answer = rig.trigger(service)
    assert answer.success, answer.message


@pytest.fixture
def limited(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    return shared("limited", node_params=profile(folder, *SHORT))


@pytest.fixture
def capped(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    return shared("capped", node_params=profile(folder, *CAPPED))


def paused(rig):
    rig.until_actuator(ActuatorState.PAUSED, 5.0)
    rig.until(lambda: still(rig.truth.newest()), 5.0, "the robot to stand")


@cross
@tasks
def test_a_pause_uses_up_no_time_and_the_motion_goes_on(limited, how, motion):
    begin, end = PAUSES[how]
    goal = limited.goal(TASKS[motion])
    limited.moving()
    begin(limited)
    paused(limited)
    at = limited.pose()
    time.sleep(PAUSE)
    assert limited.actuator() == ActuatorState.PAUSED and not goal.over()
    assert limited.pose() == pytest.approx(at, abs=0.01), "it moved while it was paused"
    end(limited)
    goal.wait(40)
    honest(limited, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    # One call, paused and resumed within it.
    skills = [s for s in goal.result.completed_steps if s.tool in ("navigate_to", "drive")]
    assert [s.ok for s in skills] == [True], goal.told()
    path = limited.actuator_path()
    assert contains(path, [ActuatorState.IN_FLIGHT, ActuatorState.PAUSED, ActuatorState.IN_FLIGHT]), path
    if motion == "navigate":
        assert limited.at(*PLACES["kitchen"])


@cross
@tasks
def test_a_pause_longer_than_the_cap_ends_the_step_at_rest(capped, how, motion):
    begin, end = PAUSES[how]
    goal = capped.goal(TASKS[motion])
    capped.moving()
    begin(capped)
    paused(capped)
    since = time.monotonic()
    capped.until(lambda: capped.actuator() != ActuatorState.PAUSED, CAP + 10, "the pause to end by its cap")
    assert time.monotonic() - since >= CAP - 1.0
    # What comes next is the planner's business: it may try once more, and stand before the same pause.
    goal.wait(60)
    honest(capped, goal)
    assert goal.kinds()[0] == "timeout", goal.told()
    assert goal.end()[0] == "FAILED", goal.told()
    assert capped.at_rest_now()
    end(capped)
    assert capped.at_rest_now(), "what was given up goes on"


@cross
def test_a_goal_that_comes_in_a_pause_waits_for_its_end(limited, how):
    begin, end = PAUSES[how]
    begin(limited)
    goal = limited.goal("drive 0.3 m forward")
    time.sleep(2.0)
    assert limited.at_rest_now() and not goal.over()
    end(limited)
    goal.wait(30)
    honest(limited, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()


@cross
def test_a_cancel_in_a_pause_ends_it(limited, how):
    begin, end = PAUSES[how]
    goal = limited.goal(TASKS["navigate"])
    limited.moving()
    begin(limited)
    paused(limited)
    goal.cancel()
    goal.wait(20)
    honest(limited, goal)
    assert goal.end() == ("INTERRUPTED", "canceled"), goal.told()
    end(limited)
    assert limited.at_rest_now(), "what was canceled goes on"


def contains(path, states):
    """The states come in this order; others may lie between."""
    rest = iter(path)
    return all(s in rest for s in states)
