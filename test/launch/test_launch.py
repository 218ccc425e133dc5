"""The launch files, imported with stand-ins for launch and launch_ros, describe what they should.

The stand-ins record what they are given and accept only the keywords that the real classes have,
so a misspelt one fails here, too.
"""

import importlib.util
import inspect
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest
import yaml

LAUNCH = Path(__file__).resolve().parents[2] / "launch"

# Keywords of launch_ros.actions.Node and what it inherits, as far as they may be of use here.
NODE_KEYWORDS = {
    "executable", "package", "name", "namespace", "exec_name", "parameters", "remappings", "ros_arguments",
    "arguments", "output", "emulate_tty", "sigterm_timeout", "sigkill_timeout", "on_exit", "respawn",
    "respawn_delay", "additional_env", "env", "cwd", "prefix", "condition",
}  # fmt: skip


class LaunchDescription:
    def __init__(self, entities=()):
        self.entities = list(entities)


class DeclareLaunchArgument:
    def __init__(self, name, *, default_value=None, description=None, choices=None):
        self.name, self.default_value, self.description, self.choices = name, default_value, description, choices


class OpaqueFunction:
    def __init__(self, *, function, args=None, kwargs=None):
        self.function = function


class Shutdown:
    def __init__(self, *, reason="reason not given"):
        self.reason = reason


class IncludeLaunchDescription:
    def __init__(self, launch_description_source, *, launch_arguments=None):
        self.source, self.launch_arguments = launch_description_source, dict(launch_arguments or {})


class PythonLaunchDescriptionSource:
    def __init__(self, launch_file_path):
        join = isinstance(launch_file_path, PathJoinSubstitution)
        self.path = launch_file_path.path if join else Path(launch_file_path)


class FindPackageShare:
    def __init__(self, package):
        self.path = Path("/share") / package


class PathJoinSubstitution:
    def __init__(self, substitutions):
        first, *rest = substitutions
        self.path = first.path.joinpath(*rest)


class ExecuteProcess:
    def __init__(self, *, cmd, output="log", name=None, on_exit=None):
        self.cmd = cmd


class LaunchConfiguration:
    def __init__(self, variable_name, *, default=None):
        self.variable_name = variable_name

    def perform(self, context):
        return context[self.variable_name]


class Node:
    def __init__(self, *, executable, **keywords):
        unknown = set(keywords) - NODE_KEYWORDS
        assert not unknown, f"launch_ros's Node has no {unknown}"
        self.executable, self.keywords = Path(executable), keywords


class LifecycleNode(Node):
    def __init__(self, *, name, namespace, **keywords):
        super().__init__(name=name, namespace=namespace, **keywords)


STAND_INS = {
    "launch": [LaunchDescription],
    "launch.actions": [DeclareLaunchArgument, ExecuteProcess, IncludeLaunchDescription, OpaqueFunction, Shutdown],
    "launch.launch_description_sources": [PythonLaunchDescriptionSource],
    "launch.substitutions": [LaunchConfiguration, PathJoinSubstitution],
    "launch_ros": [],
    "launch_ros.actions": [LifecycleNode, Node],
    "launch_ros.substitutions": [FindPackageShare],
}


