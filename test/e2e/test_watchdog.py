"""The watchdog: a node that is killed or hangs in a motion leaves a robot that comes to rest; one that starts again
cleans up what it left."""

import signal
import socket
import time

import pytest
from agent_msgs.msg import ActuatorState, AgentState, Plan, PlanStep
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import TransitionEvent
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from goals import STATUS
from judge import honest, rests_for_good
from truth import stamp, still

WITHIN = 3.0  # s, from the node's death to rest
ARM = "shoulder_pan_joint"
TASKS = {"navigate": "go to the kitchen", "drive": "drive 3 m forward"}


class Joints:
    """The arm as it is measured, which no fault touches."""

    def __init__(self, rig):
        self.samples = []
        rig.node.create_subscription(JointState, "/joint_states", self._on, 50)

    def _on(self, m):
        if ARM in m.name:
            speeds = [abs(v) for n, v in zip(m.name, m.velocity, strict=True) if "wheel" not in n and "finger" not in n]
            self.samples.append((stamp(m), max(speeds)))

    def moving(self):
        return bool(self.samples) and self.samples[-1][1] > 0.1

    def still_since(self):
        since = self.samples[-1][0]
        for at, speed in reversed(self.samples):
            if speed > 0.01:
                break
            since = at
        return since


def watch(rig, **params):
    """A watchdog that has found the node. What it says is in rig.said."""
    rig.said = []
    latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    rig.node.create_subscription(DiagnosticStatus, f"{rig.name}/watchdog", rig.said.append, latched)
    rig.watchdog = rig.start("agent_node", params, subcommand="watchdog")
    until_watching(rig)
    return rig


def level(rig):
    return rig.said[-1].level if rig.said else None


def until_watching(rig):
    rig.until(lambda: level(rig) == DiagnosticStatus.OK, 30.0, "the watchdog to find the node")
    # It listens to the robot from then on; a second is for the middleware to match both.
    time.sleep(1.0)


def rests_within(rig, killed, seconds=WITHIN, since=None):
    """It is at rest, and has been since so many seconds after the moment."""
    since = since or rig.truth.still_since
    rig.until(lambda: stamp(rig.truth.newest()) > killed + seconds + 1.0, 20.0, "the truth of what follows")
    took = since() - killed
    assert took <= seconds, f"at rest {took:.2f} s after\n{rig.logs()}"
    return took


@pytest.mark.parametrize("motion", TASKS)
@pytest.mark.parametrize("fault", [None, "refuse_cancel", "ignore_cancel"])
def test_a_node_that_is_killed_in_a_motion_leaves_a_robot_at_rest(rig, motion, fault):
    if fault and motion == "drive":
        pytest.skip("a stream of velocities has nothing to cancel")
    r = watch(rig())
    if fault:
        r.fault(fault)
    r.goal(TASKS[motion])
    r.moving()
    time.sleep(0.5)
    killed = time.time()
    r.agent.kill()
    r.until(lambda: level(r) == DiagnosticStatus.ERROR, 1.0 + 2.0, "the watchdog to notice")
    rests_within(r, killed)
    assert "has died" in r.said[-1].message
    if motion == "navigate":
        # Not only stopped: the goal is gone, and nothing goes on when the watchdog has ended.
        r.mend()
        assert r.watchdog.stop() == 0
        rests_for_good(r)


def test_an_arm_is_stopped_as_well(rig):
    r = watch(rig())
    joints = Joints(r)
    r.until(lambda: joints.samples, 20.0, "joint states")
    r.goal("", plan=turn_the_arm(-1.5))
    r.until(joints.moving, 30.0, "the arm to move")
    killed = time.time()
    r.agent.kill()
    rests_within(r, killed, since=joints.still_since)


def turn_the_arm(angle):
    pose = [angle, -1.85, 2.7, -2.4208, -1.5708, 0.0]
    step = PlanStep(id="s1", tool="move_arm", arguments_json=f'{{"joints": {pose}}}')
    return Plan(task="turn the arm", steps=[step], success_criteria=[f"arm_at({', '.join(map(str, pose))})"])


def test_a_node_that_hangs_is_stood_in_for_and_owns_up_when_it_is_back(rig):
    r = watch(rig())
    goal = r.goal("go to the kitchen")
    r.moving()
    time.sleep(0.5)
    stopped = time.time()
    r.agent.popen.send_signal(signal.SIGSTOP)
    try:
        r.until(lambda: level(r) == DiagnosticStatus.ERROR, 4.0, "the watchdog to notice")
        rests_within(r, stopped)
        assert "silent" in r.said[-1].message
    finally:
        r.agent.popen.send_signal(signal.SIGCONT)
    goal.wait(30)
    honest(r, goal)
    assert (goal.status, goal.end()) == (STATUS["ABORTED"], ("INTERRUPTED", "watchdog")), goal.told()
    rests_for_good(r)
    # Back in order, it is watched again and works again.
    until_watching(r)
    again = r.run("drive 0.3 m forward", 40)
    honest(r, again)
    assert again.end() == ("DONE", "accepted"), again.told()


