"""Only what was measured and checked is called done; what is not understood is said so."""

import pytest

from goals import STATUS
from inputs import call, say
from judge import honest


@pytest.mark.parametrize(
    "task",
    ["sing me a song", "drive", "go to the moon", "asdf qwer", "fahr in die Küche", "drive 1 m forward or maybe not"],
)
def test_a_task_that_is_not_understood_is_infeasible_and_says_so(house, task):
    goal = house.run(task, 30)
    honest(house, goal)
    assert goal.end() == ("FAILED", "infeasible"), goal.told()
    assert len(goal.result.answer) > 20 and list(goal.result.unmet_goals) == [task], goal.told()
    assert not house.commanded()


@pytest.mark.parametrize("task", ["", "  \n"])
def test_a_goal_without_a_task_is_a_bad_request(house, task):
    goal = house.run(task, 30)
    honest(house, goal)
    assert goal.end() == ("FAILED", "bad_request"), goal.told()
    assert goal.result.answer and goal.result.unmet_goals, goal.told()


@pytest.mark.parametrize(
    "fields",
    [
        {"success_criteria": ["at_place(the moon)"]},
        {"success_criteria": ["it must feel right"]},
        {"success_criteria": ["drive(1.0)"]},
        {"success_criteria": ["cel: get_pose.x +"]},
        {"allowed_tools": ["fly"]},
    ],
    ids=["no_such_place", "no_criterion", "a_skill", "broken_cel", "no_such_tool"],
)
def test_a_request_that_makes_no_sense_is_told_so(house, fields):
    goal = house.run("go to the kitchen", 30, **fields)
    honest(house, goal)
    assert goal.end() == ("FAILED", "bad_request"), goal.told()
    said = next(iter(fields.values()))[0]
    assert said in goal.result.answer, goal.told()


@pytest.mark.parametrize(
    "answer", [say("Done."), call("finish", answer="I am in the kitchen.")], ids=["in_words", "by_finish"]
)
def test_a_claim_without_a_deed_is_unverified(scripted, answer):
    r = scripted(*[answer] * 8)
    goal = r.run("go to the kitchen", 30)
    honest(r, goal)
    assert (goal.status, goal.end()) == (STATUS["ABORTED"], ("UNVERIFIED", "unverified")), goal.told()
    # Nobody gave a criterion: the task, and what the node understands of it.
    assert list(goal.result.unmet_goals) == ["go to the kitchen", "at_place(kitchen)"]
    assert not r.commanded()


def test_a_deed_that_misses_its_criterion_is_unverified(scripted):
    r = scripted(call("drive", distance_m=0.3), *[call("finish", answer="There.")] * 8)
    goal = r.run("go to the kitchen", 60, success_criteria=["at_place(kitchen)"])
    honest(r, goal)
    assert goal.end() == ("UNVERIFIED", "unverified"), goal.told()
    assert list(goal.result.unmet_goals) == ["at_place(kitchen)"]
    assert [(v.criterion, v.passed) for v in goal.result.verifications][-1] == ("at_place(kitchen)", False)


QUESTION = "how full is the battery?"
ANSWERS = {
    "seen": ("The battery is at {{field `get_battery` `percent`}} percent.", ("DONE", "accepted")),
    "invented": ("The battery is at 42.5 percent.", ("UNVERIFIED", "unverified")),
    "one_of_two_invented": (
        "The battery is at {{field `get_battery` `percent`}} percent and lasts for 3.7 hours.",
        ("UNVERIFIED", "unverified"),
    ),
    "spelled_out": ("The battery is at forty-two percent.", ("UNVERIFIED", "unverified")),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_number_in_an_answer_stands_in_what_was_observed(scripted, name):
    text, end = ANSWERS[name]
    finish = call("finish", answer=text, evidence=["{{id `get_battery`}}"])
    r = scripted(call("get_battery"), *[finish] * 8)
    goal = r.run(QUESTION, 30)
    honest(r, goal)
    assert goal.end() == end, goal.told()


def test_evidence_that_does_not_exist_proves_nothing(scripted):
    r = scripted(call("get_battery"), *[call("finish", answer="All is well.", evidence=["call_99"])] * 8)
    goal = r.run("is all well?", 30)
    honest(r, goal)
    assert goal.end() == ("UNVERIFIED", "unverified"), goal.told()


@pytest.mark.parametrize("task", ["go to the kitchen", "drive 0.5 m forward", "drive 100 m", "where are you?"])
def test_a_dry_run_publishes_nothing(house, task):
    goal = house.run(task, 30, dry_run=True)
    honest(house, goal)
    if task == "drive 100 m":
        assert goal.end()[0] in ("FAILED", "UNVERIFIED"), goal.told()
        assert "geometry_refused" in goal.kinds(), goal.told()
    else:
        assert goal.end() == ("UNVERIFIED", "dry_run"), goal.told()
    assert not house.commanded()
    assert house.truth.path() < 0.001
