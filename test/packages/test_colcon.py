"""colcon, from PyPI, builds and installs the repository's two packages where `ros2 run` and `ros2 launch` look.

agent_msgs is the one of build/env.sh unless PROOF=1 asks for building it, too: all its languages take minutes.
"""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / "tools" / "wheels"


def colcon(folder, *arguments):
    return subprocess.run(
        [WHEELS, "colcon", "colcon", *arguments], cwd=folder, capture_output=True, text=True, timeout=3000
    )


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Path:
    """A workspace that holds this checkout."""
    work = tmp_path_factory.mktemp("workspace")
    (work / "src").mkdir()
    (work / "src" / "agent_node").symlink_to(ROOT)
    got = subprocess.run([WHEELS, "colcon"], capture_output=True, text=True, timeout=600)
    if got.returncode == 75:
        pytest.skip(f"colcon cannot be had here: {got.stderr.strip()}")
    assert got.returncode == 0, got.stderr
    return work


@pytest.fixture(scope="module")
def installed(workspace) -> Path:
    """The workspace's install folder."""
    # Without agent_msgs in the workspace, the one of build/env.sh is used.
    sources = "src" if os.environ.get("PROOF") else "src/agent_node/packaging/colcon"
    # ROS 2's wheels lack a typesupport (introspection in C++): agent_msgs takes the generators that set-up takes.
    generators = f"-Drosidl_default_generators_DIR={ROOT / 'tools' / 'overlay' / 'cmake'}"
    built = colcon(workspace, "--log-base", "log", "build", "--base-paths", sources, "--cmake-args", generators)
    assert built.returncode == 0, built.stdout + built.stderr
    return workspace / "install"


def test_the_programs_are_where_ros2_run_looks(installed):
    for name in ("agent_node", "sim_robot"):
        program = installed / "agent_node" / "lib" / "agent_node" / name
        assert os.access(program, os.X_OK), program
    node = installed / "agent_node" / "lib" / "agent_node" / "agent_node"
    told = subprocess.run([node, "--help"], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0 and "The robot agent" in told.stdout, told


def test_launch_files_profiles_and_the_index_are_in_the_share_folder(installed):
    share = installed / "agent_node" / "share"
    for file in ("launch/agent_node.launch.py", "launch/sim_robot.launch.py", "config/sim_robot.yaml", "package.xml"):
        assert (share / "agent_node" / file).is_file(), file
    assert (share / "ament_index" / "resource_index" / "packages" / "agent_node").is_file()


def test_the_checkout_holds_two_packages(workspace):
    """The stand-ins of other people's interface packages must never shadow the real ones in a workspace."""
    told = colcon(workspace, "--log-base", "log", "list", "--base-paths", "src", "--names-only")
    assert told.returncode == 0 and told.stdout.split() == ["agent_msgs", "agent_node"], told


if os.environ.get("PROOF"):  # it builds all of agent_msgs, which takes minutes

    def test_a_debian_package_holds_what_an_installation_holds(tmp_path):
        made = subprocess.run([ROOT / "packaging/debian/build", tmp_path], capture_output=True, text=True, timeout=3000)
        assert made.returncode == 0, made.stderr
        told = subprocess.run(
            ["dpkg-deb", "--contents", made.stdout.strip()], capture_output=True, text=True, check=True
        )
        prefix = f"./opt/ros/{os.environ['ROS_DISTRO']}"
        held = {line.split()[5] for line in told.stdout.splitlines()}
        for file in (
            "lib/agent_node/agent_node",
            "share/agent_node/launch/agent_node.launch.py",
            "share/agent_msgs/package.xml",
        ):
            assert f"{prefix}/{file}" in held, file
        assert not any(
            f.startswith(f"{prefix}/") and "setup." in f.removeprefix(f"{prefix}/").split("/")[0] for f in held
        )
