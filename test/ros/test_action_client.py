"""The Go action client in another process against rclpy's ActionServer."""

import signal
import threading
import time

import pytest
from action_msgs.msg import GoalStatus
from conftest import eventually
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from test_msgs.action import Fibonacci

EXECUTING, CANCELING = GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING
SUCCEEDED, CANCELED, ABORTED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED


class Server:
    """rclpy's server of /fibonacci. An order of 100 or more runs until it is canceled; 50 aborts."""

    def __init__(self, spinner, name="py_server"):
        self.node = spinner.node(name)
        self.accept_after = None  # an Event: goals wait for it before they are judged
        self.refuse_cancel = False
        self.cancels, self.goals = [], []
        self.server = ActionServer(
            self.node, Fibonacci, "fibonacci", self.execute, goal_callback=self.judge, cancel_callback=self.on_cancel
        )
        spinner.at_close.append(self.destroy)

    def destroy(self):
        if self.server is not None:
            self.server.destroy()
            self.server = None

    def judge(self, goal):
        self.goals.append(goal.order)
        if self.accept_after is not None:
            assert self.accept_after.wait(20)
        return GoalResponse.REJECT if goal.order < 0 else GoalResponse.ACCEPT

    def on_cancel(self, handle):
        self.cancels.append(bytes(handle.goal_id.uuid).hex())
        return CancelResponse.REJECT if self.refuse_cancel else CancelResponse.ACCEPT

    def execute(self, handle):
        order, sequence = handle.request.order, [0, 1]
        steps = 1000 if order >= 100 else order
        for _ in range(steps):
            if handle.is_cancel_requested:
                handle.canceled()
                return Fibonacci.Result(sequence=sequence)
            handle.publish_feedback(Fibonacci.Feedback(sequence=sequence))
            sequence = [*sequence, sequence[-1] + sequence[-2]] if len(sequence) < 40 else sequence
            time.sleep(0.01)
        if order == 50:
            handle.abort()
        else:
            handle.succeed()
        return Fibonacci.Result(sequence=sequence[:order])


@pytest.fixture
def server(spinner):
    return Server(spinner)


@pytest.fixture
def client(program, server):
    p = program("action_client")
    p.tell(do="wait")
    p.expect(event="there")
    return p


def states(events):
    return [e["status"] for e in events if e["event"] == "status"]


def test_goal_with_feedback_succeeds(client):
    client.tell(do="send", key="a", order=8)
    outcome, events = client.outcome("a")
    assert (outcome["status"], outcome["sequence"]) == (SUCCEEDED, [0, 1, 1, 2, 3, 5, 8, 13])
    feedback = [e["sequence"] for e in events if e["event"] == "feedback"]
    assert feedback == sorted(feedback, key=len) and feedback
    assert states(events) == sorted(states(events)) and states(events)[-1] == SUCCEEDED


def test_rejected_and_aborted(client):
    client.tell(do="send", key="no", order=-1)
    assert client.outcome("no")[0]["error"] == "rejected"
    client.tell(do="send", key="ab", order=50)
    assert client.outcome("ab")[0]["status"] == ABORTED


def test_cancel_delivers_the_partial_result(client, server):
    client.tell(do="send", key="a", order=100)
    goal = client.expect(event="accepted")["id"]
    client.expect(event="feedback")  # of a status it may have been told before it is told that the goal is accepted
    client.tell(do="cancel", key="a")
    client.expect(event="cancel", code=0)
    outcome, _ = client.outcome("a")
    assert outcome["status"] == CANCELED and outcome["sequence"][:2] == [0, 1]
    assert server.cancels == [goal]
    client.tell(do="cancel", key="a")
    client.expect(event="cancel", code=3)


def test_cancel_all(client):
    for key in "ab":
        client.tell(do="send", key=key, order=100)
        client.expect(event="accepted", key=key)
    client.tell(do="cancel_all")
    client.expect(event="canceled_all")
    assert [client.outcome(k)[0]["status"] for k in "ab"] == [CANCELED] * 2


def test_refused_cancel(client, server):
    server.refuse_cancel = True
    client.tell(do="send", key="a", order=60)
    client.expect(event="accepted")
    client.tell(do="cancel", key="a")
    # rclpy answers a refusal with no goal and code 0; the goal goes on.
    client.expect(event="cancel")
    assert client.outcome("a")[0]["status"] == SUCCEEDED


def test_two_goals_hear_only_of_themselves(client):
    client.tell(do="send", key="long", order=30)
    client.tell(do="send", key="short", order=3)
    short, short_events = client.outcome("short")
    long, _ = client.outcome("long")
    assert len(short["sequence"]) == 3 and len(long["sequence"]) == 30
    assert max(len(e["sequence"]) for e in short_events if e["event"] == "feedback") <= 5


def test_goal_given_up_before_acceptance_is_canceled(client, server):
    server.accept_after = threading.Event()
    client.tell(do="send", key="a", order=100, give_up=0.3)
    assert client.outcome("a")[0]["error"] == "gave_up"
    assert server.cancels == []
    server.accept_after.set()
    eventually(lambda: len(server.cancels) == 1)
    time.sleep(0.3)
    assert len(server.cancels) == 1 and server.goals == [100]


def test_server_that_vanishes_is_noticed(client, server):
    client.tell(do="send", key="a", order=100)
    client.expect(event="status", status=EXECUTING)
    server.destroy()
    assert client.outcome("a")[0]["error"] == "server_lost"


def test_server_that_restarts_has_forgotten_the_goal(client, server, spinner):
    client.tell(do="send", key="a", order=100)
    client.expect(event="status", status=EXECUTING)
    server.destroy()
    Server(spinner, "py_server_again")
    assert client.outcome("a")[0]["error"] in ("forgotten", "server_lost")


def test_go_client_and_go_server_in_two_processes(program):
    server = program("action_server")
    client = program("action_client")
    client.tell(do="wait")
    client.expect(event="there")
    client.tell(do="send", key="a", order=100)
    client.expect(event="status", status=EXECUTING)
    server.stop(signal.SIGTERM)
    outcome, _ = client.outcome("a")
    assert (outcome["status"], outcome["sequence"]) == (ABORTED, [9])
    client.stop(None)
