"""Starts the agent node.

ros2 launch launch/agent_node.launch.py profile:=robot.yaml [namespace:=...] [params_file:=...] ...

Run it from a shell that has sourced build/env.sh, so that agent_msgs is found. The node is a
managed (lifecycle) node that activates itself; with autostart:=false it waits for transitions.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode

ROOT = Path(__file__).resolve().parents[1]

# Name, default, what it is. Empty: what the parameters file says, or else the node's own default.
ARGUMENTS = (
    ("namespace", "", "Namespace of the node; its own names (~/execute_task ...) move with it."),
    ("name", "agent_node", "Name of the node."),
    ("profile", "", "Robot profile (YAML). Empty: the built-in robot's."),
    ("params_file", "", "Parameters file (YAML). The other arguments override it."),
    ("use_sim_time", "", "true: time comes from /clock."),
    ("autostart", "", "false: wait for lifecycle transitions instead of activating at once."),
    ("log_level", "info", "debug, info, warn, error or fatal."),
)

# Longest time for the node to bring the robot to rest when it is told to end, s; launch kills after it.
# More than the node's stop_reserve (7 s).
TIME_TO_REST = "12"


def program(name: str) -> str:
    """Path of a program: built in this checkout, or installed beside this file's package."""
    places = (ROOT / "build" / name, ROOT.parents[1] / "lib" / "agent_node" / name)
    for path in places:
        if path.is_file():
            return str(path)
    raise RuntimeError(f"{name} is neither {places[0]} nor {places[1]}: run `make build`, or `colcon build`")


def truth(name: str, text: str) -> bool:
    """A launch argument as a bool."""
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in values:
        raise RuntimeError(f"{name}:={text} is neither true nor false")
    return values[text.lower()]


def parameters(given: dict) -> list:
    """The node's parameters: the file first, so that what is given by name wins."""
    named = {}
    if given["profile"]:
        named["profile"] = str(Path(given["profile"]).expanduser().absolute())
    for name in ("use_sim_time", "autostart"):
        if given[name]:
            named[name] = truth(name, given[name])
    return ([given["params_file"]] if given["params_file"] else []) + ([named] if named else [])


def nodes(context) -> list:
    """The actions, when the arguments are known."""
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    return [
        LifecycleNode(
            executable=program("agent_node"),
            name=given["name"],
            namespace=given["namespace"],
            parameters=parameters(given),
            ros_arguments=["--log-level", given["log_level"]],
            output="screen",
            emulate_tty=True,
            sigterm_timeout=TIME_TO_REST,
            on_exit=Shutdown(reason="agent_node ended"),
        )
    ]


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` asks for."""
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    return LaunchDescription([*declared, OpaqueFunction(function=nodes)])
