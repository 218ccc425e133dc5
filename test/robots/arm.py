"""An arm and a gripper as ros2_control shows them: joint_trajectory_controller, joint_state_broadcaster, a gripper
controller, the signals of Universal Robots' driver. The truth is integrated here."""

import math
import threading
import time

from control_msgs.action import FollowJointTrajectory, GripperCommand, ParallelGripperCommand
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, String

import description
from description import FINGER, JOINTS, OPEN
from server import ABORTED, CANCELED, SUCCEEDED, Server

STEP = 0.02  # s
BRAKE = 0.2  # s, in which a canceled motion comes to rest on its path
FINGER_SPEED = 0.05  # m/s
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
READY = [0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0]
CARRY = [0.0, -2.2, 2.4, -1.7708, -1.5708, 0.0]


def at(points, t):
    """Positions of a trajectory at a time: cubic where velocities are given, else linear; the last one holds."""
    (t0, p0, v0) = points[0]
    for t1, p1, v1 in points[1:]:
        if t < t1:
            h, s = t1 - t0, (t - t0) / (t1 - t0)
            if not v0 or not v1:
                return [a + (b - a) * s for a, b in zip(p0, p1, strict=True)]
            return [
                (2 * s**3 - 3 * s**2 + 1) * a
                + (s**3 - 2 * s**2 + s) * h * va
                + (3 * s**2 - 2 * s**3) * b
                + (s**3 - s**2) * h * vb
                for a, b, va, vb in zip(p0, p1, v0, v1, strict=True)
            ]
        t0, p0, v0 = t1, p1, v1
    return list(p0)


