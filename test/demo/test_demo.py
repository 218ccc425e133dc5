"""tools/demo, as a person sees it: what it prints, how it ends, and that nothing is left behind."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from agent_msgs.msg import Step

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "tools" / "demo"
sys.path.insert(0, str(ROOT / "test" / "e2e"))
from processes import interruptible  # noqa: E402


def start(*arguments: str, program=(sys.executable, DEMO)) -> subprocess.Popen:
    return subprocess.Popen(
        [*program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd="/",
    )


def end(demo: subprocess.Popen, before: str = "") -> tuple[int, str]:
    """Its exit code and all that it printed; none of its processes may live on."""
    out, _ = demo.communicate(timeout=180)
    out = before + out
    assert "both stopped" in out, out
    for process in Path("/proc").glob("[0-9]*/environ"):
        domain = re.search(r"ROS domain (\d+)", out).group(1)
        try:
            environ = process.read_bytes().split(b"\0")
            program = (process.parent / "exe").resolve().name
        except OSError:
            continue  # it ended, or is not ours
        if program in ("agent_node", "sim_robot"):
            assert f"ROS_DOMAIN_ID={domain}".encode() not in environ, f"{program} lives on"
    return demo.returncode, out


def test_default_task_is_done_and_verified() -> None:
    code, out = end(start())
    assert code == 0, out
    assert "DONE (accepted)" in out
    assert re.search(r"verification +passed +at_place\(kitchen\)", out), out
    assert re.search(r"trace +\S+\.jsonl", out), out


def test_outcome_other_than_done_is_no_success() -> None:
    code, out = end(start("paint the fence"))
    assert code == 1, out
    assert "FAILED (infeasible)" in out
    assert re.search(r"unmet +paint the fence", out), out


def test_interrupt_cancels_the_goal_and_waits_for_rest() -> None:
    """It comes in the middle of a message of feedback."""
    demo = start(program=interruptible(Step, DEMO))
    seen = ""
    deadline = time.monotonic() + 60
    while "IN_FLIGHT" not in seen:
        assert time.monotonic() < deadline, seen
        line = demo.stdout.readline()
        assert line, seen
        seen += line
    demo.send_signal(signal.SIGUSR1)
    code, out = end(demo, seen)
    assert code == 130, out
    assert "INTERRUPTED (canceled)" in out
    assert "navigate_to" in out.split("outcome")[1]
