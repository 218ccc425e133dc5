"""Two nodes of one full name: one alone drives the robot, and the other says why it does not."""

import re
import signal
import time

from judge import honest
from processes import ROOT

AGAIN = "start this one under another name or namespace"


def start(rig, folder, log=None):
    """One more node of the name, whose coming up nobody waits for."""
    params = {"trace.dir": str(rig.folder / folder), "profile": str(ROOT / "config" / "sim_robot.yaml")}
    return rig.start("agent_node", params, log=log)


def drives_once(rig):
    goal = rig.run("go to the office", 90)
    honest(rig, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    commanded = rig.commanded()
    assert commanded["/navigate_to_pose"] == 1, commanded


def test_a_second_node_of_the_name_ends_with_the_reason(rig):
    r = rig()
    second = start(r, "second")
    assert second.ended(30.0) == 1
    assert AGAIN in second.text() and "/agent_node is process " in second.text(), second.text()
    r.until(
        lambda: any("has to yield" in s.message for d in r.diagnostics for s in d.status),
        5.0,
        "the first to tell of it",
    )
    drives_once(r)


def test_nodes_that_are_started_again_and_again_leave_the_first_one_driving(rig):
    """The same command once more, so with the same traces: their writer lives, and is nobody's remains."""
    r = rig()
    goal = r.goal("go to the kitchen, then to the office")
    r.moving()
    for folder in ["traces"] * 5 + ["elsewhere"]:
        second = start(r, folder, f"second_{len(r.processes)}")
        assert second.ended(30.0) == 1, second.text()
        said = second.text()
        assert AGAIN in said and f"/agent_node is process {r.agent.popen.pid} of this machine" in said, said
        if folder == "traces":
            assert "to=inactive" not in said and "to=active" not in said, said
        assert "what it left moving is stopped" not in said, said
    goal.wait(90)
    honest(r, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    assert r.commanded() == {"/navigate_to_pose": 2}, r.commanded()
    assert "took the base over" not in r.agent.text()


def test_of_two_that_start_at_once_one_stays(rig):
    r = rig(node=False)
    both = [start(r, "one"), start(r, "other")]
    r.until(lambda: sum(p.alive() for p in both) == 1, 30.0, "one of the two to yield")
    r.agent = next(p for p in both if p.alive())
    assert r.actions.wait_for_server(30.0)
    time.sleep(1.0)
    assert r.agent.alive()
    drives_once(r)


def test_a_killed_node_keeps_nobody_out(rig):
    r = rig()
    r.until(lambda: "to=active" in r.agent.text(), 20.0, "the first one to be active")
    for killed in (1, 2):  # the middleware takes each of them for alive for some time more
        r.agent.popen.send_signal(signal.SIGKILL)
        r.agent.popen.wait(10)
        r.start_node()
        r.until(
            lambda n=killed: len(re.findall(r"to=active", r.agent.text())) == n + 1, 20.0, "the next one to be active"
        )
    assert AGAIN not in r.agent.text()
    drives_once(r)
