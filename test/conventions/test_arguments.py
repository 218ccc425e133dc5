"""What stands behind --ros-args: names, parameters and their files, log levels, and what is no argument at all."""

import os
import subprocess
import time

import pytest
import yaml
from asking import get, names, nodes, services, topics, up
from processes import BUILD, end_with_parent
from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile

NODE = "/house/butler"

FIRST = """
/**:
  ros__parameters: {queue_policy: queue, acceptance_rounds: 1, stop_reserve: 5.0}
/house/butler:
  ros__parameters:
    model.retries: 2
    budget: {max_steps: 11, max_wall_time: 12}
/other/butler:
  ros__parameters: {acceptance_rounds: 9, queue_length: 99}
"""
SECOND = """
/house/*:
  ros__parameters: {acceptance_rounds: 3, result_timeout: 70.0, policy.tools: ["drive: ask", "turn: deny"]}
/**/butler:
  ros__parameters: {model: {retry_time: 8.5}}
/*:
  ros__parameters: {model.timeout: 1.5}
"""


@pytest.fixture(scope="module")
def butler(bare, tmp_path_factory):
    """One node for all that its arguments say."""
    folder = tmp_path_factory.mktemp("files")
    for name, text in (("first.yaml", FIRST), ("second.yaml", SECOND)):
        (folder / name).write_text(text)
    rules = ("__node:=butler", "__ns:=/house", "~/stop:=/halt", "butler:~/pause:=/hold", "cook:~/resume:=/never")
    rules += ("rosservice://~/reset:=again", "rostopic:///diagnostics:=/health", "/cmd_vel:=/wheels/command")
    arguments = ["--params-file", str(folder / "first.yaml"), "--params-file", str(folder / "second.yaml")]
    for rule in rules:
        arguments += ["-r", rule]
    for value in ("autostart:=false", "queue_length:=7", "butler:feedback_rate:=4.0", "cook:feedback_rate:=9.0"):
        arguments += ["-p", value]
    arguments += ["--param", "result_timeout:=60", "-p", "estop.required:=false", "-e", "/house"]
    arguments += ["--log-level", "warn", "--log-level", "house.butler.goals:=debug"]
    r, process = bare(*arguments, name="butler")
    up(r, NODE)
    return r, process


def test_the_node_has_the_name_and_namespace_that_it_was_given(butler):
    r, _ = butler
    assert NODE in nodes(r) and "/agent_node" not in nodes(r)


def test_private_names_move_with_the_node(butler):
    r, _ = butler
    for name in ("list_tools", "respond", "validate_command", "get_state", "change_state", "get_type_description"):
        assert f"{NODE}/{name}" in services(r), services(r)
    assert f"{NODE}/state" in topics(r)


def test_services_are_remapped_by_name_by_node_and_by_scheme(butler):
    r, _ = butler
    there = services(r)
    assert "/halt" in there and f"{NODE}/stop" not in there
    assert "/hold" in there and f"{NODE}/pause" not in there
    assert "/house/again" in there and f"{NODE}/reset" not in there
    assert f"{NODE}/resume" in there and "/never" not in there  # the rule is for another node


def test_topics_are_remapped(butler):
    r, _ = butler
    assert "/health" in topics(r) and r.node.count_publishers("/diagnostics") == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("queue_policy", "queue"),  # /** of the first file
        ("acceptance_rounds", 3),  # /house/* of the second file comes later than /** of the first
        ("stop_reserve", 5.0),
        ("model.retries", 2),  # a name with a dot
        ("budget.max_steps", 11),  # nested
        ("budget.max_wall_time", 12.0),  # an integer for a double
        ("queue_length", 7),  # the command line; another node's is not this one's
        ("feedback_rate", 2.0),  # butler:... is /butler's, as for rclcpp: not /house/butler's
        ("result_timeout", 60.0),  # -p stands behind the files
        ("model.retry_time", 8.5),  # /**/butler
        ("model.timeout", 120.0),  # /* is one level: not /house/butler
        ("policy.tools", ["drive: ask", "turn: deny"]),
        ("autostart", False),
    ],
)
def test_parameters_come_from_files_and_flags_in_order(butler, name, value):
    r, _ = butler
    assert get(r, NODE, name) == value


def test_a_level_holds_for_all_loggers_but_those_that_have_their_own(butler):
    r, process = butler
    text = process.text()
    assert "[INFO]" not in text, text


def test_the_default_subcommand_is_the_node(butler):
    """`ros2 run agent_node agent_node --ros-args ...`: nothing stands before --ros-args."""
    r, process = butler
    assert process.alive() and NODE in nodes(r)


