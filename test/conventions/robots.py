"""Several robots in one domain, each with a node in its namespace."""

import time

from agent_msgs.action import ExecuteTask
from agent_msgs.msg import ActuatorState, AgentState
from processes import ROOT
from rclpy.action import ActionClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from rig import READY, Rig

from goals import Goal
from truth import Truth, still


class One:
    """One robot of several: /NAME/sim_robot and /NAME/agent_node."""

    def __init__(self, rig, name, profile=ROOT / "config" / "sim_robot.yaml", node_params=None):
        self.rig, self.name, self.states = rig, name, []
        self.truth = Truth(rig.node, f"/{name}")
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        rig.node.create_subscription(AgentState, f"/{name}/agent_node/state", self.states.append, latched)
        self.actions = ActionClient(rig.node, ExecuteTask, f"/{name}/agent_node/execute_task")
        ns = ["-r", f"__ns:=/{name}"]
        self.sim = rig.start("sim_robot", {"frame_prefix": f"{name}/"}, ns, log=f"sim_{name}")
        params = {
            "robot_namespace": f"/{name}",
            "frame_prefix": f"{name}/",
            "profile": profile,
            "wait_for_bindings": 5.0,
        }
        params["trace.dir"] = rig.folder / f"traces_{name}"
        self.agent = rig.start("agent_node", {**params, **(node_params or {})}, ns, log=f"node_{name}")

    def ready(self):
        self.rig.until(lambda: self.truth.samples and self.truth.counts, READY, f"robot {self.name}")
        assert self.actions.wait_for_server(READY), self.logs()
        self.rig.until(lambda: self.holding(), READY, f"the actuators of {self.name} to hold")

    def holding(self):
        return self.states and all(a.state == ActuatorState.HOLDING for a in self.states[-1].actuators)

    # What a Goal asks of its rig.
    def asked(self, ask):
        return self.rig.asked(ask)

    def wait(self, future, timeout):
        return self.rig.wait(future, timeout)

    def logs(self):
        return self.rig.logs()

    def goal(self, task, **fields):
        return Goal(self, ExecuteTask.Goal(task=task, **fields))

    def counters(self):
        self.truth.counts = {}
        self.rig.until(lambda: self.truth.counts, 10.0, "counters")
        return dict(self.truth.counts)

    def moving(self, timeout=30.0):
        self.rig.until(lambda: max(self.truth.speed()) > 0.1, timeout, f"{self.name} to move")

    def still(self):
        return still(self.truth.newest())

    def path_since(self, moment):
        return self.truth.path(moment)

    def rests(self, seconds=1.0):
        """Whether it truly stands, and does not move for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not self.still():
                return False
            time.sleep(0.02)
        return True


class Fleet(Rig):
    """A rig of several robots, by name."""

    def __init__(self, folder):
        super().__init__(folder, node=False, sim=False)
        self.robots = {}

    def add(self, name, **how):
        self.robots[name] = One(self, name, **how)
        return self.robots[name]

    def ready(self):
        for r in self.robots.values():
            r.ready()
