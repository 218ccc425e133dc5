"""Faulty answers of model endpoints, as reported in public: what the robot was sent is counted at the robot, how often
the endpoint was asked at the endpoint, and the end is honest."""

import json
import math
import os

import pytest
from agent_msgs.msg import Budget

from endpoint import Endpoint
from judge import honest
from processes import ROOT
from rig import DOCK

DATA = ROOT / "pkg" / "harness" / "model" / "openai" / "testdata" / "model_faults.jsonl"
CASES = [json.loads(line) for line in DATA.read_text().splitlines()]
KEY = "sk-planted-in-the-faults-4711"
# Every case by default; PROOF also has those that exist in both forms answered as streams.
PROOF = bool(os.environ.get("PROOF"))


def of(level, mode, half=None):
    cases = [c for c in CASES if c["level"] == level and c["mode"] in ("any", mode)]
    return cases if half is None else cases[half::2]


GROUPS = {
    "http 1": (False, of("http", "plain", 0)),
    "http 2": (False, of("http", "plain", 1)),
    "content 1": (False, of("content", "plain", 0)),
    "content 2": (False, of("content", "plain", 1)),
    "stream": (True, of("stream", "stream")),
}
if PROOF:
    GROUPS["http streamed"] = (True, of("http", "stream"))
    GROUPS["content streamed"] = (True, of("content", "stream"))


def test_every_case_is_in_a_group():
    assert len(CASES) > 40 and {c["id"] for c in CASES} == {c["id"] for _, group in GROUPS.values() for c in group}


@pytest.fixture(scope="session")
def endpoint():
    e = Endpoint()
    yield e
    e.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("group", GROUPS)
def test_faulty_answers(group, endpoint, shared, monkeypatch):
    stream, cases = GROUPS[group]
    monkeypatch.setenv("FAULTY_KEY", KEY)
    r = shared(
        f"endpoint {stream}",
        node_params={
            "model.kind": "openai",
            "model.name": "test-model",
            "model.base_url": endpoint.url,
            "model.api_key_env": "FAULTY_KEY",
            "model.stream": stream,
            "model.retries": 3,
            "wait_for_bindings": 2.0,
        },
    )
    wrong = []
    for case in cases:
        try:
            judge(r, endpoint, case, stream)
        except AssertionError as e:
            wrong.append(f"{case['id']} ({case['behaviour']}): {e}")
            if not (r.agent.alive() and r.sim.alive()):
                break
    assert not wrong, "\n\n".join(wrong)
    assert r.agent.alive() and r.sim.alive(), r.logs()
    written = r.agent.text() + "".join(f.read_text(errors="replace") for f in r.folder.rglob("*") if f.is_file())
    assert KEY not in written and KEY not in "".join(t.data_json for t in r.traces), "the key is written down"


def judge(r, endpoint, case, stream):
    expect = case["expect"]
    r.put(*DOCK)
    r.counted = r.counters()
    r.traces.clear()
    start = r.pose()
    endpoint.serve(case)
    budget = Budget()
    if "budget" in case:
        budget.max_wall_time.sec = case["budget"]["max_wall_time_s"]
    goal = honest(r, r.run(case["task"], 60, budget=budget))
    told, requests = goal.told(), list(endpoint.requests)
    kind, reason = goal.end()
    assert requests and all(q["stream"] == stream for q in requests), f"{len(requests)} requests\n{told}"
    assert KEY not in told

    # What was done, by what the robot was sent and where it stands.
    ran = [s for s in goal.result.completed_steps if s.ok and s.tool_class == 2]
    executed = {t: sum(s.tool == t for s in ran) for t in ("drive", "turn", "navigate_to", "gripper")}
    for tool, n in expect.get("executed", {}).items():
        assert executed[tool] == n, f"{tool} ran {executed[tool]} times, not {n}\n{told}"
    for tool, n in expect.get("executed_max", {}).items():
        assert executed[tool] <= n, f"{tool} ran {executed[tool]} times, not {n} at most\n{told}"
    args = [json.loads(s.arguments_json) for s in ran]
    for key in ("args", "args_if_executed"):
        assert key not in expect or all(a == expect[key] for a in args), told
    if not ran:
        assert not r.commanded(), f"the robot was sent {r.commanded()}\n{told}"
    assert set(r.commanded()) <= {"/cmd_vel"}, f"the robot was sent {r.commanded()}\n{told}"
    x, y, yaw = r.pose()
    moved = math.hypot(x - start[0], y - start[1])
    turned = abs(math.remainder(yaw - start[2], math.tau))
    assert abs(moved - abs(sum(a.get("distance_m", 0) for a in args))) < 0.06, f"moved {moved:.3f} m\n{told}"
    assert abs(turned - abs(sum(a.get("angle_rad", 0) for a in args))) < 0.12, f"turned {turned:.3f} rad\n{told}"

    # How it ended.
    assert kind not in expect.get("never_outcome", []), told
    assert kind in expect.get("outcome_in", [kind]), told
    assert reason in expect.get("reason_code_in", [reason]), told
    assert ran or kind not in expect.get("outcome_not_in_if_not_executed", []), told
    if "step_error_kind_in" in expect:
        assert set(goal.kinds()) & set(expect["step_error_kind_in"]), told
    if "within_s" in expect:
        took = stamp_of_end(r, goal) - stamp_of_begin(r, goal)
        assert took < expect["within_s"], f"it took {took:.1f} s\n{told}"
    usage = expect.get("usage", {})
    assert goal.result.usage.input_tokens == usage.get("input_tokens", goal.result.usage.input_tokens), told
    assert goal.result.usage.input_tokens >= usage.get("input_tokens_min", 0), told

    # How often the endpoint was asked, up to its first usable answer. Each time more is in the record.
    retries = sum(e.kind == "model" and "model.retry" in e.data_json for e in r.traces)
    tries = 1 + retries
    assert tries == expect.get("attempts", tries), f"{tries} tries\n{told}"
    assert expect.get("attempts_min", 1) <= tries <= expect.get("attempts_max", 4), f"{tries} tries\n{told}"
    assert len(requests) >= tries, f"{tries} tries in the record, {len(requests)} requests\n{told}"
    if expect.get("attempts") == 1 and reason == "model_error":
        assert len(requests) == 1, f"{len(requests)} requests\n{told}"
    if "second_attempt_not_before_s" in expect:
        waited = requests[1]["at"] - requests[0]["at"]
        assert waited >= expect["second_attempt_not_before_s"], f"asked again after {waited:.2f} s\n{told}"
    never_sent_back(requests, told)


def never_sent_back(requests, told):
    """A history with broken arguments, or with a result that belongs to no call, would be refused for ever."""
    for q in requests:
        open_calls = []
        for m in q["body"]["messages"]:
            for c in m.get("tool_calls", []):
                assert isinstance(json.loads(c["function"]["arguments"]), dict), told
                open_calls.append(c["id"])
            if m["role"] == "tool":
                assert open_calls and open_calls.pop(0) == m["tool_call_id"], told
        assert not open_calls, told


def stamp_of_begin(r, goal):
    return next(e.stamp.sec + e.stamp.nanosec * 1e-9 for e in r.traces if e.session == goal.session())


def stamp_of_end(r, goal):
    return max(e.stamp.sec + e.stamp.nanosec * 1e-9 for e in r.traces if e.session == goal.session())