class Arm:
    """The arm and its controllers."""

    def __init__(self, nodes, habits, truth, new_gripper, mobile):
        self.habits, self.truth = habits, truth
        self.lock = threading.Lock()
        self.q = list(CARRY if mobile else READY)
        self.dq = [0.0] * 6
        self.finger, self.finger_speed, self.wanted = 0.0, 0.0, 0.0
        self.thing = 0.0  # m, how wide what is between the fingers is
        self.active = None  # the goal that moves
        self.points, self.elapsed, self.rate = (
            [],
            0.0,
            1.0,
        )  # of the trajectory that is followed; rate falls to 0 after a cancel
        self.scaling = 1.0
        self.over = threading.Event()
        self.driver = nodes("joint_state_broadcaster")
        self.states = None
        self.tell_states()
        text = description.driving() if mobile else description.standing()
        self.described = nodes("robot_state_publisher").create_publisher(String, "/robot_description", LATCHED)
        self.described.publish(String(data=text))
        controller = nodes("joint_trajectory_controller", parameters=True)
        # In an order of its own, as configurations have them.
        controller.declare_parameter("joints", [*JOINTS[2:], *JOINTS[:2]])
        hand = nodes("gripper_controller", parameters=True)
        hand.declare_parameter("joint", FINGER)
        self.servers = [
            Server(
                controller,
                FollowJointTrajectory,
                "/joint_trajectory_controller/follow_joint_trajectory",
                habits,
                self.follow,
                self.fits,
            ),
            Server(
                hand,
                ParallelGripperCommand if new_gripper else GripperCommand,
                "/gripper_controller/gripper_cmd",
                habits,
                self.grip,
            ),
        ]
        self.speed = self.program = None
        if not mobile:
            io = nodes("io_and_status_controller")
            self.speed = io.create_publisher(Float64, "/speed_scaling_state_broadcaster/speed_scaling", 10)
            self.program = io.create_publisher(Bool, "/io_and_status_controller/robot_program_running", LATCHED)
            self.program.publish(Bool(data=True))
        self.thread = threading.Thread(target=self._move, daemon=True)

    def start(self):
        self.thread.start()

    def tell_states(self):
        """Makes the joint states' publisher, of the quality of service that the habits say."""
        effort = ReliabilityPolicy.BEST_EFFORT if self.habits.best_effort else ReliabilityPolicy.RELIABLE
        made = self.driver.create_publisher(JointState, "/joint_states", QoSProfile(depth=10, reliability=effort))
        with self.lock:  # nobody publishes meanwhile
            old, self.states = self.states, made
        if old is not None:
            self.driver.destroy_publisher(old)

    def hold(self, yes):
        """The robot's own protective stop, told as Universal Robots' driver does it."""
        self.scaling = 0.0 if yes else 1.0

    def put(self, joints):
        with self.lock:
            self.q, self.points, self.finger, self.wanted = list(joints), [], 0.0, 0.0

    def fits(self, goal):
        """What the controller checks before it accepts."""
        t = goal.trajectory
        if sorted(t.joint_names) != sorted(JOINTS) or not t.points:
            return False
        times = [p.time_from_start.sec + p.time_from_start.nanosec * 1e-9 for p in t.points]
        sized = all(len(p.positions) == 6 and len(p.velocities) in (0, 6) for p in t.points)
        return sized and all(a < b for a, b in zip(times, times[1:], strict=False))

    def follow(self, goal):
        """Carries out one trajectory. A newer goal takes over. A cancel is answered at once; the arm rests after it."""
        t = goal.request.trajectory
        order = [list(t.joint_names).index(j) for j in JOINTS]
        points = [
            (
                p.time_from_start.sec + p.time_from_start.nanosec * 1e-9,
                [p.positions[i] for i in order],
                [p.velocities[i] for i in order] if p.velocities else [],
            )
            for p in t.points
        ]
        result = FollowJointTrajectory.Result()
        with self.lock:
            self.active = goal
            if points[0][0] > 0:
                points.insert(0, (0.0, list(self.q), [0.0] * 6 if points[0][2] else []))
            self.points, self.elapsed, self.rate = points, 0.0, 1.0
        end = points[-1]
        while True:
            time.sleep(STEP)
            with self.lock:
                mine, done, q = self.active is goal, self.elapsed >= end[0], list(self.q)
            if not mine:
                result.error_string = "replaced by a newer goal"
                return ABORTED, result
            if goal.over() or goal.fails(0.5):
                with self.lock:
                    self.active = None  # it holds where it comes to rest
                if goal.over():
                    return CANCELED, result
                if goal.fault == "code":
                    result.error_code = result.PATH_TOLERANCE_VIOLATED
                    result.error_string = "path tolerance violated"
                return ABORTED, result
            if done and math.dist(q, end[1]) < 0.01:
                with self.lock:
                    self.active = None
                return SUCCEEDED, result

            def feedback(m, q=q):
                m.joint_names, m.actual.positions = list(JOINTS), q

            goal.feedback(feedback)

    def grip(self, goal):
        r = goal.request.command
        new = isinstance(r, JointState)
        with self.lock:
            self.wanted = min(max(r.position[0] if new else r.position, 0.0), OPEN)
        kind = goal.server.kind
        while True:
            time.sleep(STEP)
            with self.lock:
                finger, stalled = self.finger, self.wanted < self.thing and self.finger <= self.thing
                there = abs(finger - self.wanted) < 1e-4
            result = kind.Result(stalled=stalled, reached_goal=there)
            if new:
                result.state.name, result.state.position = [FINGER], [finger]
            else:
                result.position = finger
            if goal.over() or goal.fails(0.2):
                with self.lock:
                    self.wanted = self.finger
                return (CANCELED if goal.over() else ABORTED), result
            if there or stalled:
                return SUCCEEDED, result

    def _move(self):
        last, count = time.monotonic(), 0
        while not self.over.wait(STEP):
            now = time.monotonic()
            dt, last = min(now - last, 0.1), now
            with self.lock:
                if self.active is None:
                    self.rate = max(0.0, self.rate - dt / BRAKE)
                before = self.q
                if self.points:
                    self.elapsed = min(self.elapsed + dt * self.rate * self.scaling, self.points[-1][0])
                    self.q = at(self.points, self.elapsed)
                    if self.rate == 0.0:
                        self.points = []
                self.dq = [(b - a) / dt for a, b in zip(before, self.q, strict=True)]
                step = FINGER_SPEED * dt * self.scaling
                low = self.thing if self.wanted < self.thing <= self.finger else 0.0
                finger = max(self.finger + min(max(self.wanted - self.finger, -step), step), low)
                self.finger_speed, self.finger = (finger - self.finger) / dt, finger
                m = JointState()
                m.header.stamp = self.driver.get_clock().now().to_msg()
                m.name = [*sorted(JOINTS), FINGER]
                by = dict(zip(JOINTS, zip(self.q, self.dq, strict=True), strict=True))
                m.position = [*(by[n][0] for n in sorted(JOINTS)), self.finger]
                m.velocity = [*(by[n][1] for n in sorted(JOINTS)), self.finger_speed]
                self.states.publish(m)
            self.truth.publish(m)
            count += 1
            if self.speed is not None and count % 5 == 0:
                self.speed.publish(Float64(data=100.0 * self.scaling))

    def close(self):
        self.over.set()
        self.thread.join(5.0)
