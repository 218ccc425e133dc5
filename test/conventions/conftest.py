"""Fixtures of the tests of ROS 2's conventions: the node as a process, and a rclpy peer in its domain.

The peer and the processes are those of the end-to-end tests beside this folder.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from rig import Rig


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A factory of nodes without a robot: bare(arguments) gives (rig, process). They end with the module."""
    rigs = []

    def make(*arguments, name="bare", env=None):
        r = Rig(tmp_path_factory.mktemp(name), node=False, sim=False)
        rigs.append(r)
        r.env.update(env or {})
        return r, r.start("agent_node", {"trace.dir": str(r.folder / "traces")}, arguments)

    yield make
    for r in rigs:
        r.close()


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """The built-in robot and the node, for all tests of a module."""
    r = Rig(tmp_path_factory.mktemp("house"), node_params={"wait_for_bindings": 2.0})
    yield r
    try:
        r.settle()
    finally:
        r.close()
