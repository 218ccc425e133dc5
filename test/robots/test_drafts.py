"""A robot that nobody here has seen: `profile init` drafts its profile, `profile check` and `doctor` say what fits, and
a simple goal works with the draft. And what they say of a profile that does not fit."""

import json

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment")

from agent_msgs.msg import Plan, PlanStep
from robot_rig import PROFILES, START, RobotRig

from judge import honest

# Another robot's profile for each, and what must be found missing or wrong.
MISFITS = {
    "turtlebot": ("turtlebot_nav2_stamped", ["actuator base: stop"]),
    "turtlebot_stamped": ("turtlebot_nav2", ["actuator base: stop"]),
    "arm": (
        "mobile_manipulator",
        ["/odom", "/navigate_to_pose", "/map", "/cmd_vel", "/gripper_controller/gripper_cmd"],
    ),
    "mobile_manipulator": ("arm_ros2_control", ["speed_scaling", "/gripper_controller/gripper_cmd"]),
}


@pytest.fixture(params=PROFILES)
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


def fits(robot, *words):
    """What a command says that finds all in order. It looks for a moment: on a busy machine that may be a bad one."""
    for _ in range(3):
        code, said = robot.command(*words, "--patience", "15s")
        if code == 0 and not rows(said, "ERROR"):
            return said
    raise AssertionError(said)


def test_a_draft_fits_and_works(robot):
    draft = robot.folder / "robot.yaml"
    code, said = robot.command("profile", "init", "-o", draft)
    assert code == 0, said
    text = draft.read_text()
    assert "/sim/" not in text, text
    assert "permissions: {query: allow, skill: ask, verify: allow}" in text and "simulation: true" not in text
    fits(robot, "profile", "check", draft)
    fits(robot, "profile", "check", PROFILES[robot.kind])

    robot.start_node({"profile": draft})
    if robot.drives:
        run(robot, "drive 0.3 m forward")
        assert robot.pose()[0] == pytest.approx(0.3, abs=0.08)
    if robot.kind == "turtlebot":
        run(robot, "go to x 0.6 m, y 0.0 m facing 0 degrees")
        assert robot.at(0.6, 0.0, 0.3)
    if robot.kind == "arm":
        run(robot, "open the gripper")
        joints = [0.3, *START["arm"][1:]]
        step = PlanStep(id="s1", tool="move_arm", arguments_json=json.dumps({"joints": joints}))
        held = f"arm_at({', '.join(map(str, joints))})"
        run(robot, "", plan=Plan(task="turn", steps=[step], success_criteria=[held]))
        assert robot.arm()["shoulder_pan_joint"] == pytest.approx(0.3, abs=0.03)
    assert ("geometry_msgs/msg/TwistStamped" in text) == (robot.kind == "turtlebot_stamped")
    assert ("control_msgs/action/ParallelGripperCommand" in text) == (robot.kind == "arm")
    assert ("joints: [shoulder_pan_joint, shoulder_lift_joint, elbow_joint" in text) == robot.reaches


def run(robot, task, **fields):
    goal = robot.run(task, 90, **fields)
    honest(robot, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()


def test_what_does_not_fit_is_named(robot):
    """Another robot's profile: each part that is missing or of another type is an error, and a way out is said."""
    other, words = MISFITS[robot.kind]
    code, said = robot.command("profile", "check", "--graph", "--patience", "3s", other)
    assert code == 1, said
    wrong = "\n".join(rows(said, "ERROR"))
    for word in words:
        assert word in wrong, f"{word} is not told in\n{said}"
    assert "->" in said, said
    if robot.kind in ("turtlebot", "arm"):
        code, said = robot.command("doctor", "--patience", "3s", "--profile", other)
        assert code == 1 and rows(said, "ERROR"), said
        fits(robot, "doctor", "--profile", PROFILES[robot.kind])
