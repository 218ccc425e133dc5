"""~/validate_command: what may go to an actuator, why not, and what would be valid nearby. It moves nothing."""

import json
import math

import pytest
from agent_msgs.srv import ValidateCommand


def twist(x=0.0, z=0.0, **extra):
    return {"linear": {"x": x}, "angular": {"z": z}} | extra


def pose(x, y, yaw=0.0, frame="map", stamp=None):
    q = {"z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}
    header = {"frame_id": frame} | ({"stamp": stamp} if stamp else {})
    return {"header": header, "pose": {"position": {"x": x, "y": y}, "orientation": q}}


TWIST, POSE = "geometry_msgs/msg/Twist", "geometry_msgs/msg/PoseStamped"


def ask(rig, kind, message, actuator="base"):
    text = message if isinstance(message, str) else json.dumps(message)
    request = ValidateCommand.Request(interface_type=kind, message_json=text, actuator=actuator)
    return rig.call(ValidateCommand, f"{rig.name}/validate_command", request)


VALID = {
    "twist": (TWIST, twist(0.3, 0.5)),
    "zero": (TWIST, twist()),
    "defaults": (TWIST, {}),
    "stamped": ("geometry_msgs/msg/TwistStamped", {"twist": twist(0.2)}),
    "pose": (POSE, pose(1.4, 1.4, 1.5708)),
    "pose_in_another_frame": (POSE, pose(1.0, 0.0, frame="base_link")),
    # As people write them down.
    "rounded_quaternion": (
        POSE,
        {
            "header": {"frame_id": "map"},
            "pose": {"position": {"x": 1.4, "y": 0.5}, "orientation": {"z": 0.383, "w": 0.924}},
        },
    ),
}


@pytest.mark.parametrize("name", VALID)
def test_what_is_safe_is_valid(house, name):
    answer = ask(house, *VALID[name])
    assert answer.valid and not answer.findings, answer
    assert not house.commanded()


# What is asked, and the finding: rule, value, limit, unit; NaN where there is no number to give.
INVALID = {
    "too_fast": (TWIST, twist(3.0), ("linear velocity", 3.0, 0.5, "m/s")),
    "too_fast_backward": (TWIST, twist(-3.0), ("linear velocity", -3.0, -0.5, "m/s")),
    "turning_too_fast": (TWIST, twist(0.0, 7.0), ("angular velocity", 7.0, 1.0, "rad/s")),
    "sideways": (TWIST, {"linear": {"y": 0.1}}, ("linear.y", 0.1, 0.0, "m/s")),
    "nan_as_text": (TWIST, twist("NaN"), ("finite", math.nan, None, "m/s")),
    "infinity_as_text": (TWIST, twist("-Infinity"), ("finite", -math.inf, None, "m/s")),
    "bare_nan": (TWIST, '{"linear": {"x": NaN}}', ("finite", None, None, None)),
    "absurd": (TWIST, '{"linear": {"x": 1e308}}', ("linear velocity", 1e308, 0.5, "m/s")),
    "overflow": (TWIST, '{"linear": {"x": 1e999}}', ("finite|type|range", None, None, None)),
    "wrong_type": (TWIST, {"linear": {"x": "fast"}}, ("type", None, None, None)),
    "null": (TWIST, {"linear": {"x": None}}, ("type", None, None, None)),
    "unknown_field": (TWIST, {"linear": {"x": 0.1, "forward": 1}}, ("type", None, None, None)),
    "twice": (TWIST, '{"linear": {"x": 0.1, "x": 9}}', ("duplicate key", None, None, None)),
    "no_json": (TWIST, "{linear", ("json", None, None, None)),
    "nothing": (TWIST, "", ("json", None, None, None)),
    "in_the_wall": (POSE, pose(-0.6, 1.8), ("map", -0.22, 0.0, "m")),
    "in_the_keep_out_zone": (POSE, pose(0.0, 0.1), ("keep-out", None, None, "m")),
    "off_the_map": (POSE, pose(9.0, 0.0), ("workspace", None, None, "m")),
    "just_off_the_map": (POSE, pose(4.2, 0.0), ("workspace", None, None, "m")),
    "no_quaternion": (
        POSE,
        {"header": {"frame_id": "map"}, "pose": {"position": {"x": 1.4}, "orientation": {"w": 0.0}}},
        ("unit quaternion", None, None, None),
    ),
    "unknown_frame": (POSE, pose(1.0, 1.0, frame="moon"), ("frame", None, None, None)),
    "no_frame": (POSE, pose(1.0, 1.0, frame=""), ("frame", None, None, None)),
    "from_long_ago": (POSE, pose(1.0, 1.0, stamp={"sec": 12}), ("stamp|transform age", None, None, "s")),
    "unknown_type": ("geometry_msgs/msg/Twits", {}, ("type", None, None, None)),
    "no_command_at_all": ("std_msgs/msg/String", {"data": "go"}, ("type", None, None, None)),
    "unknown_actuator": (TWIST, twist(), ("actuator", None, None, None)),
}


@pytest.mark.parametrize("name", INVALID)
def test_what_is_not_is_refused_by_rule_value_limit_and_unit(house, name):
    kind, message, (rule, value, limit, unit) = INVALID[name]
    answer = ask(house, kind, message, "wheels" if name == "unknown_actuator" else "base")
    assert not answer.valid and answer.findings, answer
    found = [f for f in answer.findings if f.rule in rule.split("|")]
    assert found, answer.findings
    f = found[0]
    assert f.message and f.subject, f
    if value is not None:
        assert f.value == pytest.approx(value, nan_ok=True), f
    if limit is not None:
        assert f.limit == pytest.approx(limit), f
    if unit is not None:
        assert f.unit == unit, f
    assert not house.commanded()


@pytest.mark.parametrize(
    "name",
    [
        "too_fast",
        "too_fast_backward",
        "turning_too_fast",
        "absurd",
        "in_the_wall",
        "in_the_keep_out_zone",
        "just_off_the_map",
    ],
)
def test_the_proposal_of_a_refusal_is_valid_when_sent_back(house, name):
    kind, message, _ = INVALID[name]
    proposal = ask(house, kind, message).nearest_valid_json
    assert proposal, "no proposal"
    again = ask(house, kind, proposal)
    assert again.valid, (proposal, again.findings)


def test_a_velocity_towards_a_wall_is_refused_only_where_it_is_near(house):
    assert ask(house, TWIST, twist(0.5)).valid
    house.put(1.4, 1.6, 1.5708)  # the counter is 8 cm ahead of the footprint
    assert not ask(house, TWIST, twist(0.5)).valid
    assert ask(house, TWIST, twist(-0.3)).valid, "away from it is free"


def test_without_a_fresh_measurement_nothing_that_moves_is_valid(house):
    house.fault("stop_odom")
    house.until(lambda: not ask(house, TWIST, twist(0.2)).valid, 5.0, "the measurement to be too old")
    f = ask(house, TWIST, twist(0.2)).findings[0]
    assert (f.rule, f.unit) == ("state age", "s") and f.limit == 0.5 < f.value < 60.0, f
