"""The built-in robot and the node as two processes, and a rclpy peer that watches and asks.

What tests judge by are /sim/ground_truth and /sim/counters, which no fault touches.
"""

import math
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import rclpy
from action_msgs.msg import GoalStatus
from agent_msgs.action import ExecuteTask
from agent_msgs.msg import ActuatorState, AgentState, ApprovalRequest, TraceEvent
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
READY = 60.0  # s, for a process to come up on a busy machine

# What counts as rest in the truth: the rule's thresholds and a little for rounding.
REST_LINEAR, REST_ANGULAR = 0.011, 0.022


def free_domain() -> int:
    """A ROS domain (1 to 101) whose first participant's ports nobody on this machine has taken."""
    for step in range(101):
        domain = 1 + (os.getpid() * 7 + free_domain.count + step) % 101
        free_domain.count += 1
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", 7410 + 250 * domain))
                return domain
            except OSError:
                continue
    raise RuntimeError("every ROS domain is taken")


free_domain.count = 0


class Process:
    """A program under test; its output goes to a file that a failing test shows."""

    def __init__(self, name, arguments, log, env):
        self.name, self.log = name, log
        self.file = open(log, "ab")
        self.popen = subprocess.Popen([str(BUILD / name), *arguments], stdout=self.file, stderr=subprocess.STDOUT, env=env, cwd=log.parent)

    def alive(self):
        return self.popen.poll() is None

    def kill(self):
        if self.alive():
            self.popen.kill()
        self.popen.wait(10)

    def stop(self, sig=signal.SIGINT, timeout=60.0):
        """Ends the program by a signal and returns its exit code."""
        if self.alive():
            self.popen.send_signal(sig)
        try:
            return self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end within {timeout} s of {sig!r}") from None
        finally:
            self.file.close()

    def text(self):
        return self.log.read_text(errors="replace")


class Goal:
    """A goal on its way: its feedback, its result and when both came."""

    def __init__(self, rig, request):
        self.rig, self.request = rig, request
        self.feedback = []
        self.accepted = None
        self.handle = None
        self.status = self.result = self.ended = None
        self.sent = time.monotonic()
        self._answered, self._done = threading.Event(), threading.Event()
        rig.actions.send_goal_async(request, feedback_callback=self._on_feedback).add_done_callback(self._on_answer)

    def _on_feedback(self, message):
        self.feedback.append((time.monotonic(), message.feedback))

    def _on_answer(self, future):
        self.handle = future.result()
        self.accepted = self.handle.accepted
        self._answered.set()
        if self.accepted:
            self.handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future):
        self.ended = time.time()
        answer = future.result()
        self.status, self.result = answer.status, answer.result
        self._done.set()

    def answered(self, timeout=20.0):
        assert self._answered.wait(timeout), f"no answer to the goal within {timeout} s"
        return self.accepted

    def cancel(self):
        self.answered()
        return self.rig.wait(self.handle.cancel_goal_async(), 20.0)

    def wait(self, timeout=90.0):
        """The result; the test fails where none comes in time."""
        self.answered()
        assert self.accepted, "the goal was rejected"
        assert self._done.wait(timeout), f"no result within {timeout} s\n{self.rig.logs()}"
        return self.result

    def session(self):
        return bytes(self.handle.goal_id.uuid).hex()


OUTCOMES = {v: k for k, v in vars(ExecuteTask.Result).items() if k.isupper() and isinstance(v, int)}


