"""Fixtures: each stand-in with the node and the profile that is shipped for it, up for a whole module."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "e2e"), str(Path(__file__).parent)]


def make(tmp_path_factory, kind, **options):
    pytest.importorskip("rclpy", reason="no ROS 2 in this environment")
    from robot_rig import RobotRig

    r = RobotRig(tmp_path_factory.mktemp(kind), kind, **options)
    try:
        yield r
        r.settle()
    finally:
        r.close()


@pytest.fixture(scope="module")
def turtlebot(tmp_path_factory):
    yield from make(tmp_path_factory, "turtlebot")


@pytest.fixture(scope="module")
def stamped(tmp_path_factory):
    yield from make(tmp_path_factory, "turtlebot_stamped")


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    yield from make(tmp_path_factory, "arm")


@pytest.fixture(scope="module")
def manipulator(tmp_path_factory):
    yield from make(tmp_path_factory, "mobile_manipulator")
