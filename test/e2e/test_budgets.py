"""Each of the six budgets runs out alone: what was done is in the result, and the limit was never exceeded."""

import time

import pytest
from agent_msgs.msg import Budget
from builtin_interfaces.msg import Duration

from inputs import call, calls
from judge import honest

GOALS = "/navigate_to_pose"


def steps(count, **extra):
    """Answers that each drive a little further, every one to another pose."""
    return [call("navigate_to", x=-1.5 + 0.1 * i, y=-1.5, yaw=0.0, **extra) for i in range(count)]


def exhausted(rig, goal, dimension):
    honest(rig, goal)
    assert goal.end() == ("BUDGET_EXHAUSTED", f"budget_{dimension}"), goal.told()
    assert goal.result.unmet_goals, goal.told()


def drives(goal):
    return [s for s in goal.result.completed_steps if s.tool == "navigate_to"]


def test_steps_run_out(scripted):
    r = scripted(*steps(8))
    goal = r.run("drive about", budget=Budget(max_steps=3))
    exhausted(r, goal, "steps")
    assert [s.ok for s in drives(goal)] == [True] * 3
    assert r.commanded()[GOALS] == 3 == goal.result.usage.steps


def test_tool_calls_run_out_and_no_answer_is_carried_out_by_halves(scripted):
    def pair(i):
        return [("navigate_to", {"x": -1.5 + 0.1 * (i + k), "y": -1.5, "yaw": 0.0}) for k in (0, 1)]

    r = scripted(*(calls(*pair(2 * i)) for i in range(4)))
    goal = r.run("drive about", budget=Budget(max_tool_calls=5))
    exhausted(r, goal, "tool_calls")
    assert r.commanded()[GOALS] == 4 == goal.result.usage.tool_calls
    assert [s.ok for s in drives(goal)] == [True] * 4


def test_input_tokens_run_out(scripted):
    # The first request is bounded by its bytes; what the endpoint counts after that is known.
    limit = 30_000
    r = scripted(*steps(8, usage=(9_000, 20)))
    goal = r.run("drive about", budget=Budget(max_input_tokens=limit))
    exhausted(r, goal, "input_tokens")
    used = goal.result.usage
    assert 0 < used.input_tokens <= limit and used.input_tokens == 9_000 * used.steps
    assert r.commanded()[GOALS] == used.steps == len(drives(goal))


def test_output_tokens_run_out(scripted):
    r = scripted(*steps(2, usage=(500, 100)), *steps(6, usage=(500, 50)))
    goal = r.run("drive about", budget=Budget(max_output_tokens=250))
    exhausted(r, goal, "output_tokens")
    assert goal.result.usage.output_tokens == 250 and goal.result.usage.steps == 3
    assert r.commanded()[GOALS] == 3


def test_money_runs_out(scripted):
    prices = {"model.price.input": 1000.0, "model.price.output": 10_000.0}
    r = scripted(*steps(8, usage=(6_000, 100)), **prices)
    # Seven a step; the request's bytes bound what the next one may cost.
    goal = r.run("drive about", budget=Budget(max_cost=25.0))
    exhausted(r, goal, "cost")
    used = goal.result.usage
    assert 7.0 <= used.cost <= 25.0 and used.cost == pytest.approx(7.0 * used.steps)
    assert r.commanded()[GOALS] == used.steps


RESERVE = 7.0  # s, stop_reserve


def test_wall_time_runs_out_in_a_motion(house):
    limit = 10.0
    begin = time.monotonic()
    goal = house.goal("go to the kitchen", budget=Budget(max_wall_time=Duration(sec=int(limit))))
    house.moving()
    goal.wait(40)
    took = time.monotonic() - begin
    exhausted(house, goal, "wall_time")
    assert took <= limit + RESERVE and goal.result.usage.wall_time.sec <= limit + RESERVE
    assert goal.result.completed_steps[-1].error_kind in ("timeout", "canceled"), goal.told()


def test_no_motion_begins_in_less_than_the_stop_reserve(house):
    goal = house.run("go to the kitchen", 30, budget=Budget(max_wall_time=Duration(sec=5)))
    exhausted(house, goal, "wall_time")
    assert not house.commanded()


def test_wall_time_runs_out_while_the_model_thinks(scripted):
    r = scripted(call("get_battery", delay=30.0))
    begin = time.monotonic()
    goal = r.run("think", 30, budget=Budget(max_wall_time=Duration(sec=2)))
    exhausted(r, goal, "wall_time")
    assert time.monotonic() - begin < 2 + RESERVE


def test_the_nodes_maximum_bounds_what_a_goal_may_ask_for(scripted):
    r = scripted(*steps(8), **{"budget.max_steps": 4, "budget_max.max_steps": 2})
    goal = r.run("drive about", budget=Budget(max_steps=100))
    exhausted(r, goal, "steps")
    assert goal.result.usage.steps == 2


def test_a_cost_limit_without_prices_is_a_bad_request(house):
    goal = house.run("where are you?", 20, budget=Budget(max_cost=1.0))
    assert goal.end() == ("FAILED", "bad_request"), goal.told()
