"""Starts Gazebo Harmonic with the flat and the robot in it, the bridge, the controllers, Nav2 and the agent node.

ros2 launch launch/gazebo.launch.py [gui:=false] [x:= y:= yaw:=] [agent:=false] [the arguments of nav2.launch.py]

It takes a ROS 2 with ros_gz, gz_ros2_control, ros2_controllers and navigation2 (docs/gazebo.md names the packages). Run
it from a shell that has sourced build/env.sh. Everything runs on the simulation's time.
"""

import re
import sys
from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

ROOT = Path(__file__).resolve().parents[1]
GAZEBO = ROOT / "sim" / "gazebo"

ARGUMENTS = (
    ("gui", "true", "false: Gazebo's server alone."),
    ("x", "-1.6", "Where the robot stands at first, m in map. Nav2's first guess is the dock, in nav2.yaml."),
    ("y", "-1.5", "Where the robot stands at first, m in map."),
    ("yaw", "0.0", "How the robot is turned at first, rad in map."),
    ("use_sim_time", "true", "Time comes from /clock; for Nav2 and the agent node."),
    ("nav2", "true", "false: without Nav2 and the agent node."),
    ("log_level", "info", "debug, info, warn, error or fatal; for all."),
)

CONTROLLERS = ("joint_state_broadcaster", "arm_controller", "gripper_controller")


def truth(name: str, text: str) -> bool:
    """A launch argument as a bool."""
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in values:
        raise RuntimeError(f"{name}:={text} is neither true nor false")
    return values[text.lower()]


def model() -> str:
    """The robot's model, with the whole path of the controllers' configuration."""
    text = (GAZEBO / "models" / "sim_robot" / "model.sdf").read_text()
    text, found = re.subn(r"<parameters>controllers\.yaml<", f"<parameters>{GAZEBO / 'controllers.yaml'}<", text)
    if found != 1:
        raise RuntimeError("models/sim_robot/model.sdf does not name controllers.yaml once")
    return text


def nodes(context) -> list:
    """The actions, when the arguments are known."""
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    log = {"ros_arguments": ["--log-level", given["log_level"]], "output": "screen"}
    server = "" if truth("gui", given["gui"]) else "-s "
    gazebo = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(
            PathJoinSubstitution([FindPackageShare("ros_gz_sim"), "launch", "gz_sim.launch.py"])
        ),
        launch_arguments={
            "gz_args": f"-r {server}{GAZEBO / 'worlds' / 'flat.sdf'}",
            "on_exit_shutdown": "true",
        }.items(),
    )
    robot = Node(
        package="robot_state_publisher",
        executable="robot_state_publisher",
        parameters=[{"use_sim_time": True, "robot_description": (GAZEBO / "sim_robot.urdf").read_text()}],
        **log,
    )
    place = [part for name, flag in (("x", "-x"), ("y", "-y"), ("yaw", "-Y")) for part in (flag, given[name])]
    spawn = Node(
        package="ros_gz_sim",
        executable="create",
        arguments=["-name", "sim_robot", "-string", model(), *place],
        **log,
    )
    bridge = Node(
        package="ros_gz_bridge",
        executable="parameter_bridge",
        parameters=[{"use_sim_time": True, "config_file": str(GAZEBO / "bridge.yaml")}],
        **log,
    )
    controllers = Node(
        package="controller_manager",
        executable="spawner",
        arguments=[*CONTROLLERS, "--controller-manager-timeout", "60"],
        **log,
    )
    standin = ExecuteProcess(
        cmd=[sys.executable, str(GAZEBO / "standin.py"), "--ros-args", "-p", "use_sim_time:=true"], output="screen"
    )
    nav2 = IncludeLaunchDescription(PythonLaunchDescriptionSource(str(ROOT / "launch" / "nav2.launch.py")))
    return [gazebo, robot, spawn, bridge, controllers, standin, *([nav2] if truth("nav2", given["nav2"]) else [])]


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` asks for."""
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    return LaunchDescription([*declared, OpaqueFunction(function=nodes)])
