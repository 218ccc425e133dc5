"""The profiles of an arm and a mobile manipulator against their stand-ins: as they should be, and with bad habits."""

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment")

from judge import honest


def done(rig, task, timeout=60):
    goal = rig.run(task, timeout)
    honest(rig, goal)
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
