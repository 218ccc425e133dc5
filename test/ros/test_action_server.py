"""rclpy's ActionClient, and raw service clients, against the Go action server in another process."""

import signal
import time
import uuid

import pytest
from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Time
from conftest import eventually, wait
from rclpy.action import ActionClient, ActionServer
from rclpy.qos import DurabilityPolicy, QoSProfile
from test_msgs.action import Fibonacci
from unique_identifier_msgs.msg import UUID

UNTIL_CANCELED, REFUSES_CANCEL, ABORTS, ABORTS_ON_CANCEL, AT_ONCE, PANICS = range(100, 106)

ACCEPTED, EXECUTING, CANCELING = GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING
SUCCEEDED, CANCELED, ABORTED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED


def goal(order):
    return Fibonacci.Goal(order=order)


class Rig:
    """A node with an action client, the raw services and what the status topic said."""

    def __init__(self, spinner, name="py_client"):
        self.node = spinner.node(name)
        # Deeper than by default: on a loaded machine rclpy itself loses answers of a burst beyond ten.
        deep = {"qos_profile": QoSProfile(depth=100)}
        self.client = ActionClient(
            self.node, Fibonacci, "fibonacci",
            goal_service_qos_profile=QoSProfile(depth=100), result_service_qos_profile=QoSProfile(depth=100),
        )  # fmt: skip
        spinner.at_close.append(self.client.destroy)
        self.cancels = self.node.create_client(CancelGoal, "fibonacci/_action/cancel_goal", **deep)
        self.results = self.node.create_client(Fibonacci.Impl.GetResultService, "fibonacci/_action/get_result", **deep)
        self.goals = self.node.create_client(Fibonacci.Impl.SendGoalService, "fibonacci/_action/send_goal", **deep)
        self.history, self.stamps, self.latest = {}, {}, {}
        # Deeper than an action client's own, so as not to miss a state.
        qos = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(GoalStatusArray, "fibonacci/_action/status", self.on_status, qos)
        assert self.client.wait_for_server(20)
        for c in (self.cancels, self.results, self.goals):
            assert c.wait_for_service(20)
        eventually(lambda: self.node.count_publishers("/fibonacci/_action/status") == 1)

    def on_status(self, array):
        self.latest = {bytes(s.goal_info.goal_id.uuid): s.status for s in array.status_list}
        for s in array.status_list:
            key = bytes(s.goal_info.goal_id.uuid)
            seen = self.history.setdefault(key, [])
            if not seen or seen[-1] != s.status:
                seen.append(s.status)
            self.stamps[key] = s.goal_info.stamp

    def send(self, order, feedback=None):
        handle = wait(self.client.send_goal_async(goal(order), feedback_callback=feedback))
        assert handle.accepted
        return handle

    def raw_send(self, key, order):
        request = Fibonacci.Impl.SendGoalService.Request(goal_id=UUID(uuid=list(key)), goal=goal(order))
        return wait(self.goals.call_async(request))

    def raw_result(self, key):
        request = Fibonacci.Impl.GetResultService.Request(goal_id=UUID(uuid=list(key)))
        return wait(self.results.call_async(request))

    def cancel(self, key=bytes(16), stamp=None):
        info = GoalInfo(goal_id=UUID(uuid=list(key)), stamp=stamp or Time())
        answer = wait(self.cancels.call_async(CancelGoal.Request(goal_info=info)))
        return answer.return_code, [bytes(g.goal_id.uuid) for g in answer.goals_canceling]

    def ended(self, key):
        return eventually(lambda: self.history.get(key, [0])[-1] >= SUCCEEDED and self.history[key])


@pytest.fixture
def server(program):
    return program("action_server")


@pytest.fixture
def rig(spinner, server):
    return Rig(spinner)


def key_of(handle):
    return bytes(handle.goal_id.uuid)


def executing(rig, handle):
    eventually(lambda: rig.latest.get(key_of(handle), 0) >= EXECUTING)


