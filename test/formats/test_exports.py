"""What `agent_node trace export` writes, read by MCAP's own Python reader and by OpenTelemetry's own messages."""

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NODE = ROOT / "build" / "agent_node"


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A session of the built-in robot, as its trace says it and as the readers find it."""
    got = run(ROOT / "tools" / "wheels", "formats")
    if got.returncode == 75:
        pytest.skip(f"the readers cannot be had here: {got.stderr.strip()}")
    assert got.returncode == 0, got.stderr
    folder = tmp_path_factory.mktemp("session")
    task = "drive 0.2 m forward, then drive 60 m forward"
    ran = run(NODE, "run", "--sim", "--rate", "8", task, "--ros-args", "-p", f"trace.dir:={folder}")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    (trace,) = folder.glob("*.jsonl")
    for to in ("out.mcap", "out.json"):
        done = run(NODE, "trace", "export", "--content", trace, folder / to)
        assert done.returncode == 0, done.stdout + done.stderr
    read = run(
        ROOT / "tools" / "wheels",
        "formats",
        "python3",
        Path(__file__).parent / "reader.py",
        folder / "out.mcap",
        folder / "out.json",
    )
    assert read.returncode == 0, read.stderr
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    return events, json.loads(read.stdout)


def test_mcap_holds_every_event(session):
    events, read = session
    found = read["topics"]["/agent_node/trace"]
    assert [e for _, _, e in found] == events
    assert [t for t, _, _ in found] == sorted(t for t, _, _ in found)
    logs = read["topics"]["/agent_node/log"]
    assert len(logs) == len(events) and {schema for _, schema, _ in logs} == {"foxglove.Log"}
    for (at, _, log), e in zip(logs, events, strict=True):
        stamp = log["timestamp"]
        assert stamp["sec"] * 10**9 + stamp["nsec"] == at and log["name"] == e["kind"] and log["message"]
    states = [s["state"] for _, _, s in read["topics"]["/agent_node/state"]]
    assert states == [e["state"] for e in events if e.get("state")]


def test_otlp_holds_every_sample_and_call(session):
    events, read = session
    root, *rest = read["spans"]
    assert root["name"] == "invoke_agent agent_node" and root["trace"] == events[0]["session"] and not root["parent"]
    assert len({s["id"] for s in read["spans"]}) == len(read["spans"])
    assert all(s["parent"] == root["id"] and root["start"] <= s["start"] <= s["end"] <= root["end"] for s in rest)
    kinds = {"chat": "SPAN_KIND_CLIENT", "execute_tool": "SPAN_KIND_INTERNAL"}
    assert all(s["kind"] == kinds[s["name"].split()[0]] for s in rest)
    begun = [e["data"]["tool"] for e in events if e["kind"] == "call"]
    assert [s["attributes"]["gen_ai.tool.name"] for s in rest if s["name"].startswith("execute_tool")] == begun
    samples = [e["data"] for e in events if e["kind"] == "response"]
    chats = [s for s in rest if s["name"] == "chat planner"]
    assert [s["attributes"]["gen_ai.usage.input_tokens"] for s in chats] == [d["input_tokens"] for d in samples]
    for s in (root, *chats):
        assert s["attributes"]["gen_ai.provider.name"] == "agent_node"
        assert s["attributes"]["gen_ai.operation.name"] == s["name"].split()[0]
    end = events[-1]["data"]
    assert root["status"] == "STATUS_CODE_ERROR" and root["attributes"]["error.type"] == end["reason"]
    assert root["attributes"]["gen_ai.usage.input_tokens"] == end["usage"]["input_tokens"]