def load(path: Path, monkeypatch, root: Path | None) -> ModuleType:
    for name, classes in STAND_INS.items():
        module = ModuleType(name)
        for one in classes:
            setattr(module, one.__name__, one)
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location(path.name.replace(".", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if root is not None:
        module.ROOT = root
    return module


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder in which the programs are built."""
    (tmp_path / "build").mkdir()
    for name in ("agent_node", "sim_robot"):
        (tmp_path / "build" / name).touch()
    return tmp_path


def described(file: str, monkeypatch, root: Path | None, /, **given: str):
    """The declared arguments, the nodes made with the arguments given, and what is included."""
    module = load(LAUNCH / file, monkeypatch, root)
    entities = module.generate_launch_description().entities
    declared = {e.name: e for e in entities if isinstance(e, DeclareLaunchArgument)}
    assert set(given) <= set(declared), "only declared arguments can be given"
    context = {name: given.get(name, argument.default_value) for name, argument in declared.items()}
    nodes = [n for e in entities if isinstance(e, OpaqueFunction) for n in e.function(context)]
    included = [e for e in entities if isinstance(e, IncludeLaunchDescription)]
    return declared, nodes, included


def test_every_argument_is_explained(monkeypatch, checkout) -> None:
    for name in ("agent_node.launch.py", "sim_robot.launch.py"):
        declared, _, _ = described(name, monkeypatch, checkout)
        assert declared and all(a.description and a.default_value is not None for a in declared.values())
    for name in ("nav2.launch.py", "gazebo.launch.py"):
        declared, _, _ = described(name, monkeypatch, None)
        assert declared and all(a.description and a.default_value is not None for a in declared.values())


def test_node_runs_as_it_would_without_arguments(monkeypatch, checkout) -> None:
    _, (node,), included = described("agent_node.launch.py", monkeypatch, checkout)
    assert isinstance(node, LifecycleNode)
    assert node.executable == checkout / "build" / "agent_node"
    assert node.keywords["name"] == "agent_node" and node.keywords["namespace"] == ""
    assert node.keywords["parameters"] == []
    assert not included


def test_arguments_reach_the_node_and_override_the_parameters_file(monkeypatch, checkout) -> None:
    _, (node,), _ = described(
        "agent_node.launch.py", monkeypatch, checkout,
        namespace="left", name="helper", profile="/robots/a.yaml", params_file="/robots/params.yaml",
        use_sim_time="true", autostart="false", log_level="debug",
    )  # fmt: skip
    assert (node.keywords["namespace"], node.keywords["name"]) == ("left", "helper")
    # Later entries win.
    assert node.keywords["parameters"] == [
        "/robots/params.yaml",
        {"profile": "/robots/a.yaml", "use_sim_time": True, "autostart": False},
    ]
    assert node.keywords["ros_arguments"] == ["--log-level", "debug"]


def test_relative_profile_is_taken_from_the_shells_folder(monkeypatch, checkout) -> None:
    monkeypatch.chdir(checkout)
    _, (node,), _ = described("agent_node.launch.py", monkeypatch, checkout, profile="robot.yaml")
    assert node.keywords["parameters"] == [{"profile": str(checkout / "robot.yaml")}]


@pytest.mark.parametrize("name", ["use_sim_time", "autostart"])
def test_what_is_neither_true_nor_false_is_refused(monkeypatch, checkout, name) -> None:
    with pytest.raises(RuntimeError, match=f"{name}:=maybe"):
        described("agent_node.launch.py", monkeypatch, checkout, **{name: "maybe"})


def test_node_has_time_to_bring_the_robot_to_rest(monkeypatch, checkout) -> None:
    _, (node,), _ = described("agent_node.launch.py", monkeypatch, checkout)
    assert float(node.keywords["sigterm_timeout"]) > 7.0  # stop_reserve
    assert isinstance(node.keywords["on_exit"], Shutdown)


def test_missing_program_says_what_to_do(monkeypatch, tmp_path) -> None:
    for name in ("agent_node.launch.py", "sim_robot.launch.py"):
        with pytest.raises(RuntimeError, match="make build"):
            described(name, monkeypatch, tmp_path)


def test_robot_comes_with_the_node_and_its_profile(monkeypatch, checkout) -> None:
    declared, (robot,), (agent,) = described("sim_robot.launch.py", monkeypatch, checkout, seed="7", rate="2.5")
    assert robot.executable == checkout / "build" / "sim_robot"
    assert robot.keywords["parameters"] == [{"seed": 7, "rate": 2.5}]
    assert Path(declared["profile"].default_value).is_file()
    assert agent.source.path.name == "agent_node.launch.py"


def test_included_file_and_profile_are_in_the_checkout(monkeypatch) -> None:
    module = load(LAUNCH / "sim_robot.launch.py", monkeypatch, None)
    (agent,) = (e for e in module.generate_launch_description().entities if isinstance(e, IncludeLaunchDescription))
    assert agent.source.path == LAUNCH / "agent_node.launch.py" and agent.source.path.is_file()
    # The included description's profile argument is set by this one's default: the same name.
    inner = load(LAUNCH / "agent_node.launch.py", monkeypatch, None)
    assert {"profile", "log_level"} <= {name for name, _, _ in inner.ARGUMENTS} & {
        name for name, _, _ in module.ARGUMENTS
    }


def parts(actions, kind):
    return [a for a in actions if isinstance(a, kind)]


def names(actions):
    return [n.keywords.get("name") or n.executable.name for n in parts(actions, Node)]


def test_nav2_brings_every_node_that_its_parameters_are_for(monkeypatch) -> None:
    _, actions, _ = described("nav2.launch.py", monkeypatch, None)
    *servers, manager = parts(actions, Node)
    (agent,) = parts(actions, IncludeLaunchDescription)
    assert agent.source.path == LAUNCH / "agent_node.launch.py"
    sections = yaml.safe_load((LAUNCH.parent / "sim" / "gazebo" / "nav2.yaml").read_text())
    # The costmaps live within the planner's and the controller's server.
    assert {n.keywords["name"] for n in servers} == set(sections) - {"local_costmap", "global_costmap"}
    managed = manager.keywords["parameters"][0]["node_names"]
    assert sorted(managed) == sorted(n.keywords["name"] for n in servers) and managed[0] == "keepout_mask_server"
    for n in servers:
        file, own = n.keywords["parameters"]
        assert Path(file).is_file() and own["use_sim_time"] is False
        if n.executable.name == "map_server":
            assert Path(own["yaml_filename"]).name == (
                "flat.yaml" if n.keywords["name"] == "map_server" else "keepout.yaml"
            )


def test_nav2_comes_without_mask_and_agent_where_asked(monkeypatch) -> None:
    _, actions, _ = described("nav2.launch.py", monkeypatch, None, keepout="none", agent="false", use_sim_time="true")
    assert not parts(actions, IncludeLaunchDescription) and not {"keepout_mask_server"} & set(names(actions))
    manager = parts(actions, Node)[-1]
    assert manager.keywords["parameters"][0]["use_sim_time"] is True
    assert manager.keywords["parameters"][0]["node_names"][0] == "map_server"


@pytest.mark.parametrize("name", ["map", "keepout", "nav2_params"])
def test_nav2_says_which_file_is_missing(monkeypatch, name) -> None:
    with pytest.raises(RuntimeError, match=f"{name}:=/no/such.yaml"):
        described("nav2.launch.py", monkeypatch, None, **{name: "/no/such.yaml"})


def test_gazebo_brings_world_robot_bridge_controllers_and_nav2(monkeypatch) -> None:
    declared, actions, _ = described("gazebo.launch.py", monkeypatch, None, gui="false", x="1.0", yaw="-0.5")
    gazebo, nav2 = parts(actions, IncludeLaunchDescription)
    assert gazebo.source.path == Path("/share/ros_gz_sim/launch/gz_sim.launch.py")
    run, server, world = gazebo.launch_arguments["gz_args"].split()
    assert (run, server) == ("-r", "-s") and Path(world).is_file()
    assert nav2.source.path == LAUNCH / "nav2.launch.py" and declared["use_sim_time"].default_value == "true"
    by = {n.executable.name: n.keywords for n in parts(actions, Node)}
    assert set(by) == {"robot_state_publisher", "create", "parameter_bridge", "spawner"}
    description = by["robot_state_publisher"]["parameters"][0]["robot_description"]
    assert ElementTree.fromstring(description).find("ros2_control") is not None
    spawn = by["create"]["arguments"]
    assert spawn[-6:] == ["-x", "1.0", "-y", "-1.5", "-Y", "-0.5"]
    model = ElementTree.fromstring(spawn[spawn.index("-string") + 1])
    (controllers,) = (Path(p.text) for p in model.iter("parameters"))
    assert controllers.is_absolute()
    wanted = yaml.safe_load(controllers.read_text())["controller_manager"]["ros__parameters"]
    spawned = {a for a in by["spawner"]["arguments"] if not a.startswith("-") and not a.isdigit()}
    assert spawned == {name for name, value in wanted.items() if isinstance(value, dict)}
    assert Path(by["parameter_bridge"]["parameters"][0]["config_file"]).is_file()
    (standin,) = parts(actions, ExecuteProcess)
    assert Path(standin.cmd[1]).is_file()


def test_gazebo_comes_alone_where_asked(monkeypatch) -> None:
    _, actions, _ = described("gazebo.launch.py", monkeypatch, None, nav2="false")
    (gazebo,) = parts(actions, IncludeLaunchDescription)
    assert "-s" not in gazebo.launch_arguments["gz_args"].split()


def test_stand_ins_match_the_real_classes_where_launch_is_installed() -> None:
    actions = pytest.importorskip("launch_ros.actions", reason="launch is not among the wheels")
    real = set()
    for base in actions.Node.__mro__[:-1]:
        real |= set(inspect.signature(base.__init__).parameters)
    used = {"executable", "name", "namespace", "parameters", "ros_arguments", "output", "emulate_tty", "on_exit"}
    assert used | {"sigterm_timeout"} <= real
