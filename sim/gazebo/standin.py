"""What Gazebo lacks of the built-in robot: a base that stops when it hears nothing, detections, battery, modes.

The node takes /cmd_vel and /cmd_vel_stamped and passes them on to Gazebo's drive; after 0.5 s of silence it passes on a
zero. From where things truly are (/sim/truth/...) it makes /detections by the camera's figures, and /sim/objects.
It has no faults: /speed_scaling is 1 and /robot_mode auto, always.

usage: python3 standin.py [--ros-args ...]
"""

import math
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import rclpy
from action_msgs.msg import GoalStatusArray
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Float64, String
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import flat as flats
from flat.camera import sees

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PERIOD = 0.1  # s of real time between two looks at the silence, and of everything that is told
ACTIONS = ("/navigate_to_pose", "/arm_controller/follow_joint_trajectory", "/gripper_controller/gripper_cmd")
VELOCITIES = ("/cmd_vel", "/cmd_vel_stamped")


class StandIn(Node):
    def __init__(self):
        super().__init__("sim_robot")
        self.flat = flats.load()
        self.camera = camera_mount(self.flat)
        self.random = np.random.default_rng(0)
        self.heard = -math.inf  # time.monotonic() of the last velocity message
        self.stopped = True
        self.base, self.driven_from, self.drained_at = None, None, None
        self.things = {o.name.replace(" ", "_"): o for o in self.flat.objects}
        self.poses = {}
        self.charge, self.charging = self.flat.battery.initial, False
        self.counts = dict.fromkeys((*ACTIONS, *VELOCITIES), 0)
        self.goals = {name: set() for name in ACTIONS}
        self.drive = self.create_publisher(Twist, "/sim/base/cmd_vel", 10)
        self.seen = self.create_publisher(Detection3DArray, "/detections", 10)
        self.objects = self.create_publisher(Detection3DArray, "/sim/objects", 10)
        self.battery = self.create_publisher(BatteryState, "/battery_state", 10)
        self.counters = self.create_publisher(DiagnosticArray, "/sim/counters", 10)
        self.scaling = self.create_publisher(Float64, "/speed_scaling", LATCHED)
        self.mode = self.create_publisher(String, "/robot_mode", LATCHED)
        self.create_subscription(Twist, "/cmd_vel", lambda m: self.on_velocity("/cmd_vel", m, None), 10)
        self.create_subscription(
            TwistStamped,
            "/cmd_vel_stamped",
            lambda m: self.on_velocity("/cmd_vel_stamped", m.twist, m.header.stamp),
            10,
        )
        for name in self.things:
            self.create_subscription(Odometry, f"/sim/truth/{name}", lambda m, n=name: self.on_thing(n, m), 10)
        self.create_subscription(Odometry, "/sim/ground_truth", self.on_truth, 10)
        for name in ACTIONS:
            self.create_subscription(
                GoalStatusArray, f"{name}/_action/status", lambda m, n=name: self.on_status(n, m), LATCHED
            )
        # Silence is a matter of real time: the base must not drive on when a simulation that stood still goes on.
        self.create_timer(PERIOD, self.look, clock=rclpy.clock.Clock())

    # The base.

    def on_velocity(self, name, twist, stamp):
        parts = [getattr(v, axis) for v in (twist.linear, twist.angular) for axis in "xyz"]
        if any(x != 0 for x in parts):  # NaN is
            self.counts[name] += 1
        if stamp is not None and (stamp.sec or stamp.nanosec):
            age = self.get_clock().now().nanoseconds * 1e-9 - stamp.sec - stamp.nanosec * 1e-9
            if age > self.flat.robot.silence_limit:
                return
        out = Twist()
        if all(map(math.isfinite, (twist.linear.x, twist.angular.z))):
            out.linear.x, out.angular.z = twist.linear.x, twist.angular.z
        self.heard, self.stopped = time.monotonic(), False
        self.drive.publish(out)

    def look(self):
        if not self.stopped and time.monotonic() - self.heard > self.flat.robot.silence_limit:
            self.stopped = True
            self.drive.publish(Twist())
        self.scaling.publish(Float64(data=1.0))
        self.mode.publish(String(data="auto"))
        stamp = self.get_clock().now().to_msg()
        self.tell_things(stamp)
        self.tell_battery(stamp)
        status = DiagnosticStatus(name="sim/counters", hardware_id="sim_robot")
        status.values = [KeyValue(key=k, value=str(v)) for k, v in self.counts.items()]
        counters = DiagnosticArray(status=[status])
        counters.header.stamp = stamp
        self.counters.publish(counters)

    def on_status(self, name, message):
        """Goals that were accepted; what was refused is not seen from here."""
        self.goals[name] |= {bytes(s.goal_info.goal_id.uuid) for s in message.status_list}
        self.counts[name] = len(self.goals[name])

    # The truth.

    def on_thing(self, name, message):
        self.poses[name] = message.pose.pose

    def on_truth(self, message):
        p = message.pose.pose
        self.base = (p.position.x, p.position.y, 2 * math.atan2(p.orientation.z, p.orientation.w))

    # What is told.

    def tell_things(self, stamp):
        truth = Detection3DArray()
        truth.header.stamp, truth.header.frame_id = stamp, "map"
        seen = Detection3DArray()
        seen.header.stamp, seen.header.frame_id = stamp, self.flat.camera.link
        for name, pose in self.poses.items():
            thing, v, r = self.things[name], pose.position, pose.orientation
            at = (v.x, v.y, v.z)
            truth.detections.append(detection(truth.header, thing, at, (r.x, r.y, r.z, r.w), 1.0))
            if self.base is None:
                continue
            eye, axes = self.eye()
            place = sees(self.flat, eye, axes, at, thing.size)
            if place is not None:
                noise = self.flat.camera.noise * self.random.standard_normal(3)
                turn = quaternion_of(np.array(axes) @ rotation_of((r.x, r.y, r.z, r.w)))
                score = 1 - 0.2 * math.dist(eye, at) / self.flat.camera.range_max
                seen.detections.append(detection(seen.header, thing, np.array(place) + noise, turn, score))
        self.objects.publish(truth)
        self.seen.publish(seen)

    def eye(self):
        """The camera's place in map, and its axes there as rows."""
        x, y, yaw = self.base
        c, s = math.cos(yaw), math.sin(yaw)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        position, rotation = self.camera
        return (turn @ position + [x, y, 0]).tolist(), (turn @ rotation).T.tolist()

    def tell_battery(self, stamp):
        """The built-in robot's rules, on Gazebo's clock."""
        b, now = self.flat.battery, stamp.sec + stamp.nanosec * 1e-9
        if self.base is not None:
            if self.driven_from is not None and now > self.drained_at:
                moved = math.dist(self.base[:2], self.driven_from[:2])
                turned = abs(flats.wrap(self.base[2] - self.driven_from[2]))
                dock = next(p for p in self.flat.places if p.name == "dock").pose
                at_rest = moved < 1e-3 and turned < 1e-3
                self.charging = at_rest and math.dist(self.base[:2], dock[:2]) <= b.dock_radius
                gain = b.charge if self.charging else -b.idle_drain
                self.charge += gain * (now - self.drained_at) - b.motion_drain * moved - b.turn_drain * turned
                self.charge = min(100.0, max(0.0, self.charge))
            self.driven_from, self.drained_at = self.base, now
        out = BatteryState(present=True, power_supply_health=1, power_supply_technology=2)
        out.header.stamp, out.header.frame_id = stamp, "base_link"
        out.percentage, out.charge = self.charge / 100, self.charge / 100 * b.capacity
        out.capacity = out.design_capacity = b.capacity
        out.voltage, out.current, out.temperature = 22.0 + 0.04 * self.charge, math.nan, math.nan
        out.power_supply_status = 1 if self.charging else 2
        self.battery.publish(out)