class Rig:
    """Everything of one test. Close it."""

    def __init__(self, folder: Path, node_params=None, sim_params=None, node=True, sim=True, namespace=None, sim_args=()):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.domain = free_domain()
        self.env = {**os.environ, "ROS_DOMAIN_ID": str(self.domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        self.processes = []
        self.sim = self.agent = None
        self.truth, self.counts, self.states, self.traces, self.approvals = [], {}, [], [], []
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=self.domain)
        self.node = rclpy.create_node("peer", context=self.context)
        self.executor = MultiThreadedExecutor(4, context=self.context)
        self.executor.add_node(self.node)
        self.spinner = threading.Thread(target=self._spin, daemon=True)
        self.name = f"/{namespace}/agent_node" if namespace else "/agent_node"
        self._watch()
        self.spinner.start()
        if sim:
            self.start_sim(sim_params, sim_args)
        if node:
            self.start_node(node_params, namespace)

    def _spin(self):
        try:
            self.executor.spin()
        except Exception:  # the context ends under the executor when the rig closes
            pass

    def _watch(self):
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        n = self.node
        n.create_subscription(Odometry, "/sim/ground_truth", self._on_truth, 50)
        n.create_subscription(DiagnosticArray, "/sim/counters", self._on_counters, 10)
        n.create_subscription(AgentState, f"{self.name}/state", lambda m: self.states.append((time.monotonic(), m)), latched)
        n.create_subscription(ApprovalRequest, f"{self.name}/approvals", self.approvals.append, latched)
        n.create_subscription(TraceEvent, f"{self.name}/trace", self.traces.append, 1000)
        self.actions = ActionClient(n, ExecuteTask, f"{self.name}/execute_task")

    def _on_truth(self, m):
        self.truth.append((time.monotonic(), m))

    def _on_counters(self, m):
        self.counts = {v.key: int(v.value) for s in m.status for v in s.values}

    # Programs.

    def start_sim(self, params=None, arguments=()):
        self.sim = self._start("sim_robot", params, arguments)
        self.until(lambda: self.truth and self.counts, READY, "the built-in robot to come up")

    def start_node(self, params=None, namespace=None, wait=True):
        params = {"trace.dir": str(self.folder / "traces"), "profile": str(ROOT / "config" / "sim_robot.yaml"), **(params or {})}
        extra = ["-r", f"__ns:=/{namespace}"] if namespace else []
        self.agent = self._start("agent_node", params, extra)
        if wait:
            assert self.actions.wait_for_server(READY), f"the node did not become active\n{self.logs()}"
            self.until(lambda: self.actuator("base") == ActuatorState.HOLDING, READY, "the base to be seen at rest")

    def _start(self, name, params, extra):
        arguments = ["--ros-args", *extra]
        for key, value in (params or {}).items():
            arguments += ["-p", f"{key}:={str(value).lower() if isinstance(value, bool) else value}"]
        process = Process(name, arguments, self.folder / f"{name}.log", self.env)
        self.processes.append(process)
        return process

    def logs(self):
        return "\n".join(f"--- {p.name}\n{p.text()[-4000:]}" for p in self.processes)

    # Questions.

    def until(self, condition, timeout, what):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, f"waited {timeout} s for {what}\n{self.logs()}"
            time.sleep(0.01)

    def wait(self, future, timeout):
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        assert done.wait(timeout), f"no answer within {timeout} s"
        return future.result()

    def call(self, kind, name, request, timeout=30.0):
        client = self.node.create_client(kind, name)
        try:
            assert client.wait_for_service(READY), f"no service {name}"
            return self.wait(client.call_async(request), timeout)
        finally:
            self.node.destroy_client(client)

    def trigger(self, name, timeout=30.0):
        return self.call(Trigger, f"{self.name}/{name}", Trigger.Request(), timeout)

    def set_sim(self, **params):
        """Sets parameters of the built-in robot; fault_x stands for fault.x."""
        request = SetParameters.Request()
        for key, value in params.items():
            key = key.replace("fault_", "fault.", 1).replace("sim_", "sim.", 1)
            v = ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=value) if isinstance(value, bool) else (
                ParameterValue(type=ParameterType.PARAMETER_DOUBLE_ARRAY, double_array_value=value) if isinstance(value, list)
                else ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=float(value)))
            request.parameters.append(Parameter(name=key, value=v))
        answer = self.call(SetParameters, "/sim_robot/set_parameters", request)
        for r in answer.results:
            assert r.successful, r.reason

    def goal(self, task, **fields):
        return Goal(self, ExecuteTask.Goal(task=task, **fields))

    def run(self, task, timeout=90.0, **fields):
        g = self.goal(task, **fields)
        g.wait(timeout)
        return g

    def actuator(self, name):
        """The newest state of an actuator, as ~/state says it."""
        for _, m in reversed(self.states):
            for a in m.actuators:
                if a.name == name:
                    return a.state
        return None

    def counters(self):
        """The counters, newer than now."""
        self.counts = {}
        self.until(lambda: self.counts, 10.0, "counters")
        return dict(self.counts)

    # The truth.

    def speed(self):
        t = self.truth[-1][1].twist.twist
        return math.hypot(t.linear.x, t.linear.y), abs(t.angular.z)

    def moving(self, timeout=30.0):
        """Waits until the robot truly moves."""
        self.until(lambda: self.speed()[0] > 0.1 or self.speed()[1] > 0.2, timeout, "the robot to move")

    def pose(self):
        p = self.truth[-1][1].pose.pose
        return p.position.x, p.position.y, 2 * math.atan2(p.orientation.z, p.orientation.w)

    def at_rest_at(self, moment, samples=5):
        """True if the truth's last samples stamped before a moment (time.time()) all show rest."""
        self.until(lambda: self.truth and stamp(self.truth[-1][1]) >= moment, 10.0, "the truth of that moment")
        before = [m for _, m in self.truth if stamp(m) <= moment][-samples:]
        assert len(before) == samples, "not enough samples of the truth"
        return all(
            math.hypot(m.twist.twist.linear.x, m.twist.twist.linear.y) <= REST_LINEAR and abs(m.twist.twist.angular.z) <= REST_ANGULAR
            for m in before)

    def at_rest_now(self):
        """Waits for five new samples of the truth and judges them."""
        time.sleep(0.2)
        return self.at_rest_at(time.time())

    def at(self, x, y, tolerance=0.25):
        px, py, _ = self.pose()
        return math.hypot(px - x, py - y) <= tolerance

    def close(self):
        codes = {}
        try:
            for p in reversed(self.processes):
                if p.alive():
                    codes[p.name] = p.stop()
        finally:
            for p in self.processes:
                p.kill()
            self.executor.shutdown(2.0)
            self.context.try_shutdown()
            self.spinner.join(5.0)
        assert all(c == 0 for c in codes.values()), f"exit codes {codes}\n{self.logs()}"


def stamp(m):
    """A message's stamp in seconds."""
    return m.header.stamp.sec + m.header.stamp.nanosec * 1e-9


PLACES = {"kitchen": (1.4, 1.5), "office": (-3.0, 1.5), "dock": (-1.6, -1.5), "table": (2.25, -1.6)}

STATUS = {
    "SUCCEEDED": GoalStatus.STATUS_SUCCEEDED,
    "CANCELED": GoalStatus.STATUS_CANCELED,
    "ABORTED": GoalStatus.STATUS_ABORTED,
}


def outcome(result):
    return OUTCOMES[result.outcome]
