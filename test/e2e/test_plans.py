"""Plans: asked for, looked at, sent back and carried out; and those that must not be."""

import math
import signal
import subprocess
import sys

import pytest
from agent_msgs.action import Decompose, ExecuteTask
from agent_msgs.msg import Plan, PlanStep, Step
from agent_msgs.srv import DecomposeTask
from rclpy.action import ActionClient

from inputs import call
from processes import ROOT, interruptible

TASK = "go to the kitchen, then drive half a metre back"


def ask(rig, task, **fields):
    return rig.call(DecomposeTask, f"{rig.name}/decompose_task", DecomposeTask.Request(task=task, **fields), 60.0)


def step(id, tool="", arguments="", **fields):
    return PlanStep(id=id, tool=tool, arguments_json=arguments, **fields)


def feasibility(plan):
    return [(s.tool, s.feasibility) for s in plan.steps]


def run(rig, plan, timeout=120.0):
    return rig.run("", timeout, plan=plan)


def test_a_plan_is_asked_for_and_sent_back(house):
    start = house.pose()
    answer = ask(house, TASK)
    assert answer.success and answer.reason_code == "accepted", answer
    assert feasibility(answer.plan) == [("navigate_to", PlanStep.OK), ("drive", PlanStep.OK)], answer.plan
    assert answer.plan.task == TASK and answer.plan.steps[1].depends_on == [answer.plan.steps[0].id]
    assert answer.plan.steps[0].acceptance == ["at_place(kitchen)"]
    assert answer.usage.steps == 1 and answer.usage.input_tokens > 0
    assert not house.commanded() and math.dist(house.pose()[:2], start[:2]) < 0.01, "planning moved the robot"
    goal = run(house, answer.plan)
    assert goal.end() == ("DONE", "accepted"), goal.result
    assert [s.tool for s in goal.result.completed_steps] == ["navigate_to", "drive"]
    assert house.at_rest_at(goal.ended) and house.at(1.4, 0.9, 0.3), house.pose()