def camera_mount(flat):
    """The camera's place and rotation in base_link, along the fixed transforms."""
    position, rotation, link = np.zeros(3), np.eye(3), flat.camera.link
    while link != "base_link":
        t = next(t for t in flat.transforms if t.child == link)
        turn = rotation_of(t.quaternion)
        position, rotation, link = turn @ position + t.position, turn @ rotation, t.parent
    return position, rotation


def rotation_of(q):
    """A matrix of a quaternion x, y, z, w."""
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(m):
    """The quaternion x, y, z, w of a rotation's matrix, by its greatest part."""
    q = np.sqrt(np.maximum(0, [1 + m[0, 0] - m[1, 1] - m[2, 2], 1 - m[0, 0] + m[1, 1] - m[2, 2],
                               1 - m[0, 0] - m[1, 1] + m[2, 2], 1 + m[0, 0] + m[1, 1] + m[2, 2]])) / 2  # fmt: skip
    k = int(np.argmax(q))
    d = 4 * q[k]
    rows = (
        (q[0], (m[0, 1] + m[1, 0]) / d, (m[0, 2] + m[2, 0]) / d, (m[2, 1] - m[1, 2]) / d),
        ((m[0, 1] + m[1, 0]) / d, q[1], (m[1, 2] + m[2, 1]) / d, (m[0, 2] - m[2, 0]) / d),
        ((m[0, 2] + m[2, 0]) / d, (m[1, 2] + m[2, 1]) / d, q[2], (m[1, 0] - m[0, 1]) / d),
        ((m[2, 1] - m[1, 2]) / d, (m[0, 2] - m[2, 0]) / d, (m[1, 0] - m[0, 1]) / d, q[3]),
    )
    return rows[k]


def detection(header, thing, position, quaternion, score):
    pose = PoseStamped().pose
    pose.position.x, pose.position.y, pose.position.z = (float(v) for v in position)
    o = pose.orientation
    o.x, o.y, o.z, o.w = (float(v) for v in quaternion)
    result = ObjectHypothesisWithPose()
    result.hypothesis.class_id, result.hypothesis.score = thing.name, float(score)
    result.pose.pose = pose
    d = Detection3D(header=header, id=thing.name, results=[result])
    d.bbox.center = pose
    d.bbox.size.x = d.bbox.size.y = d.bbox.size.z = float(thing.size)
    return d


def main():
    # Its own handling of signals: rclpy's ends the context before a last command could be sent. A handler that raised
    # would do so in the middle of a message that rclpy reads, or of a destructor, which swallows it.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    ended = threading.Event()
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda *_: ended.set())
    node = StandIn()
    try:
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        while not ended.is_set():
            executor.spin_once(timeout_sec=PERIOD)
        node.drive.publish(Twist())
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