def result_of(handle):
    r = wait(handle.get_result_async())
    return r.status, list(r.result.sequence)


def test_goal_with_feedback_succeeds(rig):
    feedback = []
    handle = rig.send(6, lambda m: feedback.append(list(m.feedback.sequence)))
    assert result_of(handle) == (SUCCEEDED, [0, 1, 1, 2, 3, 5])
    assert rig.ended(key_of(handle)) == [ACCEPTED, EXECUTING, SUCCEEDED]
    assert feedback and feedback[0][:3] == [0, 1, 1]
    assert handle.status == SUCCEEDED


def test_acceptance_stamp_is_now_and_in_the_status(rig):
    handle = rig.send(3)
    age = time.time() - (handle.stamp.sec + handle.stamp.nanosec * 1e-9)
    assert 0 <= age < 20
    rig.ended(key_of(handle))
    assert rig.stamps[key_of(handle)] == handle.stamp


def test_goal_is_rejected(rig):
    handle = wait(rig.client.send_goal_async(goal(-1)))
    assert not handle.accepted
    assert rig.send(2).accepted


def test_duplicate_id_is_refused(rig):
    key = uuid.uuid4().bytes
    assert rig.raw_send(key, UNTIL_CANCELED).accepted
    assert not rig.raw_send(key, 3).accepted
    assert rig.cancel(key) == (CancelGoal.Response.ERROR_NONE, [key])
    assert rig.raw_result(key).status == CANCELED
    assert not rig.raw_send(key, 3).accepted


def test_canceled_goal_delivers_its_partial_result(rig):
    handle = rig.send(UNTIL_CANCELED)
    executing(rig, handle)
    answer = wait(handle.cancel_goal_async())
    assert answer.return_code == CancelGoal.Response.ERROR_NONE
    assert [bytes(g.goal_id.uuid) for g in answer.goals_canceling] == [key_of(handle)]
    status, sequence = result_of(handle)
    assert status == CANCELED and sequence[:2] == [0, 1]
    assert rig.ended(key_of(handle)) == [ACCEPTED, EXECUTING, CANCELING, CANCELED]


def test_aborted_goals_deliver_their_result(rig):
    assert result_of(rig.send(ABORTS)) == (ABORTED, [7])
    handle = rig.send(ABORTS_ON_CANCEL)
    wait(handle.cancel_goal_async())
    assert result_of(handle) == (ABORTED, [8])
    assert result_of(rig.send(PANICS)) == (ABORTED, [])


def test_goal_that_ends_at_once(rig):
    for _ in range(20):
        handle = rig.send(AT_ONCE)
        assert result_of(handle) == (SUCCEEDED, [0])


def test_cancel_all_and_before_a_time(rig):
    first = rig.send(UNTIL_CANCELED)
    time.sleep(0.01)
    second = rig.send(UNTIL_CANCELED)
    third = rig.send(UNTIL_CANCELED)
    assert rig.cancel(stamp=first.stamp) == (0, [key_of(first)])
    assert rig.cancel() == (0, [key_of(second), key_of(third)])
    assert rig.cancel()[0] == 0
    assert [result_of(h)[0] for h in (first, second, third)] == [CANCELED] * 3


def test_cancel_codes(rig):
    assert rig.cancel(uuid.uuid4().bytes) == (CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID, [])
    refusing = rig.send(REFUSES_CANCEL)
    assert rig.cancel(key_of(refusing)) == (CancelGoal.Response.ERROR_REJECTED, [])
    assert result_of(refusing)[0] == SUCCEEDED
    assert rig.cancel(key_of(refusing)) == (CancelGoal.Response.ERROR_GOAL_TERMINATED, [])


def test_result_late_twice_and_unknown(rig):
    handle = rig.send(AT_ONCE)
    rig.ended(key_of(handle))
    for _ in range(2):
        r = rig.raw_result(key_of(handle))
        assert (r.status, list(r.result.sequence)) == (SUCCEEDED, [0])
    assert rig.raw_result(uuid.uuid4().bytes).status == GoalStatus.STATUS_UNKNOWN


