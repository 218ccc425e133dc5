"""Navigators and bases that behave as reported in the field, played by the test; the cases name their sources."""

import threading
import time

import pytest
from action_msgs.msg import GoalStatus
from agent_msgs.msg import ActuatorState
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Twist

from cases import DATA, case
from goals import STATUS
from inputs import call, script
from judge import honest
from standin import StandIn


@pytest.fixture
def played(rig):
    """A rig whose robot the test plays: played(node_params, StandIn's options) gives the rig and the stand-in."""
    stands = []

    def make(node_params=None, **options):
        r = rig(sim=False, node=False)
        stands.append(StandIn(r, **options))
        r.until(lambda: r.truth.samples and r.truth.counts, 20.0, "the stand-in's truth")
        r.counted = dict(r.truth.counts)
        r.started = {"profile": str(DATA / "stand_in.yaml"), "wait_for_bindings": 2.0, **(node_params or {})}
        r.start_node(r.started)
        return r, stands[-1]

    yield make
    for s in stands:
        s.close()


def within(goal, seconds):
    goal.wait(seconds)
    return goal


def check(case, r, goal):
    """What a case's own keys ask for."""
    honest(r, goal)
    expect = case["expect"]
    outcome, reason = goal.end()
    assert outcome in expect.get("outcome_in", [expect.get("outcome", outcome)]), goal.told()
    assert reason in expect.get("reason_code_in", [reason]), goal.told()
    kinds = expect.get("step_error_kind_in")
    assert not kinds or set(goal.kinds()) & set(kinds), goal.told()


@case("flt-001")
def test_a_cancel_before_the_acceptance_is_remembered(played, case):
    r, s = played()

    def late():
        time.sleep(1.5)
        return True

    s.navigator.accept = late
    # The cancel alone ends its goal: a busy machine's takes so long to accept that the guard commands rest meanwhile.
    s.base.taken_over = lambda: None
    goal = r.goal("go to the kitchen")
    goal.answered()
    r.until(lambda: s.navigator.goals, 10.0, "the goal at the server")
    time.sleep(0.4)
    goal.cancel()
    within(goal, case["expect"]["within_s"])
    check(case, r, goal)
    r.until(lambda: s.navigator.cancels, 10.0, "the cancel at the server")
    r.until(lambda: s.navigator.running is None, 5.0, "the server to be done with it")
    assert s.navigator.cancels == case["expect"]["cancels_at_server"]
    assert r.at_rest_now()


@case("flt-004")
def test_a_server_that_rejects_for_ever_is_not_asked_for_ever(played, case, tmp_path):
    r, s = played(script(tmp_path, call("navigate_to", place="kitchen"), {"repeat": True}))
    s.navigator.accept = lambda: False
    goal = within(r.goal("go to the kitchen"), 40)
    check(case, r, goal)
    assert 1 <= len(s.navigator.goals) <= case["expect"]["goals_at_server_max"]
    assert r.truth.path() <= case["expect"]["moved_m_max"]


@case("flt-007")
def test_a_success_in_the_same_breath_is_heard_and_not_believed(played, case):
    r, s = played()
    s.navigator.on_goal = lambda id, x: s.navigator.end(GoalStatus.STATUS_SUCCEEDED, id=id)
    goal = within(r.goal("go to the kitchen"), case["expect"]["within_s"])
    check(case, r, goal)


@case("flt-010")
def test_a_result_that_is_never_told_hangs_nothing(played, case):
    r, s = played()
    s.navigator.answers_result = False
    goal = r.goal("go to the kitchen")
    r.until(lambda: s.navigator.goals and s.navigator.running is None, 20.0, "the robot to be there")
    within(goal, 15)
    check(case, r, goal)
    assert abs(s.base.x - 1.5) < 0.1


@case("flt-016")
def test_a_server_that_comes_back_has_forgotten_and_is_not_waited_for(played, case):
    r, s = played()
    goal = r.goal("go to the kitchen")
    r.moving()
    time.sleep(2.0)
    s.navigator.close()
    threading.Timer(0.3, s.base.drive, (0.0,)).start()
    time.sleep(0.5)
    at = len(s.navigator.goals)
    s.navigator.open()
    within(goal, 60)
    check(case, r, goal)
    assert len(s.navigator.goals) <= at + 3


