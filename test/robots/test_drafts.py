"""A robot that nobody here has seen: `profile init` drafts its profile, `profile check` and `doctor` say what fits, and a simple goal
works with the draft. And what they say of a profile that does not fit."""

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment")

from robot_rig import PROFILES, RobotRig

from judge import honest

TASKS = {
    "turtlebot": ["drive 0.3 m forward", "go to x 0.6 m, y 0.0 m facing 0 degrees"],
    "turtlebot_stamped": ["drive 0.3 m forward"],
    "arm": [],
    "mobile_manipulator": ["drive 0.3 m forward", "open the gripper"],
}


@pytest.fixture(params=TASKS)
def robot(request, tmp_path):
    """A stand-in alone."""
    r = RobotRig(tmp_path / request.param, request.param, node=False)
    try:
        yield r
        r.settle()
    finally:
        r.close()


def rows(text, word):
    return [line for line in text.splitlines() if word in line]


def test_a_draft_fits_and_works(robot):
    draft = robot.folder / "robot.yaml"
    code, said = robot.command("profile", "init", "-o", draft)
    assert code == 0, said
    text = draft.read_text()
    assert "permissions: {query: allow, skill: ask, verify: allow}" in text and "simulation: true" not in text
    code, said = robot.command("profile", "check", draft)
    assert code == 0 and "ERROR" not in said, said
    shipped = PROFILES[robot.kind]
    code, said = robot.command("profile", "check", shipped)
    assert code == 0 and "ERROR" not in said, said
    code, said = robot.command("doctor", "--profile", shipped)
    assert not rows(said, "ERROR"), said

    robot.start_node({"profile": draft})
    for task in TASKS[robot.kind]:
        goal = robot.run(task, 60)
        honest(robot, goal)
        assert goal.end() == ("DONE", "accepted"), goal.told()
    if robot.kind == "turtlebot_stamped":
        assert "TwistStamped" in text and robot.pose()[0] == pytest.approx(0.3, abs=0.08)
    if robot.reaches:
        assert "ParallelGripperCommand" in text if robot.kind == "arm" else "control_msgs/action/GripperCommand" in text
        assert "joints: [shoulder_pan_joint, shoulder_lift_joint, elbow_joint" in text, text
