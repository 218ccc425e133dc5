"""The TurtleBot's profiles against stand-ins of a TurtleBot with Nav2: as it should be, and with bad habits."""

import math

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment")

from judge import honest


def done(rig, task, timeout=60):
    goal = rig.run(task, timeout)
    honest(rig, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    return goal


@pytest.mark.parametrize("which", ["turtlebot", "stamped"])
def test_it_drives_turns_and_goes_places(request, which):
    rig = request.getfixturevalue(which)
    rig.fresh()
    done(rig, "drive 0.3 m forward, then turn left by 90 degrees")
    x, y, yaw = rig.pose()
    assert x == pytest.approx(0.3, abs=0.06) and abs(y) < 0.06 and yaw == pytest.approx(math.pi / 2, abs=0.12)
    done(rig, "go to x 0.8 m, y 0.4 m facing 90 degrees, then go to home")
    assert rig.at(0.0, 0.0, 0.3)
    sent = rig.commanded()
    assert (sent["/drive_on_heading"], sent["/spin"], sent["/navigate_to_pose"]) == (1, 1, 2), sent


def test_it_answers_questions(turtlebot):
    turtlebot.fresh()
    goal = done(turtlebot, "where are you, and how full is the battery?")
    assert "83" in goal.result.answer, goal.told()
    assert not turtlebot.commanded()
