"""Clients of a goal that asked to be missed: they end, are killed, are suspended; and deadlines."""

import signal
import subprocess
import sys
import time

import pytest
from agent_msgs.msg import AgentState
from builtin_interfaces.msg import Duration, Time

from judge import honest, rests_for_good
from truth import still

CLIENT = """
import os, sys, time
import rclpy
from agent_msgs.action import ExecuteTask
from builtin_interfaces.msg import Duration
from rclpy.action import ActionClient
rclpy.init()
node = rclpy.create_node("caller")
client = ActionClient(node, ExecuteTask, sys.argv[1])
assert client.wait_for_server(60)
limit = float(sys.argv[3])
wish = Duration(sec=int(limit), nanosec=int(limit % 1 * 1e9))
sent = client.send_goal_async(ExecuteTask.Goal(task=sys.argv[2], client_timeout=wish))
rclpy.spin_until_future_complete(node, sent)
print(bytes(sent.result().goal_id.uuid).hex(), flush=True)
if "deaf" in sys.argv:
    time.sleep(600)  # alive, and not spinning
ended = sent.result().get_result_async()
rclpy.spin_until_future_complete(node, ended)
print(ended.result().result.reason_code, flush=True)
"""
LIMIT = 2.0  # s
START = (-3.0, 1.5, -3.1416)  # the office: a long way from the kitchen


class Client:
    """A client in a process of its own."""

    def __init__(self, rig, task, limit=LIMIT, *words):
        arguments = [sys.executable, "-c", CLIENT, f"{rig.name}/execute_task", task, str(limit), *words]
        self.popen = subprocess.Popen(arguments, env=rig.env, stdout=subprocess.PIPE, text=True)
        self.session = self.popen.stdout.readline().strip()
        assert self.session, "it sent no goal"

    def end(self, sig):
        self.popen.send_signal(sig)
        if sig != signal.SIGSTOP:
            self.popen.wait(20)

    def close(self):
        self.popen.kill()
        self.popen.wait(20)
        self.popen.stdout.close()


@pytest.fixture
def client(house):
    clients = []

    def make(*arguments):
        clients.append(Client(house, *arguments))
        return clients[-1]

    yield make
    for c in clients:
        c.close()
    house.until(lambda: house.states[-1][1].state == AgentState.IDLE, 60.0, "what is left to end")


def reason(rig, session):
    """The reason that a session ended with, from its trace."""
    for e in rig.traces:
        if e.kind == "end" and e.session == session:
            return e.data_json.split('"reason":"')[1].split('"')[0]
    return None


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGKILL, signal.SIGSTOP], ids=lambda s: s.name)
def test_a_client_that_is_gone_takes_its_goal_along(house, client, sig):
    """The rig's own client of the same action lives on: it is not taken for this one."""
    house.put(*START)
    c = client("go to the kitchen, then wait 60 seconds")
    house.moving()
    time.sleep(8.0)  # so long may discovery take to tell the node of a client's ears
    gone = time.monotonic()
    c.end(sig)
    house.until(lambda: reason(house, c.session), LIMIT + 20.0, "the goal to end")
    assert reason(house, c.session) == "client_lost"
    assert time.monotonic() - gone > LIMIT - 0.5, "it was not given the time it asked for"
    assert still(house.truth.newest())
    rests_for_good(house, 1.0)


def test_a_client_that_lives_keeps_its_goal(house, client):
    """Spinning or not: a client that waits for something else has not gone."""
    c = client("drive 0.8 m forward", 1.0, "deaf")
    house.until(lambda: reason(house, c.session), 40.0, "the goal to end")
    assert reason(house, c.session) == "accepted"
    c = client("drive 0.8 m backward", 1.0)
    assert c.popen.stdout.readline().strip() == "accepted"


def test_without_that_wish_a_goal_outlives_its_client(house, client):
    c = client("drive 1 m forward", 0.0)
    house.moving()
    c.end(signal.SIGKILL)
    house.until(lambda: reason(house, c.session), 40.0, "the goal to end")
    assert reason(house, c.session) == "accepted"


@pytest.mark.parametrize("motion", ["go to the kitchen", "drive 3 m forward"])
def test_a_deadline_ends_a_motion_at_rest_and_in_time(house, motion):
    at = time.time() + 11.0  # of which stopping may need seven
    goal = house.goal(motion, deadline=Time(sec=int(at), nanosec=int(at % 1 * 1e9)))
    house.moving()
    goal.wait(30)
    honest(house, goal)
    assert goal.end() == ("INTERRUPTED", "upstream_timeout"), goal.told()
    assert goal.ended <= at + 1.0, f"{goal.ended - at:.1f} s after its deadline"
    assert goal.result.completed_steps and list(goal.result.unmet_goals)
    rests_for_good(house, 1.0)


def test_a_deadline_that_has_passed_moves_nothing(house):
    goal = house.goal("drive 0.5 m forward", deadline=Time(sec=int(time.time()) - 5))
    goal.wait(20)
    honest(house, goal)
    assert goal.end() == ("INTERRUPTED", "upstream_timeout"), goal.told()
    assert not house.commanded()


def test_a_deadline_that_is_met_changes_nothing(house):
    goal = house.goal("drive 0.3 m forward", deadline=Time(sec=int(time.time()) + 60))
    goal.wait(40)
    honest(house, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()


@pytest.mark.parametrize("field", ["deadline", "client_timeout"])
def test_times_below_zero_are_a_bad_request(house, field):
    value = {"deadline": Time(sec=-1), "client_timeout": Duration(sec=-1)}[field]
    goal = house.run("drive 0.3 m forward", 20, **{field: value})
    assert goal.end() == ("FAILED", "bad_request") and field in goal.result.answer, goal.told()
