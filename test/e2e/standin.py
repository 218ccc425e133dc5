"""A base and a navigator that a test plays: what they do wrong is up to the test.

The base drives along x only. Its truth goes out as the built-in robot's does, so that a rig judges it alike.
The navigator is made of the action's own services and topics: a library would do too much right.
"""

import math
import random
import threading
import time

import rclpy
from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import TransformStamped, Twist
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Odometry
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from tf2_msgs.msg import TFMessage

PERIOD = 0.04  # s, of the odometry
BRAKE = 1.0  # m/s^2
SILENCE = 0.5  # s without a velocity, after which the base brakes
MUX_SILENCE = 20  # velocities of the navigator (20 Hz) without another one, after which a mux lets it drive again


class Base:
    """The base: it follows velocities, by /cmd_vel or by the navigator."""

    def __init__(self, node, odometry, command):
        self.node = node
        self.x = self.v = self.target = 0.0
        self.heard = 0.0
        self.deaf = False  # to zeros
        self.dumb = False  # no odometry
        self.parrot = False  # the last odometry over and over
        self.zeros, self.nonzero = [], 0  # when zeros came; how many others
        self.taken_over = lambda: None
        self.unheard = 0  # how many of the navigator's velocities have come since
        self.mux = False  # as behind a multiplexer: velocities win over the navigator's while they come, and only then
        self.lock = threading.Lock()
        self.now = lambda: node.get_clock().now().to_msg()
        self.odometry = node.create_publisher(Odometry, "/odom", odometry)
        self.truth = node.create_publisher(Odometry, "/sim/ground_truth", 10)
        self.counters = node.create_publisher(DiagnosticArray, "/sim/counters", 10)
        self.tf = node.create_publisher(TFMessage, "/tf", 10)
        self.last = None
        node.create_subscription(Twist, command, self._on_velocity, 10, callback_group=ReentrantCallbackGroup())
        self.count = 0
        self.jitter = 0.0
        self.over = threading.Event()
        self.wheels = threading.Thread(target=self._turn, daemon=True)

    def _turn(self):
        """At a steady rate, whatever the executor is busy with."""
        due = time.monotonic()
        while not self.over.is_set():
            self._step()
            due = max(due + PERIOD, time.monotonic() - PERIOD)
            time.sleep(max(0.0, due - time.monotonic()))

    def _on_velocity(self, m):
        with self.lock:
            if m.linear.x == 0.0 and m.angular.z == 0.0:
                self.zeros.append(time.monotonic())
                if self.deaf:
                    return
            else:
                self.nonzero += 1
            self.target, self.heard, self.unheard = m.linear.x, time.monotonic(), 0
        self.taken_over()

    def drive(self, v):
        """The navigator's own way to the wheels."""
        with self.lock:
            self.unheard += 1  # counted, not timed: a machine that is too busy for the one is so for the other
            if self.mux and self.unheard < MUX_SILENCE:
                return
            self.target, self.heard = v, math.inf

    def _step(self):
        with self.lock:
            if time.monotonic() - self.heard > SILENCE and not self.deaf:
                self.target = 0.0
            step = BRAKE * PERIOD
            self.v += min(max(self.target - self.v, -step), step)
            self.x += self.v * PERIOD
            x, v = self.x, self.v
        m = Odometry()
        m.header.stamp = self.now()
        m.header.frame_id, m.child_frame_id = "odom", "base_link"
        m.pose.pose.orientation.w = 1.0
        m.pose.pose.position.x, m.twist.twist.linear.x = x, v
        self.truth.publish(m)
        self.count += 1
        if self.count % 5 == 0:
            values = [KeyValue(key="/cmd_vel", value=str(self.nonzero))]
            self.counters.publish(DiagnosticArray(status=[DiagnosticStatus(name="stand-in", values=values)]))
        if self.dumb:
            return
        if not self.parrot or self.last is None:
            # A sensor's noise: at rest the values are alive.
            m.pose.pose.position.x = x + random.gauss(0.0, 2e-4)
            m.twist.twist.linear.x = v + random.gauss(0.0, 5e-4)
            self.last = m
        if self.jitter:
            time.sleep(random.uniform(0.0, self.jitter))
        self.odometry.publish(self.last)
        self.tf.publish(
            TFMessage(
                transforms=[
                    self._link("map", "odom", 0.0, m),
                    self._link("odom", "base_link", self.last.pose.pose.position.x, self.last),
                ]
            )
        )

    @staticmethod
    def _link(parent, child, x, m):
        t = TransformStamped(child_frame_id=child)
        t.header.stamp, t.header.frame_id = m.header.stamp, parent
        t.transform.translation.x, t.transform.rotation.w = x, 1.0
        return t