def run(*arguments, timeout=60.0):
    """The program with arguments that it cannot take."""
    return subprocess.run(
        [str(BUILD / "agent_node"), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "ROS_DOMAIN_ID": "101", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"},
        preexec_fn=end_with_parent,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--ros-args", "-r", "stop"], "stop"),
        (["--ros-args", "-r", "__ns:=house"], "house"),
        (["--ros-args", "-r", "__node:=two words"], "two words"),
        (["--ros-args", "-p", "queue_length"], "queue_length"),
        (["--ros-args", "-p", "queue_length:=many"], "queue_length"),
        (["--ros-args", "-p", "queue_length:=-1"], "queue_length"),
        (["--ros-args", "-p", "queue_policy:=perhaps"], "perhaps"),
        (["--ros-args", "--params-file", "/nowhere/at/all.yaml"], "/nowhere/at/all.yaml"),
        (["--ros-args", "--log-level", "loud"], "loud"),
        (["--ros-args", "--no-such-flag"], "--no-such-flag"),
        (["--ros-args", "-p"], "-p"),
        (["no-such-command"], "no-such-command"),
        (["--ros-args", "-p", "qos_overrides./odom.subscription.depth:=0"], "qos_overrides./odom.subscription.depth"),
        (["--ros-args", "-p", "profile:=/nowhere/robot.yaml"], "/nowhere/robot.yaml"),
    ],
)
def test_an_argument_that_is_none_ends_with_its_name(arguments, says):
    ended = run(*arguments)
    assert ended.returncode != 0, ended.stderr
    assert says in ended.stderr, ended.stderr


def test_a_parameter_file_that_is_none_names_its_line(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text("/**:\n  ros__parameters:\n    queue_length: [1\n")
    ended = run("--ros-args", "--params-file", str(file))
    assert ended.returncode != 0 and "bad.yaml" in ended.stderr, ended.stderr


def test_help_lists_the_commands():
    ended = run("--help")
    assert ended.returncode == 0
    for command in ("run", "plan", "tools", "profile", "trace", "doctor"):
        assert command in ended.stdout, ended.stdout


@pytest.fixture(scope="module")
def quiet(bare):
    """A node that logs nowhere; its own arguments end at --."""
    r, process = bare(
        "-p",
        "autostart:=false",
        "--disable-rosout-logs",
        "--disable-stdout-logs",
        "-p",
        "no_such.thing:=1",
        name="quiet",
    )
    up(r, "/agent_node")
    return r, process


def test_rosout_is_switched_off(quiet):
    r, _ = quiet
    publishers = [i.node_name for i in r.node.get_publishers_info_by_topic("/rosout")]
    assert "agent_node" not in publishers, publishers


def test_the_console_is_switched_off(quiet):
    _, process = quiet
    assert not process.text().strip(), process.text()


@pytest.fixture(scope="module")
def loud(bare):
    """A node that logs everything, with a parameter that nobody declared."""
    r, process = bare(
        "-p",
        "autostart:=false",
        "-p",
        "no_such.thing:=1",
        "-p",
        "agent_node:feedback_rate:=4",
        "-p",
        "cook:feedback_rate:=9",
        "--log-level",
        "debug",
        name="loud",
    )
    heard = []
    latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    r.node.create_subscription(Log, "/rosout", heard.append, latched)
    up(r, "/agent_node")
    return r, process, heard


def test_a_parameter_that_nobody_declared_is_named_and_ignored(loud):
    r, _, heard = loud
    r.until(lambda: any("no_such.thing" in m.msg for m in heard), 10.0, "a warning on /rosout")
    assert "no_such.thing" not in names(r, "/agent_node")


def test_a_parameter_may_be_for_one_node_of_a_process(loud):
    r, _, _ = loud
    assert get(r, "/agent_node", "feedback_rate") == 4.0


def test_rosout_tells_level_name_and_place(loud):
    """ros2 topic echo /rosout: also what was said before the listener came."""
    r, _, heard = loud
    r.until(lambda: any("no_such.thing" in m.msg for m in heard), 10.0, "a warning on /rosout")
    m = next(m for m in heard if "no_such.thing" in m.msg)
    assert m.level == 30  # WARN
    assert m.name == "agent_node" and m.file and m.line and m.function and m.stamp.sec > time.time() - 600


def test_a_file_that_ros2_param_dump_wrote_makes_the_same_node(butler, bare, tmp_path):
    r, _ = butler
    told = get(r, NODE, *names(r, NODE))
    file = tmp_path / "dumped.yaml"
    file.write_text(yaml.safe_dump({NODE: {"ros__parameters": {k: v for k, v in told.items() if v is not None}}}))
    again, _ = bare("-r", "__ns:=/house", "-r", "__node:=butler", "--params-file", str(file), name="again")
    up(again, NODE)
    new = get(again, NODE, *names(again, NODE))
    del new["trace.dir"], told["trace.dir"]  # the fixture's own, behind the file
    assert new == told
