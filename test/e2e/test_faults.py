"""Every fault of the robot, before and during a motion, with and without a cancel: the robot comes to rest by
the stop path, or the result says that it did not. Never a false claim, never a hang."""

import pytest
from agent_msgs.msg import ActuatorState

from judge import honest, rests_for_good

# A motion of about five seconds, from a place with room ahead.
MOTIONS = {
    "navigate": ((1.4, -0.4, 1.5708), "go to the kitchen"),
    "drive": ((-1.6, -1.5, 0.0), "drive 1.6 m forward"),
}
BOUND = 45.0  # s, more than any stop path takes

DONE, CANCELED = ("DONE", "accepted"), ("INTERRUPTED", "canceled")
FAULT, LOST = ("FAILED", "actuator_fault"), ("FAILED", "dependency_lost")

# What may come of it: without a cancel before, during; with a cancel before, during.
# Blind: rest cannot be measured, so none is claimed.
BLIND = ({FAULT}, {FAULT}, {FAULT}, {FAULT})
HARMLESS = ({DONE}, {DONE}, {CANCELED}, {CANCELED})
FAULTS = {
    "refuse_cancel": (True, HARMLESS),
    "ignore_cancel": (True, HARMLESS),
    "late_result": (True, HARMLESS),
    "drop_feedback": (True, HARMLESS),
    "slow_accept": (1.0, HARMLESS),
    "stop_odom": (True, BLIND),
    "stale_stamps": (True, BLIND),
    "nan_odom": (True, BLIND),
    # Values that stand still while the command is too young to show: rest is then no claim of the odometry's alone.
    "freeze_odom": (True, ({FAULT}, {FAULT}, {FAULT, CANCELED}, {FAULT})),
    "drift": (0.1, BLIND),
    "action_server_down": (True, ({LOST}, {LOST}, {CANCELED}, {CANCELED, LOST})),
}
# No measurement that could be used arrives; the guard says so after a second.
UNSEEN = ("stop_odom", "stale_stamps", "nan_odom")
# What only concerns an action leaves a stream of velocities alone.
ACTIONS_ONLY = ("refuse_cancel", "ignore_cancel", "late_result", "drop_feedback", "slow_accept", "action_server_down")


def cases():
    out = []
    for motion in MOTIONS:
        for fault in FAULTS:
            if motion == "drive" and fault in ACTIONS_ONLY:
                continue
            for cancel in (False, True):
                for when in ("before", "during"):
                    name = f"{motion}-{fault}-{when}-{'canceled' if cancel else 'left_alone'}"
                    out.append(pytest.param(motion, fault, when, cancel, id=name))
    return out


@pytest.mark.parametrize("motion, fault, when, cancel", cases())
def test_a_fault_ends_in_rest_or_is_owned_up_to(house, motion, fault, when, cancel):
    start, task = MOTIONS[motion]
    value, expected = FAULTS[fault]
    house.put(*start)
    if when == "before":
        house.fault(fault, value)
        if fault in UNSEEN:
            house.until_actuator(ActuatorState.UNKNOWN)
    goal = house.goal(task)
    if when == "during":
        house.moving()
        house.fault(fault, value)
    if cancel:
        begin_to_move(house, goal)
        goal.cancel()
    goal.wait(BOUND)
    honest(house, goal)
    assert goal.end() in expected[2 * cancel + (when == "during")], goal.told()
    if fault != "drift":
        rests_for_good(house)
    if when == "before" and fault in (*UNSEEN, "action_server_down"):
        assert not house.commanded(), "commanded without being able to see, or without a server"


def begin_to_move(house, goal, patience=1.5):
    """Until the robot moves, or has had its time to."""
    try:
        house.until(lambda: house.speed()[0] > 0.1 or goal.over(), patience, "the robot to move")
    except AssertionError:
        pass


@pytest.mark.parametrize("cancel", [False, True], ids=["left_alone", "canceled"])
def test_a_drive_minds_no_fault_of_actions(house, cancel):
    for fault in ACTIONS_ONLY:
        house.fault(fault, FAULTS[fault][0])
    goal = house.goal("drive 0.8 m forward")
    if cancel:
        house.moving()
        goal.cancel()
    goal.wait(BOUND)
    honest(house, goal)
    assert goal.end() == (CANCELED if cancel else DONE), goal.told()


def test_a_goal_accepted_after_it_was_given_up_is_canceled(house):
    """The answer to the goal takes longer than the guard waits; what is accepted then must not drive on."""
    house.put(*MOTIONS["navigate"][0])
    house.fault("slow_accept", 4.0)
    goal = house.goal("go to the kitchen")
    goal.wait(BOUND)
    honest(house, goal)
    assert goal.end() in {LOST, FAULT}, goal.told()
    rests_for_good(house, 6.0)
