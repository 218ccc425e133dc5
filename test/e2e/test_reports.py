"""Reports from the field about agents, cancels and clocks, tried on this node."""

import signal
import time
from pathlib import Path

import pytest
from action_msgs.srv import CancelGoal
from agent_msgs.msg import Budget
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Twist
from rosgraph_msgs.msg import Clock

from cases import DATA, case
from goals import STATUS
from inputs import GIVE_UP, call, calls
from judge import honest
from standin import StandIn


@case("flt-013")
def test_a_late_result_ends_no_later_goal(house, case):
    house.fault("late_result")
    first = house.goal("go to the table")
    house.moving()
    first.cancel()
    first.wait(20)
    honest(house, first)
    assert first.end() == ("INTERRUPTED", "canceled"), first.told()
    second = house.run("go to the table", 60)
    honest(house, second)
    assert second.end()[0] == case["expect"]["second_outcome"], second.told()


class Ears:
    """When the last velocity other than zero, and the first zero behind it, came to /cmd_vel."""

    def __init__(self, rig):
        self.rig, self.heard = rig, []
        self.subscription = rig.node.create_subscription(Twist, "/cmd_vel", self._on, 50)

    def _on(self, m):
        self.heard.append((time.monotonic(), m.linear.x == 0.0 and m.angular.z == 0.0))

    def first_zero_after(self, moment):
        self.rig.until(lambda: any(z and t >= moment for t, z in self.heard), 10.0, "a zero velocity")
        return next(t for t, z in self.heard if z and t >= moment) - moment


PATIENCE = 1.0  # s: a busy machine's; make bench measures the node's own


@case("flt-022")
@pytest.mark.parametrize("how", ["cancel", "deadline", "SIGTERM", "budget_wall_time"])
def test_a_stop_does_not_share_what_it_cancels(rig, case, how):
    r = rig()
    ears = Ears(r)
    fields = {}
    if how == "deadline":
        at = time.time() + 11.0
        fields["deadline"] = Time(sec=int(at), nanosec=int(at % 1 * 1e9))
    if how == "budget_wall_time":
        fields["budget"] = Budget(max_wall_time=Duration(sec=10))
    goal = r.goal("drive 3.5 m forward", **fields)
    r.moving()
    if how in ("cancel", "SIGTERM"):
        event = time.monotonic()
        goal.cancel() if how == "cancel" else r.agent.popen.send_signal(signal.SIGTERM)
        assert ears.first_zero_after(event) < PATIENCE
    goal.wait(25)
    reason = {
        "cancel": "canceled",
        "deadline": "upstream_timeout",
        "SIGTERM": "shutdown",
        "budget_wall_time": "budget_wall_time",
    }
    assert goal.end()[1] == reason[how], goal.told()
    honest(r, goal)
    assert ears.heard[-1][1], "the last velocity was not zero"


@case("flt-031")
def test_twenty_cancels_from_four_clients_are_all_answered(house, case):
    goal = house.goal("go to the kitchen")
    house.moving()
    name = f"{house.name}/execute_task/_action/cancel_goal"
    clients = [house.node.create_client(CancelGoal, name) for _ in range(4)]
    assert all(c.wait_for_service(20) for c in clients)
    request = CancelGoal.Request()
    request.goal_info.goal_id = goal.handle.goal_id
    begin = time.monotonic()
    futures = [house.asked(lambda c=c: c.call_async(request)) for _ in range(5) for c in clients]
    answers = [house.wait(f, 20) for f in futures]
    assert len(answers) == case["expect"]["answered"]
    assert any(len(a.goals_canceling) == 1 for a in answers)
    goal.wait(15)
    assert time.monotonic() - begin < case["expect"]["within_s"] + 5
    honest(house, goal)
    assert (goal.status, goal.end()) == (STATUS["CANCELED"], ("INTERRUPTED", "canceled")), goal.told()
    house.until(lambda: any(e.kind == "end" for e in house.traces), 5.0, "the end in the trace")
    assert sum(e.kind == "end" for e in house.traces) == 1
    for c in clients:
        house.asked(lambda c=c: house.node.destroy_client(c))


@case("flt-034")
def test_a_cancel_in_the_first_moments_is_not_lost(house, case):
    for i in range(case["expect"]["runs"]):
        goal = house.goal("drive 1 m forward")
        goal.answered()
        time.sleep(0.02 * (i % 16))
        goal.cancel()
        goal.wait(15)
        honest(house, goal)
        assert goal.end() == (case["expect"]["outcome"], "canceled"), goal.told()
        if i % 6 == 5:
            house.fresh()


@case("flt-061")
def test_a_clock_that_begins_late_expires_nothing(rig, case):
    r = rig(sim=False, node=False)
    s = StandIn(r)
    clock = s.node.create_publisher(Clock, "/clock", 10)
    began = None

    def now():
        t = 0.0 if began is None else 1271.8 + time.monotonic() - began
        return Time(sec=int(t), nanosec=int(t % 1 * 1e9))

    s.base.now = now
    s.node.create_timer(0.01, lambda: began is not None and clock.publish(Clock(clock=now())))
    try:
        r.start_node({"profile": str(DATA / "stand_in.yaml"), "use_sim_time": True}, wait=False)
        assert r.actions.wait_for_server(60)
        goal = r.goal("wait 2 seconds")
        goal.answered()
        time.sleep(0.3)
        began = time.monotonic()
        goal.wait(30)
        assert time.monotonic() - began >= 2.0
        assert goal.end() == (case["expect"]["outcome"], "accepted"), goal.told()
    finally:
        s.close()


@case("flt-073")
def test_a_batch_of_calls_has_all_its_results_in_order(scripted, case):
    count = case["expect"]["results"]
    batch = calls(*[("get_battery" if i % 3 else "get_pose", {}) for i in range(count)])
    r = scripted(batch, *[call("finish", answer="Read.", evidence=["{{id `get_pose`}}"])] * 4)
    goal = r.run("read twelve times", 30)
    honest(r, goal)
    steps = [s for s in goal.result.completed_steps if s.tool != "finish"]
    assert [s.tool for s in steps] == ["get_battery" if i % 3 else "get_pose" for i in range(count)]
    assert all(s.ok and s.content for s in steps) and len({s.call_id for s in steps}) == count


@case("flt-079")
def test_no_text_of_a_model_reaches_a_shell(scripted, case, tmp_path):
    pwned = tmp_path / "pwned"
    r = scripted(
        call("navigate_to", place=f"kitchen'; touch {pwned}; '"),
        call("navigate_to", place=f"$(touch {pwned})"),
        GIVE_UP,
    )
    goal = r.run("go to the kitchen", 30)
    honest(r, goal)
    assert set(goal.kinds()) == {"invalid_arguments"}, goal.told()
    assert not pwned.exists() and not r.commanded()
    tasks = Path(f"/proc/{r.agent.popen.pid}/task")
    assert not any((t / "children").read_text().split() for t in tasks.iterdir()), "it has started a process"
