"""What a person has to approve: asked on ~/approvals, answered by ~/respond, for one call with exactly its arguments.

Executed means: counted at the robot.
"""

import os
import time

import pytest
from agent_msgs.msg import AgentState
from agent_msgs.srv import Respond

from cases import case
from inputs import call, profile, say
from judge import honest

NAVIGATE = "/navigate_to_pose"


@pytest.fixture
def asking(shared):
    """A node that asks before each skill."""
    r = shared("asking", node_params={"policy.skill": "ask", "policy.timeout": 3.0})
    assert r.set_node(**{"policy.timeout": 60.0})[0].successful
    return r


def asked(rig, count=1):
    rig.until(lambda: len(rig.approvals) >= count, 20.0, "a request for approval")
    return rig.approvals[count - 1]


def respond(rig, request_id, approved, text=""):
    return rig.call(
        Respond, f"{rig.name}/respond", Respond.Request(request_id=request_id, approved=approved, text=text)
    )


def test_what_is_approved_is_carried_out_once(asking):
    goal = asking.goal("go to the office")
    request = asked(asking)
    assert request.session == goal.session() and "navigate_to" in request.question
    assert (request.call.tool, request.call.arguments_json) == ("navigate_to", '{"place":"office"}')
    asking.until(lambda: asking.states[-1][1].state == AgentState.AWAITING_USER, 5.0, "the state that says so")
    time.sleep(0.5)
    assert not asking.commanded(), "it moved before it was allowed to"
    answer = respond(asking, request.request_id, True)
    assert answer.accepted, answer.message
    goal.wait(60)
    honest(asking, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    assert asking.commanded()[NAVIGATE] == 1


def test_what_is_denied_is_not(asking):
    goal = asking.goal("go to the office")
    assert respond(asking, asked(asking).request_id, False, "not now, please").accepted
    goal.wait(30)
    honest(asking, goal)
    assert goal.end() == ("FAILED", "permission_denied"), goal.told()
    assert goal.kinds()[0] == "permission_denied" and "not now, please" in goal.result.completed_steps[0].content, (
        goal.told()
    )
    assert not asking.commanded()


def test_an_unknown_id_is_nobodys_approval(asking):
    goal = asking.goal("go to the office")
    request = asked(asking)
    for wrong in ("", "nonsense", request.request_id + "x", request.request_id.upper() + " "):
        answer = respond(asking, wrong, True)
        assert not answer.accepted and answer.message, answer
    time.sleep(0.5)
    assert not asking.commanded() and not goal.over()
    goal.cancel()
    goal.wait(20)
    honest(asking, goal)
    assert goal.end() == ("INTERRUPTED", "canceled"), goal.told()
    # Late: nothing waits for it any more.
    assert not respond(asking, request.request_id, True).accepted
    time.sleep(0.5)
    assert not asking.commanded()


def test_the_first_answer_counts(asking):
    goal = asking.goal("go to the office")
    request = asked(asking)
    assert respond(asking, request.request_id, False).accepted
    assert not respond(asking, request.request_id, True).accepted
    goal.wait(30)
    honest(asking, goal)
    assert goal.end() == ("FAILED", "permission_denied"), goal.told()
    assert not asking.commanded()


def test_an_approval_of_before_is_none_for_the_same_call_later(asking):
    first = asking.goal("drive 0.2 m forward")
    request = asked(asking)
    assert respond(asking, request.request_id, True).accepted
    first.wait(30)
    assert first.end() == ("DONE", "accepted"), first.told()
    asking.counted = asking.counters()
    second = asking.goal("drive 0.2 m forward")
    again = asked(asking, 2)
    assert again.request_id != request.request_id
    assert not respond(asking, request.request_id, True).accepted
    time.sleep(0.5)
    assert not asking.commanded()
    respond(asking, again.request_id, False)
    second.wait(30)
    assert second.end() == ("FAILED", "permission_denied"), second.told()


def test_silence_is_a_denial(rig):
    r = rig(node_params={"policy.skill": "ask", "policy.timeout": 2.0})
    goal = r.goal("go to the office")
    request = asked(r)
    begin = time.monotonic()
    goal.wait(30)
    honest(r, goal)
    assert 1.0 < time.monotonic() - begin < 15.0
    assert goal.end() == ("FAILED", "permission_denied"), goal.told()
    assert not respond(r, request.request_id, True).accepted
    assert not r.commanded()


def test_nobody_is_asked_about_what_would_be_refused_anyway(asking):
    goal = asking.run("drive 100 m", 30)
    honest(asking, goal)
    assert not asking.approvals and "geometry_refused" in goal.kinds(), goal.told()


def test_a_question_asks_nobody(asking):
    goal = asking.run("where are you?", 20)
    assert goal.end() == ("DONE", "accepted") and not asking.approvals, goal.told()


@pytest.mark.parametrize("interrupt", ["cancel", "stop"])
def test_an_interrupt_ends_the_waiting(asking, interrupt):
    goal = asking.goal("go to the office")
    asked(asking)
    begin = time.monotonic()
    goal.cancel() if interrupt == "cancel" else asking.trigger("stop")
    goal.wait(20)
    honest(asking, goal)
    assert time.monotonic() - begin < 10
    assert goal.end() == ("INTERRUPTED", "canceled" if interrupt == "cancel" else "operator_stop"), goal.told()
    assert asking.truth.path() < 0.001 and NAVIGATE not in asking.commanded()


@pytest.mark.parametrize("approved", [True, False], ids=["approved", "denied"])
def test_a_single_tool_may_be_asked_for(rig, tmp_path, approved):
    """The policy of one tool wins over its class; each call is asked for by itself."""
    r = rig(node_params={"policy.tools": "['navigate_to: ask']"})
    goal = r.goal("drive 0.1 m forward, then go to the kitchen, then go to the office")
    for count in (1, 2) if approved else (1,):
        assert respond(r, asked(r, count).request_id, approved).accepted
    goal.wait(80)
    honest(r, goal)
    assert goal.end() == (("DONE", "accepted") if approved else ("FAILED", "permission_denied")), goal.told()
    assert r.commanded().get(NAVIGATE, 0) == (2 if approved else 0)
    assert r.commanded()["/cmd_vel"] > 0


def test_a_denied_class_is_denied_without_asking(rig):
    r = rig(node_params={"policy.skill": "deny"})
    goal = r.run("go to the office", 30)
    honest(r, goal)
    assert goal.end() == ("FAILED", "permission_denied"), goal.told()
    assert not r.approvals and not r.commanded()


def test_a_person_can_be_asked_a_question(scripted):
    r = scripted(call("ask_person", question="Which room?"), *[say("It is as you say.")] * 4)
    goal = r.goal("find out where to go")
    request = asked(r)
    assert "Which room?" in request.question and not request.call.tool
    assert respond(r, request.request_id, True, "the kitchen").accepted
    goal.wait(30)
    honest(r, goal)
    first = goal.result.completed_steps[0]
    assert first.tool == "ask_person" and first.ok and "the kitchen" in first.content, goal.told()


@pytest.mark.parametrize("yes", [True, False])
def test_a_person_is_the_judge_where_the_caller_wants_one(house, yes):
    goal = house.goal("drive 0.2 m forward", success_criteria=["person: Did it move?"])
    request = asked(house)
    assert "Did it move?" in request.question
    assert respond(house, request.request_id, yes).accepted
    if not yes:
        for count in (2, 3):
            house.until(lambda c=count: goal.over() or len(house.approvals) >= c, 20.0, "another round or the end")
            if not goal.over():
                respond(house, house.approvals[count - 1].request_id, False)
    goal.wait(40)
    honest(house, goal)
    assert goal.end() == (("DONE", "accepted") if yes else ("UNVERIFIED", "unverified")), goal.told()


@pytest.fixture
def patient(shared, tmp_path_factory):
    """A node that waits long for a person, and gives a motion little time."""
    folder = tmp_path_factory.mktemp("profile")
    file = profile(folder, ("time_limit: 60.0", f"time_limit: {MOTION}"))
    r = shared("patient", node_params={"policy.skill": "ask", "policy.timeout": 600.0, **file})
    return r


# s: a motion's limit; how long a person takes, longer than that.
MOTION = 8.0
LONG = 180.0 if os.environ.get("PROOF") else MOTION + 4.0


@case("flt-076")
@pytest.mark.parametrize("changed", [False, True], ids=["as_it_was", "before_a_wall"])
def test_a_late_answer_runs_once_what_still_may_run(patient, case, changed):
    """The waiting is not the motion's time; and what may have been right when it was asked is looked at again."""
    goal = patient.goal("drive 20 cm forward")
    request = asked(patient)
    time.sleep(LONG)
    assert not patient.commanded() and not goal.over(), "it did not wait"
    if changed:
        patient.put(-3.65, -1.5, 3.1416)  # 0.13 m from the western wall, facing it
        time.sleep(1.0)
        patient.counted = patient.counters()
    assert respond(patient, request.request_id, True).accepted
    goal.wait(40)
    honest(patient, goal)
    drives = [s for s in goal.result.completed_steps if s.tool == "drive"]
    if changed:
        assert drives[0].error_kind == "geometry_refused", goal.told()
        assert "/cmd_vel" not in patient.commanded() and patient.truth.path() < 0.01
    else:
        assert goal.end() == ("DONE", "accepted"), goal.told()
        assert len(drives) == case["expect"]["executed"]["drive"] and drives[0].ok
