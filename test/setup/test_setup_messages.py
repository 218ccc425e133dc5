"""What tools/setup says where something is missing: one line that says what to do, and exit 1.

It runs here with a PATH of its own that has only what a test puts there.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALWAYS = ("sh", "sed", "dirname", "uname", "env")
TOOLS = ("cc", "c++", "cmake", "go")


class Machine:
    """A checkout and a PATH."""

    def __init__(self, folder: Path):
        self.root, self.bin = folder / "checkout", folder / "bin"
        self.bin.mkdir()
        shutil.copytree(ROOT / "tools", self.root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "go.mod", self.root)
        for name in ALWAYS:
            (self.bin / name).symlink_to(shutil.which(name))
        for name in TOOLS:
            self.fake(name, "exit 0")
        (self.bin / "python3").symlink_to(os.path.realpath(sys.executable))

    def fake(self, name: str, script: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.root / "tools" / "setup", *arguments],
            env={"PATH": str(self.bin), "HOME": str(self.root), **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def refusal(self, *arguments: str, **environment: str) -> str:
        """Runs tools/setup, which must fail with one line; returns it."""
        done = self.run(*arguments, **environment)
        assert done.returncode == 1, done.stdout + done.stderr
        lines = done.stderr.splitlines()
        assert len(lines) == 1 and lines[0].startswith("setup: "), done.stderr
        return lines[0]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def distribution(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that has sourced a distribution."""
    rcl = tmp_path / "ros" / "share" / "rcl"
    rcl.mkdir(parents=True)
    (rcl / "package.xml").touch()
    return {"AMENT_PREFIX_PATH": str(tmp_path / "ros"), "ROS_DISTRO": "jazzy"}


def test_every_tool_there(machine: Machine) -> None:
    assert machine.run("--check").returncode == 0


@pytest.mark.parametrize(
    ("missing", "says"),
    [("cc", "gcc"), ("c++", "g++"), ("cmake", "cmake"), ("go", "Go"), ("python3", "python3-venv")],
)
def test_missing_tool(machine: Machine, missing: str, says: str) -> None:
    (machine.bin / missing).unlink()
    line = machine.refusal("--check")
    assert says in line and "install" in line


@pytest.mark.parametrize(("system", "processor"), [("Linux", "aarch64"), ("Darwin", "arm64")])
def test_machine_without_wheels_is_told_to_source_ros(machine: Machine, system: str, processor: str) -> None:
    machine.fake("uname", f'case "$1" in -s) echo {system};; -m) echo {processor};; esac')
    line = machine.refusal("--check")
    assert processor in line and "source" in line


def test_machine_without_wheels_may_have_ros_sourced(machine: Machine, distribution: dict) -> None:
    machine.fake("uname", 'case "$1" in -s) echo Linux;; -m) echo aarch64;; esac')
    assert machine.run("--check", **distribution).returncode == 0


def test_python_without_venv(machine: Machine) -> None:
    machine.fake("python3", f'case "$*" in *venv*) exit 1;; *) exec {sys.executable} "$@";; esac')
    assert "python3-venv" in machine.refusal("--check")


def test_python_that_has_no_wheels(machine: Machine) -> None:
    machine.fake("python3", "exit 1")
    assert "3.10 to 3.14" in machine.refusal("--check")


def test_old_go(machine: Machine) -> None:
    machine.fake("go", "echo go1.20.3")
    line = machine.refusal()
    assert "go1.20.3" in line and "newer" in line


def test_distribution_that_cannot_be_made(machine: Machine) -> None:
    machine.fake("go", "echo go1.99")
    line = machine.refusal(ROS_DISTRO="humble")
    assert "humble" in line and "jazzy or kilted" in line


def test_distribution_without_its_python(machine: Machine, distribution: dict) -> None:
    machine.fake("go", "echo go1.99")
    line = machine.refusal(**distribution)
    assert "rclpy" in line and "PYTHON=" in line