class Navigator:
    """A server of /navigate_to_pose. What it does on a goal, on a cancel and when asked for the result are functions
    that a test may replace; they run in threads of their own and may sleep."""

    def __init__(self, node, base, speed=0.3):
        self.node, self.base, self.speed = node, base, speed
        self.goals, self.cancels = [], 0
        self.running = None  # the goal that drives
        self.accept = lambda: True
        self.on_goal = self.go
        self.on_cancel = self.halt
        self.answers_result = True
        self.heedless = False  # it drives on when a cancel was accepted
        self.over = base.over
        base.taken_over = lambda: self.end(GoalStatus.STATUS_ABORTED, "taken over")
        self.open()

    def open(self):
        n, kind, name = self.node, NavigateToPose.Impl, "/navigate_to_pose/_action"
        self.group = ReentrantCallbackGroup()
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.services = [
            n.create_service(kind.SendGoalService, f"{name}/send_goal", self._send, callback_group=self.group),
            n.create_service(CancelGoal, f"{name}/cancel_goal", self._cancel, callback_group=self.group),
            n.create_service(kind.GetResultService, f"{name}/get_result", self._result, callback_group=self.group),
        ]
        self.feedback = n.create_publisher(kind.FeedbackMessage, f"{name}/feedback", 10)
        self.status = n.create_publisher(GoalStatusArray, f"{name}/status", latched)
        self.known = {}  # goal id -> [status, message, ended]

    def close(self):
        """Gone, with all that it knew."""
        for s in self.services:
            self.node.destroy_service(s)
        for p in (self.feedback, self.status):
            self.node.destroy_publisher(p)
        self.running, self.known = None, {}

    def _send(self, request, response):
        id = bytes(request.goal_id.uuid)
        self.goals.append(id)
        response.accepted = self.accept()
        response.stamp = self.node.get_clock().now().to_msg()
        if response.accepted:
            self.known[id] = [GoalStatus.STATUS_EXECUTING, "", threading.Event()]
            self.running = id
            x = request.goal.pose.pose.position.x
            threading.Thread(target=self.on_goal, args=(id, x), daemon=True).start()
        return response

    def _cancel(self, request, response):
        self.cancels += 1
        id = bytes(request.goal_info.goal_id.uuid)
        if id not in self.known:
            response.return_code = CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID
            return response
        if self.known[id][0] != GoalStatus.STATUS_EXECUTING:
            response.return_code = CancelGoal.Response.ERROR_GOAL_TERMINATED
            return response
        self.known[id][0] = GoalStatus.STATUS_CANCELING
        response.goals_canceling = [GoalInfo(goal_id=request.goal_info.goal_id)]
        self.on_cancel(id)
        return response

    def _result(self, request, response):
        id = bytes(request.goal_id.uuid)
        goal = self.known.get(id)
        while goal and not self.over.is_set() and not (goal[2].wait(0.05) and self.answers_result):
            self.over.wait(0.05)
        response.status = goal[0] if goal else GoalStatus.STATUS_UNKNOWN
        if goal and goal[1]:
            response.result.error_code, response.result.error_msg = 100, goal[1]
        return response

    def end(self, status, message="", id=None):
        id = id or self.running
        goal = self.known.get(id)
        if not goal or goal[2].is_set():
            return
        goal[0], goal[1] = status, message
        if self.running == id:
            self.running = None
        goal[2].set()
        self.tell()

    def tell(self):
        """The status of every goal, as the status topic has it."""
        array = GoalStatusArray()
        for id, goal in self.known.items():
            s = GoalStatus(status=goal[0])
            s.goal_info.goal_id.uuid = list(id)
            array.status_list.append(s)
        self.status.publish(array)

    # What it ordinarily does.

    def go(self, id, x):
        """Drives there, with feedback, and succeeds."""
        self.tell()
        while self.running == id:
            left = x - self.base.x
            if abs(left) < 0.03:
                self.base.drive(0.0)
                time.sleep(0.3)
                self.end(GoalStatus.STATUS_SUCCEEDED, id=id)
                return
            if self.known[id][0] == GoalStatus.STATUS_EXECUTING or self.heedless:
                self.base.drive(math.copysign(min(self.speed, abs(left) + 0.03), left))
            m = NavigateToPose.Impl.FeedbackMessage()
            m.goal_id.uuid = list(id)
            self.feedback.publish(m)
            time.sleep(0.05)

    def halt(self, id):
        """Stops, and is canceled 0.4 s later."""
        self.base.drive(0.0)
        threading.Timer(0.4, self.end, (GoalStatus.STATUS_CANCELED, "", id)).start()


class StandIn:
    """Base and navigator on a node and an executor of their own, in a rig's domain."""

    def __init__(self, rig, best_effort=False, command="/cmd_vel", navigator=True):
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=rig.domain)
        self.node = rclpy.create_node("stand_in", context=self.context)
        qos = QoSProfile(
            depth=10, reliability=ReliabilityPolicy.BEST_EFFORT if best_effort else ReliabilityPolicy.RELIABLE
        )
        self.base = Base(self.node, qos, command)
        self.navigator = Navigator(self.node, self.base) if navigator else None
        self.executor = MultiThreadedExecutor(12, context=self.context)  # each question for a result holds one
        self.executor.add_node(self.node)
        self.base.wheels.start()
        self.thread = threading.Thread(target=self._spin, daemon=True)
        self.thread.start()

    def _spin(self):
        try:
            self.executor.spin()
        except Exception:  # the context ends under the executor
            pass

    def close(self):
        self.base.over.set()
        self.base.wheels.join(5.0)
        self.executor.shutdown(2.0)
        self.context.try_shutdown()
        self.thread.join(5.0)
