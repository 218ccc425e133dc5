"""build/env.sh: what it promises to every shell that sources it."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "build" / "env.sh"


def sourced(shell: str, commands: str, **environment: str) -> str:
    """What commands print in a strict shell, in another folder, that has sourced env.sh."""
    done = subprocess.run(
        [shell, "-euc", f'. "{SCRIPT}"\n{commands}'],
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", **environment},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(params=["sh", "bash"])
def shell(request) -> str:
    return request.param


def test_rclpy_sees_every_interface_package(shell: str) -> None:
    packages = "agent_msgs.action, nav2_msgs.action, control_msgs.action, vision_msgs.msg, tf2_msgs.msg"
    out = sourced(
        shell,
        f'python3 -c "import rclpy, {packages}; from agent_msgs.action import ExecuteTask as E; print(E.Result.DONE)"',
    )
    assert out == "1\n"


def test_sourcing_twice_changes_nothing(shell: str) -> None:
    show = "env | grep -E '^(PATH|PYTHONPATH|LD_LIBRARY_PATH|AMENT_PREFIX_PATH|CGO_CFLAGS)=' | sort"
    assert sourced(shell, show) == sourced(shell, f'. "{SCRIPT}"\n{show}')


def test_what_the_user_set_stays(shell: str) -> None:
    out = sourced(
        shell,
        'echo "$ROS_DOMAIN_ID $RMW_IMPLEMENTATION $GOFLAGS"; echo "$PYTHONPATH"',
        ROS_DOMAIN_ID="42",
        RMW_IMPLEMENTATION="rmw_other",
        GOFLAGS="-v",
        PYTHONPATH="/mine",
    )
    first, path = out.splitlines()
    assert first == "42 rmw_other -v"
    assert path.endswith(":/mine")


def test_cgo_finds_every_header_folder_it_is_given(shell: str) -> None:
    flags = sourced(shell, 'echo "$CGO_CFLAGS"').split()
    folders = [f[2:] for f in flags if f.startswith("-I")]
    assert folders and all(os.path.isdir(f) for f in folders)
    assert any(f.endswith("/rcl") for f in folders)
