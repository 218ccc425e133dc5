"""The built-in robot and the node as two processes, and a rclpy peer that watches and asks.

What tests judge by are /sim/ground_truth and /sim/counters, which no fault touches.
"""

import os
import sys
import threading
import time
from pathlib import Path

import rclpy
from agent_msgs.action import ExecuteTask
from agent_msgs.msg import ActuatorState, AgentState, ApprovalRequest, TraceEvent
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

from goals import Goal
from processes import ROOT, Domain, Process
from truth import Truth, stamp, still

READY = 60.0  # s, for a process to come up on a busy machine
DOCK = [-1.6, -1.5, 0.0]

SWITCHES = (
    *(f"fault.{f}" for f in ("freeze_odom", "stale_stamps", "stop_odom", "nan_odom", "drop_feedback", "late_result")),
    *(f"fault.{f}" for f in ("refuse_cancel", "ignore_cancel", "protective_stop", "action_server_down")),
    "sim.estop",
)
LEVELS = ("fault.drift", "fault.slow_accept")


class Rig:
    """Everything of one test. Close it."""

    # The robot: what is run in place of build/sim_robot, and its faults.
    robot_program = None
    switches, levels = SWITCHES, LEVELS

    def __init__(self, folder: Path, node_params=None, sim_params=None, node=True, sim=True, namespace=None):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.claim = Domain()
        self.domain = self.claim.number
        self.env = {**os.environ, "ROS_DOMAIN_ID": str(self.domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        self.processes = []
        self.sim = self.agent = None
        self.states, self.traces, self.approvals, self.diagnostics = [], [], [], []
        self.clients = {}
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=self.domain)
        self.node = rclpy.create_node("peer", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.spinner = threading.Thread(target=self._spin, daemon=True)
        self.name = f"/{namespace}/agent_node" if namespace else "/agent_node"
        self._watch()
        self.spinner.start()
        try:
            if sim:
                self.start_sim(sim_params)
            if node:
                self.start_node(node_params, namespace)
        except BaseException:
            self.abandon()
            raise

    def _spin(self):
        while self.context.ok():
            try:
                self.executor.spin()
            except Exception as e:  # the context ends under the executor when the rig closes
                if self.context.ok():
                    print("the peer's executor:", repr(e), file=sys.stderr)

    def _watch(self):
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        n = self.node
        self.truth = Truth(n)
        n.create_subscription(
            AgentState, f"{self.name}/state", lambda m: self.states.append((time.monotonic(), m)), latched
        )
        n.create_subscription(ApprovalRequest, f"{self.name}/approvals", self.approvals.append, latched)
        n.create_subscription(TraceEvent, f"{self.name}/trace", self.traces.append, 1000)
        n.create_subscription(DiagnosticArray, "/diagnostics", self.diagnostics.append, 10)
        self.actions = ActionClient(n, ExecuteTask, f"{self.name}/execute_task")

    # Programs.

    def start_sim(self, params=None, remaps=()):
        self.truth.samples, self.truth.counts = [], {}
        extra = [word for r in remaps for word in ("-r", r)]
        self.sim = self.start("sim_robot", params, extra, program=self.robot_program)
        self.until(lambda: self.truth.samples and self.truth.counts, READY, "the built-in robot to come up")
        self.counted = dict(self.truth.counts)

    def start_node(self, params=None, namespace=None, wait=True):
        params = {
            "trace.dir": str(self.folder / "traces"),
            "profile": str(ROOT / "config" / "sim_robot.yaml"),
            **(params or {}),
        }
        extra = ["-r", f"__ns:=/{namespace}"] if namespace else []
        self.states = []
        before = self.servers()
        self.agent = self.start("agent_node", params, extra)
        if wait:
            # One that was killed stays in the graph for a while, and would take the goals with it.
            self.until(lambda: self.servers() - before, READY, "the node to become active")
            assert self.actions.wait_for_server(READY), f"the node did not become active\n{self.logs()}"
            self.until_actuator(ActuatorState.HOLDING, READY)

    def servers(self):
        """The endpoints in the graph that take goals."""
        topic = f"rq{self.name}/execute_task/_action/send_goalRequest"
        return {bytes(i.endpoint_gid) for i in self.node.get_subscriptions_info_by_topic(topic, no_mangle=True)}

    def start(self, name, params=None, extra=(), subcommand=None, program=None, log=None):
        arguments = [subcommand] if subcommand else []
        arguments += ["--ros-args", *extra]
        for key, value in (params or {}).items():
            arguments += ["-p", f"{key}:={str(value).lower() if isinstance(value, bool) else value}"]
        process = Process(name, arguments, self.folder / f"{log or subcommand or name}.log", self.env, program)
        self.processes.append(process)
        return process

    def logs(self):
        return "\n".join(f"--- {p.log.stem}\n{p.text()[-6000:]}" for p in self.processes)

    def fresh(self):
        """The same rig as at the start, for the next test: no fault, nothing under way, the robot at the dock."""
        assert self.sim.alive() and self.agent.alive(), f"a program has died\n{self.logs()}"
        self.mend()
        self.trigger("resume")
        self.until(lambda: still(self.truth.newest()), 20.0, "the robot to stand")
        self.put(*DOCK)
        # Of the odometry's faults a window of measurements must pass.
        self.until(lambda: self.trigger("reset").success, 30.0, "the node to take a reset")
        self.until_actuator(ActuatorState.HOLDING, 20.0)
        self.counted = self.counters()
        self.traces.clear()
        self.approvals.clear()
        self.diagnostics.clear()
        del self.states[:-1]

    # Questions.

    def until(self, condition, timeout, what):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, f"waited {timeout} s for {what}\n{self.logs()}"
            time.sleep(0.01)

    def asked(self, ask):
        """What a function returns that the executor itself calls. A question must be asked, and an entity destroyed, by
        it alone: rclpy takes an answer that comes before it has noted down the question for somebody else's, and
        stumbles over what vanishes while it waits."""
        return self.wait(self.executor.create_task(ask), 20.0)

    def wait(self, future, timeout):
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        assert done.wait(timeout), f"no answer within {timeout} s"
        return future.result()

    def call_async(self, kind, name, request):
        client = self.clients.get(name)
        if client is None:
            client = self.clients[name] = self.node.create_client(kind, name)
        assert client.wait_for_service(READY), f"no service {name}\n{self.logs()}"
        return self.asked(lambda: client.call_async(request))

    def call(self, kind, name, request, timeout=30.0):
        return self.wait(self.call_async(kind, name, request), timeout)

    def trigger(self, name, timeout=30.0):
        return self.call(Trigger, f"{self.name}/{name}", Trigger.Request(), timeout)

    def set_sim(self, **params):
        """Sets parameters of the built-in robot: set_sim(**{"fault.drift": 0.1})."""
        request = SetParameters.Request(parameters=[Parameter(name=k, value=value_of(v)) for k, v in params.items()])
        answer = self.call(SetParameters, "/sim_robot/set_parameters", request)
        for r in answer.results:
            assert r.successful, r.reason

    def fault(self, name, value=True):
        self.set_sim(**{f"fault.{name}": value})

    def put(self, x, y, yaw):
        """Puts the robot down elsewhere; the truth begins anew with enough samples there to judge rest by."""
        self.set_sim(**{"sim.teleport": [float(x), float(y), float(yaw)]})
        self.until(lambda: self.at(x, y, 0.001), 10.0, "the truth to show the robot where it was put")
        self.truth.samples = self.truth.samples[-1:]
        self.until(lambda: len(self.truth.samples) > 12, 10.0, "some of the truth")

    def set_node(self, **params):
        request = SetParameters.Request(parameters=[Parameter(name=k, value=value_of(v)) for k, v in params.items()])
        return self.call(SetParameters, f"{self.name}/set_parameters", request).results

    def transition(self, word):
        """A transition of the managed node: configure, activate, deactivate, cleanup, shutdown."""
        request = ChangeState.Request(transition=Transition(label=word))
        return self.call(ChangeState, f"{self.name}/change_state", request, 60.0).success

    def lifecycle(self):
        """The managed node's state: unconfigured, inactive, active or finalized."""
        return self.call(GetState, f"{self.name}/get_state", GetState.Request()).current_state.label

    def reconfigure(self, **params):
        """Takes the node down to unconfigured, sets parameters and takes it up again."""
        assert self.transition("deactivate") and self.transition("cleanup"), self.logs()
        for r in self.set_node(**params):
            assert r.successful, r.reason
        assert self.transition("configure") and self.transition("activate"), self.logs()
        assert self.actions.wait_for_server(READY), self.logs()
        self.until_actuator(ActuatorState.HOLDING, READY)

    def goal(self, task, **fields):
        return Goal(self, ExecuteTask.Goal(task=task, **fields))

    def run(self, task, timeout=90.0, **fields):
        g = self.goal(task, **fields)
        g.wait(timeout)
        return g

    def actuator(self, name="base"):
        """The newest state of an actuator, as ~/state says it."""
        for _, m in reversed(self.states):
            for a in m.actuators:
                if a.name == name:
                    return a.state
        return None

    def until_actuator(self, state, timeout=20.0, name="base"):
        self.until(lambda: self.actuator(name) == state, timeout, f"actuator {name} to be in state {state}")

    def actuator_path(self, name="base"):
        """The states that ~/state showed of an actuator, in order, without repetition."""
        path = []
        for _, m in list(self.states):
            for a in m.actuators:
                if a.name == name and (not path or path[-1] != a.state):
                    path.append(a.state)
        return path

    def level(self, name="base"):
        """The newest level that diagnostics give an actuator."""
        for m in reversed(self.diagnostics):
            for s in m.status:
                if s.name.endswith(f"actuator {name}"):
                    return s.level
        return None

    # The truth.

    def counters(self):
        """The counters, newer than now."""
        self.truth.counts = {}
        self.until(lambda: self.truth.counts, 10.0, "counters")
        return dict(self.truth.counts)

    def commanded(self):
        """What the robot was sent since the test began, by name: goals, and commands other than zero."""
        return {k: v - self.counted[k] for k, v in self.counters().items() if v != self.counted[k]}

    def speed(self):
        return self.truth.speed()

    def moving(self, timeout=30.0):
        """Waits until the robot truly moves."""
        self.until(lambda: self.speed()[0] > 0.1 or self.speed()[1] > 0.2, timeout, "the robot to move")

    def pose(self):
        return self.truth.pose()

    def at_rest_at(self, moment, samples=5):
        """True if the truth's last samples stamped before a moment (time.time()) all show rest."""
        self.until(lambda: stamp(self.truth.newest()) >= moment, 10.0, "the truth of that moment")
        before = self.truth.before(moment, samples)
        assert len(before) == samples, "not enough samples of the truth"
        return all(still(m) for m in before)

    def at_rest_now(self):
        """Waits for five new samples of the truth and judges them."""
        time.sleep(0.2)
        return self.at_rest_at(time.time())

    def at(self, x, y, tolerance=0.25):
        px, py, _ = self.pose()
        return abs(complex(px - x, py - y)) <= tolerance

    def mend(self):
        """Takes all faults back, so that the node can see the robot come to rest."""
        if self.sim is not None and self.sim.alive():
            self.set_sim(**dict.fromkeys(self.switches, False), **dict.fromkeys(self.levels, 0.0))

    def settle(self):
        """Takes all faults back and acknowledges what they left, so that the node can end well."""
        self.mend()
        if self.agent is not None and self.agent.alive() and self.lifecycle() == "active":
            self.trigger("reset")

    def close(self):
        codes = {}
        try:
            # The node first: it cannot see the robot rest once that is gone.
            for p in sorted(self.processes, key=lambda p: p.name != "agent_node"):
                if p.alive():
                    codes[p.log.stem] = p.stop()
        finally:
            self.abandon()
        assert all(c == 0 for c in codes.values()), f"exit codes {codes}\n{self.logs()}"

    def abandon(self):
        """Leaves nothing running, whatever state it is in."""
        for p in self.processes:
            p.kill()
        self.executor.shutdown(2.0)
        self.context.try_shutdown()
        self.spinner.join(5.0)
        self.claim.release()


def value_of(v):
    kinds = {
        bool: ("BOOL", "bool_value"),
        int: ("INTEGER", "integer_value"),
        float: ("DOUBLE", "double_value"),
        str: ("STRING", "string_value"),
        list: ("DOUBLE_ARRAY", "double_array_value"),
    }
    kind, field = kinds[type(v)]
    return ParameterValue(type=getattr(ParameterType, f"PARAMETER_{kind}"), **{field: v})
