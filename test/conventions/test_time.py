"""use_sim_time with a clock that stands, jumps and loops: skills wait by ROS time, budgets run by the wall's."""

import threading
import time

import pytest
from agent_msgs.action import ExecuteTask
from agent_msgs.msg import Budget
from builtin_interfaces.msg import Duration, Time
from rosgraph_msgs.msg import Clock

from goals import Goal
from inputs import call, script

PROFILE = """
name: clockwork
frames: {map: map, odom: odom, base: base_link}
permissions: {query: allow, skill: allow, verify: allow}
allow_unvalidated: [wait]
tools:
  wait:
    class: skill
    description: Let time pass.
    parameters: {type: object, properties: {seconds: {type: number}}, required: [seconds], additionalProperties: false}
    binding: {wait: {seconds: args.seconds}}
"""
STEP = 0.02  # s
SECONDS = 1.0  # that the skill waits
FINISH = {"calls": [{"id": "", "tool": "finish", "arguments": {"answer": "I waited."}}]}


class Clockwork:
    """/clock, in the hands of the test: it goes, stands and jumps."""

    def __init__(self, rig):
        self.pub = rig.node.create_publisher(Clock, "/clock", 10)
        self.now, self.gone, self.goes, self.ends = 100.0, 0.0, True, False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.ends:
            if self.goes:
                self.now += STEP
                self.gone += STEP
            sec = int(self.now)
            self.pub.publish(Clock(clock=Time(sec=sec, nanosec=int((self.now - sec) * 1e9))))
            time.sleep(STEP)

    def close(self):
        self.ends = True
        self.thread.join(5.0)


@pytest.fixture(scope="module")
def node(bare, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clock")
    (folder / "profile.yaml").write_text(PROFILE)
    params = script(folder, call("wait", {"seconds": SECONDS}), FINISH)
    params |= {"profile": folder / "profile.yaml", "use_sim_time": "true", "stop_reserve": 0.2, "acceptance_rounds": 0}
    arguments = [word for k, v in params.items() for word in ("-p", f"{k}:={v}")]
    r, _ = bare(*arguments, name="clock")
    clock = Clockwork(r)
    try:
        assert r.actions.wait_for_server(60.0), r.logs()
        yield r, clock
    finally:
        clock.close()


@pytest.fixture
def waiting(node):
    """A goal that has begun to wait, and how much of the clock's time had gone then."""
    r, clock = node
    clock.goes = True
    goal = Goal(r, ExecuteTask.Goal(task="wait", budget=Budget(max_wall_time=Duration(sec=60))))
    assert goal.answered(), "the goal was rejected"
    begun = clock.gone
    r.until(lambda: clock.gone > begun + 0.3, 20.0, "some time of the clock")
    assert not goal.over()
    return r, clock, goal, begun


def ends_in_its_time(clock, goal, begun):
    goal.wait(30)
    assert goal.end() == ("UNVERIFIED", "unverified"), goal.told()  # nothing is there to show that it waited
    assert goal.result.completed_steps[0].ok, goal.told()
    assert clock.gone - begun > SECONDS - 5 * STEP, "it waited for less of the clock's time"


def test_time_goes_by_the_clock(waiting):
    _, clock, goal, begun = waiting
    ends_in_its_time(clock, goal, begun)


def test_a_clock_that_stands_lets_no_time_pass(waiting):
    _, clock, goal, begun = waiting
    clock.goes = False
    assert not goal._done.wait(2 * SECONDS), goal.told()
    clock.goes = True
    ends_in_its_time(clock, goal, begun)


@pytest.mark.parametrize("to", [5000.0, 10.0], ids=["forward", "back"])
def test_a_clock_that_jumps_ends_no_wait_and_prolongs_none(waiting, to):
    _, clock, goal, begun = waiting
    clock.now = to
    ends_in_its_time(clock, goal, begun)
    assert clock.gone - begun < 20 * SECONDS


def test_a_clock_that_loops_ends_a_wait_all_the_same(waiting):
    """ros2 bag play --loop --clock"""
    r, clock, goal, begun = waiting
    for _ in range(3):
        at = clock.gone
        clock.now = 100.0
        r.until(lambda at=at: clock.gone > at + 0.15, 20.0, "some time of the clock")
    ends_in_its_time(clock, goal, begun)


def test_budgets_run_by_the_walls_clock(node):
    r, clock = node
    clock.goes = False
    begun = time.monotonic()
    goal = Goal(r, ExecuteTask.Goal(task="wait", budget=Budget(max_wall_time=Duration(sec=2))))
    goal.wait(30)
    clock.goes = True
    assert goal.end() == ("BUDGET_EXHAUSTED", "budget_wall_time"), goal.told()
    assert time.monotonic() - begun > 1.5
