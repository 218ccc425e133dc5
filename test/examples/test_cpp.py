"""The C++ example is read by a compiler, with the message classes that agent_msgs brings.

Where rclcpp is installed the example is compiled against it. PyPI's wheels bring none: there, declarations of what it
uses stand in, and the classes of agent_msgs are generated here, since set-up leaves the C++ ones out. What is checked
then is the example's own code and every name of agent_msgs in it, and not that rclcpp is as declared.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "decompose.cpp"
STANDIN = Path(__file__).resolve().parent / "standin"
COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")


def prefixes() -> list[Path]:
    return [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]


def includes() -> list[Path]:
    """Every package's headers: in include/PACKAGE/, or in include/ itself."""
    out = []
    for prefix in prefixes():
        top = prefix / "include"
        if top.is_dir():
            out += [top, *sorted(p for p in top.iterdir() if p.is_dir())]
    return out


def real() -> bool:
    return any((i / "rclcpp" / "rclcpp.hpp").exists() for i in includes())


# The interfaces that the example uses, with those that they are made of.
USED = "action/ExecuteTask.action srv/DecomposeTask.srv".split() + [
    f"msg/{n}.msg" for n in "ActuatorState Budget Finding Plan PlanStep Step Usage Verification".split()
]


def generate(into: Path) -> None:
    """The C++ classes of agent_msgs, by ROS's own generator."""
    from rosidl_adapter import convert_to_idl
    from rosidl_generator_cpp import generate_cpp

    for name in USED:
        convert_to_idl(ROOT / "msgs", "agent_msgs", Path(name), into)
    templates = [p / "share" / "rosidl_generator_cpp" / "resource" for p in prefixes()]
    (into / "arguments.json").write_text(
        json.dumps(
            {
                "package_name": "agent_msgs",
                "output_dir": str(into / "agent_msgs"),
                "template_dir": str(next(t for t in templates if t.is_dir())),
                "idl_tuples": [f"{into}:{f.relative_to(into)}" for f in sorted(into.rglob("*.idl"))],
                "target_dependencies": [],
                "ros_interface_dependencies": [],
                "type_description_tuples": [],
            }
        )
    )
    generate_cpp(str(into / "arguments.json"))
    # What CMake would write beside them: which symbols a shared library shows, and here there is none.
    visibility = into / "agent_msgs" / "msg" / "rosidl_generator_cpp__visibility_control.hpp"
    visibility.write_text("#define ROSIDL_GENERATOR_CPP_PUBLIC_agent_msgs\n")


@pytest.fixture(scope="module")
def where(tmp_path_factory) -> list[str]:
    """The include folders, as the compiler's flags."""
    folders = includes()
    if not any((i / "agent_msgs" / "action" / "execute_task.hpp").exists() for i in folders):
        made = tmp_path_factory.mktemp("generated")
        generate(made)
        folders.append(made)
    return [f"-isystem{i}" for i in ([] if real() else [STANDIN]) + folders]


def read(source: str, where: list[str]) -> subprocess.CompletedProcess:
    """What the compiler says of a source text."""
    flags = ["-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"]
    return subprocess.run([COMPILER, *where, *flags], input=source, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module", autouse=True)
def compiler() -> None:
    if COMPILER is None:
        pytest.skip("there is no C++ compiler: g++, clang++ or CXX")
    print("against", "rclcpp" if real() else "declarations that stand in for rclcpp, which is not installed")


# What the compiler must find, or it would not have looked.
WRONG = [
    ("answer->reason_code", "answer->reason"),  # a field of agent_msgs
    ("wait_for_service(10s)", "wait_for_service(10)"),  # a call of rclcpp
]


def test_the_example_compiles_and_wrong_names_do_not(where: list[str]) -> None:
    text = EXAMPLE.read_text()
    done = read(text, where)
    assert done.returncode == 0, done.stderr
    for right, wrong in WRONG:
        assert right in text
        done = read(text.replace(right, wrong), where)
        assert done.returncode != 0 and "No such file" not in done.stderr, (wrong, done.stderr)