@case("flt-028")
def test_a_cancel_that_is_answered_too_late_is_not_waited_for(played, case):
    r, s = played()

    def slow(id):
        threading.Timer(10.0, s.navigator.end, (GoalStatus.STATUS_CANCELED, "", id)).start()
        time.sleep(5.0)

    s.navigator.on_cancel = slow
    s.base.taken_over = lambda: setattr(s.navigator, "running", None)  # it lets go of the wheels, and says nothing
    goal = r.goal("go to the kitchen")
    r.moving()
    time.sleep(1.0)
    asked = time.monotonic()
    goal.cancel()
    within(goal, 20)  # it is held until its end is known
    check(case, r, goal)
    assert s.base.zeros[0] - asked <= case["expect"]["first_zero_within_s"]
    path = [ActuatorState.CANCELING, ActuatorState.STOPPING, ActuatorState.SETTLING]
    r.until(lambda: in_order(r.actuator_path(), path), 5.0, f"the path {path} in {r.actuator_path()}")


def in_order(path, states):
    rest = iter(path)
    return all(s in rest for s in states)


@case("flt-043")
def test_a_base_that_does_not_obey_a_stop_is_a_fault_loudly(played, case):
    r, s = played()
    goal = r.goal("drive 1 m forward")
    r.moving()
    s.base.deaf = True
    answer = r.trigger("stop", 30)
    assert not answer.success, answer.message
    within(goal, 20)
    check(case, r, goal)
    assert r.actuator() == ActuatorState.FAULT
    r.until(lambda: r.level() == DiagnosticStatus.ERROR, 5.0, "an error in the diagnostics")
    s.base.deaf = False
    r.until(lambda: r.trigger("reset").success, 20.0, "a reset once it obeys")


@case("flt-046")
@pytest.mark.parametrize("how", ["dumb", "parrot"])
def test_odometry_that_stops_in_a_motion_is_never_rest(played, case, how):
    """No more messages, and the last one over and over; old stamps are the built-in robot's fault.stale_stamps."""
    r, s = played()
    goal = r.goal("drive 1 m forward")
    r.moving()
    setattr(s.base, how, True)
    within(goal, 20)
    check(case, r, goal)
    assert s.base.zeros, "no zero came"
    setattr(s.base, how, False)
    r.until(lambda: r.trigger("reset").success, 20.0, "a reset once it is seen again")


@case("flt-055")
def test_best_effort_odometry_is_heard(played, case):
    r, s = played(best_effort=True)
    s.base.jitter = 0.03
    goal = within(r.goal("drive 0.5 m forward"), 30)
    honest(r, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()


@case("flt-064")
def test_a_second_publisher_is_named_and_rest_not_claimed_while_it_pushes(played, case):
    r, s = played()
    goal = r.goal("drive 1 m forward")
    r.moving()
    joystick = r.node.create_publisher(Twist, "/cmd_vel", 10)
    push = Twist()
    push.linear.x = 0.2
    timer = r.node.create_timer(0.05, lambda: joystick.publish(push))
    within(goal, 30)
    honest(r, goal)
    assert goal.end()[0] != "DONE" or r.at_rest_at(goal.ended), goal.told()
    r.until(
        lambda: any("foreign_publisher" in t.message and "/peer" in t.message for m in r.diagnostics for t in m.status),
        5.0,
        "its name in the diagnostics",
    )
    assert any(
        e.kind == "guard.report" and "foreign_publisher" in e.data_json and "/peer" in e.data_json for e in r.traces
    )
    r.asked(lambda: r.node.destroy_timer(timer) and r.node.destroy_publisher(joystick))
    r.until(lambda: r.trigger("reset").success, 20.0, "a reset once it is gone")


@case("flt-067")
def test_nobody_listening_is_known_before_anything_is_sent(played, case):
    r, s = played(command="/elsewhere")
    goal = within(r.goal("drive 1 m forward"), 30)
    check(case, r, goal)
    assert goal.kinds()[0] == "server_unavailable" and abs(s.base.x) < 0.001


def test_a_played_robot_does_as_it_is_told(played):
    """The stand-in itself: without a fault all goes well."""
    r, s = played()
    goal = within(r.goal("go to the kitchen, then drive half a metre backward"), 60)
    honest(r, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    assert s.base.x == pytest.approx(1.0, abs=0.1) and len(s.navigator.goals) == 1 and not s.navigator.cancels
    again = r.goal("go to the dock")
    r.moving()
    again.cancel()
    within(again, 15)
    honest(r, again)
    assert (again.status, again.end()) == (STATUS["CANCELED"], ("INTERRUPTED", "canceled")), again.told()
    assert s.navigator.cancels == 1
