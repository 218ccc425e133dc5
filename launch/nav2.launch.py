"""Starts Nav2 and the agent node, for a robot that somebody else has started.

ros2 launch launch/nav2.launch.py map:=map.yaml nav2_params:=nav2.yaml profile:=robot.yaml [keepout:=mask.yaml] ...

What is not given is the built-in robot's, as it is in Gazebo. agent:=false starts Nav2 alone. Nav2's names
(/navigate_to_pose, /compute_path_to_pose) do not move with the node's namespace. Run it from a shell that has sourced
build/env.sh and a ROS 2 with navigation2.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

ROOT = Path(__file__).resolve().parents[1]
GAZEBO = ROOT / "sim" / "gazebo"

ARGUMENTS = (
    ("map", str(GAZEBO / "maps" / "flat.yaml"), "Map (YAML) that Nav2's map server publishes."),
    (
        "keepout",
        str(GAZEBO / "maps" / "keepout.yaml"),
        "Mask (YAML) of the keep-out filter; none: there is no such filter.",
    ),
    ("nav2_params", str(GAZEBO / "nav2.yaml"), "Parameters of Nav2's nodes (YAML)."),
    ("profile", str(ROOT / "config" / "sim_robot.yaml"), "Robot profile (YAML)."),
    ("use_sim_time", "false", "true: time comes from /clock."),
    ("agent", "true", "false: Nav2 alone."),
    ("log_level", "info", "debug, info, warn, error or fatal; for all."),
)

# Package and program; the node's name, by which nav2_params has its section, is the program's.
NODES = (
    ("nav2_map_server", "map_server"),
    ("nav2_amcl", "amcl"),
    ("nav2_planner", "planner_server"),
    ("nav2_controller", "controller_server"),
    ("nav2_behaviors", "behavior_server"),
    ("nav2_bt_navigator", "bt_navigator"),
)
# Before the costmaps, which wait for them.
MASK = (
    ("nav2_map_server", "map_server", "keepout_mask_server"),
    ("nav2_map_server", "costmap_filter_info_server", None),
)


def truth(name: str, text: str) -> bool:
    """A launch argument as a bool."""
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in values:
        raise RuntimeError(f"{name}:={text} is neither true nor false")
    return values[text.lower()]


def file(name: str, text: str) -> str:
    """A file that an argument names."""
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise RuntimeError(f"{name}:={text}: there is no such file")
    return str(path)


def nodes(context) -> list:
    """The actions, when the arguments are known."""
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    sim_time, masked = truth("use_sim_time", given["use_sim_time"]), given["keepout"] != "none"
    params = file("nav2_params", given["nav2_params"])

    def server(package, executable, name=None, **own):
        return Node(
            package=package,
            executable=executable,
            name=name or executable,
            parameters=[params, {"use_sim_time": sim_time, **own}],
            ros_arguments=["--log-level", given["log_level"]],
            output="screen",
        )

    servers = [
        server(package, name, **({"yaml_filename": file("map", given["map"])} if name == "map_server" else {}))
        for package, name in NODES
    ]
    managed = [name for _, name in NODES]
    if masked:
        mask = {"yaml_filename": file("keepout", given["keepout"])}
        servers += [server(p, program, name, **(mask if name else {})) for p, program, name in MASK]
        managed = [name or program for _, program, name in MASK] + managed
    manager = Node(
        package="nav2_lifecycle_manager",
        executable="lifecycle_manager",
        name="lifecycle_manager_navigation",
        parameters=[{"use_sim_time": sim_time, "autostart": True, "node_names": managed}],
        ros_arguments=["--log-level", given["log_level"]],
        output="screen",
    )
    agent = IncludeLaunchDescription(PythonLaunchDescriptionSource(str(ROOT / "launch" / "agent_node.launch.py")))
    return [*servers, manager, *([agent] if truth("agent", given["agent"]) else [])]


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` asks for."""
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    return LaunchDescription([*declared, OpaqueFunction(function=nodes)])
