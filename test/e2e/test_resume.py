"""Sessions whose node was killed: another node goes on with their records, and no call is carried out twice.

What was carried out is counted at the robot, not told by the node.
"""

import json
import subprocess

import pytest
from agent_msgs.msg import Plan, PlanStep

from goals import OUTCOMES
from processes import BUILD
from truth import PLACES

GRIPPER, NAVIGATE = "/gripper_controller/gripper_cmd", "/navigate_to_pose"
TWISTS = ("/cmd_vel", "/cmd_vel_stamped")


def plan(*steps):
    """Stages one behind the other: (tool, arguments) each."""
    ids = "abcdef"
    return Plan(
        steps=[
            PlanStep(
                id=ids[i], tool=tool, arguments_json=json.dumps(arguments), depends_on=list(ids[max(i - 1, 0) : i])
            )
            for i, (tool, arguments) in enumerate(steps)
        ]
    )


def under_way(r, tool):
    """Waits until a call of a tool has begun and is the last thing that the session's own record says."""
    begun = [False]

    def look():
        for e in list(r.traces):
            begun[0] = begun[0] or (e.kind == "call" and json.loads(e.data_json)["tool"] == tool)
        return begun[0]

    r.until(look, 60.0, f"{tool} to begin")


def killed(r, goal):
    """Kills the node and starts another one. The record of the session that was killed, as it was left."""
    r.agent.kill()
    trace = r.folder / "traces" / f"{goal.session()}.jsonl"
    left = trace.read_bytes()
    r.start_node()
    assert trace.read_bytes() == left, "the record of a killed session was touched"
    assert program(r, "verify", trace).returncode == 0
    return trace


def program(r, *words):
    """agent_node trace … as a process."""
    return subprocess.run(
        [BUILD / "agent_node", "trace", *words], env=r.env, capture_output=True, text=True, timeout=120
    )


def resume(r, trace):
    """Goes on with a record from the shell: the exit code, and the result."""
    done = program(r, "resume", trace, "--json")
    result = json.loads(done.stdout)
    result["outcome"] = OUTCOMES[result["outcome"]]
    return done.returncode, result, done.stderr


def calls(result):
    """The calls of a result: id, tool and error kind."""
    return [(s["call_id"], s["tool"], s["error_kind"]) for s in result["completed_steps"]]


def live(r, result):
    """The calls that began in the node that went on, and when it went on (time.time())."""
    shown = program(r, "show", "--json", result["trace"])
    events = [json.loads(line) for line in shown.stdout.splitlines()]
    at = next(i for i, e in enumerate(events) if e["kind"] == "resumed")
    e = next(e for e in r.traces if e.kind == "resumed")
    begun = [e["data"]["tool"] for e in events[at:] if e["kind"] == "call"]
    return begun, e.stamp.sec + e.stamp.nanosec * 1e-9


def sound(r, result):
    """The record of a session that went on is whole, and today's loop would decide the same."""
    for word in ("verify", "replay"):
        done = program(r, word, result["trace"])
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_plan_killed_between_two_skills_goes_on_and_repeats_neither(rig):
    r = rig()
    goal = r.goal(
        "", plan=plan(("gripper", {"open": False}), ("wait", {"seconds": 8.0}), ("drive", {"distance_m": 0.4}))
    )
    under_way(r, "wait")
    trace = killed(r, goal)
    start, counted = r.pose(), r.counters()
    assert counted[GRIPPER] == 1 and not any(counted[t] for t in TWISTS), counted

    code, result, said = resume(r, trace)
    assert (code, result["outcome"], result["reason_code"]) == (0, "DONE", "accepted"), (said, result)
    # The wait was under way: it is told as interrupted, and carried out under a name of its own: it is repeatable.
    assert calls(result) == [
        ("a", "gripper", ""),
        ("b", "wait", "canceled"),
        ("b_again_2", "wait", ""),
        ("c", "drive", ""),
    ], result
    begun, _ = live(r, result)
    assert begun == ["wait", "drive"]
    assert r.at_rest_now() and r.counters()[GRIPPER] == 1, "the gripper was sent twice"
    assert abs(abs(complex(r.pose()[0] - start[0], r.pose()[1] - start[1])) - 0.4) < 0.1, (start, r.pose())
    sound(r, result)

    # What was used stays used, and a record is gone on with once.
    assert result["usage"]["tool_calls"] == 4, result["usage"]
    before = r.counters()
    code, result, said = resume(r, trace)
    assert (code, result["reason_code"]) == (1, "bad_request") and "goes on" in result["answer"], (said, result)
    assert r.counters() == before


def test_a_plan_killed_in_a_motion_that_cannot_be_repeated_ends_there(rig):
    r = rig()
    goal = r.goal(
        "", plan=plan(("gripper", {"open": False}), ("drive", {"distance_m": 2.0}), ("turn", {"angle_rad": 0.5}))
    )
    r.moving()
    trace = killed(r, goal)
    r.until(lambda: r.speed()[0] < 0.01, 10.0, "the base to stop by itself")
    before = r.counters()

    code, result, said = resume(r, trace)
    assert (code, result["outcome"]) == (1, "FAILED") and "stage b" in result["answer"], (said, result)
    assert calls(result) == [("a", "gripper", ""), ("b", "drive", "canceled")], result
    assert r.counters() == before, "something was sent"
    sound(r, result)


@pytest.mark.parametrize("model", ["planner"])
def test_an_agent_killed_in_a_navigation_decides_anew_from_rest(rig, model):
    """The navigator drives on without the node: the next one cancels it, and goes on only once the robot rests."""
    r = rig(node_params={"model.kind": model})
    goal = r.goal("go to the table, then go to the dock")
    r.until(lambda: r.at(*PLACES["table"]) and r.counters()[NAVIGATE] == 2, 90.0, "the second navigation")
    r.moving()
    trace = killed(r, goal)

    code, result, said = resume(r, trace)
    assert (code, result["outcome"], result["reason_code"]) == (0, "DONE", "accepted"), (said, result)
    begun, moment = live(r, result)
    assert r.at_rest_at(moment), "it went on before the robot was at rest"
    # One to the table, the one that was cut off, and one more to the dock by a call of its own.
    assert r.counters()[NAVIGATE] == 3 and begun.count("navigate_to") == 1, (begun, r.counters())
    kinds = [(s["tool"], s["error_kind"]) for s in result["completed_steps"] if s["tool"] == "navigate_to"]
    assert kinds == [("navigate_to", ""), ("navigate_to", "canceled"), ("navigate_to", "")], result
    assert len({s["call_id"] for s in result["completed_steps"]}) == len(result["completed_steps"])
    assert r.at(*PLACES["dock"]) and r.at_rest_now()
    sound(r, result)
