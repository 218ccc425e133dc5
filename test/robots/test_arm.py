"""The profiles of an arm and a mobile manipulator against their stand-ins: as they should be, and with bad habits."""

import json
import time

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment")

from agent_msgs.msg import ActuatorState, Plan, PlanStep

from judge import SKEW, ended, honest

CONTROLLER = "/joint_trajectory_controller/follow_joint_trajectory"
GRIPPER = "/gripper_controller/gripper_cmd"


def at_rest(rig, goal):
    """Honest, and the true joints rested when it ended."""
    honest(rig, goal)
    if goal.result.reason_code != "actuator_fault":
        assert rig.arm_at_rest_at(ended(rig, goal) - SKEW), goal.told()


def moving(rig):
    rig.until(lambda: rig.joints[-1][2] > 0.2, 30.0, "the arm to move")


def done(rig, task, timeout=60):
    goal = rig.run(task, timeout)
    at_rest(rig, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    return goal


def test_the_arm_moves_and_grips(arm):
    arm.fresh()
    done(arm, "move the arm to home")
    assert arm.arm()["elbow_joint"] == pytest.approx(0.0, abs=0.03)
    assert arm.arm()["wrist_1_joint"] == pytest.approx(-1.5708, abs=0.03)
    done(arm, "open the gripper")
    assert arm.arm()["finger_joint"] == pytest.approx(0.04, abs=0.003)
    arm.set_sim(**{"sim.thing": 0.02})
    done(arm, "close the gripper")
    assert arm.arm()["finger_joint"] == pytest.approx(0.02, abs=0.003)


def test_the_manipulator_folds_its_arm_before_it_drives(manipulator):
    manipulator.fresh()
    done(manipulator, "move the arm to ready")
    assert manipulator.moved() == (0.0, 0.0)
    done(manipulator, "drive 0.3 m forward, then open the gripper")
    assert manipulator.pose()[0] == pytest.approx(0.3, abs=0.06)
    assert manipulator.arm()["elbow_joint"] == pytest.approx(2.4, abs=0.05)
    assert manipulator.arm()["finger_joint"] == pytest.approx(0.04, abs=0.003)


READY = "move the arm to ready"
HOME = "move the arm to home"

BEARABLE = {
    "slow accept": {"accept_delay": 1.0},
    "lost accept": {"accept_lost": True},  # its status tells
    "feedback every 2 s": {"feedback_period": 2.0},
    "feedback that stops": {"feedback_stops": True},
    "late result": {"result_delay": 1.5},
    "best-effort joint states": {"best_effort": True},
}


def at_home(rig):
    return abs(rig.arm()["elbow_joint"]) < 0.03 and abs(rig.arm()["wrist_2_joint"]) < 0.03


@pytest.mark.parametrize("name", BEARABLE)
def test_a_habit_that_can_be_borne(arm, name):
    arm.fresh()
    arm.habit(**BEARABLE[name])
    done(arm, HOME)
    assert at_home(arm) and arm.arm_at_rest_at(time.time() - 0.1)
    assert arm.commanded()[CONTROLLER] == 1


BAD = {
    "abort with a code": ({"abort": "code"}, "server_failed", "path tolerance violated"),
    "abort without a code": ({"abort": "bare"}, "server_failed", "the server aborted the goal"),
    "success without motion": (
        {"lie": True},
        "postcondition_failed",
        "elbow_joint was to move by -1.571 rad and the server says it has, but only 0 rad were measured",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_habit_that_cannot_be_borne_is_told(arm, name):
    habits, kind, says = BAD[name]
    arm.fresh()
    arm.habit(**habits)
    goal = arm.run(HOME, 60)
    at_rest(arm, goal)
    assert goal.end()[0] in ("FAILED", "UNVERIFIED") and goal.kinds()[0] == kind and says in goal.told(), goal.told()
    assert 1 <= arm.commanded()[CONTROLLER] <= 3 and not at_home(arm)


def test_a_controller_that_aborts_once_is_asked_again(arm):
    arm.fresh()
    arm.habit(abort="code", abort_once=True)
    goal = done(arm, HOME)
    assert goal.kinds() == ["server_failed"] and at_home(arm)


def test_controllers_that_restart_in_a_motion_are_not_waited_for(arm):
    arm.fresh()
    goal = arm.goal(HOME)
    moving(arm)
    arm.habit(restart=True)
    goal.wait(60)
    at_rest(arm, goal)
    assert goal.end() != ("DONE", "accepted") or at_home(arm), goal.told()
    assert goal.kinds(), goal.told()


@pytest.mark.parametrize(
    "habits", [{}, {"cancel_succeeds": True}, {"result_delay": 1.5}, {"accept_lost": True}], ids=str
)
def test_a_cancel_ends_at_rest_whatever_the_server_says_of_it(arm, habits):
    """The controller answers a cancel while the arm still moves."""
    arm.fresh()
    arm.habit(**habits)
    goal = arm.goal(HOME)
    moving(arm)
    goal.cancel()
    goal.wait(20)
    at_rest(arm, goal)
    assert goal.end() == ("INTERRUPTED", "canceled") and not at_home(arm), goal.told()


def test_the_robots_own_hold_pauses_the_motion_and_it_goes_on(arm):
    arm.fresh()
    goal = arm.goal(HOME)
    moving(arm)
    arm.set_sim(**{"sim.hold": True})
    arm.until_actuator(ActuatorState.PAUSED, 10.0, "arm")
    time.sleep(0.5)
    assert arm.joints[-1][2] < 0.01 and not goal.over()
    arm.set_sim(**{"sim.hold": False})
    goal.wait(40)
    at_rest(arm, goal)
    assert goal.end() == ("DONE", "accepted") and at_home(arm), goal.told()


def test_a_pose_that_is_in_the_table_is_refused(arm, tmp_path):
    """By a plan: the offline planner has no words for poses."""
    arm.fresh()
    joints = [0.0, 0.6, 0.6, -1.5708, -1.5708, 0.0]  # the upper arm points down
    step = PlanStep(id="s1", tool="move_arm", arguments_json=json.dumps({"joints": joints}))
    goal = arm.goal(
        "", plan=Plan(task="reach", steps=[step], success_criteria=[f"arm_at({', '.join(map(str, joints))})"])
    )
    goal.wait(40)
    at_rest(arm, goal)
    assert goal.end()[0] == "FAILED" and "what it stands on" in goal.told(), goal.told()
    assert not arm.commanded()


def test_the_manipulators_parts_fail_by_themselves(manipulator):
    manipulator.fresh()
    manipulator.habit(abort="code")
    for task, server in (
        ("drive 0.5 m forward", "/drive_on_heading"),
        (READY, CONTROLLER),
        ("open the gripper", GRIPPER),
    ):
        goal = manipulator.run(task, 60)
        at_rest(manipulator, goal)
        assert goal.end()[0] == "FAILED" and set(goal.kinds()) == {"server_failed"}, goal.told()
        assert manipulator.commanded()[server] >= 1
    manipulator.habit(abort="")
    goal = manipulator.goal("go to x 1.0 m, y -0.5 m facing 0 degrees")
    manipulator.moving()
    goal.cancel()
    goal.wait(20)
    at_rest(manipulator, goal)
    assert goal.end() == ("INTERRUPTED", "canceled"), goal.told()
