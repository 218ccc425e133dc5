"""Starts the agent node together with the built-in robot.

ros2 launch launch/sim_robot.launch.py [seed:=N] [rate:=X] [the arguments of agent_node.launch.py]

Run it from a shell that has sourced build/env.sh. The robot's names (/cmd_vel, /odom ...) do not
move with the node's namespace. It listens on the shell's ROS domain: set ROS_DOMAIN_ID, and
ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST, where real robots are near.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction, Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

ROOT = Path(__file__).resolve().parents[1]

ARGUMENTS = (
    ("seed", "1", "Seed of all noise of the robot: the same seed, the same run."),
    (
        "rate",
        "1.0",
        "Simulated seconds in a real one. Other than 1 the robot publishes /clock: set use_sim_time:=true.",
    ),
    ("profile", str(ROOT / "config" / "sim_robot.yaml"), "Robot profile (YAML)."),
    ("log_level", "info", "debug, info, warn, error or fatal; for both."),
)

# Arguments of agent_node.launch.py are handed on as they are: launch configurations are inherited
# by an included description.


def robot(context) -> list:
    """The robot, when the arguments are known."""
    places = (ROOT / "build" / "sim_robot", ROOT.parents[1] / "lib" / "agent_node" / "sim_robot")
    program = next((p for p in places if p.is_file()), None)
    if program is None:
        raise RuntimeError(f"sim_robot is neither {places[0]} nor {places[1]}: run `make build`, or `colcon build`")
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    return [
        Node(
            executable=str(program),
            name="sim_robot",
            parameters=[{"seed": int(given["seed"]), "rate": float(given["rate"])}],
            ros_arguments=["--log-level", given["log_level"]],
            output="screen",
            emulate_tty=True,
            on_exit=Shutdown(reason="sim_robot ended"),
        )
    ]


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` asks for."""
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    agent = IncludeLaunchDescription(PythonLaunchDescriptionSource(str(ROOT / "launch" / "agent_node.launch.py")))
    return LaunchDescription([*declared, OpaqueFunction(function=robot), agent])
