"""Drive and stop: one goal over ROS 2, to rest and acceptance, judged by the truth."""

import json
import math
import subprocess
import time

import pytest

from agent_msgs.msg import AgentState
from goals import STATUS, outcome
from processes import BUILD
from truth import PLACES


def test_a_goal_is_done_at_rest_and_checked(rig):
    r = rig()
    g = r.run("go to the kitchen")
    assert (g.status, outcome(g.result), g.result.reason_code) == (STATUS["SUCCEEDED"], "DONE", "accepted")
    assert r.at_rest_at(g.ended) and r.at(*PLACES["kitchen"])
    assert [v.criterion for v in g.result.verifications if v.passed] == ["at_place(kitchen)"]
    assert list(g.result.unmet_goals) == []
    assert r.counters()["/navigate_to_pose"] == 1

    # States and phases come in a legal order.
    legal = {
        AgentState.IDLE: {AgentState.SAMPLING, AgentState.FAILED},
        AgentState.SAMPLING: {
            AgentState.AWAITING_TOOL,
            AgentState.AWAITING_USER,
            AgentState.DONE,
            AgentState.UNVERIFIED,
            AgentState.FAILED,
        },
        AgentState.AWAITING_TOOL: {
            AgentState.SAMPLING,
            AgentState.AWAITING_USER,
            AgentState.DONE,
            AgentState.UNVERIFIED,
            AgentState.FAILED,
        },
        AgentState.DONE: {AgentState.IDLE},
    }
    states = [m.state for _, m in r.states]
    for a, b in zip(states, states[1:], strict=False):
        assert a == b or b in legal[a], f"state {a} to {b} in {states}"
    assert states[-1] in (AgentState.DONE, AgentState.IDLE)
    order = ["assemble", "sample", "parse", "dispatch", "observe", "accept", "decide", "stop", "end"]
    assert all(f.phase in order for _, f in g.feedback), {f.phase for _, f in g.feedback}

    # The result's steps equal the trace's, and the trace is readable and intact.
    show = subprocess.run(
        [BUILD / "agent_node", "trace", "show", "--json", g.result.trace], capture_output=True, text=True, check=True
    )
    events = [json.loads(line) for line in show.stdout.splitlines()]
    observed = [e["call_id"] for e in events if e["kind"] == "observation"]
    assert observed == [s.call_id for s in g.result.completed_steps]
    assert any(e["kind"] == "guard.transition" for e in events)
    verify = subprocess.run([BUILD / "agent_node", "trace", "verify", g.result.trace], capture_output=True, text=True)
    assert verify.returncode == 0, verify.stdout + verify.stderr
    human = subprocess.run(
        [BUILD / "agent_node", "trace", "show", g.result.trace], capture_output=True, text=True, check=True
    )
    assert "navigate_to" in human.stdout


def test_cancel_while_driving_ends_at_rest(rig):
    r = rig()
    for task in ("go to the kitchen", "drive 1.5 m forward"):
        g = r.goal(task)
        r.moving()
        answer = g.cancel()
        assert len(answer.goals_canceling) == 1
        result = g.wait(15)
        assert (g.status, outcome(result), result.reason_code) == (STATUS["CANCELED"], "INTERRUPTED", "canceled")
        assert r.at_rest_at(g.ended)
        assert result.completed_steps and result.completed_steps[-1].error_kind == "canceled"
        assert list(result.unmet_goals)
    assert r.at_rest_now()


def test_units_and_signs(rig):
    r = rig()
    x0, y0, yaw0 = r.pose()
    g = r.run("drive half a metre forward, then turn 90 degrees to the left")
    assert outcome(g.result) == "DONE", g.result
    x1, y1, yaw1 = r.pose()
    along = (x1 - x0) * math.cos(yaw0) + (y1 - y0) * math.sin(yaw0)
    assert along == pytest.approx(0.5, abs=0.05)
    assert yaw1 - yaw0 == pytest.approx(math.pi / 2, abs=0.06)


@pytest.mark.parametrize("task", ["how much charge have you got left?", "where are you?", "which places do you know?"])
def test_a_question_moves_nothing(rig, task):
    r = rig()
    before = r.pose()
    g = r.run(task)
    assert outcome(g.result) == "DONE", g.result
    assert g.result.answer
    assert r.pose() == pytest.approx(before, abs=1e-6)


def test_deadline_and_shutdown(rig):
    r = rig()
    g = r.goal("go to the kitchen")
    r.moving()
    begin = time.monotonic()
    assert r.agent.stop() == 0
    assert time.monotonic() - begin < 20
    result = g.wait(5)
    assert (g.status, outcome(result), result.reason_code) == (STATUS["ABORTED"], "INTERRUPTED", "shutdown")
    assert r.at_rest_at(g.ended)