def test_the_program_prints_a_plan_as_a_tree(house):
    line = [str(ROOT / "build" / "agent_node"), "plan", TASK + ", then drive 30 metres forward"]
    shown = subprocess.run(line, env=house.env, capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    for text in ("├─ s1  navigate_to", "[ok]", "must hold: at_place(kitchen)", "[refused]", "refused by rule"):
        assert text in shown.stdout, shown.stdout
    assert not house.commanded()


def test_the_example_looks_and_executes(house):
    line = [sys.executable, str(ROOT / "examples" / "decompose.py"), "drive 0.3 metres forward"]
    shown = subprocess.run(line, env=house.env, capture_output=True, text=True, timeout=90)
    assert shown.returncode == 0 and "s1  drive" in shown.stdout and "DONE (accepted)" in shown.stdout, shown
    line[-1] = "drive 30 metres forward"
    shown = subprocess.run(line, env=house.env, capture_output=True, text=True, timeout=90)
    assert shown.returncode == 1 and "[refused]" in shown.stdout and "not carried out" in shown.stdout, shown


def test_an_interrupt_of_the_example_cancels(house):
    """It comes in the middle of a message of feedback."""
    line = interruptible(Step, ROOT / "examples" / "decompose.py", "go to the office")
    example = subprocess.Popen(line, env=house.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        house.moving()
        example.send_signal(signal.SIGUSR1)
        shown, _ = example.communicate(timeout=60)
        assert example.returncode == 1 and "INTERRUPTED (canceled)" in shown, shown
        assert house.at_rest_now()
    finally:
        example.kill()


def test_what_cannot_be_planned_is_said_in_words(house):
    answer = ask(house, "fly to the moon")
    assert not answer.success and answer.reason_code == "infeasible" and answer.message, answer
    assert not answer.plan.steps and not house.commanded()
    assert ask(house, "").reason_code == "bad_request"
    assert ask(house, "go to the kitchen", allowed_tools=["fly"]).reason_code == "bad_request"
    answer = ask(house, TASK, max_steps=1)
    assert answer.reason_code == "infeasible" and "limit 1" in answer.message, answer


def test_a_plan_is_made_while_the_robot_drives(house):
    goal = house.goal("go to the office")
    house.moving()
    name, request = f"{house.name}/decompose_task", DecomposeTask.Request(task=TASK)
    futures = [house.call_async(DecomposeTask, name, request) for _ in range(4)]
    for f in futures:
        assert house.wait(f, 60.0).success
    assert not goal.over(), "the plans waited for the goal"
    goal.wait()
    assert goal.end() == ("DONE", "accepted"), goal.result


GATED = {
    "gate": Plan(
        steps=[
            step("a", "drive", '{"distance_m": 0.3}', acceptance=["at_place(kitchen)"]),
            step("b", "drive", '{"distance_m": -0.3}', depends_on=["a"]),
        ]
    ),
    "verify": Plan(
        steps=[
            step("a", "at_place", '{"place": "kitchen"}'),
            step("b", "drive", '{"distance_m": 0.3}', depends_on=["a"]),
        ]
    ),
}


@pytest.mark.parametrize("name", GATED)
def test_a_world_that_has_changed_ends_the_plan(house, name):
    goal = run(house, GATED[name])
    assert goal.end() == ("UNVERIFIED", "unverified"), goal.result
    assert "stage a" in goal.result.answer and "at_place" in goal.result.answer, goal.result.answer
    assert len(goal.result.completed_steps) == 1, "the plan went on"
    assert goal.result.unmet_goals


def test_a_plan_is_judged_again_when_it_is_executed(house):
    answer = ask(house, "drive 0.8 metres forward")
    assert feasibility(answer.plan) == [("drive", PlanStep.OK)]
    house.put(3.3, 0.0, 0.0)  # the way ahead ends
    goal = run(house, answer.plan)
    assert goal.end() == ("FAILED", "infeasible") and goal.kinds() == ["geometry_refused"], goal.result
    assert not house.commanded()


def test_no_step_of_an_unsound_plan_is_carried_out(house):
    drive = '{"distance_m": 0.3}'
    cycle = [step("a", "drive", drive, depends_on=["b"]), step("b", "drive", drive, depends_on=["a"])]
    for plan, why in (
        (Plan(steps=[step("a", "drive", drive), step("b", "fly", "{}")]), "unknown_tool"),
        (Plan(steps=[step("a", "drive", drive), step("b", "drive", "{")]), "invalid_arguments"),
        (Plan(steps=cycle), "cycle"),
        (Plan(steps=[step("a", "drive", drive), step("a", "drive", drive)]), "duplicate_id"),
        (Plan(steps=[step("a", "drive", drive)], success_criteria=["at_place(garage)"]), "bad_criterion"),
        (Plan(steps=[step(str(i), "drive", drive) for i in range(1000)]), "1000 steps"),
    ):
        goal = run(house, plan, 30.0)
        assert goal.end() == ("FAILED", "bad_request") and why in goal.result.answer, goal.result
    assert not house.commanded()
    goal = house.run("", 30.0)
    assert goal.end() == ("FAILED", "bad_request"), goal.result


def proposal(*steps, **fields):
    return call("propose_plan", {"steps": list(steps), **fields}, times=3)


BAD = {
    "cycle": (
        [
            {"id": "a", "tool": "wait", "arguments": {"seconds": 0}, "depends_on": ["b"]},
            {"id": "b", "tool": "wait", "arguments": {"seconds": 0}, "depends_on": ["a"]},
        ],
        "cycle",
    ),
    "unknown_tool": ([{"id": "a", "tool": "fly"}], "unknown_tool"),
    "arguments": ([{"id": "a", "tool": "drive", "arguments": {"distance": 1}}], "invalid_arguments"),
    "thousand": ([{"id": f"s{i}", "tool": "wait", "arguments": {"seconds": 0}} for i in range(1000)], "1000 steps"),
    "empty": ([], "no steps"),
}


@pytest.mark.parametrize("name", BAD)
def test_the_plans_of_a_bad_model_are_refused(scripted, name):
    steps, why = BAD[name]
    rig = scripted(proposal(*steps))
    answer = ask(rig, "do it")
    assert not answer.success and answer.reason_code == "infeasible" and why in answer.message, answer
    assert answer.usage.steps == 3 and not answer.plan.steps and not rig.commanded()


def test_an_unreachable_step_of_a_bad_model_is_marked(scripted):
    rig = scripted(proposal({"id": "a", "tool": "navigate_to", "arguments": {"x": 40.0, "y": 0.0, "yaw": 0.0}}))
    answer = ask(rig, "go far away")
    assert answer.success and feasibility(answer.plan) == [("navigate_to", PlanStep.REFUSED)], answer
    assert answer.plan.steps[0].findings and not rig.commanded()


def test_the_planning_is_canceled(scripted):
    rig = scripted(call("propose_plan", {"steps": []}, delay=3600))
    client = ActionClient(rig.node, Decompose, f"{rig.name}/decompose")
    assert client.wait_for_server(20.0)
    handle = rig.wait(rig.asked(lambda: client.send_goal_async(Decompose.Goal(task="do it"))), 20.0)
    assert handle.accepted
    result = rig.asked(handle.get_result_async)
    rig.wait(rig.asked(handle.cancel_goal_async), 20.0)
    answer = rig.wait(result, 20.0).result
    assert not answer.success and answer.reason_code == "canceled", answer
    client.destroy()


def test_a_goal_with_a_plan_needs_no_task(house):
    goal = house.goal("", plan=Plan(steps=[step("a", "get_battery")]))
    goal.wait(30.0)
    assert goal.end() == ("DONE", "accepted"), goal.result
    assert goal.result.outcome == ExecuteTask.Result.DONE and "get_battery" in goal.result.answer
