"""Fixtures of the tests of the robot in MuJoCo; without MuJoCo's wheels all of them are skipped."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "e2e"))

FULL = bool(os.environ.get("PROOF"))


def wheels():
    """Where MuJoCo is; and why it is not here, where it is not."""
    run = subprocess.run([ROOT / "tools" / "mujoco", "--install"], capture_output=True, text=True)
    if run.returncode == 75:
        return None, run.stderr.strip().splitlines()[-1]
    assert run.returncode == 0, run.stderr
    return run.stdout.strip(), ""


@pytest.fixture(scope="session", autouse=True)
def mujoco_is_here():
    place, why = wheels()
    if place is None:
        pytest.skip(why)
    os.environ.setdefault("MUJOCO_GL", "disable")
    sys.path[:0] = [place, str(ROOT / "sim"), str(ROOT / "sim" / "mujoco")]


@pytest.fixture
def physics():
    """The robot at the dock, seed 1."""
    from mujoco_robot.physics import Physics

    return Physics(1)


@pytest.fixture(scope="module")
def robot(mujoco_is_here, tmp_path_factory):
    """The robot in MuJoCo and the node as two processes; each test begins with fresh() or put()."""
    pytest.importorskip("rclpy", reason="no ROS 2 in this environment")
    from rig import Rig

    class InMujoco(Rig):
        robot_program = (str(ROOT / "tools" / "mujoco"), "-m", "mujoco_robot")
        switches, levels = ("fault.protective_stop", "sim.estop"), ()

    r = InMujoco(tmp_path_factory.mktemp("mujoco"), sim_params={"seed": 1})
    try:
        yield r
        r.settle()
    finally:
        r.close()