def test_result_expires(spinner, program):
    program("action_server", "--result-timeout", "1s")
    rig = Rig(spinner)
    handle = rig.send(AT_ONCE)
    rig.ended(key_of(handle))
    eventually(lambda: key_of(handle) not in rig.latest)
    assert rig.raw_result(key_of(handle)).status == GoalStatus.STATUS_UNKNOWN
    assert rig.cancel(key_of(handle))[0] == CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID


def test_late_subscriber_gets_the_array(spinner, rig):
    running = rig.send(UNTIL_CANCELED)
    done = rig.send(AT_ONCE)
    rig.ended(key_of(done))
    executing(rig, running)
    late = Rig(spinner, "late")
    eventually(lambda: late.latest == {key_of(running): EXECUTING, key_of(done): SUCCEEDED})


def test_two_clients_and_one_that_is_killed(spinner, rig, program):
    doomed = program("action_client")
    doomed.tell(do="wait")
    doomed.expect(event="there")
    doomed.tell(do="send", key="a", order=UNTIL_CANCELED)
    key = bytes.fromhex(doomed.expect(event="accepted")["id"])
    other = rig.send(UNTIL_CANCELED)
    doomed.kill()
    assert result_of(rig.send(4)) == (SUCCEEDED, [0, 1, 1, 2])
    assert rig.cancel(key) == (0, [key])
    assert rig.raw_result(key).status == CANCELED
    assert rig.latest[key_of(other)] == EXECUTING


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_shutdown_ends_every_goal(rig, server, how):
    handles = [rig.send(UNTIL_CANCELED) for _ in range(3)]
    futures = [h.get_result_async() for h in handles]
    executing(rig, handles[-1])
    server.stop(how)
    assert [(r.status, list(r.result.sequence)) for r in map(wait, futures)] == [(ABORTED, [9])] * 3
    for h in handles:
        assert rig.ended(key_of(h))[-1] == ABORTED


def test_twenty_goals_at_once(rig):
    futures = [rig.client.send_goal_async(goal(20)) for _ in range(20)]
    handles = [wait(f) for f in futures]
    assert all(h.accepted for h in handles)
    results = [h.get_result_async() for h in handles]
    assert [wait(r).status for r in results] == [SUCCEEDED] * 20
    for h in handles:
        assert rig.ended(key_of(h))[-1] == SUCCEEDED


def test_hundred_goals_in_a_row(rig):
    for _ in range(100):
        assert result_of(rig.send(AT_ONCE)) == (SUCCEEDED, [0])


def test_cancel_in_the_first_moments_is_never_lost(rig):
    for pause in (0.0, 0.002, 0.005, 0.01, 0.02, 0.05):
        handle = rig.send(UNTIL_CANCELED)
        time.sleep(pause)
        assert wait(handle.cancel_goal_async()).return_code == 0
        assert result_of(handle)[0] == CANCELED


def test_interfaces_are_those_of_an_rclpy_server(spinner, rig):
    """Names, types and quality of service, with an rclpy server of the same action as the measure."""
    server = ActionServer(rig.node, Fibonacci, "model", lambda handle: Fibonacci.Result())
    spinner.at_close.append(server.destroy)

    def interfaces(action):
        topics, services = set(), set()
        for topic in ("feedback", "status"):
            name = f"/{action}/_action/{topic}"
            for info in rig.node.get_publishers_info_by_topic(name):
                q = info.qos_profile
                topics.add((topic, info.topic_type, str(info.topic_type_hash), q.reliability, q.durability, q.depth))
        for name, types in rig.node.get_service_names_and_types():
            if name.startswith(f"/{action}/_action/"):
                services.add((name.rpartition("/")[2], *types))
        return topics, services

    ours, theirs = interfaces("fibonacci"), eventually(lambda: len(interfaces("model")[1]) == 3 and interfaces("model"))
    assert len(theirs[0]) == 2
    assert ours == theirs
