"""A stand-in of a robot and the node as two processes, and what is asked of them. See test/e2e/rig.py."""

import math
import subprocess
import sys
import time
from pathlib import Path

from agent_msgs.msg import ActuatorState
from sensor_msgs.msg import JointState

from habits import DEFAULTS
from processes import BUILD
from rig import Rig

PROFILES = {
    "turtlebot": "turtlebot_nav2",
    "turtlebot_stamped": "turtlebot_nav2_stamped",
    "arm": "arm_ros2_control",
    "mobile_manipulator": "mobile_manipulator",
}
START = {
    "arm": [0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0],
    "mobile_manipulator": [0.0, -2.2, 2.4, -1.7708, -1.5708, 0.0],
}
# What a person would answer to every question, and quick ends where a server is gone.
ALLOWED = {"policy.skill": "allow", "wait_for_bindings": 3.0}


class RobotRig(Rig):
    """A stand-in and the node, as two processes."""

    def __init__(self, folder, kind, **options):
        self.kind = kind
        self.robot_program = (sys.executable, str(Path(__file__).parent / "robot.py"), kind)
        self.drives, self.reaches = kind != "arm", kind in START
        self.joints = []
        super().__init__(folder, **options)

    def _watch(self):
        super()._watch()
        self.node.create_subscription(JointState, "/sim/joint_truth", self._on_joints, 50)

    def _on_joints(self, m):
        at = m.header.stamp.sec + m.header.stamp.nanosec * 1e-9
        self.joints.append((at, dict(zip(m.name, m.position, strict=True)), max(map(abs, m.velocity))))

    def start_node(self, params=None, namespace=None, wait=True):
        super().start_node({"profile": PROFILES[self.kind], **ALLOWED, **(params or {})}, namespace, wait=False)
        if wait:
            assert self.actions.wait_for_server(60.0), f"the node did not become active\n{self.logs()}"
            self.until_ready()

    def until_ready(self, timeout=90.0):
        for name, there in (("base", self.drives), ("arm", self.reaches), ("gripper", self.reaches)):
            if there:
                self.until(lambda n=name: self.holds(n), timeout, f"actuator {name} to hold")

    def holds(self, name):
        """It holds; on a busy machine measurements have gaps, and what that left is acknowledged."""
        if self.actuator(name) == ActuatorState.FAULT:
            self.trigger("reset")
        return self.actuator(name) == ActuatorState.HOLDING

    def habit(self, **habits):
        self.set_sim(**{f"habit.{k}": v for k, v in habits.items()})

    def mend(self):
        if self.sim is not None and self.sim.alive():
            self.habit(**DEFAULTS)
            if self.reaches:
                self.set_sim(**{"sim.hold": False, "sim.thing": 0.0})

    def fresh(self):
        """The same rig as at the start: no habit, nothing under way, the robot where it began."""
        assert self.sim.alive() and self.agent.alive(), f"a program has died\n{self.logs()}"
        self.mend()
        self.trigger("resume")
        self.until(self.still_now, 20.0, "the robot to stand")
        if self.drives:
            self.put(0.0, 0.0, 0.0)
        if self.reaches:
            self.set_sim(**{"sim.arm": START[self.kind]})
        # Of the habits a window of measurements must pass.
        self.until(lambda: self.trigger("reset").success, 30.0, "the node to take a reset")
        self.until_ready()
        self.counted = self.counters()
        self.traces.clear()
        self.diagnostics.clear()
        del self.states[:-1], self.joints[:-50]

    def still_now(self):
        linear, angular = self.speed()
        return (
            linear < 0.01 and angular < 0.02 and (not self.reaches or bool(self.joints) and self.joints[-1][2] < 0.01)
        )

    def arm_at_rest_at(self, moment):
        """The true joints' last five samples before a moment (time.time()) show rest."""
        self.until(lambda: self.joints[-1][0] >= moment, 10.0, "the joints' truth of that moment")
        before = [v for at, _, v in self.joints if at <= moment][-5:]
        return len(before) == 5 and max(before) < 0.011

    def arm(self):
        """Where the arm truly is, by joint."""
        return self.joints[-1][1]

    def moved(self):
        """How far the base truly is from where it began, m and rad."""
        x, y, yaw = self.pose()
        return math.hypot(x, y), abs(math.remainder(yaw, 2 * math.pi))

    def command(self, *words, timeout=120):
        """A command of the program, run in the rig's domain: its exit code and what it printed."""
        run = subprocess.run(
            [str(BUILD / "agent_node"), *map(str, words)], env=self.env, capture_output=True, text=True, timeout=timeout
        )
        return run.returncode, run.stdout + run.stderr


def wait_still(rig, seconds):
    """Nothing moves on: the truth shows rest for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert rig.still_now(), f"it moves: {rig.speed()}"
        time.sleep(0.05)
