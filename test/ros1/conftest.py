"""Fixtures of the tests on ROS 1."""

import fcntl
import os

import pytest

import ros1

lacking = ros1.missing()


def pytest_collection_modifyitems(items):
    here = [i for i in items if i.path.parent == ros1.HERE]
    if lacking:
        for i in here:
            i.add_marker(
                pytest.mark.skip(
                    reason=f"ROS 1 is not installed ({lacking}); .ci/run installs it from Debian's packages"
                )
            )


@pytest.fixture(scope="session")
def messages(tmp_path_factory):
    """agent_msgs for ROS 1's Python, made once for all workers."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / "agent_msgs_of_ros1"
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = folder / "path"
        if not made.exists():
            made.write_text(ros1.agent_msgs(folder))
        return made.read_text()


@pytest.fixture
def graph(request, tmp_path, messages):
    g = ros1.Graph(tmp_path, messages)
    yield g
    codes = g.close()
    bad = request.node.stash.get(failed, False) or codes.get("agent_node", 0) != 0
    if bad:
        print(g.logs())
    assert codes.get("agent_node", 0) == 0, codes


failed = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        item.stash[failed] = True
    return report


def furnish(graph):
    """Robot, node and person, all up. Returns the person."""
    graph.param("/agent_node", {"profile": str(ros1.ROOT / "config" / "ros1_base.yaml"), "model": {"kind": "planner"}})
    graph.param("/move_base/TrajectoryPlannerROS", {"xy_goal_tolerance": 0.06})
    graph.robot()
    graph.node()
    person = graph.person()
    person.ask("ready", timeout=60)
    return person


@pytest.fixture
def own(graph):
    """Robot, node and person of one test alone: (graph, person)."""
    return graph, furnish(graph)


@pytest.fixture(scope="module")
def shared(tmp_path_factory, messages):
    """A list of the (graph, person) that serve test after test: one, while none fails."""
    rigs = []
    yield rigs
    for graph, _ in rigs:
        codes = graph.close()
        assert codes["agent_node"] == 0, f"{codes}\n{graph.logs()}"


@pytest.fixture
def driven(request, shared, tmp_path_factory, messages):
    """Robot, node and person, as at the start: (graph, person)."""
    if shared:
        shared[0][1].ask("begin_anew", timeout=60)
    else:
        graph = ros1.Graph(tmp_path_factory.mktemp("ros1"), messages)
        try:
            shared.append((graph, furnish(graph)))
        except BaseException:
            print(graph.logs())
            graph.close()
            raise
    yield shared[0]
    if request.node.stash.get(failed, False):
        graph, _ = shared.pop()
        print(graph.logs())
        graph.close()
