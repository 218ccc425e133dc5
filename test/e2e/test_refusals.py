"""What must not be done is refused before anything is sent, and the finding says why: rule, value, limit and unit."""

import re

import pytest

from inputs import GIVE_UP, TASK, call
from judge import honest

METRES = r"-?\d+(\.\d+)?(e[+-]?\d+)? m\b"

TASKS = {
    "too_far": ("drive 100 m", r"rule range: .*100(\.0+)? m.*10(\.0+)? m"),
    "into_a_wall": ("drive 3 m backward", rf"rule swept path: .*{METRES}.*{METRES}"),
}


@pytest.mark.parametrize("name", TASKS)
def test_a_task_that_cannot_be_done_safely_moves_nothing(house, name):
    task, says = TASKS[name]
    goal = house.run(task, 30)
    honest(house, goal)
    assert goal.end()[0] == "FAILED", goal.told()
    assert not house.commanded()
    refused = [s for s in goal.result.completed_steps if s.error_kind == "geometry_refused"]
    assert refused and re.search(says, refused[0].content), goal.told()


POSES = {
    "in_the_wall": ((-0.6, 1.8), rf"rule map: .*{METRES}.*{METRES}"),
    "beside_the_wall": ((-0.45, 1.8), rf"rule map: .*{METRES}.*{METRES}"),
    "in_the_keep_out_zone": ((0.0, 0.1), rf"rule keep-out: .*{METRES}.*{METRES}"),
    "off_the_map": ((9.0, 0.0), rf"rule workspace: .*{METRES}.*{METRES}"),
    "absurd": ((1e308, 0.0), r"rule range: .*1e\+?308"),
}


@pytest.mark.parametrize("name", POSES)
def test_a_goal_pose_that_is_not_free_is_refused(scripted, name):
    (x, y), says = POSES[name]
    r = scripted(call("navigate_to", x=x, y=y, yaw=0.0), GIVE_UP)
    assert_refused(r, r.run(name, 30), "navigate_to", "geometry_refused", says)


ARGUMENTS = {
    "bare_nan": ('{"distance_m": NaN}', "invalid_arguments", r"offset|byte|position"),
    "nan_as_text": ('{"distance_m": "NaN"}', "invalid_arguments", "distance_m"),
    "infinity_as_text": ('{"distance_m": "Infinity"}', "invalid_arguments", "distance_m"),
    "overflow": ('{"distance_m": 1e999}', "invalid_arguments|geometry_refused", ""),
    "absurd": ('{"distance_m": 1e308}', "geometry_refused", "rule range: .*1e[+]?308"),
    "missing": ("{}", "invalid_arguments", "distance_m"),
    "unknown": ('{"distance_m": 1, "speed": 3}', "invalid_arguments", "speed"),
    "twice": ('{"distance_m": 0.1, "distance_m": 100}', "invalid_arguments", "distance_m"),
    "no_json": ('{"distance_m": 0.1', "invalid_arguments", ""),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_are_no_numbers_reach_nothing(scripted, name):
    text, kind, says = ARGUMENTS[name]
    r = scripted(call("drive", TASK), GIVE_UP)
    assert_refused(r, r.run(text, 30), "drive", kind, says)


def assert_refused(r, goal, tool, kind, says):
    honest(r, goal)
    assert goal.end()[0] == "FAILED", goal.told()
    first = goal.result.completed_steps[0]
    assert first.tool == tool and re.fullmatch(kind, first.error_kind), goal.told()
    assert re.search(says, first.content), first.content
    assert not r.commanded()