def test_what_the_node_does_not_move_is_left_alone(rig):
    """A node that dies at rest, and one that ends in good order."""
    r = watch(rig())
    r.run("where are you?", 20)
    r.agent.kill()
    r.until(lambda: level(r) == DiagnosticStatus.ERROR, 3.0, "the watchdog to notice")
    time.sleep(2.0)
    assert not r.commanded() and r.truth.path() < 0.001
    r.start_node()
    until_watching(r)
    r.counted = r.counters()
    assert r.agent.stop() == 0
    r.until(lambda: level(r) == DiagnosticStatus.WARN, 5.0, "the watchdog to hear the goodbye")
    time.sleep(1.5)
    assert all(m.level != DiagnosticStatus.ERROR for m in r.said[-5:]) and not r.commanded()


def test_last_words_arrive(rig):
    """What a node says last before its process ends: its goodbye, its last transition, its last state."""
    r = rig()
    beats, events = [], []
    r.node.create_subscription(DiagnosticStatus, f"{r.name}/heartbeat", beats.append, 10)
    r.node.create_subscription(TransitionEvent, f"{r.name}/transition_event", events.append, 10)
    r.until(lambda: beats, 10.0, "a heartbeat")
    goal = r.goal("drive 3 m forward")
    r.moving()
    assert r.agent.stop() == 0
    r.until(lambda: beats[-1].message == "bye", 5.0, f"the goodbye, heard {beats[-1]}")
    r.until(lambda: events and events[-1].goal_state.label == "finalized", 5.0, f"the last transition, heard {events}")
    r.until(lambda: r.actuator() == ActuatorState.HOLDING, 5.0, "the last state of the base")
    r.until(lambda: AgentState.FAILED in [m.state for _, m in r.states], 5.0, "the last state of the session")
    goal.wait(5.0)
    assert goal.end() == ("INTERRUPTED", "shutdown"), goal.told()


def test_a_node_that_comes_back_is_watched_again(rig):
    r = watch(rig())
    for _ in range(2):
        r.goal("go to the kitchen")
        r.moving()
        killed = time.time()
        r.agent.kill()
        rests_within(r, killed)
        r.start_node()
        until_watching(r)
        r.put(-1.6, -1.5, 0.0)
    goal = r.run("drive 0.2 m forward", 40)
    honest(r, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()


def test_without_a_watchdog_the_next_start_cancels_what_was_left(rig):
    r = rig()
    r.put(1.4, -0.4, -1.5708)
    r.goal("go to the office")  # a quarter of a minute
    r.moving()
    r.agent.kill()
    time.sleep(1.0)
    assert not still(r.truth.newest()), "the navigator carries on by itself"
    r.start_node()
    assert "did not end in good order" in r.agent.text(), r.logs()
    r.until(lambda: still(r.truth.newest()), 10.0, "what was left to be canceled")
    rests_for_good(r)
    assert not r.at(-3.0, 1.5), "it drove on to the end"
    goal = r.run("drive 0.2 m backward", 40)
    honest(r, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()


def test_a_node_that_must_be_watched_moves_nothing_alone(rig):
    r = rig(node_params={"watchdog.required": True, "watchdog.timeout": 2.0})
    time.sleep(2.0)
    goal = r.run("drive 0.5 m forward", 20)
    assert goal.end() == ("INTERRUPTED", "watchdog"), goal.told()
    assert r.truth.path() < 0.2
    watch(r)
    again = r.run("drive 0.3 m forward", 40)
    honest(r, again)
    assert again.end() == ("DONE", "accepted"), again.told()
    goal = r.goal("go to the kitchen")
    r.moving()
    r.watchdog.kill()
    goal.wait(20)
    honest(r, goal)
    assert goal.end() == ("INTERRUPTED", "watchdog"), goal.told()


def test_its_parameters_are_described(rig):
    r = watch(rig(), timeout=0.9)
    from rcl_interfaces.srv import DescribeParameters

    answer = r.call(
        DescribeParameters,
        "/agent_node_watchdog/describe_parameters",
        DescribeParameters.Request(names=["node", "profile", "timeout"]),
    )
    assert all(d.description for d in answer.descriptors) and len(answer.descriptors) == 3


@pytest.mark.parametrize("subcommand", [None, "watchdog"], ids=["node", "watchdog"])
def test_the_service_manager_is_told(rig, tmp_path, subcommand):
    r = rig(sim=False, node=False)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(60.0)
        r.env |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "400000"}
        params = {} if subcommand else {"trace.dir": str(tmp_path / "traces")}
        r.agent = None
        program = r.start("agent_node", params, subcommand=subcommand)
        told = [manager.recv(4096).decode() for _ in range(4)]
        assert told == ["READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"], told
        if subcommand is None:
            assert r.actions.server_is_ready() or r.actions.wait_for_server(5.0), "ready before it is active"
        program.popen.send_signal(signal.SIGTERM)
        while told[-1] == "WATCHDOG=1":
            told.append(manager.recv(4096).decode())
        assert told[-1] == "STOPPING=1", told
        assert program.stop() == 0
