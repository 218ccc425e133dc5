"""Many goals: one after the other, all at once under each queue policy; each ends, none is lost, nothing leaks."""

import collections
import time

import pytest
from agent_msgs.action import ExecuteTask
from agent_msgs.msg import AgentState

from goals import STATUS
from judge import honest

ENDED = set(STATUS.values())
QUESTIONS = ("where are you?", "how full is the battery?", "which places do you know?")


def idle(rig):
    rig.until(lambda: rig.states and rig.states[-1][1].state == AgentState.IDLE, 30.0, "the node to be idle")


@pytest.fixture
def crowd(shared):
    """A rig whose policy for a second goal can be set."""

    def make(policy):
        r = shared("crowd", node_params={"queue_length": 32})
        assert all(x.successful for x in r.set_node(queue_policy=policy))
        return r

    return make


def test_200_goals_in_a_row_leave_nothing_behind(rig):
    """Questions, with small drives and refusals between them."""
    r = rig()
    warm = [run(r, i) for i in range(20)]
    before = r.agent.usage()
    ends = collections.Counter(g.end() for g in [*warm, *(run(r, i) for i in range(20, 200))])
    assert ends == {("DONE", "accepted"): 180, ("FAILED", "infeasible"): 20}, ends
    idle(r)
    after = r.agent.usage()
    assert after["descriptors"] <= before["descriptors"] + 5, (before, after)
    assert after["threads"] <= before["threads"] + 5, (before, after)
    # Results are kept for a quarter of an hour: some kilobytes each.
    assert after["resident"] <= before["resident"] + 30_000, (before, after)


def run(r, i):
    if i % 10 == 9:
        task = "sing a song"
    elif i % 20 == 4:
        task = f"drive 0.05 m {'forward' if i % 40 == 4 else 'backward'}"
    else:
        task = QUESTIONS[i % 3]
    g = r.run(task, 30)
    honest(r, g)
    return g


def send(r, count, task="where are you?"):
    goals = [r.goal(task) for _ in range(count)]
    for g in goals:
        g.answered(30)
    return goals


def test_20_at_once_with_reject(crowd):
    r = crowd("reject")
    first = r.goal("drive 0.5 m forward")
    first.answered()
    others = send(r, 19)
    assert not any(g.accepted for g in others)
    # The response has no room for the reason: the trace and the log have.
    r.until(lambda: sum(e.kind == "goal.refused" for e in r.traces) == 19, 10.0, "the refusals' reasons")
    assert all("queue_policy" in e.data_json for e in r.traces if e.kind == "goal.refused")
    first.wait(30)
    honest(r, first)
    assert first.end() == ("DONE", "accepted"), first.told()
    assert r.run("where are you?", 20).end() == ("DONE", "accepted")


def test_20_at_once_with_queue(crowd):
    r = crowd("queue")
    goals = send(r, 20)
    assert all(g.accepted for g in goals)
    for g in goals:
        g.wait(60)
        honest(r, g)
        assert g.end() == ("DONE", "accepted"), g.told()
    # In the order they were accepted, by the node's record: requests and results milliseconds apart may overtake.
    came = [g.session() for g in sorted(goals, key=lambda g: (g.handle.stamp.sec, g.handle.stamp.nanosec))]
    r.until(lambda: any(e.kind == "end" and e.session == came[-1] for e in r.traces), 10.0, "the record's end")
    ended = [came.index(e.session) for e in r.traces if e.kind == "end" and e.session in came]
    assert len(ended) > 10 and ended == sorted(ended), ended


def test_a_full_queue_refuses(crowd):
    r = crowd("queue")
    assert all(x.successful for x in r.set_node(queue_length=3))
    goals = send(r, 8, "drive 0.3 m forward")
    assert all(x.successful for x in r.set_node(queue_length=32))
    assert [g.accepted for g in goals] == [True] * 4 + [False] * 4
    for g in reversed(goals[:4]):
        g.cancel()
    for g in goals[:4]:
        g.wait(20)
        assert g.end() == ("INTERRUPTED", "canceled"), g.told()
    honest(r, goals[0])


def test_goals_that_wait_can_be_canceled_without_moving_anything(crowd):
    r = crowd("queue")
    first, second, third = send(r, 3, "drive 0.5 m forward")
    second.cancel()
    second.wait(10)
    assert (second.status, second.end()) == (STATUS["CANCELED"], ("INTERRUPTED", "canceled")), second.told()
    assert not second.result.completed_steps and not first.over()
    for g in (first, third):
        g.wait(40)
        honest(r, g)
        assert g.end() == ("DONE", "accepted"), g.told()


def test_20_at_once_with_preempt(crowd):
    r = crowd("preempt")
    goals = send(r, 20, "drive 1 m forward")
    assert all(g.accepted for g in goals)
    for g in goals:
        g.wait(60)
        honest(r, g)
    ends = [g.end() for g in goals]
    assert ends == [("INTERRUPTED", "preempted")] * 19 + [("DONE", "accepted")], ends
    assert r.at_rest_now()


def test_a_preempted_motion_rests_before_the_next_begins(crowd):
    r = crowd("preempt")
    first = r.goal("go to the kitchen")
    r.moving()
    second = r.goal("drive 0.3 m forward")
    first.wait(20)
    honest(r, first)
    assert (first.status, first.end()) == (STATUS["ABORTED"], ("INTERRUPTED", "preempted")), first.told()
    second.wait(30)
    honest(r, second)
    assert second.end() == ("DONE", "accepted"), second.told()


def test_the_same_id_twice_is_refused(house):
    """rclpy draws ids itself; the second request is sent with the id of the first."""
    from unique_identifier_msgs.msg import UUID

    uuid = UUID(uuid=list(range(16)))
    futures = [
        house.asked(lambda: house.actions.send_goal_async(ExecuteTask.Goal(task="drive 0.3 m forward"), goal_uuid=uuid))
        for _ in range(2)
    ]
    accepted = [house.wait(f, 20).accepted for f in futures]
    assert accepted == [True, False]
    idle_again = time.monotonic()
    house.until(lambda: [m.state for _, m in house.states][-1:] == [AgentState.IDLE], 30.0, "the first goal's end")
    assert time.monotonic() - idle_again < 30
