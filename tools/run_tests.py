"""Runs every test there is and closes with the totals: N passed, N failed, N skipped.

usage: run_tests.py [STAGE ...]      stages: plain race python (all of them by default)

plain    Go alone: no cgo, no ROS in the environment
race     with -tags ros2, the race detector and shuffled order
python   the tests under test/ that talk to the programs from other processes
A package that does not build, crashes, leaks or runs out of time counts as a failure even where
none of its tests says so. Run it from a shell that has sourced build/env.sh.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = "12m"  # of one package
# Robots take real time to move, and little of a processor: several at once, each in a ROS domain of its own.
SIDE_BY_SIDE = ("-n", "4", "--dist", "worksteal")


@dataclass
class Totals:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other: "Totals") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def without_ros() -> dict:
    """An environment as on a machine that has Go and no ROS."""
    drop = ("AMENT_", "ROS_", "_ROS_", "RMW_", "CGO_", "CMAKE_PREFIX", "PYTHONPATH", "LD_LIBRARY_PATH")
    env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
    prefix = str(ROOT / ".ros")
    env["PATH"] = os.pathsep.join(p for p in env["PATH"].split(os.pathsep) if not p.startswith(prefix))
    return {**env, "CGO_ENABLED": "0"}


class GoRun:
    """Reads `go test -json`: counts, and shows what failed."""

    def __init__(self) -> None:
        self.totals = Totals()
        self.output = defaultdict(list)  # (package, test) -> what it printed
        self.failures = defaultdict(int)  # package -> tests failed
        self.counts = defaultdict(int)  # package -> tests that ended
        self.open = defaultdict(set)  # package -> tests begun and not ended
        self.builds = defaultdict(list)  # import path -> what the compiler said
        self.failed = []  # packages

    def event(self, e: dict) -> None:
        action, package, test = e.get("Action"), e.get("Package", ""), e.get("Test")
        if action == "build-output":
            self.builds[e.get("ImportPath", "")].append(e["Output"])
        elif action == "output":
            self.output[package, test].append(e["Output"])
        elif action == "run":
            self.open[package].add(test)
        elif action in ("pass", "fail", "skip") and test:
            self._ended(action, package, test)
        elif action in ("pass", "fail", "skip"):
            self._package_ended(action, package, e)

    def _ended(self, action: str, package: str, test: str) -> None:
        self.open[package].discard(test)
        self.counts[package] += 1
        if action == "pass":
            self.totals.passed += 1
        elif action == "skip":
            self.totals.skipped += 1
            print(f"skip {package} {test}: {self._why(package, test)}", flush=True)
        else:
            self.totals.failed += 1
            self.failures[package] += 1
            print(f"--- FAIL {package} {test}\n{''.join(self.output[package, test])}", flush=True)
        self.output.pop((package, test), None)

    def _why(self, package: str, test: str) -> str:
        told = [line.strip() for line in self.output[package, test]]
        told = [line for line in told if line and not line.startswith(("=== ", "--- "))]
        return told[-1] if told else "no reason given"

    def _package_ended(self, action: str, package: str, e: dict) -> None:
        seconds = e.get("Elapsed", 0)
        if action == "fail":
            self.failed.append(package)
            if self.failures[package] == 0:
                # It did not build, or ended outside of a test.
                self.totals.failed += 1
            built = e.get("FailedBuild")
            if built:
                print("".join(self.builds.pop(built, [])), end="")
            for test in sorted(self.open[package], key=str):
                print(f"--- NOT ENDED {package} {test}\n{''.join(self.output.pop((package, test), []))}")
            print("".join(self.output.get((package, None), [])), end="")
            print(f"FAIL {package} ({seconds:.1f} s)", flush=True)
        elif self.counts[package]:
            print(f"ok   {package} ({self.counts[package]} tests, {seconds:.1f} s)", flush=True)
        self.output.pop((package, None), None)


def go_tests(flags: list, env: dict) -> Totals:
    run = go_run(flags, env, ["./..."])
    if not run.failed:
        return run.totals
    print(f"== once more, by itself: {' '.join(run.failed)}", flush=True)
    return mended(run.totals, go_run([*flags, "-p=1", "-parallel=1"], env, run.failed).totals)


def mended(first: Totals, again: Totals) -> Totals:
    """What failed beside the rest and passes by itself found the machine too busy: it is said, and counts as passed."""
    if first.failed > again.failed:
        print(f"NOISY: {first.failed - again.failed} failed beside the others and passed alone", flush=True)
    return Totals(first.passed + max(first.failed - again.failed, 0), again.failed, first.skipped)


def go_run(flags: list, env: dict, packages: list) -> GoRun:
    command = ["go", "test", "-json", "-count=1", f"-timeout={TIMEOUT}", *flags, *packages]
    run = GoRun()
    child = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for line in child.stdout:
        try:
            event = json.loads(line)
        except ValueError:
            print(line, end="", flush=True)
            continue
        run.event(event)
    if child.wait() != 0 and run.totals.failed == 0:
        print(f"FAIL {' '.join(command)}: exit {child.returncode} though no test failed")
        run.totals.failed += 1
    return run


def plain() -> Totals:
    env = without_ros()
    if subprocess.run(["go", "build", "./..."], cwd=ROOT, env=env).returncode != 0:
        print("FAIL go build ./... with Go alone")
        return Totals(failed=1)
    return go_tests([], env)


def race() -> Totals:
    return go_tests(["-race", "-shuffle=on", "-tags=ros2"], dict(os.environ))


def python() -> Totals:
    first = pytest(*SIDE_BY_SIDE)
    if first.failed == 0 or first.passed == 0:
        return first
    print("== once more, by itself: what failed", flush=True)
    return mended(first, pytest("--last-failed"))


def pytest(*flags: str) -> Totals:
    report = ROOT / "build" / "pytest.xml"
    report.unlink(missing_ok=True)
    code = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-ra", *flags, f"--junitxml={report}", "test"], cwd=ROOT
    ).returncode
    totals = Totals()
    if report.is_file():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            count = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
            bad = count["failures"] + count["errors"]
            totals.add(Totals(count["tests"] - bad - count["skipped"], bad, count["skipped"]))
    if code != 0 and totals.failed == 0:
        print(f"FAIL pytest: exit {code} though no test failed")
        totals.failed += 1
    return totals


STAGES = {"plain": plain, "race": race, "python": python}


def main(names: list[str]) -> int:
    unknown = [n for n in names if n not in STAGES]
    if unknown or not shutil.which("go"):
        print(__doc__ if unknown else "run_tests: no go on PATH", file=sys.stderr)
        return 2
    if "AMENT_PREFIX_PATH" not in os.environ and names != ["plain"]:
        print("run_tests: this shell has no ROS 2: . build/env.sh", file=sys.stderr)
        return 2
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    total, lines = Totals(), []
    for name in names or STAGES:
        print(f"== {name}", flush=True)
        began = time.monotonic()
        result = STAGES[name]()
        lines.append(f"{name}: {result} ({time.monotonic() - began:.0f} s)")
        print(lines[-1], flush=True)
        total.add(result)
    print("== all")
    print("\n".join(lines))
    print(total, flush=True)
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
