"""The launch files, imported with stand-ins for launch and launch_ros, describe what they should.

The stand-ins record what they are given and accept only the keywords that the real classes have,
so a misspelt one fails here, too.
"""

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType

import pytest

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
        self.path = Path(launch_file_path)


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
    "launch.actions": [DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction, Shutdown],
    "launch.launch_description_sources": [PythonLaunchDescriptionSource],
    "launch.substitutions": [LaunchConfiguration],
    "launch_ros": [],
    "launch_ros.actions": [LifecycleNode, Node],
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


def test_stand_ins_match_the_real_classes_where_launch_is_installed() -> None:
    actions = pytest.importorskip("launch_ros.actions", reason="launch is not among the wheels")
    real = set()
    for base in actions.Node.__mro__[:-1]:
        real |= set(inspect.signature(base.__init__).parameters)
    used = {"executable", "name", "namespace", "parameters", "ros_arguments", "output", "emulate_tty", "on_exit"}
    assert used | {"sigterm_timeout"} <= real
