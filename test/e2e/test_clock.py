"""Simulated time that stands still: whoever ends a goal then is answered all the same, and told of the clock."""

import signal
import time

import pytest
from builtin_interfaces.msg import Time
from rosgraph_msgs.msg import Clock

from truth import still

RESERVE = 7.0  # s, stop_reserve's default
PATIENCE = RESERVE + 3.0  # a busy machine's
HELD = 2.0  # s, after which the node has noticed
SAID = "ROS time stands still (source: clock)"
TASKS = {"drive": "drive 3 m forward", "navigate": "go to the kitchen"}


class Ticker:
    """/clock by the peer's hand, as the robot's stamps are. The robot goes on when it stands."""

    def __init__(self, rig):
        self.rig, self.ticks = rig, True
        self.publisher = rig.node.create_publisher(Clock, "/clock", 10)
        self.timer = rig.node.create_timer(0.01, self._tick)

    def _tick(self):
        if self.ticks:
            sec, nanosec = divmod(time.time_ns(), 10**9)
            self.publisher.publish(Clock(clock=Time(sec=sec, nanosec=nanosec)))

    def stand(self):
        self.ticks = False

    def go_on(self):
        self.ticks = True


class Simulation:
    """A simulation that is paused: neither time nor robot nor its servers go on."""

    params = {"publish_clock": True}

    def __init__(self, rig):
        self.rig = rig

    def stand(self):
        self.rig.sim.popen.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.rig.sim.popen.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("held", [0.0, HELD], ids=["at_once", "held"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", [Ticker, Simulation], ids=["clock", "simulation"])
def test_a_cancel_while_time_stands_is_answered_and_names_the_clock(rig, kind, task, held):
    r = rig(node=False, sim_params=getattr(kind, "params", None))
    clock = kind(r)
    r.start_node({"use_sim_time": True})
    goal = r.goal(TASKS[task])
    r.moving()
    clock.stand()
    try:
        time.sleep(held)
        asked = time.monotonic()
        goal.cancel()
        goal.wait(60)
        took = time.monotonic() - asked
        if kind is Ticker:
            # What it cannot measure it has stopped all the same.
            assert still(r.truth.newest()), goal.told()
        # Rest was not measured, and so is not claimed.
        assert goal.end() == ("FAILED", "actuator_fault"), goal.told()
        assert SAID in goal.result.answer, goal.told()
        assert took < PATIENCE, f"answered after {took:.1f} s\n{goal.told()}"
    finally:
        clock.go_on()
    r.until(lambda: still(r.truth.newest()), 5.0, "the robot to stand")
    at = r.pose()
    time.sleep(2.0)
    assert r.pose() == pytest.approx(at, abs=0.01), "it moves on when time does"
