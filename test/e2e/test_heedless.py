"""A navigator that heeds no cancel, and whose velocities win again as soon as ours end. Stop commands hold the robot,
and hold it for as long as the goal may live: rest is not claimed, and nothing moves after the result."""

import signal
import time

import pytest
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from agent_msgs.msg import ActuatorState, Budget
from builtin_interfaces.msg import Duration
from std_msgs.msg import Bool

from goals import STATUS
from judge import honest, rests_for_good
from test_navigators import played  # noqa: F401 a fixture
from test_watchdog import watch

FAULT = ("FAILED", "actuator_fault")
BOUND = 40.0  # s, more than a cancel, the time for the goal's end, and a busy machine take


def heedless(s, how):
    """Makes the navigator heed no cancel: it accepts it and drives on, or refuses it."""
    s.base.mux = True
    s.base.taken_over = lambda: None
    s.navigator.heedless = True
    s.navigator.speed = 0.15  # it has not arrived by the time that it is held
    s.navigator.on_cancel = lambda id: None
    if how == "refuses":

        def refuse(request, response):
            s.navigator.cancels += 1
            response.return_code = CancelGoal.Response.ERROR_REJECTED
            return response

        s.navigator._cancel = refuse
        s.navigator.close()
        s.navigator.open()


def cancel(r, goal):
    goal.cancel()


def stop(r, goal):
    answer = r.trigger("stop", BOUND)
    assert not answer.success, answer.message


def estop(r, goal):
    r.button = r.node.create_publisher(Bool, "/emergency_stop", 10)
    r.until(lambda: r.button.get_subscription_count() >= 1, 10.0, "the node to listen")
    r.button.publish(Bool(data=True))


def deactivate(r, goal):
    assert not r.transition("deactivate") and r.lifecycle() == "active"


WAYS = {"cancel": cancel, "stop": stop, "e-stop": estop, "deactivate": deactivate, "preempt": None, "budget": None}


def holds(r, s, seconds=4.0):
    """It is held: for a while nothing moves, by the truth and by the wheels."""
    at = s.base.x
    rests_for_good(r, seconds)
    assert abs(s.base.x - at) < 0.005 and s.navigator.running is not None


CASES = [(way, "accepts") for way in WAYS] + [("cancel", "refuses")]


@pytest.mark.parametrize("way, how", CASES, ids=["-".join(c) for c in CASES])
def test_what_is_not_heeded_is_held(played, way, how):  # noqa: F811
    r, s = played({"queue_policy": "preempt"} if way == "preempt" else None)
    heedless(s, how)
    fields = {}
    if way == "budget":
        fields["budget"] = Budget(max_wall_time=Duration(sec=9))
    goal = r.goal("go to the kitchen", **fields)
    r.moving()
    second = None
    if way == "preempt":
        second = r.goal("drive 0.2 m backward")
    elif WAYS[way] is not None:
        WAYS[way](r, goal)
    goal.wait(BOUND)
    at = s.base.x
    honest(r, goal)
    assert (goal.status, goal.end()) == (STATUS["ABORTED"], FAULT), goal.told()
    holds(r, s)
    if second is not None:
        second.wait(BOUND)
        assert second.end() == FAULT, second.told()
    assert r.actuator() == (ActuatorState.ESTOP if way == "e-stop" else ActuatorState.FAULT)
    if way == "e-stop":
        r.button.publish(Bool(data=False))
        time.sleep(0.5)
    # Nobody can let go of it, but the end of the goal can.
    assert not r.trigger("reset", BOUND).success
    assert abs(s.base.x - at) < 0.01
    assert s.navigator.cancels >= 3, "it did not insist"
    s.navigator.end(GoalStatus.STATUS_ABORTED, "an operator has ended it")
    r.until(lambda: r.trigger("reset", BOUND).success, BOUND, "a reset once the goal has ended")
    rests_for_good(r)
    assert abs(s.base.x - at) < 0.01


def test_a_goal_that_ends_late_is_canceled_in_truth(played):  # noqa: F811
    """It is held until then, and then it may be said."""
    r, s = played()
    heedless(s, "accepts")
    goal = r.goal("go to the kitchen")
    r.moving()
    goal.cancel()
    time.sleep(7.0)
    assert not goal.over() and s.base.zeros, goal.told() if goal.over() else r.logs()
    s.navigator.end(GoalStatus.STATUS_CANCELED)
    goal.wait(BOUND)
    honest(r, goal)
    assert (goal.status, goal.end()) == (STATUS["CANCELED"], ("INTERRUPTED", "canceled")), goal.told()
    rests_for_good(r)
    again = r.run("drive 0.2 m backward", 40)
    assert again.end() == ("DONE", "accepted"), again.told()


@pytest.mark.parametrize("death", [signal.SIGINT, signal.SIGKILL], ids=["told to end", "killed"])
def test_a_node_that_dies_over_such_a_goal_leaves_it_to_its_watchdog(played, death):  # noqa: F811
    r, s = played()
    watch(r)
    heedless(s, "accepts")
    goal = r.goal("go to the kitchen")
    r.moving()
    if death == signal.SIGINT:
        goal.cancel()
        goal.wait(BOUND)
        assert goal.end() == FAULT, goal.told()
        at = s.base.x
        assert r.agent.stop(timeout=BOUND) != 0, "it ended as if all were well"
    else:
        r.agent.kill()
        r.until(lambda: s.base.zeros and abs(s.base.v) < 0.001, 6.0, "the watchdog to stop it")
        at = s.base.x
    holds(r, s, 5.0)
    assert abs(s.base.x - at) < 0.1, "more than a watchdog's second"
    # The next start finds the goal, and holds it as well.
    r.start_node(r.started, wait=False)
    r.until(lambda: r.actuator() in (ActuatorState.STOPPING, ActuatorState.FAULT), 60.0, "the node to hold it")
    holds(r, s)
    s.navigator.end(GoalStatus.STATUS_ABORTED, "an operator has ended it")
    at_rest = lambda: r.actuator() == ActuatorState.HOLDING or not r.trigger("reset", BOUND)  # noqa: E731
    r.until(at_rest, BOUND, "rest, acknowledged where it came late")
    rests_for_good(r)
